// SPDX-License-Identifier: Apache-2.0
// programs/files/paths.c - which files show the host, and where they are.

#include "programs/files/paths.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/process/processes.h"
#include "programs/system.h"
#include "programs/turn.h"

#define SHARED_MEMORY "/dev/shm"
#define PROCESSES "/proc/"
#define OWN_PROCESS "/proc/self"
#define THREADS "/task/"

static const char *const prefixes[] = {
    "/sys/class",
    "/sys/bus/pci",
    "/sys/devices/pci",
    "/sys/devices/virtual/net",
    "/sys/devices/system/node",
    "/dev/infiniband",
    SHARED_MEMORY,
    "/proc/net",
    "/proc/self/net",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/hostname",
    "/etc/machine-id",
};

static char root[sizeof((program_shared_t *)NULL)->files]; // ends with no slash
static size_t root_length;                                 // 0: not known yet
static bool is_inside;                                     // the working folder is below the root
static uint32_t parts;                                     // of the files that are there

// Returns the parts of the files (program_files_t) that a path may lead to. Each folder of a part
// has such a word in its path, unless the path goes back from a link.
static uint32_t parts_of(const char *path)
{
    static const struct {
        const char *word;
        uint32_t part;
    } words[] = {
        {"counters", PROGRAM_FILES_COUNTERS}, {"statistics", PROGRAM_FILES_COUNTERS},
        {"net", PROGRAM_FILES_NET},           {"infiniband", PROGRAM_FILES_VERBS},
        {"misc", PROGRAM_FILES_VERBS},        {"pci", PROGRAM_FILES_PCI},
        {"device", PROGRAM_FILES_PCI},        {"node", PROGRAM_FILES_NODES},
        {"kernel", PROGRAM_FILES_SYSTEM},     {"machine-id", PROGRAM_FILES_SYSTEM},
    };
    uint32_t found = 0;
    if (path[0] != '/' || strpbrk(path, "*?[{") != NULL || strstr(path, "..") != NULL) {
        return PROGRAM_FILES_ALL;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        found |= strstr(path, words[i].word) != NULL ? words[i].part : 0u;
    }
    return found;
}

// Asks the simulator to bring the files up to date, and to make the parts that a path may lead to,
// as a call of the program, or aside. Returns false if there are none.
static bool renew(uint32_t wanted, bool aside)
{
    program_call_t call = {.op = PROGRAM_FILES,
                           .flags = parts | wanted | (aside ? PROGRAM_FILES_ASIDE : 0u)};
    const int before = errno;
    if (!aside) {
        turn_charge_call();
    }
    if (turn_call(&call) != 0) {
        errno = before;
        return false;
    }
    memcpy(root, turn_shared->files, sizeof root);
    root[sizeof root - 1] = '\0';
    root_length = strlen(root);
    parts |= wanted;
    return root_length != 0;
}

static bool shows_host(const char *path)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        const char end = strncmp(path, prefixes[i], length) == 0 ? path[length] : 'x';
        if (end == '\0' || end == '/' || (end >= '0' && end <= '9')) {
            return true;
        }
    }
    return false;
}

// Returns true if files that begin at this folder are below the root.
static bool begins_inside(int folder)
{
    char link[32];
    char target[PATH_MAX];
    if (root_length == 0 || (folder == AT_FDCWD && !is_inside)) {
        return false;
    }
    if (folder == AT_FDCWD) {
        return true;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const long length = system_call(SYS_readlink, link, target, sizeof target);
    return length >= (long)root_length && memcmp(target, root, root_length) == 0;
}

// Writes the path of this machine of a file of a process. `rest` is behind the process's name. The
// threads of the calling process have the kernel's numbers there.
static const char *place_process(pid_t real, const char *rest, char place[PATH_MAX])
{
    const char *thread = rest + strlen(THREADS);
    if (real == (pid_t)system_call(SYS_getpid) && strncmp(rest, THREADS, strlen(THREADS)) == 0 &&
        isdigit((unsigned char)*thread)) {
        char *file;
        const pid_t tid = processes_real_thread((pid_t)strtol(thread, &file, 10));
        snprintf(place, PATH_MAX, OWN_PROCESS THREADS "%d%s", tid < 0 ? 0 : (int)tid, file);
    } else { // no process has the number 0
        snprintf(place, PATH_MAX, PROCESSES "%d%s", real < 0 ? 0 : (int)real, rest);
    }
    return place;
}

static const char *find(int folder, const char *path, char place[PATH_MAX], bool opened)
{
    if (path == NULL || !turn_on() || !turn_is_mine() || turn_busy()) {
        return path;
    }
    if (path[0] != '/') {
        if ((opened || parts != PROGRAM_FILES_ALL) && begins_inside(folder)) {
            (void)renew(PROGRAM_FILES_ALL, !opened);
        }
        return path;
    }
    // Most paths differ in their second letter.
    if (strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/dev/", 5) != 0 &&
        strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/etc/", 5) != 0) {
        return path;
    }
    if (strncmp(path, PROCESSES, strlen(PROCESSES)) == 0 && isdigit((unsigned char)path[6])) {
        char *rest;
        const long pid = strtol(path + strlen(PROCESSES), &rest, 10);
        return place_process(processes_real((pid_t)pid), rest, place);
    }
    if (strncmp(path, OWN_PROCESS THREADS, strlen(OWN_PROCESS THREADS)) == 0) {
        return place_process(processes_real(0), path + strlen(OWN_PROCESS), place);
    }
    if (!shows_host(path)) {
        return path;
    }
    const bool changes = strncmp(path, SHARED_MEMORY, strlen(SHARED_MEMORY)) != 0;
    const bool real = root_length != 0 && strncmp(path, root, root_length) == 0;
    const char *shown = real ? path + root_length : path;
    const bool keeps = strncmp(shown, SHARED_MEMORY, strlen(SHARED_MEMORY)) == 0;
    const uint32_t wanted = keeps ? 0 : parts_of(shown);
    const bool begins = (opened && changes) || root_length == 0;
    if ((begins || (wanted & ~parts) != 0) && !renew(wanted, !begins)) {
        return path;
    }
    if (real) {
        return path;
    }
    if (root_length + strlen(path) >= PATH_MAX) {
        return path;
    }
    snprintf(place, PATH_MAX, "%s%s", root, path);
    return place;
}

const char *paths_real(int folder, const char *path, char place[PATH_MAX])
{
    return find(folder, path, place, false);
}

const char *paths_opened(int folder, const char *path, char place[PATH_MAX])
{
    return find(folder, path, place, true);
}

void paths_show(char *path)
{
    if (root_length != 0 && strncmp(path, root, root_length) == 0) {
        const size_t length = strlen(path + root_length);
        memmove(path, path + root_length, length + 1);
        if (length == 0) {
            memcpy(path, "/", 2);
        }
    }
}

void paths_moved(void)
{
    char folder[PATH_MAX];
    const long length = system_call(SYS_getcwd, folder, sizeof folder);
    is_inside = root_length != 0 && length > 0 && strncmp(folder, root, root_length) == 0;
}
