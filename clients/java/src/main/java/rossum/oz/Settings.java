package rossum.oz;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * What a client sets: setters, and getters that return what this client has set last, or the default.
 *
 * <p>The protocol has no queries: what others have set is not known. Numbers that are merely out of range are sent, and the robot
 * decides what they mean. A setter throws an {@link OzException} of kind {@code CLOSED} if the client is not connected, and of kind
 * {@code NOT_FINITE} for numbers that mean nothing.
 */
public abstract class Settings {
    /** Guards the state of the client. */
    final Object lock = new Object();

    private final Map<Message, Double> numbers = new EnumMap<>(Message.class);
    private final Map<Servo, Double> positions = new EnumMap<>(Servo.class);
    private long voice;
    private Expression expression;
    private LookAt lookAt;

    Settings() {
        restoreDefaults();
    }

    /** Sends a request, and then notes with the lock held what it changes. */
    abstract void request(ByteBuffer request, Runnable then);

    private void restoreDefaults() {
        voice = VoiceGenderLanguage.DEFAULT.id();
        expression = Expression.NEUTRAL;
        lookAt = LookAt.FORWARD;
        positions.clear();
        numbers.put(Message.VOICE_VOLUME, 1.0);
        numbers.put(Message.VOICE_PITCH, 1.0);
        numbers.put(Message.GESTURE_WEIGHT, 1.0);
        numbers.put(Message.EXPRESSION_WEIGHT, 1.0);
        numbers.put(Message.AUTO_BLINK_SPEED, 2.0);
        numbers.put(Message.RANDOM_HEAD_WEIGHT, 0.0);
        numbers.put(Message.RANDOM_EYES_WEIGHT, 0.0);
        numbers.put(Message.RANDOM_FACE_WEIGHT, 0.0);
        numbers.put(Message.DIRECT_WEIGHT, 0.0);
        numbers.put(Message.LOOKAT_WEIGHT, 1.0);
    }

    private void set(Message message, double value) {
        request(Requests.number(message, value), () -> numbers.put(message, value));
    }

    private double get(Message message) {
        synchronized (lock) {
            return numbers.get(message);
        }
    }

    /** Restores all defaults of the robot. Speech and gestures stop, and are reported as done. */
    public void reset() {
        request(Requests.empty(Message.RESET), this::restoreDefaults);
    }

    /**
     * Sets the voice.
     *
     * @param voice the voice
     */
    public void setVoiceGenderLanguage(VoiceGenderLanguage voice) {
        setVoiceGenderLanguage(voice.id());
    }

    /**
     * Sets the voice to one that not every robot has.
     *
     * @param id a 32-bit number
     */
    public void setVoiceGenderLanguage(long id) {
        request(Requests.word(Message.VOICE_GENDER_LANGUAGE, id), () -> voice = id);
    }

    /**
     * The voice.
     *
     * @return its id, as of {@link VoiceGenderLanguage}
     */
    public long voiceGenderLanguage() {
        synchronized (lock) {
            return voice;
        }
    }

    /**
     * Sets the volume.
     *
     * @param volume 0 to 1; default: 1
     */
    public void setVoiceVolume(double volume) {
        set(Message.VOICE_VOLUME, volume);
    }

    /**
     * The volume.
     *
     * @return what was set
     */
    public double voiceVolume() {
        return get(Message.VOICE_VOLUME);
    }

    /**
     * Sets the pitch.
     *
     * @param pitch 0.5 to 2; default: 1
     */
    public void setVoicePitch(double pitch) {
        set(Message.VOICE_PITCH, pitch);
    }

    /**
     * The pitch.
     *
     * @return what was set
     */
    public double voicePitch() {
        return get(Message.VOICE_PITCH);
    }

    /**
     * Sets the weight of gestures.
     *
     * @param weight 0 to 1; default: 1
     */
    public void setGestureWeight(double weight) {
        set(Message.GESTURE_WEIGHT, weight);
    }

    /**
     * The weight of gestures.
     *
     * @return what was set
     */
    public double gestureWeight() {
        return get(Message.GESTURE_WEIGHT);
    }

    /**
     * Sets the facial expression.
     *
     * @param expression default: {@code NEUTRAL}
     */
    public void setExpression(Expression expression) {
        request(Requests.word(Message.EXPRESSION, expression.id()), () -> this.expression = expression);
    }

    /**
     * The facial expression.
     *
     * @return what was set
     */
    public Expression expression() {
        synchronized (lock) {
            return expression;
        }
    }

