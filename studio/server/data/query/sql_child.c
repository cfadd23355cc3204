// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/sql_child.c - the process of one SQL statement, and the server's side.
//
// The order is JSON in a file in memory, which is the process's input. Its output begins with one
// byte: GOOD is followed by the answer, WRONG by the error as JSON.
#include "studio/server/data/query/sql_child.h"

#include "studio/server/process/confine.h"
#include "studio/server/process/spawn.h"
#include "studio/server/studio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOOD 'D'
#define WRONG 'E'
#define LOOK_MS 200
#define SILENCE_S 60.0 // seconds without output after which a statement is stopped
#define MEMORY_BYTES (UINT64_C(2) << 30)
#define FILE_BYTES (UINT64_C(4) << 30) // of SQLite's temporary files
#define ERROR_BYTES_MAX 4096u
#define BROKEN 3 // exit status: the statement failed after its first rows

struct studio_sql_child {
    pid_t process;
    int output;
    studio_patience_t patience;
    const char *trouble;
};

static const char too_long[] =
    "the statement was stopped: it needs too much processor time or memory; narrow it down, or ask "
    "for fewer rows";

// -- the order

static json_t *order_json(const studio_sources_t *sources, const char *text)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < sources->count; i++) {
        const studio_source_t *const source = &sources->sources[i];
        (void)json_array_append_new(
            list, json_pack("{s:I, s:s, s:s, s:s}", "run", (json_int_t)source->run, "name",
                            source->name, "result", source->result, "index", source->index));
    }
    return json_pack("{s:s, s:o}", "sql", text, "sources", list);
}

// Returns a file in memory with the order, at its beginning; -1 on failure.
static int write_order(const studio_sources_t *sources, const char *text)
{
    json_t *const json = order_json(sources, text);
    char *const order = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
    json_decref(json);
    const int fd = order == NULL ? -1 : memfd_create("sql", MFD_CLOEXEC);
    const size_t length = order == NULL ? 0 : strlen(order);
    const bool good =
        fd >= 0 && write(fd, order, length) == (ssize_t)length && lseek(fd, 0, SEEK_SET) == 0;
    free(order);
    if (!good && fd >= 0) {
        const int reason = errno;
        (void)close(fd);
        errno = reason;
    }
    return good ? fd : -1;
}

// -- the server's side

