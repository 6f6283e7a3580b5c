/* A client for the Oz Robot Puppeteering System, protocol 1.0.
 *
 *     OZ robot = oz_connect("127.0.0.1", OZ_PORT);
 *     if (robot == NULL) {
 *         fprintf(stderr, "%s\n", oz_error_message());
 *         return 1;
 *     }
 *     oz_set_expression(robot, EXPRESSION_HAPPY);
 *     oz_speak(robot, "[braisel]Hello, who are you?");
 *     oz_wait_for_speak(robot, -1);
 *     oz_disconnect(robot);
 *
 * Functions that return `int` return -1 if they fail; oz_error() and oz_error_message() say why. They may be called in any
 * thread, also in callbacks. With NULL for a robot they fail with OZ_CLOSED. All times are in ms. All texts are UTF-8.
 */

#ifndef OZ_H
#define OZ_H

#include <stddef.h>
#include <stdint.h>

#include "oz_protocol.h"

#if defined _WIN32 && defined OZ_BUILDS_DLL
#define OZ_API __declspec(dllexport)
#elif defined __GNUC__
#define OZ_API __attribute__((visibility("default")))
#else
#define OZ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A robot, as seen by this client. */
typedef void *OZ;

/* What has gone wrong. */
enum oz_error {
    OZ_OK = 0,
    OZ_UNREACHABLE,      /* no connection could be made: the name is unknown, or nobody listens */
    OZ_TIMEOUT,          /* the robot did not answer, or did not read requests, in time */
    OZ_WRONG_VERSION,    /* the robot uses another version of the protocol */
    OZ_CLOSED,           /* the connection is closed; the robot's log may say why */
    OZ_TRUNCATED,        /* the connection was closed in the middle of a message */
    OZ_BAD_MESSAGE,      /* the robot sent a message that is not valid */
    OZ_NOT_FINITE,       /* a number is infinite or NaN; nothing was sent */
    OZ_OUT_OF_RANGE,     /* there is no such expression, lookat mode, servo, text or gesture; nothing was sent */
    OZ_TEXT_TOO_LONG,    /* a text has more than 65,535 bytes; nothing was sent */
    OZ_OUT_OF_RESOURCES, /* the system has no memory, threads or sockets left */
    OZ_MISUSE            /* the function cannot be used like this; the message says why */
};

/* Why the last call of this thread that failed has failed. */
OZ_API enum oz_error oz_error(void);
OZ_API const char *oz_error_message(void);

/* --- events --- */

enum oz_event_type {
    OZ_EVENT_CONNECTED,       /* the robot has answered; also when a lost connection has been made again */
    OZ_EVENT_DISCONNECTED,    /* the connection has ended: `error` is OZ_OK if this client has closed it */
    OZ_EVENT_CONNECT_FAILED,  /* an attempt to make a lost connection again has failed; another one follows */
    OZ_EVENT_SPEAK_START,     /* this client has sent a text, which the robot starts speaking */
    OZ_EVENT_SPEAK_DONE,      /* a text of this client has been spoken */
    OZ_EVENT_GESTURE_START,   /* this client has started `gesture` */
    OZ_EVENT_GESTURE_DONE,    /* a gesture of this client has ended; the protocol does not say which */
    OZ_EVENT_SPEAK_GESTURE,   /* a tag in a text has started `gesture` */
    OZ_EVENT_UTTERANCE,       /* the robot has recognised speech: `options` */
    OZ_EVENT_FACES,           /* the faces that the robot sees; none when the last one has disappeared */
    OZ_EVENT_VIDEO_FRAME,     /* an image of the robot's camera: `jpeg` */
    OZ_EVENT_INVALID_MESSAGE  /* a text in a message was not UTF-8; it is lost, and the connection goes on */
};

/* What the robot may have heard. */
struct oz_option {
    float confidence; /* 0 to 1 */
    const char *text;
    size_t text_length; /* a text may contain NUL */
};

