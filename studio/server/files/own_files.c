// SPDX-License-Identifier: Apache-2.0
// studio/server/files/own_files.c - keeps users' files within their quotas.
//
// The folders are the truth. What a user has is counted once and then kept up to date, because only
// these functions change the folders.
#include "studio/server/files/files.h"

#include "studio/server/http/target.h"
#include "studio/server/store/folder.h"
#include "studio/server/store/reserve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

typedef struct owner {
    char *name;
    studio_files_use_t used;    // by files that are there
    studio_files_use_t pending; // reserved by uploads
} owner_t;

struct studio_files {
    const studio_t *studio;
    pthread_mutex_t lock;
    owner_t *owners;
    size_t count;
    size_t capacity;
};

studio_files_t *studio_files_create(const studio_t *studio)
{
    studio_files_t *const files = sim_alloc(sizeof(*files));
    files->studio = studio;
    SIM_CHECK(pthread_mutex_init(&files->lock, NULL) == 0);
    return files;
}

void studio_files_destroy(studio_files_t *files)
{
    if (files == NULL) {
        return;
    }
    for (size_t i = 0; i < files->count; i++) {
        sim_free(files->owners[i].name);
    }
    (void)pthread_mutex_destroy(&files->lock);
    sim_free(files->owners);
    sim_free(files);
}

static bool refuse(studio_files_error_t *error, int status, const char *format, ...)
    SIM_PRINTF(3, 4);
static bool refuse(studio_files_error_t *error, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is two lines before
    (void)vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return false;
}

// Answers that a file cannot be written, by the reason in errno.
static bool refuse_io(studio_files_error_t *error)
{
    const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    return full ? refuse(error, 507, "the disk is full, so the file was not kept")
                : refuse(error, 500, "the file cannot be kept: %s", strerror(errno));
}

// -- names

const char *studio_files_path_refuse(const char *path)
{
    unsigned depth = 0;
    const size_t length = strlen(path);
    if (length == 0 || length > STUDIO_FILE_PATH_BYTES_MAX) {
        return "the name is empty or too long, expected at most 512 bytes with its folders";
    }
    if (!studio_text_is_clean(path, length) || !studio_text_is_visible(path) ||
        strpbrk(path, "\t\r\n\\\"*?<>|") != NULL) {
        return "the name contains a character that is not allowed: control characters, invisible "
               "ones, and \\ \" * ? < > |";
    }
    for (const char *part = path; part != NULL;) {
        const size_t size = strcspn(part, "/");
        if (++depth > STUDIO_FILE_DEPTH_MAX) {
            return "the file lies too deep, expected at most 7 folders around it";
        }
        if (size == 0 || size > STUDIO_FILE_NAME_BYTES_MAX) {
            return "a part of the name is empty or too long, expected at most 128 bytes";
        }
        if (part[0] == '.' || part[0] == ' ' || part[0] == '-' || part[size - 1] == ' ') {
            return "a part of the name begins with '.', '-' or a space, or ends with a space";
        }
        part = part[size] == '/' ? part + size + 1 : NULL;
    }
    return NULL;
}

char *studio_files_folder(const studio_t *studio, const char *user, const char *below)
{
    SIM_CHECK(user[0] != '\0' && strchr(user, '/') == NULL && strcmp(user, ".") != 0 &&
              strcmp(user, "..") != 0);
    return sim_format("%s/files/%s%s%s", studio->options.data, user, below[0] == '\0' ? "" : "/",
                      below);
}

// -- what users have

static uint64_t blocks(uint64_t size_bytes)
{
    const uint64_t block = STUDIO_FILE_BLOCK_BYTES;
    return SIM_MAX((size_bytes + block - 1) / block, 1) * block;
}

// Adds all below an open folder, which it closes.
static void measure(int fd, unsigned depth, studio_files_use_t *use)
{
    DIR *const folder = fdopendir(fd);
    if (folder == NULL) {
        (void)close(fd);
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        use->count++;
        use->bytes += blocks(S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0);
        const int inner = S_ISDIR(status.st_mode) && depth <= STUDIO_FILE_DEPTH_MAX
                              ? openat(dirfd(folder), entry->d_name,
                                       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                              : -1;
        if (inner >= 0) {
            measure(inner, depth + 1, use);
        }
    }
    (void)closedir(folder);
}

static studio_files_use_t measure_path(const char *path)
{
    studio_files_use_t use = {0};
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        measure(fd, 0, &use);
    }
    return use;
}

