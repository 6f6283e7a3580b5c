#include "decoder.h"

#include "connection.h"
#include "oz_protocol.h"

#include <QTextCodec>
#include <QtEndian>

#include <cstring>

namespace oz {

namespace {

// what is read at most; robots send far less
constexpr quint32 MaxOptions = 256;
constexpr quint32 MaxFaces = 256;
constexpr quint32 MaxJpeg = 16 * 1024 * 1024;

// the smallest version; all message ids are smaller
constexpr quint32 FirstVersion = 0x01000000;

QString hex(quint32 number, int digits)
{
    return QStringLiteral("0x%1").arg(number, digits, 16, QLatin1Char('0'));
}

} // namespace

/// Goes through a message. Values beyond its end are 0, and `isBeyond` says so.
class Cursor
{
public:
    Cursor(const char *data, int size) : m_data(data), m_size(size) {}

    int at() const { return m_at; }
    bool isBeyond() const { return m_at > m_size; }

    const char *skip(int count)
    {
        m_at += count;
        return isBeyond() ? nullptr : m_data + m_at - count;
    }

    quint32 word()
    {
        const char *bytes = skip(4);
        return bytes ? qFromBigEndian<quint32>(bytes) : 0;
    }

    float number()
    {
        const quint32 bits = word();
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    QByteArray textBytes()
    {
        const char *bytes = skip(2);
        const int length = bytes ? qFromBigEndian<quint16>(bytes) : 0;
        const char *text = skip(length);
        return text ? QByteArray::fromRawData(text, length) : QByteArray();
    }

    /// A text; one that is not UTF-8 is an error.
    QString text(const char *what, Error *error)
    {
        static QTextCodec *const utf8 = QTextCodec::codecForName("UTF-8");
        const QByteArray bytes = textBytes();
        // a byte order mark is a character
        QTextCodec::ConverterState state(QTextCodec::IgnoreHeader);
        const QString text = utf8->toUnicode(bytes.constData(), bytes.size(), &state);
        if (state.invalidChars > 0 || state.remainingChars > 0)
            *error = Error(Error::BadMessage, QStringLiteral("the robot sent a %1 that is not UTF-8").arg(QLatin1String(what)));
        return text;
    }

private:
    const char *m_data;
    int m_size;
    int m_at = 0;
};

namespace {

/// A count, or 0 with an error if it is too large.
quint32 count(Cursor &cursor, const char *what, quint32 most, Error *error)
{
    const quint32 count = cursor.word();
    if (count <= most)
        return count;
    *error = Error(Error::BadMessage,
                   QStringLiteral("the robot sent %1 %2; at most %3 are read").arg(count).arg(QLatin1String(what)).arg(most));
    return 0;
}

bool measureWelcome(Cursor &cursor, Error *error)
{
    const quint32 version = cursor.word();
    if (cursor.isBeyond())
        return false;
    if (version < FirstVersion) {
        const QString answer = QStringLiteral("the robot answered the version request with %1, which is not a version");
        *error = Error(Error::BadMessage, answer.arg(hex(version, 2)));
        return false;
    }
    // the rest may look different in another version
    if (version != Version) {
        const QString versions = QStringLiteral("the robot uses protocol version %1, this client %2");
        *error = Error(Error::WrongVersion, versions.arg(hex(version, 8), hex(Version, 8)));
        return false;
    }
    for (int text = 0; text < 2 && !cursor.isBeyond(); ++text)
        cursor.textBytes();
    return !cursor.isBeyond();
}

/// Goes through a list whose items have a text behind other fields.
void measureList(Cursor &cursor, quint32 count, int fields)
{
    for (quint32 item = 0; item < count && !cursor.isBeyond(); ++item) {
        cursor.skip(fields);
        if (!cursor.isBeyond())
            cursor.textBytes();
    }
}

bool measureEvent(Cursor &cursor, Error *error)
{
    const quint32 id = cursor.word();
    if (cursor.isBeyond())
        return false;
    switch (id) {
    case MSG_SPEAK_DONE:
    case MSG_GESTURE_DONE:
        break;
    case MSG_SPEAK_GESTURE:
        cursor.skip(4);
        break;
    case MSG_UTTERANCE:
        measureList(cursor, count(cursor, "options", MaxOptions, error), 4);
        break;
    case MSG_FACES:
        measureList(cursor, count(cursor, "faces", MaxFaces, error), 20);
        break;
    case MSG_VIDEO_FRAME:
        cursor.skip(int(count(cursor, "bytes of an image", MaxJpeg, error)));
        break;
    default:
        *error = Error(Error::BadMessage, QStringLiteral("the robot sent a message with the unknown id %1").arg(hex(id, 2)));
    }
    return !*error && !cursor.isBeyond();
}

Utterance readUtterance(Cursor &cursor, Error *error)
{
    Utterance utterance;
    utterance.options = int(cursor.word());
    for (int number = 0; number < utterance.options; ++number) {
        oz::Option option;
        option.confidence = cursor.number();
        option.text = cursor.text("text", error);
        utterance.option.append(option);
    }
    return utterance;
}

Faces readFaces(Cursor &cursor, Error *error)
{
    Faces faces;
    faces.faces = int(cursor.word());
    for (int number = 0; number < faces.faces; ++number) {
        Face face;
        for (float *field : {&face.confidence, &face.x, &face.y, &face.xsize, &face.ysize})
            *field = cursor.number();
        face.identity = cursor.text("name", error);
        faces.face.append(face);
    }
    return faces;
}

} // namespace

void Decoder::append(const QByteArray &bytes)
{
    // so that each byte is moved once on average
    if (m_begin > m_bytes.size() / 2) {
        m_bytes.remove(0, m_begin);
        m_begin = 0;
    }
    m_bytes.append(bytes);
}

bool Decoder::isComplete(bool (*measure)(Cursor &, Error *))
{
    const int size = m_bytes.size() - m_begin;
    if (m_error || size < m_needed)
        return false;
    Cursor cursor(m_bytes.constData() + m_begin, size);
    const bool isComplete = measure(cursor, &m_error);
    m_needed = isComplete ? 0 : cursor.at();
    return isComplete;
}

bool Decoder::take(Welcome *welcome)
{
    if (!isComplete(measureWelcome))
        return false;
    Cursor cursor(m_bytes.constData() + m_begin, m_bytes.size() - m_begin);
    welcome->version = cursor.word();
    welcome->name = cursor.text("name", &m_error);
    welcome->longName = cursor.text("long name", &m_error);
    m_begin += cursor.at();
    return !m_error;
}

bool Decoder::take(Event *event)
{
    if (!isComplete(measureEvent))
        return false;
    Cursor cursor(m_bytes.constData() + m_begin, m_bytes.size() - m_begin);
    *event = Event();
    switch (cursor.word()) {
    case MSG_SPEAK_DONE:
        event->kind = Event::SpeakDone;
        break;
    case MSG_GESTURE_DONE:
        event->kind = Event::GestureDone;
        break;
    case MSG_SPEAK_GESTURE:
        event->kind = Event::SpeakGesture;
        event->gesture = int(cursor.word());
        break;
    case MSG_UTTERANCE:
        event->kind = Event::Heard;
        event->utterance = readUtterance(cursor, &event->error);
        break;
    case MSG_FACES:
        event->kind = Event::Seen;
        event->faces = readFaces(cursor, &event->error);
        break;
    case MSG_VIDEO_FRAME: {
        event->kind = Event::VideoFrame;
        const int length = int(cursor.word());
        event->jpeg = QByteArray(cursor.skip(length), length);
        break;
    }
    }
    if (event->error)
        event->kind = Event::Invalid;
    m_begin += cursor.at();
    return true;
}

} // namespace oz
