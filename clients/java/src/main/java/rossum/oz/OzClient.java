package rossum.oz;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import rossum.oz.OzException.Kind;

/**
 * A client that controls a robot.
 *
 * <pre>{@code
 * try (OzClient robot = OzClient.builder("127.0.0.1").build()) {
 *     robot.addListener(new OzListener() {
 *         @Override
 *         public void onUtterance(Utterance utterance) {
 *             robot.speak("You said: " + utterance.text());
 *         }
 *     });
 *     robot.connect();
 *     robot.setExpression(Expression.HAPPY);
 *     robot.speak("[braisel]Hello, who are you?").join();
 * }
 * }</pre>
 *
 * <p>Requests are sent at once, and no method that sends one waits. The client receives in the background. All methods may be called
 * in any thread. The threads of a client do not keep a program running.
 */
public class OzClient extends Settings implements AutoCloseable {
    private final Builder options;
    private final Inbox inbox;
    private final Completions completions;
    // guarded by the lock
    private Session session;
    private Connection connection;
    private Welcome welcome = new Welcome(0, "", "");
    private final Deque<CompletableFuture<Void>> texts = new ArrayDeque<>();
    private final List<CompletableFuture<Void>> gestures = new ArrayList<>();
    private int playing;
    private volatile boolean skipsVideo;

    /**
     * Prepares a client.
     *
     * @param options what the builder has been told
     */
    protected OzClient(Builder options) {
        this.options = new Builder(options);
        inbox = new Inbox(options.executor == null ? ownThread() : options.executor);
        completions = new Completions(options.executor);
    }

    /**
     * Begins to prepare a client.
     *
     * @param host the name or address of the robot's computer
     * @return a builder with the defaults
     */
    public static Builder builder(String host) {
        return new Builder(host);
    }

