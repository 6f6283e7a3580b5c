/* Lines that the harness writes. */

#ifndef REPORT_H
#define REPORT_H

#include "oz.h"

/* Parts of a line, between `line_begin` and `line_end`, which keep other threads from writing. */
void line_begin(void);
void line_end(void);
void put(const char *format, ...);
void put_text(const char *text, size_t length);
void put_number(float number);
void put_failure(enum oz_error error, const char *message);

/* A whole line. */
void report_event(const char *client, const struct oz_event *event);

#endif
