package android.graphics;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import javax.imageio.ImageIO;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public class BitmapFactory {
    public static Bitmap decodeByteArray(byte[] data, int offset, int length) {
        try {
            BufferedImage image = ImageIO.read(new ByteArrayInputStream(data, offset, length));
            return image == null ? null : new Bitmap(image);
        } catch (IOException error) {
            return null;
        }
    }
}
