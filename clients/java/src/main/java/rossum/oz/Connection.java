package rossum.oz;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import rossum.oz.OzException.Kind;

/** One TCP connection to a robot. A thread of its own opens it and receives; any thread sends and finishes. */
final class Connection implements AutoCloseable {
    /** How long the robot may take to close the connection after the client has. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(500);

    /** How many bytes wait for the robot to read at most. */
    private static final int MAX_BACKLOG = 16 * 1024 * 1024;

    /** How much is read at once. */
    private static final int CHUNK = 64 * 1024;

    private final Duration timeout;
    private final Selector selector;
    private final Decoder decoder = new Decoder(new BufferedInputStream(new Incoming(), CHUNK));
    private SocketChannel channel;
    private SelectionKey key;
    private Deadline answerBy = Deadline.NEVER;
    private volatile boolean isFinishing;

    /** Requests that wait; guarded by itself, like the next three. */
    private final Deque<ByteBuffer> unsent = new ArrayDeque<>();
    private int backlog;
    private Deadline readBy = Deadline.NEVER;
    private OzException end;

    /** Prepares a connection; the timeout limits connecting, and how long the robot may leave requests unread. */
    Connection(Duration timeout) {
        this.timeout = timeout;
        try {
            selector = Selector.open();
        } catch (IOException error) {
            throw new OzException(Kind.UNREACHABLE, "no socket can be made: " + error.getMessage(), error);
        }
    }

    /** Connects and requests the version. */
    Welcome open(String host, int port) {
        try {
            connect(host, port);
            send(Requests.word(Message.REQUEST_VERSION, Protocol.VERSION));
            Welcome welcome = decoder.welcome();
            if (welcome == null) {
                throw reason(new EOFException());
            }
            answerBy = Deadline.NEVER;
            return welcome;
        } catch (IOException error) {
            throw reason(error);
        }
    }

    /** Reports messages until the connection ends. Returns the reason. */
    OzException receive(OzListener receiver) {
        OzException reason;
        try {
            while (decoder.read(receiver)) {
                // until the end
            }
            reason = reason(new EOFException());
        } catch (IOException error) {
            reason = reason(error);
        } catch (OzException error) {
            reason = error;
        } catch (RuntimeException | Error error) {
            reason = new OzException(Kind.CLOSED, "this client has failed: " + error, error);
        }
        synchronized (unsent) {
            end = reason;
        }
        if (isFinishing) {
            drain();
        }
        return reason;
    }

    /** Has a request sent, without waiting. */
    void send(ByteBuffer request) {
        synchronized (unsent) {
            if (end != null || isFinishing) {
                throw closed();
            }
            if (backlog > MAX_BACKLOG) {
                throw new OzException(Kind.TIMEOUT, "the robot does not read requests: " + backlog + " bytes of them wait");
            }
            if (unsent.isEmpty()) {
                readBy = Deadline.after(timeout);
            }
            unsent.add(request);
            backlog += request.remaining();
        }
        selector.wakeup();
    }

    /** Ends the connection after the robot has read all requests; one that is not open yet at once. */
    void finish() {
        isFinishing = true;
        selector.wakeup();
    }

