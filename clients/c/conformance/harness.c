/* The conformance harness; see protocols/oz/conformance/README.md.
 *
 *     harness [--poll]
 *
 * Events come to a callback, or with --poll, a thread reads them.
 */

#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "oz.h"
#include "report.h"

enum { MAX_CLIENTS = 16 };

/* A client, and the thread that reads its events, if there is one. */
struct entry {
    char name[32];
    OZ oz;
    pthread_t reader;
};

static struct entry clients[MAX_CLIENTS];
static bool is_polling;

static void die(const char *what, const char *which) {
    fprintf(stderr, "%s: %s\n", what, which);
    exit(1);
}

/* --- clients --- */

static struct entry *entry_of(const char *name) {
    for (struct entry *entry = clients; entry < clients + MAX_CLIENTS; entry++) {
        if (entry->name[0] == 0)
            snprintf(entry->name, sizeof entry->name, "%s", name);
        if (strcmp(entry->name, name) == 0)
            return entry;
    }
    die("too many clients", name);
    return NULL;
}

static void tell(OZ oz, const struct oz_event *event, void *context) {
    (void)oz;
    report_event(((struct entry *)context)->name, event);
}

static void *read_events(void *argument) {
    struct entry *entry = argument;
    struct oz_event event;
    while (oz_next_event(entry->oz, &event, -1) == 1)
        report_event(entry->name, &event);
    return NULL;
}

static void drop(struct entry *entry) {
    if (entry->oz == NULL)
        return;
    oz_close(entry->oz);
    if (is_polling)
        pthread_join(entry->reader, NULL);
    oz_disconnect(entry->oz);
    entry->oz = NULL;
}

static bool connect_client(struct entry *entry, const struct json *fields) {
    struct oz_options options = {0, 0, NULL, NULL};
    const struct json *reconnect = json_field(fields, "reconnect_ms");
    options.timeout_ms = atoi(json_field(fields, "timeout_ms")->text);
    options.reconnect_ms = reconnect != NULL ? atoi(reconnect->text) : 0;
    if (!is_polling) {
        options.callback = tell;
        options.context = entry;
    }
    drop(entry);
    entry->oz = oz_connect_with(json_field(fields, "host")->text, atoi(json_field(fields, "port")->text), &options);
    if (entry->oz != NULL && is_polling && pthread_create(&entry->reader, NULL, read_events, entry) != 0)
        die("no thread", entry->name);
    return entry->oz != NULL;
}

/* --- constants --- */

#define CONSTANT(name) {#name, name}

