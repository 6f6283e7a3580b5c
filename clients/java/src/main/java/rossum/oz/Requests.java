package rossum.oz;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import rossum.oz.OzException.Kind;

/** The messages to the robot, as bytes. All numbers are big-endian, as a {@code ByteBuffer} writes them. */
final class Requests {
    private static final long MAX_WORD = 0xffff_ffffL;

    private Requests() {}

    static ByteBuffer empty(Message message) {
        return finish(begin(message, 0));
    }

    static ByteBuffer word(Message message, long value) {
        if (value < 0 || value > MAX_WORD) {
            throw new OzException(Kind.OUT_OF_RANGE, name(message) + " " + value + " is out of range 0 to " + MAX_WORD);
        }
        return finish(begin(message, 4).putInt((int) value));
    }

    static ByteBuffer number(Message message, double value) {
        return finish(begin(message, 4).putFloat(finite(name(message), value)));
    }

    static ByteBuffer servo(Servo servo, double position) {
        return finish(begin(Message.SERVO, 8).putInt(servo.id()).putFloat(finite("position", position)));
    }

    static ByteBuffer servos(double[] positions) {
        if (positions.length != Protocol.MAX_SERVOS) {
            String count = positions.length + " positions; a robot has " + Protocol.MAX_SERVOS + " servos";
            throw new OzException(Kind.OUT_OF_RANGE, count);
        }
        ByteBuffer request = begin(Message.ALL_SERVOS, 4 * positions.length);
        for (double position : positions) {
            request.putFloat(finite("position", position));
        }
        return finish(request);
    }

    static ByteBuffer text(Message message, String text) {
        ByteBuffer encoded;
        try {
            encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
        } catch (CharacterCodingException error) {
            throw new IllegalArgumentException("the text has half of a surrogate pair", error);
        }
        int length = encoded.remaining();
        if (length > Protocol.MAX_TEXT) {
            String limit = "the text has " + length + " bytes; at most " + Protocol.MAX_TEXT + " can be sent";
            throw new OzException(Kind.TEXT_TOO_LONG, limit);
        }
        return finish(begin(message, 2 + length).putShort((short) length).put(encoded));
    }

    private static ByteBuffer begin(Message message, int length) {
        return ByteBuffer.allocate(4 + length).putInt(message.id());
    }

    private static ByteBuffer finish(ByteBuffer request) {
        request.flip();
        return request;
    }

    private static float finite(String what, double value) {
        float sent = (float) value;
        if (Float.isNaN(sent) || Float.isInfinite(sent)) {
            throw new OzException(Kind.NOT_FINITE, what + " " + value + " is not a finite 32-bit number");
        }
        return sent;
    }

    private static String name(Message message) {
        return message.name().toLowerCase(Locale.ROOT);
    }
}
