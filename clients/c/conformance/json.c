#include "json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
    fprintf(stderr, "not JSON: %.100s\n", what);
    exit(1);
}

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL)
        fail("no memory");
    return memory;
}

static void skip_spaces(const char **at) { *at += strspn(*at, " \t\r\n"); }

static void expect(const char **at, char wanted) {
    skip_spaces(at);
    if (**at != wanted)
        fail(*at);
    ++*at;
}

static uint32_t hex4(const char **at) {
    char digits[5] = "", *end;
    strncpy(digits, *at, 4);
    uint32_t value = (uint32_t)strtoul(digits, &end, 16);
    if (end != digits + 4)
        fail(*at);
    *at += 4;
    return value;
}

static uint32_t escaped(const char **at) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char name = *(*at)++;
    if (name != 'u') {
        const char *found = name != 0 ? strchr(names, name) : NULL;
        if (found == NULL)
            fail(*at);
        return (uint32_t)(unsigned char)values[found - names];
    }
    uint32_t unit = hex4(at);
    if (unit < 0xD800 || unit > 0xDBFF)
        return unit;
    expect(at, '\\');
    expect(at, 'u');
    return 0x10000 + ((unit - 0xD800) << 10) + (hex4(at) - 0xDC00);
}

static char *put_utf8(char *to, uint32_t character) {
    static const unsigned char heads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    int count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (int i = count - 1; i > 0; i--, character >>= 6)
        to[i] = (char)(0x80 | (character & 0x3F));
    to[0] = (char)(heads[count] | character);
    return to + count;
}

/* Takes a text after its first quotation mark. */
static char *parse_text(const char **at, size_t *length) {
    const char *end = *at;
    while (*end != '"') {
        if (*end == 0)
            fail(*at);
        end += *end == '\\' && end[1] != 0 ? 2 : 1;
    }
    /* an escape is longer than what it stands for */
    char *text = allocate((size_t)(end - *at) + 1), *to = text;
    while (*at < end) {
        if (**at == '\\') {
            ++*at;
            to = put_utf8(to, escaped(at));
        } else {
            *to++ = *(*at)++;
        }
    }
    ++*at;
    *length = (size_t)(to - text);
    return text;
}

static struct json *parse_value(const char **at);

static struct json *parse_members(const char **at, char end, int has_keys) {
    struct json *first = NULL, **last = &first;
    skip_spaces(at);
    if (**at == end) {
        ++*at;
        return NULL;
    }
    for (;;) {
        char *key = NULL;
        size_t length;
        if (has_keys) {
            expect(at, '"');
            key = parse_text(at, &length);
            expect(at, ':');
        }
        *last = parse_value(at);
        (*last)->key = key;
        last = &(*last)->next;
        skip_spaces(at);
        if (**at != ',')
            break;
        ++*at;
    }
    expect(at, end);
    return first;
}

static struct json *parse_value(const char **at) {
    static const struct {
        const char *word;
        enum json_type type;
    } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
    struct json *value = allocate(sizeof *value);
    skip_spaces(at);
    char first = **at;
    if (first == '"') {
        ++*at;
        value->type = JSON_TEXT;
        value->text = parse_text(at, &value->length);
        return value;
    }
    if (first == '[' || first == '{') {
        ++*at;
        value->type = first == '[' ? JSON_LIST : JSON_OBJECT;
        value->first = parse_members(at, first == '[' ? ']' : '}', first == '{');
        return value;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(*at, words[i].word, length) == 0) {
            *at += length;
            value->type = words[i].type;
            return value;
        }
    }
    value->type = JSON_NUMBER;
    value->length = strspn(*at, "+-.0123456789eE");
    if (value->length == 0)
        fail(*at);
    value->text = allocate(value->length + 1);
    memcpy(value->text, *at, value->length);
    *at += value->length;
    return value;
}

struct json *json_parse(const char *text) {
    struct json *value = parse_value(&text);
    skip_spaces(&text);
    if (*text != 0)
        fail(text);
    return value;
}

void json_free(struct json *value) {
    while (value != NULL) {
        struct json *next = value->next;
        json_free(value->first);
        free(value->key);
        free(value->text);
        free(value);
        value = next;
    }
}

const struct json *json_field(const struct json *object, const char *key) {
    const struct json *field = object->first;
    while (field != NULL && strcmp(field->key, key) != 0)
        field = field->next;
    return field;
}

const struct json *json_element(const struct json *list, int index) {
    const struct json *element = list->first;
    while (element != NULL && index-- > 0)
        element = element->next;
    if (element == NULL)
        fail("an argument is missing");
    return element;
}
