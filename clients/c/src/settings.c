/* What the robot is set to, and what this client has set last. */

#include <math.h>

#include "client.h"

void oz_settings_restore(struct oz_settings *settings) {
    settings->voice_gender_language = VGL_DEFAULT;
    settings->expression = EXPRESSION_NEUTRAL;
    settings->lookat = LOOKAT_FORWARD;
    for (int i = 0; i < OZ_FLOAT_SETTINGS; i++)
        settings->floats[i] = 0;
    settings->floats[OZ_VOICE_VOLUME] = 1;
    settings->floats[OZ_VOICE_PITCH] = 1;
    settings->floats[OZ_GESTURE_WEIGHT] = 1;
    settings->floats[OZ_EXPRESSION_WEIGHT] = 1;
    settings->floats[OZ_AUTO_BLINK_SPEED] = 2;
    settings->floats[OZ_LOOKAT_WEIGHT] = 1;
    for (int i = 0; i < MAX_SERVOS; i++)
        settings->servos[i] = NAN;
}

int oz_reset(OZ oz) {
    struct oz_client *client = oz;
    if (!oz_request_begin(client))
        return -1;
    bool is_sent = oz_request_send(client, oz_put_word(client->request, MSG_RESET));
    if (is_sent)
        oz_settings_restore(&client->settings);
    return oz_request_end(client, is_sent ? 0 : -1);
}

/* A copy of the settings; the defaults if there is no client. */
static struct oz_settings settings(struct oz_client *client) {
    struct oz_settings copy;
    if (client == NULL) {
        oz_settings_restore(&copy);
        return copy;
    }
    oz_monitor_enter(&client->monitor);
    copy = client->settings;
    oz_monitor_leave(&client->monitor);
    return copy;
}

static bool check_finite(const char *what, float value) {
    if (isfinite(value))
        return true;
    oz_fail_with(OZ_NOT_FINITE, "%s %g is not a finite number", what, (double)value);
    return false;
}

static bool check_range(const char *what, int value, int count) {
    if (value >= 0 && value < count)
        return true;
    oz_fail_with(OZ_OUT_OF_RANGE, "%s %d is out of range 0 to %d", what, value, count - 1);
    return false;
}

/* --- one of a list --- */

static int send_choice(struct oz_client *client, uint32_t message, int value, int *setting) {
    bool is_sent = oz_request_send(client, oz_put_word(oz_put_word(client->request, message), (uint32_t)value));
    if (is_sent)
        *setting = value;
    return oz_request_end(client, is_sent ? 0 : -1);
}

int oz_set_voice_gender_language(OZ oz, int vgl) {
    struct oz_client *client = oz;
    if (!oz_request_begin(client))
        return -1;
    return send_choice(client, MSG_VOICE_GENDER_LANGUAGE, vgl, &client->settings.voice_gender_language);
}

int oz_get_voice_gender_language(OZ oz) { return settings(oz).voice_gender_language; }

int oz_set_expression(OZ oz, int id) {
    struct oz_client *client = oz;
    if (!check_range("expression", id, EXPRESSION_AFRAID + 1) || !oz_request_begin(client))
        return -1;
    return send_choice(client, MSG_EXPRESSION, id, &client->settings.expression);
}

int oz_get_expression(OZ oz) { return settings(oz).expression; }

int oz_set_lookat(OZ oz, int mode) {
    struct oz_client *client = oz;
    if (!check_range("lookat mode", mode, LOOKAT_AWAY + 1) || !oz_request_begin(client))
        return -1;
    return send_choice(client, MSG_LOOKAT, mode, &client->settings.lookat);
}

int oz_get_lookat(OZ oz) { return settings(oz).lookat; }

/* --- numbers --- */

static int set_float(struct oz_client *client, uint32_t message, enum oz_float_setting setting, const char *what, float value) {
    if (!check_finite(what, value) || !oz_request_begin(client))
        return -1;
    bool is_sent = oz_request_send(client, oz_put_float(oz_put_word(client->request, message), value));
    if (is_sent)
        client->settings.floats[setting] = value;
    return oz_request_end(client, is_sent ? 0 : -1);
}

/* Defines oz_set_NAME and oz_get_NAME. */
#define FLOAT_SETTING(name, NAME, what)                                                                                        \
    int oz_set_##name(OZ oz, float value) { return set_float(oz, MSG_##NAME, OZ_##NAME, what, value); }                        \
    float oz_get_##name(OZ oz) { return settings(oz).floats[OZ_##NAME]; }

FLOAT_SETTING(voice_volume, VOICE_VOLUME, "volume")
FLOAT_SETTING(voice_pitch, VOICE_PITCH, "pitch")
FLOAT_SETTING(gesture_weight, GESTURE_WEIGHT, "gesture weight")
FLOAT_SETTING(expression_weight, EXPRESSION_WEIGHT, "expression weight")
FLOAT_SETTING(auto_blink_speed, AUTO_BLINK_SPEED, "blink speed")
FLOAT_SETTING(random_head_weight, RANDOM_HEAD_WEIGHT, "random head weight")
FLOAT_SETTING(random_eyes_weight, RANDOM_EYES_WEIGHT, "random eyes weight")
FLOAT_SETTING(random_face_weight, RANDOM_FACE_WEIGHT, "random face weight")
FLOAT_SETTING(direct_weight, DIRECT_WEIGHT, "direct weight")
FLOAT_SETTING(lookat_weight, LOOKAT_WEIGHT, "lookat weight")

/* --- servos --- */

int oz_set_servo(OZ oz, int id, float position) {
    struct oz_client *client = oz;
    if (!check_range("servo", id, MAX_SERVOS) || !check_finite("position", position) || !oz_request_begin(client))
        return -1;
    uint8_t *end = oz_put_word(oz_put_word(client->request, MSG_SERVO), (uint32_t)id);
    bool is_sent = oz_request_send(client, oz_put_float(end, position));
    if (is_sent)
        client->settings.servos[id] = position;
    return oz_request_end(client, is_sent ? 0 : -1);
}

float oz_get_servo(OZ oz, int id) { return check_range("servo", id, MAX_SERVOS) ? settings(oz).servos[id] : NAN; }

int oz_set_all_servos(OZ oz, const float *positions) {
    struct oz_client *client = oz;
    if (positions == NULL)
        return oz_fail_with(OZ_MISUSE, "there are no positions");
    for (int i = 0; i < MAX_SERVOS; i++)
        if (!check_finite("position", positions[i]))
            return -1;
    if (!oz_request_begin(client))
        return -1;
    uint8_t *end = oz_put_word(client->request, MSG_ALL_SERVOS);
    for (int i = 0; i < MAX_SERVOS; i++)
        end = oz_put_float(end, positions[i]);
    bool is_sent = oz_request_send(client, end);
    for (int i = 0; is_sent && i < MAX_SERVOS; i++)
        client->settings.servos[i] = positions[i];
    return oz_request_end(client, is_sent ? 0 : -1);
}

void oz_get_all_servos(OZ oz, float *positions) {
    struct oz_settings copy = settings(oz);
    for (int i = 0; i < MAX_SERVOS; i++)
        positions[i] = copy.servos[i];
}
