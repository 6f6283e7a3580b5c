package rossum.oz;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Welcomes clients, one after another, and does with each as it is told. */
public final class Robot implements Closeable {
    /** What it does. */
    public interface Act {
        /** Does it, with what the client sends and what it receives. */
        void perform(DataInputStream in, DataOutputStream out) throws IOException;
    }

    private static final int PATIENCE_MILLIS = 30_000;

    private final ServerSocket listener;

    private Robot(Act act) throws IOException {
        listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> run(act), "robot");
        thread.setDaemon(true);
        thread.start();
    }

    /** Starts a robot that does this. */
    public static Robot that(Act act) throws IOException {
        return new Robot(act);
    }

    /** Starts one that reads, and reports the end of each text at once. */
    public static Robot thatEndsEveryText() throws IOException {
        return that((in, out) -> {
            while (in.readInt() == Message.SPEAK.id()) {
                in.readFully(new byte[in.readUnsignedShort()]);
                out.writeInt(Message.SPEAK_DONE.id());
                out.flush();
            }
        });
    }

    /** Starts one that only reads. */
    public static Robot thatListens() throws IOException {
        return that((in, out) -> {
            while (in.read() >= 0) {
                // until the end
            }
        });
    }

    /** The options of a client for it. */
    public OzClient.Builder client() {
        return OzClient.builder("127.0.0.1").port(listener.getLocalPort());
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    private void run(Act act) {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                socket.setSoTimeout(PATIENCE_MILLIS);
                DataInputStream in = new DataInputStream(socket.getInputStream());
                DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                in.readLong();
                byte[] name = "alice".getBytes(StandardCharsets.UTF_8);
                out.writeInt(Protocol.VERSION);
                for (int i = 0; i < 2; i++) {
                    out.writeShort(name.length);
                    out.write(name);
                }
                out.flush();
                act.perform(in, out);
            } catch (IOException end) {
                // the client has gone, and the test says whether it should have
            }
        }
    }
}
