// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/study.c - the process of a study, and the runs it made.
#include "studio/server/runs/study.h"

#include "studio/server/library/library.h"
#include "studio/server/library/sweep_names.h"
#include "studio/server/process/child.h"
#include "studio/server/runs/consistency/label.h"
#include "studio/server/runs/consistency/numbers.h"
#include "studio/server/runs/values.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"
#include "studio/server/store/reserve.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 4u
#define FILES_MAX 10000u // in one result folder

// -- its process

static bool is_quick(const char *setting)
{
    return strcmp(setting, STUDIO_STUDY_QUICK) == 0;
}

char **studio_study_line(const studio_t *studio, const char *study, const json_t *set)
{
    const char *runner = NULL;
    const char *name = NULL;
    char **const line = sim_alloc_array(8 + 2 * json_array_size(set), sizeof(*line));
    size_t count = 0;
    if (!studio_library_study(studio->library, study, &runner, &name)) {
        line[count++] = sim_strdup("/bin/bash");
        line[count++] = sim_strdup("-c");
        line[count++] = sim_strdup("echo \"the library has no study $0\" >&2; exit 2");
        line[count] = sim_strdup(study);
        return line;
    }
    char *const scenarios = realpath(studio->options.scenarios, NULL);
    line[count++] = sim_strdup("/bin/bash");
    line[count++] = sim_format("%s/%s", scenarios == NULL ? "" : scenarios, runner);
    line[count++] = sim_strdup("-o");
    line[count++] = sim_strdup("result");
    for (size_t i = 0; i < json_array_size(set); i++) {
        const char *const setting = json_string_value(json_array_get(set, i));
        SIM_CHECK(setting != NULL);
        line[count++] = sim_strdup(is_quick(setting) ? "--quick" : "--set");
        if (!is_quick(setting)) {
            line[count++] = sim_strdup(setting);
        }
    }
    line[count] = sim_strdup(name);
    free(scenarios);
    return line;
}

// -- result folders below it

typedef struct found {
    char **paths; // paths below result/
    size_t count;
    size_t capacity;
    size_t most;
} found_t;

