/* TCP, with deadlines, and with a way to wake the threads that wait. */

#ifndef OZ_SOCKET_H
#define OZ_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "platform.h"

#ifdef _WIN32
typedef SOCKET oz_socket;
#define OZ_NO_SOCKET INVALID_SOCKET
#else
typedef int oz_socket;
#define OZ_NO_SOCKET (-1)
#endif

/* What other threads set to end all waits on a socket, until it is reset. */
struct oz_waker {
#ifdef _WIN32
    volatile LONG is_set;
#else
    int ends[2]; /* of a pipe that has something to read while it is set */
#endif
};

/* What has come of waiting for a socket. */
enum oz_outcome { OZ_OUTCOME_DONE, OZ_OUTCOME_ENDED, OZ_OUTCOME_LATE, OZ_OUTCOME_WOKEN };

/* Before all else, and after it. */
bool oz_sockets_start(void);
void oz_sockets_stop(void);

bool oz_waker_create(struct oz_waker *waker);
void oz_waker_destroy(struct oz_waker *waker);
void oz_waker_set(struct oz_waker *waker);
void oz_waker_reset(struct oz_waker *waker);

/* Connects to the first address that answers. Returns OZ_NO_SOCKET on failure. */
oz_socket oz_socket_connect(const char *host, int port, int64_t deadline, struct oz_waker *waker, struct oz_failure *failure);

/* Receives what is there, at least a byte. */
enum oz_outcome oz_socket_receive(oz_socket handle, struct oz_waker *waker, int64_t deadline, uint8_t *to, size_t size,
                                  size_t *received);

/* Sends everything. The peer may take `timeout_ms` for each part that it reads. */
enum oz_outcome oz_socket_send(oz_socket handle, struct oz_waker *waker, int timeout_ms, const uint8_t *bytes, size_t length);

/* Tells the peer that nothing more will be sent. */
void oz_socket_finish(oz_socket handle);

void oz_socket_close(oz_socket handle);

#endif
