package rossum.oz;

/** A face in the robot's image. */
public final class Face {
    private final float confidence;
    private final float x;
    private final float y;
    private final float width;
    private final float height;
    private final String name;

    /**
     * Describes a face.
     *
     * @param confidence 0 to 1
     * @param x the centre: -1 is the left edge of the image, 1 the right one
     * @param y the centre: -1 is the top edge of the image, 1 the bottom one
     * @param width as a fraction of the image's width
     * @param height as a fraction of the image's height
     * @param name the person's name; empty if it is not known
     */
    public Face(float confidence, float x, float y, float width, float height, String name) {
        this.confidence = confidence;
        this.x = x;
        this.y = y;
        this.width = width;
        this.height = height;
        this.name = name;
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
     * The centre.
     *
     * @return -1 for the left edge of the image, 1 for the right one
     */
    public float x() {
        return x;
    }

    /**
     * The centre.
     *
     * @return -1 for the top edge of the image, 1 for the bottom one
     */
    public float y() {
        return y;
    }

    /**
     * The width.
     *
     * @return a fraction of the image's width
     */
    public float width() {
        return width;
    }

    /**
     * The height.
     *
     * @return a fraction of the image's height
     */
    public float height() {
        return height;
    }

    /**
     * The person's name.
     *
     * @return the name; empty if it is not known
     */
    public String name() {
        return name;
    }

    @Override
    public String toString() {
        return "Face[" + (name.isEmpty() ? "unknown" : name) + " at " + x + ", " + y + "; confidence " + confidence + "]";
    }
}