static bool is_file(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

static void find_results(found_t *found, int fd, const char *path, unsigned depth)
{
    DIR *const folder = fdopendir(fd);
    if (folder == NULL) {
        (void)close(fd);
        return;
    }
    if (is_file(dirfd(folder), "summary.json") && is_file(dirfd(folder), "manifest.json")) {
        if (found->count < found->most) {
            SIM_APPEND(found->paths, found->count, found->capacity, sim_strdup(path));
        }
        (void)closedir(folder);
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL && depth < DEPTH_MAX;
         entry = readdir(folder)) {
        const int inner = entry->d_name[0] == '.'
                              ? -1
                              : openat(dirfd(folder), entry->d_name,
                                       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (inner >= 0) {
            char *const longer =
                sim_format("%s%s%s", path, path[0] == '\0' ? "" : "/", entry->d_name);
            find_results(found, inner, longer, depth + 1);
            sim_free(longer);
        }
    }
    (void)closedir(folder);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// -- their files, a second time

// Links the files of a folder and its subfolders; other kinds of files are left out.
static bool link_folder(int from, int to, unsigned depth)
{
    bool good = true;
    size_t count = 0;
    DIR *const folder = fdopendir(from);
    if (folder == NULL) {
        (void)close(from);
        return false;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL && good;
         entry = readdir(folder)) {
        const char *const name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || count++ == FILES_MAX) {
            continue;
        }
        if (is_file(dirfd(folder), name)) {
            good = linkat(dirfd(folder), name, to, name, 0) == 0;
            continue;
        }
        const int inner =
            openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (inner < 0 || depth == DEPTH_MAX) {
            good = inner < 0 || close(inner) == 0;
            continue;
        }
        good = mkdirat(to, name, 0700) == 0;
        const int made = good ? openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        good = made >= 0 && link_folder(inner, made, depth + 1);
        if (made >= 0) {
            (void)close(made);
        } else {
            (void)close(inner);
        }
    }
    (void)closedir(folder);
    return good;
}

// Fills the folder of a run that a study made with scenario.yaml and result/.
static bool fill_folder(const char *folder, const char *from)
{
    char *const result = sim_format("%s/result", folder);
    char *const scenario = sim_format("%s/scenario.yaml", folder);
    char *const written = sim_format("%s/scenario.yaml", from);
    bool good = mkdir(result, 0700) == 0 && link(written, scenario) == 0;
    const int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const int target = open(result, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    good = good && source >= 0 && target >= 0;
    if (good) {
        good = link_folder(source, target, 0);
    } else if (source >= 0) {
        (void)close(source);
    }
    if (target >= 0) {
        (void)close(target);
    }
    SIM_FREE_ALL(written, scenario, result);
    return good;
}

// -- rows

static char *ended_of(const char *from)
{
    char *const path = sim_format("%s/manifest.json", from);
    json_t *const manifest = json_load_file(path, 0, NULL);
    const char *const ended = json_string_value(json_object_get(manifest, "ended"));
    char *const copy = sim_strdup(ended == NULL ? "" : ended);
    json_decref(manifest);
    sim_free(path);
    return copy;
}

static char *result_of(const studio_t *studio, int64_t run, const char *path)
{
    return sim_format("%s/runs/%" PRId64 "/result/%s", studio->options.data, run, path);
}

// Returns what is behind the study in the name of a run: the folder of its result or, in a sweep,
// the values that distinguish it. Free with sim_free.
static char *own_name_of(const studio_t *studio, int64_t run, const char *path)
{
    const char *const slash = strchr(path, '/');
    const char *const inside = slash == NULL ? path : slash + 1;
    static const char runs[] = "runs/"; // of a sweep
    if (strncmp(inside, runs, strlen(runs)) != 0) {
        return sim_strdup(inside);
    }
    const char *const folder = inside + strlen(runs);
    char *const below = sim_format("%.*sruns.csv", (int)(inside - path), path);
    char *const table = result_of(studio, run, below);
    char *const name = studio_sweep_run_name(table, folder);
    sim_free(table);
    sim_free(below);
    return name != NULL ? name : sim_strdup(folder);
}

static char *name_of(const studio_t *studio, int64_t run, const char *study, const char *path)
{
    // The script's place is "herd/skew/run"; people know the study as "herd/skew".
    const size_t length = strlen(study);
    const bool inner = length > 4 && strcmp(study + length - 4, "/run") == 0;
    char *const own = own_name_of(studio, run, path);
    char *const name = sim_format("%.*s: %s", (int)(inner ? length - 4 : length), study, own);
    sim_free(own);
    return name;
}

// Returns the label of a run that a study made, from the study's own.
static json_t *label_of(const studio_t *studio, int64_t run, const char *name)
{
    char *const folder = sim_format("%s/runs/%" PRId64, studio->options.data, run);
    json_t *const label = studio_label_read(folder);
    (void)json_object_set_new(label, "name", json_string(name));
    (void)json_object_set_new(label, "made_by", json_integer((json_int_t)run));
    (void)json_object_set_new(label, "set", json_array());
    (void)json_object_del(label, "study");
    sim_free(folder);
    return label;
}

static bool link_one(studio_t *studio, int64_t run, studio_made_t *made)
{
    const size_t index = made->linked;
    char *const from = result_of(studio, run, made->paths[index]);
    char *const folder =
        sim_format("%s/runs/%" PRId64, studio->options.data, made->first + (int64_t)index);
    json_t *const label = label_of(studio, run, made->names[index]);
    bool good = studio_run_folder_make(folder);
    if (good) {
        made->linked++;
        good = fill_folder(folder, from) && studio_label_write(folder, label);
    }
    json_decref(label);
    sim_free(folder);
    sim_free(from);
    return good;
}

bool studio_study_link(studio_t *studio, int64_t run, const char *study, studio_made_t *made)
{
    char *const result = result_of(studio, run, "");
    found_t found = {.most = studio->options.group_max};
    const int fd = open(result, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        find_results(&found, fd, "", 0);
    }
    sim_free(result);
    SIM_CHECK(found.count <= found.most);
    *made = (studio_made_t){.paths = found.paths, .count = found.count};
    if (found.count == 0) {
        return true;
    }
    qsort(found.paths, found.count, sizeof(*found.paths), by_text);
    made->names = sim_alloc_array(made->count, sizeof(*made->names));
    for (size_t i = 0; i < made->count; i++) {
        made->names[i] = name_of(studio, run, study, made->paths[i]);
    }
    // Each try takes new numbers, so none is made while the disk is full.
    made->first = studio_reserve_look(studio->reserve)
                      ? 0
                      : studio_numbers_take(studio->numbers, made->count);
    bool good = made->first > 0;
    while (good && made->linked < made->count) {
        good = link_one(studio, run, made);
    }
    return good;
}

bool studio_study_insert(studio_t *studio, int64_t run, const studio_made_t *made)
{
    bool good = true;
    for (size_t i = 0; good && i < made->count; i++) {
        char *const from = result_of(studio, run, made->paths[i]);
        char *const ended = ended_of(from);
        good = studio_store_do(
            studio->store,
            "INSERT INTO runs(id, run_group, name, owner, shared, state, ended,"
            " overrides, library, limits, created_ms, started_ms, ended_ms,"
            " size_bytes, made_by) SELECT ?, run_group, ?, owner, shared, 'done', ?,"
            " '[]', library, limits, created_ms, started_ms, ?, ?, id FROM runs"
            " WHERE id = ?",
            "issiii", made->first + (int64_t)i, made->names[i], ended, studio_now_ms(),
            (int64_t)studio_folder_bytes(from), run);
        char *const folder =
            sim_format("%s/runs/%" PRId64, studio->options.data, made->first + (int64_t)i);
        good = good && studio_values_keep(studio, made->first + (int64_t)i, folder);
        SIM_FREE_ALL(folder, ended, from);
    }
    return good;
}

void studio_study_settle(studio_t *studio, studio_made_t *made, bool kept)
{
    for (size_t i = 0; i < made->linked; i++) {
        char *const folder =
            sim_format("%s/runs/%" PRId64, studio->options.data, made->first + (int64_t)i);
        if (kept) {
            studio_run_folder_commit(folder);
        } else {
            (void)studio_folder_remove(folder);
        }
        sim_free(folder);
    }
    for (size_t i = 0; i < made->count; i++) {
        sim_free(made->paths[i]);
        sim_free(made->names[i]);
    }
    sim_free(made->paths);
    sim_free(made->names);
}