static const struct {
    const char *name;
    int value;
} constants[] = {
    CONSTANT(OZ_PORT),
    CONSTANT(SERVO_WAIST),
    CONSTANT(SERVO_SHOULDER_PITCH_LEFT),
    CONSTANT(SERVO_SHOULDER_ROLL_LEFT),
    CONSTANT(SERVO_ELBOW_YAW_LEFT),
    CONSTANT(SERVO_ELBOW_PITCH_LEFT),
    CONSTANT(SERVO_SHOULDER_PITCH_RIGHT),
    CONSTANT(SERVO_SHOULDER_ROLL_RIGHT),
    CONSTANT(SERVO_ELBOW_YAW_RIGHT),
    CONSTANT(SERVO_ELBOW_PITCH_RIGHT),
    CONSTANT(SERVO_HIP_ROLL_LEFT),
    CONSTANT(SERVO_HIP_YAW_LEFT),
    CONSTANT(SERVO_HIP_PITCH_LEFT),
    CONSTANT(SERVO_KNEE_PITCH_LEFT),
    CONSTANT(SERVO_ANKLE_PITCH_LEFT),
    CONSTANT(SERVO_ANKLE_ROLL_LEFT),
    CONSTANT(SERVO_HIP_ROLL_RIGHT),
    CONSTANT(SERVO_HIP_YAW_RIGHT),
    CONSTANT(SERVO_HIP_PITCH_RIGHT),
    CONSTANT(SERVO_KNEE_PITCH_RIGHT),
    CONSTANT(SERVO_ANKLE_PITCH_RIGHT),
    CONSTANT(SERVO_ANKLE_ROLL_RIGHT),
    CONSTANT(SERVO_NECK_YAW),
    CONSTANT(SERVO_NECK_ROLL),
    CONSTANT(SERVO_NECK_PITCH),
    CONSTANT(SERVO_BROWS),
    CONSTANT(SERVO_EYELIDS),
    CONSTANT(SERVO_EYES_PITCH),
    CONSTANT(SERVO_JAW),
    CONSTANT(SERVO_EYE_YAW_RIGHT),
    CONSTANT(SERVO_SMILE_LEFT),
    CONSTANT(SERVO_EYE_YAW_LEFT),
    CONSTANT(SERVO_SMILE_RIGHT),
    CONSTANT(SERVO_WRIST_LEFT),
    CONSTANT(SERVO_GRASP_LEFT),
    CONSTANT(SERVO_WRIST_RIGHT),
    CONSTANT(SERVO_GRASP_RIGHT),
    CONSTANT(MAX_SERVOS),
    CONSTANT(VGL_DEFAULT),
    CONSTANT(GESTURE_BROW_RAISE_LONG),
    CONSTANT(GESTURE_BROW_RAISE_SHORT),
    CONSTANT(GESTURE_FROWN_LONG),
    CONSTANT(GESTURE_FROWN_SHORT),
    CONSTANT(GESTURE_YES_LONG),
    CONSTANT(GESTURE_YES_SHORT),
    CONSTANT(GESTURE_YES_LONG_3X),
    CONSTANT(GESTURE_YES_SHORT_3X),
    CONSTANT(GESTURE_NO_LONG),
    CONSTANT(GESTURE_NO_SHORT),
    CONSTANT(GESTURE_NO_LONG_3X),
    CONSTANT(GESTURE_NO_SHORT_3X),
    CONSTANT(GESTURE_INDIAN_WOBBLE),
    CONSTANT(MAX_GESTURES),
    CONSTANT(EXPRESSION_NEUTRAL),
    CONSTANT(EXPRESSION_HAPPY),
    CONSTANT(EXPRESSION_SAD),
    CONSTANT(EXPRESSION_EVIL),
    CONSTANT(EXPRESSION_AFRAID),
    CONSTANT(LOOKAT_FORWARD),
    CONSTANT(LOOKAT_DOWN),
    CONSTANT(LOOKAT_UP),
    CONSTANT(LOOKAT_LARGEST),
    CONSTANT(LOOKAT_SMALLEST),
    CONSTANT(LOOKAT_AWAY),
    CONSTANT(MSG_NOTHING),
    CONSTANT(MSG_REQUEST_VERSION),
    CONSTANT(MSG_RESET),
    CONSTANT(MSG_SPEAK),
    CONSTANT(MSG_VOICE_GENDER_LANGUAGE),
    CONSTANT(MSG_VOICE_VOLUME),
    CONSTANT(MSG_VOICE_PITCH),
    CONSTANT(MSG_GESTURE),
    CONSTANT(MSG_GESTURE_WEIGHT),
    CONSTANT(MSG_EXPRESSION),
    CONSTANT(MSG_EXPRESSION_WEIGHT),
    CONSTANT(MSG_AUTO_BLINK_SPEED),
    CONSTANT(MSG_RANDOM_HEAD_WEIGHT),
    CONSTANT(MSG_RANDOM_EYES_WEIGHT),
    CONSTANT(MSG_RANDOM_FACE_WEIGHT),
    CONSTANT(MSG_SERVO),
    CONSTANT(MSG_ALL_SERVOS),
    CONSTANT(MSG_DIRECT_WEIGHT),
    CONSTANT(MSG_LOOKAT),
    CONSTANT(MSG_LOOKAT_WEIGHT),
    CONSTANT(MSG_SPEAK_DONE),
    CONSTANT(MSG_GESTURE_DONE),
    CONSTANT(MSG_SPEAK_GESTURE),
    CONSTANT(MSG_UTTERANCE),
    CONSTANT(MSG_FACES),
    CONSTANT(MSG_VIDEO_FRAME),
};

static void put_constants(void) {
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        put("%c\"%s\":%d", i == 0 ? '{' : ',', constants[i].name, constants[i].value);
    put("}");
}

static void put_tags(void) {
    for (int i = 0; oz_gesture_tag(i) != NULL; i++)
        put("%s\"%s\"", i == 0 ? "[" : ",", oz_gesture_tag(i));
    put("]");
}

/* --- calls --- */

/* By what a call takes and returns. */
static const struct {
    const char *name;
    int (*function)(OZ oz);
} questions[] = {{"is_connected", oz_is_connected}, {"speaking", oz_is_speaking}, {"gesturing", oz_is_gesturing}};

