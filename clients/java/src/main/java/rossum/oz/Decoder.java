package rossum.oz;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import rossum.oz.OzException.Kind;

/**
 * Takes a robot's stream apart. A message is a 32-bit id followed by its fields; only the answer to the version request has no id.
 * There is no framing: the end of a message follows from its id and the lengths in it.
 */
final class Decoder {
    // what is read at most; robots send far less
    private static final int MAX_OPTIONS = 256;
    private static final int MAX_FACES = 256;
    private static final int MAX_JPEG = 16 * 1024 * 1024;

    /** The smallest version; all message ids are smaller. */
    private static final int FIRST_VERSION = 0x0100_0000;

    private final DataInputStream in;
    private boolean isInMessage;
    /** A text of the message that is not UTF-8; the rest of the message has to be skipped first. */
    private String badText;

    /** Reads from a stream, which should be buffered. */
    Decoder(InputStream in) {
        this.in = new DataInputStream(in);
    }

    /** Whether a message has been read in part. */
    boolean isInMessage() {
        return isInMessage;
    }

    /** Reads the answer to the version request; {@code null} if the stream has ended before it. */
    Welcome welcome() throws IOException {
        int first = in.read();
        if (first < 0) {
            return null;
        }
        isInMessage = true;
        int version = word(first);
        if (Integer.compareUnsigned(version, FIRST_VERSION) < 0) {
            String number = "0x" + Integer.toHexString(version);
            throw bad("the robot answered the version request with " + number + ", which is not a version");
        }
        // the rest may look different in another version
        if (version != Protocol.VERSION) {
            String versions = "the robot uses protocol version 0x%08x, this client 0x%08x";
            throw new OzException(Kind.WRONG_VERSION, String.format(versions, version, Protocol.VERSION));
        }
        Welcome welcome = new Welcome(version, text("name"), text("long name"));
        isInMessage = false;
        if (badText != null) {
            throw invalidText();
        }
        return welcome;
    }

    /** Reads a message and tells the receiver; {@code false} if the stream has ended before it. */
    boolean read(OzListener receiver) throws IOException {
        int first = in.read();
        if (first < 0) {
            return false;
        }
        isInMessage = true;
        badText = null;
        Runnable message = message(word(first), receiver);
        isInMessage = false;
        if (badText == null) {
            message.run();
        } else {
            receiver.onInvalidMessage(invalidText());
        }
        return true;
    }

    private Runnable message(int id, OzListener receiver) throws IOException {
        if (id == Message.SPEAK_DONE.id()) {
            return receiver::onSpeakDone;
        } else if (id == Message.GESTURE_DONE.id()) {
            return receiver::onGestureDone;
        } else if (id == Message.SPEAK_GESTURE.id()) {
            long gesture = Integer.toUnsignedLong(in.readInt());
            return () -> receiver.onSpeakGesture(gesture);
        } else if (id == Message.UTTERANCE.id()) {
            Utterance utterance = utterance();
            return () -> receiver.onUtterance(utterance);
        } else if (id == Message.FACES.id()) {
            List<Face> faces = faces();
            return () -> receiver.onFaces(faces);
        } else if (id == Message.VIDEO_FRAME.id()) {
            VideoFrame frame = new VideoFrame(bytes(count("bytes of an image", MAX_JPEG)));
            return () -> receiver.onVideoFrame(frame);
        }
        throw bad(String.format("the robot sent a message with the unknown id 0x%02x", id));
    }

    private Utterance utterance() throws IOException {
        int count = count("options", MAX_OPTIONS);
        List<Utterance.Option> options = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            options.add(new Utterance.Option(in.readFloat(), text("text")));
        }
        return new Utterance(Collections.unmodifiableList(options));
    }

    private List<Face> faces() throws IOException {
        int count = count("faces", MAX_FACES);
        List<Face> faces = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            float confidence = in.readFloat();
            float x = in.readFloat();
            float y = in.readFloat();
            float width = in.readFloat();
            float height = in.readFloat();
            faces.add(new Face(confidence, x, y, width, height, text("name")));
        }
        return Collections.unmodifiableList(faces);
    }

    private int word(int first) throws IOException {
        return first << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort();
    }

    private byte[] bytes(int count) throws IOException {
        byte[] bytes = new byte[count];
        in.readFully(bytes);
        return bytes;
    }

    private String text(String what) throws IOException {
        byte[] encoded = bytes(in.readUnsignedShort());
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(encoded)).toString();
        } catch (CharacterCodingException error) {
            badText = what;
            return "";
        }
    }

    private int count(String what, int most) throws IOException {
        int count = in.readInt();
        if (Integer.compareUnsigned(count, most) > 0) {
            throw bad("the robot sent " + Integer.toUnsignedString(count) + " " + what + "; at most " + most + " are read");
        }
        return count;
    }

    private OzException invalidText() {
        return bad("the robot sent a " + badText + " that is not UTF-8");
    }

    private static OzException bad(String message) {
        return new OzException(Kind.BAD_MESSAGE, message);
    }
}
