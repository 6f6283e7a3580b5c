import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import rossum.oz.Face;
import rossum.oz.OzException;
import rossum.oz.OzListener;
import rossum.oz.Utterance;
import rossum.oz.VideoFrame;

/** Turns events into lines of the harness. */
final class Events implements OzListener {
    private final Consumer<Map<String, Object>> out;

    Events(Consumer<Map<String, Object>> out) {
        this.out = out;
    }

    @Override
    public void onConnected(String name, String longName) {
        tell("connected");
    }

    @Override
    public void onDisconnected(OzException reason) {
        tell("disconnected", "reason", reason == null ? null : Harness.failure(reason));
    }

    @Override
    public void onConnectFailed(OzException error) {
        tell("connect_failed", "error", Harness.failure(error));
    }

    @Override
    public void onSpeakStart(String text) {
        tell("speak_start");
    }

    @Override
    public void onSpeakDone() {
        tell("speak_done");
    }

    @Override
    public void onGestureStart(long gesture) {
        tell("gesture_start", "gesture", gesture);
    }

    @Override
    public void onGestureDone() {
        tell("gesture_done");
    }

    @Override
    public void onSpeakGesture(long gesture) {
        tell("speak_gesture", "gesture", gesture);
    }

    @Override
    public void onUtterance(Utterance utterance) {
        tell("utterance", "options", utterance.options().stream().map(Events::option).collect(Collectors.toList()));
    }

    @Override
    public void onFaces(List<Face> faces) {
        tell("faces", "faces", faces.stream().map(Events::face).collect(Collectors.toList()));
    }

    @Override
    public void onVideoFrame(VideoFrame frame) {
        StringBuilder hex = new StringBuilder();
        for (byte each : frame.jpeg()) {
            hex.append(Character.forDigit(each >> 4 & 15, 16)).append(Character.forDigit(each & 15, 16));
        }
        tell("video_frame", "jpeg", hex.toString());
    }

    @Override
    public void onInvalidMessage(OzException error) {
        tell("invalid_message", "error", Harness.failure(error));
    }

    private void tell(String event, Object... fields) {
        out.accept(map("event", event, fields));
    }

    private static Map<String, Object> option(Utterance.Option option) {
        return map("confidence", number(option.confidence()), "text", option.text());
    }

    private static Map<String, Object> face(Face face) {
        Map<String, Object> fields = map("x", number(face.x()), "y", number(face.y()), "name", face.name());
        fields.put("confidence", number(face.confidence()));
        fields.put("width", number(face.width()));
        fields.put("height", number(face.height()));
        return fields;
    }

    private static Map<String, Object> map(String name, Object value, Object... more) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(name, value);
        for (int i = 0; i < more.length; i += 2) {
            fields.put((String) more[i], more[i + 1]);
        }
        return fields;
    }

    /** Numbers that JSON does not have are texts. */
    private static Object number(float value) {
        if (Float.isNaN(value)) {
            return "NaN";
        }
        return Float.isInfinite(value) ? (value > 0 ? "inf" : "-inf") : (Object) value;
    }
}
