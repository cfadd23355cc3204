// SPDX-License-Identifier: Apache-2.0
// studio/server/store/reserve.c - keeps disk space for the moment when the disk is full.
#include "studio/server/store/reserve.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define RESERVE_BYTES_MAX (INT64_C(8) << 20)
#define DISK_SHARE 8                 // the reserve takes at most 1 / DISK_SHARE of the disk
#define LOW_BYTES (INT64_C(1) << 20) // the disk is full when less than this is free

struct studio_reserve {
    char *folder;
    char *path;
    pthread_mutex_t lock;
    int64_t size_bytes;
    bool held;
};

static bool take(const char *path, int64_t size_bytes)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return false;
    }
    const bool taken = posix_fallocate(fd, 0, size_bytes) == 0;
    if (!taken) {
        (void)!ftruncate(fd, 0);
    }
    (void)close(fd);
    return taken;
}

// Returns the size of the reserve on this disk.
static int64_t size_on(const char *folder)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0) {
        return RESERVE_BYTES_MAX;
    }
    const int64_t share = (int64_t)(disk.f_blocks * disk.f_frsize / DISK_SHARE);
    return SIM_MIN(share, RESERVE_BYTES_MAX);
}

studio_reserve_t *studio_reserve_create(const char *data)
{
    studio_reserve_t *const reserve = sim_alloc(sizeof(*reserve));
    struct stat status;
    reserve->folder = sim_strdup(data);
    reserve->path = sim_format("%s/reserve", data);
    reserve->size_bytes = size_on(data);
    SIM_CHECK(pthread_mutex_init(&reserve->lock, NULL) == 0);
    reserve->held = stat(reserve->path, &status) == 0 && status.st_size == reserve->size_bytes;
    (void)studio_reserve_look(reserve);
    return reserve;
}

void studio_reserve_destroy(studio_reserve_t *reserve)
{
    if (reserve != NULL) {
        (void)pthread_mutex_destroy(&reserve->lock);
        SIM_FREE_ALL(reserve->path, reserve->folder, reserve);
    }
}

bool studio_reserve_look(studio_reserve_t *reserve)
{
    struct statvfs disk;
    if (statvfs(reserve->folder, &disk) != 0) {
        return false;
    }
    SIM_CHECK(pthread_mutex_lock(&reserve->lock) == 0);
    // A released reserve counts as used: what it gave back is not for new work.
    const int64_t free = (int64_t)(disk.f_bavail * disk.f_frsize);
    const int64_t left = free - (reserve->held ? 0 : reserve->size_bytes);
    const bool full = left < LOW_BYTES;
    if (reserve->held && full) {
        reserve->held = truncate(reserve->path, 0) != 0;
    } else if (!reserve->held && left >= 2 * LOW_BYTES) {
        reserve->held = take(reserve->path, reserve->size_bytes);
    }
    SIM_CHECK(pthread_mutex_unlock(&reserve->lock) == 0);
    return full;
}