    /** A thread that ends when it has had nothing to do for a while. */
    private static Executor ownThread() {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), OzClient::thread);
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "oz");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Adds a listener, which is told the events from now on.
     *
     * @param listener the listener
     */
    public void addListener(OzListener listener) {
        inbox.add(Objects.requireNonNull(listener));
    }

    /**
     * Removes a listener.
     *
     * @param listener the listener
     */
    public void removeListener(OzListener listener) {
        inbox.remove(listener);
    }

    /**
     * Connects, and waits for the robot's answer.
     *
     * @throws OzException if there is none: of kind {@code UNREACHABLE}, {@code TIMEOUT}, {@code WRONG_VERSION},
     *     {@code BAD_MESSAGE}, {@code CLOSED} or {@code TRUNCATED}
     * @throws InterruptedException if this thread is interrupted; the attempt is given up
     * @throws IllegalStateException if the client is connected already
     */
    public void connect() throws InterruptedException {
        CompletableFuture<Void> begin = connectAsync();
        try {
            begin.get();
        } catch (ExecutionException error) {
            OzException reason = (OzException) error.getCause();
            throw new OzException(reason.kind(), reason.getMessage(), reason);
        } catch (InterruptedException interrupted) {
            disconnectAsync();
            throw interrupted;
        }
    }

    /**
     * Connects without waiting.
     *
     * @return done when the robot has answered; fails with an {@link OzException} as {@link #connect} does
     * @throws IllegalStateException if the client is connected already
     */
    public CompletableFuture<Void> connectAsync() {
        synchronized (lock) {
            if (session != null) {
                throw new IllegalStateException("the client is connected, or has not finished disconnecting");
            }
            Duration timeout = options.timeout;
            Owner owner = new Owner();
            session = new Session(
                    owner, options.host, options.port, () -> new Connection(timeout), options.reconnect, completions);
            thread(session).start();
            return session.begin();
        }
    }

    /**
     * Closes the connection, and waits until that is done: half a second at most. Settings of the robot stay in effect. Does nothing
     * if the client is not connected.
     */
    public void disconnect() {
        disconnectAsync().join();
    }

    /**
     * Closes the connection without waiting.
     *
     * @return done when it is closed
     */
    public CompletableFuture<Void> disconnectAsync() {
        Session ending;
        synchronized (lock) {
            connection = null;
            lock.notifyAll();
            ending = session;
        }
        if (ending == null) {
            return CompletableFuture.completedFuture(null);
        }
        ending.finish();
        return ending.end();
    }

    /** {@linkplain #disconnect Disconnects.} */
    @Override
    public void close() {
        disconnect();
    }

    /**
     * Whether the client is connected.
     *
     * @return whether it is
     */
    public boolean isConnected() {
        synchronized (lock) {
            return connection != null;
        }
    }

    /**
     * The robot's short name.
     *
     * @return the name; empty before the first connection
     */
    public String name() {
        synchronized (lock) {
            return welcome.name;
        }
    }

    /**
     * The robot's long name.
     *
     * @return the name; empty before the first connection
     */
    public String longName() {
        synchronized (lock) {
            return welcome.longName;
        }
    }

    /**
     * The robot's version of the protocol.
     *
     * @return {@link Protocol#VERSION}; 0 before the first connection
     */
    public int version() {
        synchronized (lock) {
            return welcome.version;
        }
    }

    /**
     * Sends a text, which may have {@linkplain Gesture#tag gesture tags}. Texts are spoken one after another.
     *
     * @param text the text
     * @return done when the text has been spoken; fails with an {@link OzException} if the connection ends first
     * @throws OzException of kind {@code CLOSED} or {@code TEXT_TOO_LONG}
     */
    public CompletableFuture<Void> speak(String text) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        request(Requests.text(Message.SPEAK, text), () -> {
            texts.add(end);
            inbox.put(listener -> listener.onSpeakStart(text));
        });
        return end;
    }

    /**
     * Waits until all texts of this client have been spoken.
     *
     * @param timeout how long
     * @return {@code false} if it takes longer
     * @throws OzException of kind {@code CLOSED} if the connection ends first
     * @throws InterruptedException if this thread is interrupted
     */
    public boolean waitForSpeak(Duration timeout) throws InterruptedException {
        return await(texts::isEmpty, timeout);
    }

    /**
     * Whether texts of this client have not been spoken yet.
     *
     * @return whether there are any
     */
    public boolean isSpeaking() {
        synchronized (lock) {
            return !texts.isEmpty();
        }
    }

    /**
     * Starts a gesture.
     *
     * @param gesture the gesture
     * @return as of {@link #gesture(long)}
     */
    public CompletableFuture<Void> gesture(Gesture gesture) {
        return gesture(gesture.id());
    }

    /**
     * Starts a gesture, perhaps one that not every robot has. Several gestures can play at once, and the robot does not tell which
     * one has ended. So all are taken to have ended when none of this client is playing any more.
     *
     * @param id a 32-bit number
     * @return done when the gesture has ended; fails with an {@link OzException} if the connection ends first
     * @throws OzException of kind {@code CLOSED}, or {@code OUT_OF_RANGE} if it has more than 32 bits
     */
    public CompletableFuture<Void> gesture(long id) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        request(Requests.word(Message.GESTURE, id), () -> {
            gestures.add(end);
            playing++;
            inbox.put(listener -> listener.onGestureStart(id));
        });
        return end;
    }

    /**
     * Waits until no gesture of this client is playing, including those in its texts.
     *
     * @param timeout how long
     * @return {@code false} if it takes longer
     * @throws OzException of kind {@code CLOSED} if the connection ends first
     * @throws InterruptedException if this thread is interrupted
     */
    public boolean waitForGesture(Duration timeout) throws InterruptedException {
        return await(() -> playing == 0, timeout);
    }

    /**
     * Whether gestures of this client are playing, including those in its texts.
     *
     * @return whether there are any
     */
    public boolean isGesturing() {
        synchronized (lock) {
            return playing > 0;
        }
    }

    /**
     * Sets whether images are dropped.
     *
     * @param skip whether listeners are not told of them
     */
    public void skipVideo(boolean skip) {
        skipsVideo = skip;
    }

    @Override
    void request(ByteBuffer request, Runnable then) {
        synchronized (lock) {
            if (connection == null) {
                throw Connection.closed();
            }
            connection.send(request);
            then.run();
        }
    }

    private boolean await(BooleanSupplier isDone, Duration timeout) throws InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        synchronized (lock) {
            Connection waitingFor = connection;
            if (waitingFor == null) {
                throw Connection.closed();
            }
            while (!isDone.getAsBoolean()) {
                if (deadline.isPast()) {
                    return false;
                }
                lock.wait(deadline.toMillis());
                if (connection != waitingFor) {
                    throw new OzException(Kind.CLOSED, "the connection has ended");
                }
            }
            return true;
        }
    }

    /** Ends all texts and gestures, and tells the reason; {@code null} if this program has disconnected. */
    private void end(OzException reason) {
        synchronized (lock) {
            connection = null;
            inbox.put(listener -> listener.onDisconnected(reason));
            OzException error = reason != null ? reason : new OzException(Kind.CLOSED, "this client has disconnected");
            complete(texts, error);
            complete(gestures, error);
            playing = 0;
            lock.notifyAll();
        }
    }

    private void complete(Collection<CompletableFuture<Void>> ended, OzException error) {
        ended.forEach(future -> completions.complete(future, error));
        ended.clear();
    }

    /** What the session tells. */
    private final class Owner implements Session.Owner {
        @Override
        public OzListener opened(Connection opened, Welcome answer) {
            synchronized (lock) {
                connection = opened;
                welcome = answer;
                inbox.put(listener -> listener.onConnected(answer.name, answer.longName));
                return new Receiver(opened);
            }
        }

        @Override
        public void lost(OzException reason) {
            end(reason);
        }

        @Override
        public void failed(OzException error) {
            inbox.put(listener -> listener.onConnectFailed(error));
        }

        @Override
        public void over(boolean isFinished) {
            synchronized (lock) {
                if (isFinished) {
                    end(null);
                }
                session = null;
            }
        }
    }

    /** Passes on what the robot sends, as long as its connection is that of the client. */
    private final class Receiver implements OzListener {
        private final Connection from;

        Receiver(Connection from) {
            this.from = from;
        }

        private void ifConnected(Runnable event) {
            synchronized (lock) {
                if (connection == from) {
                    event.run();
                    lock.notifyAll();
                }
            }
        }

        @Override
        public void onSpeakDone() {
            ifConnected(() -> {
                CompletableFuture<Void> spoken = texts.poll();
                inbox.put(OzListener::onSpeakDone);
                // nobody may have waited for it
                if (spoken != null) {
                    completions.complete(spoken, null);
                }
            });
        }

        @Override
        public void onGestureDone() {
            ifConnected(() -> {
                inbox.put(OzListener::onGestureDone);
                playing = Math.max(0, playing - 1);
                if (playing == 0) {
                    complete(gestures, null);
                }
            });
        }

        @Override
        public void onSpeakGesture(long gesture) {
            ifConnected(() -> {
                playing++;
                inbox.put(listener -> listener.onSpeakGesture(gesture));
            });
        }

        @Override
        public void onUtterance(Utterance utterance) {
            ifConnected(() -> inbox.put(listener -> listener.onUtterance(utterance)));
        }

        @Override
        public void onFaces(List<Face> faces) {
            ifConnected(() -> inbox.put(listener -> listener.onFaces(faces)));
        }

        @Override
        public void onVideoFrame(VideoFrame frame) {
            if (!skipsVideo) {
                ifConnected(() -> inbox.putImage(listener -> listener.onVideoFrame(frame)));
            }
        }

        @Override
        public void onInvalidMessage(OzException error) {
            ifConnected(() -> inbox.put(listener -> listener.onInvalidMessage(error)));
        }
    }

    /** Options of a client. */
    public static final class Builder {
        private final String host;
        private int port = Protocol.PORT;
        private Duration timeout = Duration.ofSeconds(10);
        private Duration reconnect;
        private Executor executor;

        private Builder(String host) {
            this.host = Objects.requireNonNull(host);
        }

        private Builder(Builder other) {
            host = other.host;
            port = other.port;
            timeout = other.timeout;
            reconnect = other.reconnect;
            executor = other.executor;
        }

        /**
         * Sets the port.
         *
         * @param port default: {@link Protocol#PORT}
         * @return this
         */
        public Builder port(int port) {
            if (port < 0 || port > 0xffff) {
                throw new IllegalArgumentException(port + " is not a port");
            }
            this.port = port;
            return this;
        }

        /**
         * Limits how long connecting takes, except for the resolution of names, and how long the robot may leave requests unread.
         *
         * @param timeout default: 10 s
         * @return this
         */
        public Builder timeout(Duration timeout) {
            this.timeout = Objects.requireNonNull(timeout);
            return this;
        }

        /**
         * Has a lost connection made again.
         *
         * @param delay the time before each attempt; default: {@code null}, which is never
         * @return this
         */
        public Builder reconnect(Duration delay) {
            this.reconnect = delay;
            return this;
        }

        /**
         * Sets what calls listeners and completes futures, such as {@code SwingUtilities::invokeLater}. It has to do that in another
         * thread than its caller's.
         *
         * @param executor default: {@code null}, which is threads of the client, in which listeners may block
         * @return this
         */
        public Builder executor(Executor executor) {
            this.executor = executor;
            return this;
        }

        /**
         * Makes the client; it is not connected yet.
         *
         * @return the client
         */
        public OzClient build() {
            return new OzClient(this);
        }
    }
}