static pid_t spawn(int order, int output, studio_format_t format, const studio_sql_limits_t *limits)
{
    char numbers[3][24];
    snprintf(numbers[0], sizeof(numbers[0]), "%d", (int)format);
    snprintf(numbers[1], sizeof(numbers[1]), "%" PRIu64, limits->rows);
    snprintf(numbers[2], sizeof(numbers[2]), "%" PRIu64, limits->cpu_s);
    const char *const line[] = {"rocesim-studio", "sql", numbers[0], numbers[1], numbers[2], NULL};
    char *const temporary = sim_format("SQLITE_TMPDIR=%s", limits->temporary);
    const char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", temporary, NULL};
    posix_spawn_file_actions_t actions;
    SIM_CHECK(posix_spawn_file_actions_init(&actions) == 0);
    (void)posix_spawn_file_actions_adddup2(&actions, order, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const pid_t process = studio_spawn(line, environment, &actions, 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    sim_free(temporary);
    return process;
}

// Waits for the process; returns whether it ended by itself, after all of its answer.
static bool reap(studio_sql_child_t *child)
{
    int status = 0;
    while (child->process > 0 && waitpid(child->process, &status, 0) < 0 && errno == EINTR) {
    }
    child->process = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

ssize_t studio_sql_child_read(studio_sql_child_t *child, void *buffer, size_t size_bytes)
{
    const double began_s = studio_seconds();
    for (;;) {
        struct pollfd wait = {.fd = child->output, .events = POLLIN};
        const int ready = poll(&wait, 1, LOOK_MS);
        if (studio_is_over(&child->patience) || studio_seconds() - began_s > SILENCE_S) {
            child->trouble = too_long;
            return -1;
        }
        if (ready <= 0) {
            continue;
        }
        const ssize_t count = read(child->output, buffer, size_bytes);
        if (count != 0) {
            return count;
        }
        if (reap(child)) {
            return 0;
        }
        child->trouble = too_long;
        return -1;
    }
}

static sim_err_t read_error(studio_sql_child_t *child, studio_place_error_t *error)
{
    char text[ERROR_BYTES_MAX];
    size_t length = 0;
    for (ssize_t count = 1; count > 0 && length < sizeof(text); length += (size_t)count) {
        count = studio_sql_child_read(child, text + length, sizeof(text) - length);
        if (count < 0) {
            return sim_fail(&error->message, SIM_ERR_RANGE, "%s", child->trouble);
        }
    }
    json_t *const json = json_loadb(text, length, 0, NULL);
    const char *const message = json_string_value(json_object_get(json, "message"));
    const sim_err_t code = (sim_err_t)json_integer_value(json_object_get(json, "code"));
    error->column = (size_t)json_integer_value(json_object_get(json, "column"));
    const sim_err_t failed = sim_fail(&error->message, code == SIM_OK ? SIM_ERR_INVALID : code,
                                      "%s", message == NULL ? "the statement is wrong" : message);
    json_decref(json);
    return failed;
}

static sim_err_t read_verdict(studio_sql_child_t *child, studio_place_error_t *error)
{
    char verdict = 0;
    if (studio_sql_child_read(child, &verdict, 1) != 1) {
        return sim_fail(&error->message, SIM_ERR_RANGE, "%s", too_long);
    }
    return verdict == GOOD ? SIM_OK : read_error(child, error);
}

sim_err_t studio_sql_child_start(const studio_sources_t *sources, const char *text,
                                 const studio_sql_limits_t *limits, studio_format_t format,
                                 const studio_patience_t *patience, studio_sql_child_t **child,
                                 studio_place_error_t *error)
{
    int ends[2] = {-1, -1};
    *child = NULL;
    *error = (studio_place_error_t){.column = 0};
    const int order = write_order(sources, text);
    if (order < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        const int reason = errno;
        if (order >= 0) {
            (void)close(order);
        }
        return sim_fail(&error->message, SIM_ERR_IO, "the statement cannot be started: %s",
                        strerror(reason));
    }
    studio_sql_child_t *const made = sim_alloc(sizeof(*made));
    made->process = spawn(order, ends[1], format, limits);
    const int reason = errno;
    made->output = ends[0];
    made->patience = *patience;
    made->trouble = "";
    (void)close(order);
    (void)close(ends[1]);
    const sim_err_t code = made->process > 0
                               ? read_verdict(made, error)
                               : sim_fail(&error->message, SIM_ERR_IO,
                                          "the statement cannot be started: %s", strerror(reason));
    if (code != SIM_OK) {
        studio_sql_child_end(made);
        return code;
    }
    *child = made;
    return SIM_OK;
}

const char *studio_sql_child_trouble(const studio_sql_child_t *child)
{
    return child->trouble;
}

void studio_sql_child_end(studio_sql_child_t *child)
{
    if (child == NULL) {
        return;
    }
    if (child->process > 0) {
        (void)kill(child->process, SIGKILL);
        (void)reap(child);
    }
    (void)close(child->output);
    sim_free(child);
}

// -- its own side

static bool put(const void *bytes, size_t size_bytes)
{
    const char *at = bytes;
    while (size_bytes > 0) {
        const ssize_t count = write(STDOUT_FILENO, at, size_bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        at += count;
        size_bytes -= (size_t)count;
    }
    return true;
}

static void put_error(sim_err_t code, const studio_place_error_t *error)
{
    json_t *const json = json_pack("{s:I, s:I, s:s}", "code", (json_int_t)code, "column",
                                   (json_int_t)error->column, "message", error->message.text);
    char *const text = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
    const char verdict = WRONG;
    if (put(&verdict, 1) && text != NULL) {
        (void)put(text, strlen(text));
    }
    free(text);
    json_decref(json);
}

// Allows the process to read the sources, to write temporary files, and nothing else.
static bool confine(const studio_sources_t *sources, uint64_t cpu_s)
{
    const char **const readable = sim_alloc_array(2 * sources->count + 1, sizeof(*readable));
    for (size_t i = 0; i < sources->count; i++) {
        readable[2 * i] = sources->sources[i].result;
        readable[2 * i + 1] = sources->sources[i].index;
    }
    const studio_confine_t rules = {
        .writable = getenv("SQLITE_TMPDIR"),
        .file_bytes = FILE_BYTES,
        .also_readable = readable,
        .memory_bytes = MEMORY_BYTES,
        .cpu_s = cpu_s + 1, // the statement stops itself before, if it can
    };
    const bool good = studio_confine(&rules);
    sim_free(readable);
    return good;
}

static int answer(const studio_sources_t *sources, const char *text,
                  const studio_sql_limits_t *limits, studio_format_t format)
{
    studio_sql_t *sql = NULL;
    studio_place_error_t error = {.column = 0};
    sim_err_t code =
        studio_sql_open(sources, text, limits->rows, limits->cpu_s, format, NULL, &sql, &error);
    code = code == SIM_OK ? studio_sql_begin(sql, &error) : code;
    if (code != SIM_OK) {
        put_error(code, &error);
        studio_sql_close(sql);
        return 0;
    }
    const char verdict = GOOD;
    studio_out_t out = {.bytes = NULL};
    bool good = put(&verdict, 1);
    while (good && studio_sql_write(sql, &out)) {
        good = put(out.bytes, out.size);
        out.size = 0;
    }
    const bool failed = studio_sql_failed(sql) && format != STUDIO_JSON;
    studio_out_fini(&out);
    studio_sql_close(sql);
    return failed || !good ? BROKEN : 0;
}

int studio_sql_child_main(const char *const *arguments)
{
    json_t *const order = json_loadfd(STDIN_FILENO, 0, NULL);
    const json_t *const list = json_object_get(order, "sources");
    const char *const text = json_string_value(json_object_get(order, "sql"));
    if (text == NULL || arguments[0] == NULL || arguments[1] == NULL || arguments[2] == NULL) {
        json_decref(order);
        return 2;
    }
    studio_sources_t sources = {.sources = NULL};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const one = json_array_get(list, i);
        studio_sources_add(&sources, json_integer_value(json_object_get(one, "run")),
                           json_string_value(json_object_get(one, "name")),
                           json_string_value(json_object_get(one, "result")),
                           json_string_value(json_object_get(one, "index")));
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = 126;
    const studio_sql_limits_t limits = {
        .rows = strtoull(arguments[1], NULL, 10),
        .cpu_s = strtoull(arguments[2], NULL, 10),
    };
    if (confine(&sources, limits.cpu_s)) {
        status = answer(&sources, text, &limits, (studio_format_t)strtol(arguments[0], NULL, 10));
    }
    studio_sources_fini(&sources);
    json_decref(order);
    return status;
}
