#include "oclient1.h"

#include "oclient1_p.h"

#include <algorithm>
#include <limits>

namespace oz {

const char *gestureTag(int gesture)
{
    static const char *const tags[MAX_GESTURES] = {
        "[braisel]", "[braises]", "[frownl]", "[frowns]", "[yesl]", "[yess]", "[yesl3]",
        "[yess3]", "[nol]", "[nos]", "[nol3]", "[nos3]", "[wob]",
    };
    return gesture >= 0 && gesture < MAX_GESTURES ? tags[gesture] : "";
}

} // namespace oz

namespace {

constexpr int Expressions = oz::EXPRESSION_AFRAID + 1;
constexpr int LookAts = oz::LOOKAT_AWAY + 1;
/// The protocol has 32 bits for voices and gestures, this interface an int.
constexpr int Any = std::numeric_limits<int>::max();

} // namespace

using oz::Encoder;

OClient1::OClient1(QObject *parent) : QObject(parent), d(new OClient1Private(this))
{
    // for queued connections that name signals in strings
    qRegisterMetaType<oz::Error>("oz::Error");
    qRegisterMetaType<oz::Completion>("oz::Completion");
    qRegisterMetaType<Utterance>("Utterance");
    qRegisterMetaType<Faces>("Faces");
}

OClient1::~OClient1()
{
    d->abandon();
}

void OClient1::setTimeout(int msecs)
{
    d->timeout = std::max(msecs, 0);
}

void OClient1::setReconnectDelay(int msecs)
{
    d->reconnectDelay = msecs;
}

void OClient1::connectToHost(const QString &hostName, quint16 port, QIODevice::OpenMode openMode,
                             QAbstractSocket::NetworkLayerProtocol protocol)
{
    if (openMode != QIODevice::ReadWrite)
        qWarning("OClient1::connectToHost: the protocol reads and writes");
    d->start(hostName, port, protocol);
}

void OClient1::connectToHost(const QHostAddress &address, quint16 port, QIODevice::OpenMode openMode)
{
    connectToHost(address.toString(), port, openMode);
}

bool OClient1::waitForConnected(int msecs)
{
    if (d->state != OClient1Private::Connecting && d->state != OClient1Private::Reconnecting)
        return isConnected();
    return d->wait([this] { return isConnected(); }, msecs);
}

void OClient1::disconnectFromHost()
{
    d->stop();
}

bool OClient1::waitForDisconnected(int msecs)
{
    return d->wait([this] { return d->state == OClient1Private::Unconnected; }, msecs);
}

bool OClient1::isConnected() const
{
    return d->state == OClient1Private::Connected;
}

QString OClient1::name() const
{
    return d->welcome.name;
}

QString OClient1::longName() const
{
    return d->welcome.longName;
}

quint32 OClient1::version() const
{
    return d->welcome.version;
}

oz::Error OClient1::error() const
{
    return d->error;
}

bool OClient1::reset()
{
    if (!d->send(Encoder(oz::MSG_RESET)))
        return false;
    d->settings = Settings();
    return true;
}

oz::Completion OClient1::speak(const QString &text)
{
    if (!d->send(Encoder(oz::MSG_SPEAK).text(text)))
        return oz::Completion(d->error);
    const OClient1Private::CompletionPointer completion(new oz::CompletionState);
    d->texts.enqueue(completion);
    emit speakStart();
    return oz::Completion(completion);
}

bool OClient1::waitForSpeak(int msecs)
{
    return d->waitWhileConnected([this] { return !speaking(); }, msecs);
}

bool OClient1::speaking() const
{
    return isConnected() && !d->texts.isEmpty();
}

oz::Completion OClient1::gesture(int id)
{
    if (!d->send(Encoder(oz::MSG_GESTURE).id("gesture", id, Any)))
        return oz::Completion(d->error);
    const OClient1Private::CompletionPointer completion(new oz::CompletionState);
    d->gestures.append(completion);
    ++d->gestureCount;
    emit gestureStart(id);
    return oz::Completion(completion);
}

bool OClient1::waitForGesture(int msecs)
{
    return d->waitWhileConnected([this] { return !gesturing(); }, msecs);
}

bool OClient1::gesturing() const
{
    return isConnected() && d->gestureCount > 0;
}

void OClient1::skipVideo(bool skip)
{
    d->skipsVideo = skip;
}

bool OClient1::setVoiceGenderLanguage(int vgl)
{
    return d->set(&Settings::voiceGenderLanguage, vgl, Encoder(oz::MSG_VOICE_GENDER_LANGUAGE).id("voice", vgl, Any));
}

