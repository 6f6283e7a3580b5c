import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import rossum.oz.Expression;
import rossum.oz.Gesture;
import rossum.oz.LookAt;
import rossum.oz.Message;
import rossum.oz.OzClient;
import rossum.oz.OzException;
import rossum.oz.Protocol;
import rossum.oz.Servo;
import rossum.oz.VoiceGenderLanguage;

/** The conformance harness of the Java client; see protocols/oz/conformance/README.md. */
public class Harness {
    private final Map<String, Operator> operators = new HashMap<>();
    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    /** A client, and the futures of its texts and gestures in the order in which they were started. */
    private static final class Operator {
        final OzClient robot;
        final List<CompletableFuture<Void>> texts = new ArrayList<>();
        final List<CompletableFuture<Void>> gestures = new ArrayList<>();

        Operator(OzClient robot) {
            this.robot = robot;
        }
    }

    /** Serves the commands on standard input. */
    public static void main(String[] arguments) throws Exception {
        new Harness().serve();
    }

    /** Makes a client with these options. */
    protected OzClient client(OzClient.Builder options) {
        return options.build();
    }

    /** Connects it. */
    protected void connect(OzClient robot) throws Exception {
        robot.connect();
    }

    /** Disconnects it. */
    protected void disconnect(OzClient robot) throws Exception {
        robot.disconnect();
    }

    /** Does the commands until there are no more. */
    protected void serve() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<?, ?> command = (Map<?, ?>) Json.parse(line);
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("id", ((Double) command.get("id")).longValue());
            try {
                List<?> args = (List<?>) command.get("args");
                answer.put("returns", call((String) command.get("client"), (String) command.get("call"), args));
            } catch (OzException error) {
                answer.put("fails", failure(error));
            }
            write(answer);
        }
        for (Operator operator : operators.values()) {
            disconnect(operator.robot);
        }
    }

    private void write(Map<String, ?> line) {
        String json = Json.write(line);
        synchronized (out) {
            out.println(json);
            out.flush();
        }
    }

    private Object call(String client, String call, List<?> args) throws Exception {
        switch (call) {
            case "constants":
                return constants();
            case "gesture_tags":
                return Arrays.stream(Gesture.values()).map(Gesture::tag).collect(Collectors.toList());
            case "connect":
                return connect(client, (Map<?, ?>) args.get(0));
            default:
                return call(operators.get(client), call, args);
        }
    }

    private Object connect(String client, Map<?, ?> options) throws Exception {
        OzClient.Builder builder = OzClient.builder((String) options.get("host"));
        builder.port(((Double) options.get("port")).intValue()).timeout(duration(options.get("timeout_ms")));
        if (options.containsKey("reconnect_ms")) {
            builder.reconnect(duration(options.get("reconnect_ms")));
        }
        OzClient robot = client(builder);
        robot.addListener(new Events(line -> {
            Map<String, Object> event = new LinkedHashMap<>();
            event.put("client", client);
            event.putAll(line);
            write(event);
        }));
        operators.put(client, new Operator(robot));
        connect(robot);
        return null;
    }

    private Object call(Operator operator, String call, List<?> args) throws Exception {
        OzClient robot = operator.robot;
        switch (call) {
            case "speak":
                operator.texts.add(robot.speak((String) args.get(0)));
                return null;
            case "gesture":
                operator.gestures.add(robot.gesture(id(args.get(0))));
                return null;
            case "await_text":
                return await(operator.texts, args);
            case "await_gesture":
                return await(operator.gestures, args);
            case "disconnect":
                disconnect(robot);
                return null;
            case "set_voice_gender_language":
                robot.setVoiceGenderLanguage(id(args.get(0)));
                return null;
            case "set_expression":
                robot.setExpression(Expression.of(id(args.get(0))));
                return null;
            case "set_look_at":
                robot.setLookAt(LookAt.of(id(args.get(0))));
                return null;
            case "set_servo":
                robot.setServo(Servo.of(id(args.get(0))), number(args.get(1)));
                return null;
            case "set_all_servos":
                robot.setAllServos(((List<?>) args.get(0)).stream().mapToDouble(Harness::number).toArray());
                return null;
            case "servo":
                return orNull(robot.servo(Servo.of(id(args.get(0)))));
            case "all_servos":
                Map<Servo, Double> positions = robot.allServos();
                return Arrays.stream(Servo.values()).map(positions::get).collect(Collectors.toList());
            case "speaking":
                return robot.isSpeaking();
            case "gesturing":
                return robot.isGesturing();
            default:
                return callByName(robot, call, args);
        }
    }

    /** All other methods have at most one argument: a number, a time or a boolean. */
    private Object callByName(OzClient robot, String call, List<?> args) throws Exception {
        Object argument = args.isEmpty() ? null : args.get(0);
        if (call.startsWith("wait_for")) {
            argument = duration(argument);
        } else if (argument instanceof String) {
            argument = number(argument);
        }
        String name = camelCase(call);
        for (Method method : OzClient.class.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == args.size()) {
                try {
                    Object result = args.isEmpty() ? method.invoke(robot) : method.invoke(robot, argument);
                    return result instanceof Enum ? ((Enum<?>) result).ordinal() : result;
                } catch (InvocationTargetException error) {
                    throw (Exception) error.getCause();
                }
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static boolean await(List<CompletableFuture<Void>> started, List<?> args) throws InterruptedException {
        CompletableFuture<Void> future = started.get(id(args.get(0)) - 1);
        try {
            future.get(id(args.get(1)), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException late) {
            return false;
        } catch (ExecutionException error) {
            throw (OzException) error.getCause();
        }
    }

    private static Map<String, Integer> constants() {
        Map<String, Integer> constants = new LinkedHashMap<>();
        constants.put("OZ_PORT", Protocol.PORT);
        constants.put("MAX_SERVOS", Protocol.MAX_SERVOS);
        constants.put("MAX_GESTURES", Protocol.MAX_GESTURES);
        Arrays.stream(Servo.values()).forEach(servo -> constants.put("SERVO_" + servo, servo.id()));
        Arrays.stream(VoiceGenderLanguage.values()).forEach(voice -> constants.put("VGL_" + voice, voice.id()));
        Arrays.stream(Gesture.values()).forEach(gesture -> constants.put("GESTURE_" + gesture, gesture.id()));
        Arrays.stream(Expression.values()).forEach(face -> constants.put("EXPRESSION_" + face, face.id()));
        Arrays.stream(LookAt.values()).forEach(target -> constants.put("LOOKAT_" + target, target.id()));
        Arrays.stream(Message.values()).forEach(message -> constants.put("MSG_" + message, message.id()));
        return constants;
    }

    static Map<String, String> failure(OzException error) {
        Map<String, String> failure = new LinkedHashMap<>();
        failure.put("kind", error.kind().name().toLowerCase(Locale.ROOT));
        failure.put("message", error.getMessage());
        return failure;
    }

    private static String camelCase(String name) {
        StringBuilder camel = new StringBuilder();
        for (String word : name.split("_")) {
            camel.append(camel.length() == 0 ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return camel.toString();
    }

    private static int id(Object argument) {
        return ((Double) argument).intValue();
    }

    private static Duration duration(Object milliseconds) {
        return Duration.ofMillis(((Double) milliseconds).longValue());
    }

    /** Numbers that JSON does not have are texts. */
    private static double number(Object argument) {
        if (argument instanceof String) {
            return Double.parseDouble(((String) argument).replace("inf", "Infinity"));
        }
        return (Double) argument;
    }

    private static Double orNull(OptionalDouble position) {
        return position.isPresent() ? position.getAsDouble() : null;
    }
}
