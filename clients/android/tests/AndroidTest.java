import static rossum.oz.Tests.equal;
import static rossum.oz.Tests.fails;

import android.app.Activity;
import android.app.Application.ActivityLifecycleCallbacks;
import android.os.Handler;
import android.os.Looper;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;
import rossum.oz.Message;
import rossum.oz.OzException;
import rossum.oz.OzListener;
import rossum.oz.Robot;
import rossum.oz.Tests;
import rossum.oz.android.AndroidOzClient;

/** What the Android library adds to the Java one, on a JVM with stand-ins for Android's classes. */
public class AndroidTest {
    private static final long LONG = 30;

    /** Runs the tests beside the main thread, which is this one. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        CompletableFuture<Void> end = CompletableFuture.runAsync(() -> {
            try {
                Tests.run(AndroidTest.class);
            } catch (Exception failure) {
                throw new IllegalStateException(failure);
            }
        }).whenComplete((nothing, failure) -> Looper.getMainLooper().quit());
        Looper.loop();
        end.get();
    }

    public void listenersAndFuturesAreInTheMainThread() throws Exception {
        try (Robot robot = Robot.thatEndsEveryText()) {
            AndroidOzClient client = new AndroidOzClient(robot.client());
            BlockingQueue<String> told = new LinkedBlockingQueue<>();
            client.addListener(new OzListener() {
                @Override
                public void onConnected(String name, String longName) {
                    told.add("connected" + place());
                }

                @Override
                public void onSpeakDone() {
                    told.add("spoken" + place());
                }
            });
            onMain(() -> client.connectAsync()
                    .thenCompose(connected -> client.speak("Hello"))
                    .thenRun(() -> told.add("done" + place())));
            equal(told.poll(LONG, TimeUnit.SECONDS), "connected in the main thread");
            // listeners and futures have no order among each other
            Set<String> others = new HashSet<>();
            others.add(told.poll(LONG, TimeUnit.SECONDS));
            others.add(told.poll(LONG, TimeUnit.SECONDS));
            equal(others, Set.of("spoken in the main thread", "done in the main thread"));
            client.disconnect();
        }
    }

    public void whatBlocksIsRefusedInTheMainThreadOnly() throws Exception {
        try (Robot robot = Robot.thatEndsEveryText()) {
            AndroidOzClient client = new AndroidOzClient(robot.client());
            client.connect();
            onMain(() -> {
                fails(IllegalStateException.class, () -> client.waitForSpeak(Duration.ZERO));
                fails(IllegalStateException.class, () -> client.waitForGesture(Duration.ZERO));
                fails(IllegalStateException.class, () -> {
                    client.connect();
                    return null;
                });
                fails(IllegalStateException.class, () -> {
                    client.disconnect();
                    return null;
                });
                return client.speak("Hello");
            });
            equal(client.waitForSpeak(Duration.ofSeconds(LONG)), true);
            onMain(() -> {
                client.close();
                return null;
            });
            client.disconnectAsync().get(LONG, TimeUnit.SECONDS);
            equal(client.isConnected(), false);
        }
    }

    public void aRobotThatDoesNotReadDoesNotBlockTheMainThread() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (Robot robot = Robot.that((in, out) -> await(end))) {
            AndroidOzClient client = new AndroidOzClient(robot.client().timeout(Duration.ofMillis(500)));
            client.connect();
            String text = new String(new char[65_535]).replace('\0', 'a');
            OzException error = onMain(() -> fails(OzException.class, () -> {
                while (true) {
                    client.speak(text);
                }
            }));
            // the connection may have ended before the call
            boolean isLate = error.kind() == OzException.Kind.TIMEOUT || error.kind() == OzException.Kind.CLOSED;
            equal(isLate, true);
            end.countDown();
            client.disconnect();
        }
    }

    public void theNewestImageIsShown() throws Exception {
        ByteArrayOutputStream jpeg = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(32, 24, BufferedImage.TYPE_INT_RGB), "jpeg", jpeg);
        byte[] damaged = {1, 2, 3};
        try (Robot robot = Robot.that((in, out) -> {
            for (byte[] image : new byte[][] {damaged, jpeg.toByteArray()}) {
                out.writeInt(Message.VIDEO_FRAME.id());
                out.writeInt(image.length);
                out.write(image);
            }
            in.read();
        })) {
            AndroidOzClient client = new AndroidOzClient(robot.client());
            BlockingQueue<String> shown = new LinkedBlockingQueue<>();
            client.addBitmapListener(image -> shown.add(image.getWidth() + " x " + image.getHeight() + place()));
            client.connect();
            equal(shown.poll(LONG, TimeUnit.SECONDS), "32 x 24 in the main thread");
            client.disconnect();
        }
    }

    public void anActivityIsConnectedWhileItIsStarted() throws Exception {
        Activity activity = new Activity();
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        OzListener listener = new OzListener() {
            @Override
            public void onConnected(String name, String longName) {
                told.add("connected");
            }

            @Override
            public void onDisconnected(OzException reason) {
                told.add("disconnected");
            }
        };
        AndroidOzClient client;
        try (Robot robot = Robot.thatListens()) {
            client = new AndroidOzClient(robot.client().timeout(Duration.ofSeconds(LONG)));
            client.addListener(listener);
            client.follow(activity, error -> told.add("failed"));
            tell(activity, each -> each.onActivityStarted(new Activity()));
            tell(activity, each -> each.onActivityStarted(activity));
            equal(told.poll(LONG, TimeUnit.SECONDS), "connected");
            tell(activity, each -> each.onActivityStopped(activity));
            equal(told.poll(LONG, TimeUnit.SECONDS), "disconnected");
        }
        // now nobody listens
        tell(activity, each -> each.onActivityStarted(activity));
        equal(told.poll(LONG, TimeUnit.SECONDS), "failed");
        tell(activity, each -> each.onActivityDestroyed(activity));
        equal(activity.getApplication().callbacks.isEmpty(), true);
        equal(told.isEmpty(), true);
    }

    public void anActivityThatIsTurnedIsConnectedInTheEnd() throws Exception {
        Activity activity = new Activity();
        List<String> failures = new ArrayList<>();
        try (Robot robot = Robot.thatListens()) {
            AndroidOzClient client = new AndroidOzClient(robot.client());
            client.follow(activity, error -> failures.add(error.getMessage()));
            onMain(() -> {
                for (ActivityLifecycleCallbacks each : activity.getApplication().callbacks) {
                    for (int i = 0; i < 3; i++) {
                        each.onActivityStarted(activity);
                        each.onActivityStopped(activity);
                    }
                    each.onActivityStarted(activity);
                }
                return null;
            });
            // the main thread has its turn until the attempts that were given up have ended
            while (!client.isConnected()) {
                onMain(() -> null);
            }
            equal(failures.isEmpty(), true);
            tell(activity, each -> each.onActivityDestroyed(activity));
            client.disconnectAsync().get(LONG, TimeUnit.SECONDS);
        }
    }

    private interface Change {
        void happen(ActivityLifecycleCallbacks to);
    }

    private static void tell(Activity activity, Change change) throws Exception {
        onMain(() -> {
            activity.getApplication().callbacks.forEach(change::happen);
            return null;
        });
    }

    private static String place() {
        return Looper.myLooper() == Looper.getMainLooper() ? " in the main thread" : " elsewhere";
    }

    /** Does something in the main thread, and waits until it is done. */
    private static <T> T onMain(Callable<T> action) throws Exception {
        CompletableFuture<T> done = new CompletableFuture<>();
        new Handler(Looper.getMainLooper()).post(() -> {
            try {
                done.complete(action.call());
            } catch (Throwable error) {
                done.completeExceptionally(error);
            }
        });
        return done.get(LONG, TimeUnit.SECONDS);
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await(LONG, TimeUnit.SECONDS);
        } catch (InterruptedException error) {
            throw new IOException(error);
        }
    }
}
