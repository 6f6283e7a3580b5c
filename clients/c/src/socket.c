#include "posix.h"

#include "socket.h"

#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#include <ws2tcpip.h>
#else
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#endif

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* What a thread waits for. */
enum readiness { READABLE, WRITABLE };

/* --- what differs --- */

#ifdef _WIN32

typedef int io_length;

/* Nothing else wakes a thread that waits for a socket: it looks this often, in ms. */
enum { WAKER_INTERVAL = 20 };

bool oz_sockets_start(void) {
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

void oz_sockets_stop(void) { WSACleanup(); }

bool oz_waker_create(struct oz_waker *waker) {
    waker->is_set = 0;
    return true;
}

/* it owns nothing */
void oz_waker_destroy(struct oz_waker *waker) { (void)waker; }

void oz_waker_set(struct oz_waker *waker) { InterlockedExchange(&waker->is_set, 1); }

void oz_waker_reset(struct oz_waker *waker) { InterlockedExchange(&waker->is_set, 0); }

/* `select`: before Windows 10, `WSAPoll` does not report that a connection has failed. */
static enum oz_outcome await(oz_socket handle, enum readiness readiness, struct oz_waker *waker, int64_t deadline) {
    for (;;) {
        fd_set sockets, failed;
        FD_ZERO(&sockets);
        FD_ZERO(&failed);
        FD_SET(handle, &sockets);
        FD_SET(handle, &failed);
        int left = oz_time_left(deadline);
        int pause = left < 0 || left > WAKER_INTERVAL ? WAKER_INTERVAL : left;
        struct timeval time = {0, pause * 1000L};
        bool is_readable = readiness == READABLE;
        int ready = select(0, is_readable ? &sockets : NULL, is_readable ? NULL : &sockets, &failed, &time);
        if (InterlockedCompareExchange(&waker->is_set, 0, 0) != 0)
            return OZ_OUTCOME_WOKEN;
        if (ready != 0)
            return ready > 0 ? OZ_OUTCOME_DONE : OZ_OUTCOME_ENDED;
        if (left == 0)
            return OZ_OUTCOME_LATE;
    }
}

static int last_error(void) { return WSAGetLastError(); }
static bool is_interrupted(int error) { return error == WSAEINTR; }
static bool would_block(int error) { return error == WSAEWOULDBLOCK; }
static bool is_in_progress(int error) { return error == WSAEWOULDBLOCK; }

static void describe_system(int error, char *to, size_t size) {
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, (DWORD)error, 0, to,
                                  (DWORD)size, NULL);
    if (length == 0)
        snprintf(to, size, "error %d", error);
    else
        to[strcspn(to, "\r\n")] = 0;
}

static bool prepare(oz_socket handle) {
    u_long is_nonblocking = 1;
    return ioctlsocket(handle, FIONBIO, &is_nonblocking) == 0;
}

void oz_socket_finish(oz_socket handle) { shutdown(handle, SD_SEND); }

void oz_socket_close(oz_socket handle) { closesocket(handle); }

#else

typedef size_t io_length;

bool oz_sockets_start(void) { return true; }

void oz_sockets_stop(void) {}

