// SPDX-License-Identifier: Apache-2.0
// programs/files/folders.c - folders that programs read, search and change to.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/files/paths.h"
#include "programs/process/processes.h"
#include "programs/turn.h"

// The folder /proc shows the processes of the program by the numbers that it sees, in their order
// and after the other files. The program reads one such folder at a time.
static DIR *processes;
static pid_t next_process;
static DIR *threads; // a folder of the threads of the calling process

// Returns true if the path is a folder of the threads of the calling process.
static bool is_of_threads(const char *path)
{
    char own[32];
    snprintf(own, sizeof own, "/proc/%d/task", getpid());
    return strcmp(path, "/proc/self/task") == 0 || strcmp(path, own) == 0;
}

PROGRAM_EXPORT DIR *opendir(const char *path)
{
    char place[PATH_MAX];
    DIR *folder = PROGRAM_NEXT(opendir)(paths_opened(AT_FDCWD, path, place));
    if (turn_on() && turn_is_mine() && folder != NULL &&
        (strcmp(path, "/proc") == 0 || strcmp(path, "/proc/") == 0)) {
        processes = folder;
        next_process = 0;
    } else if (folder == processes) {
        processes = NULL;
    }
    if (is_of_threads(path)) {
        threads = folder;
    } else if (folder == threads) {
        threads = NULL;
    }
    return folder;
}

// Writes the number of the next process. Returns false if there is none.
static bool name_process(char *name, size_t bytes)
{
    const pid_t pid = next_process < 0 ? -1 : processes_next(next_process);
    next_process = pid < 0 ? -1 : pid + 1;
    snprintf(name, bytes, "%d", pid);
    return pid >= 0;
}

static bool is_number(const char *name)
{
    return name[0] >= '0' && name[0] <= '9';
}

PROGRAM_EXPORT struct dirent *readdir(DIR *folder)
{
    static struct dirent entry = {.d_ino = 1, .d_type = DT_DIR, .d_reclen = sizeof entry};
    const bool shows = turn_on() && processes == folder;
    struct dirent *next = PROGRAM_NEXT(readdir)(folder);
    while (shows && next != NULL && is_number(next->d_name)) {
        next = PROGRAM_NEXT(readdir)(folder);
    }
    if (turn_on() && threads == folder && next != NULL && is_number(next->d_name)) {
        const pid_t tid = processes_shown_thread((pid_t)strtol(next->d_name, NULL, 10));
        snprintf(entry.d_name, sizeof entry.d_name, "%d", tid);
        return tid < 0 ? readdir(folder) : &entry; // a thread that has not begun
    }
    return shows && next == NULL && name_process(entry.d_name, sizeof entry.d_name) ? &entry : next;
}

PROGRAM_EXPORT struct dirent64 *readdir64(DIR *folder)
{
    return (struct dirent64 *)(void *)readdir(folder); // one struct on x86-64
}

PROGRAM_EXPORT int scandir(const char *restrict path, struct dirent ***restrict list,
                           int (*choose)(const struct dirent *),
                           int (*compare)(const struct dirent **, const struct dirent **))
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(scandir)(paths_opened(AT_FDCWD, path, place), list, choose, compare);
}

PROGRAM_EXPORT int scandir64(const char *restrict path, struct dirent64 ***restrict list,
                             int (*choose)(const struct dirent64 *),
                             int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    char place[PATH_MAX];
    return PROGRAM_NEXT(scandir64)(paths_opened(AT_FDCWD, path, place), list, choose, compare);
}

// -- patterns

// Replaces the real paths among those that were found.
static int show_all(const char *pattern, const char *real, char **paths, size_t count)
{
    for (size_t i = 0; i < count && real != pattern; i++) {
        if (paths[i] != NULL) {
            paths_show(paths[i]);
        }
    }
    return 0;
}

PROGRAM_EXPORT int glob(const char *restrict pattern, int flags,
                        int (*failed)(const char *path, int error), glob_t *restrict found)
{
    char place[PATH_MAX];
    const char *real = paths_opened(AT_FDCWD, pattern, place);
    const int error = PROGRAM_NEXT(glob)(real, flags, failed, found);
    return error != 0 ? error : show_all(pattern, real, found->gl_pathv, found->gl_pathc);
}

PROGRAM_EXPORT int glob64(const char *restrict pattern, int flags,
                          int (*failed)(const char *path, int error), glob64_t *restrict found)
{
    char place[PATH_MAX];
    const char *real = paths_opened(AT_FDCWD, pattern, place);
    const int error = PROGRAM_NEXT(glob64)(real, flags, failed, found);
    return error != 0 ? error : show_all(pattern, real, found->gl_pathv, found->gl_pathc);
}

// -- the working folder

PROGRAM_EXPORT int chdir(const char *path)
{
    char place[PATH_MAX];
    const int error = PROGRAM_NEXT(chdir)(paths_opened(AT_FDCWD, path, place));
    paths_moved();
    return error;
}

PROGRAM_EXPORT int fchdir(int folder)
{
    const int error = PROGRAM_NEXT(fchdir)(folder);
    paths_moved();
    return error;
}

PROGRAM_EXPORT char *getcwd(char *text, size_t size)
{
    char *result = PROGRAM_NEXT(getcwd)(text, size);
    if (result != NULL) {
        paths_show(result);
    }
    return result;
}

char *__getcwd_chk(char *text, size_t size, size_t room);
PROGRAM_EXPORT char *__getcwd_chk(char *text, size_t size, size_t room)
{
    return size > room ? (abort(), NULL) : getcwd(text, size);
}

PROGRAM_EXPORT char *get_current_dir_name(void)
{
    return getcwd(NULL, 0);
}
