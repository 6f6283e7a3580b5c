package rossum.oz.android;

import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import rossum.oz.OzListener;
import rossum.oz.VideoFrame;

/** Decodes images in a thread of its own; of several that wait, only the newest one. */
final class Images implements OzListener {
    private final Executor mainThread;
    private final ThreadPoolExecutor decoding;
    private final List<Consumer<Bitmap>> listeners = new CopyOnWriteArrayList<>();
    /** An image that waits to be decoded. */
    private final AtomicReference<VideoFrame> encoded = new AtomicReference<>();
    /** One that waits for the main thread. */
    private final AtomicReference<Bitmap> decoded = new AtomicReference<>();

    Images(Executor mainThread) {
        this.mainThread = mainThread;
        decoding = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "oz images");
            thread.setDaemon(true);
            return thread;
        });
        decoding.allowCoreThreadTimeOut(true);
    }

    void add(Consumer<Bitmap> listener) {
        listeners.add(listener);
    }

    void remove(Consumer<Bitmap> listener) {
        listeners.remove(listener);
    }

    @Override
    public void onVideoFrame(VideoFrame frame) {
        if (!listeners.isEmpty() && encoded.getAndSet(frame) == null) {
            decoding.execute(this::decode);
        }
    }

    private void decode() {
        byte[] jpeg = encoded.getAndSet(null).jpeg();
        Bitmap bitmap = BitmapFactory.decodeByteArray(jpeg, 0, jpeg.length);
        // there is none of a file that is damaged
        if (bitmap != null && decoded.getAndSet(bitmap) == null) {
            mainThread.execute(this::show);
        }
    }

    private void show() {
        Bitmap bitmap = decoded.getAndSet(null);
        listeners.forEach(listener -> listener.accept(bitmap));
    }
}
