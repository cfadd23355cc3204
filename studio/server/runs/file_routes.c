// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/file_routes.c - routes of a run's log and files, and of the server's state.
#include "studio/server/accounts/accounts.h"
#include "studio/server/http/cookie.h"
#include "studio/server/http/target.h"
#include "studio/server/process/confine.h"
#include "studio/server/process/live_ports.h"
#include "studio/server/runs/parts.h"
#include "studio/server/runs/queue.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FILES_MAX 2000u
#define DEPTH_MAX 4u
#define LOG_BYTES_MAX INT64_C(4000000)
#define PROGRESS_LINE_BYTES 1024
#define LIVE_BYTES_MAX ((size_t)4 << 20)
#define LIVE_TRIES 5

static bool find(studio_request_t *request, studio_run_t *run)
{
    int64_t id;
    return studio_request_number(request, "run", &id) &&
           studio_run_find(studio_request_studio(request), studio_request_user(request), id, run) &&
           !run->trashed;
}

static int not_there(studio_response_t *response)
{
    return studio_response_error(response, 404, "the run does not exist or has no such file");
}

// -- the log

static int get_log(studio_request_t *request, studio_response_t *response)
{
    studio_run_t run;
    int64_t tail;
    if (!find(request, &run)) {
        return not_there(response);
    }
    if (!studio_request_query_number(request, "tail", LOG_BYTES_MAX, 1, LOG_BYTES_MAX, &tail)) {
        return studio_response_error(response, 400, "tail: expected a number up to 4000000");
    }
    const int fd = studio_open_below(run.folder, "log", O_RDONLY);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return studio_response_bytes(response, 200, "text/plain; charset=utf-8", "", 0);
    }
    const off_t first = status.st_size > tail ? status.st_size - tail : 0;
    char *const text = sim_alloc((size_t)tail);
    const ssize_t length = pread(fd, text, (size_t)tail, first);
    (void)close(fd);
    (void)studio_response_bytes(response, 200, "text/plain; charset=utf-8", text,
                                length < 0 ? 0 : (size_t)length);
    sim_free(text);
    return 200;
}

// -- ports, while it runs

// Returns the text behind the line of progress, freed with sim_free; NULL if there is none.
static char *read_live(const char *folder)
{
    const int fd = studio_open_below(folder, "progress", O_RDONLY);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= PROGRESS_LINE_BYTES) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return NULL;
    }
    const size_t left = (size_t)(status.st_size - PROGRESS_LINE_BYTES);
    const size_t size = SIM_MIN(left, LIVE_BYTES_MAX);
    char *const text = sim_alloc(size + 1);
    const ssize_t length = pread(fd, text, size, PROGRESS_LINE_BYTES);
    (void)close(fd);
    text[SIM_MAX(0, length)] = '\0';
    return text;
}

static int get_live(studio_request_t *request, studio_response_t *response)
{
    const char *const ports = studio_request_query(request, "ports");
    const bool all = studio_request_query_is(request, "names");
    studio_run_t run;
    int64_t top;
    if (!find(request, &run)) {
        return not_there(response);
    }
    if (!studio_request_query_number(request, "top", 0, 0, STUDIO_LIVE_TOP_MAX, &top)) {
        return studio_response_error(response, 400, "top: expected 0 to %d", STUDIO_LIVE_TOP_MAX);
    }
    json_t *json = NULL;
    for (int i = 0; i < LIVE_TRIES && json == NULL; i++) {
        char *const text = read_live(run.folder);
        if (text == NULL) {
            break;
        }
        json = all ? studio_live_names(text) : studio_live_read(text, ports, (size_t)top);
        sim_free(text);
    }
    if (json == NULL) {
        json = all ? json_array() : json_pack("{s:i, s:i, s:[]}", "sim_ns", 0, "count", 0, "ports");
    }
    return studio_response_json(response, 200, all ? json_pack("{s:o}", "names", json) : json);
}

// -- files

static void add_file(json_t *list, const char *prefix, const char *name, const struct stat *status)
{
    char *const path = sim_format("%s%s", prefix, name);
    json_t *const json =
        json_pack("{s:s, s:I, s:I}", "path", path, "size_bytes", (json_int_t)status->st_size,
                  "changed_ms", (json_int_t)status->st_mtime * 1000);
    if (json != NULL && json_array_size(list) < FILES_MAX) {
        (void)json_array_append_new(list, json);
    } else {
        json_decref(json);
    }
    sim_free(path);
}

static void list_folder(json_t *list, int fd, const char *prefix, unsigned depth)
{
    DIR *const folder = fdopendir(fd);
    if (folder == NULL) {
        (void)close(fd);
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct stat status;
        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISREG(status.st_mode)) {
            add_file(list, prefix, entry->d_name, &status);
        } else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX) {
            char *const inner = sim_format("%s%s/", prefix, entry->d_name);
            const int inner_fd = openat(dirfd(folder), entry->d_name,
                                        O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            if (inner_fd >= 0) {
                list_folder(list, inner_fd, inner, depth + 1);
            }
            sim_free(inner);
        }
    }
    (void)closedir(folder);
}

