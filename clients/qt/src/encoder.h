// Requests to bytes: a 32-bit id, and then the fields. All numbers are big-endian.

#ifndef OZ_ENCODER_H
#define OZ_ENCODER_H

#include "oz_types.h"

#include <QByteArray>

namespace oz {

/// Appends what is given to it; the first value that cannot be sent is an error.
class Encoder
{
public:
    explicit Encoder(quint32 message) { word(message); }

    Encoder &word(quint32 value);
    /// A number from 0 to `count` - 1.
    Encoder &id(const char *what, int value, int count);
    /// A number that has to be finite.
    Encoder &number(const char *what, float value);
    Encoder &text(const QString &text);

    QByteArray bytes() const { return m_bytes; }
    Error error() const { return m_error; }

private:
    void fail(Error::Kind kind, const QString &message);

    QByteArray m_bytes;
    Error m_error;
};

} // namespace oz

#endif
