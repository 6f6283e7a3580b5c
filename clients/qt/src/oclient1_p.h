#ifndef OCLIENT1_P_H
#define OCLIENT1_P_H

#include "completion.h"
#include "connection.h"
#include "encoder.h"
#include "oclient1.h"

#include <QQueue>
#include <QTimer>

#include <array>

/// The settings of a robot as this client has last set them.
struct Settings
{
    Settings();

    int voiceGenderLanguage = oz::VGL_DEFAULT;
    float voiceVolume = 1;
    float voicePitch = 1;
    float gestureWeight = 1;
    int expression = oz::EXPRESSION_NEUTRAL;
    float expressionWeight = 1;
    float autoBlinkSpeed = 2;
    float randomHeadWeight = 0;
    float randomEyesWeight = 0;
    float randomFaceWeight = 0;
    /// NaN if never set
    std::array<float, oz::MAX_SERVOS> servos;
    float directWeight = 0;
    int lookAt = oz::LOOKAT_FORWARD;
    float lookAtWeight = 1;
};

class OClient1Private : public QObject
{
    Q_OBJECT

public:
    enum State { Unconnected, Connecting, Connected, Closing, Reconnecting };
    using CompletionPointer = QSharedPointer<oz::CompletionState>;

    explicit OClient1Private(OClient1 *client);

    void start(const QString &host, quint16 port, QAbstractSocket::NetworkLayerProtocol protocol);
    void stop();
    /// Ends everything at once, before the client is deleted.
    void abandon();
    /// Sends a request; returns false, with an error, if that is not possible.
    bool send(const oz::Encoder &request);
    /// Sends a request that sets something.
    template<typename Value> bool set(Value Settings::*setting, Value value, const oz::Encoder &request)
    {
        if (!send(request))
            return false;
        settings.*setting = value;
        return true;
    }
    bool setWeight(float Settings::*setting, quint32 message, float weight);
    /// Waits until a condition holds or the state changes.
    bool wait(const std::function<bool()> &isOver, int msecs);
    /// Likewise, and fails unless the client stays connected.
    bool waitWhileConnected(const std::function<bool()> &isOver, int msecs);

    int timeout = 10000;
    int reconnectDelay = -1;
    State state = Unconnected;
    oz::Welcome welcome;
    oz::Error error;
    Settings settings;
    QQueue<CompletionPointer> texts;
    QList<CompletionPointer> gestures;
    int gestureCount = 0;
    bool skipsVideo = false;

signals:
    /// The state has changed, or what is being spoken and played.
    void changed();

private:
    void open();
    void openLater();
    void noteOpened(const oz::Welcome &answer);
    void noteClosed(const oz::Error &reason);
    void noteEnd(const oz::Error &reason);
    void noteEvent(const oz::Event &event);
    QList<CompletionPointer> takeCompletions();
    static void finish(const QList<CompletionPointer> &completions, const oz::Error &error);
    QList<CompletionPointer> endedBy(oz::Event::Kind kind);
    void tell(const oz::Event &event);
    void tellVideo(const QByteArray &jpeg);

    OClient1 *const q;
    oz::Connection *m_connection = nullptr;
    /// How many have been made.
    int m_connections = 0;
    QTimer m_pause;
    QString m_host;
    quint16 m_port = 0;
    QAbstractSocket::NetworkLayerProtocol m_protocol = QAbstractSocket::AnyIPProtocol;
};

#endif
