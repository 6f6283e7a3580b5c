package android.os;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public final class Looper {
    private static volatile Looper main;
    private static final ThreadLocal<Looper> MINE = new ThreadLocal<>();

    private final BlockingQueue<Runnable> posted = new LinkedBlockingQueue<>();
    private volatile boolean hasQuit;

    private Looper() {}

    public static void prepareMainLooper() {
        main = new Looper();
        MINE.set(main);
    }

    public static Looper getMainLooper() {
        return main;
    }

    public static Looper myLooper() {
        return MINE.get();
    }

    public static void loop() {
        Looper mine = MINE.get();
        while (!mine.hasQuit) {
            try {
                mine.posted.take().run();
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    public void quit() {
        post(() -> hasQuit = true);
    }

    boolean post(Runnable task) {
        return !hasQuit && posted.add(task);
    }
}
