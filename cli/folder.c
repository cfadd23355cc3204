// SPDX-License-Identifier: Apache-2.0
// cli/folder.c - makes room for results, and never removes what a run has not written.
#include "cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const result_files[] =
    {"summary.json", "scenario.yaml", "flows.csv", "ports.csv", "events.csv", "series.csv"};

static bool is_result_file(const char *name)
{
    for (size_t i = 0; i < SIM_COUNT_OF(result_files); i++) {
        if (strcmp(result_files[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool exists_in(const char *folder, const char *name)
{
    char *const path = sim_format("%s/%s", folder, name);
    struct stat status;
    const bool exists = lstat(path, &status) == 0;
    sim_free(path);
    return exists;
}

sim_err_t cli_folder_check(const char *folder, cli_error_t *error)
{
    const cli_place_t place = {folder, 0, 0};
    DIR *const opened = opendir(folder);
    if (opened == NULL) {
        return errno == ENOTDIR ? cli_fail(error,
                                           SIM_ERR_EXISTS,
                                           &place,
                                           "is not a folder, expected a new or empty one for -o")
                                : SIM_OK;
    }
    // A run that was killed leaves no summary, but the scenario.
    const bool former = exists_in(folder, "summary.json") || exists_in(folder, "scenario.yaml");
    const char *other = NULL;
    cli_shown_t shown;
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        const bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!dots && !former && other == NULL) {
            other = cli_show(&shown, entry->d_name);
        }
    }
    closedir(opened);
    return other == NULL ? SIM_OK
                         : cli_fail(error,
                                    SIM_ERR_EXISTS,
                                    &place,
                                    "holds '%s' and no results of a run, expected a new or empty "
                                    "folder for -o",
                                    other);
}

static sim_err_t make_one(const char *path, cli_error_t *error)
{
    if (mkdir(path, 0777) == 0) {
        return SIM_OK;
    }
    const int reason = errno;
    struct stat status;
    if (reason == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return SIM_OK;
    }
    const cli_place_t place = {path, 0, 0};
    return cli_fail(error, SIM_ERR_IO, &place, "cannot make the folder: %s", strerror(reason));
}

static sim_err_t make_all(const char *folder, cli_error_t *error)
{
    char *const path = sim_strdup(folder);
    sim_err_t result = SIM_OK;
    for (char *p = path + 1; *p != '\0' && result == SIM_OK; p++) {
        if (*p == '/') {
            *p = '\0';
            result = make_one(path, error);
            *p = '/';
        }
    }
    if (result == SIM_OK) {
        result = make_one(path, error);
    }
    sim_free(path);
    return result;
}

static bool is_capture(const char *name)
{
    const size_t size = strlen(name);
    return (size > 5 && strcmp(name + size - 5, ".pcap") == 0) ||
           (size > 8 && strcmp(name + size - 8, ".pcap.gz") == 0);
}

// Removes the files that `select` names; symbolic links to devices and the like stay, and are
// written through.
static sim_err_t remove_files(const char *folder,
                              bool (*select)(const char *name),
                              cli_error_t *error)
{
    DIR *const opened = opendir(folder);
    sim_err_t result = SIM_OK;
    if (opened == NULL) {
        return SIM_OK;
    }
    for (const struct dirent *entry = readdir(opened); entry != NULL && result == SIM_OK;
         entry = readdir(opened)) {
        char *const path = sim_format("%s/%s", folder, entry->d_name);
        struct stat status;
        if (select(entry->d_name) && lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
            unlink(path) != 0) {
            const cli_place_t place = {path, 0, 0};
            result = cli_fail(error, SIM_ERR_IO, &place, "cannot replace: %s", strerror(errno));
        }
        sim_free(path);
    }
    closedir(opened);
    return result;
}

sim_err_t cli_folder_prepare(const char *folder, bool with_captures, cli_error_t *error)
{
    sim_err_t result = make_all(folder, error);
    char *const captures = sim_format("%s/captures", folder);
    if (result == SIM_OK) {
        result = remove_files(folder, is_result_file, error);
    }
    if (result == SIM_OK) {
        result = remove_files(captures, is_capture, error);
    }
    if (result == SIM_OK && with_captures) {
        result = make_one(captures, error);
    }
    sim_free(captures);
    return result;
}
