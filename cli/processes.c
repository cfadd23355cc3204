// SPDX-License-Identifier: Apache-2.0
// cli/processes.c - finds the library that programs load.
#include "cli/processes.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_FOLDER "/dev/shm" // where Linux keeps files in memory

void cli_programs_allow(cli_programs_t *programs)
{
    // Beside the program in a build; an installation has bin/ and lib/rocesim/.
    static const char *const places[] = {"", "../lib/rocesim/"};
    const char *const path = getenv("PATH");
    const char *const home = getenv("HOME");
    const char *const wanted = getenv("TMPDIR");
    const char *const scratch = wanted != NULL && wanted[0] == '/' ? wanted : NULL;
    const bool in_memory = scratch == NULL && access(MEMORY_FOLDER, W_OK | X_OK) == 0;
    programs->permission = (app_programs_t){
        .start = true,
        .path = path == NULL ? "/usr/local/bin:/usr/bin:/bin" : path,
        .home = home == NULL ? "/" : home,
        .scratch = scratch == NULL ? "/tmp" : scratch,
        .files = in_memory         ? MEMORY_FOLDER
                 : scratch == NULL ? "/tmp"
                                   : scratch,
    };
    char own[2048];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (length <= 0) {
        return;
    }
    own[length] = '\0';
    const char *const folder = dirname(own);
    for (size_t i = 0; i < SIM_COUNT_OF(places); i++) {
        char library[sizeof(programs->verbs_folder) + 32];
        (void)snprintf(programs->verbs_folder, sizeof(programs->verbs_folder),
                       "%s/%sprograms-ibverbs", folder, places[i]);
        (void)snprintf(library, sizeof(library), "%s/libibverbs.so.1", programs->verbs_folder);
        if (access(library, R_OK) == 0) {
            // The commands of simulated hosts come before those of this machine.
            (void)snprintf(programs->path, sizeof(programs->path), "%s/%sprograms-bin:%s", folder,
                           places[i], programs->permission.path);
            (void)snprintf(programs->server, sizeof(programs->server), "%s/%sprograms-bin/sshd",
                           folder, places[i]);
            programs->permission.verbs_folder = programs->verbs_folder;
            programs->permission.server = programs->server;
            programs->permission.path = programs->path;
            return;
        }
    }
}

// Returns whether a name is that of an output file of a program, HOST-N.out, HOST-N.err or
// HOST-N.trace.
static bool is_output(const char *name)
{
    const char *const dash = strrchr(name, '-');
    const char *const dot = strrchr(name, '.');
    return dash != NULL && dot != NULL && dot > dash + 1 &&
           strspn(dash + 1, "0123456789") == (size_t)(dot - dash - 1) &&
           (strcmp(dot, ".out") == 0 || strcmp(dot, ".err") == 0 || strcmp(dot, ".trace") == 0);
}

// Removes the output of an earlier run's programs, and the folder if nothing else is in it.
static void remove_output(const char *programs)
{
    DIR *const opened = opendir(programs);
    if (opened == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        char *const path = sim_format("%s/%s", programs, entry->d_name);
        struct stat status;
        if (is_output(entry->d_name) && lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            (void)unlink(path);
        }
        sim_free(path);
    }
    closedir(opened);
    (void)rmdir(programs);
}

sim_err_t cli_programs_save(const world_t *world, const char *folder, world_error_t *error)
{
    char *const programs = sim_format("%s/programs", folder);
    remove_output(programs);
    sim_message_t message;
    sim_err_t result = SIM_OK;
    bool made = false;
    for (size_t i = 0; i < world->app_count && result == SIM_OK; i++) {
        if (!made && strcmp(world->apps[i]->ops->name, "programs") == 0) {
            made = true;
            if (mkdir(programs, 0777) != 0 && errno != EEXIST) {
                result = sim_fail(&message, SIM_ERR_IO, "%s: %s", programs, strerror(errno));
            }
        }
        if (result == SIM_OK) {
            result = app_programs_save(world->apps[i], programs, &message);
        }
    }
    sim_free(programs);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
}
