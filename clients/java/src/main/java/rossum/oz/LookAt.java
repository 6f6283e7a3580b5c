package rossum.oz;

/** What the robot looks at. */
public enum LookAt {
    /** Straight ahead. */
    FORWARD,
    /** Down. */
    DOWN,
    /** Up. */
    UP,
    /** The largest face, which is the closest one. */
    LARGEST,
    /** The smallest face, which is the furthest one. */
    SMALLEST,
    /** Where no face is. */
    AWAY;

    private static final LookAt[] ALL = values();

    /**
     * The mode's number in messages.
     *
     * @return the id
     */
    public int id() {
        return ordinal();
    }

    /**
     * The mode with an id.
     *
     * @param id 0 to 5
     * @return the mode
     * @throws OzException of kind {@code OUT_OF_RANGE} if there is none
     */
    public static LookAt of(int id) {
        return Protocol.constant(ALL, "lookat mode", id);
    }
}
