import android.os.Handler;
import android.os.Looper;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import rossum.oz.OzClient;
import rossum.oz.OzException;
import rossum.oz.android.AndroidOzClient;

/**
 * The conformance harness of the Android client: that of the Java client, beside a main thread that is told the events, connects
 * and disconnects. See protocols/oz/conformance/README.md.
 */
public class AndroidHarness extends Harness {
    /** Serves the commands on standard input in another thread. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        CompletableFuture<Void> end = new CompletableFuture<>();
        new Thread(() -> {
            try {
                new AndroidHarness().serve();
                end.complete(null);
            } catch (Exception error) {
                end.completeExceptionally(error);
            }
            Looper.getMainLooper().quit();
        }).start();
        Looper.loop();
        end.get();
    }

    @Override
    protected OzClient client(OzClient.Builder options) {
        return new AndroidOzClient(options);
    }

    @Override
    protected void connect(OzClient robot) throws Exception {
        awaitOnMain(robot::connectAsync);
    }

    @Override
    protected void disconnect(OzClient robot) throws Exception {
        awaitOnMain(robot::disconnectAsync);
    }

    /** Starts something in the main thread, and waits in this one for its end. */
    private static void awaitOnMain(Callable<CompletableFuture<Void>> start) throws Exception {
        CompletableFuture<CompletableFuture<Void>> started = new CompletableFuture<>();
        new Handler(Looper.getMainLooper()).post(() -> {
            try {
                started.complete(start.call());
            } catch (Exception error) {
                started.completeExceptionally(error);
            }
        });
        try {
            started.get().get();
        } catch (ExecutionException error) {
            throw (OzException) error.getCause();
        }
    }
}
