#include "oclient1_p.h"

#include <QBuffer>
#include <QEventLoop>
#include <QImageReader>
#include <QMetaMethod>
#include <QPointer>

#include <limits>

namespace {

// larger images are not decoded
constexpr qint64 MaxPixels = 64 * 1000 * 1000;

QImage decode(const QByteArray &jpeg)
{
    QBuffer buffer;
    buffer.setData(jpeg);
    QImageReader reader(&buffer, "jpeg");
    const QSize size = reader.size();
    return size.isValid() && qint64(size.width()) * size.height() <= MaxPixels ? reader.read() : QImage();
}

oz::Error closedByClient()
{
    return oz::Error(oz::Error::Closed, QStringLiteral("this client has closed the connection"));
}

oz::Error notConnected()
{
    return oz::Error(oz::Error::Closed, QStringLiteral("the client is not connected"));
}

} // namespace

Settings::Settings()
{
    servos.fill(std::numeric_limits<float>::quiet_NaN());
}

OClient1Private::OClient1Private(OClient1 *client) : QObject(client), q(client)
{
    m_pause.setSingleShot(true);
    connect(&m_pause, &QTimer::timeout, this, &OClient1Private::open);
}

void OClient1Private::start(const QString &host, quint16 port, QAbstractSocket::NetworkLayerProtocol protocol)
{
    if (state != Unconnected) {
        qWarning("OClient1::connectToHost: the client is not disconnected");
        return;
    }
    m_host = host;
    m_port = port;
    m_protocol = protocol;
    state = Connecting;
    error = oz::Error();
    open();
}

void OClient1Private::open()
{
    m_connection = new oz::Connection(timeout, this);
    connect(m_connection, &oz::Connection::opened, this, &OClient1Private::noteOpened);
    connect(m_connection, &oz::Connection::received, this, &OClient1Private::noteEvent);
    connect(m_connection, &oz::Connection::closed, this, &OClient1Private::noteClosed);
    m_connection->open(m_host, m_port, m_protocol);
}

void OClient1Private::openLater()
{
    state = Reconnecting;
    m_pause.start(reconnectDelay);
}

void OClient1Private::stop()
{
    switch (state) {
    case Unconnected:
    case Closing:
        return;
    case Connecting:
        m_connection->close();
        return;
    case Connected:
    case Reconnecting:
        break;
    }
    state = Closing;
    m_pause.stop();
    if (m_connection)
        m_connection->close();
    else
        QTimer::singleShot(0, this, [this] { noteClosed(oz::Error()); });
    emit changed();
}

void OClient1Private::abandon()
{
    delete m_connection;
    m_connection = nullptr;
    state = Unconnected;
    finish(takeCompletions(), closedByClient());
}

bool OClient1Private::send(const oz::Encoder &request)
{
    if (request.error()) {
        error = request.error();
        return false;
    }
    if (state != Connected) {
        error = notConnected();
        return false;
    }
    m_connection->send(request.bytes());
    return true;
}

bool OClient1Private::setWeight(float Settings::*setting, quint32 message, float weight)
{
    return set(setting, weight, oz::Encoder(message).number("weight", weight));
}

bool OClient1Private::wait(const std::function<bool()> &isOver, int msecs)
{
    error = oz::Error();
    if (isOver())
        return true;
    bool wasOver = false;
    const State begin = state;
    QEventLoop loop;
    const auto look = [&] {
        wasOver = wasOver || isOver();
        if (wasOver || state != begin)
            loop.quit();
    };
    connect(this, &OClient1Private::changed, &loop, look);
    // the client may be deleted meanwhile
    connect(this, &QObject::destroyed, &loop, &QEventLoop::quit);
    if (msecs >= 0)
        QTimer::singleShot(msecs, &loop, &QEventLoop::quit);
    loop.exec();
    return wasOver;
}

bool OClient1Private::waitWhileConnected(const std::function<bool()> &isOver, int msecs)
{
    if (state != Connected) {
        error = notConnected();
        return false;
    }
    const QPointer<OClient1Private> alive(this);
    const int begin = m_connections;
    const bool wasOver = wait([&] { return state == Connected && m_connections == begin && isOver(); }, msecs);
    if (!wasOver && alive && !error && (state != Connected || m_connections != begin))
        error = notConnected();
    return wasOver;
}

