package rossum.oz;

/** Voices; there is only one. */
public enum VoiceGenderLanguage {
    /** The robot's own voice. */
    DEFAULT;

    /**
     * The voice's number in messages.
     *
     * @return the id
     */
    public int id() {
        return ordinal();
    }
}
