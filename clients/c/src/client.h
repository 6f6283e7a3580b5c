/* The state of a client, and what its parts do for each other. */

#ifndef OZ_CLIENT_H
#define OZ_CLIENT_H

#include "queue.h"
#include "socket.h"
#include "stream.h"

/* Answers to the version request, the latest first. The program may know the earlier ones. */
struct oz_welcome {
    struct oz_welcome *earlier;
    uint32_t version;
    const char *name, *long_name;
    char names[];
};

/* Texts or gestures. Their numbers begin at 1. */
struct oz_activity {
    int started;
    int ended;
    int lost; /* those of earlier connections: up to this number */
};

enum oz_float_setting {
    OZ_VOICE_VOLUME,
    OZ_VOICE_PITCH,
    OZ_GESTURE_WEIGHT,
    OZ_EXPRESSION_WEIGHT,
    OZ_AUTO_BLINK_SPEED,
    OZ_RANDOM_HEAD_WEIGHT,
    OZ_RANDOM_EYES_WEIGHT,
    OZ_RANDOM_FACE_WEIGHT,
    OZ_DIRECT_WEIGHT,
    OZ_LOOKAT_WEIGHT,
    OZ_FLOAT_SETTINGS
};

struct oz_settings {
    int voice_gender_language, expression, lookat;
    float floats[OZ_FLOAT_SETTINGS];
    float servos[MAX_SERVOS];
};

enum oz_state {
    OZ_STATE_CONNECTED,
    OZ_STATE_RECONNECTING,
    OZ_STATE_ENDED
};

struct oz_client {
    /* these stay as they are */
    char *host;
    int port, timeout_ms, reconnect_ms;
    oz_callback callback;
    void *context;
    struct oz_thread receiver, dispatcher;
    struct oz_waker waker;

    /* of the thread that receives, and before it runs, of that which connects */
    struct oz_stream stream;

    /* of the thread that reads events, or dispatches them */
    struct oz_taken taken;
    bool is_abandoned; /* the callback has disconnected */

    /* of the thread that has the right to send */
    uint8_t request[OZ_MAX_REQUEST];

    /* the rest is protected by this */
    struct oz_monitor monitor;
    enum oz_state state;
    unsigned connections; /* how many there were */
    oz_socket socket;
    bool is_sending;   /* a thread has the right to send */
    bool is_receiving; /* the thread that receives has not ended yet */
    bool is_closing;   /* the program has closed the connection */
    bool is_closed;    /* that is done, and there will be no more events */
    struct oz_failure end; /* why this client has ended the connection, if it has */
    struct oz_welcome *welcome;
    struct oz_settings settings;
    struct oz_activity texts, gestures;
    int playing; /* gestures, with those in texts */
    bool skips_video;
    struct oz_queue queue;
};

/* Settings as they are at first. */
void oz_settings_restore(struct oz_settings *settings);

/* Report events of this client, and notify. Within the monitor. */
void oz_report(struct oz_client *client, enum oz_event_type type, uint32_t gesture);
void oz_report_failure(struct oz_client *client, enum oz_event_type type, const struct oz_failure *failure);

/* Gets the right to send, and enters the monitor; false if there is no connection. The request is then written to
 * `client->request` and sent, and its effects are noted before the right is given back. */
bool oz_request_begin(struct oz_client *client);
/* Sends the request up to `end`. Leaves the monitor meanwhile. */
bool oz_request_send(struct oz_client *client, const uint8_t *end);
/* Leaves the monitor. Returns `result`. */
int oz_request_end(struct oz_client *client, int result);

/* Connects, and shakes hands. Not within the monitor. */
bool oz_open(struct oz_client *client, struct oz_failure *failure);

/* What the thread that receives does. */
void oz_receive(void *client);

#endif