void OClient1Private::noteOpened(const oz::Welcome &answer)
{
    welcome = answer;
    state = Connected;
    ++m_connections;
    const QPointer<OClient1Private> alive(this);
    emit q->connected();
    if (alive)
        emit changed();
}

void OClient1Private::noteClosed(const oz::Error &reason)
{
    if (m_connection)
        m_connection->deleteLater();
    m_connection = nullptr;
    const State before = state;
    const bool isAgain = reason && reconnectDelay >= 0 && before != Connecting;
    if (isAgain)
        openLater();
    else
        state = Unconnected;
    const QPointer<OClient1Private> alive(this);
    if (before == Connected || before == Closing) {
        noteEnd(reason);
    } else {
        error = reason ? reason : closedByClient();
        emit q->connectFailed(oz::Error(error));
    }
    if (alive)
        emit changed();
}

void OClient1Private::noteEnd(const oz::Error &reason)
{
    const QList<CompletionPointer> failed = takeCompletions();
    error = reason;
    emit q->disconnected();
    finish(failed, reason ? reason : closedByClient());
}

QList<OClient1Private::CompletionPointer> OClient1Private::takeCompletions()
{
    const QList<CompletionPointer> taken = texts + gestures;
    texts.clear();
    gestures.clear();
    gestureCount = 0;
    return taken;
}

void OClient1Private::finish(const QList<CompletionPointer> &completions, const oz::Error &error)
{
    for (const CompletionPointer &completion : completions)
        completion->finish(error);
}

void OClient1Private::noteEvent(const oz::Event &event)
{
    // disconnectFromHost() has been called, and the rest does not matter any more
    if (state != Connected)
        return;
    const QList<CompletionPointer> ended = endedBy(event.kind);
    const QPointer<OClient1Private> alive(this);
    tell(event);
    finish(ended, oz::Error());
    if (alive)
        emit changed();
}

QList<OClient1Private::CompletionPointer> OClient1Private::endedBy(oz::Event::Kind kind)
{
    QList<CompletionPointer> ended;
    if (kind == oz::Event::SpeakDone && !texts.isEmpty()) {
        ended.append(texts.dequeue());
    } else if (kind == oz::Event::SpeakGesture) {
        ++gestureCount;
    } else if (kind == oz::Event::GestureDone && gestureCount > 0) {
        --gestureCount;
        if (gestureCount == 0)
            gestures.swap(ended);
    }
    return ended;
}

void OClient1Private::tell(const oz::Event &event)
{
    const QPointer<OClient1> alive(q);
    switch (event.kind) {
    case oz::Event::SpeakDone:
        emit q->speakDone();
        break;
    case oz::Event::GestureDone:
        emit q->gestureDone();
        break;
    case oz::Event::SpeakGesture:
        emit q->speakGesture(event.gesture);
        break;
    case oz::Event::Heard: {
        Utterance copy = event.utterance;
        emit q->utterance(copy);
        if (alive)
            emit q->heard(event.utterance);
        break;
    }
    case oz::Event::Seen: {
        Faces copy = event.faces;
        emit q->faces(copy);
        if (alive)
            emit q->seen(event.faces);
        break;
    }
    case oz::Event::VideoFrame:
        if (!skipsVideo)
            tellVideo(event.jpeg);
        break;
    case oz::Event::Invalid:
        emit q->invalidMessage(event.error);
        break;
    }
}

void OClient1Private::tellVideo(const QByteArray &jpeg)
{
    const QPointer<OClient1> alive(q);
    if (q->isSignalConnected(QMetaMethod::fromSignal(&OClient1::jpegVideoFrame))) {
        QByteArray copy = jpeg;
        emit q->jpegVideoFrame(reinterpret_cast<unsigned char *>(copy.data()), copy.size());
    }
    if (alive)
        emit q->videoData(jpeg);
    if (alive && q->isSignalConnected(QMetaMethod::fromSignal(&OClient1::videoFrame)))
        emit q->videoFrame(decode(jpeg));
}
