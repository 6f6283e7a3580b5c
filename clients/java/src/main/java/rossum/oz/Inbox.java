package rossum.oz;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Events on their way to the listeners. The queue is bounded: a program that is too slow loses the oldest events, and of images all
 * but the newest few.
 */
final class Inbox {
    static final int MAX_EVENTS = 4096;
    static final int MAX_IMAGES = 8;

    private final Executor executor;
    private final List<OzListener> listeners = new CopyOnWriteArrayList<>();
    /** Guarded by this, like the next two. */
    private final Deque<Event> events = new ArrayDeque<>();
    private int images;
    private boolean isDelivering;

    Inbox(Executor executor) {
        this.executor = executor;
    }

    void add(OzListener listener) {
        listeners.add(listener);
    }

    void remove(OzListener listener) {
        listeners.remove(listener);
    }

    void put(Consumer<OzListener> event) {
        put(new Event(event, false));
    }

    void putImage(Consumer<OzListener> image) {
        put(new Event(image, true));
    }

    private synchronized void put(Event event) {
        if (event.isImage) {
            if (images == MAX_IMAGES) {
                dropOldestImage();
            }
            images++;
        }
        if (events.size() == MAX_EVENTS) {
            take();
        }
        events.add(event);
        if (!isDelivering) {
            schedule();
        }
    }

    private void dropOldestImage() {
        Iterator<Event> each = events.iterator();
        while (!each.next().isImage) {
            // there is one
        }
        each.remove();
        images--;
    }

    private synchronized Event take() {
        Event event = events.poll();
        if (event != null && event.isImage) {
            images--;
        }
        return event;
    }

    /** Tells the listeners of one event. The executor has its turn before the next one. */
    private void deliver() {
        Event event = take();
        if (event != null) {
            for (OzListener listener : listeners) {
                tell(listener, event);
            }
        }
        synchronized (this) {
            isDelivering = false;
            if (!events.isEmpty()) {
                schedule();
            }
        }
    }

    private void schedule() {
        try {
            executor.execute(this::deliver);
            isDelivering = true;
        } catch (RejectedExecutionException error) {
            // the program has shut its executor down: nobody wants to know any more
            events.clear();
            images = 0;
        }
    }

    private static void tell(OzListener listener, Event event) {
        try {
            event.tell.accept(listener);
        } catch (RuntimeException mistake) {
            // it must not keep the other listeners from their events
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, mistake);
        }
    }

    private static final class Event {
        final Consumer<OzListener> tell;
        final boolean isImage;

        Event(Consumer<OzListener> tell, boolean isImage) {
            this.tell = tell;
            this.isImage = isImage;
        }
    }
}
