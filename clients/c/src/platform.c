#include "posix.h"

#include "platform.h"

#include <limits.h>
#include <stddef.h>

#ifdef _WIN32
#include <process.h>
#else
#include <signal.h>
#include <time.h>
#endif

int64_t oz_deadline(int timeout_ms) { return timeout_ms < 0 ? OZ_NEVER : oz_now() + timeout_ms; }

int oz_time_left(int64_t deadline) {
    if (deadline == OZ_NEVER)
        return -1;
    int64_t left = deadline - oz_now();
    return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

#ifdef _WIN32

int64_t oz_now(void) { return (int64_t)GetTickCount64(); }

bool oz_monitor_create(struct oz_monitor *monitor) {
    InitializeSRWLock(&monitor->lock);
    InitializeConditionVariable(&monitor->changed);
    return true;
}

/* they own nothing */
void oz_monitor_destroy(struct oz_monitor *monitor) { (void)monitor; }

void oz_monitor_enter(struct oz_monitor *monitor) { AcquireSRWLockExclusive(&monitor->lock); }

void oz_monitor_leave(struct oz_monitor *monitor) { ReleaseSRWLockExclusive(&monitor->lock); }

void oz_monitor_notify(struct oz_monitor *monitor) { WakeAllConditionVariable(&monitor->changed); }

bool oz_monitor_wait(struct oz_monitor *monitor, int64_t deadline) {
    DWORD left = deadline == OZ_NEVER ? INFINITE : (DWORD)oz_time_left(deadline);
    SleepConditionVariableSRW(&monitor->changed, &monitor->lock, left, 0);
    return oz_now() < deadline;
}

static unsigned __stdcall run(void *argument) {
    struct oz_thread *thread = argument;
    thread->run(thread->argument);
    return 0;
}

bool oz_thread_start(struct oz_thread *thread, void (*function)(void *argument), void *argument) {
    unsigned id = 0;
    thread->run = function;
    thread->argument = argument;
    /* it does not run before its id is known, which it may ask for */
    thread->handle = (HANDLE)_beginthreadex(NULL, 0, run, thread, CREATE_SUSPENDED, &id);
    if (thread->handle == NULL)
        return false;
    thread->id = id;
    ResumeThread(thread->handle);
    return true;
}

bool oz_thread_is_current(const struct oz_thread *thread) { return thread->id == GetCurrentThreadId(); }

void oz_thread_join(struct oz_thread *thread) {
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

void oz_thread_detach(struct oz_thread *thread) { CloseHandle(thread->handle); }

#else

int64_t oz_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool create_condition(pthread_cond_t *condition) {
#ifdef __APPLE__
    return pthread_cond_init(condition, NULL) == 0;
#else
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool is_created = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                      pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return is_created;
#endif
}

bool oz_monitor_create(struct oz_monitor *monitor) {
    if (pthread_mutex_init(&monitor->lock, NULL) != 0)
        return false;
    if (create_condition(&monitor->changed))
        return true;
    pthread_mutex_destroy(&monitor->lock);
    return false;
}

void oz_monitor_destroy(struct oz_monitor *monitor) {
    pthread_cond_destroy(&monitor->changed);
    pthread_mutex_destroy(&monitor->lock);
}

void oz_monitor_enter(struct oz_monitor *monitor) { pthread_mutex_lock(&monitor->lock); }

void oz_monitor_leave(struct oz_monitor *monitor) { pthread_mutex_unlock(&monitor->lock); }

void oz_monitor_notify(struct oz_monitor *monitor) { pthread_cond_broadcast(&monitor->changed); }

bool oz_monitor_wait(struct oz_monitor *monitor, int64_t deadline) {
    if (deadline == OZ_NEVER) {
        pthread_cond_wait(&monitor->changed, &monitor->lock);
        return true;
    }
#ifdef __APPLE__
    int left = oz_time_left(deadline);
    struct timespec time = {left / 1000, left % 1000 * 1000000L};
    pthread_cond_timedwait_relative_np(&monitor->changed, &monitor->lock, &time);
#else
    struct timespec time = {(time_t)(deadline / 1000), (long)(deadline % 1000) * 1000000L};
    pthread_cond_timedwait(&monitor->changed, &monitor->lock, &time);
#endif
    return oz_now() < deadline;
}

static void *run(void *argument) {
    struct oz_thread *thread = argument;
    thread->run(thread->argument);
    return NULL;
}

bool oz_thread_start(struct oz_thread *thread, void (*function)(void *argument), void *argument) {
    sigset_t all, before;
    thread->run = function;
    thread->argument = argument;
    /* signals are the program's own business */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&thread->handle, NULL, run, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

bool oz_thread_is_current(const struct oz_thread *thread) { return pthread_equal(thread->handle, pthread_self()) != 0; }

void oz_thread_join(struct oz_thread *thread) { pthread_join(thread->handle, NULL); }

void oz_thread_detach(struct oz_thread *thread) { pthread_detach(thread->handle); }

#endif
