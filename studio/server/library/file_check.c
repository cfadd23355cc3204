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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_S 12
#define MEMORY_BYTES (UINT64_C(3) << 30)
#define TEXT_BYTES_MAX 20000u

// -- the confined process

int studio_file_check_main(const char *const *arguments)
{
    if (arguments[0] == NULL || arguments[1] == NULL || arguments[2] == NULL) {
        return 2;
    }
    const studio_confine_t confine = {
        .readable = arguments[1],
        .program = arguments[0],
        .memory_bytes = MEMORY_BYTES,
        .cpu_s = CPU_S,
    };
    if (chdir(arguments[1]) == 0 && dup2(STDOUT_FILENO, STDERR_FILENO) >= 0 &&
        studio_confine(&confine)) {
        (void)execl(arguments[0], "rocesim", "check", arguments[2], (char *)NULL);
    }
    return 126;
}

// -- the server's side

static bool is_capture(int fd)
{
    static const unsigned char magics[][4] = {
        {0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0xc3, 0xd4}, {0x4d, 0x3c, 0xb2, 0xa1},
        {0xa1, 0xb2, 0x3c, 0x4d}, {0x0a, 0x0d, 0x0d, 0x0a},
    };
    unsigned char head[4] = {0};
    const bool read = pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head);
    bool found = false;
    for (size_t i = 0; i < SIM_COUNT_OF(magics); i++) {
        found = found || (read && memcmp(head, magics[i], sizeof(head)) == 0);
    }
    return found;
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

static json_t *judge(const char *path, int fd, char *text, int status)
{
    const char *kind = "other";
    json_t *good = json_null();
    clean(text);
    const char *const first_end = text + strcspn(text, "\n");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        const bool scenario = first_end - text > 4 && strncmp(first_end - 4, ": ok", 4) == 0;
        kind = scenario ? "scenario" : "workload";
        good = json_true();
    } else if (is_capture(fd)) {
        kind = "capture";
        snprintf(text, TEXT_BYTES_MAX, "%s: a capture of packets", path);
    } else if (WIFSIGNALED(status)) {
        good = json_false();
        snprintf(text, TEXT_BYTES_MAX, "%s: the check needs more time or memory than it may use",
                 path);
    } else if (strstr(text, "does not know the format") == NULL) {
        kind = strstr(path, ".yaml") != NULL ? "scenario" : "other";
        good = json_false();
    }
    return json_pack("{s:s, s:s, s:o, s:s}", "path", path, "kind", kind, "good", good, "text",
                     text);
}

json_t *studio_file_check(studio_t *studio, const studio_user_t *user, const char *path)
{
    char *const folder = studio_files_folder(studio, user->name, "");
    char *const whole = realpath(folder, NULL);
    char *const program = realpath(studio->options.program, NULL);
    struct stat status = {0};
    const int fd = whole == NULL || studio_files_path_refuse(path) != NULL
                       ? -1
                       : studio_open_below(whole, path, O_RDONLY);
    json_t *json = NULL;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        const char *const line[] = {"rocesim-studio",
                                    "check",
                                    "file",
                                    program == NULL ? studio->options.program : program,
                                    whole,
                                    path,
                                    NULL};
        studio__answer_t answer = {0};
        const int ended = studio__check_run(studio->library, user->id, line, "", 0, &answer);
        char *const text = sim_alloc(SIM_MAX(answer.length, TEXT_BYTES_MAX) + 1);
        if (answer.length > 0) {
            memcpy(text, answer.text, answer.length);
        }
        json = answer.failure != NULL ? json_pack("{s:s, s:s, s:n, s:s}", "path", path, "kind",
                                                  "other", "good", "text", answer.failure)
                                      : judge(path, fd, text, ended);
        sim_free(text);
        sim_free(answer.text);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(program);
    free(whole);
    sim_free(folder);
    return json;
}
