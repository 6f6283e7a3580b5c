package rossum.oz;

/** Numbers of the protocol's header file. */
public final class Protocol {
    /** The port that a robot listens on, unless it is configured otherwise. */
    public static final int PORT = 7331;
    /** Protocol 1.0. */
    public static final int VERSION = 0x0100_0000;
    /** The number of servos. */
    public static final int MAX_SERVOS = Servo.values().length;
    /** The number of gestures that every robot has. */
    public static final int MAX_GESTURES = Gesture.values().length;
    /** The longest text, in bytes of UTF-8. */
    public static final int MAX_TEXT = 65_535;

    private Protocol() {}

    /** The constant with an id, of those in the order of their ids. */
    static <E extends Enum<E>> E constant(E[] constants, String what, int id) {
        if (id < 0 || id >= constants.length) {
            String range = " is out of range 0 to " + (constants.length - 1);
            throw new OzException(OzException.Kind.OUT_OF_RANGE, what + " " + id + range);
        }
        return constants[id];
    }
}
