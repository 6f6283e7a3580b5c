// The conformance harness of the Qt client; see protocols/oz/conformance/README.md.

#include "oclient1.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtNumeric>

#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace {

#define CONSTANT(name) {#name, oz::name}

const struct
{
    const char *name;
    int value;
} headerConstants[] = {
    CONSTANT(OZ_PORT),
    CONSTANT(SERVO_WAIST),
    CONSTANT(SERVO_SHOULDER_PITCH_LEFT),
    CONSTANT(SERVO_SHOULDER_ROLL_LEFT),
    CONSTANT(SERVO_ELBOW_YAW_LEFT),
    CONSTANT(SERVO_ELBOW_PITCH_LEFT),
    CONSTANT(SERVO_SHOULDER_PITCH_RIGHT),
    CONSTANT(SERVO_SHOULDER_ROLL_RIGHT),
    CONSTANT(SERVO_ELBOW_YAW_RIGHT),
    CONSTANT(SERVO_ELBOW_PITCH_RIGHT),
    CONSTANT(SERVO_HIP_ROLL_LEFT),
    CONSTANT(SERVO_HIP_YAW_LEFT),
    CONSTANT(SERVO_HIP_PITCH_LEFT),
    CONSTANT(SERVO_KNEE_PITCH_LEFT),
    CONSTANT(SERVO_ANKLE_PITCH_LEFT),
    CONSTANT(SERVO_ANKLE_ROLL_LEFT),
    CONSTANT(SERVO_HIP_ROLL_RIGHT),
    CONSTANT(SERVO_HIP_YAW_RIGHT),
    CONSTANT(SERVO_HIP_PITCH_RIGHT),
    CONSTANT(SERVO_KNEE_PITCH_RIGHT),
    CONSTANT(SERVO_ANKLE_PITCH_RIGHT),
    CONSTANT(SERVO_ANKLE_ROLL_RIGHT),
    CONSTANT(SERVO_NECK_YAW),
    CONSTANT(SERVO_NECK_ROLL),
    CONSTANT(SERVO_NECK_PITCH),
    CONSTANT(SERVO_BROWS),
    CONSTANT(SERVO_EYELIDS),
    CONSTANT(SERVO_EYES_PITCH),
    CONSTANT(SERVO_JAW),
    CONSTANT(SERVO_EYE_YAW_RIGHT),
    CONSTANT(SERVO_SMILE_LEFT),
    CONSTANT(SERVO_EYE_YAW_LEFT),
    CONSTANT(SERVO_SMILE_RIGHT),
    CONSTANT(SERVO_WRIST_LEFT),
    CONSTANT(SERVO_GRASP_LEFT),
    CONSTANT(SERVO_WRIST_RIGHT),
    CONSTANT(SERVO_GRASP_RIGHT),
    CONSTANT(MAX_SERVOS),
    CONSTANT(VGL_DEFAULT),
    CONSTANT(GESTURE_BROW_RAISE_LONG),
    CONSTANT(GESTURE_BROW_RAISE_SHORT),
    CONSTANT(GESTURE_FROWN_LONG),
    CONSTANT(GESTURE_FROWN_SHORT),
    CONSTANT(GESTURE_YES_LONG),
    CONSTANT(GESTURE_YES_SHORT),
    CONSTANT(GESTURE_YES_LONG_3X),
    CONSTANT(GESTURE_YES_SHORT_3X),
    CONSTANT(GESTURE_NO_LONG),
    CONSTANT(GESTURE_NO_SHORT),
    CONSTANT(GESTURE_NO_LONG_3X),
    CONSTANT(GESTURE_NO_SHORT_3X),
    CONSTANT(GESTURE_INDIAN_WOBBLE),
    CONSTANT(MAX_GESTURES),
    CONSTANT(EXPRESSION_NEUTRAL),
    CONSTANT(EXPRESSION_HAPPY),
    CONSTANT(EXPRESSION_SAD),
    CONSTANT(EXPRESSION_EVIL),
    CONSTANT(EXPRESSION_AFRAID),
    CONSTANT(LOOKAT_FORWARD),
    CONSTANT(LOOKAT_DOWN),
    CONSTANT(LOOKAT_UP),
    CONSTANT(LOOKAT_LARGEST),
    CONSTANT(LOOKAT_SMALLEST),
    CONSTANT(LOOKAT_AWAY),
    CONSTANT(MSG_NOTHING),
    CONSTANT(MSG_REQUEST_VERSION),
    CONSTANT(MSG_RESET),
    CONSTANT(MSG_SPEAK),
    CONSTANT(MSG_VOICE_GENDER_LANGUAGE),
    CONSTANT(MSG_VOICE_VOLUME),
    CONSTANT(MSG_VOICE_PITCH),
    CONSTANT(MSG_GESTURE),
    CONSTANT(MSG_GESTURE_WEIGHT),
    CONSTANT(MSG_EXPRESSION),
    CONSTANT(MSG_EXPRESSION_WEIGHT),
    CONSTANT(MSG_AUTO_BLINK_SPEED),
    CONSTANT(MSG_RANDOM_HEAD_WEIGHT),
    CONSTANT(MSG_RANDOM_EYES_WEIGHT),
    CONSTANT(MSG_RANDOM_FACE_WEIGHT),
    CONSTANT(MSG_SERVO),
    CONSTANT(MSG_ALL_SERVOS),
    CONSTANT(MSG_DIRECT_WEIGHT),
    CONSTANT(MSG_LOOKAT),
    CONSTANT(MSG_LOOKAT_WEIGHT),
    CONSTANT(MSG_SPEAK_DONE),
    CONSTANT(MSG_GESTURE_DONE),
    CONSTANT(MSG_SPEAK_GESTURE),
    CONSTANT(MSG_UTTERANCE),
    CONSTANT(MSG_FACES),
    CONSTANT(MSG_VIDEO_FRAME),
};

