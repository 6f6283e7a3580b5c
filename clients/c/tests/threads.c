/* What the conformance suite does not show: several threads with one client, calls from callbacks, and memory.
 *
 * Ends with a message and status 1 if something is wrong; a hang is ended by an alarm.
 */

#define _POSIX_C_SOURCE 200809L

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oz.h"

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *what) {
    fprintf(stderr, "threads.c:%d: not so: %s (last error: %s)\n", line, what, oz_error_message());
    exit(1);
}

static pthread_t start(void *(*function)(void *argument), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, argument) == 0);
    return thread;
}

static void join(pthread_t thread) { CHECK(pthread_join(thread, NULL) == 0); }

/* --- a robot --- */

enum { MANNER_ANSWERS, MANNER_SILENT, MANNER_TALKS, MANNER_READS_NOTHING, MANNER_LEAVES };

/* Serves one client at a time, until its listening socket is shut down. */
struct robot {
    int listener, port, manner;
    pthread_t thread;
    int texts, gestures, settings;
};

static void send_words(int stream, const uint32_t *words, size_t count) {
    uint32_t encoded[4];
    for (size_t i = 0; i < count; i++)
        encoded[i] = htonl(words[i]);
    /* the client may be gone */
    (void)!send(stream, encoded, 4 * count, MSG_NOSIGNAL);
}

static bool receive(int stream, void *to, size_t length) {
    return length == 0 || recv(stream, to, length, MSG_WAITALL) == (ssize_t)length;
}

/* A list of 16 options or faces, each with some floats and a text of 1,023 bytes. */
static void send_list(int stream, uint32_t id, size_t floats) {
    enum { COUNT = 16, LENGTH = 1023 };
    unsigned char entry[20 + 2 + LENGTH];
    uint32_t head[2] = {id, COUNT};
    memset(entry, 0, 4 * floats);
    entry[4 * floats] = LENGTH >> 8;
    entry[4 * floats + 1] = LENGTH & 255;
    memset(entry + 4 * floats + 2, 'a', LENGTH);
    send_words(stream, head, 2);
    for (int i = 0; i < COUNT; i++)
        (void)!send(stream, entry, 4 * floats + 2 + LENGTH, MSG_NOSIGNAL);
}

/* The largest messages of a robot, apart from images. */
static void talk(int stream) {
    uint32_t gesture[2] = {MSG_SPEAK_GESTURE, GESTURE_YES_LONG};
    send_words(stream, gesture, 2);
    send_list(stream, MSG_UTTERANCE, 1);
    send_list(stream, MSG_FACES, 5);
}

/* Reads one request, and answers it; false at the end. One that talks leaves when it is reset. */
static bool answer(struct robot *robot, int stream) {
    char text[65535];
    uint32_t id, words[MAX_SERVOS], done[4] = {MSG_SPEAK_DONE, MSG_VIDEO_FRAME, 4, 0xFFD8FFD9};
    uint16_t length;
    if (!receive(stream, &id, 4))
        return false;
    id = ntohl(id);
    if (id == MSG_SPEAK) {
        CHECK(receive(stream, &length, 2) && receive(stream, text, ntohs(length)));
        robot->texts++;
    } else if (id != MSG_RESET) {
        CHECK(receive(stream, words, id == MSG_ALL_SERVOS ? sizeof words : id == MSG_SERVO ? 8 : 4));
        robot->gestures += id == MSG_GESTURE;
        robot->settings += id != MSG_GESTURE;
    }
    done[0] = id == MSG_SPEAK ? MSG_SPEAK_DONE : MSG_GESTURE_DONE;
    if (robot->manner == MANNER_ANSWERS && (id == MSG_SPEAK || id == MSG_GESTURE))
        send_words(stream, done, 4);
    return robot->manner != MANNER_TALKS || id != MSG_RESET;
}

static void *serve(void *argument) {
    static const unsigned char welcome[] = "\1\0\0\0\0\5alice\0\5Alice";
    struct robot *robot = argument;
    int stream;
    while ((stream = accept(robot->listener, NULL, NULL)) >= 0) {
        char request[8];
        /* a client that reconnects may give up at any time */
        if (receive(stream, request, 8))
            (void)!send(stream, welcome, sizeof welcome - 1, MSG_NOSIGNAL);
        if (robot->manner == MANNER_TALKS)
            talk(stream);
        if (robot->manner == MANNER_READS_NOTHING) {
            struct pollfd listener = {robot->listener, POLLIN, 0};
            poll(&listener, 1, -1);
        }
        while (robot->manner < MANNER_READS_NOTHING && answer(robot, stream)) {
        }
        close(stream);
    }
    return NULL;
}

