package rossum.oz;

/** Gestures that every robot has. A robot may have more, with higher ids. */
public enum Gesture {
    /** Long raise of the eyebrows. */
    BROW_RAISE_LONG("braisel"),
    /** Short raise of the eyebrows. */
    BROW_RAISE_SHORT("braises"),
    /** Long frown of the eyebrows. */
    FROWN_LONG("frownl"),
    /** Short frown of the eyebrows. */
    FROWN_SHORT("frowns"),
    /** Long nod. */
    YES_LONG("yesl"),
    /** Short nod. */
    YES_SHORT("yess"),
    /** Triple long nod. */
    YES_LONG_3X("yesl3"),
    /** Triple short nod. */
    YES_SHORT_3X("yess3"),
    /** Long shake of the head. */
    NO_LONG("nol"),
    /** Short shake of the head. */
    NO_SHORT("nos"),
    /** Triple long shake of the head. */
    NO_LONG_3X("nol3"),
    /** Triple short shake of the head. */
    NO_SHORT_3X("nos3"),
    /** Head wobble. */
    INDIAN_WOBBLE("wob");

    private final String tag;

    Gesture(String name) {
        tag = "[" + name + "]";
    }

    /**
     * The gesture's number in messages.
     *
     * @return the id
     */
    public int id() {
        return ordinal();
    }

    /**
     * The tag that starts the gesture in a text, as in {@code Gesture.NO_SHORT.tag() + "Nope."}
     *
     * @return the tag, with its brackets
     */
    public String tag() {
        return tag;
    }
}
