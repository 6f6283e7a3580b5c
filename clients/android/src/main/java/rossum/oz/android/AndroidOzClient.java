package rossum.oz.android;

import android.app.Activity;
import android.graphics.Bitmap;
import android.os.Handler;
import android.os.Looper;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import rossum.oz.OzClient;

/**
 * A client for the main thread of an app. Listeners are called there, and futures completed.
 *
 * <pre>{@code
 * protected void onCreate(Bundle state) {
 *     super.onCreate(state);
 *     robot = new AndroidOzClient(OzClient.builder("192.168.1.20").reconnect(Duration.ofSeconds(2)));
 *     robot.addListener(this);
 *     robot.addBitmapListener(imageView::setImageBitmap);
 *     robot.follow(this, error -> showMessage(error.getMessage()));
 * }
 * }</pre>
 *
 * <p>All methods that send a request may be called in the main thread, as they do not wait for the network. Those that block refuse
 * it: {@link #connect}, {@link #disconnect}, {@link #waitForSpeak} and {@link #waitForGesture}. Do not block it with {@code get} or
 * {@code join} of a future either, which would never be completed.
 */
public class AndroidOzClient extends OzClient {
    private final Images images;

    /**
     * Prepares a client.
     *
     * @param options the options; their executor is replaced by one for the main thread
     */
    public AndroidOzClient(OzClient.Builder options) {
        this(options, mainThread());
    }

    private AndroidOzClient(OzClient.Builder options, Executor mainThread) {
        super(options.executor(mainThread));
        images = new Images(mainThread);
        addListener(images);
    }

    private static Executor mainThread() {
        Handler handler = new Handler(Looper.getMainLooper());
        return task -> {
            if (!handler.post(task)) {
                throw new RejectedExecutionException("the main thread has ended");
            }
        };
    }

    /**
     * Adds a listener for decoded images. They are decoded in another thread, and skipped if that or the main thread is too slow.
     *
     * @param listener is told the newest image in the main thread
     */
    public void addBitmapListener(Consumer<Bitmap> listener) {
        images.add(listener);
    }

    /**
     * Removes a listener for decoded images.
     *
     * @param listener the listener
     */
    public void removeBitmapListener(Consumer<Bitmap> listener) {
        images.remove(listener);
    }

    /**
     * Connects whenever an activity is started, and disconnects when it is stopped. Call it in the activity's {@code onCreate}, and
     * leave connecting to it. With {@linkplain OzClient.Builder#reconnect reconnecting}, a connection that is lost meanwhile is
     * made again.
     *
     * @param activity the activity
     * @param failed is told in the main thread why the robot could not be connected, by an {@link rossum.oz.OzException}
     */
    public void follow(Activity activity, Consumer<Throwable> failed) {
        activity.getApplication().registerActivityLifecycleCallbacks(new Follower(this, activity, failed));
    }

    @Override
    public void connect() throws InterruptedException {
        refuseMainThread("connectAsync");
        super.connect();
    }

    @Override
    public void disconnect() {
        refuseMainThread("disconnectAsync");
        super.disconnect();
    }

    /** Disconnects; waits until that is done, except in the main thread. */
    @Override
    public void close() {
        if (isMainThread()) {
            disconnectAsync();
        } else {
            super.close();
        }
    }

    @Override
    public boolean waitForSpeak(Duration timeout) throws InterruptedException {
        refuseMainThread("the future that speak returns");
        return super.waitForSpeak(timeout);
    }

    @Override
    public boolean waitForGesture(Duration timeout) throws InterruptedException {
        refuseMainThread("the future that gesture returns");
        return super.waitForGesture(timeout);
    }

    private static boolean isMainThread() {
        return Looper.myLooper() == Looper.getMainLooper();
    }

    private static void refuseMainThread(String alternative) {
        if (isMainThread()) {
            throw new IllegalStateException("this would block the main thread; use " + alternative);
        }
    }
}
