#include "queue.h"

#include <stdlib.h>
#include <string.h>

/* Removes the oldest entry; copies its bytes. */
static struct oz_entry remove_first(struct oz_queue *queue, uint8_t *to) {
    struct oz_entry entry = queue->entries[queue->first];
    if (to != NULL && entry.length > 0) {
        size_t to_end = OZ_QUEUE_BYTES - queue->first_byte;
        size_t part = entry.length < to_end ? entry.length : to_end;
        memcpy(to, queue->bytes + queue->first_byte, part);
        memcpy(to + part, queue->bytes, entry.length - part);
    }
    queue->first = (queue->first + 1) % OZ_QUEUE_EVENTS;
    queue->count--;
    queue->first_byte = (queue->first_byte + entry.length) % OZ_QUEUE_BYTES;
    queue->byte_count -= entry.length;
    if (entry.kind == OZ_ENTRY_IMAGE)
        queue->images--;
    /* as long as the program keeps up, only the first pages are touched */
    if (queue->count == 0)
        queue->first = queue->first_byte = 0;
    return entry;
}

static void drop_oldest_image(struct oz_queue *queue) {
    for (size_t i = 0; i < queue->count; i++) {
        struct oz_entry *entry = &queue->entries[(queue->first + i) % OZ_QUEUE_EVENTS];
        if (entry->kind == OZ_ENTRY_IMAGE) {
            free(entry->own);
            entry->own = NULL;
            entry->kind = OZ_ENTRY_NOTHING;
            queue->images--;
            return;
        }
    }
}

void oz_queue_push(struct oz_queue *queue, const struct oz_entry *entry, const void *bytes) {
    if (entry->kind == OZ_ENTRY_IMAGE && queue->images++ == OZ_QUEUE_IMAGES)
        drop_oldest_image(queue);
    while (queue->count == OZ_QUEUE_EVENTS || OZ_QUEUE_BYTES - queue->byte_count < entry->length)
        free(remove_first(queue, NULL).own);
    if (entry->length > 0) {
        size_t end = (queue->first_byte + queue->byte_count) % OZ_QUEUE_BYTES;
        size_t part = entry->length < OZ_QUEUE_BYTES - end ? entry->length : OZ_QUEUE_BYTES - end;
        memcpy(queue->bytes + end, bytes, part);
        memcpy(queue->bytes, (const uint8_t *)bytes + part, entry->length - part);
        queue->byte_count += entry->length;
    }
    queue->entries[(queue->first + queue->count++) % OZ_QUEUE_EVENTS] = *entry;
}

bool oz_queue_take(struct oz_queue *queue, struct oz_taken *taken, struct oz_event *event) {
    struct oz_entry entry = {OZ_ENTRY_NOTHING, OZ_EVENT_CONNECTED, 0, OZ_OK, NULL, 0};
    while (entry.kind == OZ_ENTRY_NOTHING) {
        if (queue->count == 0)
            return false;
        entry = remove_first(queue, taken->bytes);
    }
    free(taken->own);
    taken->own = entry.own;
    if (entry.kind == OZ_ENTRY_OWN) {
        memset(event, 0, sizeof *event);
        event->type = entry.type;
        event->gesture = entry.gesture;
        event->error = entry.error;
        event->message = entry.length > 0 ? (const char *)taken->bytes : NULL;
    } else {
        oz_decode(entry.own != NULL ? entry.own : taken->bytes, &taken->lists, event);
    }
    return true;
}

void oz_queue_clear(struct oz_queue *queue, struct oz_taken *taken) {
    while (queue->count > 0)
        free(remove_first(queue, NULL).own);
    free(taken->own);
    taken->own = NULL;
}
