/* Errors on their way to the program. */

#ifndef OZ_FAILURE_H
#define OZ_FAILURE_H

#include "oz.h"

struct oz_failure {
    enum oz_error error;
    char message[256];
};

#ifdef __GNUC__
#define OZ_FORMAT(text, values) __attribute__((format(printf, text, values)))
#else
#define OZ_FORMAT(text, values)
#endif

/* Describes an error, in the format of printf. */
OZ_FORMAT(3, 4) void oz_describe(struct oz_failure *failure, enum oz_error error, const char *format, ...);

/* Keeps an error for oz_error(); returns -1. */
int oz_fail(const struct oz_failure *failure);
OZ_FORMAT(2, 3) int oz_fail_with(enum oz_error error, const char *format, ...);

#endif
