import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import rossum.oz.Expression;
import rossum.oz.Face;
import rossum.oz.LookAt;
import rossum.oz.OzClient;
import rossum.oz.OzException;
import rossum.oz.OzListener;
import rossum.oz.Protocol;
import rossum.oz.Utterance;

/**
 * A small Wizard of Oz: looks at the nearest person, greets newcomers, and answers what they say.
 *
 * <pre>
 * rossum serve --scenario oz
 * java -cp rossum-oz.jar examples/Wizard.java --say "[braisel]Good morning. [yesl]How nice to see you."
 * </pre>
 */
public class Wizard implements OzListener {
    /** Time without a face, after which the next person is greeted. */
    private static final long GREET_AGAIN = 30_000_000_000L;

    /** Recognised words and the replies to them; the first match wins. */
    private static final Map<String, String> ANSWERS = new LinkedHashMap<>();

    static {
        ANSWERS.put("name", "[braises]I am Alice.");
        ANSWERS.put("no", "[nos3]No? [yesl]As you like.");
        ANSWERS.put("you", "[wob]I am well, thank you. [braisel]And you?");
    }

    private final OzClient robot;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private int faces;
    private long lastFace = System.nanoTime() - GREET_AGAIN;

    private Wizard(OzClient robot) {
        this.robot = robot;
    }

    /** Options: {@code --robot ADDRESS}, and {@code --say TEXT} for what to say first. */
    public static void main(String[] arguments) throws InterruptedException {
        String[] address = option(arguments, "--robot", "127.0.0.1:" + Protocol.PORT).split(":");
        String text = option(arguments, "--say", "");
        try (OzClient robot = OzClient.builder(address[0]).port(Integer.parseInt(address[1])).build()) {
            Wizard wizard = new Wizard(robot);
            robot.addListener(wizard);
            robot.skipVideo(true);
            robot.connect();
            robot.setLookAt(LookAt.LARGEST);
            robot.setRandomEyesWeight(0.3); // eyes that never move look dead
            if (!text.isEmpty()) {
                robot.speak(text);
            }
            wizard.end.join();
        } catch (OzException error) {
            System.err.println(error.getMessage());
            System.exit(1);
        }
    }

    private static String option(String[] arguments, String name, String otherwise) {
        int at = Arrays.asList(arguments).indexOf(name);
        return at >= 0 && at + 1 < arguments.length ? arguments[at + 1] : otherwise;
    }

    @Override
    public void onConnected(String name, String longName) {
        System.out.println("operating " + name + ": " + longName);
    }

    @Override
    public void onDisconnected(OzException reason) {
        System.out.println("disconnected" + (reason == null ? "" : ": " + reason.getMessage()));
        end.complete(null);
    }

    @Override
    public void onFaces(List<Face> seen) {
        long now = System.nanoTime();
        if (seen.size() != faces) {
            String names = seen.stream().map(face -> face.name().isEmpty() ? "somebody" : face.name())
                    .collect(Collectors.joining(", "));
            System.out.println("sees " + (seen.isEmpty() ? "nobody any more" : names));
        }
        faces = seen.size();
        if (seen.isEmpty()) {
            return;
        }
        if (now - lastFace >= GREET_AGAIN) {
            Face nearest = seen.stream().max(Comparator.comparing(face -> face.width() * face.height())).get();
            robot.setExpression(Expression.HAPPY);
            robot.speak("[braises]Hello " + nearest.name() + "! [wob]Nice to see you.");
        }
        lastFace = now;
    }

    @Override
    public void onUtterance(Utterance utterance) {
        String reply = answer(utterance.text());
        System.out.println("hears \"" + utterance.text() + "\", says \"" + reply + "\"");
        robot.speak(reply);
    }

    @Override
    public void onSpeakGesture(long gesture) {
        System.out.println("makes gesture " + gesture);
    }

    @Override
    public void onSpeakDone() {
        System.out.println("has spoken");
        robot.setExpression(Expression.NEUTRAL);
    }

    private static String answer(String heard) {
        List<String> words = Arrays.asList(heard.toLowerCase(Locale.ROOT).split("[^a-z']+"));
        return ANSWERS.entrySet().stream().filter(each -> words.contains(each.getKey())).map(Map.Entry::getValue)
                .findFirst().orElse("[yess3]I see. [braisel]Tell me more.");
    }
}
