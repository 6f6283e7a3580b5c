package android.app;

import android.content.Context;
import android.os.Bundle;
import android.view.View;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public class Activity extends Context {
    private final Application application = new Application();

    public final Application getApplication() {
        return application;
    }

    public void setContentView(View view) {}

    protected void onCreate(Bundle state) {}

    protected void onDestroy() {}
}
