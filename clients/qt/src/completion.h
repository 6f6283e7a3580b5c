#ifndef OZ_COMPLETION_H
#define OZ_COMPLETION_H

#include "oz_types.h"

namespace oz {

/// What copies of a completion share.
class CompletionState : public QObject
{
    Q_OBJECT

public:
    void finish(const Error &error);

    bool isFinished = false;
    Error error;

signals:
    void finished(const oz::Error &error);
};

} // namespace oz

#endif
