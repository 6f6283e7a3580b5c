/* The thread that receives, and connects again. */

#include <stdlib.h>
#include <string.h>

#include "client.h"

/* --- connecting --- */

/* Keeps the answer to the version request, unless it is the one before. */
static bool keep_welcome(struct oz_client *client, const struct oz_message *message) {
    uint32_t version = oz_word(message->bytes);
    const char *name, *long_name;
    oz_decode_welcome(message->bytes, &name, &long_name);
    /* only this thread changes it */
    const struct oz_welcome *last = client->welcome;
    if (last != NULL && strcmp(last->name, name) == 0 && strcmp(last->long_name, long_name) == 0)
        return true;
    size_t size = strlen(name) + 1;
    struct oz_welcome *welcome = malloc(sizeof *welcome + size + strlen(long_name) + 1);
    if (welcome == NULL)
        return false;
    welcome->version = version;
    welcome->name = strcpy(welcome->names, name);
    welcome->long_name = strcpy(welcome->names + size, long_name);
    oz_monitor_enter(&client->monitor);
    welcome->earlier = client->welcome;
    client->welcome = welcome;
    oz_monitor_leave(&client->monitor);
    return true;
}

static bool shake_hands(struct oz_client *client, oz_socket handle, int64_t deadline, struct oz_failure *failure) {
    uint8_t request[8];
    struct oz_message message;
    oz_put_word(oz_put_word(request, MSG_REQUEST_VERSION), OZ_VERSION_1_0);
    /* if it cannot be sent, the answer does not come either */
    oz_socket_send(handle, &client->waker, client->timeout_ms, request, sizeof request);
    oz_stream_clear(&client->stream);
    if (!oz_stream_take(&client->stream, handle, &client->waker, deadline, oz_scan_welcome, &message, failure)) {
        if (failure->error == OZ_TIMEOUT)
            oz_describe(failure, OZ_TIMEOUT, "no answer to the version request within %d ms", client->timeout_ms);
        return false;
    }
    bool is_valid = oz_check_welcome(message.bytes, failure);
    if (is_valid && !keep_welcome(client, &message)) {
        oz_describe(failure, OZ_OUT_OF_RESOURCES, "no memory for the robot's names");
        is_valid = false;
    }
    free(message.own);
    return is_valid;
}

bool oz_open(struct oz_client *client, struct oz_failure *failure) {
    int64_t deadline = oz_deadline(client->timeout_ms);
    oz_socket handle = oz_socket_connect(client->host, client->port, deadline, &client->waker, failure);
    if (handle == OZ_NO_SOCKET)
        return false;
    if (!shake_hands(client, handle, deadline, failure)) {
        oz_socket_close(handle);
        return false;
    }
    oz_monitor_enter(&client->monitor);
    bool is_wanted = !client->is_closing;
    if (is_wanted) {
        client->socket = handle;
        client->state = OZ_STATE_CONNECTED;
        client->connections++;
        client->end.error = OZ_OK;
        client->texts.lost = client->texts.ended = client->texts.started;
        client->gestures.lost = client->gestures.ended = client->gestures.started;
        oz_report(client, OZ_EVENT_CONNECTED, 0);
    }
    oz_monitor_leave(&client->monitor);
    if (!is_wanted) {
        oz_socket_close(handle);
        oz_describe(failure, OZ_CLOSED, "this client has closed the connection");
    }
    return is_wanted;
}

/* Tries until it succeeds; false if the program does not want it any more. */
static bool open_again(struct oz_client *client) {
    for (;;) {
        struct oz_failure failure;
        int64_t begin = oz_deadline(client->reconnect_ms);
        oz_monitor_enter(&client->monitor);
        while (!client->is_closing && oz_monitor_wait(&client->monitor, begin)) {
        }
        bool is_wanted = !client->is_closing;
        oz_monitor_leave(&client->monitor);
        if (!is_wanted)
            return false;
        if (oz_open(client, &failure))
            return true;
        oz_monitor_enter(&client->monitor);
        if (!client->is_closing)
            oz_report_failure(client, OZ_EVENT_CONNECT_FAILED, &failure);
        oz_monitor_leave(&client->monitor);
    }
}

/* --- receiving --- */

