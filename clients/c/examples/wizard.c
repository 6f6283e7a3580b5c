/* A small Wizard of Oz: looks at the nearest person, greets newcomers, and answers what they say.
 *
 *     rossum serve --scenario oz
 *     wizard
 *     wizard --say "[braisel]Good morning. [yesl]How nice to see you."
 */

#include <ctype.h>
#include <oz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* s without a face, after which the next person is greeted */
enum { GREET_AGAIN = 30 };

/* A recognised word and the reply to it; the first match wins. */
static const struct {
    const char *word, *reply;
} answers[] = {
    {"name", "[braises]I am Alice."},
    {"no", "[nos3]No? [yesl]As you like."},
    {"you", "[wob]I am well, thank you. [braisel]And you?"},
};

static int has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    while (*text != 0) {
        size_t i = 0;
        while (isalpha((unsigned char)text[i]) || text[i] == '\'')
            i++;
        size_t same = 0;
        while (same < length && tolower((unsigned char)text[same]) == word[same])
            same++;
        if (i == length && same == length)
            return 1;
        text += i > 0 ? i : 1;
    }
    return 0;
}

static const char *answer(const char *heard) {
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (has_word(heard, answers[i].word))
            return answers[i].reply;
    return "[yess3]I see. [braisel]Tell me more.";
}

static void greet(OZ robot, const struct oz_event *event) {
    const struct oz_face *nearest = event->faces;
    char text[256];
    for (int i = 1; i < event->face_count; i++)
        if (event->faces[i].width * event->faces[i].height > nearest->width * nearest->height)
            nearest = &event->faces[i];
    snprintf(text, sizeof text, "[braises]Hello %.100s! [wob]Nice to see you.", nearest->name);
    oz_set_expression(robot, EXPRESSION_HAPPY);
    oz_speak(robot, text);
}

static void handle(OZ robot, const struct oz_event *event) {
    static int faces;
    static time_t last_face = -GREET_AGAIN;
    if (event->type == OZ_EVENT_FACES) {
        time_t now = time(NULL);
        if (event->face_count != faces)
            printf("sees %d faces\n", event->face_count);
        if (event->face_count > 0 && now - last_face >= GREET_AGAIN)
            greet(robot, event);
        if (event->face_count > 0)
            last_face = now;
        faces = event->face_count;
    } else if (event->type == OZ_EVENT_UTTERANCE && event->option_count > 0) {
        const char *heard = event->options[0].text, *reply = answer(heard);
        printf("hears \"%s\" (%.0f %%), says \"%s\"\n", heard, 100.0 * (double)event->options[0].confidence, reply);
        oz_speak(robot, reply);
    } else if (event->type == OZ_EVENT_SPEAK_GESTURE) {
        printf("makes gesture %lu\n", (unsigned long)event->gesture);
    } else if (event->type == OZ_EVENT_SPEAK_DONE) {
        printf("has spoken\n");
        oz_set_expression(robot, EXPRESSION_NEUTRAL);
    } else if (event->type == OZ_EVENT_DISCONNECTED) {
        fprintf(stderr, "%s\n", event->message);
    }
    fflush(stdout);
}

static int usage(void) {
    fprintf(stderr, "usage: wizard [--robot HOST:PORT] [--say TEXT]\n");
    return 2;
}

int main(int count, char **arguments) {
    char host[256] = "127.0.0.1";
    const char *text = NULL;
    int port = OZ_PORT;
    for (int i = 1; i < count; i += 2) {
        if (i + 1 == count)
            return usage();
        if (strcmp(arguments[i], "--say") == 0) {
            text = arguments[i + 1];
        } else if (strcmp(arguments[i], "--robot") == 0 && sscanf(arguments[i + 1], "%255[^:]:%d", host, &port) == 2) {
            continue;
        } else {
            return usage();
        }
    }
    OZ robot = oz_connect(host, port);
    if (robot == NULL) {
        fprintf(stderr, "%s\n", oz_error_message());
        return 1;
    }
    printf("operating %s: %s\n", oz_name(robot), oz_long_name(robot));
    oz_skip_video(robot, 1);
    oz_set_lookat(robot, LOOKAT_LARGEST);
    /* eyes that never move look dead */
    oz_set_random_eyes_weight(robot, 0.3F);
    if (text != NULL)
        oz_speak(robot, text);
    struct oz_event event;
    while (oz_next_event(robot, &event, -1) == 1)
        handle(robot, &event);
    oz_disconnect(robot);
    return 1;
}
