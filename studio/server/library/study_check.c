// SPDX-License-Identifier: Apache-2.0
// studio/server/library/study_check.c - runs a study up to its first simulation.
#include "studio/server/library/study_check.h"

#include "studio/server/http/target.h"
#include "studio/server/library/library_internal.h"
#include "studio/server/process/confine.h"
#include "studio/server/store/folder.h"

#include "world/world.h"
#include "world/yaml_tree.h"

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

// A command line: `run FILE` or `sweep FILE` with options, of which settings and --quick matter.
typedef struct trial {
    const char *command;
    const char *file;
    const char *settings[SETTINGS_MAX];
    size_t count;
    bool quick;
} trial_t;

static trial_t read_trial(const char *const *arguments)
{
    trial_t trial = {.command = arguments[0]};
    for (size_t i = 1; arguments[0] != NULL && arguments[i] != NULL; i++) {
        const bool set = strcmp(arguments[i], "--set") == 0;
        const bool takes = set || strcmp(arguments[i], "-o") == 0;
        if (takes && arguments[i + 1] == NULL) {
            break;
        }
        if (set && trial.count < SETTINGS_MAX) {
            trial.settings[trial.count++] = arguments[i + 1];
        } else if (strcmp(arguments[i], "--quick") == 0) {
            trial.quick = true;
        } else if (arguments[i][0] != '-' && trial.file == NULL) {
            trial.file = arguments[i];
        }
        i += takes;
    }
    return trial;
}

// Builds a scenario with settings.
static sim_err_t try_run(const char *file, const char *const *settings, size_t count,
                         world_error_t *error)
{
    world_override_t *const overrides = sim_alloc_array(count + 1, sizeof(*overrides));
    for (size_t i = 0; i < count; i++) {
        overrides[i] = (world_override_t){.shown = settings[i], .text = settings[i]};
    }
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    sim_err_t result = world_scenario_load(NULL, file, overrides, count, &scenario, error);
    result = result == SIM_OK ? world_create(scenario, WORLD_BUILD_ALL, &world, error) : result;
    world_destroy(world);
    world_scenario_destroy(scenario);
    sim_free(overrides);
    return result;
}

// Adds the settings of a sweep's mapping, with the first value of each list; no other structure.
static size_t add_settings(const world_tree_t *map, char **settings, size_t count)
{
    for (size_t i = 0; map != NULL && map->kind == WORLD_TREE_MAP && i < map->count; i++) {
        const world_tree_t *value = map->entries[i].value;
        if (value->kind == WORLD_TREE_LIST && value->count > 0) {
            value = value->entries[0].value;
        }
        if (value->kind == WORLD_TREE_SCALAR && count < SETTINGS_MAX) {
            settings[count++] = sim_format("%s=%s", map->entries[i].key->text, value->text);
        }
    }
    return count;
}

// Builds the first point of a sweep, and points with each value that a setting gives to a parameter
// of its grid. The variants are left out.
static sim_err_t try_points(const trial_t *trial, const char *scenario, const world_tree_t *sweep,
                            world_error_t *error)
{
    const world_tree_t *const quick = trial->quick ? world_tree_value(sweep, "quick") : NULL;
    const world_tree_t *const maps[] = {
        world_tree_value(sweep, "set"),
        quick != NULL ? world_tree_value(quick, "set") : NULL,
        world_tree_value(sweep, "grid"),
        quick != NULL ? world_tree_value(quick, "grid") : NULL,
    };
    char *settings[2 * SETTINGS_MAX] = {NULL};
    size_t own = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(maps); i++) {
        own = add_settings(maps[i], settings, own);
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < trial->count && result == SIM_OK; i++) {
        const char *const text = trial->settings[i];
        char *const name = sim_format("%.*s", (int)strcspn(text, "="), text);
        const char *value = text + strlen(name) + 1;
        const bool listed = maps[2] != NULL && world_tree_find(maps[2], name) != NULL;
        while (result == SIM_OK && *value != '\0') {
            value += strspn(value, listed ? " ,[]" : "");
            const size_t length = listed ? strcspn(value, ",]") : strlen(value);
            if (length > 0) {
                settings[own] = sim_format("%s=%.*s", name, (int)length, value);
                result = try_run(scenario, (const char *const *)settings, own + 1, error);
                sim_free(settings[own]);
            }
            value += length;
        }
        sim_free(name);
    }
    if (result == SIM_OK && trial->count == 0) {
        result = try_run(scenario, (const char *const *)settings, own, error);
    }
    sim_free_each(settings, own);
    return result;
}

static sim_err_t try_sweep(const trial_t *trial, world_error_t *error)
{
    world_document_t *const document = world_document_create();
    world_tree_t *sweep = NULL;
    sim_err_t result = world_yaml_read(document, trial->file, &sweep, error);
    const world_tree_t *const base = result == SIM_OK && sweep->kind == WORLD_TREE_MAP
                                         ? world_tree_value(sweep, "scenario")
                                         : NULL;
    if (base != NULL && base->kind == WORLD_TREE_SCALAR) {
        const char *const slash = strrchr(trial->file, '/');
        char *const scenario = sim_format(
            "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - trial->file), trial->file, base->text);
        result = try_points(trial, scenario, sweep, error);
        sim_free(scenario);
    }
    world_document_destroy(document);
    return result;
}

int studio_trial_main(const char *const *arguments)
{
    const trial_t trial = read_trial(arguments);
    world_error_t error = {.text = ""};
    sim_err_t result = SIM_OK; // other commands cannot be tried
    if (trial.file != NULL && strcmp(trial.command, "run") == 0) {
        result = try_run(trial.file, trial.settings, trial.count, &error);
    } else if (trial.file != NULL && strcmp(trial.command, "sweep") == 0) {
        result = try_sweep(&trial, &error);
    }
    write_verdict(result == SIM_OK ? "" : error.text);
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
        SIM_FREE_ALL(verdict, path, answer.text);
        (void)studio_folder_remove(folder);
    } else {
        (void)sim_fail(message, SIM_ERR_IO, "the study cannot be tried: %s", strerror(errno));
    }
    sim_free(folder);
    free(readable);
    free(data);
    return good;
}
