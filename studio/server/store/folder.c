// SPDX-License-Identifier: Apache-2.0
// studio/server/store/folder.c - removes and measures folders, and opens files below them.
#include "studio/server/store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX 8u

// Returns false with the reason of the first failure in errno. Another thread may remove the same
// folder meanwhile: what is gone already is no failure.
static bool remove_inner(int fd, unsigned depth)
{
    DIR *const folder = fdopendir(fd);
    int reason = folder == NULL ? errno : 0; // of the first failure
    if (folder == NULL) {
        (void)close(fd);
        errno = reason;
        return false;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *const name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        const int inner =
            openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        bool good;
        if (inner < 0) {
            good = unlinkat(dirfd(folder), name, 0) == 0;
        } else if (depth == DEPTH_MAX) {
            (void)close(inner);
            good = false;
            errno = ELOOP;
        } else {
            good =
                remove_inner(inner, depth + 1) && unlinkat(dirfd(folder), name, AT_REMOVEDIR) == 0;
        }
        reason = good || errno == ENOENT || reason != 0 ? reason : errno;
    }
    (void)closedir(folder);
    errno = reason;
    return reason == 0;
}

bool studio_folder_remove(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno == ENOENT;
    }
    return remove_inner(fd, 0) && (rmdir(path) == 0 || errno == ENOENT);
}

static uint64_t bytes_below(int fd, unsigned depth)
{
    uint64_t total = 0;
    DIR *const folder = fdopendir(fd);
    if (folder == NULL) {
        (void)close(fd);
        return 0;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISREG(status.st_mode)) {
            total += (uint64_t)status.st_size;
        } else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX) {
            const int inner = openat(dirfd(folder), entry->d_name,
                                     O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            total += inner < 0 ? 0 : bytes_below(inner, depth + 1);
        }
    }
    (void)closedir(folder);
    return total;
}

uint64_t studio_folder_bytes(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? 0 : bytes_below(fd, 0);
}

int studio_open_below(const char *folder, const char *path, uint64_t flags)
{
    const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const struct open_how how = {
        .flags = flags | O_CLOEXEC | O_NONBLOCK,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    const int opened = fd < 0 ? -1 : (int)syscall(SYS_openat2, fd, path, &how, sizeof(how));
    const int reason = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = reason;
    return opened;
}