/* Notes what a message says about texts and gestures. */
static void note(struct oz_client *client, uint32_t id) {
    if (id == MSG_SPEAK_DONE && client->texts.ended < client->texts.started) {
        client->texts.ended++;
    } else if (id == MSG_SPEAK_GESTURE) {
        client->playing++;
    } else if (id == MSG_GESTURE_DONE && client->playing > 0 && --client->playing == 0) {
        /* the robot does not tell which one has ended */
        client->gestures.ended = client->gestures.started;
    }
}

/* Puts a message into the queue. An image for which there is no memory is lost, as others are in a full queue. */
static void keep(struct oz_client *client, const struct oz_message *message, bool is_image) {
    struct oz_entry entry = {is_image ? OZ_ENTRY_IMAGE : OZ_ENTRY_MESSAGE, OZ_EVENT_VIDEO_FRAME, 0, OZ_OK, message->own, 0};
    if (is_image && entry.own == NULL) {
        entry.own = malloc(message->length);
        if (entry.own == NULL)
            return;
        memcpy(entry.own, message->bytes, message->length);
    }
    if (entry.own == NULL)
        entry.length = message->length;
    oz_queue_push(&client->queue, &entry, message->bytes);
}

static void handle(struct oz_client *client, const struct oz_message *message) {
    struct oz_failure failure;
    uint32_t id = oz_word(message->bytes);
    bool is_valid = oz_check_message(message->bytes, &failure);
    oz_monitor_enter(&client->monitor);
    bool is_kept = is_valid && !client->is_closing && !(client->skips_video && id == MSG_VIDEO_FRAME);
    if (is_kept) {
        note(client, id);
        keep(client, message, id == MSG_VIDEO_FRAME);
    } else if (!is_valid && !client->is_closing) {
        oz_report_failure(client, OZ_EVENT_INVALID_MESSAGE, &failure);
    }
    oz_monitor_notify(&client->monitor);
    oz_monitor_leave(&client->monitor);
    if (!is_kept)
        free(message->own);
}

/* Reports messages until the connection ends. */
static void receive_messages(struct oz_client *client, struct oz_failure *end) {
    struct oz_message message;
    while (oz_stream_take(&client->stream, client->socket, &client->waker, OZ_NEVER, oz_scan_message, &message, end))
        handle(client, &message);
    oz_stream_clear(&client->stream);
}

/* Reads on until the robot has closed the connection, or the program does not want to wait any longer: a socket that is closed
 * with unread images resets the connection, and requests on their way may be lost. */
static void drain(struct oz_client *client) {
    size_t received;
    while (oz_socket_receive(client->socket, &client->waker, OZ_NEVER, client->stream.bytes, sizeof client->stream.bytes,
                             &received) == OZ_OUTCOME_DONE) {
    }
}

/* Notes the end of the connection, and reports it; false if the program itself has ended it. */
static bool note_end(struct oz_client *client, const struct oz_failure *end) {
    oz_monitor_enter(&client->monitor);
    bool is_lost = !client->is_closing;
    if (is_lost) {
        client->state = client->reconnect_ms != 0 ? OZ_STATE_RECONNECTING : OZ_STATE_ENDED;
        client->playing = 0;
        oz_report_failure(client, OZ_EVENT_DISCONNECTED, client->end.error != OZ_OK ? &client->end : end);
    }
    oz_monitor_leave(&client->monitor);
    return is_lost;
}

/* Closes the socket when no other thread uses it any more. */
static void close_socket(struct oz_client *client) {
    oz_waker_set(&client->waker);
    oz_monitor_enter(&client->monitor);
    while (client->is_sending)
        oz_monitor_wait(&client->monitor, OZ_NEVER);
    oz_socket_close(client->socket);
    client->socket = OZ_NO_SOCKET;
    if (!client->is_closing)
        oz_waker_reset(&client->waker);
    oz_monitor_leave(&client->monitor);
}

void oz_receive(void *argument) {
    struct oz_client *client = argument;
    bool goes_on = true;
    while (goes_on) {
        struct oz_failure end;
        receive_messages(client, &end);
        bool is_lost = note_end(client, &end);
        if (!is_lost)
            drain(client);
        close_socket(client);
        goes_on = is_lost && client->reconnect_ms != 0 && open_again(client);
    }
    oz_monitor_enter(&client->monitor);
    client->is_receiving = false;
    oz_monitor_notify(&client->monitor);
    oz_monitor_leave(&client->monitor);
}
