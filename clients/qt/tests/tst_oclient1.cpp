// What the conformance suite cannot show: slots, event loops, threads, and Qt's own types.

#include "oclient1.h"

#include <QBuffer>
#include <QPointer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QThread>
#include <QtTest>

namespace {

constexpr int Long = 30000;

QByteArray bytes(const char *hex)
{
    return QByteArray::fromHex(hex);
}

const QByteArray Welcome = bytes("01000000 0005616c696365 0005416c696365");
const QByteArray SpeakDone = bytes("00000014");
const QByteArray GestureDone = bytes("00000015");
// "hello", with a confidence of 0.5
const QByteArray Hello = bytes("00000017 00000001 3f000000 0005 68656c6c6f");
// one in the middle, called Zoe
const QByteArray Face = bytes("00000018 00000001 3f800000 00000000 00000000 3e800000 3f000000 0003 5a6f65");

QByteArray image(const QByteArray &jpeg)
{
    QByteArray message = bytes("00000019 00000000") + jpeg;
    for (int at = 0; at < 4; ++at)
        message[7 - at] = char(jpeg.size() >> (8 * at));
    return message;
}

/// A robot that welcomes a client.
class Robot
{
public:
    explicit Robot(bool isSilent = false)
    {
        server.listen(QHostAddress::LocalHost);
        QObject::connect(&server, &QTcpServer::newConnection, &server, [=] {
            socket = server.nextPendingConnection();
            if (!isSilent)
                send(Welcome);
        });
    }

    void send(const QByteArray &message)
    {
        socket->write(message);
        socket->flush();
    }

    void connect(OClient1 &client)
    {
        client.connectToHost(server.serverAddress(), server.serverPort());
        QVERIFY(client.waitForConnected(Long));
    }

    QTcpServer server;
    QPointer<QTcpSocket> socket;
};

/// Slots with the signatures of the document.
class Receiver : public QObject
{
    Q_OBJECT

public slots:
    void onUtterance(Utterance &a) { told += QStringLiteral("hears %1 ").arg(a.option[0].text); }
    void onFaces(Faces &a) { told += QStringLiteral("sees %1 ").arg(a.face[0].identity); }
    void onJpeg(unsigned char *jpeg, int length) { told += QStringLiteral("%1 bytes from %2 ").arg(length).arg(jpeg[0]); }

public:
    QString told;
};

class TestClient : public QObject
{
    Q_OBJECT

private slots:
    void aRobotHasANameOrAnAddress();
    void slotsOfTheDocumentCanBeConnected();
    void imagesAreDecoded();
    void aSlotMayWait();
    void aSlotMayDeleteTheClient_data();
    void aSlotMayDeleteTheClient();
    void completionsCallBack();
    void completionsEndWithTheClient();
    void mistakesSendNothing();
    void nothingBlocks();
    void connectingCanBeGivenUp();
    void waitingForALongConnectionTimesOut();
    void eventsCanBeQueuedToAnotherThread();
    void aClientLivesInAnyThread();
};

void TestClient::aRobotHasANameOrAnAddress()
{
    Robot one;
    Robot other;
    OClient1 byName;
    OClient1 byAddress;
    byName.connectToHost(QStringLiteral("localhost"), one.server.serverPort());
    byAddress.connectToHost(QHostAddress(QHostAddress::LocalHost), other.server.serverPort());
    QVERIFY(byName.waitForConnected(Long));
    QVERIFY(byAddress.waitForConnected(Long));
    QCOMPARE(byAddress.name(), QStringLiteral("alice"));
}

void TestClient::slotsOfTheDocumentCanBeConnected()
{
    Robot robot;
    OClient1 client;
    Receiver receiver;
    QVERIFY(connect(&client, SIGNAL(utterance(Utterance&)), &receiver, SLOT(onUtterance(Utterance&))));
    QVERIFY(connect(&client, SIGNAL(faces(Faces&)), &receiver, SLOT(onFaces(Faces&))));
    QVERIFY(connect(&client, SIGNAL(jpegVideoFrame(unsigned char*,int)), &receiver, SLOT(onJpeg(unsigned char*,int))));
    robot.connect(client);
    robot.send(Hello + Face + image("jpeg"));
    QTRY_COMPARE(receiver.told, QStringLiteral("hears hello sees Zoe 4 bytes from 106 "));
}

void TestClient::imagesAreDecoded()
{
    Robot robot;
    OClient1 client;
    QList<QImage> images;
    connect(&client, &OClient1::videoFrame, this, [&](const QImage &image) { images.append(image); });
    robot.connect(client);
    QImage red(64, 48, QImage::Format_RGB32);
    red.fill(Qt::red);
    QBuffer jpeg;
    QVERIFY(red.save(&jpeg, "JPEG"));
    robot.send(image("no image") + image(jpeg.data()));
    QTRY_COMPARE(images.size(), 2);
    QVERIFY(images[0].isNull());
    QCOMPARE(images[1].size(), QSize(64, 48));
    QVERIFY(qRed(images[1].pixel(32, 24)) > 240 && qBlue(images[1].pixel(32, 24)) < 15);
}

void TestClient::aSlotMayWait()
{
    Robot robot;
    OClient1 client;
    QStringList told;
    connect(&client, &OClient1::utterance, this, [&] {
        told.append(QStringLiteral("hears"));
        const bool isOver = client.waitForSpeak(Long);
        told.append(isOver ? QStringLiteral("is silent") : QStringLiteral("speaks"));
    });
    connect(&client, &OClient1::speakDone, this, [&] { told.append(QStringLiteral("has spoken")); });
    robot.connect(client);
    client.speak(QStringLiteral("Hello"));
    // what the slot waits for has arrived already
    robot.send(Hello + SpeakDone);
    QTRY_COMPARE(told.join(','), QStringLiteral("hears,has spoken,is silent"));
    // and now what has not
    told.clear();
    client.speak(QStringLiteral("Hello"));
    robot.send(Hello);
    QTimer::singleShot(20, this, [&] { robot.send(SpeakDone); });
    QTRY_COMPARE(told.join(','), QStringLiteral("hears,has spoken,is silent"));
}

void TestClient::aSlotMayDeleteTheClient_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::newRow("utterance") << Hello;
    QTest::newRow("faces") << Face;
    QTest::newRow("image") << image("jpeg");
    QTest::newRow("end of a text") << SpeakDone;
    QTest::newRow("end of a gesture") << GestureDone;
    QTest::newRow("invalid text") << bytes("00000017 00000001 3f000000 0001 ff");
    QTest::newRow("unknown message") << bytes("00000020");
}

