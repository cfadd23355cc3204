// SPDX-License-Identifier: Apache-2.0
// studio/server/library/study_check.c - runs a study up to its first simulation.
#include "studio/server/library/study_check.h"

#include "studio/server/http/target.h"
#include "studio/server/library/library_internal.h"
#include "studio/server/process/confine.h"
#include "studio/server/store/folder.h"

#include "world/world.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_S 12
#define MEMORY_BYTES (UINT64_C(3) << 30)
#define FILE_BYTES (UINT64_C(64) << 20)
#define SETTINGS_MAX 256u
#define TEXT_BYTES 400u

// -- in the script, instead of rocesim

static void write_verdict(const char *text)
{
    char *const path = sim_format("%s/verdict", getenv(STUDIO_TRIAL));
    FILE *const file = fopen(path, "wex"); // of the first simulation
    if (file != NULL) {
        (void)fputs(text, file);
        (void)fclose(file);
    }
    sim_free(path);
}

int studio_trial_main(const char *const *arguments)
{
    world_override_t overrides[SETTINGS_MAX];
    size_t count = 0;
    const char *file = NULL;
    for (size_t i = 0; arguments[i] != NULL; i++) {
        const bool set = strcmp(arguments[i], "--set") == 0;
        const bool takes = set || strcmp(arguments[i], "-o") == 0;
        if (takes && arguments[i + 1] == NULL) {
            break;
        }
        if (set && count < SETTINGS_MAX) {
            overrides[count++] =
                (world_override_t){.shown = arguments[i + 1], .text = arguments[i + 1]};
        } else if (i > 0 && arguments[i][0] != '-' && file == NULL) {
            file = arguments[i];
        }
        i += takes;
    }
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    world_error_t error = {.text = ""};
    // Other commands cannot be tried.
    if (arguments[0] != NULL && strcmp(arguments[0], "run") == 0 && file != NULL &&
        world_scenario_load(NULL, file, overrides, count, &scenario, &error) == SIM_OK &&
        world_create(scenario, WORLD_BUILD_ALL, &world, &error) == SIM_OK) {
        error.text[0] = '\0';
    }
    write_verdict(error.text);
    world_destroy(world);
    world_scenario_destroy(scenario);
    return 1; // ends the script
}

// -- the confined process

int studio_study_check_main(const char *const *arguments)
{
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0 || arguments[0] == NULL || arguments[1] == NULL || arguments[2] == NULL) {
        return 2;
    }
    self[length] = '\0';
    const studio_confine_t confine = {
        .writable = arguments[1],
        .readable = arguments[0],
        .program = self,
        .memory_bytes = MEMORY_BYTES,
        .file_bytes = FILE_BYTES,
        .cpu_s = CPU_S,
    };
    char *const program = sim_format("ROCESIM=%s", self);
    char *const trial = sim_format(STUDIO_TRIAL "=%s", arguments[1]);
    char *const temporary = sim_format("TMPDIR=%s", arguments[1]);
    char *const environment[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin",
                                 (char *)(uintptr_t) "LC_ALL=C",
                                 program,
                                 trial,
                                 temporary,
                                 NULL};
    if (chdir(arguments[1]) == 0 && dup2(STDOUT_FILENO, STDERR_FILENO) >= 0 &&
        studio_confine(&confine)) {
        (void)execve(arguments[2], (char *const *)(uintptr_t)(arguments + 2), environment);
    }
    return 126;
}

// -- the server's side

// Writes the message without the path of a file, which is the server's own.
static void tell(sim_message_t *message, const char *text)
{
    char line[TEXT_BYTES + 1];
    const char *const name = text[0] == '/' ? strrchr(text, '/') : NULL;
    const char *const from = name == NULL ? text : name + 1;
    size_t length = SIM_MIN(strcspn(from, "\n"), TEXT_BYTES);
    memcpy(line, from, length);
    line[length] = '\0';
    while (length > 0 && !studio_text_is_clean(line, length)) {
        line[--length] = '\0';
    }
    (void)sim_fail(message, SIM_ERR_INVALID, "%s",
                   length == 0 ? "the study refuses its settings" : line);
}

bool studio_study_check(studio_t *studio, const studio_user_t *user, const char *const *command,
                        sim_message_t *message)
{
    const char *line[64] = {"rocesim-studio", "check", "study"};
    char *const data = realpath(studio->options.data, NULL);
    char *const readable = realpath(studio->options.scenarios, NULL);
    char *const folder = sim_format("%s/tmp/trial-XXXXXX", data == NULL ? "" : data);
    size_t count = 5;
    bool good = mkdtemp(folder) != NULL;
    line[3] = readable == NULL ? "" : readable;
    line[4] = folder;
    for (size_t i = 0; command[i] != NULL && count + 1 < SIM_COUNT_OF(line); i++) {
        line[count++] = command[i];
    }
    if (good) {
        studio__answer_t answer = {0};
        const int status = studio__check_run(studio->library, user->id, line, "", 0, &answer);
        char *const path = sim_format("%s/verdict", folder);
        char *const verdict = studio_read_text(path, TEXT_BYTES);
        if (verdict != NULL && verdict[0] != '\0') {
            tell(message, verdict);
            good = false;
        } else if (verdict == NULL && answer.failure == NULL && WIFEXITED(status) &&
                   WEXITSTATUS(status) == 2) {
            char *const text = sim_format("%.*s", (int)answer.length, answer.text);
            tell(message, text); // the script itself refuses them
            sim_free(text);
            good = false;
        }
        sim_free(verdict);
        sim_free(path);
        sim_free(answer.text);
        (void)studio_folder_remove(folder);
    } else {
        (void)sim_fail(message, SIM_ERR_IO, "the study cannot be tried: %s", strerror(errno));
    }
    sim_free(folder);
    free(readable);
    free(data);
    return good;
}