int OClient1::voiceGenderLanguage() const
{
    return d->settings.voiceGenderLanguage;
}

bool OClient1::setVoiceVolume(float volume)
{
    return d->set(&Settings::voiceVolume, volume, Encoder(oz::MSG_VOICE_VOLUME).number("volume", volume));
}

float OClient1::voiceVolume() const
{
    return d->settings.voiceVolume;
}

bool OClient1::setVoicePitch(float pitch)
{
    return d->set(&Settings::voicePitch, pitch, Encoder(oz::MSG_VOICE_PITCH).number("pitch", pitch));
}

float OClient1::voicePitch() const
{
    return d->settings.voicePitch;
}

bool OClient1::setGestureWeight(float weight)
{
    return d->setWeight(&Settings::gestureWeight, oz::MSG_GESTURE_WEIGHT, weight);
}

float OClient1::gestureWeight() const
{
    return d->settings.gestureWeight;
}

bool OClient1::setExpression(int expr)
{
    return d->set(&Settings::expression, expr, Encoder(oz::MSG_EXPRESSION).id("expression", expr, Expressions));
}

int OClient1::expression() const
{
    return d->settings.expression;
}

bool OClient1::setExpressionWeight(float weight)
{
    return d->setWeight(&Settings::expressionWeight, oz::MSG_EXPRESSION_WEIGHT, weight);
}

float OClient1::expressionWeight() const
{
    return d->settings.expressionWeight;
}

bool OClient1::setAutoBlinkSpeed(float speed)
{
    return d->set(&Settings::autoBlinkSpeed, speed, Encoder(oz::MSG_AUTO_BLINK_SPEED).number("speed", speed));
}

float OClient1::autoBlinkSpeed() const
{
    return d->settings.autoBlinkSpeed;
}

bool OClient1::setRandomHeadWeight(float weight)
{
    return d->setWeight(&Settings::randomHeadWeight, oz::MSG_RANDOM_HEAD_WEIGHT, weight);
}

float OClient1::randomHeadWeight() const
{
    return d->settings.randomHeadWeight;
}

bool OClient1::setRandomEyesWeight(float weight)
{
    return d->setWeight(&Settings::randomEyesWeight, oz::MSG_RANDOM_EYES_WEIGHT, weight);
}

float OClient1::randomEyesWeight() const
{
    return d->settings.randomEyesWeight;
}

bool OClient1::setRandomFaceWeight(float weight)
{
    return d->setWeight(&Settings::randomFaceWeight, oz::MSG_RANDOM_FACE_WEIGHT, weight);
}

float OClient1::randomFaceWeight() const
{
    return d->settings.randomFaceWeight;
}

bool OClient1::setServo(int id, float pos)
{
    if (!d->send(Encoder(oz::MSG_SERVO).id("servo", id, oz::MAX_SERVOS).number("position", pos)))
        return false;
    d->settings.servos[size_t(id)] = pos;
    return true;
}

float OClient1::servo(int id) const
{
    return id >= 0 && id < oz::MAX_SERVOS ? d->settings.servos[size_t(id)] : std::numeric_limits<float>::quiet_NaN();
}

bool OClient1::setAllServos(const float *pos)
{
    Encoder request(oz::MSG_ALL_SERVOS);
    std::for_each(pos, pos + oz::MAX_SERVOS, [&](float position) { request.number("position", position); });
    if (!d->send(request))
        return false;
    std::copy_n(pos, int(oz::MAX_SERVOS), d->settings.servos.begin());
    return true;
}

void OClient1::allServos(float *pos) const
{
    std::copy(d->settings.servos.begin(), d->settings.servos.end(), pos);
}

bool OClient1::setDirectWeight(float weight)
{
    return d->setWeight(&Settings::directWeight, oz::MSG_DIRECT_WEIGHT, weight);
}

float OClient1::directWeight() const
{
    return d->settings.directWeight;
}

bool OClient1::setLookAt(int target)
{
    return d->set(&Settings::lookAt, target, Encoder(oz::MSG_LOOKAT).id("target", target, LookAts));
}

int OClient1::lookAt() const
{
    return d->settings.lookAt;
}

bool OClient1::setLookAtWeight(float weight)
{
    return d->setWeight(&Settings::lookAtWeight, oz::MSG_LOOKAT_WEIGHT, weight);
}

float OClient1::lookAtWeight() const
{
    return d->settings.lookAtWeight;
}
