#include "stream.h"

#include <stdlib.h>
#include <string.h>

void oz_stream_clear(struct oz_stream *stream) {
    free(stream->large);
    stream->large = NULL;
    stream->start = stream->end = 0;
}

/* Makes room for a message of this length, or of more. */
static bool reserve(struct oz_stream *stream, size_t length) {
    size_t pending = stream->end - stream->start;
    if (stream->large == NULL && length <= sizeof stream->bytes) {
        if (stream->start + length > sizeof stream->bytes) {
            memmove(stream->bytes, stream->bytes + stream->start, pending);
            stream->start = 0;
            stream->end = pending;
        }
        return true;
    }
    if (stream->large != NULL && length <= stream->large_size)
        return true;
    /* it may turn out to be longer again; an image does not */
    size_t size = stream->large != NULL && length < 2 * stream->large_size ? 2 * stream->large_size : length;
    uint8_t *large = realloc(stream->large, size);
    if (large == NULL)
        return false;
    if (stream->large == NULL) {
        /* all of it belongs to this message, which is longer */
        memcpy(large, stream->bytes + stream->start, pending);
        stream->large_length = pending;
        stream->start = stream->end = 0;
    }
    stream->large = large;
    stream->large_size = size;
    return true;
}

/* Receives more. Into memory of its own, only what is known to belong to the message: it needs `length` bytes. */
static enum oz_outcome receive(struct oz_stream *stream, oz_socket handle, struct oz_waker *waker, int64_t deadline,
                               size_t length) {
    size_t received = 0;
    enum oz_outcome outcome;
    if (stream->large != NULL) {
        outcome = oz_socket_receive(handle, waker, deadline, stream->large + stream->large_length,
                                    length - stream->large_length, &received);
        stream->large_length += received;
    } else {
        outcome = oz_socket_receive(handle, waker, deadline, stream->bytes + stream->end, sizeof stream->bytes - stream->end,
                                    &received);
        stream->end += received;
    }
    return outcome;
}

static void describe(const struct oz_stream *stream, enum oz_outcome outcome, struct oz_failure *failure) {
    if (outcome == OZ_OUTCOME_LATE)
        oz_describe(failure, OZ_TIMEOUT, "the robot did not answer in time");
    else if (outcome == OZ_OUTCOME_WOKEN)
        oz_describe(failure, OZ_CLOSED, "this client has closed the connection");
    else if (stream->large != NULL || stream->start < stream->end)
        oz_describe(failure, OZ_TRUNCATED, "the connection was closed in the middle of a message");
    else
        oz_describe(failure, OZ_CLOSED, "the robot has closed the connection; its log may say why");
}

static void take(struct oz_stream *stream, size_t length, struct oz_message *message) {
    message->own = stream->large;
    message->bytes = stream->large != NULL ? stream->large : stream->bytes + stream->start;
    message->length = length;
    if (stream->large != NULL)
        stream->large = NULL;
    else if ((stream->start += length) == stream->end)
        stream->start = stream->end = 0;
}

bool oz_stream_take(struct oz_stream *stream, oz_socket handle, struct oz_waker *waker, int64_t deadline, oz_scanner scan,
                    struct oz_message *message, struct oz_failure *failure) {
    for (;;) {
        bool is_large = stream->large != NULL;
        const uint8_t *bytes = is_large ? stream->large : stream->bytes + stream->start;
        size_t length, available = is_large ? stream->large_length : stream->end - stream->start;
        enum oz_scan scanned = scan(bytes, available, &length, failure);
        if (scanned == OZ_SCAN_BAD)
            return false;
        if (scanned == OZ_SCAN_WHOLE) {
            take(stream, length, message);
            return true;
        }
        if (!reserve(stream, length)) {
            oz_describe(failure, OZ_OUT_OF_RESOURCES, "no memory for a message of %lu bytes", (unsigned long)length);
            return false;
        }
        enum oz_outcome outcome = receive(stream, handle, waker, deadline, length);
        if (outcome != OZ_OUTCOME_DONE) {
            describe(stream, outcome, failure);
            return false;
        }
    }
}