#undef CONSTANT

QJsonObject constants()
{
    QJsonObject constants;
    for (const auto &constant : headerConstants)
        constants[constant.name] = constant.value;
    return constants;
}

void write(const QJsonObject &line)
{
    const QByteArray bytes = QJsonDocument(line).toJson(QJsonDocument::Compact) + '\n';
    std::fwrite(bytes.constData(), 1, size_t(bytes.size()), stdout);
    std::fflush(stdout);
}

// numbers that JSON does not have are texts

QJsonValue fromNumber(float number)
{
    if (qIsFinite(number))
        return double(number);
    return qIsNaN(number) ? QStringLiteral("NaN") : number > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
}

float toNumber(const QJsonValue &value)
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (!value.isString()) {
        const double number = value.toDouble();
        return number > double(std::numeric_limits<float>::max()) ? infinity : float(number);
    }
    const QString text = value.toString();
    return text == QLatin1String("NaN") ? std::numeric_limits<float>::quiet_NaN()
            : text == QLatin1String("inf") ? infinity : -infinity;
}

QJsonValue fromPosition(float position)
{
    return qIsNaN(position) ? QJsonValue() : QJsonValue(double(position));
}

QJsonValue fromError(const oz::Error &error)
{
    static const char *const kinds[] = {
        "none", "unreachable", "timeout", "wrong_version", "closed",
        "truncated", "bad_message", "not_finite", "out_of_range", "text_too_long",
    };
    if (!error)
        return QJsonValue();
    return QJsonObject{{"kind", kinds[error.kind()]}, {"message", error.message()}};
}

QJsonArray fromUtterance(const Utterance &utterance)
{
    QJsonArray options;
    for (int number = 0; number < utterance.options; ++number) {
        const oz::Option &option = utterance.option[number];
        options.append(QJsonObject{{"confidence", fromNumber(option.confidence)}, {"text", option.text}});
    }
    return options;
}

