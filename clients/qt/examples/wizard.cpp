// A small Wizard of Oz: shows what the robot sees and hears, and has it say what is typed. It looks at the nearest person.
//
//     rossum serve --scenario oz
//     wizard [--robot ADDRESS] [--say TEXT]

#include <oclient1.h>

#include <QApplication>
#include <QCommandLineParser>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <QWidget>

#include <cstdio>
#include <cstdlib>

namespace {

class Wizard : public QWidget
{
    Q_OBJECT

public:
    explicit Wizard(OClient1 *robot);

    void say(const QString &text);

private slots:
    void greet();
    void showVideo(const QImage &image);
    void showUtterance(const Utterance &utterance);

private:
    QWidget *gestures();
    void tell(const QString &what);

    OClient1 *m_robot;
    Faces m_faces;
    QLabel *m_video = new QLabel;
    QPlainTextEdit *m_log = new QPlainTextEdit;
    QLineEdit *m_text = new QLineEdit;
};

Wizard::Wizard(OClient1 *robot) : m_robot(robot)
{
    m_video->setMinimumSize(320, 240);
    m_log->setReadOnly(true);
    m_text->setPlaceholderText(tr("Text, with gestures like [yesl] in it"));
    auto *layout = new QVBoxLayout(this);
    layout->addWidget(m_video);
    layout->addWidget(gestures());
    layout->addWidget(m_log);
    layout->addWidget(m_text);

    connect(m_text, &QLineEdit::returnPressed, this, [this] {
        say(m_text->text());
        m_text->clear();
    });
    connect(robot, &OClient1::connected, this, &Wizard::greet);
    connect(robot, &OClient1::videoFrame, this, &Wizard::showVideo);
    connect(robot, &OClient1::seen, this, [this](const Faces &faces) { m_faces = faces; });
    connect(robot, &OClient1::heard, this, &Wizard::showUtterance);
    connect(robot, &OClient1::speakGesture, this, [this](int id) { tell(tr("makes gesture %1").arg(id)); });
    connect(robot, &OClient1::disconnected, this, [this] { tell(m_robot->error().message()); });
}

QWidget *Wizard::gestures()
{
    auto *buttons = new QWidget;
    auto *grid = new QGridLayout(buttons);
    for (int id = 0; id < oz::MAX_GESTURES; ++id) {
        auto *button = new QPushButton(QString::fromLatin1(oz::gestureTag(id)));
        connect(button, &QPushButton::clicked, m_robot, [this, id] { m_robot->gesture(id); });
        grid->addWidget(button, id / 7, id % 7);
    }
    return buttons;
}

/// In the window, and where the program was started.
void Wizard::tell(const QString &what)
{
    m_log->appendPlainText(what);
    std::puts(qPrintable(what));
    std::fflush(stdout);
}

void Wizard::say(const QString &text)
{
    tell(tr("says \"%1\"").arg(text));
    m_robot->setExpression(oz::EXPRESSION_HAPPY);
    m_robot->speak(text).then(this, [this](const oz::Error &error) {
        tell(error ? error.message() : tr("has spoken"));
        if (!error && !m_robot->speaking())
            m_robot->setExpression(oz::EXPRESSION_NEUTRAL);
    });
}

void Wizard::greet()
{
    setWindowTitle(m_robot->longName());
    tell(tr("operating %1: %2").arg(m_robot->name(), m_robot->longName()));
    m_robot->setLookAt(oz::LOOKAT_LARGEST);
    // eyes that never move look dead
    m_robot->setRandomEyesWeight(0.3F);
}

void Wizard::showVideo(const QImage &image)
{
    if (image.isNull())
        return;
    QPixmap pixmap = QPixmap::fromImage(image);
    QPainter painter(&pixmap);
    painter.setPen(Qt::yellow);
    // centres from -1 to 1, sizes from 0 to 1
    painter.scale(pixmap.width(), pixmap.height());
    QPen pen(Qt::yellow, 2);
    pen.setCosmetic(true);
    painter.setPen(pen);
    for (const oz::Face &face : qAsConst(m_faces.face)) {
        const QPointF centre(double(face.x + 1) / 2, double(face.y + 1) / 2);
        const QSizeF size(double(face.xsize), double(face.ysize));
        painter.drawRect(QRectF(centre - QPointF(size.width() / 2, size.height() / 2), size));
    }
    painter.end();
    m_video->setPixmap(pixmap);
}

void Wizard::showUtterance(const Utterance &utterance)
{
    for (const oz::Option &option : utterance.option)
        tell(tr("hears \"%1\" (%2%)").arg(option.text).arg(qRound(100 * option.confidence)));
}

} // namespace

int main(int argc, char **argv)
{
    QApplication application(argc, argv);
    QCommandLineParser parser;
    parser.setApplicationDescription("A small Wizard of Oz.");
    parser.addHelpOption();
    const QString here = QStringLiteral("127.0.0.1:%1").arg(oz::OZ_PORT);
    parser.addOptions({{"robot", "where the robot listens", "ADDRESS", here}, {"say", "what to say first", "TEXT"}});
    parser.process(application);

    OClient1 robot;
    robot.setReconnectDelay(2000);
    Wizard wizard(&robot);
    wizard.show();
    const QString address = parser.value("robot");
    const int colon = address.lastIndexOf(':');
    robot.connectToHost(address.left(colon), colon < 0 ? quint16(oz::OZ_PORT) : address.mid(colon + 1).toUShort());
    if (!robot.waitForConnected()) {
        std::fprintf(stderr, "%s\n", qPrintable(robot.error().message()));
        return EXIT_FAILURE;
    }
    if (parser.isSet("say"))
        wizard.say(parser.value("say"));
    const int status = application.exec();
    // so that the last request arrives
    robot.disconnectFromHost();
    robot.waitForDisconnected();
    return status;
}

#include "wizard.moc"