/* A face in the image. */
struct oz_face {
    float confidence;    /* 0 to 1 */
    float x, y;          /* centre: -1, -1 is the top left corner of the image, 1, 1 the bottom right one */
    float width, height; /* as fractions of the image */
    const char *name;    /* empty if it is not known */
    size_t name_length;
};

/* What a robot or its connection reports. Fields that a type of event does not have are 0. */
struct oz_event {
    enum oz_event_type type;
    uint32_t gesture;
    enum oz_error error; /* of OZ_EVENT_DISCONNECTED, OZ_EVENT_CONNECT_FAILED and OZ_EVENT_INVALID_MESSAGE */
    const char *message; /* what it means */
    const struct oz_option *options; /* the likeliest one first */
    int option_count;
    const struct oz_face *faces;
    int face_count;
    const unsigned char *jpeg;
    size_t jpeg_length;
};

/* Is told each event, in a thread of its own, one after another. The event is valid until it returns. */
typedef void (*oz_callback)(OZ oz, const struct oz_event *event, void *context);

/* Copies the next event, waiting for it for `timeout_ms`, or without a limit if that is negative.
 *
 * Returns 1, or 0 on timeout, or -1 if the connection has ended and no more events will come. What the event points to is
 * valid until the next call; only one thread may read events. With a callback it fails with OZ_MISUSE.
 *
 * A program that does not read events, or whose callback is slow, loses the oldest ones, and of images all but the newest
 * few.
 */
OZ_API int oz_next_event(OZ oz, struct oz_event *event, int timeout_ms);

/* Sets whether images are dropped. */
OZ_API int oz_skip_video(OZ oz, int skip);

/* --- connection --- */

/* Those that are 0 have their defaults. */
struct oz_options {
    int timeout_ms;       /* how long connecting may take, and how long the robot may leave requests unread; default: 10,000 */
    int reconnect_ms;     /* if not 0, a lost connection is made again, with this delay before each attempt */
    oz_callback callback; /* if not NULL, is told the events */
    void *context;        /* what the callback is given */
};

/* Connects to a robot. Returns NULL if that fails. oz_disconnect() frees what is returned. */
OZ_API OZ oz_connect(const char *hostname, int port);
OZ_API OZ oz_connect_with(const char *hostname, int port, const struct oz_options *options);

/* Closes the connection, if it is open, and frees `oz`, which must not be used any more. Waits until the callback has been
 * told all events, unless it is called by the callback itself, which is then told no more. */
OZ_API void oz_disconnect(OZ oz);

/* Closes the connection. `oz` can still be asked about everything, until oz_disconnect(). The robot's settings stay in
 * effect, and it reads what was sent before. */
OZ_API void oz_close(OZ oz);

/* Whether the connection is open. */
OZ_API int oz_is_connected(OZ oz);

/* What the robot has answered; stays after the connection has ended. Valid until oz_disconnect(). */
OZ_API const char *oz_name(OZ oz);
OZ_API const char *oz_long_name(OZ oz);
OZ_API uint32_t oz_version(OZ oz);

/* Restores all defaults of the robot. Speech and gestures stop, and are reported as done. */
OZ_API int oz_reset(OZ oz);

/* --- speech --- */

/* Sends a text, which may have gesture tags ("[nos]Nope."), and returns its number: 1 for the first text of this client.
 * Texts are spoken one after another. */
OZ_API int oz_speak(OZ oz, const char *text);

/* The same for a text that is not terminated, or contains NUL. */
OZ_API int oz_speak_text(OZ oz, const char *text, size_t length);

/* Whether texts of this client have not been spoken yet. */
OZ_API int oz_is_speaking(OZ oz);

/* These wait until all texts of this client, or the one with this number, have been spoken. They return 1, or 0 if that takes
 * longer than `timeout_ms`, or -1 if the connection ends before, or had ended. They wait without a limit if `timeout_ms` is
 * negative. A text of an earlier connection counts as lost. */
