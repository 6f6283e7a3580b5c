#include "encoder.h"

#include <QtEndian>
#include <QtNumeric>

#include <cstring>

namespace oz {

namespace {

// in bytes of UTF-8
constexpr int MaxText = 65535;

template<typename Integer> void append(QByteArray &bytes, Integer value)
{
    const Integer swapped = qToBigEndian(value);
    bytes.append(reinterpret_cast<const char *>(&swapped), sizeof swapped);
}

} // namespace

Encoder &Encoder::word(quint32 value)
{
    append(m_bytes, value);
    return *this;
}

Encoder &Encoder::id(const char *what, int value, int count)
{
    if (value < 0 || value >= count)
        fail(Error::OutOfRange, QStringLiteral("%1 %2 is out of range 0 to %3").arg(QLatin1String(what)).arg(value).arg(count - 1));
    return word(quint32(value));
}

Encoder &Encoder::number(const char *what, float value)
{
    if (!qIsFinite(value))
        fail(Error::NotFinite, QStringLiteral("%1 %2 is not a finite number").arg(QLatin1String(what)).arg(double(value)));
    quint32 bits;
    std::memcpy(&bits, &value, sizeof bits);
    return word(bits);
}

Encoder &Encoder::text(const QString &text)
{
    const QByteArray encoded = text.toUtf8();
    if (encoded.size() > MaxText)
        fail(Error::TextTooLong, QStringLiteral("the text has %1 bytes; at most %2 can be sent").arg(encoded.size()).arg(MaxText));
    append(m_bytes, quint16(encoded.size()));
    m_bytes.append(encoded);
    return *this;
}

void Encoder::fail(Error::Kind kind, const QString &message)
{
    if (!m_error)
        m_error = Error(kind, message);
}

} // namespace oz
