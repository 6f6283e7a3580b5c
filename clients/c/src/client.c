/* Connecting, closing, sending, and events. */

#include "client.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_TIMEOUT = 10000,
    /* how long the robot may take to close the connection after the client has */
    CLOSE_TIMEOUT = 500
};

/* --- connecting --- */

static void free_client(struct oz_client *client) {
    while (client->welcome != NULL) {
        struct oz_welcome *earlier = client->welcome->earlier;
        free(client->welcome);
        client->welcome = earlier;
    }
    oz_stream_clear(&client->stream);
    oz_queue_clear(&client->queue, &client->taken);
    oz_monitor_destroy(&client->monitor);
    oz_waker_destroy(&client->waker);
    oz_sockets_stop();
    free(client->host);
    free(client);
}

/* Creates a client that is not connected. */
static struct oz_client *create(const char *hostname) {
    /* zeroed memory of this size costs nothing until it is used */
    struct oz_client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return NULL;
    client->host = malloc(strlen(hostname) + 1);
    bool has_sockets = oz_sockets_start();
    bool has_waker = oz_waker_create(&client->waker);
    bool has_monitor = oz_monitor_create(&client->monitor);
    if (client->host != NULL && has_sockets && has_waker && has_monitor) {
        strcpy(client->host, hostname);
        client->socket = OZ_NO_SOCKET;
        oz_settings_restore(&client->settings);
        return client;
    }
    if (has_monitor)
        oz_monitor_destroy(&client->monitor);
    if (has_waker)
        oz_waker_destroy(&client->waker);
    if (has_sockets)
        oz_sockets_stop();
    free(client->host);
    free(client);
    return NULL;
}

static int take(struct oz_client *client, struct oz_event *event, int64_t deadline);

static void dispatch(void *argument) {
    struct oz_client *client = argument;
    struct oz_event event;
    while (!client->is_abandoned && take(client, &event, OZ_NEVER) == 1)
        client->callback(client, &event, client->context);
    if (client->is_abandoned)
        free_client(client);
}

/* Closes the connection, and waits until that is done. */
static void close_client(struct oz_client *client) {
    oz_monitor_enter(&client->monitor);
    if (client->is_closing) {
        while (!client->is_closed)
            oz_monitor_wait(&client->monitor, OZ_NEVER);
        oz_monitor_leave(&client->monitor);
        return;
    }
    enum oz_state state = client->state;
    int64_t deadline = oz_deadline(CLOSE_TIMEOUT);
    client->is_closing = true;
    client->state = OZ_STATE_ENDED;
    client->playing = 0;
    oz_monitor_notify(&client->monitor);
    if (state == OZ_STATE_CONNECTED) {
        /* requests that are being sent go first */
        while (client->is_sending && oz_monitor_wait(&client->monitor, deadline)) {
        }
        if (client->socket != OZ_NO_SOCKET)
            oz_socket_finish(client->socket);
        while (client->is_receiving && oz_monitor_wait(&client->monitor, deadline)) {
        }
    }
    oz_waker_set(&client->waker);
    oz_monitor_leave(&client->monitor);
    oz_thread_join(&client->receiver);
    oz_monitor_enter(&client->monitor);
    if (state != OZ_STATE_ENDED) {
        struct oz_failure none = {OZ_OK, ""};
        oz_report_failure(client, OZ_EVENT_DISCONNECTED, &none);
    }
    client->is_closed = true;
    oz_monitor_notify(&client->monitor);
    oz_monitor_leave(&client->monitor);
}

/* Starts the threads of a client that is connected. */
static bool start(struct oz_client *client, struct oz_failure *failure) {
    oz_describe(failure, OZ_OUT_OF_RESOURCES, "the system cannot start another thread");
    client->is_receiving = true;
    if (!oz_thread_start(&client->receiver, oz_receive, client)) {
        oz_socket_close(client->socket);
        return false;
    }
    if (client->callback == NULL)
        return true;
    /* the callback may ask in which thread it is, and may disconnect at once */
    oz_monitor_enter(&client->monitor);
    bool is_started = oz_thread_start(&client->dispatcher, dispatch, client);
    oz_monitor_leave(&client->monitor);
    if (!is_started)
        close_client(client);
    return is_started;
}

OZ oz_connect_with(const char *hostname, int port, const struct oz_options *options) {
    struct oz_options defaults = {0, 0, NULL, NULL};
    struct oz_failure failure;
    if (options == NULL)
        options = &defaults;
    if (hostname == NULL || port < 0 || port > 65535 || options->timeout_ms < 0 || options->reconnect_ms < 0) {
        oz_fail_with(OZ_MISUSE, "a host name, a port from 0 to 65535 and times that are not negative are needed");
        return NULL;
    }
    struct oz_client *client = create(hostname);
    if (client == NULL) {
        oz_fail_with(OZ_OUT_OF_RESOURCES, "the system has no memory or sockets left");
        return NULL;
    }
    client->port = port;
    client->timeout_ms = options->timeout_ms != 0 ? options->timeout_ms : DEFAULT_TIMEOUT;
    client->reconnect_ms = options->reconnect_ms;
    client->callback = options->callback;
    client->context = options->context;
    if (!oz_open(client, &failure) || !start(client, &failure)) {
        oz_fail(&failure);
        free_client(client);
        return NULL;
    }
    return client;
}