QJsonArray fromFaces(const Faces &faces)
{
    QJsonArray list;
    for (int number = 0; number < faces.faces; ++number) {
        const oz::Face &face = faces.face[number];
        list.append(QJsonObject{
                {"confidence", fromNumber(face.confidence)},
                {"x", fromNumber(face.x)},
                {"y", fromNumber(face.y)},
                {"width", fromNumber(face.xsize)},
                {"height", fromNumber(face.ysize)},
                {"name", face.identity},
        });
    }
    return list;
}

/// A client, and the ends of its texts and gestures in the order in which they were started.
struct Operator
{
    OClient1 robot;
    QList<oz::Completion> texts;
    QList<oz::Completion> gestures;
};

/// A call that has failed.
struct Failure
{
    oz::Error error;
};

using Method = std::function<QJsonValue(Operator &, const QJsonArray &)>;

/// The value that a call has returned if the client has no error.
QJsonValue unlessError(bool isTrue, const oz::Error &error)
{
    if (!isTrue && error)
        throw Failure{error};
    return isTrue;
}

QJsonValue sent(bool isSent, const Operator &one)
{
    unlessError(isSent, one.robot.error());
    return QJsonValue();
}

QJsonValue keep(QList<oz::Completion> &completions, const oz::Completion &completion)
{
    // one that was not sent has ended with the reason
    unlessError(!completion.isFinished(), completion.error());
    completions.append(completion);
    return QJsonValue();
}

QJsonValue await(const QList<oz::Completion> &completions, const QJsonArray &args)
{
    const oz::Completion completion = completions[args[0].toInt() - 1];
    const bool hasEnded = completion.wait(args[1].toInt());
    return unlessError(hasEnded, completion.error());
}

Method setter(bool (OClient1::*set)(float))
{
    return [set](Operator &one, const QJsonArray &args) { return sent((one.robot.*set)(toNumber(args[0])), one); };
}

Method setter(bool (OClient1::*set)(int))
{
    return [set](Operator &one, const QJsonArray &args) { return sent((one.robot.*set)(args[0].toInt()), one); };
}

Method getter(float (OClient1::*get)() const)
{
    return [get](Operator &one, const QJsonArray &) { return fromNumber((one.robot.*get)()); };
}

template<typename Value> Method getter(Value (OClient1::*get)() const)
{
    return [get](Operator &one, const QJsonArray &) { return QJsonValue((one.robot.*get)()); };
}

Method wait(bool (OClient1::*wait)(int))
{
    return [wait](Operator &one, const QJsonArray &args) {
        const bool isOver = (one.robot.*wait)(args[0].toInt());
        return unlessError(isOver, one.robot.error());
    };
}

QJsonValue setAllServos(Operator &one, const QJsonArray &args)
{
    float positions[oz::MAX_SERVOS];
    for (int id = 0; id < oz::MAX_SERVOS; ++id)
        positions[id] = toNumber(args[0].toArray()[id]);
    return sent(one.robot.setAllServos(positions), one);
}

QJsonValue allServos(Operator &one, const QJsonArray &)
{
    float positions[oz::MAX_SERVOS];
    one.robot.allServos(positions);
    QJsonArray list;
    for (const float position : positions)
        list.append(fromPosition(position));
    return list;
}

QJsonValue disconnectFromHost(Operator &one, const QJsonArray &)
{
    one.robot.disconnectFromHost();
    return one.robot.waitForDisconnected(-1) ? QJsonValue() : throw Failure{one.robot.error()};
}

using O = OClient1;