OZ_API int oz_wait_for_speak(OZ oz, int timeout_ms);
OZ_API int oz_wait_for_text(OZ oz, int number, int timeout_ms);

/* --- gestures --- */

/* Starts a gesture, GESTURE_* or another one of the robot, and returns its number: 1 for the first of this client. */
OZ_API int oz_set_gesture(OZ oz, int id);

/* Whether gestures of this client are playing, including those in its texts. */
OZ_API int oz_is_gesturing(OZ oz);

/* As those for texts. Several gestures can play at once, and the robot does not tell which one has ended. So all are taken to
 * have ended when none is playing any more. */
OZ_API int oz_wait_for_gesture(OZ oz, int timeout_ms);
OZ_API int oz_wait_for_gesture_number(OZ oz, int number, int timeout_ms);

/* What starts a gesture inside a text: "[nos]"; NULL if the document has no such gesture. */
OZ_API const char *oz_gesture_tag(int id);

/* --- settings ---
 *
 * Setters send a request and return 0. Getters return what this client has set last, or the default: the protocol has no
 * queries, and what others have set is not known. Numbers that are merely out of range are sent, and the robot decides what
 * they mean. */

OZ_API int oz_set_voice_gender_language(OZ oz, int vgl); /* VGL_* */
OZ_API int oz_get_voice_gender_language(OZ oz);
OZ_API int oz_set_voice_volume(OZ oz, float volume); /* 0 to 1, default 1 */
OZ_API float oz_get_voice_volume(OZ oz);
OZ_API int oz_set_voice_pitch(OZ oz, float pitch); /* 0.5 to 2, default 1 */
OZ_API float oz_get_voice_pitch(OZ oz);

OZ_API int oz_set_gesture_weight(OZ oz, float weight); /* as all weights, 0 to 1; default 1 */
OZ_API float oz_get_gesture_weight(OZ oz);

OZ_API int oz_set_expression(OZ oz, int id); /* EXPRESSION_* */
OZ_API int oz_get_expression(OZ oz);
OZ_API int oz_set_expression_weight(OZ oz, float weight); /* default 1 */
OZ_API float oz_get_expression_weight(OZ oz);

OZ_API int oz_set_auto_blink_speed(OZ oz, float speed); /* per second, 0 to 10, default 2 */
OZ_API float oz_get_auto_blink_speed(OZ oz);
OZ_API int oz_set_random_head_weight(OZ oz, float weight); /* default 0 */
OZ_API float oz_get_random_head_weight(OZ oz);
OZ_API int oz_set_random_eyes_weight(OZ oz, float weight); /* default 0 */
OZ_API float oz_get_random_eyes_weight(OZ oz);
OZ_API int oz_set_random_face_weight(OZ oz, float weight); /* default 0 */
OZ_API float oz_get_random_face_weight(OZ oz);

/* Direct positions, 0 to 1 over the travel of a servo. They have no effect unless the direct weight is more than 0. Those that
 * were never set are NaN. The arrays have MAX_SERVOS elements. */
OZ_API int oz_set_servo(OZ oz, int id, float position); /* SERVO_* */
OZ_API float oz_get_servo(OZ oz, int id);
OZ_API int oz_set_all_servos(OZ oz, const float *positions);
OZ_API void oz_get_all_servos(OZ oz, float *positions);
OZ_API int oz_set_direct_weight(OZ oz, float weight); /* default 0 */
OZ_API float oz_get_direct_weight(OZ oz);

OZ_API int oz_set_lookat(OZ oz, int mode); /* LOOKAT_* */
OZ_API int oz_get_lookat(OZ oz);
OZ_API int oz_set_lookat_weight(OZ oz, float weight); /* default 1 */
OZ_API float oz_get_lookat_weight(OZ oz);

#ifdef __cplusplus
}
#endif

#endif
