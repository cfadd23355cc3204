// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/consistency/label.c - writes run.json and makes the folders of new runs.
#include "studio/server/runs/consistency/label.h"

#include "studio/server/accounts/accounts.h"
#include "studio/server/files/files.h"
#include "studio/server/http/target.h"
#include "studio/server/library/order.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES_MAX 512u
#define LABEL_BYTES_MAX ((size_t)2 << 20)

bool studio_label_write(const char *folder, const json_t *label)
{
    char *const path = sim_format("%s/run.json", folder);
    errno = 0;
    const bool good = json_dump_file(label, path, JSON_COMPACT) == 0;
    const int reason = errno == 0 ? EIO : errno;
    sim_free(path);
    errno = good ? 0 : reason;
    return good;
}

static void take_text(json_t *to, const json_t *from, const char *name)
{
    const json_t *const value = json_object_get(from, name);
    const char *const text = json_string_value(value);
    const size_t length = json_string_length(value);
    if (text != NULL && length > 0 && length <= NAME_BYTES_MAX && strlen(text) == length &&
        studio_text_is_clean(text, length)) {
        (void)json_object_set(to, name, (json_t *)(uintptr_t)value);
    }
}

// "" is the top of the user's files.
static void take_folder(json_t *to, const json_t *from)
{
    json_t *const value = json_object_get(from, "folder");
    const char *const text = json_string_value(value);
    if (text != NULL && (text[0] == '\0' || studio_files_path_refuse(text) == NULL)) {
        (void)json_object_set(to, "folder", value);
    }
}

static void take_number(json_t *to, const json_t *from, const char *name)
{
    const json_t *const value = json_object_get(from, name);
    if (json_is_integer(value) && json_integer_value(value) > 0) {
        (void)json_object_set(to, name, (json_t *)(uintptr_t)value);
    }
}

static void take_set(json_t *to, const json_t *from)
{
    sim_message_t message;
    json_t *const runs = studio_order_expand(json_object_get(from, "set"), NULL, NULL, 1, &message);
    (void)json_object_set_new(to, "set",
                              runs == NULL ? json_array() : json_incref(json_array_get(runs, 0)));
    json_decref(runs);
}

static void take_limits(json_t *to, const json_t *from)
{
    json_t *const limits = json_object();
    const json_t *const given = json_object_get(from, "limits");
    take_number(limits, given, "time_s");
    take_number(limits, given, "memory_bytes");
    take_number(limits, given, "ranks");
    (void)json_object_set_new(to, "limits", limits);
}

json_t *studio_label_read(const char *folder)
{
    json_t *const label = json_object();
    char *const path = sim_format("%s/run.json", folder);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    json_t *from = NULL;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size <= (off_t)LABEL_BYTES_MAX) {
        from = json_loadfd(fd, 0, NULL);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    sim_free(path);
    take_text(label, from, "name");
    take_text(label, from, "owner");
    take_text(label, from, "library");
    take_text(label, from, "study");
    take_folder(label, from);
    take_number(label, from, "group");
    take_number(label, from, "created_ms");
    take_number(label, from, "made_by");
    take_set(label, from);
    take_limits(label, from);
    const char *const owner = json_string_value(json_object_get(label, "owner"));
    if (owner != NULL && studio_name_refuse(owner) != NULL) {
        (void)json_object_del(label, "owner");
    }
    json_decref(from);
    return label;
}

bool studio_run_folder_make(const char *folder)
{
    char *const mark = sim_format("%s/" STUDIO_UNCOMMITTED, folder);
    bool good = mkdir(folder, 0700) == 0;
    if (good) {
        const int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        good = fd >= 0;
        const int reason = errno;
        if (good) {
            (void)close(fd);
        } else {
            (void)rmdir(folder);
        }
        errno = reason;
    }
    const int reason = errno;
    sim_free(mark);
    errno = reason;
    return good;
}

void studio_run_folder_commit(const char *folder)
{
    char *const mark = sim_format("%s/" STUDIO_UNCOMMITTED, folder);
    (void)unlink(mark);
    sim_free(mark);
}
