package rossum.oz;

import java.util.List;

/** Speech that the robot has recognised. */
public final class Utterance {
    private final List<Option> options;

    Utterance(List<Option> options) {
        this.options = options;
    }

    /**
     * What it may have been.
     *
     * @return the likeliest one first; the list cannot be changed
     */
    public List<Option> options() {
        return options;
    }

    /**
     * The likeliest text.
     *
     * @return the text; empty if there are no options
     */
    public String text() {
        return options.isEmpty() ? "" : options.get(0).text();
    }

    @Override
    public String toString() {
        return "Utterance" + options;
    }

    /** What the robot may have heard. */
    public static final class Option {
        private final float confidence;
        private final String text;

        Option(float confidence, String text) {
            this.confidence = confidence;
            this.text = text;
        }

        /**
         * How certain the robot is.
         *
         * @return 0 to 1
         */
        public float confidence() {
            return confidence;
        }

        /**
         * The text.
         *
         * @return the text
         */
        public String text() {
            return text;
        }

        @Override
        public String toString() {
            return text + " (" + confidence + ")";
        }
    }
}
