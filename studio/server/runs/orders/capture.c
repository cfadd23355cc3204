// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/orders/capture.c - makes a run of a capture among a user's files.
//
// The run has ended before it began: it has no process, and its only result is the capture, a hard
// link to the user's file. So all that reads the captures of runs reads this one. Its summary says
// `ended: capture`.
#include "studio/server/runs/orders/orders.h"

#include "studio/server/accounts/accounts.h"
#include "studio/server/files/files.h"
#include "studio/server/http/body.h"
#include "studio/server/library/file_check.h"
#include "studio/server/runs/consistency/label.h"
#include "studio/server/runs/consistency/numbers.h"
#include "studio/server/runs/finish.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDED "capture"
#define COPY_BYTES_MAX (UINT64_C(1) << 30) // of what the import unpacks
#define DEFLATE_RATIO_MAX 1032u            // bytes that a byte of a gzip file can become

typedef struct opened {
    const studio_user_t *user;
    const char *name; // of the file, without folders
    int fd;
    int64_t run;
    int64_t group;
    char *folder; // of the run
    uint64_t bytes;
} opened_t;

// Sets the bytes that the run takes until its import has measured them: those of the file and, if
// that is compressed, the most that it can become.
static void measure(opened_t *opened)
{
    struct stat status = {0};
    unsigned char head[2] = {0};
    (void)fstat(opened->fd, &status);
    opened->bytes = (uint64_t)status.st_size;
    if (pread(opened->fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) && head[0] == 0x1f &&
        head[1] == 0x8b) {
        opened->bytes +=
            SIM_MIN(opened->bytes, COPY_BYTES_MAX / DEFLATE_RATIO_MAX) * DEFLATE_RATIO_MAX;
    }
}

// Returns the run that shows this very file already; 0: there is none.
static int64_t find_run(studio_t *studio, const opened_t *opened)
{
    struct stat wanted = {0};
    struct stat found;
    int64_t run = 0;
    (void)fstat(opened->fd, &wanted);
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT id FROM runs WHERE owner = ? AND name = ? AND ended = ?"
                         " AND trashed_ms IS NULL ORDER BY id DESC LIMIT 100",
                         "iss", opened->user->id, opened->name, ENDED);
    while (run == 0 && studio_rows_next(rows)) {
        const int64_t id = studio_rows_int(rows, 0);
        char *const path = sim_format("%s/runs/%" PRId64 "/result/captures/%s",
                                      studio->options.data, id, opened->name);
        run = stat(path, &found) == 0 && found.st_ino == wanted.st_ino &&
                      found.st_dev == wanted.st_dev
                  ? id
                  : 0;
        sim_free(path);
    }
    (void)studio_rows_close(rows);
    return run;
}

static bool write_json(const char *folder, const char *name, json_t *json)
{
    char *const path = sim_format("%s/%s", folder, name);
    const bool good = json_dump_file(json, path, JSON_COMPACT) == 0;
    json_decref(json);
    sim_free(path);
    return good;
}

