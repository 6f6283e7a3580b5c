#include "codec.h"

#include <string.h>

/* The smallest version; all message ids are smaller. */
static const uint32_t first_version = 0x01000000;

uint8_t *oz_put_word(uint8_t *to, uint32_t word) {
    for (int shift = 24; shift >= 0; shift -= 8)
        *to++ = (uint8_t)(word >> shift);
    return to;
}

uint8_t *oz_put_float(uint8_t *to, float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return oz_put_word(to, word);
}

uint8_t *oz_put_text(uint8_t *to, const char *text, size_t length) {
    *to++ = (uint8_t)(length >> 8);
    *to++ = (uint8_t)length;
    memcpy(to, text, length);
    return to + length;
}

uint32_t oz_word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static float float_at(const uint8_t *bytes) {
    uint32_t word = oz_word(bytes);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static size_t text_length(const uint8_t *text) { return (size_t)text[0] << 8 | text[1]; }

/* --- the end of a message --- */

/* How far a message is known to reach, and how much of it is there. */
struct cursor {
    const uint8_t *bytes;
    size_t available;
    size_t at;
};

/* These return whether what they have passed over is there. */
static bool skip(struct cursor *cursor, size_t count) {
    cursor->at += count;
    return cursor->at <= cursor->available;
}

static bool read_word(struct cursor *cursor, uint32_t *word) {
    if (!skip(cursor, 4))
        return false;
    *word = oz_word(cursor->bytes + cursor->at - 4);
    return true;
}

static bool skip_text(struct cursor *cursor) {
    return skip(cursor, 2) && skip(cursor, text_length(cursor->bytes + cursor->at - 2));
}

static enum oz_scan scanned(const struct cursor *cursor, bool is_whole, size_t *length) {
    *length = cursor->at;
    return is_whole ? OZ_SCAN_WHOLE : OZ_SCAN_PARTIAL;
}

static enum oz_scan too_many(uint32_t count, const char *what, int most, struct oz_failure *failure) {
    oz_describe(failure, OZ_BAD_MESSAGE, "the robot sent %lu %s; at most %d are read", (unsigned long)count, what, most);
    return OZ_SCAN_BAD;
}

/* Each element of the list has some numbers and a text. */
static bool skip_list(struct cursor *cursor, uint32_t count, size_t numbers) {
    while (count-- > 0)
        if (!skip(cursor, 4 * numbers) || !skip_text(cursor))
            return false;
    return true;
}

enum oz_scan oz_scan_message(const uint8_t *bytes, size_t available, size_t *length, struct oz_failure *failure) {
    struct cursor cursor = {bytes, available, 0};
    uint32_t id, count = 0;
    if (!read_word(&cursor, &id))
        return scanned(&cursor, false, length);
    bool has_count = id == MSG_UTTERANCE || id == MSG_FACES || id == MSG_VIDEO_FRAME;
    if (has_count && !read_word(&cursor, &count))
        return scanned(&cursor, false, length);
    switch (id) {
    case MSG_SPEAK_DONE:
    case MSG_GESTURE_DONE:
        return scanned(&cursor, true, length);
    case MSG_SPEAK_GESTURE:
        return scanned(&cursor, skip(&cursor, 4), length);
    case MSG_UTTERANCE:
        if (count > OZ_MAX_OPTIONS)
            return too_many(count, "options", OZ_MAX_OPTIONS, failure);
        return scanned(&cursor, skip_list(&cursor, count, 1), length);
    case MSG_FACES:
        if (count > OZ_MAX_FACES)
            return too_many(count, "faces", OZ_MAX_FACES, failure);
        return scanned(&cursor, skip_list(&cursor, count, 5), length);
    case MSG_VIDEO_FRAME:
        if (count > OZ_MAX_JPEG)
            return too_many(count, "bytes of an image", OZ_MAX_JPEG, failure);
        return scanned(&cursor, skip(&cursor, count), length);
    default:
        oz_describe(failure, OZ_BAD_MESSAGE, "the robot sent a message with the unknown id 0x%02lx", (unsigned long)id);
        return OZ_SCAN_BAD;
    }
}

enum oz_scan oz_scan_welcome(const uint8_t *bytes, size_t available, size_t *length, struct oz_failure *failure) {
    struct cursor cursor = {bytes, available, 0};
    uint32_t version;
    if (!read_word(&cursor, &version))
        return scanned(&cursor, false, length);
    if (version < first_version) {
        oz_describe(failure, OZ_BAD_MESSAGE, "the robot answered the version request with 0x%lx, which is not a version",
                    (unsigned long)version);
        return OZ_SCAN_BAD;
    }
    /* the rest may look different in another version */
    if (version != OZ_VERSION_1_0) {
        oz_describe(failure, OZ_WRONG_VERSION, "the robot uses protocol version 0x%08lx, this client 0x%08lx",
                    (unsigned long)version, (unsigned long)OZ_VERSION_1_0);
        return OZ_SCAN_BAD;
    }
    return scanned(&cursor, skip_text(&cursor) && skip_text(&cursor), length);
}

/* --- UTF-8 --- */

/* The length of the character at the beginning; 0 if there is none. */
static size_t character_length(const uint8_t *text, size_t length) {
    uint8_t first = text[0], least = 0x80, most = 0xBF;
    size_t count;
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        count = 2;
    else if (first >= 0xE0 && first <= 0xEF)
        count = 3;
    else if (first >= 0xF0 && first <= 0xF4)
        count = 4;
    else
        return 0;
    /* no overlong forms, no surrogates, nothing above U+10FFFF */
    if (first == 0xE0)
        least = 0xA0;
    else if (first == 0xED)
        most = 0x9F;
    else if (first == 0xF0)
        least = 0x90;
    else if (first == 0xF4)
        most = 0x8F;
    if (count > length || text[1] < least || text[1] > most)
        return 0;
    for (size_t i = 2; i < count; i++)
        if (text[i] < 0x80 || text[i] > 0xBF)
            return 0;
    return count;
}

/* Checks the text at `*at`, and moves behind it. */
static bool check_text(const uint8_t **at, const char *what, struct oz_failure *failure) {
    size_t left = text_length(*at);
    const uint8_t *text = *at + 2;
    *at = text + left;
    while (left > 0) {
        size_t length = character_length(text, left);
        if (length == 0) {
            oz_describe(failure, OZ_BAD_MESSAGE, "the robot sent a %s that is not UTF-8", what);
            return false;
        }
        text += length;
        left -= length;
    }
    return true;
}

bool oz_check_message(const uint8_t *message, struct oz_failure *failure) {
    uint32_t id = oz_word(message);
    if (id != MSG_UTTERANCE && id != MSG_FACES)
        return true;
    bool is_utterance = id == MSG_UTTERANCE;
    const uint8_t *at = message + 8;
    for (uint32_t left = oz_word(message + 4); left > 0; left--) {
        at += is_utterance ? 4 : 20;
        if (!check_text(&at, is_utterance ? "text" : "name", failure))
            return false;
    }
    return true;
}

bool oz_check_welcome(const uint8_t *message, struct oz_failure *failure) {
    const uint8_t *at = message + 4;
    return check_text(&at, "name", failure) && check_text(&at, "long name", failure);
}

/* --- what is in a message --- */

/* Terminates the text at `*at`, and moves behind it. Its place is that of its length, so that there is a byte left. */
static const char *take_text(uint8_t **at, size_t *length) {
    uint8_t *text = *at;
    *length = text_length(text);
    *at += 2 + *length;
    memmove(text, text + 2, *length);
    text[*length] = 0;
    return (const char *)text;
}

void oz_decode(uint8_t *message, union oz_lists *lists, struct oz_event *event) {
    uint32_t id = oz_word(message);
    uint8_t *at = message + 8;
    memset(event, 0, sizeof *event);
    if (id == MSG_SPEAK_DONE || id == MSG_GESTURE_DONE) {
        event->type = id == MSG_SPEAK_DONE ? OZ_EVENT_SPEAK_DONE : OZ_EVENT_GESTURE_DONE;
        return;
    }
    uint32_t value = oz_word(message + 4);
    if (id == MSG_SPEAK_GESTURE) {
        event->type = OZ_EVENT_SPEAK_GESTURE;
        event->gesture = value;
    } else if (id == MSG_VIDEO_FRAME) {
        event->type = OZ_EVENT_VIDEO_FRAME;
        event->jpeg = at;
        event->jpeg_length = value;
    } else if (id == MSG_UTTERANCE) {
        event->type = OZ_EVENT_UTTERANCE;
        event->options = lists->options;
        event->option_count = (int)value;
        for (struct oz_option *option = lists->options; option < lists->options + value; option++) {
            option->confidence = float_at(at);
            at += 4;
            option->text = take_text(&at, &option->text_length);
        }
    } else {
        event->type = OZ_EVENT_FACES;
        event->faces = lists->faces;
        event->face_count = (int)value;
        for (struct oz_face *face = lists->faces; face < lists->faces + value; face++) {
            face->confidence = float_at(at);
            face->x = float_at(at + 4);
            face->y = float_at(at + 8);
            face->width = float_at(at + 12);
            face->height = float_at(at + 16);
            at += 20;
            face->name = take_text(&at, &face->name_length);
        }
    }
}

void oz_decode_welcome(uint8_t *message, const char **name, const char **long_name) {
    uint8_t *at = message + 4;
    size_t length;
    *name = take_text(&at, &length);
    *long_name = take_text(&at, &length);
}
