#include "connection.h"

#include "encoder.h"
#include "oz_protocol.h"

#include <QPointer>

#ifdef Q_OS_WIN
#include <winsock2.h>
#else
#include <sys/socket.h>
#endif

namespace oz {

namespace {

// how long the robot may take to close the connection after the client has, in ms
constexpr int CloseTimeout = 500;
// the socket reads no more until this has been processed, in bytes
constexpr qint64 ReadBuffer = 1024 * 1024;

} // namespace

Connection::Connection(int timeout, QObject *parent) : QObject(parent), m_timeout(timeout)
{
    m_socket.setReadBufferSize(ReadBuffer);
    m_deadline.setSingleShot(true);
    connect(&m_deadline, &QTimer::timeout, this, &Connection::noteLate);
    // not a queued call: one that is queued behind the call of a slot does not wake the event loop that the slot runs
    m_processing.setSingleShot(true);
    m_processing.setInterval(0);
    connect(&m_processing, &QTimer::timeout, this, &Connection::process);
    connect(&m_socket, &QTcpSocket::connected, this, &Connection::greet);
    connect(&m_socket, &QTcpSocket::readyRead, this, &Connection::read);
    connect(&m_socket, &QTcpSocket::bytesWritten, this, &Connection::noteWritten);
    connect(&m_socket, &QTcpSocket::disconnected, this, &Connection::noteEnd);
#if QT_VERSION >= QT_VERSION_CHECK(5, 15, 0)
    connect(&m_socket, &QTcpSocket::errorOccurred, this, &Connection::noteEnd);
#else
    connect(&m_socket, QOverload<QAbstractSocket::SocketError>::of(&QTcpSocket::error), this, &Connection::noteEnd);
#endif
}

Connection::~Connection()
{
    // the socket reports its end when it is deleted
    disconnect(&m_socket, nullptr, this, nullptr);
}

void Connection::open(const QString &host, quint16 port, QAbstractSocket::NetworkLayerProtocol protocol)
{
    m_address = QStringLiteral("%1:%2").arg(host).arg(port);
    m_deadline.start(m_timeout);
    m_socket.connectToHost(host, port, QIODevice::ReadWrite, protocol);
}

void Connection::send(const QByteArray &request)
{
    m_socket.write(request);
    // at once, and not when the event loop comes to it
    m_socket.flush();
    watch();
}

void Connection::close()
{
    const bool wasOpen = m_state == Open;
    m_state = Closing;
    m_isLate = false;
    m_deadline.start(CloseTimeout);
    if (!wasOpen)
        m_socket.abort();
    if (m_socket.state() == QAbstractSocket::UnconnectedState)
        m_processing.start();
    else if (m_socket.bytesToWrite() == 0)
        shutDownSending();
}

void Connection::greet()
{
    m_state = Greeting;
    m_socket.setSocketOption(QAbstractSocket::LowDelayOption, 1);
    m_socket.write(Encoder(MSG_REQUEST_VERSION).word(Version).bytes());
    m_socket.flush();
}

void Connection::read()
{
    // when closing, images are read and dropped: a socket that is closed with unread data resets the connection, and requests
    // on their way may be lost
    if (m_state == Closing)
        m_socket.readAll();
    else
        // not from here: a slot may run an event loop, in which this signal would not come again
        m_processing.start();
}

void Connection::noteWritten()
{
    if (m_state == Open) {
        m_deadline.stop();
        watch();
    } else if (m_state == Closing && m_socket.bytesToWrite() == 0) {
        shutDownSending();
    }
}

void Connection::noteEnd()
{
    if (m_state == Connecting)
        m_end = Error(Error::Unreachable, QStringLiteral("%1 cannot be reached: %2").arg(m_address, m_socket.errorString()));
    m_processing.start();
}

void Connection::noteLate()
{
    // once more, after what has arrived while the event loop was busy
    if (!m_isLate) {
        m_isLate = true;
        m_deadline.start(0);
        return;
    }
    switch (m_state) {
    case Connecting:
        m_end = Error(Error::Timeout, QStringLiteral("no connection to %1 within %2 ms").arg(m_address).arg(m_timeout));
        break;
    case Greeting:
        m_end = Error(Error::Timeout, QStringLiteral("no answer to the version request within %1 ms").arg(m_timeout));
        break;
    case Open:
        m_end = Error(Error::Timeout, QStringLiteral("the robot did not read requests within %1 ms").arg(m_timeout));
        break;
    case Closing:
    case Closed:
        break;
    }
    m_decoder.append(m_socket.readAll());
    m_socket.abort();
    m_processing.start();
}

void Connection::process()
{
    if (m_state == Greeting || m_state == Open)
        m_decoder.append(m_socket.readAll());
    // any slot may delete this object, or run an event loop, in which the next messages have to be processed
    const QPointer<Connection> alive(this);
    Welcome welcome;
    if (m_state == Greeting && m_decoder.take(&welcome)) {
        m_state = Open;
        m_deadline.stop();
        m_processing.start();
        emit opened(welcome);
    }
    Event event;
    while (alive && m_state == Open && m_decoder.take(&event)) {
        m_processing.start();
        emit received(event);
    }
    if (alive && m_state != Closed)
        endIfOver();
}

void Connection::endIfOver()
{
    const bool isUnconnected = m_socket.state() == QAbstractSocket::UnconnectedState;
    if (m_state == Closing) {
        if (isUnconnected)
            end(Error());
    } else if (m_decoder.error()) {
        end(m_decoder.error());
    } else if (m_end) {
        end(m_end);
    } else if (isUnconnected) {
        end(m_decoder.isBetweenMessages()
                    ? Error(Error::Closed, QStringLiteral("the robot has closed the connection; its log may say why"))
                    : Error(Error::Truncated, QStringLiteral("the connection was closed in the middle of a message")));
    }
}

void Connection::end(const Error &error)
{
    // the last signal
    disconnect(&m_socket, nullptr, this, nullptr);
    m_deadline.stop();
    m_state = Closed;
    m_socket.abort();
    emit closed(error);
}

void Connection::watch()
{
    if (m_state != Open || m_deadline.isActive() || m_socket.bytesToWrite() == 0)
        return;
    m_isLate = false;
    m_deadline.start(m_timeout);
}

void Connection::shutDownSending()
{
    // QTcpSocket can close both directions only
#ifdef Q_OS_WIN
    ::shutdown(SOCKET(m_socket.socketDescriptor()), SD_SEND);
#else
    ::shutdown(int(m_socket.socketDescriptor()), SHUT_WR);
#endif
}

} // namespace oz