static void robot_start(struct robot *robot, int manner) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(robot, 0, sizeof *robot);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    robot->manner = manner;
    robot->listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(robot->listener, (struct sockaddr *)&address, size) == 0 && listen(robot->listener, 8) == 0);
    CHECK(getsockname(robot->listener, (struct sockaddr *)&address, &size) == 0);
    robot->port = ntohs(address.sin_port);
    robot->thread = start(serve, robot);
}

static void robot_stop(struct robot *robot) {
    shutdown(robot->listener, SHUT_RDWR);
    join(robot->thread);
    close(robot->listener);
}

static OZ operate(const struct robot *robot, struct oz_options options) {
    OZ oz = oz_connect_with("127.0.0.1", robot->port, &options);
    CHECK(oz != NULL);
    return oz;
}

/* --- many threads --- */

enum { THREADS = 8, ROUNDS = 200 };

/* Counted by the callback; read when it is told no more. */
struct counts {
    int of[OZ_EVENT_INVALID_MESSAGE + 1];
};

static void count_event(OZ oz, const struct oz_event *event, void *context) {
    struct counts *counts = context;
    counts->of[event->type]++;
    CHECK(oz != NULL && strcmp(oz_name(oz), "alice") == 0);
    CHECK(event->type != OZ_EVENT_VIDEO_FRAME || (event->jpeg_length == 4 && event->jpeg[0] == 0xFF));
}

static void *use(void *argument) {
    OZ oz = argument;
    for (int round = 0; round < ROUNDS; round++) {
        int text = oz_speak(oz, "Hello");
        CHECK(text > 0);
        CHECK(oz_set_gesture(oz, GESTURE_YES_SHORT) > 0);
        CHECK(oz_set_voice_volume(oz, 0.5F) == 0 && oz_get_voice_volume(oz) == 0.5F);
        CHECK(oz_set_expression(oz, 99) == -1 && oz_error() == OZ_OUT_OF_RANGE);
        CHECK(oz_wait_for_text(oz, text, 30000) == 1);
        oz_skip_video(oz, round % 2);
    }
    CHECK(oz_wait_for_speak(oz, 30000) == 1 && oz_wait_for_gesture(oz, 30000) == 1);
    return NULL;
}

static void many_threads(void) {
    struct robot robot;
    struct counts counts;
    pthread_t threads[THREADS];
    memset(&counts, 0, sizeof counts);
    robot_start(&robot, MANNER_ANSWERS);
    OZ oz = operate(&robot, (struct oz_options){30000, 0, count_event, &counts});
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(use, oz);
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    CHECK(!oz_is_speaking(oz) && !oz_is_gesturing(oz));
    oz_disconnect(oz);
    robot_stop(&robot);
    CHECK(robot.texts == THREADS * ROUNDS && robot.gestures == robot.texts && robot.settings == robot.texts);
    CHECK(counts.of[OZ_EVENT_SPEAK_START] == robot.texts && counts.of[OZ_EVENT_SPEAK_DONE] == robot.texts);
    CHECK(counts.of[OZ_EVENT_GESTURE_START] == robot.texts && counts.of[OZ_EVENT_GESTURE_DONE] == robot.texts);
    CHECK(counts.of[OZ_EVENT_CONNECTED] == 1 && counts.of[OZ_EVENT_DISCONNECTED] == 1);
}

/* --- closing while others wait --- */

static void *wait_for_speak(void *oz) {
    CHECK(oz_wait_for_speak(oz, -1) == -1 && oz_error() == OZ_CLOSED);
    return NULL;
}

static void *wait_for_event(void *oz) {
    struct oz_event event;
    int types[] = {OZ_EVENT_CONNECTED, OZ_EVENT_SPEAK_START, OZ_EVENT_DISCONNECTED};
    for (int i = 0; i < 3; i++) {
        CHECK(oz_next_event(oz, &event, -1) == 1);
        CHECK((int)event.type == types[i] && event.error == OZ_OK);
    }
    CHECK(oz_next_event(oz, &event, -1) == -1 && oz_error() == OZ_CLOSED);
    return NULL;
}

