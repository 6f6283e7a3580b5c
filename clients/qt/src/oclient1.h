// A client for the Oz Robot Puppeteering System, protocol 1.0.

#ifndef OCLIENT1_H
#define OCLIENT1_H

#include "oz_protocol.h"
#include "oz_types.h"

#include <QAbstractSocket>
#include <QHostAddress>
#include <QImage>
#include <QObject>

class OClient1Private;

/// A client of a robot. All methods must be called in the object's thread; only those that wait block, in an event loop. One
/// that is deleted closes its connection at once; after disconnectFromHost() and disconnected() the last request has arrived.
///
/// Methods that send return false if nothing was sent, because the client is not connected or the value means nothing; error()
/// says why. Getters return what this client has set last, or the default.
class OClient1 : public QObject
{
    Q_OBJECT

public:
    explicit OClient1(QObject *parent = nullptr);
    ~OClient1() override;

    // network connection

    /// How long connecting may take, and how long the robot may leave requests unread. Default: 10,000 ms.
    void setTimeout(int msecs);
    /// Makes a lost connection again, with this time before each attempt. -1, the default: not.
    void setReconnectDelay(int msecs);
    /// Connects and requests the version: connected() or connectFailed() follows. The mode is ReadWrite.
    void connectToHost(const QString &hostName, quint16 port = oz::OZ_PORT,
                       QIODevice::OpenMode openMode = QIODevice::ReadWrite,
                       QAbstractSocket::NetworkLayerProtocol protocol = QAbstractSocket::AnyIPProtocol);
    void connectToHost(const QHostAddress &address, quint16 port = oz::OZ_PORT,
                       QIODevice::OpenMode openMode = QIODevice::ReadWrite);
    /// Waits until the robot has answered. Returns false if it cannot be reached or on timeout. -1: no timeout.
    bool waitForConnected(int msecs = 30000);
    /// Closes the connection after the robot has read all requests: disconnected() follows.
    void disconnectFromHost();
    bool waitForDisconnected(int msecs = 30000);
    bool isConnected() const;

    // administrative

    /// The robot's names and version, also after the connection has ended.
    QString name() const;
    QString longName() const;
    quint32 version() const;
    /// Why the last call failed or the connection has ended; none after disconnectFromHost(), and if a wait timed out.
    oz::Error error() const;

    // speaking

    /// Waits until all texts of this client have been spoken. Returns false on timeout, or with an error. -1: no timeout.
    bool waitForSpeak(int msecs = -1);
    /// Whether texts of this client have not been spoken yet.
    bool speaking() const;
    int voiceGenderLanguage() const;
    float voiceVolume() const;
    float voicePitch() const;

    // gestures

    /// Waits until all gestures of this client have ended, including those in its texts.
    bool waitForGesture(int msecs = -1);
    /// Whether gestures of this client are playing, including those in its texts.
    bool gesturing() const;
    float gestureWeight() const;

    // facial expression

    int expression() const;
    float expressionWeight() const;

    // automatic motion

    float autoBlinkSpeed() const;
    float randomHeadWeight() const;
    float randomEyesWeight() const;
    float randomFaceWeight() const;

    // direct servo control

    /// The direct position of a servo; NaN if it was never set.
    float servo(int id) const;
    /// Sets the positions of all servos; `pos` has oz::MAX_SERVOS.
    bool setAllServos(const float *pos);
    void allServos(float *pos) const;
    float directWeight() const;

    // looking at faces

    int lookAt() const;
    float lookAtWeight() const;

public slots:
    /// Restores all defaults of the robot. Speech and gestures stop, and are reported as done.
    bool reset();
    /// Sends a text, which may have gesture tags: "[nos]Nope." Texts are spoken one after another.
    oz::Completion speak(const QString &text);
    /// Sets the voice: oz::VGL_DEFAULT.
    bool setVoiceGenderLanguage(int vgl);
    /// 0 to 1. Default: 1.
    bool setVoiceVolume(float volume);
    /// 0.5 to 2. Default: 1.
    bool setVoicePitch(float pitch);
    /// Starts a gesture: one of oz::GESTURE_..., or another one of the robot.
    oz::Completion gesture(int id);
    /// 0 to 1. Default: 1.
    bool setGestureWeight(float weight);
    /// Sets the facial expression: one of oz::EXPRESSION_...
    bool setExpression(int expr);
    /// 0 to 1. Default: 1.
    bool setExpressionWeight(float weight);
    /// Blinks per second, 0 to 10. Default: 2.
    bool setAutoBlinkSpeed(float speed);
    /// 0 to 1. Default: 0.
    bool setRandomHeadWeight(float weight);
    /// 0 to 1. Default: 0.
    bool setRandomEyesWeight(float weight);
    /// 0 to 1. Default: 0.
    bool setRandomFaceWeight(float weight);
    /// Sets the direct position of a servo, 0 to 1 over its travel. It has no effect without a direct weight.
    bool setServo(int id, float pos);
    /// 0 to 1. Default: 0.
    bool setDirectWeight(float weight);
    /// Sets what the robot looks at: one of oz::LOOKAT_...
    bool setLookAt(int target);
    /// 0 to 1. Default: 1.
    bool setLookAtWeight(float weight);
    /// Sets whether images are dropped.
    void skipVideo(bool skip = true);

signals:
    /// The robot has answered; also when a lost connection has been made again.
    void connected();
    /// The connection has ended; error() says why.
    void disconnected();
    /// The connection could not be made. Another attempt follows if it is one to make a lost connection again.
    void connectFailed(const oz::Error &error);
    /// This client has sent a text, which the robot starts speaking.
    void speakStart();
    /// A text of this client has been spoken.
    void speakDone();
    /// This client has started a gesture.
    void gestureStart(int id);
    /// A gesture of this client has ended; the protocol does not say which.
    void gestureDone();
    /// A tag in a text of this client has started a gesture.
    void speakGesture(int id);

    // what these signals pass is valid during the call only
    void utterance(Utterance &a);
    void faces(Faces &a);
    void jpegVideoFrame(unsigned char *jpeg, int length);

    // the same, for connections to other threads as well
    void heard(const Utterance &utterance);
    void seen(const Faces &faces);
    void videoData(const QByteArray &jpeg);
    /// The decoded image; null if it is not a JPEG file, or has more than 64 million pixels. It is decoded only if this signal
    /// is connected.
    void videoFrame(const QImage &image);

    /// A message had a text that is not UTF-8. It is lost; the connection goes on.
    void invalidMessage(const oz::Error &error);

private:
    friend class OClient1Private;
    OClient1Private *const d;
};

/// Some copies of the document call it so.
using QClient1 = OClient1;

#endif
