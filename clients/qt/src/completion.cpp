#include "completion.h"

#include <QEventLoop>
#include <QTimer>

namespace oz {

void CompletionState::finish(const Error &end)
{
    isFinished = true;
    error = end;
    emit finished(end);
}

Completion::Completion(const Error &error) : m_state(new CompletionState)
{
    m_state->finish(error);
}

bool Completion::isFinished() const
{
    return m_state->isFinished;
}

Error Completion::error() const
{
    return m_state->error;
}

bool Completion::wait(int msecs) const
{
    // it must outlive the loop, even if this completion does not
    const QSharedPointer<CompletionState> state = m_state;
    if (!state->isFinished) {
        QEventLoop loop;
        QObject::connect(state.data(), &CompletionState::finished, &loop, &QEventLoop::quit);
        if (msecs >= 0)
            QTimer::singleShot(msecs, &loop, &QEventLoop::quit);
        loop.exec();
    }
    return state->isFinished && !state->error;
}

void Completion::then(QObject *context, const std::function<void(const Error &)> &callback) const
{
    const Error error = m_state->error;
    if (m_state->isFinished)
        QTimer::singleShot(0, context, [error, callback] { callback(error); });
    else
        QObject::connect(m_state.data(), &CompletionState::finished, context, callback);
}

} // namespace oz