    @Override
    public void close() {
        try {
            selector.close();
            if (channel != null) {
                channel.close();
            }
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private void connect(String host, int port) throws IOException {
        InetAddress[] addresses;
        try {
            addresses = InetAddress.getAllByName(host);
        } catch (UnknownHostException error) {
            throw new OzException(Kind.UNREACHABLE, "the host " + host + " is unknown", error);
        }
        answerBy = Deadline.after(timeout);
        IOException failure = null;
        for (InetAddress address : addresses) {
            try {
                connect(new InetSocketAddress(address, port));
                return;
            } catch (Stopped stopped) {
                throw stopped;
            } catch (IOException error) {
                channel.close();
                failure = error;
            }
        }
        String why = failure == null ? "it has no address" : failure.getMessage();
        throw new OzException(Kind.UNREACHABLE, host + ":" + port + " cannot be reached: " + why, failure);
    }

    private void connect(InetSocketAddress address) throws IOException {
        channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        key = channel.register(selector, 0);
        channel.connect(address);
        while (!channel.finishConnect()) {
            checkMayGoOn();
            await(SelectionKey.OP_CONNECT, answerBy);
        }
    }

    /** What the robot has sent, as soon as something has arrived. Meanwhile, requests are sent. */
    private int read(ByteBuffer into) throws IOException {
        while (true) {
            checkMayGoOn();
            Deadline flushBy = flush();
            if (flushBy.isPast()) {
                throw new Stopped(Kind.TIMEOUT, "the robot did not read requests within " + seconds());
            }
            int count = channel.read(into);
            if (count != 0) {
                return count;
            }
            await(operations(flushBy), Deadline.earlier(answerBy, flushBy));
        }
    }

    /** Waits for the robot to read all requests and to close the connection. What it still sends is not reported. */
    private void drain() {
        Deadline deadline = Deadline.after(CLOSE_TIMEOUT);
        ByteBuffer rest = ByteBuffer.allocate(CHUNK);
        try {
            for (boolean isShut = false; !deadline.isPast(); rest.clear()) {
                Deadline flushBy = flush();
                if (!isShut && flushBy == Deadline.NEVER) {
                    channel.shutdownOutput();
                    isShut = true;
                }
                int count = channel.read(rest);
                if (count < 0) {
                    return;
                }
                if (count == 0) {
                    await(operations(flushBy), deadline);
                }
            }
        } catch (IOException error) {
            // it has ended, if not nicely
            return;
        }
    }

    /** Sends what can be sent without waiting. Returns until when the robot has to read more; never if nothing is left. */
    private Deadline flush() {
        synchronized (unsent) {
            try {
                for (ByteBuffer next = unsent.peek(); next != null; next = unsent.peek()) {
                    int count = channel.write(next);
                    backlog -= count;
                    if (count > 0) {
                        readBy = Deadline.after(timeout);
                    }
                    if (next.hasRemaining()) {
                        return readBy;
                    }
                    unsent.remove();
                }
            } catch (IOException error) {
                // reading will tell why, after what has arrived before
                unsent.clear();
                backlog = 0;
            }
            return Deadline.NEVER;
        }
    }

    private static int operations(Deadline flushBy) {
        return SelectionKey.OP_READ | (flushBy == Deadline.NEVER ? 0 : SelectionKey.OP_WRITE);
    }

    private void await(int operations, Deadline deadline) throws IOException {
        key.interestOps(operations);
        selector.select(deadline.toMillis());
        selector.selectedKeys().clear();
    }

    private void checkMayGoOn() throws Stopped {
        if (isFinishing) {
            throw new Stopped(Kind.CLOSED, "this client has closed the connection");
        }
        if (answerBy.isPast()) {
            throw new Stopped(Kind.TIMEOUT, "no answer to the version request within " + seconds());
        }
    }

    private String seconds() {
        return timeout.toMillis() / 1000.0 + " s";
    }

    private OzException reason(IOException error) {
        if (error instanceof Stopped) {
            return ((Stopped) error).reason;
        }
        if (decoder.isInMessage()) {
            return new OzException(Kind.TRUNCATED, "the connection was closed in the middle of a message", error);
        }
        return new OzException(Kind.CLOSED, "the robot has closed the connection; its log may say why", error);
    }

    static OzException closed() {
        return new OzException(Kind.CLOSED, "the client is not connected");
    }

    /** The bytes that arrive. */
    private final class Incoming extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            return length == 0 ? 0 : Connection.this.read(ByteBuffer.wrap(into, offset, Math.min(length, CHUNK)));
        }
    }

    /** Reading has been given up. */
    private static final class Stopped extends IOException {
        private static final long serialVersionUID = 1;

        private final OzException reason;

        Stopped(Kind kind, String message) {
            super(message);
            reason = new OzException(kind, message);
        }
    }
}