const std::map<QString, Method> methods = {
    {"disconnect", disconnectFromHost},
    {"is_connected", getter(&O::isConnected)},
    {"name", getter(&O::name)},
    {"long_name", getter(&O::longName)},
    {"version", [](Operator &one, const QJsonArray &) { return double(one.robot.version()); }},
    {"reset", [](Operator &one, const QJsonArray &) { return sent(one.robot.reset(), one); }},
    {"speak", [](Operator &one, const QJsonArray &args) { return keep(one.texts, one.robot.speak(args[0].toString())); }},
    {"wait_for_speak", wait(&O::waitForSpeak)},
    {"speaking", getter(&O::speaking)},
    {"await_text", [](Operator &one, const QJsonArray &args) { return await(one.texts, args); }},
    {"gesture", [](Operator &one, const QJsonArray &args) { return keep(one.gestures, one.robot.gesture(args[0].toInt())); }},
    {"wait_for_gesture", wait(&O::waitForGesture)},
    {"gesturing", getter(&O::gesturing)},
    {"await_gesture", [](Operator &one, const QJsonArray &args) { return await(one.gestures, args); }},
    {"set_voice_gender_language", setter(&O::setVoiceGenderLanguage)},
    {"voice_gender_language", getter(&O::voiceGenderLanguage)},
    {"set_voice_volume", setter(&O::setVoiceVolume)},
    {"voice_volume", getter(&O::voiceVolume)},
    {"set_voice_pitch", setter(&O::setVoicePitch)},
    {"voice_pitch", getter(&O::voicePitch)},
    {"set_gesture_weight", setter(&O::setGestureWeight)},
    {"gesture_weight", getter(&O::gestureWeight)},
    {"set_expression", setter(&O::setExpression)},
    {"expression", getter(&O::expression)},
    {"set_expression_weight", setter(&O::setExpressionWeight)},
    {"expression_weight", getter(&O::expressionWeight)},
    {"set_auto_blink_speed", setter(&O::setAutoBlinkSpeed)},
    {"auto_blink_speed", getter(&O::autoBlinkSpeed)},
    {"set_random_head_weight", setter(&O::setRandomHeadWeight)},
    {"random_head_weight", getter(&O::randomHeadWeight)},
    {"set_random_eyes_weight", setter(&O::setRandomEyesWeight)},
    {"random_eyes_weight", getter(&O::randomEyesWeight)},
    {"set_random_face_weight", setter(&O::setRandomFaceWeight)},
    {"random_face_weight", getter(&O::randomFaceWeight)},
    {"set_servo", [](Operator &one, const QJsonArray &args) {
         return sent(one.robot.setServo(args[0].toInt(), toNumber(args[1])), one);
     }},
    {"servo", [](Operator &one, const QJsonArray &args) { return fromPosition(one.robot.servo(args[0].toInt())); }},
    {"set_all_servos", setAllServos},
    {"all_servos", allServos},
    {"set_direct_weight", setter(&O::setDirectWeight)},
    {"direct_weight", getter(&O::directWeight)},
    {"set_look_at", setter(&O::setLookAt)},
    {"look_at", getter(&O::lookAt)},
    {"set_look_at_weight", setter(&O::setLookAtWeight)},
    {"look_at_weight", getter(&O::lookAtWeight)},
    {"skip_video", [](Operator &one, const QJsonArray &args) {
         one.robot.skipVideo(args[0].toBool());
         return QJsonValue();
     }},
};

class Harness
{
public:
    void handle(const QByteArray &line);
    void end();

private:
    QJsonValue call(const QString &client, const QString &name, const QJsonArray &args);
    QJsonValue connect(const QString &client, const QJsonObject &options);
    void report(const QString &client, OClient1 *robot);

    std::map<QString, std::unique_ptr<Operator>> m_operators;
};

void Harness::handle(const QByteArray &line)
{
    const QJsonObject command = QJsonDocument::fromJson(line).object();
    QJsonObject answer{{"id", command["id"]}};
    try {
        answer["returns"] = call(command["client"].toString(), command["call"].toString(), command["args"].toArray());
    } catch (const Failure &failure) {
        answer["fails"] = fromError(failure.error);
    }
    write(answer);
}

void Harness::end()
{
    for (auto &named : m_operators)
        disconnectFromHost(*named.second, QJsonArray());
    m_operators.clear();
}