static void *close_it(void *oz) {
    oz_close(oz);
    CHECK(!oz_is_connected(oz));
    return NULL;
}

static void closing_ends_all_waits(void) {
    struct robot robot;
    pthread_t threads[4];
    robot_start(&robot, MANNER_SILENT);
    OZ oz = operate(&robot, (struct oz_options){30000, 0, NULL, NULL});
    CHECK(oz_speak(oz, "A long story.") == 1);
    CHECK(oz_wait_for_text(oz, 2, 0) == -1 && oz_error() == OZ_OUT_OF_RANGE);
    threads[0] = start(wait_for_speak, oz);
    threads[1] = start(wait_for_event, oz);
    poll(NULL, 0, 20);
    threads[2] = start(close_it, oz);
    threads[3] = start(close_it, oz);
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    oz_disconnect(oz);
    robot_stop(&robot);
}

/* The request that is stuck fails, and the program does not wait for the robot's timeout. */
static void *speak_on(void *oz) {
    static char text[65535];
    memset(text, 'a', sizeof text);
    while (oz_speak_text(oz, text, sizeof text) > 0) {
    }
    CHECK(oz_error() == OZ_CLOSED);
    return NULL;
}

static void closing_ends_a_request_that_is_stuck(void) {
    struct robot robot;
    robot_start(&robot, MANNER_READS_NOTHING);
    OZ oz = operate(&robot, (struct oz_options){3600000, 0, NULL, NULL});
    pthread_t speaker = start(speak_on, oz);
    poll(NULL, 0, 200);
    oz_close(oz);
    join(speaker);
    oz_disconnect(oz);
    robot_stop(&robot);
}

/* The robot leaves again and again while several threads use the client. */
static void *try_to_use(void *oz) {
    for (int round = 0; round < ROUNDS; round++) {
        int text = oz_speak(oz, "Hello");
        CHECK(text > 0 || oz_error() == OZ_CLOSED);
        CHECK(text < 0 || (oz_wait_for_text(oz, text, -1) == -1 && oz_error() == OZ_CLOSED));
        CHECK(strcmp(oz_long_name(oz), "Alice") == 0);
    }
    return NULL;
}

static void reconnecting_while_others_send(void) {
    struct robot robot;
    pthread_t threads[THREADS];
    robot_start(&robot, MANNER_LEAVES);
    OZ oz = operate(&robot, (struct oz_options){30000, 1, NULL, NULL});
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(try_to_use, oz);
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    oz_disconnect(oz);
    robot_stop(&robot);
}

/* --- callbacks --- */

struct visit {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int events;
    bool is_over;
};

/* Waits for the end of its own text, and then disconnects: it must be told nothing after that. */
static void speak_and_leave(OZ oz, const struct oz_event *event, void *context) {
    struct visit *visit = context;
    pthread_mutex_lock(&visit->lock);
    CHECK(!visit->is_over);
    visit->events++;
    pthread_mutex_unlock(&visit->lock);
    if (event->type != OZ_EVENT_CONNECTED)
        return;
    CHECK(oz_wait_for_text(oz, oz_speak(oz, "Hello"), 30000) == 1);
    oz_disconnect(oz);
    pthread_mutex_lock(&visit->lock);
    visit->is_over = true;
    pthread_cond_signal(&visit->changed);
    pthread_mutex_unlock(&visit->lock);
}

static void callbacks_may_wait_and_disconnect(void) {
    struct robot robot;
    struct visit visit = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};
    struct oz_options options = {30000, 0, speak_and_leave, &visit};
    robot_start(&robot, MANNER_ANSWERS);
    CHECK(oz_connect_with("127.0.0.1", robot.port, &options) != NULL);
    pthread_mutex_lock(&visit.lock);
    while (!visit.is_over)
        pthread_cond_wait(&visit.changed, &visit.lock);
    pthread_mutex_unlock(&visit.lock);
    robot_stop(&robot);
    CHECK(visit.events == 1 && robot.texts == 1);
}

/* --- a program that does not read events --- */

static void old_events_are_lost(void) {
    struct robot robot;
    struct oz_event event;
    int events = 0, images = 0;
    robot_start(&robot, MANNER_ANSWERS);
    OZ oz = operate(&robot, (struct oz_options){30000, 0, NULL, NULL});
    for (int i = 0; i < 3000; i++)
        CHECK(oz_speak(oz, "") == i + 1);
    CHECK(oz_wait_for_speak(oz, 30000) == 1);
    oz_close(oz);
    while (oz_next_event(oz, &event, 0) == 1) {
        events++;
        images += event.type == OZ_EVENT_VIDEO_FRAME;
    }
    CHECK(event.type == OZ_EVENT_DISCONNECTED && events >= 1000 && events <= 4096 && images >= 4 && images <= 8);
    oz_disconnect(oz);
    robot_stop(&robot);
}

