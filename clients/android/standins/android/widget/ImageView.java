package android.widget;

import android.content.Context;
import android.graphics.Bitmap;
import android.view.View;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public class ImageView extends View {
    public ImageView(Context context) {}

    public void setImageBitmap(Bitmap bitmap) {}
}