QJsonValue Harness::call(const QString &client, const QString &name, const QJsonArray &args)
{
    if (name == QLatin1String("constants"))
        return constants();
    if (name == QLatin1String("gesture_tags")) {
        QJsonArray tags;
        for (int gesture = 0; gesture < oz::MAX_GESTURES; ++gesture)
            tags.append(oz::gestureTag(gesture));
        return tags;
    }
    if (name == QLatin1String("connect"))
        return connect(client, args[0].toObject());
    const auto method = methods.find(name);
    if (method == methods.end())
        qFatal("no method %s", qPrintable(name));
    return method->second(*m_operators.at(client), args);
}

QJsonValue Harness::connect(const QString &client, const QJsonObject &options)
{
    std::unique_ptr<Operator> &one = m_operators[client];
    one.reset(new Operator);
    OClient1 &robot = one->robot;
    report(client, &robot);
    robot.setTimeout(options["timeout_ms"].toInt());
    robot.setReconnectDelay(options["reconnect_ms"].toInt(-1));
    robot.connectToHost(options["host"].toString(), quint16(options["port"].toInt()));
    if (!robot.waitForConnected(-1))
        throw Failure{robot.error()};
    // before, a failure is that of the call
    QObject::connect(&robot, &OClient1::connectFailed, &robot, [client](const oz::Error &error) {
        write({{"client", client}, {"event", "connect_failed"}, {"error", fromError(error)}});
    });
    return QJsonValue();
}

void Harness::report(const QString &client, OClient1 *robot)
{
    const auto tell = [client](const char *event) { return [=] { write({{"client", client}, {"event", event}}); }; };
    const auto tellGesture = [client](const char *event) {
        return [=](int gesture) { write({{"client", client}, {"event", event}, {"gesture", double(quint32(gesture))}}); };
    };
    QObject::connect(robot, &OClient1::connected, robot, tell("connected"));
    QObject::connect(robot, &OClient1::disconnected, robot, [=] {
        write({{"client", client}, {"event", "disconnected"}, {"reason", fromError(robot->error())}});
    });
    QObject::connect(robot, &OClient1::speakStart, robot, tell("speak_start"));
    QObject::connect(robot, &OClient1::speakDone, robot, tell("speak_done"));
    QObject::connect(robot, &OClient1::gestureStart, robot, tellGesture("gesture_start"));
    QObject::connect(robot, &OClient1::gestureDone, robot, tell("gesture_done"));
    QObject::connect(robot, &OClient1::speakGesture, robot, tellGesture("speak_gesture"));
    QObject::connect(robot, &OClient1::utterance, robot, [=](Utterance &utterance) {
        write({{"client", client}, {"event", "utterance"}, {"options", fromUtterance(utterance)}});
    });
    QObject::connect(robot, &OClient1::faces, robot, [=](Faces &faces) {
        write({{"client", client}, {"event", "faces"}, {"faces", fromFaces(faces)}});
    });
    QObject::connect(robot, &OClient1::jpegVideoFrame, robot, [=](unsigned char *jpeg, int length) {
        const QByteArray hex = QByteArray::fromRawData(reinterpret_cast<char *>(jpeg), length).toHex();
        write({{"client", client}, {"event", "video_frame"}, {"jpeg", QString::fromLatin1(hex)}});
    });
    QObject::connect(robot, &OClient1::invalidMessage, robot, [=](const oz::Error &error) {
        write({{"client", client}, {"event", "invalid_message"}, {"error", fromError(error)}});
    });
}

} // namespace

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    Harness harness;
    // the event loop must go on while nobody sends commands
    std::thread reader([&] {
        std::string line;
        while (std::getline(std::cin, line)) {
            const QByteArray bytes = QByteArray::fromStdString(line);
            QMetaObject::invokeMethod(&application, [&harness, bytes] { harness.handle(bytes); }, Qt::QueuedConnection);
        }
        const auto end = [&] {
            harness.end();
            application.quit();
        };
        QMetaObject::invokeMethod(&application, end, Qt::QueuedConnection);
    });
    const int status = application.exec();
    reader.join();
    return status;
}
