package rossum.oz;

/** What went wrong. The {@linkplain #kind() kind} tells programs what the message tells people. */
public final class OzException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Kinds of errors. */
    public enum Kind {
        /** No connection could be made: the name is unknown, or nobody listens. */
        UNREACHABLE,
        /** The robot did not answer, or did not read requests, in time. */
        TIMEOUT,
        /** The robot uses another version of the protocol. */
        WRONG_VERSION,
        /** The connection is closed. */
        CLOSED,
        /** The connection was closed in the middle of a message. */
        TRUNCATED,
        /** The robot has sent something that is no message, or one with a text that is not UTF-8. */
        BAD_MESSAGE,
        /** A number is infinite, NaN or too large to be sent. Nothing was sent. */
        NOT_FINITE,
        /** The protocol has no such expression, lookat mode or servo. Nothing was sent. */
        OUT_OF_RANGE,
        /** A text has more bytes than a message can have. Nothing was sent. */
        TEXT_TOO_LONG
    }

    /** What went wrong, for programs. */
    private final Kind kind;

    OzException(Kind kind, String message) {
        this(kind, message, null);
    }

    OzException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /**
     * The kind of the error.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }
}
