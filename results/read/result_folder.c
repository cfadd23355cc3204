// SPDX-License-Identifier: Apache-2.0
// results/read/result_folder.c - result folders: their summary, their name.
#include "results/result_folder.h"

#include "results/csv.h"
#include "results/file.h"
#include "results/summary.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUMMARY_BYTES_MAX ((size_t)64 << 20)

static bool has(const char *folder, const char *file)
{
    char *const path = sim_format("%s/%s", folder, file);
    const bool found = access(path, R_OK) == 0;
    sim_free(path);
    return found;
}

bool results_result_is_sweep(const char *folder)
{
    return has(folder, "runs.csv") && !has(folder, "summary.json");
}

// Returns whether the folder exists; if not, *error says what was expected.
static bool is_folder(const char *folder, world_error_t *error)
{
    struct stat status;
    errno = 0;
    if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode)) {
        return true;
    }
    if (errno != ENOENT && errno != ENOTDIR && errno != 0) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(folder),
                          "the folder cannot be looked at: %s", strerror(errno)) == SIM_OK;
    }
    return world_fail(error, SIM_ERR_IO, WORLD_FILE(folder),
                      "there is no such folder, expected one of `rocesim run -o` or "
                      "`rocesim sweep -o`") == SIM_OK;
}

sim_err_t results_result_summary(const char *folder, json_t **summary, world_error_t *error)
{
    char *text = NULL;
    size_t size = 0;
    if (!is_folder(folder, error)) {
        return SIM_ERR_IO;
    }
    if (results_result_is_sweep(folder)) {
        return world_fail(error, SIM_ERR_INVALID, WORLD_FILE(folder),
                          "this folder holds a sweep, expected one of its runs, in %s/runs",
                          folder);
    }
    char *const path = sim_format("%s/summary.json", folder);
    if (access(path, F_OK) != 0) {
        sim_free(path);
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(folder),
                          "summary.json is not there, expected the folder of a finished "
                          "`rocesim run -o`");
    }
    sim_err_t result = world_read_file(path, SUMMARY_BYTES_MAX, &text, &size, error);
    if (result == SIM_OK) {
        json_error_t parse;
        *summary = json_loadb(text, size, 0, &parse);
        const world_place_t place = {path, parse.line, parse.column};
        if (*summary == NULL) {
            result = world_fail(error, SIM_ERR_INVALID, &place, "not JSON: %s", parse.text);
        } else if (!json_is_object(json_object_get(*summary, "flows"))) {
            json_decref(*summary);
            *summary = NULL;
            result = world_fail(error, SIM_ERR_INVALID, WORLD_FILE(path),
                                "not the summary of a run, expected a folder of `rocesim run -o`");
        }
        sim_free(text);
    }
    sim_free(path);
    return result;
}

// Returns the last `parts` names of a path.
static char *last_names(const char *folder, unsigned parts)
{
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/') {
        end--;
    }
    size_t start = end;
    while (start > 0 && (folder[start - 1] != '/' || --parts > 0)) {
        start--;
    }
    return sim_format("%.*s", (int)(end - start), folder + start);
}

char *results_result_name(const char *folder)
{
    return last_names(folder, 1);
}

static bool all_differ(char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (strcmp(names[i], names[j]) == 0) {
                return false;
            }
        }
    }
    return true;
}

void results_result_names(const char *const *folders, size_t count, char **names)
{
    for (unsigned parts = 1; parts <= 8; parts++) {
        for (size_t i = 0; i < count; i++) {
            names[i] = last_names(folders[i], parts);
        }
        if (parts == 8 || all_differ(names, count)) {
            return;
        }
        sim_free_each(names, count);
    }
}

// -- sweeps

typedef struct run_list {
    char **folders;
    size_t count;
    size_t capacity;
} run_list_t;

static void add_run(run_list_t *list, char *folder)
{
    SIM_APPEND(list->folders, list->count, list->capacity, folder);
}

static sim_err_t add_sweep(run_list_t *list, const char *sweep, world_error_t *error)
{
    static const char *const names[] = {"run"};
    char *const path = sim_format("%s/runs.csv", sweep);
    results_csv_t *csv = NULL;
    bool end = false;
    const size_t before = list->count;
    sim_err_t result = results_csv_open(path, names, SIM_COUNT_OF(names), &csv, error);
    while (result == SIM_OK && !end) {
        result = results_csv_next(csv, &end, error);
        if (result == SIM_OK && !end) {
            char *const folder = sim_format("%s/runs/%s", sweep, results_csv_text(csv, 0));
            if (has(folder, "summary.json")) {
                add_run(list, folder);
            } else {
                sim_free(folder);
            }
        }
    }
    results_csv_close(csv);
    if (result == SIM_OK && list->count == before) {
        result = world_fail(error, SIM_ERR_INVALID, WORLD_FILE(path),
                            "no run of this sweep has results, expected one or more");
    }
    sim_free(path);
    return result;
}

sim_err_t results_result_runs(const char *const *folders, size_t count, char ***runs,
                              size_t *run_count, world_error_t *error)
{
    run_list_t list = {0};
    sim_err_t result = SIM_OK;
    for (size_t i = 0; result == SIM_OK && i < count; i++) {
        if (!is_folder(folders[i], error)) {
            result = SIM_ERR_IO;
        } else if (results_result_is_sweep(folders[i])) {
            result = add_sweep(&list, folders[i], error);
        } else {
            add_run(&list, sim_strdup(folders[i]));
        }
    }
    *runs = list.folders;
    *run_count = list.count;
    return result;
}
