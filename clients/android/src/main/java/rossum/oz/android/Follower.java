package rossum.oz.android;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** Keeps a client connected while an activity is started. Everything happens in the main thread. */
final class Follower implements Application.ActivityLifecycleCallbacks {
    private final AndroidOzClient robot;
    private final Activity activity;
    private final Consumer<Throwable> failed;
    private boolean isStarted;
    private boolean isConnecting;
    /** Whether the attempt that goes on was given up, and another one is wanted. */
    private boolean isStartedAgain;

    Follower(AndroidOzClient robot, Activity activity, Consumer<Throwable> failed) {
        this.robot = robot;
        this.activity = activity;
        this.failed = failed;
    }

    @Override
    public void onActivityStarted(Activity started) {
        if (started == activity) {
            isStarted = true;
            if (isConnecting) {
                isStartedAgain = true;
            } else {
                connect();
            }
        }
    }

    @Override
    public void onActivityStopped(Activity stopped) {
        if (stopped == activity) {
            stop();
        }
    }

    @Override
    public void onActivityDestroyed(Activity destroyed) {
        if (destroyed == activity) {
            stop();
            activity.getApplication().unregisterActivityLifecycleCallbacks(this);
        }
    }

    private void stop() {
        isStarted = false;
        isStartedAgain = false;
        robot.disconnectAsync();
    }

    private void connect() {
        isConnecting = true;
        // the last connection may not have ended yet
        robot.disconnectAsync()
                .thenCompose(ended -> isStarted ? robot.connectAsync() : CompletableFuture.completedFuture(null))
                .whenComplete((connected, error) -> connected(error));
    }

    private void connected(Throwable error) {
        isConnecting = false;
        if (isStartedAgain) {
            isStartedAgain = false;
            connect();
        } else if (error != null && isStarted) {
            failed.accept(error instanceof CompletionException ? error.getCause() : error);
        }
    }

    @Override
    public void onActivityCreated(Activity created, Bundle state) {}

    @Override
    public void onActivityResumed(Activity resumed) {}

    @Override
    public void onActivityPaused(Activity paused) {}

    @Override
    public void onActivitySaveInstanceState(Activity saved, Bundle state) {}
}
