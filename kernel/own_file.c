// SPDX-License-Identifier: Apache-2.0
// kernel/own_file.c - files that one process at a time writes.
#include "kernel/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES_MAX 100

// Closes the descriptor and sets errno to `error`.
static int give_up(int descriptor, int error)
{
    (void)close(descriptor);
    errno = error;
    return -1;
}

// Returns whether the path still names the opened file: its writer may have renamed or removed it
// between open and flock.
static bool is_still(const char *path, const struct stat *opened)
{
    struct stat now;
    return stat(path, &now) == 0 && now.st_dev == opened->st_dev && now.st_ino == opened->st_ino;
}

int sim_own_file_open(const char *path, int access_mode)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        const int descriptor = open(path, access_mode | O_CREAT | O_CLOEXEC, 0666);
        struct stat status;
        if (descriptor < 0) {
            return -1;
        }
        if (fstat(descriptor, &status) != 0) {
            return give_up(descriptor, errno);
        }
        if (!S_ISREG(status.st_mode)) {
            return descriptor;
        }
        // Other errors mean that the file system has no locks.
        if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            return give_up(descriptor, EBUSY);
        }
        if (is_still(path, &status)) {
            return ftruncate(descriptor, 0) == 0 ? descriptor : give_up(descriptor, errno);
        }
        (void)close(descriptor);
    }
    errno = EBUSY;
    return -1;
}

const char *sim_own_file_reason(int error)
{
    return error == EBUSY ? "another process writes this file" : strerror(error);
}
