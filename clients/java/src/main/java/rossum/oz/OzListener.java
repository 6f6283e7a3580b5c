package rossum.oz;

import java.util.List;

/**
 * Is told what a robot and its connection report. All methods do nothing unless they are overridden.
 *
 * <p>They are called one after another. Unless the client has {@linkplain OzClient.Builder#executor another executor}, this is done
 * in a thread for this purpose, and they may block.
 */
public interface OzListener {
    /**
     * The robot has answered the version request.
     *
     * @param name the robot's short name
     * @param longName the robot's long name
     */
    default void onConnected(String name, String longName) {}

    /**
     * The connection has ended.
     *
     * @param reason why; {@code null} if this program has disconnected
     */
    default void onDisconnected(OzException reason) {}

    /**
     * An attempt to make a lost connection again has failed; another one follows.
     *
     * @param error why
     */
    default void onConnectFailed(OzException error) {}

    /**
     * This client has sent a text, which the robot starts speaking.
     *
     * @param text the text
     */
    default void onSpeakStart(String text) {}

    /** A text of this client has been spoken. */
    default void onSpeakDone() {}

    /**
     * This client has started a gesture.
     *
     * @param gesture the id
     */
    default void onGestureStart(long gesture) {}

    /** A gesture of this client has ended; the protocol does not say which. */
    default void onGestureDone() {}

    /**
     * A tag in a text of this client has started a gesture.
     *
     * @param gesture the id
     */
    default void onSpeakGesture(long gesture) {}

    /**
     * The robot has recognised speech.
     *
     * @param utterance what it may have been
     */
    default void onUtterance(Utterance utterance) {}

    /**
     * The robot has looked for faces.
     *
     * @param faces the faces that it sees; none when the last one has disappeared
     */
    default void onFaces(List<Face> faces) {}

    /**
     * An image of the robot's camera.
     *
     * @param frame the image
     */
    default void onVideoFrame(VideoFrame frame) {}

    /**
     * A message had a text that is not UTF-8. It is lost; the connection goes on.
     *
     * @param error which text
     */
    default void onInvalidMessage(OzException error) {}
}
