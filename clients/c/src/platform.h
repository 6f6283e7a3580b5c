/* What differs between POSIX and Windows, apart from sockets: threads and time. */

#ifndef OZ_PLATFORM_H
#define OZ_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef _WIN32
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0600
#endif
#include <winsock2.h>
#include <windows.h>
#else
#include <pthread.h>
#endif

#if defined _MSC_VER
#define OZ_THREAD_LOCAL __declspec(thread)
#else
#define OZ_THREAD_LOCAL __thread
#endif

/* A deadline that never comes. */
#define OZ_NEVER INT64_MAX

/* Milliseconds of a clock that only goes forward. */
int64_t oz_now(void);

/* The deadline after a time, of which a negative one has no end. */
int64_t oz_deadline(int timeout_ms);

/* How long a call of the system may wait until a deadline: -1 without a limit. */
int oz_time_left(int64_t deadline);

/* A mutex with a condition: what it protects has changed. */
struct oz_monitor {
#ifdef _WIN32
    SRWLOCK lock;
    CONDITION_VARIABLE changed;
#else
    pthread_mutex_t lock;
    pthread_cond_t changed;
#endif
};

bool oz_monitor_create(struct oz_monitor *monitor);
void oz_monitor_destroy(struct oz_monitor *monitor);
void oz_monitor_enter(struct oz_monitor *monitor);
void oz_monitor_leave(struct oz_monitor *monitor);
/* Wakes all that wait. */
void oz_monitor_notify(struct oz_monitor *monitor);
/* Leaves the monitor until it is notified, or for no reason; returns false once the deadline has come. */
bool oz_monitor_wait(struct oz_monitor *monitor, int64_t deadline);

struct oz_thread {
#ifdef _WIN32
    HANDLE handle;
    DWORD id;
#else
    pthread_t handle;
#endif
    void (*run)(void *argument);
    void *argument;
};

/* Runs a function in a new thread. `thread` has to stay where it is until the thread has begun. */
bool oz_thread_start(struct oz_thread *thread, void (*run)(void *argument), void *argument);
bool oz_thread_is_current(const struct oz_thread *thread);
void oz_thread_join(struct oz_thread *thread);
/* Instead of joining it. */
void oz_thread_detach(struct oz_thread *thread);

#endif
