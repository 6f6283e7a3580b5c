package android.graphics;

import java.awt.image.BufferedImage;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public final class Bitmap {
    private final BufferedImage image;

    Bitmap(BufferedImage image) {
        this.image = image;
    }

    public int getWidth() {
        return image.getWidth();
    }

    public int getHeight() {
        return image.getHeight();
    }
}
