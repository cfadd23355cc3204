// SPDX-License-Identifier: Apache-2.0
// studio/server/library/file_check.c - runs `rocesim check` on a user's own file.
#include "studio/server/library/file_check.h"

#include "studio/server/files/files.h"
#include "studio/server/http/target.h"
#include "studio/server/library/library_internal.h"
#include "studio/server/process/confine.h"
#include "studio/server/store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_S 12
#define MEMORY_BYTES (UINT64_C(3) << 30)
#define TEXT_BYTES_MAX 20000u
#define LINKS_BYTES_MAX (UINT64_C(16) << 20)

// -- the confined process

// Writes the links of a fabric's files to a file in memory, which becomes the standard input.
static bool take_links(const char *program, const char *path)
{
    const int fd = memfd_create("links", 0);
    const pid_t child = fd < 0 ? -1 : fork();
    if (child == 0) {
        if (dup2(fd, STDOUT_FILENO) >= 0) {
            (void)execl(program, "rocesim", "import", "--quiet", "--links", "/dev/stdout", "-o",
                        "/dev/null", path, (char *)NULL);
        }
        _exit(126);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0 && dup2(fd, STDIN_FILENO) >= 0;
}

// Becomes `rocesim explain` of counters. The links are in a file of their own, or those of a
// fabric's files.
static int explain_main(const char *program, const char *topology, const char *const *counters)
{
    const size_t length = strlen(topology);
    const char *const line_end = length > 4 ? topology + length - 4 : topology;
    if (strcmp(line_end, ".csv") != 0 && strstr(topology, "topology.json") == NULL) {
        if (!take_links(program, topology)) {
            return 1;
        }
        topology = "/dev/stdin";
    }
    const char *line[2 * STUDIO_FILE_COUNTERS_MAX + 5] = {"rocesim", "explain", topology, "--json"};
    for (size_t i = 0; i < STUDIO_FILE_COUNTERS_MAX && counters[i] != NULL; i++) {
        line[4 + 2 * i] = "--counters";
        line[5 + 2 * i] = counters[i];
    }
    (void)execv(program, (char *const *)(uintptr_t)line);
    return 126;
}

int studio_file_check_main(const char *const *arguments)
{
    for (size_t i = 0; i < 4; i++) {
        if (arguments[i] == NULL) {
            return 2;
        }
    }
    const studio_confine_t confine = {
        .readable = arguments[1],
        .program = arguments[0],
        .memory_bytes = MEMORY_BYTES,
        .file_bytes = LINKS_BYTES_MAX, // of the links in memory: no folder is writable
        .cpu_s = CPU_S,
    };
    const char *const path = arguments[3];
    if (chdir(arguments[1]) != 0 || dup2(STDOUT_FILENO, STDERR_FILENO) < 0 ||
        !studio_confine(&confine)) {
        return 126;
    }
    if (strcmp(arguments[2], "explain") == 0) {
        return explain_main(arguments[0], path, arguments + 4);
    }
    if (strcmp(arguments[2], "check") == 0) {
        (void)execl(arguments[0], "rocesim", "check", path, (char *)NULL);
    } else if (strcmp(arguments[2], "report") == 0) {
        (void)execl(arguments[0], "rocesim", "import", "-o", "/dev/null", path, (char *)NULL);
    } else {
        (void)execl(arguments[0], "rocesim", "import", "--quiet", path, (char *)NULL);
    }
    return 126;
}

// -- the server's side

bool studio_file_is_capture(int fd, const char *path)
{
    static const unsigned char magics[][4] = {
        {0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0xc3, 0xd4}, {0x4d, 0x3c, 0xb2, 0xa1},
        {0xa1, 0xb2, 0x3c, 0x4d}, {0x0a, 0x0d, 0x0d, 0x0a},
    };
    unsigned char head[4] = {0};
    const bool read = pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head);
    // A compressed capture is known by its name.
    bool found = read && head[0] == 0x1f && head[1] == 0x8b && strstr(path, ".pcap") != NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(magics); i++) {
        found = found || (read && memcmp(head, magics[i], sizeof(head)) == 0);
    }
    return found;
}

