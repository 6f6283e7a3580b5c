// Bytes to messages. There is no framing: the end of a message follows from its id and the lengths in it.

#ifndef OZ_DECODER_H
#define OZ_DECODER_H

#include "oz_types.h"

#include <QByteArray>

namespace oz {

/// The answer to the version request.
struct Welcome
{
    quint32 version = 0;
    QString name;
    QString longName;
};

/// A message of the robot.
struct Event
{
    enum Kind { SpeakDone, GestureDone, SpeakGesture, Heard, Seen, VideoFrame, Invalid };

    Kind kind = Invalid;
    int gesture = 0;
    Utterance utterance;
    Faces faces;
    QByteArray jpeg;
    Error error;
};

class Cursor;

/// Takes a stream apart: the answer to the version request, and then messages.
class Decoder
{
public:
    void append(const QByteArray &bytes);
    /// Whether no message has arrived in part.
    bool isBetweenMessages() const { return m_begin == m_bytes.size(); }

    /// The answer; false if it has not arrived completely, or there is an error.
    bool take(Welcome *welcome);
    /// The next message, likewise.
    bool take(Event *event);
    /// After an error the stream cannot be read on.
    Error error() const { return m_error; }

private:
    /// Whether a message has arrived completely. Nothing is read from it before: that would be done again for each of its parts.
    bool isComplete(bool (*measure)(Cursor &, Error *));

    QByteArray m_bytes;
    int m_begin = 0;
    /// How many bytes must be there before it is worth while to look at them.
    int m_needed = 0;
    Error m_error;
};

} // namespace oz

#endif
