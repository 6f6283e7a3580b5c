/* JSON as the conformance suite writes it. */

#ifndef JSON_H
#define JSON_H

#include <stddef.h>

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

struct json {
    enum json_type type;
    char *key;  /* in an object */
    char *text; /* of a number as well; terminated */
    size_t length;
    struct json *first; /* of a list or an object */
    struct json *next;
};

/* Exits if it is not JSON. */
struct json *json_parse(const char *text);
void json_free(struct json *value);

/* NULL if there is none. */
const struct json *json_field(const struct json *object, const char *key);
/* Exits if there is none. */
const struct json *json_element(const struct json *list, int index);

#endif
