/* Lets the wall clock of a program jump: preloaded, it adds the seconds in the file $CLOCK_JUMP to CLOCK_REALTIME. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) {
        const char *path = getenv("CLOCK_JUMP");
        FILE *file = path ? fopen(path, "r") : NULL;
        long seconds = 0;
        if (file) {
            if (fscanf(file, "%ld", &seconds) == 1)
                time->tv_sec += seconds;
            fclose(file);
        }
    }
    return result;
}