static bool link_capture(const opened_t *opened)
{
    char *const captures = sim_format("%s/result/captures", opened->folder);
    char *const target = sim_format("%s/%s", captures, opened->name);
    char *const source = sim_format("/proc/self/fd/%d", opened->fd);
    const bool good = mkdir(captures, 0700) == 0 &&
                      linkat(AT_FDCWD, source, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0;
    SIM_FREE_ALL(source, target, captures);
    return good;
}

static bool fill_folder(const opened_t *opened)
{
    char *const result = sim_format("%s/result", opened->folder);
    struct stat status;
    const bool good =
        fstat(opened->fd, &status) == 0 &&
        write_json(opened->folder, "run.json",
                   json_pack("{s:s, s:s, s:I, s:[], s:{}, s:I}", "name", opened->name, "owner",
                             opened->user->name, "group", (json_int_t)opened->group, "set",
                             "limits", "created_ms", (json_int_t)studio_now_ms())) &&
        mkdir(result, 0700) == 0 && link_capture(opened) &&
        // The digest distinguishes this file from a later one of the same run.
        write_json(result, "summary.json",
                   json_pack("{s:s, s:s, s:I}", "version", ROCESIM_VERSION, "ended", ENDED,
                             "digest", (json_int_t)status.st_mtim.tv_sec));
    sim_free(result);
    return good;
}

static bool insert(studio_t *studio, const opened_t *opened)
{
    const int64_t now_ms = studio_now_ms();
    return studio_store_do(studio->store,
                           "INSERT INTO runs(id, run_group, name, owner, shared, state, ended,"
                           " overrides, limits, created_ms, started_ms, ended_ms, size_bytes)"
                           " VALUES (?, ?, ?, ?, 0, 'done', ?, '[]', '{}', ?, ?, ?, ?)",
                           "iisisiiii", opened->run, opened->group, opened->name, opened->user->id,
                           ENDED, now_ms, now_ms, now_ms, (int64_t)opened->bytes);
}

// Returns 0, or the status of the answer.
static int make_run(studio_t *studio, studio_response_t *response, opened_t *opened,
                    const char *address)
{
    const int full = studio_response_disk_full(response, studio);
    const uint64_t taken = studio_runs_bytes(studio, opened->user->id);
    if (full != 0) {
        return full;
    }
    if (taken + opened->bytes > studio->options.user_run_bytes) {
        return studio_response_error(response, 507,
                                     "the files of your runs take %" PRIu64 " of %" PRIu64
                                     " bytes; delete runs and empty the trash",
                                     taken, studio->options.user_run_bytes);
    }
    opened->run = studio_numbers_take(studio->numbers, 1);
    opened->group =
        opened->run == 0
            ? 0
            : studio_store_insert(studio->store,
                                  "INSERT INTO run_groups(name, owner, created_ms, plan)"
                                  " VALUES (?, ?, ?, '{\"runs\":1}')",
                                  "sii", opened->name, opened->user->id, studio_now_ms());
    if (opened->group == 0) {
        return studio_response_store_failed(response, studio);
    }
    opened->folder = sim_format("%s/runs/%" PRId64, studio->options.data, opened->run);
    int status = 0;
    if (!studio_run_folder_make(opened->folder) || !fill_folder(opened)) {
        status = studio_response_error(response, 507, "the run of the capture cannot be made: %s",
                                       strerror(errno));
    } else if (!insert(studio, opened)) {
        status = studio_response_store_failed(response, studio);
    }
    if (status == 0) {
        studio_run_folder_commit(opened->folder);
        studio_audit(studio, opened->user, address, "run.create", "%" PRId64 ": capture %s",
                     opened->run, opened->name);
    } else {
        (void)studio_folder_remove(opened->folder);
    }
    return status;
}

int studio__post_capture(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    const char *const path = studio_body_text(request, "path", STUDIO_FILE_PATH_BYTES_MAX);
    if (path == NULL || studio_files_path_refuse(path) != NULL) {
        return studio_response_error(response, 400, "path: expected the name of a file");
    }
    char *const top = studio_files_folder(studio, user->name, "");
    const char *const slash = strrchr(path, '/');
    opened_t opened = {.user = user,
                       .name = slash == NULL ? path : slash + 1,
                       .fd = studio_open_below(top, path, O_RDONLY)};
    sim_free(top);
    int status = 0;
    if (opened.fd < 0) {
        status = studio_response_error(response, 404, "you have no such file");
    } else if (!studio_file_is_capture(opened.fd, path)) {
        status = studio_response_error(response, 422,
                                       "%s is no capture, expected a file of pcap or pcapng", path);
    } else {
        measure(&opened);
        opened.run = find_run(studio, &opened);
        status = opened.run != 0
                     ? 0
                     : make_run(studio, response, &opened, studio_request_address(request));
    }
    if (status == 0) {
        studio_run_tell_state(studio, opened.run);
        status = studio_response_json(response, 201, studio_run_json(studio, opened.run));
    }
    if (opened.fd >= 0) {
        (void)close(opened.fd);
    }
    sim_free(opened.folder);
    return status;
}