static int get_files(studio_request_t *request, studio_response_t *response)
{
    studio_run_t run;
    struct stat status;
    if (!find(request, &run)) {
        return not_there(response);
    }
    json_t *const list = json_array();
    char *const scenario = sim_format("%s/scenario.yaml", run.folder);
    if (stat(scenario, &status) == 0) {
        add_file(list, "", "scenario.yaml", &status);
    }
    sim_free(scenario);
    const int fd = studio_open_below(run.folder, "result", O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        list_folder(list, fd, "result/", 0);
    }
    return studio_response_json(response, 200, json_pack("{s:o}", "files", list));
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {
        {".csv", "text/csv; charset=utf-8"},
        {".json", "application/json"},
        {".yaml", "text/plain; charset=utf-8"},
        {".svg", "application/octet-stream"}, // a browser would run the scripts of an image
    };
    const size_t length = strlen(path);
    for (size_t i = 0; i < SIM_COUNT_OF(types); i++) {
        const size_t ending = strlen(types[i][0]);
        if (length > ending && strcmp(path + length - ending, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

// Sends a file of result/ or the scenario; other files in the run's folder are the server's own.
static int get_file(studio_request_t *request, studio_response_t *response)
{
    const char *const path = studio_request_path(request, "path");
    studio_run_t run;
    if (!find(request, &run) ||
        (strncmp(path, "result/", 7) != 0 && strcmp(path, "scenario.yaml") != 0)) {
        return not_there(response);
    }
    const int fd = studio_open_below(run.folder, path, O_RDONLY);
    if (fd < 0) {
        return not_there(response);
    }
    const char *const slash = strrchr(path, '/');
    char *const name = sim_format("run%" PRId64 "-%s", run.id, slash == NULL ? path : slash + 1);
    (void)studio_response_file(response, type_of(path), fd, name);
    sim_free(name);
    return studio_response_status(response);
}

// -- the server

static int get_status(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    struct statvfs disk = {0};
    (void)statvfs(studio->options.data, &disk);
    json_t *const states = json_object();
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT CASE state WHEN 'starting' THEN 'running' ELSE state END,"
                         " count(*) FROM runs WHERE state IN ('queued', 'starting', 'running')"
                         " GROUP BY 1",
                         "");
    while (studio_rows_next(rows)) {
        (void)json_object_set_new(states, studio_rows_text(rows, 0),
                                  json_integer(studio_rows_int(rows, 1)));
    }
    (void)studio_rows_close(rows);
    const int64_t trash_bytes = studio_store_int(
        studio->store, 0, "SELECT coalesce(sum(size_bytes), 0) FROM runs WHERE trashed_ms NOTNULL",
        "");
    return studio_response_json(
        response, 200,
        json_pack("{s:s, s:o, s:I, s:s, s:{s:I, s:I, s:I, s:I}, s:b}", "version", ROCESIM_VERSION,
                  "runs", states, "jobs", (json_int_t)studio->options.jobs, "blocked",
                  studio_runs_blocked(studio->runs), "disk", "free_bytes",
                  (json_int_t)disk.f_bavail * (json_int_t)disk.f_frsize, "whole_bytes",
                  (json_int_t)disk.f_blocks * (json_int_t)disk.f_frsize, "needed_bytes",
                  (json_int_t)studio->options.disk_bytes_free, "trash_bytes",
                  (json_int_t)trash_bytes, "confined", (int)studio_confine_possible()));
}

// clang-format off
static const studio_parameter_t log_parameters[] = {
    {"tail", STUDIO_IN_QUERY, "integer", false, "returns only this number of bytes from the end"},
    {0},
};

static const studio_parameter_t live_parameters[] = {
    {"ports", STUDIO_IN_QUERY, "string", false, "names of ports, separated by commas"},
    {"top", STUDIO_IN_QUERY, "integer", false, "number of further ports, those with the longest queues, at most 64"},
    {"names", STUDIO_IN_QUERY, "boolean", false, "true: returns the names of all ports instead"},
    {0},
};

const studio_route_t studio_run_file_routes[] = {
    {"GET", "/api/v1/runs/{run}/live", STUDIO_ROLE_VIEWER, "Returns the state of ports while the run is running", live_parameters, NULL,
     "{sim_ns, count, ports: [{port, queued_bytes, sent_bytes, drops, paused}]}, or {names}", get_live, 0},
    {"GET", "/api/v1/runs/{run}/log", STUDIO_ROLE_VIEWER, "Returns the output of rocesim", log_parameters, NULL, "text",
     get_log, 0},
    {"GET", "/api/v1/runs/{run}/files", STUDIO_ROLE_VIEWER, "Lists the files of a run", NULL, NULL,
     "{files: [{path, size_bytes, changed_ms}]}", get_files, 0},
    {"GET", "/api/v1/runs/{run}/files/{path...}", STUDIO_ROLE_VIEWER, "Returns a file, or a range of it", NULL, NULL,
     "the file", get_file, 0},
    {"GET", "/api/v1/status", STUDIO_ROLE_VIEWER, "Returns the state of the queue and of the disk", NULL, NULL,
     "{version, runs: {queued?, running?}, jobs, blocked, disk: {free_bytes, whole_bytes, needed_bytes, "
     "trash_bytes}, confined}", get_status, 0},
    {0},
};
// clang-format on
