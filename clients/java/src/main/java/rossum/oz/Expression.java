package rossum.oz;

/** Facial expressions. */
public enum Expression {
    /** None. */
    NEUTRAL,
    /** A smile and raised eyebrows. */
    HAPPY,
    /** Sad and frowning. */
    SAD,
    /** A smile and frowning. */
    EVIL,
    /** Sad and raised eyebrows. */
    AFRAID;

    private static final Expression[] ALL = values();

    /**
     * The expression's number in messages.
     *
     * @return the id
     */
    public int id() {
        return ordinal();
    }

    /**
     * The expression with an id.
     *
     * @param id 0 to 4
     * @return the expression
     * @throws OzException of kind {@code OUT_OF_RANGE} if there is none
     */
    public static Expression of(int id) {
        return Protocol.constant(ALL, "expression", id);
    }
}