// Returns the user's entry. Needs the lock; valid until it is released.
static owner_t *owner_of(studio_files_t *files, const char *user)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->owners[i].name, user) == 0) {
            return &files->owners[i];
        }
    }
    char *const folder = studio_files_folder(files->studio, user, "");
    SIM_APPEND(files->owners, files->count, files->capacity,
               ((owner_t){.name = sim_strdup(user), .used = measure_path(folder)}));
    sim_free(folder);
    return &files->owners[files->count - 1];
}

studio_files_use_t studio_files_used(studio_files_t *files, const char *user)
{
    SIM_CHECK(pthread_mutex_lock(&files->lock) == 0);
    const studio_files_use_t use = owner_of(files, user)->used;
    SIM_CHECK(pthread_mutex_unlock(&files->lock) == 0);
    return use;
}

// -- uploads

// Reserves bytes for one more file. Needs the lock.
static bool reserve(studio_files_t *files, owner_t *owner, uint64_t bytes,
                    studio_files_error_t *error)
{
    const uint64_t quota = files->studio->options.user_files_bytes;
    const uint64_t taken = owner->used.bytes + owner->pending.bytes;
    struct statvfs disk;
    if (owner->used.count + owner->pending.count >= STUDIO_FILES_MAX) {
        return refuse(error, 507, "you have %" PRIu64 " files and folders, expected at most %u",
                      owner->used.count + owner->pending.count, STUDIO_FILES_MAX);
    }
    if (taken > quota || bytes > quota - taken) {
        return refuse(error, 507,
                      "the file does not fit: your files take %" PRIu64 " of %" PRIu64
                      " bytes, and it needs %" PRIu64,
                      taken, quota, bytes);
    }
    if (studio_reserve_look(files->studio->reserve) ||
        (statvfs(files->studio->options.data, &disk) == 0 &&
         (uint64_t)disk.f_bavail * disk.f_frsize < bytes)) {
        return refuse(error, 507, "the disk is full, so the file was not kept");
    }
    owner->pending.bytes += bytes;
    owner->pending.count++;
    return true;
}

studio_upload_t *studio_upload_begin(studio_files_t *files, const char *user, const char *path,
                                     uint64_t size_bytes, studio_files_error_t *error)
{
    const char *const bad = studio_files_path_refuse(path);
    if (bad != NULL) {
        (void)refuse(error, 400, "%s", bad);
        return NULL;
    }
    const uint64_t bytes = blocks(SIM_MIN(size_bytes, UINT64_MAX / 2));
    SIM_CHECK(pthread_mutex_lock(&files->lock) == 0);
    const bool fits = reserve(files, owner_of(files, user), bytes, error);
    SIM_CHECK(pthread_mutex_unlock(&files->lock) == 0);
    if (!fits) {
        return NULL;
    }
    studio_upload_t *const upload = sim_alloc(sizeof(*upload));
    upload->files = files;
    upload->bytes = bytes;
    snprintf(upload->user, sizeof(upload->user), "%s", user);
    upload->part = sim_format("%s/tmp/upload-XXXXXX", files->studio->options.data);
    upload->fd = mkostemp(upload->part, O_CLOEXEC);
    if (upload->fd < 0) {
        (void)refuse_io(error);
        studio_upload_end(upload);
        return NULL;
    }
    return upload;
}

void studio_upload_end(studio_upload_t *upload)
{
    if (upload == NULL) {
        return;
    }
    if (upload->fd >= 0) {
        (void)close(upload->fd);
        if (!upload->kept) {
            (void)unlink(upload->part);
        }
    }
    SIM_CHECK(pthread_mutex_lock(&upload->files->lock) == 0);
    owner_t *const owner = owner_of(upload->files, upload->user);
    SIM_CHECK(owner->pending.count > 0 && owner->pending.bytes >= upload->bytes);
    owner->pending.count--;
    owner->pending.bytes -= upload->bytes;
    SIM_CHECK(pthread_mutex_unlock(&upload->files->lock) == 0);
    sim_free(upload->part);
    sim_free(upload);
}

