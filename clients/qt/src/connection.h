#ifndef OZ_CONNECTION_H
#define OZ_CONNECTION_H

#include "decoder.h"

#include <QTcpSocket>
#include <QTimer>

namespace oz {

/// Protocol 1.0.
constexpr quint32 Version = 0x01000000;

/// One TCP connection to a robot. All signals come from the event loop, never from a method.
class Connection : public QObject
{
    Q_OBJECT

public:
    /// `timeout` limits connecting and how long the robot may leave requests unread, in ms.
    explicit Connection(int timeout, QObject *parent = nullptr);
    ~Connection() override;

    void open(const QString &host, quint16 port, QAbstractSocket::NetworkLayerProtocol protocol);
    /// Sends a request, after `opened`.
    void send(const QByteArray &request);
    /// Ends the connection after the robot has read all requests; `closed` follows.
    void close();

signals:
    void opened(const oz::Welcome &welcome);
    void received(const oz::Event &event);
    /// The connection has ended or could not be made; no error after `close`. The last signal.
    void closed(const oz::Error &error);

private:
    enum State { Connecting, Greeting, Open, Closing, Closed };

    void greet();
    void read();
    void noteWritten();
    void noteEnd();
    void noteLate();
    void process();
    void endIfOver();
    void end(const Error &error);
    void watch();
    void shutDownSending();

    QTcpSocket m_socket;
    Decoder m_decoder;
    State m_state = Connecting;
    int m_timeout;
    QString m_address;
    QTimer m_deadline;
    bool m_isLate = false;
    /// Has `process` called from the event loop.
    QTimer m_processing;
    /// Why the socket is closed; what has arrived before is processed first.
    Error m_end;
};

} // namespace oz

#endif
