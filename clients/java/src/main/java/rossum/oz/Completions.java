package rossum.oz;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** Completes futures in another thread than the one that receives, as what depends on them may block. */
final class Completions {
    private final Executor executor;

    /** Without an executor, the threads are those of asynchronous methods of futures. */
    Completions(Executor executor) {
        this.executor = executor;
    }

    /** Completes a future, or lets it fail if there is an error. */
    void complete(CompletableFuture<Void> future, OzException error) {
        Runnable completion = () -> {
            if (error == null) {
                future.complete(null);
            } else {
                future.completeExceptionally(error);
            }
        };
        try {
            if (executor == null) {
                CompletableFuture.runAsync(completion);
            } else {
                executor.execute(completion);
            }
        } catch (RejectedExecutionException rejected) {
            // the program has shut its executor down, and may still wait
            completion.run();
        }
    }
}