static const struct {
    const char *name;
    int (*function)(OZ oz, int timeout_ms);
} waits[] = {{"wait_for_speak", oz_wait_for_speak}, {"wait_for_gesture", oz_wait_for_gesture}};

static const struct {
    const char *name;
    int (*function)(OZ oz, int number, int timeout_ms);
} awaits[] = {{"await_text", oz_wait_for_text}, {"await_gesture", oz_wait_for_gesture_number}};

static const struct {
    const char *name;
    int (*set)(OZ oz, int id);
    int (*get)(OZ oz);
} choices[] = {
    {"voice_gender_language", oz_set_voice_gender_language, oz_get_voice_gender_language},
    {"expression", oz_set_expression, oz_get_expression},
    {"look_at", oz_set_lookat, oz_get_lookat},
};

static const struct {
    const char *name;
    int (*set)(OZ oz, float value);
    float (*get)(OZ oz);
} numbers[] = {
    {"voice_volume", oz_set_voice_volume, oz_get_voice_volume},
    {"voice_pitch", oz_set_voice_pitch, oz_get_voice_pitch},
    {"gesture_weight", oz_set_gesture_weight, oz_get_gesture_weight},
    {"expression_weight", oz_set_expression_weight, oz_get_expression_weight},
    {"auto_blink_speed", oz_set_auto_blink_speed, oz_get_auto_blink_speed},
    {"random_head_weight", oz_set_random_head_weight, oz_get_random_head_weight},
    {"random_eyes_weight", oz_set_random_eyes_weight, oz_get_random_eyes_weight},
    {"random_face_weight", oz_set_random_face_weight, oz_get_random_face_weight},
    {"direct_weight", oz_set_direct_weight, oz_get_direct_weight},
    {"look_at_weight", oz_set_lookat_weight, oz_get_lookat_weight},
};

/* Finds a name in one of these tables. */
#define FIND(table, wanted) find(wanted, &table[0].name, sizeof *table, sizeof table / sizeof *table)

static int find(const char *wanted, const void *table, size_t size, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(*(const char *const *)((const char *)table + i * size), wanted) == 0)
            return (int)i;
    return -1;
}

/* An answer: a failure if `status` is negative, or else what was written. */
struct answer {
    int id;
    int status;
};

static void begin(const struct answer *answer) {
    line_begin();
    put("{\"id\":%d,\"%s\":", answer->id, answer->status < 0 ? "fails" : "returns");
    if (answer->status < 0)
        put_failure(oz_error(), oz_error_message());
}

static void end(void) {
    put("}");
    line_end();
}

static void answer_nothing(int id, int status) {
    begin(&(struct answer){id, status});
    if (status >= 0)
        put("null");
    end();
}

static void answer_truth(int id, int status) {
    begin(&(struct answer){id, status});
    if (status >= 0)
        put(status ? "true" : "false");
    end();
}

static void answer_text(int id, const char *text) {
    begin(&(struct answer){id, 0});
    put_text(text, strlen(text));
    end();
}

static void put_position(float position) {
    if (isnan(position))
        put("null");
    else
        put_number(position);
}

static int int_argument(const struct json *arguments, int index) {
    long long value = strtoll(json_element(arguments, index)->text, NULL, 10);
    if (value != (int)value)
        die("not an int", json_element(arguments, index)->text);
    return (int)value;
}

/* Too large ones become infinite, as in programs. */
static float float_argument(const struct json *arguments, int index) {
    return strtof(json_element(arguments, index)->text, NULL);
}

/* A setting whose name begins with set_, or without it is asked for; false if there is no such setting. */
static bool call_setting(int id, OZ oz, const char *name, const struct json *arguments) {
    bool is_set = strncmp(name, "set_", 4) == 0;
    const char *setting = is_set ? name + 4 : name;
    int choice = FIND(choices, setting), number = FIND(numbers, setting);
    if (choice < 0 && number < 0)
        return false;
    if (is_set) {
        answer_nothing(id, choice >= 0 ? choices[choice].set(oz, int_argument(arguments, 0))
                                       : numbers[number].set(oz, float_argument(arguments, 0)));
        return true;
    }
    begin(&(struct answer){id, 0});
    if (choice >= 0)
        put("%d", choices[choice].get(oz));
    else
        put_number(numbers[number].get(oz));
    end();
    return true;
}