// A file or folder of a user that is asked about.
typedef struct asked {
    studio_t *studio;
    int64_t user;
    char *folder; // of the user's files; NULL: there is none
    const char *path;
    const char *more[STUDIO_FILE_COUNTERS_MAX]; // further files, ended by NULL
    int fd; // of what is asked about; -1: the user has nothing of this name
    bool is_file;
} asked_t;

static asked_t asked_begin(studio_t *studio, const studio_user_t *user, const char *path)
{
    char *const folder = studio_files_folder(studio, user->name, "");
    asked_t asked = {.studio = studio,
                     .user = user->id,
                     .folder = realpath(folder, NULL),
                     .path = path,
                     .fd = -1};
    sim_free(folder);
    struct stat status;
    if (asked.folder != NULL && studio_files_path_refuse(path) == NULL) {
        asked.fd = studio_open_below(asked.folder, path, O_RDONLY);
    }
    if (asked.fd >= 0 && fstat(asked.fd, &status) == 0) {
        asked.is_file = S_ISREG(status.st_mode);
    }
    return asked;
}

static void asked_end(asked_t *asked)
{
    if (asked->fd >= 0) {
        (void)close(asked->fd);
    }
    free(asked->folder);
}

// Asks rocesim and returns the status of waitpid. *text gets what it printed, freed with sim_free;
// *failure why nothing was asked, or NULL.
static int ask(const asked_t *asked, const char *what, char **text, const char **failure)
{
    char *const found = realpath(asked->studio->options.program, NULL);
    const char *const program = found == NULL ? asked->studio->options.program : found;
    const char *line[8 + STUDIO_FILE_COUNTERS_MAX] = {
        "rocesim-studio", "check", "file", program, asked->folder, what, asked->path};
    for (size_t i = 0; i < STUDIO_FILE_COUNTERS_MAX && asked->more[i] != NULL; i++) {
        line[7 + i] = asked->more[i];
    }
    studio__answer_t answer = {0};
    const int status = studio__check_run(asked->studio->library, asked->user, line, "", 0, &answer);
    *text = sim_alloc(SIM_MAX(answer.length, TEXT_BYTES_MAX) + 1);
    if (answer.length > 0) {
        memcpy(*text, answer.text, answer.length);
    }
    *failure = answer.failure;
    sim_free(answer.text);
    free(found);
    return status;
}

