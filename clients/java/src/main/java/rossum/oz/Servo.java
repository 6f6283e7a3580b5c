package rossum.oz;

/** The servos of a robot, in the order of their ids. */
public enum Servo {
    /** Waist. */
    WAIST,
    /** Left shoulder pitch. */
    SHOULDER_PITCH_LEFT,
    /** Left shoulder roll. */
    SHOULDER_ROLL_LEFT,
    /** Left elbow yaw. */
    ELBOW_YAW_LEFT,
    /** Left elbow pitch. */
    ELBOW_PITCH_LEFT,
    /** Right shoulder pitch. */
    SHOULDER_PITCH_RIGHT,
    /** Right shoulder roll. */
    SHOULDER_ROLL_RIGHT,
    /** Right elbow yaw. */
    ELBOW_YAW_RIGHT,
    /** Right elbow pitch. */
    ELBOW_PITCH_RIGHT,
    /** Left hip roll. */
    HIP_ROLL_LEFT,
    /** Left hip yaw. */
    HIP_YAW_LEFT,
    /** Left hip pitch. */
    HIP_PITCH_LEFT,
    /** Left knee pitch. */
    KNEE_PITCH_LEFT,
    /** Left ankle pitch. */
    ANKLE_PITCH_LEFT,
    /** Left ankle roll. */
    ANKLE_ROLL_LEFT,
    /** Right hip roll. */
    HIP_ROLL_RIGHT,
    /** Right hip yaw. */
    HIP_YAW_RIGHT,
    /** Right hip pitch. */
    HIP_PITCH_RIGHT,
    /** Right knee pitch. */
    KNEE_PITCH_RIGHT,
    /** Right ankle pitch. */
    ANKLE_PITCH_RIGHT,
    /** Right ankle roll. */
    ANKLE_ROLL_RIGHT,
    /** Neck yaw. */
    NECK_YAW,
    /** Neck roll. */
    NECK_ROLL,
    /** Neck pitch. */
    NECK_PITCH,
    /** Brows. */
    BROWS,
    /** Eyelids. */
    EYELIDS,
    /** Eyes pitch. */
    EYES_PITCH,
    /** Jaw. */
    JAW,
    /** Right eye yaw. */
    EYE_YAW_RIGHT,
    /** Left smile. */
    SMILE_LEFT,
    /** Left eye yaw. */
    EYE_YAW_LEFT,
    /** Right smile. */
    SMILE_RIGHT,
    /** Left wrist. */
    WRIST_LEFT,
    /** Left grasp. */
    GRASP_LEFT,
    /** Right wrist. */
    WRIST_RIGHT,
    /** Right grasp. */
    GRASP_RIGHT;

    private static final Servo[] ALL = values();

    /**
     * The servo's number in messages.
     *
     * @return the id
     */
    public int id() {
        return ordinal();
    }

    /**
     * The servo with an id.
     *
     * @param id 0 to 35
     * @return the servo
     * @throws OzException of kind {@code OUT_OF_RANGE} if there is none
     */
    public static Servo of(int id) {
        return Protocol.constant(ALL, "servo", id);
    }
}