// Opens the folder of a path and makes the missing ones; *name is then the last part. Returns -1
// with an error. Needs the lock.
static int open_parent(const studio_files_t *files, owner_t *owner, const char *path,
                       const char **name, studio_files_error_t *error)
{
    char *const top = studio_files_folder(files->studio, owner->name, "");
    int fd = mkdir(top, 0700) == 0 || errno == EEXIST
                 ? open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                 : -1;
    sim_free(top);
    for (*name = path; fd >= 0 && strchr(*name, '/') != NULL;) {
        const size_t size = strcspn(*name, "/");
        char part[STUDIO_FILE_NAME_BYTES_MAX + 1];
        memcpy(part, *name, size);
        part[size] = '\0';
        if (mkdirat(fd, part, 0700) == 0) {
            owner->used.count++;
            owner->used.bytes += blocks(0);
        }
        const int inner = openat(fd, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        const int reason = errno;
        (void)close(fd);
        errno = reason;
        fd = inner;
        *name += size + 1;
    }
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) {
        (void)refuse(error, 409, "a part of the name is a file already, expected a folder");
    } else if (fd < 0) {
        (void)refuse_io(error);
    }
    return fd;
}

bool studio_upload_keep(studio_upload_t *upload, const char *path, studio_files_error_t *error)
{
    studio_files_t *const files = upload->files;
    struct stat old;
    const char *name = NULL;
    if (fsync(upload->fd) != 0) {
        return refuse_io(error);
    }
    SIM_CHECK(pthread_mutex_lock(&files->lock) == 0);
    owner_t *const owner = owner_of(files, upload->user);
    const int parent = open_parent(files, owner, path, &name, error);
    if (parent >= 0) {
        const bool replaces = fstatat(parent, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
        if (replaces && !S_ISREG(old.st_mode)) {
            (void)refuse(error, 409, "there is a folder of this name already");
        } else if (renameat(AT_FDCWD, upload->part, parent, name) != 0) {
            (void)refuse_io(error);
        } else {
            upload->kept = true;
            owner->used.bytes += upload->bytes - (replaces ? blocks((uint64_t)old.st_size) : 0);
            owner->used.count += !replaces;
            (void)fsync(parent);
        }
        (void)close(parent);
    }
    SIM_CHECK(pthread_mutex_unlock(&files->lock) == 0);
    return upload->kept;
}

// -- removing

// Removes the folders of a path that are empty, from the inside. Needs the lock.
static void remove_empty(const studio_files_t *files, owner_t *owner, const char *path)
{
    char *const at = sim_strdup(path);
    for (char *slash = strrchr(at, '/'); slash != NULL; slash = strrchr(at, '/')) {
        *slash = '\0';
        char *const folder = studio_files_folder(files->studio, owner->name, at);
        const bool gone = rmdir(folder) == 0;
        sim_free(folder);
        if (!gone) {
            break;
        }
        owner->used.count--;
        owner->used.bytes -= blocks(0);
    }
    sim_free(at);
}

bool studio_files_remove(studio_files_t *files, const char *user, const char *path,
                         studio_files_error_t *error)
{
    char *const top = studio_files_folder(files->studio, user, "");
    struct stat status;
    SIM_CHECK(pthread_mutex_lock(&files->lock) == 0);
    owner_t *const owner = owner_of(files, user);
    const int fd =
        studio_files_path_refuse(path) == NULL ? studio_open_below(top, path, O_RDONLY) : -1;
    bool good = fd >= 0 && fstat(fd, &status) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    char *const whole = studio_files_folder(files->studio, user, path);
    if (!good) {
        (void)refuse(error, 404, "you have no such file");
    } else {
        good = S_ISDIR(status.st_mode) ? studio_folder_remove(whole) : unlink(whole) == 0;
        if (!good) {
            (void)refuse(error, 500, "the file cannot be removed: %s", strerror(errno));
        }
        remove_empty(files, owner, path);
        owner->used = measure_path(top);
    }
    SIM_CHECK(pthread_mutex_unlock(&files->lock) == 0);
    sim_free(whole);
    sim_free(top);
    return good;
}
