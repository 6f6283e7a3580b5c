/* Messages to bytes and back.
 *
 * All numbers are big-endian. A message is a 32-bit id followed by its fields; only the answer to the version request has no
 * id. There is no framing: the end of a message follows from its id and the lengths in it.
 */

#ifndef OZ_CODEC_H
#define OZ_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

enum {
    OZ_VERSION_1_0 = 0x01000000,
    /* the longest text, in bytes */
    OZ_MAX_TEXT = 65535,
    /* what is read at most; robots send far less */
    OZ_MAX_OPTIONS = 256,
    OZ_MAX_FACES = 256,
    OZ_MAX_JPEG = 16 * 1024 * 1024,
    /* the longest request: that of the longest text */
    OZ_MAX_REQUEST = 4 + 2 + OZ_MAX_TEXT
};

/* Return the end of what they have written. */
uint8_t *oz_put_word(uint8_t *to, uint32_t word);
uint8_t *oz_put_float(uint8_t *to, float value);
uint8_t *oz_put_text(uint8_t *to, const char *text, size_t length);

uint32_t oz_word(const uint8_t *bytes);

enum oz_scan { OZ_SCAN_PARTIAL, OZ_SCAN_WHOLE, OZ_SCAN_BAD };

/* Looks for the end of a message at the beginning of some bytes. `length` becomes its length, or that which is known to be
 * needed if it is not complete. */
typedef enum oz_scan (*oz_scanner)(const uint8_t *bytes, size_t available, size_t *length, struct oz_failure *failure);
enum oz_scan oz_scan_message(const uint8_t *bytes, size_t available, size_t *length, struct oz_failure *failure);
enum oz_scan oz_scan_welcome(const uint8_t *bytes, size_t available, size_t *length, struct oz_failure *failure);

/* Checks that the texts in a whole message, or answer to the version request, are UTF-8. */
bool oz_check_message(const uint8_t *message, struct oz_failure *failure);
bool oz_check_welcome(const uint8_t *message, struct oz_failure *failure);

/* Lists that an event points to. */
union oz_lists {
    struct oz_option options[OZ_MAX_OPTIONS];
    struct oz_face faces[OZ_MAX_FACES];
};

/* Takes a valid message apart, in place: the event points into it and the lists. */
void oz_decode(uint8_t *message, union oz_lists *lists, struct oz_event *event);

/* The names in a valid answer to the version request, in place. */
void oz_decode_welcome(uint8_t *message, const char **name, const char **long_name);

#endif