/* --- memory --- */

/* The linker has all calls of this program and the library go through these. */
static int allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size) {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_SEQ_CST);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_SEQ_CST);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    __atomic_fetch_add(&allocations, 1, __ATOMIC_SEQ_CST);
    return __real_realloc(memory, size);
}

static void nothing_is_allocated_once_connected(void) {
    static const enum oz_event_type types[] = {OZ_EVENT_CONNECTED,    OZ_EVENT_SPEAK_GESTURE, OZ_EVENT_UTTERANCE,
                                               OZ_EVENT_FACES,        OZ_EVENT_SPEAK_START,   OZ_EVENT_GESTURE_START,
                                               OZ_EVENT_DISCONNECTED};
    static char text[65535];
    float positions[MAX_SERVOS] = {0};
    struct robot robot;
    struct oz_event event;
    memset(text, 'a', sizeof text);
    robot_start(&robot, MANNER_TALKS);
    OZ oz = operate(&robot, (struct oz_options){30000, 1, NULL, NULL});
    int before = __atomic_load_n(&allocations, __ATOMIC_SEQ_CST);
    CHECK(before > 0);
    for (int connection = 0; connection < 3; connection++)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            CHECK(oz_next_event(oz, &event, 30000) == 1 && event.type == types[i]);
            if (event.type == OZ_EVENT_UTTERANCE)
                CHECK(event.option_count == 16 && event.options[15].text_length == 1023);
            if (event.type != OZ_EVENT_FACES)
                continue;
            CHECK(event.face_count == 16 && event.faces[15].name_length == 1023);
            CHECK(oz_speak_text(oz, text, sizeof text) > 0 && oz_set_gesture(oz, GESTURE_YES_LONG) > 0);
            CHECK(oz_set_servo(oz, SERVO_JAW, 0.5F) == 0 && oz_set_all_servos(oz, positions) == 0);
            CHECK(oz_set_expression(oz, EXPRESSION_SAD) == 0 && oz_reset(oz) == 0);
        }
    CHECK(__atomic_load_n(&allocations, __ATOMIC_SEQ_CST) == before);
    oz_disconnect(oz);
    robot_stop(&robot);
}

/* --- what cannot work --- */

static void misuse_is_an_error(void) {
    struct oz_event event;
    struct robot robot;
    struct counts counts;
    memset(&counts, 0, sizeof counts);
    CHECK(oz_connect(NULL, OZ_PORT) == NULL && oz_error() == OZ_MISUSE);
    CHECK(oz_connect("127.0.0.1", 65536) == NULL && oz_error() == OZ_MISUSE);
    CHECK(oz_speak(NULL, "Hello") == -1 && oz_error() == OZ_CLOSED);
    CHECK(oz_wait_for_speak(NULL, -1) == -1 && oz_error() == OZ_CLOSED);
    CHECK(oz_next_event(NULL, &event, -1) == -1 && oz_error() == OZ_CLOSED);
    CHECK(oz_get_auto_blink_speed(NULL) == 2 && !oz_is_speaking(NULL) && oz_name(NULL)[0] == 0);
    oz_close(NULL);
    oz_disconnect(NULL);
    robot_start(&robot, MANNER_ANSWERS);
    OZ oz = operate(&robot, (struct oz_options){0, 0, count_event, &counts});
    CHECK(oz_next_event(oz, &event, 0) == -1 && oz_error() == OZ_MISUSE);
    CHECK(oz_speak(oz, NULL) == -1 && oz_error() == OZ_MISUSE);
    CHECK(oz_set_all_servos(oz, NULL) == -1 && oz_error() == OZ_MISUSE);
    oz_disconnect(oz);
    robot_stop(&robot);
}

int main(void) {
    alarm(300);
    many_threads();
    closing_ends_all_waits();
    closing_ends_a_request_that_is_stuck();
    reconnecting_while_others_send();
    callbacks_may_wait_and_disconnect();
    old_events_are_lost();
    nothing_is_allocated_once_connected();
    misuse_is_an_error();
    return 0;
}
