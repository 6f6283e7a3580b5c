package rossum.oz;

import java.io.ByteArrayInputStream;
import java.io.InputStream;

/**
 * An image of the robot's camera, as a JPEG file.
 *
 * <p>On a desktop, {@code ImageIO.read(frame.stream())} makes a {@code BufferedImage} of it.
 */
public final class VideoFrame {
    private final byte[] jpeg;

    VideoFrame(byte[] jpeg) {
        this.jpeg = jpeg;
    }

    /**
     * The JPEG file. The array is not copied, and other listeners have the same one.
     *
     * @return its bytes
     */
    public byte[] jpeg() {
        return jpeg;
    }

    /**
     * The JPEG file, to be read.
     *
     * @return a stream of its bytes, which does not need to be closed
     */
    public InputStream stream() {
        return new ByteArrayInputStream(jpeg);
    }

    @Override
    public String toString() {
        return "VideoFrame[" + jpeg.length + " bytes]";
    }
}
