package rossum.oz;

import static rossum.oz.Tests.equal;
import static rossum.oz.Tests.fails;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;
import rossum.oz.OzException.Kind;

/** What the conformance suite cannot show: threads, futures, listeners, and Java's own types. */
public class ClientTest {
    private static final long LONG = 30;

    /** Runs the tests. */
    public static void main(String[] arguments) throws Exception {
        Tests.run(ClientTest.class);
    }

    public void manyThreadsSpeakAtOnce() throws Exception {
        try (Robot robot = Robot.thatEndsEveryText();
                OzClient client = connected(robot)) {
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                threads.add(inThread(() -> {
                    for (int text = 0; text < 50; text++) {
                        client.speak("Hello").get(LONG, TimeUnit.SECONDS);
                    }
                    return null;
                }));
            }
            for (CompletableFuture<Void> thread : threads) {
                thread.get(LONG, TimeUnit.SECONDS);
            }
            equal(client.isSpeaking(), false);
        }
    }

    public void disconnectingWakesThreadsThatWait() throws Exception {
        try (Robot robot = Robot.thatListens();
                OzClient client = connected(robot)) {
            CompletableFuture<Void> speech = client.speak("Hello");
            CompletableFuture<Void> waiting = inThread(() -> client.waitForSpeak(Duration.ofSeconds(LONG)));
            client.disconnect();
            equal(reason(speech).kind(), Kind.CLOSED);
            equal(reason(waiting).kind(), Kind.CLOSED);
            equal(fails(OzException.class, () -> client.gesture(Gesture.YES_LONG)).kind(), Kind.CLOSED);
        }
    }

    public void listenersAndDependentsMayBlock() throws Exception {
        try (Robot robot = Robot.thatEndsEveryText();
                OzClient client = connected(robot)) {
            CountDownLatch ends = new CountDownLatch(2);
            client.addListener(new OzListener() {
                @Override
                public void onSpeakStart(String text) {
                    if (text.equals("first")) {
                        client.speak("in a listener").join();
                        ends.countDown();
                    }
                }
            });
            client.speak("first").thenRun(() -> {
                client.speak("after it").join();
                ends.countDown();
            });
            equal(ends.await(LONG, TimeUnit.SECONDS), true);
        }
    }

    public void theMistakeOfAListenerIsReportedAndStopsNothing() throws Exception {
        try (Robot robot = Robot.thatEndsEveryText();
                OzClient client = robot.client().build()) {
            BlockingQueue<Object> told = new LinkedBlockingQueue<>();
            client.addListener(new OzListener() {
                @Override
                public void onSpeakDone() {
                    Thread.currentThread().setUncaughtExceptionHandler((thread, mistake) -> told.add(mistake.getMessage()));
                    throw new IllegalStateException("a mistake");
                }
            });
            client.addListener(new OzListener() {
                @Override
                public void onSpeakDone() {
                    told.add("done");
                }
            });
            client.connect();
            client.speak("Hello");
            client.speak("Hello");
            for (String event : Arrays.asList("a mistake", "done", "a mistake", "done")) {
                equal(told.poll(LONG, TimeUnit.SECONDS), event);
            }
        }
    }

    public void anExecutorCallsListenersAndCompletesFutures() throws Exception {
        try (Robot robot = Robot.thatEndsEveryText()) {
            BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
            List<String> told = new ArrayList<>();
            OzClient client = robot.client().executor(tasks::add).build();
            client.addListener(new OzListener() {
                @Override
                public void onConnected(String name, String longName) {
                    told.add("connected to " + name);
                }

                @Override
                public void onSpeakDone() {
                    told.add("spoken");
                }
            });
            CompletableFuture<Void> speech = client.connectAsync().thenCompose(nothing -> client.speak("Hello"));
            while (!speech.isDone()) {
                tasks.poll(LONG, TimeUnit.SECONDS).run();
            }
            while (!tasks.isEmpty()) {
                tasks.take().run();
            }
            equal(told, Arrays.asList("connected to alice", "spoken"));
            client.disconnectAsync();
        }
    }

    public void imagesAreReadByImageIo() throws Exception {
        ByteArrayOutputStream jpeg = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(32, 24, BufferedImage.TYPE_INT_RGB), "jpeg", jpeg);
        try (Robot robot = Robot.that((in, out) -> {
                    out.writeInt(Message.VIDEO_FRAME.id());
                    out.writeInt(jpeg.size());
                    jpeg.writeTo(out);
                    in.read();
                });
                OzClient client = robot.client().build()) {
            CompletableFuture<VideoFrame> frame = new CompletableFuture<>();
            client.addListener(new OzListener() {
                @Override
                public void onVideoFrame(VideoFrame image) {
                    frame.complete(image);
                }
            });
            client.connect();
            BufferedImage image = ImageIO.read(frame.get(LONG, TimeUnit.SECONDS).stream());
            equal(image.getWidth() + " x " + image.getHeight(), "32 x 24");
        }
    }

    public void mistakesOfTheProgramAreReported() throws Exception {
        try (Robot robot = Robot.thatListens();
                OzClient client = connected(robot)) {
            fails(IllegalStateException.class, client::connectAsync);
            fails(IllegalArgumentException.class, () -> client.speak("\ud800"));
            fails(IllegalArgumentException.class, () -> OzClient.builder("alice").port(65536));
            equal(fails(OzException.class, () -> client.gesture(-1)).kind(), Kind.OUT_OF_RANGE);
            OzException few = fails(OzException.class, () -> {
                client.setAllServos(new double[35]);
                return null;
            });
            equal(few.getMessage(), "35 positions; a robot has 36 servos");
            equal(client.isConnected(), true);
            equal(client.isSpeaking() || client.isGesturing(), false);
        }
    }

    public void anInterruptedThreadStopsConnecting() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            OzClient client = OzClient.builder("127.0.0.1").port(silent.getLocalPort()).build();
            Thread.currentThread().interrupt();
            fails(InterruptedException.class, () -> {
                client.connect();
                return null;
            });
            client.disconnect();
            equal(client.isConnected(), false);
        }
    }

    public void aClientThatCouldNotConnectMayTryAgain() throws Exception {
        int port;
        try (ServerSocket nobody = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = nobody.getLocalPort();
        }
        OzClient client = OzClient.builder("127.0.0.1").port(port).build();
        for (int i = 0; i < 2; i++) {
            OzException error = fails(OzException.class, () -> {
                client.connect();
                return null;
            });
            equal(error.kind(), Kind.UNREACHABLE);
        }
    }

    public void oldImagesAndEventsGiveWay() {
        List<Runnable> tasks = new ArrayList<>();
        Inbox inbox = new Inbox(tasks::add);
        List<Integer> images = new ArrayList<>();
        List<Integer> others = new ArrayList<>();
        inbox.add(new OzListener() {});
        for (int i = 0; i < 10_000; i++) {
            int number = i;
            inbox.putImage(listener -> images.add(number));
            inbox.put(listener -> others.add(number));
        }
        while (!tasks.isEmpty()) {
            tasks.remove(0).run();
        }
        equal(images, Arrays.asList(9992, 9993, 9994, 9995, 9996, 9997, 9998, 9999));
        equal(images.size() + others.size(), Inbox.MAX_EVENTS);
        equal(others.get(others.size() - 1), 9999);
    }

    private static OzClient connected(Robot robot) throws InterruptedException {
        OzClient client = robot.client().build();
        client.connect();
        return client;
    }

    private static CompletableFuture<Void> inThread(Callable<?> action) {
        return CompletableFuture.runAsync(() -> {
            try {
                action.call();
            } catch (Exception error) {
                throw new CompletionException(error);
            }
        }, task -> new Thread(task).start());
    }

    /** Why something fails. */
    private static OzException reason(CompletableFuture<Void> failing) {
        Throwable error = fails(Exception.class, () -> failing.get(LONG, TimeUnit.SECONDS)).getCause();
        if (error instanceof OzException) {
            return (OzException) error;
        }
        throw new AssertionError("an error of another type", error);
    }
}
