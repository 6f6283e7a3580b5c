package rossum.oz;

/** Messages, in the order of their ids: up to 0x13 to the robot, from 0x14 on to the client. */
public enum Message {
    /** Ignored. */
    NOTHING,
    /** Requests the version. */
    REQUEST_VERSION,
    /** Restores the defaults. */
    RESET,
    /** A text to speak. */
    SPEAK,
    /** The voice. */
    VOICE_GENDER_LANGUAGE,
    /** The volume. */
    VOICE_VOLUME,
    /** The pitch. */
    VOICE_PITCH,
    /** Starts a gesture. */
    GESTURE,
    /** The weight of gestures. */
    GESTURE_WEIGHT,
    /** The facial expression. */
    EXPRESSION,
    /** The weight of the facial expression. */
    EXPRESSION_WEIGHT,
    /** The blinks per second. */
    AUTO_BLINK_SPEED,
    /** The weight of random head motion. */
    RANDOM_HEAD_WEIGHT,
    /** The weight of random eye motion. */
    RANDOM_EYES_WEIGHT,
    /** The weight of random face motion. */
    RANDOM_FACE_WEIGHT,
    /** The direct position of a servo. */
    SERVO,
    /** The direct positions of all servos. */
    ALL_SERVOS,
    /** The weight of direct positions. */
    DIRECT_WEIGHT,
    /** What to look at. */
    LOOKAT,
    /** The weight of looking at something. */
    LOOKAT_WEIGHT,
    /** A text has been spoken. */
    SPEAK_DONE,
    /** A gesture has ended. */
    GESTURE_DONE,
    /** A tag in a text has started a gesture. */
    SPEAK_GESTURE,
    /** Recognised speech. */
    UTTERANCE,
    /** The faces in the image. */
    FACES,
    /** An image. */
    VIDEO_FRAME;

    /**
     * The message's id.
     *
     * @return the id
     */
    public int id() {
        return ordinal();
    }
}
