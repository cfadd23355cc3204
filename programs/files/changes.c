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