static bool prepare(int handle) {
    int flags = fcntl(handle, F_GETFL);
#ifdef SO_NOSIGPIPE
    int on = 1;
    setsockopt(handle, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    return flags >= 0 && fcntl(handle, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(handle, F_SETFD, FD_CLOEXEC) == 0;
}

bool oz_waker_create(struct oz_waker *waker) {
    if (pipe(waker->ends) != 0)
        return false;
    if (prepare(waker->ends[0]) && prepare(waker->ends[1]))
        return true;
    oz_waker_destroy(waker);
    return false;
}

void oz_waker_destroy(struct oz_waker *waker) {
    close(waker->ends[0]);
    close(waker->ends[1]);
}

void oz_waker_set(struct oz_waker *waker) {
    /* a full pipe is set already */
    while (write(waker->ends[1], "", 1) < 0 && errno == EINTR) {
    }
}

void oz_waker_reset(struct oz_waker *waker) {
    char bytes[16];
    ssize_t count;
    do
        count = read(waker->ends[0], bytes, sizeof bytes);
    while (count > 0 || (count < 0 && errno == EINTR));
}

static enum oz_outcome await(oz_socket handle, enum readiness readiness, struct oz_waker *waker, int64_t deadline) {
    struct pollfd polled[2] = {{handle, readiness == READABLE ? POLLIN : POLLOUT, 0}, {waker->ends[0], POLLIN, 0}};
    for (;;) {
        int ready = poll(polled, 2, oz_time_left(deadline));
        if (ready == 0)
            return OZ_OUTCOME_LATE;
        if (ready > 0)
            return polled[1].revents != 0 ? OZ_OUTCOME_WOKEN : OZ_OUTCOME_DONE;
        if (errno != EINTR)
            return OZ_OUTCOME_ENDED;
    }
}

static int last_error(void) { return errno; }
static bool is_interrupted(int error) { return error == EINTR; }
static bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }
static bool is_in_progress(int error) { return error == EINPROGRESS || error == EINTR; }

static void describe_system(int error, char *to, size_t size) {
    if (strerror_r(error, to, size) != 0)
        snprintf(to, size, "error %d", error);
}

void oz_socket_finish(oz_socket handle) { shutdown(handle, SHUT_WR); }

void oz_socket_close(oz_socket handle) { close(handle); }

#endif

/* --- connecting --- */

/* What has become of an attempt: 0 or the system's error. */
static int connection_error(oz_socket handle) {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(handle, SOL_SOCKET, SO_ERROR, (char *)&error, &size) == 0 ? error : last_error();
}

/* Connects to one address. `error` becomes the system's if it has ended. */
static enum oz_outcome connect_to(const struct addrinfo *address, int64_t deadline, struct oz_waker *waker, oz_socket *handle,
                                  int *error) {
    int on = 1;
    enum oz_outcome outcome = OZ_OUTCOME_DONE;
    *error = 0;
    *handle = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
    if (*handle == OZ_NO_SOCKET || !prepare(*handle)) {
        *error = last_error();
    } else {
        /* requests go out at once */
        setsockopt(*handle, IPPROTO_TCP, TCP_NODELAY, (const char *)&on, sizeof on);
        if (connect(*handle, address->ai_addr, (socklen_t)address->ai_addrlen) != 0) {
            *error = last_error();
            if (is_in_progress(*error)) {
                outcome = await(*handle, WRITABLE, waker, deadline);
                *error = outcome == OZ_OUTCOME_DONE ? connection_error(*handle) : 0;
            }
        }
    }
    if (*error != 0)
        outcome = OZ_OUTCOME_ENDED;
    if (outcome != OZ_OUTCOME_DONE && *handle != OZ_NO_SOCKET) {
        oz_socket_close(*handle);
        *handle = OZ_NO_SOCKET;
    }
    return outcome;
}

/* Addresses that are left share the time that is left. */
static int64_t share(int64_t deadline, const struct addrinfo *address) {
    int count = 0, left = oz_time_left(deadline);
    for (; address != NULL; address = address->ai_next)
        count++;
    return left < 0 ? OZ_NEVER : oz_now() + left / count;
}

oz_socket oz_socket_connect(const char *host, int port, int64_t deadline, struct oz_waker *waker, struct oz_failure *failure) {
    struct addrinfo hints, *addresses;
    char service[16], why[128];
    oz_socket handle = OZ_NO_SOCKET;
    enum oz_outcome outcome = OZ_OUTCOME_ENDED;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    snprintf(service, sizeof service, "%d", port);
    int unknown = getaddrinfo(host, service, &hints, &addresses);
    if (unknown != 0) {
        oz_describe(failure, OZ_UNREACHABLE, "%.100s:%d cannot be reached: %s", host, port, gai_strerror(unknown));
        return OZ_NO_SOCKET;
    }
    for (const struct addrinfo *address = addresses; address != NULL; address = address->ai_next) {
        int error;
        outcome = connect_to(address, share(deadline, address), waker, &handle, &error);
        if (outcome == OZ_OUTCOME_DONE || outcome == OZ_OUTCOME_WOKEN)
            break;
        if (outcome == OZ_OUTCOME_ENDED) {
            describe_system(error, why, sizeof why);
            oz_describe(failure, OZ_UNREACHABLE, "%.100s:%d cannot be reached: %s", host, port, why);
        } else {
            oz_describe(failure, OZ_TIMEOUT, "no connection to %.100s:%d in time", host, port);
        }
    }
    freeaddrinfo(addresses);
    if (outcome == OZ_OUTCOME_WOKEN)
        oz_describe(failure, OZ_CLOSED, "this client has given up connecting");
    return handle;
}

/* --- a connection --- */

enum oz_outcome oz_socket_receive(oz_socket handle, struct oz_waker *waker, int64_t deadline, uint8_t *to, size_t size,
                                  size_t *received) {
    for (;;) {
        /* before anything is received: a robot that never stops sending must not keep this thread */
        enum oz_outcome outcome = await(handle, READABLE, waker, deadline);
        if (outcome != OZ_OUTCOME_DONE)
            return outcome;
        ptrdiff_t count = recv(handle, (char *)to, (io_length)size, 0);
        if (count > 0) {
            *received = (size_t)count;
            return OZ_OUTCOME_DONE;
        }
        if (count == 0 || !(would_block(last_error()) || is_interrupted(last_error())))
            return OZ_OUTCOME_ENDED;
    }
}

enum oz_outcome oz_socket_send(oz_socket handle, struct oz_waker *waker, int timeout_ms, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ptrdiff_t count = send(handle, (const char *)bytes, (io_length)length, MSG_NOSIGNAL);
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        } else if (would_block(last_error())) {
            enum oz_outcome outcome = await(handle, WRITABLE, waker, oz_deadline(timeout_ms));
            if (outcome != OZ_OUTCOME_DONE)
                return outcome;
        } else if (!is_interrupted(last_error())) {
            return OZ_OUTCOME_ENDED;
        }
    }
    return OZ_OUTCOME_DONE;
}