static bool succeeded(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Cuts the text to a length that an answer holds, at a character's end.
static void clean(char *text)
{
    size_t length = SIM_MIN(strlen(text), TEXT_BYTES_MAX);
    text[length] = '\0';
    while (length > 0 && !studio_text_is_clean(text, length)) {
        text[--length] = '\0';
    }
}

// `rocesim check` names the command that reads a file of a fabric.
static bool is_fabric(const char *text)
{
    return strstr(text, ": rocesim import FILE") != NULL;
}

static json_t *judge(const asked_t *asked, char *text, int status)
{
    const char *const path = asked->path;
    const char *kind = "other";
    json_t *good = json_null();
    clean(text);
    const char *const first_end = text + strcspn(text, "\n");
    if (succeeded(status)) {
        const bool scenario = first_end - text > 4 && strncmp(first_end - 4, ": ok", 4) == 0;
        kind = scenario                                 ? "scenario"
               : strstr(text, ": requests of ") != NULL ? "requests"
                                                        : "workload";
        good = json_true();
    } else if (studio_file_is_capture(asked->fd, path)) {
        kind = "capture";
        snprintf(text, TEXT_BYTES_MAX, "%s: a capture of packets", path);
    } else if (WIFSIGNALED(status)) {
        good = json_false();
        snprintf(text, TEXT_BYTES_MAX, "%s: the check needs more time or memory than it may use",
                 path);
    } else if (strstr(text, ": rocesim explain TOPOLOGY --counters ") != NULL) {
        kind = "counters";
    } else if (strstr(text, "does not know the format") == NULL) {
        kind = strstr(path, ".yaml") != NULL ? "scenario" : "other";
        good = json_false();
    }
    return json_pack("{s:s, s:s, s:o, s:s}", "path", path, "kind", kind, "good", good, "text",
                     text);
}

// Says what became of each part of a fabric's file.
static json_t *judge_fabric(const asked_t *asked)
{
    char *report;
    const char *failure;
    const int status = ask(asked, "report", &report, &failure);
    clean(report);
    json_t *const json =
        json_pack("{s:s, s:s, s:b, s:s}", "path", asked->path, "kind", "fabric", "good",
                  failure == NULL && succeeded(status), "text", failure != NULL ? failure : report);
    sim_free(report);
    return json;
}

json_t *studio_file_check(studio_t *studio, const studio_user_t *user, const char *path)
{
    asked_t asked = asked_begin(studio, user, path);
    json_t *json = NULL;
    if (asked.is_file) {
        char *text;
        const char *failure;
        const int status = ask(&asked, "check", &text, &failure);
        json = failure != NULL   ? json_pack("{s:s, s:s, s:n, s:s}", "path", path, "kind", "other",
                                             "good", "text", failure)
               : is_fabric(text) ? judge_fabric(&asked)
                                 : judge(&asked, text, status);
        sim_free(text);
    }
    asked_end(&asked);
    return json;
}

char *studio_file_import(studio_t *studio, const studio_user_t *user, const char *path, int *status)
{
    asked_t asked = asked_begin(studio, user, path);
    char *text = NULL;
    *status = 404;
    if (asked.fd >= 0) {
        const char *failure;
        const bool good = succeeded(ask(&asked, "import", &text, &failure)) && failure == NULL &&
                          studio_text_is_clean(text, strlen(text));
        *status = failure != NULL ? 503 : good ? 200 : 422;
        if (failure != NULL) {
            snprintf(text, TEXT_BYTES_MAX, "%s", failure);
        } else if (!good) {
            clean(text);
        }
    }
    asked_end(&asked);
    return text;
}

// Returns the lines before the JSON, which tell what was left out.
static json_t *notes_of(const char *text, const char *end)
{
    json_t *const notes = json_array();
    while (text < end) {
        const size_t length = strcspn(text, "\n");
        (void)json_array_append_new(notes, json_stringn(text, length));
        text += length + 1;
    }
    return notes;
}

json_t *studio_file_explain(studio_t *studio, const studio_user_t *user, const char *path,
                            const json_t *counters, int *status)
{
    asked_t asked = asked_begin(studio, user, path);
    bool known = asked.fd >= 0;
    for (size_t i = 0; i < SIM_MIN(json_array_size(counters), STUDIO_FILE_COUNTERS_MAX - 1); i++) {
        const char *const name = json_string_value(json_array_get(counters, i));
        known = known && name != NULL && studio_files_path_refuse(name) == NULL;
        asked.more[i] = name;
    }
    json_t *json = NULL;
    *status = 404;
    if (known) {
        char *text;
        const char *failure;
        const bool good = succeeded(ask(&asked, "explain", &text, &failure));
        const char *const begin = text[0] == '{' ? text : strstr(text, "\n{");
        json = good && begin != NULL ? json_loads(begin, 0, NULL) : NULL;
        *status = failure != NULL ? 503 : json != NULL ? 200 : 422;
        if (json != NULL) {
            (void)json_object_set_new(json, "notes", notes_of(text, begin));
        } else {
            clean(text);
            json = json_string(failure != NULL ? failure : text);
        }
        sim_free(text);
    }
    asked_end(&asked);
    return json;
}
