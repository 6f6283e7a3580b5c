#define _POSIX_C_SOURCE 200809L

#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void line_begin(void) { flockfile(stdout); }

void line_end(void) {
    putchar('\n');
    fflush(stdout);
    funlockfile(stdout);
}

void put(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
}

void put_text(const char *text, size_t length) {
    putchar('"');
    while (length > 0) {
        size_t plain = 0;
        while (plain < length && (unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\')
            plain++;
        fwrite(text, 1, plain, stdout);
        if (plain < length)
            printf("\\u%04x", (unsigned)(unsigned char)text[plain++]);
        text += plain;
        length -= plain;
    }
    putchar('"');
}

void put_number(float number) {
    if (isfinite(number))
        printf("%.9g", (double)number);
    else
        put(isnan(number) ? "\"NaN\"" : number > 0 ? "\"inf\"" : "\"-inf\"");
}

void put_failure(enum oz_error error, const char *message) {
    static const char *const kinds[] = {
        [OZ_OK] = "ok",
        [OZ_UNREACHABLE] = "unreachable",
        [OZ_TIMEOUT] = "timeout",
        [OZ_WRONG_VERSION] = "wrong_version",
        [OZ_CLOSED] = "closed",
        [OZ_TRUNCATED] = "truncated",
        [OZ_BAD_MESSAGE] = "bad_message",
        [OZ_NOT_FINITE] = "not_finite",
        [OZ_OUT_OF_RANGE] = "out_of_range",
        [OZ_TEXT_TOO_LONG] = "text_too_long",
        [OZ_OUT_OF_RESOURCES] = "out_of_resources",
        [OZ_MISUSE] = "misuse",
    };
    put("{\"kind\":\"%s\",\"message\":", kinds[error]);
    put_text(message, strlen(message));
    put("}");
}

static void put_options(const struct oz_event *event) {
    put(",\"options\":[");
    for (int i = 0; i < event->option_count; i++) {
        put(i == 0 ? "{\"confidence\":" : ",{\"confidence\":");
        put_number(event->options[i].confidence);
        put(",\"text\":");
        put_text(event->options[i].text, event->options[i].text_length);
        put("}");
    }
    put("]");
}

static void put_faces(const struct oz_event *event) {
    put(",\"faces\":[");
    for (int i = 0; i < event->face_count; i++) {
        const struct oz_face *face = &event->faces[i];
        const struct {
            const char *name;
            float value;
        } numbers[] = {{"confidence", face->confidence}, {"x", face->x}, {"y", face->y}, {"width", face->width},
                       {"height", face->height}};
        put(i == 0 ? "{" : ",{");
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            put("\"%s\":", numbers[k].name);
            put_number(numbers[k].value);
            put(",");
        }
        put("\"name\":");
        put_text(face->name, face->name_length);
        put("}");
    }
    put("]");
}

static void put_jpeg(const struct oz_event *event) {
    static const char digits[] = "0123456789abcdef";
    char hex[8192];
    size_t length = 0;
    put(",\"jpeg\":\"");
    for (size_t i = 0; i < event->jpeg_length; i++) {
        hex[length++] = digits[event->jpeg[i] >> 4];
        hex[length++] = digits[event->jpeg[i] & 15];
        if (length == sizeof hex || i + 1 == event->jpeg_length) {
            fwrite(hex, 1, length, stdout);
            length = 0;
        }
    }
    put("\"");
}

static void put_fields(const struct oz_event *event) {
    switch (event->type) {
    case OZ_EVENT_CONNECTED:
    case OZ_EVENT_SPEAK_START:
    case OZ_EVENT_SPEAK_DONE:
    case OZ_EVENT_GESTURE_DONE:
        break;
    case OZ_EVENT_GESTURE_START:
    case OZ_EVENT_SPEAK_GESTURE:
        put(",\"gesture\":%lu", (unsigned long)event->gesture);
        break;
    case OZ_EVENT_UTTERANCE:
        put_options(event);
        break;
    case OZ_EVENT_FACES:
        put_faces(event);
        break;
    case OZ_EVENT_VIDEO_FRAME:
        put_jpeg(event);
        break;
    case OZ_EVENT_DISCONNECTED:
    case OZ_EVENT_CONNECT_FAILED:
    case OZ_EVENT_INVALID_MESSAGE:
        put(event->type == OZ_EVENT_DISCONNECTED ? ",\"reason\":" : ",\"error\":");
        if (event->error == OZ_OK)
            put("null");
        else
            put_failure(event->error, event->message);
        break;
    }
}

void report_event(const char *client, const struct oz_event *event) {
    static const char *const names[] = {
        [OZ_EVENT_CONNECTED] = "connected",
        [OZ_EVENT_DISCONNECTED] = "disconnected",
        [OZ_EVENT_CONNECT_FAILED] = "connect_failed",
        [OZ_EVENT_SPEAK_START] = "speak_start",
        [OZ_EVENT_SPEAK_DONE] = "speak_done",
        [OZ_EVENT_GESTURE_START] = "gesture_start",
        [OZ_EVENT_GESTURE_DONE] = "gesture_done",
        [OZ_EVENT_SPEAK_GESTURE] = "speak_gesture",
        [OZ_EVENT_UTTERANCE] = "utterance",
        [OZ_EVENT_FACES] = "faces",
        [OZ_EVENT_VIDEO_FRAME] = "video_frame",
        [OZ_EVENT_INVALID_MESSAGE] = "invalid_message",
    };
    line_begin();
    put("{\"client\":\"%s\",\"event\":\"%s\"", client, names[event->type]);
    put_fields(event);
    put("}");
    line_end();
}
