package rossum.oz;

import java.time.Duration;

/** A point in time, which may never come. */
final class Deadline {
    private static final long START = System.nanoTime();

    static final Deadline NEVER = new Deadline(Long.MAX_VALUE / 2);

    /** In nanoseconds of {@link #now}. */
    private final long time;

    private Deadline(long time) {
        this.time = time;
    }

    static Deadline after(Duration delay) {
        long longest = NEVER.time / 2;
        return new Deadline(now() + (delay.compareTo(Duration.ofNanos(longest)) > 0 ? longest : delay.toNanos()));
    }

    boolean isPast() {
        return now() >= time;
    }

    /** What is left in milliseconds, rounded up, for methods that take 0 for ever. */
    long toMillis() {
        return this == NEVER ? 0 : Math.max(1, (time - now() + 999_999) / 1_000_000);
    }

    static Deadline earlier(Deadline a, Deadline b) {
        return a.time < b.time ? a : b;
    }

    /** From the first use on, so that times can be compared. */
    private static long now() {
        return System.nanoTime() - START;
    }
}