OZ oz_connect(const char *hostname, int port) { return oz_connect_with(hostname, port, NULL); }

void oz_close(OZ oz) {
    if (oz != NULL)
        close_client(oz);
}

void oz_disconnect(OZ oz) {
    struct oz_client *client = oz;
    if (client == NULL)
        return;
    close_client(client);
    if (client->callback != NULL && oz_thread_is_current(&client->dispatcher)) {
        /* freed after the callback */
        client->is_abandoned = true;
        oz_thread_detach(&client->dispatcher);
        return;
    }
    if (client->callback != NULL)
        oz_thread_join(&client->dispatcher);
    free_client(client);
}

/* --- what is known about the connection --- */

int oz_is_connected(OZ oz) {
    struct oz_client *client = oz;
    if (client == NULL)
        return 0;
    oz_monitor_enter(&client->monitor);
    int is_connected = client->state == OZ_STATE_CONNECTED;
    oz_monitor_leave(&client->monitor);
    return is_connected;
}

static const struct oz_welcome *welcome(struct oz_client *client) {
    static const struct oz_welcome none = {NULL, 0, "", ""};
    if (client == NULL)
        return &none;
    oz_monitor_enter(&client->monitor);
    const struct oz_welcome *welcome = client->welcome;
    oz_monitor_leave(&client->monitor);
    return welcome;
}

const char *oz_name(OZ oz) { return welcome(oz)->name; }

const char *oz_long_name(OZ oz) { return welcome(oz)->long_name; }

uint32_t oz_version(OZ oz) { return welcome(oz)->version; }

/* --- sending --- */

bool oz_request_begin(struct oz_client *client) {
    if (client != NULL) {
        oz_monitor_enter(&client->monitor);
        while (client->is_sending)
            oz_monitor_wait(&client->monitor, OZ_NEVER);
        if (client->state == OZ_STATE_CONNECTED) {
            client->is_sending = true;
            return true;
        }
        oz_monitor_leave(&client->monitor);
    }
    oz_fail_with(OZ_CLOSED, "the client is not connected");
    return false;
}

bool oz_request_send(struct oz_client *client, const uint8_t *end) {
    oz_socket handle = client->socket;
    oz_monitor_leave(&client->monitor);
    size_t length = (size_t)(end - client->request);
    enum oz_outcome outcome = oz_socket_send(handle, &client->waker, client->timeout_ms, client->request, length);
    oz_monitor_enter(&client->monitor);
    if (outcome == OZ_OUTCOME_LATE) {
        oz_describe(&client->end, OZ_TIMEOUT, "the robot did not read requests within %d ms", client->timeout_ms);
        oz_fail(&client->end);
        oz_waker_set(&client->waker);
    } else if (outcome != OZ_OUTCOME_DONE) {
        oz_fail_with(OZ_CLOSED, "the connection was closed");
    }
    return outcome == OZ_OUTCOME_DONE;
}

int oz_request_end(struct oz_client *client, int result) {
    client->is_sending = false;
    oz_monitor_notify(&client->monitor);
    oz_monitor_leave(&client->monitor);
    return result;
}

/* --- events --- */

void oz_report(struct oz_client *client, enum oz_event_type type, uint32_t gesture) {
    struct oz_entry entry = {OZ_ENTRY_OWN, type, gesture, OZ_OK, NULL, 0};
    oz_queue_push(&client->queue, &entry, NULL);
    oz_monitor_notify(&client->monitor);
}

void oz_report_failure(struct oz_client *client, enum oz_event_type type, const struct oz_failure *failure) {
    struct oz_entry entry = {OZ_ENTRY_OWN, type, 0, failure->error, NULL, strlen(failure->message) + 1};
    oz_queue_push(&client->queue, &entry, failure->message);
    oz_monitor_notify(&client->monitor);
}

/* Takes the next event: 1, or 0 if none comes in time, or -1 if none will. */
static int take(struct oz_client *client, struct oz_event *event, int64_t deadline) {
    bool is_late = false;
    oz_monitor_enter(&client->monitor);
    for (;;) {
        if (oz_queue_take(&client->queue, &client->taken, event)) {
            oz_monitor_leave(&client->monitor);
            return 1;
        }
        /* the connection may have ended by itself, and this client will not make it again */
        bool is_over = client->is_closed || (client->state == OZ_STATE_ENDED && !client->is_closing);
        if (is_over || is_late) {
            oz_monitor_leave(&client->monitor);
            return is_over ? -1 : 0;
        }
        is_late = !oz_monitor_wait(&client->monitor, deadline);
    }
}

int oz_next_event(OZ oz, struct oz_event *event, int timeout_ms) {
    struct oz_client *client = oz;
    if (client == NULL)
        return oz_fail_with(OZ_CLOSED, "the client is not connected");
    if (client->callback != NULL)
        return oz_fail_with(OZ_MISUSE, "the events of this client go to its callback");
    int result = take(client, event, oz_deadline(timeout_ms));
    return result < 0 ? oz_fail_with(OZ_CLOSED, "there are no more events: the connection has ended") : result;
}

int oz_skip_video(OZ oz, int skip) {
    struct oz_client *client = oz;
    if (client == NULL)
        return oz_fail_with(OZ_CLOSED, "the client is not connected");
    oz_monitor_enter(&client->monitor);
    client->skips_video = skip != 0;
    oz_monitor_leave(&client->monitor);
    return 0;
}
