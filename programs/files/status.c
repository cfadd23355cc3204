// SPDX-License-Identifier: Apache-2.0
// programs/files/status.c - what programs ask about files: status, access, links, real paths.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "programs/files/paths.h"
#include "programs/turn.h"

// -- status

PROGRAM_EXPORT int stat(const char *restrict path, struct stat *restrict status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(stat)(paths_real(AT_FDCWD, path, place), status);
}

PROGRAM_EXPORT int stat64(const char *restrict path, struct stat64 *restrict status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(stat64)(paths_real(AT_FDCWD, path, place), status);
}

PROGRAM_EXPORT int lstat(const char *restrict path, struct stat *restrict status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(lstat)(paths_real(AT_FDCWD, path, place), status);
}

PROGRAM_EXPORT int lstat64(const char *restrict path, struct stat64 *restrict status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(lstat64)(paths_real(AT_FDCWD, path, place), status);
}

PROGRAM_EXPORT int fstatat(int folder, const char *restrict path, struct stat *restrict status,
                           int flags)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(fstatat)(folder, paths_real(folder, path, place), status, flags);
}

PROGRAM_EXPORT int fstatat64(int folder, const char *restrict path, struct stat64 *restrict status,
                             int flags)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(fstatat64)(folder, paths_real(folder, path, place), status, flags);
}

PROGRAM_EXPORT int statx(int folder, const char *restrict path, int flags, unsigned int mask,
                         struct statx *restrict status)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(statx)(folder, paths_real(folder, path, place), flags, mask, status);
}

// Programs that were built with an old C library call these.
int __xstat(int version, const char *path, struct stat *status);
int __xstat64(int version, const char *path, struct stat64 *status);
int __lxstat(int version, const char *path, struct stat *status);
int __lxstat64(int version, const char *path, struct stat64 *status);
int __fxstatat(int version, int folder, const char *path, struct stat *status, int flags);
int __fxstatat64(int version, int folder, const char *path, struct stat64 *status, int flags);

PROGRAM_EXPORT int __xstat(int version, const char *path, struct stat *status)
{
    (void)version;
    return stat(path, status);
}

PROGRAM_EXPORT int __xstat64(int version, const char *path, struct stat64 *status)
{
    (void)version;
    return stat64(path, status);
}

PROGRAM_EXPORT int __lxstat(int version, const char *path, struct stat *status)
{
    (void)version;
    return lstat(path, status);
}

PROGRAM_EXPORT int __lxstat64(int version, const char *path, struct stat64 *status)
{
    (void)version;
    return lstat64(path, status);
}

PROGRAM_EXPORT int __fxstatat(int version, int folder, const char *path, struct stat *status,
                              int flags)
{
    (void)version;
    return fstatat(folder, path, status, flags);
}

PROGRAM_EXPORT int __fxstatat64(int version, int folder, const char *path, struct stat64 *status,
                                int flags)
{
    (void)version;
    return fstatat64(folder, path, status, flags);
}

// -- access

PROGRAM_EXPORT int access(const char *path, int mode)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(access)(paths_real(AT_FDCWD, path, place), mode);
}

PROGRAM_EXPORT int euidaccess(const char *path, int mode)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(euidaccess)(paths_real(AT_FDCWD, path, place), mode);
}

PROGRAM_EXPORT int eaccess(const char *path, int mode)
{
    return euidaccess(path, mode);
}

PROGRAM_EXPORT int faccessat(int folder, const char *path, int mode, int flags)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(faccessat)(folder, paths_real(folder, path, place), mode, flags);
}

// -- attributes, of which these files have none

PROGRAM_EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(getxattr)(paths_real(AT_FDCWD, path, place), name, value, size);
}

PROGRAM_EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(lgetxattr)(paths_real(AT_FDCWD, path, place), name, value, size);
}

PROGRAM_EXPORT ssize_t listxattr(const char *path, char *list, size_t size)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(listxattr)(paths_real(AT_FDCWD, path, place), list, size);
}

PROGRAM_EXPORT ssize_t llistxattr(const char *path, char *list, size_t size)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(llistxattr)(paths_real(AT_FDCWD, path, place), list, size);
}

// -- links

PROGRAM_EXPORT ssize_t readlink(const char *restrict path, char *restrict target, size_t size)
{
    char place[PATH_MAX];
    if (turn_on() && strcmp(path, "/proc/self") == 0) {
        const int length = snprintf(place, sizeof place, "%d", getpid());
        const size_t count = (size_t)length < size ? (size_t)length : size;
        memcpy(target, place, count);
        return (ssize_t)count;
    }
    return PROGRAM_NEXT(readlink)(paths_real(AT_FDCWD, path, place), target, size);
}

PROGRAM_EXPORT ssize_t readlinkat(int folder, const char *restrict path, char *restrict target,
                                  size_t size)
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(readlinkat)(folder, paths_real(folder, path, place), target, size);
}

ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t room);
ssize_t __readlinkat_chk(int folder, const char *path, char *target, size_t size, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room);

PROGRAM_EXPORT ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t room)
{
    return size > room ? (abort(), -1) : readlink(path, target, size);
}

PROGRAM_EXPORT ssize_t __readlinkat_chk(int folder, const char *path, char *target, size_t size,
                                        size_t room)
{
    return size > room ? (abort(), -1) : readlinkat(folder, path, target, size);
}

PROGRAM_EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
    char place[PATH_MAX];
    char *result = PROGRAM_NEXT(realpath)(paths_real(AT_FDCWD, path, place), resolved);
    if (result != NULL) {
        paths_show(result);
    }
    return result;
}

PROGRAM_EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room)
{
    (void)room;
    return realpath(path, resolved);
}

PROGRAM_EXPORT char *canonicalize_file_name(const char *path)
{
    return realpath(path, NULL);
}
