package rossum.oz;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Connects to a robot, stays connected, and makes a lost connection again if that is wanted. Runs in a thread of its own. */
final class Session implements Runnable {
    /** Is told how the session goes, in its thread. */
    interface Owner {
        /** A connection has been made. Returns who is to be told its messages. */
        OzListener opened(Connection connection, Welcome welcome);

        /** A connection that had been made has ended for this reason. */
        void lost(OzException reason);

        /** An attempt to make it again has failed. */
        void failed(OzException error);

        /** The session is over; {@code true} if {@link #finish} has ended a connection, or the attempts to make it again. */
        void over(boolean isFinished);
    }

    private final Owner owner;
    private final String host;
    private final int port;
    private final Supplier<Connection> connections;
    private final Duration reconnect;
    private final Completions completions;
    private final CompletableFuture<Void> begin = new CompletableFuture<>();
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    /** Whether the last connection has ended by itself. */
    private boolean isLost;
    /** Guarded by this, like the next one. */
    private Connection current;
    private boolean isFinishing;

    /** With {@code reconnect}, a lost connection is made again, with this time before each attempt. */
    Session(
            Owner owner,
            String host,
            int port,
            Supplier<Connection> connections,
            Duration reconnect,
            Completions completions) {
        this.owner = owner;
        this.host = host;
        this.port = port;
        this.connections = connections;
        this.reconnect = reconnect;
        this.completions = completions;
    }

    /** Done when the robot has answered; fails if it does not. */
    CompletableFuture<Void> begin() {
        return begin;
    }

    /** Done when the session is over. */
    CompletableFuture<Void> end() {
        return end;
    }

    /** Ends the session; the last request still arrives. */
    synchronized void finish() {
        isFinishing = true;
        notifyAll();
        if (current != null) {
            current.finish();
        }
    }

    @Override
    public void run() {
        OzException failure = connect();
        boolean isFinished = false;
        if (failure == null) {
            while (isLost && reconnect != null && pause()) {
                OzException error = connect();
                if (error != null && !isFinishing()) {
                    owner.failed(error);
                }
            }
            isFinished = !isLost || reconnect != null;
        }
        owner.over(isFinished);
        completions.complete(end, null);
        if (failure != null) {
            completions.complete(begin, failure);
        }
    }

    /** Makes a connection and receives until it ends. Returns why none could be made. */
    private OzException connect() {
        try (Connection connection = connections.get()) {
            use(connection);
            Welcome welcome = connection.open(host, port);
            isLost = false;
            OzListener receiver = owner.opened(connection, welcome);
            completions.complete(begin, null);
            OzException reason = connection.receive(receiver);
            if (!isFinishing()) {
                isLost = true;
                owner.lost(reason);
            }
            return null;
        } catch (OzException error) {
            return error;
        } finally {
            use(null);
        }
    }

    private synchronized void use(Connection connection) {
        current = connection;
        if (connection != null && isFinishing) {
            connection.finish();
        }
    }

    private synchronized boolean isFinishing() {
        return isFinishing;
    }

    /** Waits before the next attempt; {@code false} if the session is to end. */
    private synchronized boolean pause() {
        Deadline deadline = Deadline.after(reconnect);
        while (!isFinishing && !deadline.isPast()) {
            try {
                wait(deadline.toMillis());
            } catch (InterruptedException interrupted) {
                // nobody has a reason to interrupt this thread, but the program wants it to end
                isFinishing = true;
            }
        }
        return !isFinishing;
    }
}
