package android.app;

import android.os.Bundle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public class Application {
    /** Is told what becomes of activities. */
    public interface ActivityLifecycleCallbacks {
        void onActivityCreated(Activity activity, Bundle state);

        void onActivityStarted(Activity activity);

        void onActivityResumed(Activity activity);

        void onActivityPaused(Activity activity);

        void onActivityStopped(Activity activity);

        void onActivitySaveInstanceState(Activity activity, Bundle state);

        void onActivityDestroyed(Activity activity);
    }

    /** Those that are registered, for tests to call. */
    public final List<ActivityLifecycleCallbacks> callbacks = new CopyOnWriteArrayList<>();

    public void registerActivityLifecycleCallbacks(ActivityLifecycleCallbacks added) {
        callbacks.add(added);
    }

    public void unregisterActivityLifecycleCallbacks(ActivityLifecycleCallbacks removed) {
        callbacks.remove(removed);
    }
}
