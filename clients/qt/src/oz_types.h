// What a robot reports, what can go wrong, and the ends of texts and gestures.

#ifndef OZ_TYPES_H
#define OZ_TYPES_H

#include <QList>
#include <QMetaType>
#include <QObject>
#include <QSharedPointer>
#include <QString>

#include <functional>

namespace oz {

/// What has gone wrong.
class Error
{
public:
    enum Kind {
        None,
        Unreachable, ///< no connection could be made: the name is unknown, or nobody listens
        Timeout, ///< the robot did not answer, or did not read requests, in time
        WrongVersion, ///< the robot uses another version of the protocol
        Closed, ///< the connection is closed; the robot's log says why
        Truncated, ///< the connection was closed in the middle of a message
        BadMessage, ///< the robot sent a message that is not valid
        NotFinite, ///< a number is infinite or NaN; nothing was sent
        OutOfRange, ///< the protocol has no such expression, lookat mode or servo; nothing was sent
        TextTooLong ///< a text has more bytes than a message can have; nothing was sent
    };

    Error() = default;
    Error(Kind kind, const QString &message) : m_kind(kind), m_message(message) {}

    Kind kind() const { return m_kind; }
    /// For the user, in English.
    QString message() const { return m_message; }
    explicit operator bool() const { return m_kind != None; }

private:
    Kind m_kind = None;
    QString m_message;
};

/// What the robot may have heard.
struct Option
{
    float confidence = 0; ///< 0 to 1
    QString text;
};

/// A face in the image.
struct Face
{
    float confidence = 0; ///< 0 to 1
    float x = 0; ///< centre: -1 is the left edge of the image, 1 the right one
    float y = 0; ///< centre: -1 is the top edge of the image, 1 the bottom one
    float xsize = 0; ///< as a fraction of the image's width
    float ysize = 0; ///< as a fraction of the image's height
    QString identity; ///< the person's name; empty if it is not known
};

class CompletionState;

/// The end of a text or a gesture; it may be ignored. The robot does not tell which of several gestures has ended, so a
/// gesture has ended when none of this client is playing any more.
class Completion
{
public:
    /// Of something that was not sent: finished, with this error.
    explicit Completion(const Error &error = Error());
    explicit Completion(const QSharedPointer<CompletionState> &state) : m_state(state) {}

    /// Whether it has ended, or the connection has.
    bool isFinished() const;
    /// Why it has not ended as it should: nothing was sent, or the connection was lost.
    Error error() const;
    /// Waits for the end in an event loop. Returns false on timeout and if there is an error. -1: no timeout.
    bool wait(int msecs = -1) const;
    /// Calls back, in the context's thread, when it is finished; with an error as well. Not if the context is deleted before.
    void then(QObject *context, const std::function<void(const Error &)> &callback) const;

private:
    QSharedPointer<CompletionState> m_state;
};

} // namespace oz

/// Speech that the robot has recognised.
struct Utterance
{
    int options = 0; ///< the number of options
    QList<oz::Option> option; ///< the likeliest one first
};

/// The faces that the robot sees; none when the last one has disappeared.
struct Faces
{
    int faces = 0; ///< the number of faces
    QList<oz::Face> face;
};

Q_DECLARE_METATYPE(oz::Error)
Q_DECLARE_METATYPE(oz::Completion)
Q_DECLARE_METATYPE(Utterance)
Q_DECLARE_METATYPE(Faces)

#endif
