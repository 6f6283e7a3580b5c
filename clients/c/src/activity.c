/* Texts and gestures. */

#include <string.h>

#include "client.h"

/* --- starting them --- */

int oz_speak_text(OZ oz, const char *text, size_t length) {
    struct oz_client *client = oz;
    if (text == NULL)
        return oz_fail_with(OZ_MISUSE, "there is no text");
    if (length > OZ_MAX_TEXT)
        return oz_fail_with(OZ_TEXT_TOO_LONG, "the text has %llu bytes; at most %d can be sent", (unsigned long long)length,
                            OZ_MAX_TEXT);
    if (!oz_request_begin(client))
        return -1;
    uint8_t *end = oz_put_text(oz_put_word(client->request, MSG_SPEAK), text, length);
    /* before it is sent, as its end may be told at once */
    int number = ++client->texts.started;
    oz_report(client, OZ_EVENT_SPEAK_START, 0);
    bool is_sent = oz_request_send(client, end);
    return oz_request_end(client, is_sent ? number : -1);
}

int oz_speak(OZ oz, const char *text) { return oz_speak_text(oz, text, text == NULL ? 0 : strlen(text)); }

int oz_set_gesture(OZ oz, int id) {
    struct oz_client *client = oz;
    if (!oz_request_begin(client))
        return -1;
    uint8_t *end = oz_put_word(oz_put_word(client->request, MSG_GESTURE), (uint32_t)id);
    int number = ++client->gestures.started;
    client->playing++;
    oz_report(client, OZ_EVENT_GESTURE_START, (uint32_t)id);
    bool is_sent = oz_request_send(client, end);
    return oz_request_end(client, is_sent ? number : -1);
}

/* --- waiting for their ends --- */

static bool is_speaking(const struct oz_client *client) {
    return client->state == OZ_STATE_CONNECTED && client->texts.ended < client->texts.started;
}

static bool is_gesturing(const struct oz_client *client) { return client->playing > 0; }

static int ask(struct oz_client *client, bool (*is_active)(const struct oz_client *client)) {
    if (client == NULL)
        return 0;
    oz_monitor_enter(&client->monitor);
    int answer = is_active(client);
    oz_monitor_leave(&client->monitor);
    return answer;
}

int oz_is_speaking(OZ oz) { return ask(oz, is_speaking); }

int oz_is_gesturing(OZ oz) { return ask(oz, is_gesturing); }

/* Leaves the monitor after a wait. */
static int leave(struct oz_client *client, int result) {
    oz_monitor_leave(&client->monitor);
    return result < 0 ? oz_fail_with(OZ_CLOSED, "the connection has ended") : result;
}

/* Waits until nothing is going on, as long as the connection lasts. */
static int wait_for_all(struct oz_client *client, bool (*is_active)(const struct oz_client *client), int timeout_ms) {
    if (client == NULL)
        return oz_fail_with(OZ_CLOSED, "the client is not connected");
    int64_t deadline = oz_deadline(timeout_ms);
    bool is_late = false;
    oz_monitor_enter(&client->monitor);
    unsigned connection = client->connections;
    for (;;) {
        if (client->state != OZ_STATE_CONNECTED || client->connections != connection)
            return leave(client, -1);
        if (!is_active(client))
            return leave(client, 1);
        if (is_late)
            return leave(client, 0);
        is_late = !oz_monitor_wait(&client->monitor, deadline);
    }
}

int oz_wait_for_speak(OZ oz, int timeout_ms) { return wait_for_all(oz, is_speaking, timeout_ms); }

int oz_wait_for_gesture(OZ oz, int timeout_ms) { return wait_for_all(oz, is_gesturing, timeout_ms); }

/* Waits for the end of one. */
static int wait_for_one(struct oz_client *client, const struct oz_activity *activity, int number, int timeout_ms) {
    int64_t deadline = oz_deadline(timeout_ms);
    bool is_late = false;
    oz_monitor_enter(&client->monitor);
    if (number < 1 || number > activity->started) {
        int started = activity->started;
        oz_monitor_leave(&client->monitor);
        return oz_fail_with(OZ_OUT_OF_RANGE, "number %d is out of range 1 to %d", number, started);
    }
    for (;;) {
        if (number > activity->lost && number <= activity->ended)
            return leave(client, 1);
        if (number <= activity->lost || client->state != OZ_STATE_CONNECTED)
            return leave(client, -1);
        if (is_late)
            return leave(client, 0);
        is_late = !oz_monitor_wait(&client->monitor, deadline);
    }
}

int oz_wait_for_text(OZ oz, int number, int timeout_ms) {
    struct oz_client *client = oz;
    if (client == NULL)
        return oz_fail_with(OZ_CLOSED, "the client is not connected");
    return wait_for_one(client, &client->texts, number, timeout_ms);
}

int oz_wait_for_gesture_number(OZ oz, int number, int timeout_ms) {
    struct oz_client *client = oz;
    if (client == NULL)
        return oz_fail_with(OZ_CLOSED, "the client is not connected");
    return wait_for_one(client, &client->gestures, number, timeout_ms);
}

const char *oz_gesture_tag(int id) {
    static const char *const tags[MAX_GESTURES] = {
        "[braisel]", "[braises]", "[frownl]", "[frowns]", "[yesl]", "[yess]", "[yesl3]",
        "[yess3]",   "[nol]",     "[nos]",    "[nol3]",   "[nos3]", "[wob]",
    };
    return id >= 0 && id < MAX_GESTURES ? tags[id] : NULL;
}
