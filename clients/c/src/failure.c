#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

#include "platform.h"

static OZ_THREAD_LOCAL struct oz_failure last;

static void describe(struct oz_failure *failure, enum oz_error error, const char *format, va_list values) {
    failure->error = error;
    vsnprintf(failure->message, sizeof failure->message, format, values);
}

void oz_describe(struct oz_failure *failure, enum oz_error error, const char *format, ...) {
    va_list values;
    va_start(values, format);
    describe(failure, error, format, values);
    va_end(values);
}

int oz_fail(const struct oz_failure *failure) {
    last = *failure;
    return -1;
}

int oz_fail_with(enum oz_error error, const char *format, ...) {
    va_list values;
    va_start(values, format);
    describe(&last, error, format, values);
    va_end(values);
    return -1;
}

enum oz_error oz_error(void) { return last.error; }

const char *oz_error_message(void) { return last.message; }