    /**
     * Sets the weight of the facial expression.
     *
     * @param weight 0 to 1; default: 1
     */
    public void setExpressionWeight(double weight) {
        set(Message.EXPRESSION_WEIGHT, weight);
    }

    /**
     * The weight of the facial expression.
     *
     * @return what was set
     */
    public double expressionWeight() {
        return get(Message.EXPRESSION_WEIGHT);
    }

    /**
     * Sets the blinks per second.
     *
     * @param speed 0 to 10; default: 2
     */
    public void setAutoBlinkSpeed(double speed) {
        set(Message.AUTO_BLINK_SPEED, speed);
    }

    /**
     * The blinks per second.
     *
     * @return what was set
     */
    public double autoBlinkSpeed() {
        return get(Message.AUTO_BLINK_SPEED);
    }

    /**
     * Sets the weight of random head motion.
     *
     * @param weight 0 to 1; default: 0
     */
    public void setRandomHeadWeight(double weight) {
        set(Message.RANDOM_HEAD_WEIGHT, weight);
    }

    /**
     * The weight of random head motion.
     *
     * @return what was set
     */
    public double randomHeadWeight() {
        return get(Message.RANDOM_HEAD_WEIGHT);
    }

    /**
     * Sets the weight of random eye motion.
     *
     * @param weight 0 to 1; default: 0
     */
    public void setRandomEyesWeight(double weight) {
        set(Message.RANDOM_EYES_WEIGHT, weight);
    }

    /**
     * The weight of random eye motion.
     *
     * @return what was set
     */
    public double randomEyesWeight() {
        return get(Message.RANDOM_EYES_WEIGHT);
    }

    /**
     * Sets the weight of random face motion.
     *
     * @param weight 0 to 1; default: 0
     */
    public void setRandomFaceWeight(double weight) {
        set(Message.RANDOM_FACE_WEIGHT, weight);
    }

    /**
     * The weight of random face motion.
     *
     * @return what was set
     */
    public double randomFaceWeight() {
        return get(Message.RANDOM_FACE_WEIGHT);
    }

    /**
     * Sets the direct position of a servo. It has no effect unless {@link #setDirectWeight} has set a weight.
     *
     * @param servo the servo
     * @param position 0 to 1 over its travel
     */
    public void setServo(Servo servo, double position) {
        request(Requests.servo(servo, position), () -> positions.put(servo, position));
    }

    /**
     * The direct position of a servo.
     *
     * @param servo the servo
     * @return what was set; empty if nothing was
     */
    public OptionalDouble servo(Servo servo) {
        synchronized (lock) {
            Double position = positions.get(servo);
            return position == null ? OptionalDouble.empty() : OptionalDouble.of(position);
        }
    }

    /**
     * Sets the direct positions of all servos.
     *
     * @param all 36 positions, in the order of {@link Servo}
     */
    public void setAllServos(double[] all) {
        double[] sent = all.clone();
        request(Requests.servos(sent), () -> {
            for (Servo servo : Servo.values()) {
                positions.put(servo, sent[servo.id()]);
            }
        });
    }

    /**
     * The direct positions of all servos.
     *
     * @return those that were set
     */
    public Map<Servo, Double> allServos() {
        synchronized (lock) {
            Map<Servo, Double> all = new EnumMap<>(Servo.class);
            all.putAll(positions);
            return Collections.unmodifiableMap(all);
        }
    }

    /**
     * Sets the weight of direct servo positions.
     *
     * @param weight 0 to 1; default: 0
     */
    public void setDirectWeight(double weight) {
        set(Message.DIRECT_WEIGHT, weight);
    }

    /**
     * The weight of direct servo positions.
     *
     * @return what was set
     */
    public double directWeight() {
        return get(Message.DIRECT_WEIGHT);
    }

    /**
     * Sets what the robot looks at.
     *
     * @param target default: {@code FORWARD}
     */
    public void setLookAt(LookAt target) {
        request(Requests.word(Message.LOOKAT, target.id()), () -> lookAt = target);
    }

    /**
     * What the robot looks at.
     *
     * @return what was set
     */
    public LookAt lookAt() {
        synchronized (lock) {
            return lookAt;
        }
    }

    /**
     * Sets the weight of looking at something.
     *
     * @param weight 0 to 1; default: 1
     */
    public void setLookAtWeight(double weight) {
        set(Message.LOOKAT_WEIGHT, weight);
    }

    /**
     * The weight of looking at something.
     *
     * @return what was set
     */
    public double lookAtWeight() {
        return get(Message.LOOKAT_WEIGHT);
    }
}
