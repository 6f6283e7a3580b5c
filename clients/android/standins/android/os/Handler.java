package android.os;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public class Handler {
    private final Looper looper;

    public Handler(Looper looper) {
        this.looper = looper;
    }

    public final boolean post(Runnable task) {
        return looper.post(task);
    }
}
