package android.util;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public final class Log {
    private Log() {}

    public static int i(String tag, String message) {
        System.out.println(tag + ": " + message);
        return 0;
    }
}
