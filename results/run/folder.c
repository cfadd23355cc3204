// SPDX-License-Identifier: Apache-2.0
// results/run/folder.c - makes room for results, and never removes what a run has not written.
#include "results/folder.h"
#include "world/capture_files.h"

#include "results/lock.h"
#include "results/run/folder_internal.h"
#include "results/stage.h"
#include "world/world.h"
#include "world/yaml_tree.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUMMARY_BYTES_MAX ((size_t)64 << 20)

static const char *const result_files[] = {
    "summary.json", "manifest.json", "schema.json", "topology.json", "scenario.yaml", "flows.csv",
    "apps.csv",     "ports.csv",     "nics.csv",    "events.csv",    "pauses.csv",    "series.csv",
    "hosts",        "ethers",        "fct.txt",     "pfc.txt",       "qlen.txt",      "packets.txt",
    "bw.txt",       "rate.txt",      "cnp.txt",     "hops.csv",      "explain.json",  "programs"};

static bool is_regular_file(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode);
}

// Returns whether the folder has the summary.json of a run, which names version and digest: other
// programs write files of that name, too.
static bool has_summary(const char *folder)
{
    char *const path = sim_format("%s/summary.json", folder);
    char *text = NULL;
    size_t size = 0;
    world_error_t ignored;
    bool found = false;
    if (is_regular_file(path) &&
        world_read_file(path, SUMMARY_BYTES_MAX, &text, &size, &ignored) == SIM_OK) {
        json_t *const summary = json_loadb(text, size, 0, NULL);
        found = json_is_string(json_object_get(summary, "digest")) &&
                json_is_string(json_object_get(summary, "version"));
        json_decref(summary);
        sim_free(text);
    }
    sim_free(path);
    return found;
}

// Returns whether the folder has the .unfinished of a run that was killed.
static bool has_stage(const char *folder)
{
    char *const path = sim_format("%s/" RESULTS_STAGE_NAME, folder);
    struct stat status;
    const bool found = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
    sim_free(path);
    return found;
}

bool results__folder_is_result(const char *name)
{
    for (size_t i = 0; i < SIM_COUNT_OF(result_files); i++) {
        if (strcmp(name, result_files[i]) == 0) {
            return true;
        }
    }
    return strcmp(name, RESULTS_STAGE_NAME) == 0 || strcmp(name, "captures") == 0;
}

// Returns the part of a path before its last name, as a path. The caller frees it with sim_free.
static char *parent_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    if (slash == NULL) {
        return sim_strdup(".");
    }
    return slash == path ? sim_strdup("/") : sim_format("%.*s", (int)(slash - path), path);
}

static bool is_parent(const char *folder, const char *path)
{
    char *const parent = parent_of(path);
    char *const absolute = realpath(parent, NULL);
    const bool same = absolute != NULL && strcmp(absolute, folder) == 0;
    free(absolute);
    sim_free(parent);
    return same;
}

// Returns whether the folder holds the scenario's file, also as a symbolic link in it or into it.
static bool holds(const char *folder, const char *scenario_file)
{
    char *const absolute = realpath(folder, NULL);
    char *const file = realpath(scenario_file, NULL);
    const bool held = absolute != NULL && file != NULL &&
                      (is_parent(absolute, scenario_file) || is_parent(absolute, file));
    free(file);
    free(absolute);
    return held;
}

// Returns whether a run holds the folder: its file of the lock is there.
static bool is_busy(const char *folder)
{
    char *const lock = sim_format("%s/" RESULTS_LOCK_OF_RUN, folder);
    const bool busy = is_regular_file(lock);
    sim_free(lock);
    return busy;
}

sim_err_t results_folder_check(const char *folder, const char *scenario_file, world_error_t *error)
{
    // A run that begins or ends at this moment makes and moves files while their names are read, so
    // a refusal needs a second look. Whoever takes the lock of a run afterwards looks again.
    sim_err_t result = SIM_ERR_EXISTS;
    for (int look = 0; look < 2 && result != SIM_OK; look++) {
        result =
            is_busy(folder) ? SIM_OK : results__folder_check_content(folder, scenario_file, error);
    }
    return result;
}

sim_err_t results__folder_check_content(const char *folder, const char *scenario_file,
                                        world_error_t *error)
{
    world_shown_t shown;
    DIR *const opened = opendir(folder);
    if (opened == NULL) {
        return errno == ENOTDIR ? world_fail(error, SIM_ERR_EXISTS, WORLD_FILE(folder),
                                             "is not a folder, expected a new or empty one for -o")
                                : SIM_OK;
    }
    sim_err_t result = SIM_OK;
    if (holds(folder, scenario_file)) {
        result = world_fail(error, SIM_ERR_EXISTS, WORLD_FILE(folder),
                            "holds the scenario itself, %s, expected another folder for -o",
                            scenario_file);
    }
    const bool former = has_summary(folder);
    const bool unfinished = has_stage(folder);
    for (const struct dirent *entry = readdir(opened); entry != NULL && !former && result == SIM_OK;
         entry = readdir(opened)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !(unfinished && results__folder_is_result(entry->d_name))) {
            result =
                world_fail(error, SIM_ERR_EXISTS, WORLD_FILE(folder),
                           "holds '%s' and no results of a run, expected a new or empty folder "
                           "for -o",
                           world_show(&shown, entry->d_name));
        }
    }
    closedir(opened);
    return result;
}

