// SPDX-License-Identifier: Apache-2.0
// kernel/scratch.c - makes and removes folders for files that nobody keeps.
#include "kernel/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LEFT_S 60 // age from which a folder that nobody holds was left behind

// Removes all that is in a folder, and closes its descriptor.
static void remove_all_in(int folder)
{
    DIR *const opened = fdopendir(folder);
    if (opened == NULL) {
        (void)close(folder);
        return;
    }
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        const char *const name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            (entry->d_type != DT_DIR && unlinkat(folder, name, 0) == 0)) {
            continue;
        }
        const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) {
            remove_all_in(inner);
        }
        (void)unlinkat(folder, name, AT_REMOVEDIR);
    }
    (void)closedir(opened);
}

void sim_folder_remove(char *folder)
{
    const int opened = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened >= 0) {
        remove_all_in(opened);
    }
    (void)rmdir(folder);
}

// -- folders of processes that were killed

// Removes a folder that nobody holds, and that is not so new that its process may be about to, or
// that processes which it started may still run.
static void remove_if_left(char *folder)
{
    struct stat about;
    const int opened = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) {
        return;
    }
    if (fstat(opened, &about) == 0 && about.st_uid == geteuid() &&
        time(NULL) - about.st_mtime >= LEFT_S && flock(opened, LOCK_EX | LOCK_NB) == 0) {
        sim_folder_remove(folder);
    }
    (void)close(opened);
}

static void remove_left(const char *place, const char *name)
{
    const size_t length = strlen(name);
    DIR *const opened = opendir(place);
    if (opened == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        if (strncmp(entry->d_name, name, length) == 0 && entry->d_name[length] == '-') {
            char *const folder = sim_format("%s/%s", place, entry->d_name);
            remove_if_left(folder);
            sim_free(folder);
        }
    }
    (void)closedir(opened);
}

// -- the process's own

bool sim_scratch_make(sim_scratch_t *scratch, const char *place, const char *name)
{
    const char *const usual = getenv("TMPDIR");
    const char *const parent = place != NULL                       ? place
                               : usual != NULL && usual[0] != '\0' ? usual
                                                                   : "/tmp";
    remove_left(parent, name);
    char *const folder = sim_format("%s/%s-XXXXXX", parent, name);
    if (mkdtemp(folder) == NULL) {
        sim_free(folder);
        return false;
    }
    *scratch = (sim_scratch_t){folder, open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (scratch->lock >= 0) {
        (void)flock(scratch->lock, LOCK_EX); // until this process ends, in whatever way
    }
    return true;
}

void sim_scratch_remove(sim_scratch_t *scratch)
{
    if (scratch->folder == NULL) {
        return;
    }
    sim_folder_remove(scratch->folder);
    if (scratch->lock >= 0) {
        (void)close(scratch->lock);
    }
    sim_free(scratch->folder);
    *scratch = (sim_scratch_t){0};
}
