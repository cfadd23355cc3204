// SPDX-License-Identifier: Apache-2.0
// programs/files/changes.c - files that programs make and remove, and shared memory with names.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "programs/files/paths.h"
#include "programs/process/random.h"
#include "programs/system.h"
#include "programs/turn.h"

PROGRAM_EXPORT int creat(const char *path, mode_t mode)
{
    return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

PROGRAM_EXPORT int mkdir(const char *path, mode_t mode)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(mkdir)(paths_real(AT_FDCWD, path, place), mode);
}

PROGRAM_EXPORT int mkdirat(int folder, const char *path, mode_t mode)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(mkdirat)(folder, paths_real(folder, path, place), mode);
}

PROGRAM_EXPORT int mknodat(int folder, const char *path, mode_t mode, dev_t device)
{
    char place[PATH_MAX];
    return (int)system_call(SYS_mknodat, folder, paths_real(folder, path, place), mode, device);
}

PROGRAM_EXPORT int mknod(const char *path, mode_t mode, dev_t device)
{
    return mknodat(AT_FDCWD, path, mode, device);
}

PROGRAM_EXPORT int mkfifoat(int folder, const char *path, mode_t mode)
{
    return mknodat(folder, path, mode | S_IFIFO, 0);
}

PROGRAM_EXPORT int mkfifo(const char *path, mode_t mode)
{
    return mkfifoat(AT_FDCWD, path, mode);
}

PROGRAM_EXPORT int rmdir(const char *path)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(rmdir)(paths_real(AT_FDCWD, path, place));
}

PROGRAM_EXPORT int unlink(const char *path)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(unlink)(paths_real(AT_FDCWD, path, place));
}

PROGRAM_EXPORT int unlinkat(int folder, const char *path, int flags)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(unlinkat)(folder, paths_real(folder, path, place), flags);
}

PROGRAM_EXPORT int remove(const char *path)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(remove)(paths_real(AT_FDCWD, path, place));
}

PROGRAM_EXPORT int rename(const char *path, const char *to)
{
    char place[PATH_MAX];
    char target[PATH_MAX];
    return PROGRAM_NEXT(rename)(paths_real(AT_FDCWD, path, place),
                                paths_real(AT_FDCWD, to, target));
}

PROGRAM_EXPORT int link(const char *path, const char *to)
{
    char place[PATH_MAX];
    char target[PATH_MAX];
    return PROGRAM_NEXT(link)(paths_real(AT_FDCWD, path, place), paths_real(AT_FDCWD, to, target));
}

PROGRAM_EXPORT int truncate(const char *path, off_t bytes)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(truncate)(paths_real(AT_FDCWD, path, place), bytes);
}

PROGRAM_EXPORT int chmod(const char *path, mode_t mode)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(chmod)(paths_real(AT_FDCWD, path, place), mode);
}

// -- names of temporary files, which the C library would draw from the kernel

#define NAME_LETTERS 6
#define NAME_TRIES 1000

// Fills in the letters before the last `suffix` letters of a pattern, and makes what it names:
// a file by open(), a folder if `flags` is -1, nothing if it is -2. Returns -1, with errno, or the
// descriptor.
static int make_temporary(char *pattern, int suffix, int flags)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const size_t length = strlen(pattern);
    char *name = pattern + length - NAME_LETTERS - suffix;
    int result = -1;
    if (suffix < 0 || length < (size_t)suffix + NAME_LETTERS || strncmp(name, "XXXXXX", 6) != 0) {
        errno = EINVAL;
        return -1;
    }
    errno = EEXIST;
    for (int tries = 0; tries < NAME_TRIES && result < 0 && errno == EEXIST; tries++) {
        uint8_t drawn[NAME_LETTERS];
        random_fill(drawn, sizeof drawn);
        for (int i = 0; i < NAME_LETTERS; i++) {
            name[i] = letters[drawn[i] % (sizeof letters - 1)];
        }
        if (flags == -2) {
            result = access(pattern, F_OK) != 0 && errno == ENOENT ? 0 : -1;
            errno = result == 0 ? 0 : EEXIST;
        } else {
            result = flags == -1 ? mkdir(pattern, 0700)
                                 : open(pattern, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
        }
    }
    return result;
}

PROGRAM_EXPORT int mkostemps(char *pattern, int suffix, int flags)
{
    return turn_on() ? make_temporary(pattern, suffix, flags & ~O_ACCMODE)
                     : PROGRAM_NEXT(mkostemps)(pattern, suffix, flags);
}

PROGRAM_EXPORT int mkostemp(char *pattern, int flags)
{
    return mkostemps(pattern, 0, flags);
}

PROGRAM_EXPORT int mkstemps(char *pattern, int suffix)
{
    return mkostemps(pattern, suffix, 0);
}

PROGRAM_EXPORT int mkstemp(char *pattern)
{
    return mkostemps(pattern, 0, 0);
}

PROGRAM_EXPORT int mkstemp64(char *pattern)
{
    return mkostemps(pattern, 0, 0);
}

PROGRAM_EXPORT char *mkdtemp(char *pattern)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(mkdtemp)(pattern);
    }
    return make_temporary(pattern, 0, -1) == 0 ? pattern : NULL;
}

PROGRAM_EXPORT char *mktemp(char *pattern)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(mktemp)(pattern);
    }
    if (make_temporary(pattern, 0, -2) != 0) {
        *pattern = '\0';
    }
    return pattern;
}

// -- file systems

PROGRAM_EXPORT int statfs(const char *path, struct statfs *status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(statfs)(paths_real(AT_FDCWD, path, place), status);
}

PROGRAM_EXPORT int statfs64(const char *path, struct statfs64 *status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(statfs64)(paths_real(AT_FDCWD, path, place), status);
}

PROGRAM_EXPORT int statvfs(const char *restrict path, struct statvfs *restrict status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(statvfs)(paths_real(AT_FDCWD, path, place), status);
}

PROGRAM_EXPORT int statvfs64(const char *restrict path, struct statvfs64 *restrict status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(statvfs64)(paths_real(AT_FDCWD, path, place), status);
}

// -- shared memory of POSIX: files below /dev/shm, as the C library has them

// Writes the path of a name into `path`. Returns false, with errno, if it is none.
static bool path_of(const char *name, char path[PATH_MAX])
{
    name += strspn(name, "/");
    if (*name == '\0' || strchr(name, '/') != NULL || strlen(name) > NAME_MAX) {
        errno = EINVAL;
        return false;
    }
    snprintf(path, PATH_MAX, "/dev/shm/%s", name);
    return true;
}

PROGRAM_EXPORT int shm_open(const char *name, int flags, mode_t mode)
{
    char path[PATH_MAX];
    if (!turn_on()) {
        return PROGRAM_NEXT(shm_open)(name, flags, mode);
    }
    return path_of(name, path) ? open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode) : -1;
}

PROGRAM_EXPORT int shm_unlink(const char *name)
{
    char path[PATH_MAX];
    if (!turn_on()) {
        return PROGRAM_NEXT(shm_unlink)(name);
    }
    return path_of(name, path) ? unlink(path) : -1;
}
