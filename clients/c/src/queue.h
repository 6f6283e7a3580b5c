/* Events that wait to be read.
 *
 * It is bounded: it loses the oldest events, and of images all but the newest few. What it keeps is in memory that is there from
 * the beginning, except for large messages, whose memory it takes over.
 */

#ifndef OZ_QUEUE_H
#define OZ_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec.h"

enum {
    OZ_QUEUE_EVENTS = 4096,
    OZ_QUEUE_IMAGES = 8,
    OZ_QUEUE_BYTES = 4 * 1024 * 1024,
    /* the longest message that is kept without memory of its own */
    OZ_SMALL_MESSAGE = 64 * 1024
};

enum oz_entry_kind {
    OZ_ENTRY_NOTHING, /* an image that was dropped */
    OZ_ENTRY_OWN,     /* an event of this client: `type` with `gesture`, or with `error` and a text */
    OZ_ENTRY_MESSAGE, /* a message of the robot */
    OZ_ENTRY_IMAGE    /* one with an image */
};

struct oz_entry {
    enum oz_entry_kind kind;
    enum oz_event_type type;
    uint32_t gesture;
    enum oz_error error;
    uint8_t *own;  /* the message, if it is large */
    size_t length; /* of what is kept among the bytes */
};

struct oz_queue {
    struct oz_entry entries[OZ_QUEUE_EVENTS];
    size_t first, count;
    size_t images;
    size_t first_byte, byte_count;
    uint8_t bytes[OZ_QUEUE_BYTES];
};

/* What an event that was taken points to. */
struct oz_taken {
    uint8_t *own;
    union oz_lists lists;
    uint8_t bytes[OZ_SMALL_MESSAGE];
};

void oz_queue_push(struct oz_queue *queue, const struct oz_entry *entry, const void *bytes);
/* Takes the oldest event; false if there is none. */
bool oz_queue_take(struct oz_queue *queue, struct oz_taken *taken, struct oz_event *event);
void oz_queue_clear(struct oz_queue *queue, struct oz_taken *taken);

#endif