void TestClient::aSlotMayDeleteTheClient()
{
    QFETCH(QByteArray, message);
    Robot robot;
    QPointer<OClient1> client = new OClient1;
    const auto destroy = [&] { delete client; };
    connect(client, &OClient1::utterance, this, destroy);
    connect(client, &OClient1::faces, this, destroy);
    connect(client, &OClient1::jpegVideoFrame, this, destroy);
    connect(client, &OClient1::speakDone, this, destroy);
    connect(client, &OClient1::gestureDone, this, destroy);
    connect(client, &OClient1::invalidMessage, this, destroy);
    connect(client, &OClient1::disconnected, this, destroy);
    robot.connect(*client);
    // while it waits
    QTimer::singleShot(0, this, [&] { robot.send(message + Hello); });
    client->speak(QStringLiteral("Hello"));
    client->gesture(oz::GESTURE_YES_LONG);
    QVERIFY(!client->waitForSpeak(Long) || message == SpeakDone);
    QTRY_VERIFY(!client);
}

void TestClient::completionsCallBack()
{
    Robot robot;
    OClient1 client;
    robot.connect(client);
    QList<oz::Error::Kind> ends;
    const auto note = [&](const oz::Error &error) { ends.append(error.kind()); };
    const oz::Completion first = client.speak(QStringLiteral("Hello"));
    first.then(this, note);
    client.speak(QStringLiteral("Bye")).then(this, note);
    {
        QObject context;
        client.speak(QStringLiteral("!")).then(&context, [](const oz::Error &) { qFatal("the context is deleted"); });
    }
    robot.send(SpeakDone);
    QVERIFY(first.wait(Long));
    QCOMPARE(ends, QList<oz::Error::Kind>{oz::Error::None});
    robot.socket->disconnectFromHost();
    QTRY_COMPARE(ends.size(), 2);
    QCOMPARE(ends[1], oz::Error::Closed);
    // of one that has ended
    first.then(this, note);
    client.speak(QStringLiteral("Hello")).then(this, note);
    QTRY_COMPARE(ends.size(), 4);
    QCOMPARE(ends.mid(2), (QList<oz::Error::Kind>{oz::Error::None, oz::Error::Closed}));
}

void TestClient::completionsEndWithTheClient()
{
    Robot robot;
    QScopedPointer<OClient1> client(new OClient1);
    robot.connect(*client);
    const oz::Completion speech = client->speak(QStringLiteral("Hello"));
    QTimer::singleShot(20, this, [&] { client.reset(); });
    QVERIFY(!speech.wait(Long));
    QCOMPARE(speech.error().kind(), oz::Error::Closed);
}