static bool call_servo(int id, OZ oz, const char *name, const struct json *arguments) {
    float positions[MAX_SERVOS];
    if (strcmp(name, "set_servo") == 0) {
        answer_nothing(id, oz_set_servo(oz, int_argument(arguments, 0), float_argument(arguments, 1)));
    } else if (strcmp(name, "set_all_servos") == 0) {
        for (int i = 0; i < MAX_SERVOS; i++)
            positions[i] = float_argument(json_element(arguments, 0), i);
        answer_nothing(id, oz_set_all_servos(oz, positions));
    } else if (strcmp(name, "servo") == 0) {
        begin(&(struct answer){id, 0});
        put_position(oz_get_servo(oz, int_argument(arguments, 0)));
        end();
    } else if (strcmp(name, "all_servos") == 0) {
        oz_get_all_servos(oz, positions);
        begin(&(struct answer){id, 0});
        for (int i = 0; i < MAX_SERVOS; i++) {
            put(i == 0 ? "[" : ",");
            put_position(positions[i]);
        }
        put("]");
        end();
    } else {
        return false;
    }
    return true;
}

static bool call_activity(int id, OZ oz, const char *name, const struct json *arguments) {
    int found;
    if (strcmp(name, "speak") == 0) {
        const struct json *text = json_element(arguments, 0);
        /* the short form, unless there is a NUL */
        bool is_plain = strlen(text->text) == text->length;
        answer_nothing(id, is_plain ? oz_speak(oz, text->text) : oz_speak_text(oz, text->text, text->length));
    } else if (strcmp(name, "gesture") == 0) {
        answer_nothing(id, oz_set_gesture(oz, int_argument(arguments, 0)));
    } else if ((found = FIND(questions, name)) >= 0) {
        answer_truth(id, questions[found].function(oz));
    } else if ((found = FIND(waits, name)) >= 0) {
        answer_truth(id, waits[found].function(oz, int_argument(arguments, 0)));
    } else if ((found = FIND(awaits, name)) >= 0) {
        answer_truth(id, awaits[found].function(oz, int_argument(arguments, 0), int_argument(arguments, 1)));
    } else {
        return false;
    }
    return true;
}

static bool call_connection(int id, struct entry *entry, const char *name, const struct json *arguments) {
    if (strcmp(name, "connect") == 0) {
        answer_nothing(id, connect_client(entry, json_element(arguments, 0)) ? 0 : -1);
    } else if (strcmp(name, "disconnect") == 0) {
        oz_close(entry->oz);
        answer_nothing(id, 0);
    } else if (strcmp(name, "name") == 0) {
        answer_text(id, oz_name(entry->oz));
    } else if (strcmp(name, "long_name") == 0) {
        answer_text(id, oz_long_name(entry->oz));
    } else if (strcmp(name, "version") == 0) {
        begin(&(struct answer){id, 0});
        put("%lu", (unsigned long)oz_version(entry->oz));
        end();
    } else if (strcmp(name, "reset") == 0) {
        answer_nothing(id, oz_reset(entry->oz));
    } else if (strcmp(name, "skip_video") == 0) {
        answer_nothing(id, oz_skip_video(entry->oz, json_element(arguments, 0)->type == JSON_TRUE));
    } else if (strcmp(name, "constants") == 0 || strcmp(name, "gesture_tags") == 0) {
        begin(&(struct answer){id, 0});
        (*name == 'c' ? put_constants : put_tags)();
        end();
    } else {
        return false;
    }
    return true;
}

static void handle(const struct json *command) {
    int id = atoi(json_field(command, "id")->text);
    const char *name = json_field(command, "call")->text;
    const struct json *arguments = json_field(command, "args");
    struct entry *entry = entry_of(json_field(command, "client")->text);
    if (!call_connection(id, entry, name, arguments) && !call_activity(id, entry->oz, name, arguments) &&
        !call_servo(id, entry->oz, name, arguments) && !call_setting(id, entry->oz, name, arguments))
        die("no such call", name);
}

int main(int count, char **arguments) {
    char *line = NULL;
    size_t size = 0;
    is_polling = count == 2 && strcmp(arguments[1], "--poll") == 0;
    while (getline(&line, &size, stdin) > 0) {
        struct json *command = json_parse(line);
        handle(command);
        json_free(command);
    }
    free(line);
    for (struct entry *entry = clients; entry < clients + MAX_CLIENTS; entry++)
        drop(entry);
    return 0;
}
