/* Whole messages out of what a socket receives. */

#ifndef OZ_STREAM_H
#define OZ_STREAM_H

#include "codec.h"
#include "queue.h"
#include "socket.h"

struct oz_stream {
    /* what has arrived and was not taken: between `start` and `end`, or in memory of its own if a message is large */
    size_t start, end;
    uint8_t *large;
    size_t large_length, large_size;
    uint8_t bytes[OZ_SMALL_MESSAGE];
};

struct oz_message {
    uint8_t *bytes; /* valid until the next message is taken */
    size_t length;
    uint8_t *own; /* the same, if the message is large: it belongs to who has taken it */
};

/* Forgets everything. */
void oz_stream_clear(struct oz_stream *stream);

/* Takes the next message, and waits for it. On failure it says why the stream has ended: OZ_TIMEOUT if the deadline has come,
 * OZ_CLOSED also if the waker is set. */
bool oz_stream_take(struct oz_stream *stream, oz_socket handle, struct oz_waker *waker, int64_t deadline, oz_scanner scan,
                    struct oz_message *message, struct oz_failure *failure);

#endif