void TestClient::mistakesSendNothing()
{
    Robot robot;
    OClient1 client;
    QVERIFY(!client.setVoiceVolume(0.5F));
    QCOMPARE(client.error().kind(), oz::Error::Closed);
    robot.connect(client);
    QTRY_COMPARE(robot.socket->bytesAvailable(), 8);
    QVERIFY(!client.setExpression(5));
    QCOMPARE(client.error().kind(), oz::Error::OutOfRange);
    QCOMPARE(client.error().message(), QStringLiteral("expression 5 is out of range 0 to 4"));
    QVERIFY(!client.setServo(-1, 0.5F));
    QVERIFY(!client.setVoicePitch(std::numeric_limits<float>::infinity()));
    QCOMPARE(client.error().kind(), oz::Error::NotFinite);
    QCOMPARE(client.speak(QString(65536, 'a')).error().kind(), oz::Error::TextTooLong);
    QCOMPARE(client.gesture(-1).error().kind(), oz::Error::OutOfRange);
    QVERIFY(qIsNaN(client.servo(36)));
    QVERIFY(!client.speaking() && !client.gesturing());
    QVERIFY(client.reset());
    QTRY_COMPARE(robot.socket->bytesAvailable(), 12);
}

void TestClient::nothingBlocks()
{
    Robot silent(true);
    OClient1 client;
    client.setTimeout(100);
    QSignalSpy failed(&client, &OClient1::connectFailed);
    client.connectToHost(silent.server.serverAddress(), silent.server.serverPort());
    // no event loop has run
    QVERIFY(!silent.socket);
    QCOMPARE(failed.size(), 0);
    QVERIFY(failed.wait(Long));
    QCOMPARE(client.error().kind(), oz::Error::Timeout);
}

void TestClient::connectingCanBeGivenUp()
{
    Robot silent(true);
    OClient1 client;
    QSignalSpy failed(&client, &OClient1::connectFailed);
    QSignalSpy disconnected(&client, &OClient1::disconnected);
    client.connectToHost(silent.server.serverAddress(), silent.server.serverPort());
    QTRY_VERIFY(silent.socket);
    client.disconnectFromHost();
    QVERIFY(client.waitForDisconnected(Long));
    QCOMPARE(failed.size(), 1);
    QCOMPARE(client.error().kind(), oz::Error::Closed);
    QCOMPARE(disconnected.size(), 0);
}

void TestClient::waitingForALongConnectionTimesOut()
{
    Robot silent(true);
    OClient1 client;
    client.connectToHost(silent.server.serverAddress(), silent.server.serverPort());
    QVERIFY(!client.waitForConnected(20));
    QVERIFY(!client.error());
    QTRY_VERIFY(silent.socket);
    silent.send(Welcome);
    QVERIFY(client.waitForConnected(Long));
    QCOMPARE(client.name(), QStringLiteral("alice"));
}

void TestClient::eventsCanBeQueuedToAnotherThread()
{
    Robot robot;
    OClient1 client;
    QThread thread;
    QObject worker;
    QAtomicInt heard;
    QAtomicInt seen;
    worker.moveToThread(&thread);
    thread.start();
    const QThread *here = QThread::currentThread();
    connect(&client, &OClient1::heard, &worker, [&](const Utterance &utterance) {
        heard = QThread::currentThread() != here && utterance.option[0].text == QLatin1String("hello");
    });
    connect(&client, &OClient1::seen, &worker, [&](const Faces &faces) { seen = faces.faces; });
    robot.connect(client);
    robot.send(Hello + Face);
    QTRY_COMPARE(heard.loadAcquire() + seen.loadAcquire(), 2);
    thread.quit();
    QVERIFY(thread.wait(Long));
}

void TestClient::aClientLivesInAnyThread()
{
    Robot robot;
    const quint16 port = robot.server.serverPort();
    QAtomicInt wasTold;
    QThread *thread = QThread::create([&, port] {
        OClient1 client;
        client.connectToHost(QStringLiteral("127.0.0.1"), port);
        const bool isOver = client.waitForConnected(Long) && client.speak(QStringLiteral("Hello")).wait(Long);
        client.disconnectFromHost();
        wasTold = isOver && client.waitForDisconnected(Long);
    });
    thread->start();
    QTRY_VERIFY(robot.socket && robot.socket->bytesAvailable() == 8 + 11);
    robot.send(SpeakDone);
    QTRY_VERIFY(robot.socket->state() != QAbstractSocket::ConnectedState);
    QVERIFY(thread->wait(Long));
    delete thread;
    QVERIFY(wasTold.loadAcquire());
}

} // namespace

QTEST_GUILESS_MAIN(TestClient)

#include "tst_oclient1.moc"
