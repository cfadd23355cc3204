// SPDX-License-Identifier: Apache-2.0
// results/run/stage.c - results appear whole or not at all.
#include "results/stage.h"

#include "results/folder.h"
#include "results/run/folder_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK ".lock" // the run's own: RESULTS_LOCK_OF_RUN

static sim_err_t fail(const char *path, const char *what, world_error_t *error)
{
    const int reason = errno;
    return world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "%s: %s", what, strerror(reason));
}

// Each entry of a folder but "." and ".."; a folder that is not there has none.
typedef sim_err_t (*entry_fn)(const char *folder, const char *name, void *ctx,
                              world_error_t *error);

static sim_err_t each_entry(const char *folder, entry_fn fn, void *ctx, world_error_t *error)
{
    DIR *const opened = opendir(folder);
    if (opened == NULL) {
        return errno == ENOENT ? SIM_OK : fail(folder, "cannot read the folder", error);
    }
    sim_err_t result = SIM_OK;
    for (const struct dirent *entry = readdir(opened); entry != NULL && result == SIM_OK;
         entry = readdir(opened)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            result = fn(folder, entry->d_name, ctx, error);
        }
    }
    closedir(opened);
    return result;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static sim_err_t remove_entry(const char *folder, const char *name, void *ctx, world_error_t *error)
{
    (void)ctx;
    char *const path = sim_format("%s/%s", folder, name);
    sim_err_t result = SIM_OK;
    if (!is_folder(path) && strcmp(name, LOCK) != 0 && unlink(path) != 0) {
        result = fail(path, "cannot remove what an unfinished run left", error);
    }
    sim_free(path);
    return result;
}

static sim_err_t clear(const char *stage, world_error_t *error)
{
    char *const captures = sim_format("%s/captures", stage);
    sim_err_t result = each_entry(captures, remove_entry, NULL, error);
    if (result == SIM_OK) {
        result = each_entry(stage, remove_entry, NULL, error);
    }
    if (result == SIM_OK && is_folder(captures) && rmdir(captures) != 0) {
        result = fail(captures, "cannot remove what an unfinished run left", error);
    }
    sim_free(captures);
    return result;
}

typedef struct linker {
    const char *stage; // folder of the links
    const char *up;    // from there to the folder of results
} linker_t;

// Links the stage to a device, pipe or link in the folder, which is written through. Refuses to
// replace a write-protected result, even for a user who may write anything.
static sim_err_t link_entry(const char *folder, const char *name, void *ctx, world_error_t *error)
{
    const linker_t *const linker = ctx;
    char *const path = sim_format("%s/%s", folder, name);
    struct stat status = {0};
    sim_err_t result = SIM_OK;
    const bool there = lstat(path, &status) == 0;
    if (there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        char *const link = sim_format("%s/%s", linker->stage, name);
        char *const target = sim_format("%s/%s", linker->up, name);
        if (symlink(target, link) != 0) {
            result = fail(link, "cannot make the link", error);
        }
        sim_free(link);
        sim_free(target);
    } else if (S_ISREG(status.st_mode) && (status.st_mode & 0222) == 0 &&
               results__folder_is_result(name)) {
        result = world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                            "is protected against writing, expected another folder: -o DIR");
    }
    sim_free(path);
    return result;
}

static sim_err_t make_captures(const char *folder, const char *stage, world_error_t *error)
{
    char *const there = sim_format("%s/captures", folder);
    char *const here = sim_format("%s/captures", stage);
    sim_err_t result = results__folder_make(there, error);
    if (result == SIM_OK) {
        result = results__folder_check_writable(there, error);
    }
    if (result == SIM_OK) {
        result = results__folder_make(here, error);
    }
    if (result == SIM_OK) {
        linker_t linker = {here, "../../captures"};
        result = each_entry(there, link_entry, &linker, error);
    }
    sim_free(there);
    sim_free(here);
    return result;
}

sim_err_t results_stage_open(const char *folder, bool with_captures, char **stage,
                             world_error_t *error)
{
    char *const made = sim_format("%s/" RESULTS_STAGE_NAME, folder);
    sim_err_t result = results_folder_make(folder, error);
    if (result == SIM_OK) {
        result = clear(made, error);
    }
    if (result == SIM_OK) {
        result = results__folder_make(made, error);
    }
    if (result == SIM_OK) {
        linker_t linker = {made, ".."};
        result = each_entry(folder, link_entry, &linker, error);
    }
    if (result == SIM_OK && with_captures) {
        result = make_captures(folder, made, error);
    }
    if (result != SIM_OK) {
        sim_free(made);
        return result;
    }
    *stage = made;
    return SIM_OK;
}

// -- taking their place

static sim_err_t move_file(const char *stage, const char *folder, const char *name,
                           world_error_t *error)
{
    char *const from = sim_format("%s/%s", stage, name);
    char *const to = sim_format("%s/%s", folder, name);
    struct stat status;
    sim_err_t result = SIM_OK;
    if (lstat(from, &status) == 0) {
        if (S_ISLNK(status.st_mode)) {
            (void)unlink(from); // what it leads to has been written
        } else if (S_ISREG(status.st_mode) && rename(from, to) != 0) {
            result = fail(to, "cannot replace", error);
        }
    }
    sim_free(from);
    sim_free(to);
    return result;
}

static sim_err_t move_entry(const char *folder, const char *name, void *ctx, world_error_t *error)
{
    const bool stays = strcmp(name, "summary.json") == 0 || strcmp(name, LOCK) == 0;
    return stays ? SIM_OK : move_file(folder, ctx, name, error);
}

sim_err_t results_stage_commit(const char *folder, world_error_t *error)
{
    char *const stage = sim_format("%s/" RESULTS_STAGE_NAME, folder);
    char *const stage_captures = sim_format("%s/captures", stage);
    char *const captures = sim_format("%s/captures", folder);
    sim_err_t result = results__folder_remove_results(folder, error);
    if (result == SIM_OK) {
        result = each_entry(stage_captures, move_entry, captures, error);
    }
    if (result == SIM_OK) {
        result = each_entry(stage, move_entry, (void *)(uintptr_t)folder, error);
    }
    if (result == SIM_OK) {
        result = move_file(stage, folder, "summary.json", error);
    }
    if (result == SIM_OK && is_folder(stage_captures) && rmdir(stage_captures) != 0) {
        result = fail(stage_captures, "cannot remove", error);
    }
    SIM_FREE_ALL(captures, stage_captures, stage);
    return result;
}

void results_stage_discard(const char *folder)
{
    world_error_t ignored;
    char *const stage = sim_format("%s/" RESULTS_STAGE_NAME, folder);
    char *const captures = sim_format("%s/captures", folder);
    if (clear(stage, &ignored) == SIM_OK) {
        (void)rmdir(stage);
        (void)rmdir(captures);
        (void)rmdir(folder);
    }
    sim_free(captures);
    sim_free(stage);
}