sim_err_t results__folder_make(const char *path, world_error_t *error)
{
    if (mkdir(path, 0777) == 0) {
        return SIM_OK;
    }
    const int reason = errno;
    struct stat status;
    if (reason == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot make the folder: %s",
                      strerror(reason));
}

sim_err_t results__folder_check_writable(const char *folder, world_error_t *error)
{
    if (access(folder, W_OK | X_OK) == 0) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_IO, WORLD_FILE(folder), "cannot write into the folder: %s",
                      strerror(errno));
}

static sim_err_t make_folders(const char *folder, world_error_t *error)
{
    char *const path = sim_strdup(folder);
    sim_err_t result = SIM_OK;
    for (char *p = path + 1; *p != '\0' && result == SIM_OK; p++) {
        if (*p == '/') {
            *p = '\0';
            result = results__folder_make(path, error);
            *p = '/';
        }
    }
    if (result == SIM_OK) {
        result = results__folder_make(path, error);
    }
    sim_free(path);
    return result;
}

sim_err_t results_folder_make(const char *folder, world_error_t *error)
{
    const sim_err_t result = make_folders(folder, error);
    return result != SIM_OK ? result : results__folder_check_writable(folder, error);
}

static bool is_capture(const char *name)
{
    const size_t size = strlen(name);
    static const char *const ends[] = {".pcap", ".pcap.gz", ".pcapng", ".pcapng.gz"};
    for (size_t i = 0; i < SIM_COUNT_OF(ends); i++) {
        const size_t end = strlen(ends[i]);
        if (size > end && strcmp(name + size - end, ends[i]) == 0) {
            return true;
        }
    }
    return false;
}

// Removes a file. Symbolic links to devices and the like stay, and are written through.
static sim_err_t remove_file(const char *folder, const char *name, world_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, name);
    sim_err_t result = SIM_OK;
    if (is_regular_file(path) && unlink(path) != 0) {
        result =
            world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot replace: %s", strerror(errno));
    }
    sim_free(path);
    return result;
}

// Returns the value of a key; NULL where there is none or the tree is not a map.
static const world_tree_t *value_of(const world_tree_t *map, const char *key)
{
    const world_tree_entry_t *const entry =
        map != NULL && map->kind == WORLD_TREE_MAP ? world_tree_find(map, key) : NULL;
    return entry == NULL ? NULL : entry->value;
}

// Removes the files of a capture whose name has {port} or {node}: those of the ports in the earlier
// run's file `ethers`, each a line "MAC NAME". No other file that looks alike is removed.
static sim_err_t remove_files_of_ports(const char *folder, const char *captures, const char *file,
                                       world_error_t *error)
{
    char *const path = sim_format("%s/ethers", folder);
    FILE *const ethers = fopen(path, "r");
    sim_free(path);
    char line[512];
    sim_err_t result = SIM_OK;
    while (ethers != NULL && result == SIM_OK && fgets(line, sizeof(line), ethers) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *const port = strchr(line, ' ');
        if (port != NULL) {
            char *const name = world_capture_file_name(file, port + 1);
            result = strchr(name, '/') == NULL ? remove_file(captures, name, error) : SIM_OK;
            sim_free(name);
        }
    }
    if (ethers != NULL) {
        (void)fclose(ethers);
    }
    return result;
}

// Removes the captures that the scenario of the earlier run names. A scenario that cannot be read
// names none: what is not known to be a run's stays.
static sim_err_t remove_captures(const char *folder, const char *captures, world_error_t *error)
{
    char *const path = sim_format("%s/scenario.yaml", folder);
    world_document_t *const document = world_document_create();
    world_tree_t *tree = NULL;
    world_error_t ignored;
    sim_err_t result = SIM_OK;
    if (is_regular_file(path) && world_yaml_read(document, path, &tree, &ignored) == SIM_OK) {
        const world_tree_t *const list = value_of(tree, "captures");
        const size_t count = list != NULL && list->kind == WORLD_TREE_LIST ? list->count : 0;
        for (size_t i = 0; i < count && result == SIM_OK; i++) {
            const world_tree_t *const file = value_of(list->entries[i].value, "file");
            if (file != NULL && file->kind == WORLD_TREE_SCALAR &&
                strchr(file->text, '/') == NULL && is_capture(file->text)) {
                result = strchr(file->text, '{') != NULL
                             ? remove_files_of_ports(folder, captures, file->text, error)
                             : remove_file(captures, file->text, error);
            }
        }
    }
    world_document_destroy(document);
    sim_free(path);
    return result;
}

sim_err_t results__folder_remove_results(const char *folder, world_error_t *error)
{
    const bool former = has_summary(folder);
    char *const captures = sim_format("%s/captures", folder);
    sim_err_t result = SIM_OK;
    if (former) {
        result = remove_file(folder, "summary.json", error);
    }
    if (former && result == SIM_OK) {
        result = remove_captures(folder, captures, error);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(result_files) && result == SIM_OK; i++) {
        result = remove_file(folder, result_files[i], error);
    }
    sim_free(captures);
    return result;
}
