// SPDX-License-Identifier: Apache-2.0
// results/run/lock.c - keeps two runs from writing into one folder.
#include "results/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES_MAX 100
#define OWNER_TRIES 50 // of reading the owner, who writes its number right after locking
#define PAUSE_MS 2
#define MACHINE_BYTES 65u
#define OWNER_BYTES 96u

struct results_lock {
    char *path;
    char *parent; // the folder of the file
    int descriptor;
};

static void pause_ms(unsigned ms)
{
    const struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000L};
    (void)nanosleep(&time, NULL);
}

static void machine_name(char name[MACHINE_BYTES])
{
    if (gethostname(name, MACHINE_BYTES) != 0) {
        name[0] = '\0';
    }
    name[MACHINE_BYTES - 1] = '\0';
}

// Reads "NUMBER MACHINE". Returns whether that process may live: one of this machine is looked for.
static bool read_owner(int descriptor, long *process, char machine[MACHINE_BYTES])
{
    char text[OWNER_BYTES] = "";
    const ssize_t size = pread(descriptor, text, sizeof(text) - 1, 0);
    char *end = text;
    *process = size > 0 ? strtol(text, &end, 10) : 0;
    if (*process <= 0 || *end != ' ') {
        return false;
    }
    (void)snprintf(machine, MACHINE_BYTES, "%s", end + 1);
    machine[strcspn(machine, "\n")] = '\0';
    char own[MACHINE_BYTES];
    machine_name(own);
    return strcmp(machine, own) != 0 || kill((pid_t)*process, 0) == 0 || errno == EPERM;
}

// Fills the message with the process that has the lock. The number of a killed run stays in the
// file until its successor has written its own.
static sim_err_t refuse(const char *folder, int descriptor, world_error_t *error)
{
    long process = 0;
    char machine[MACHINE_BYTES] = "";
    bool known = false;
    for (int i = 0; i < OWNER_TRIES && !known; i++) {
        known = read_owner(descriptor, &process, machine);
        if (!known) {
            pause_ms(PAUSE_MS);
        }
    }
    char own[MACHINE_BYTES];
    machine_name(own);
    (void)world_fail(error, SIM_ERR_STATE, WORLD_FILE(folder), "another run writes here");
    if (known) {
        world_error_add(error, ", process %ld", process);
    }
    if (known && strcmp(own, machine) != 0) {
        world_shown_t shown;
        world_error_add(error, " on %s", world_show(&shown, machine));
    }
    world_error_add(error, "; expected its end, or another folder: -o DIR");
    return SIM_ERR_STATE;
}

static bool is_still(const char *path, int descriptor)
{
    struct stat opened;
    struct stat now;
    return fstat(descriptor, &opened) == 0 && lstat(path, &now) == 0 &&
           opened.st_dev == now.st_dev && opened.st_ino == now.st_ino;
}

static void write_owner(int descriptor)
{
    char machine[MACHINE_BYTES];
    char text[OWNER_BYTES];
    machine_name(machine);
    const int size = snprintf(text, sizeof(text), "%ld %s\n", (long)getpid(), machine);
    // A full disk makes the number unknown and the lock no weaker.
    (void)!ftruncate(descriptor, 0);
    (void)!pwrite(descriptor, text, (size_t)size, 0);
}

// Opens the lock's file; makes the stage for it. The owner before may remove the stage meanwhile.
static int open_file(const char *path, const char *parent)
{
    int descriptor = -1;
    for (int i = 0; i < TRIES_MAX && descriptor < 0; i++) {
        if (mkdir(parent, 0777) != 0 && errno != EEXIST) {
            break;
        }
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor < 0 && errno != ENOENT) {
            break;
        }
    }
    return descriptor;
}

sim_err_t results_lock_take(const char *folder, const char *file, results_lock_t **lock,
                            world_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, file);
    char *const parent = sim_format("%.*s", (int)(strrchr(path, '/') - path), path);
    sim_err_t result = SIM_ERR_STATE;
    results_lock_t *made = NULL;
    bool failed = false;
    for (int i = 0; i < TRIES_MAX && made == NULL && !failed; i++) {
        const int descriptor = open_file(path, parent);
        if (descriptor < 0) {
            result = world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                                "cannot make the file of the lock: %s", strerror(errno));
            failed = true;
        } else if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            result = refuse(folder, descriptor, error);
            failed = true;
        } else if (is_still(path, descriptor)) {
            write_owner(descriptor);
            made = sim_alloc(sizeof(*made));
            *made = (results_lock_t){sim_strdup(path), sim_strdup(parent), descriptor};
        }
        if (made == NULL && descriptor >= 0) {
            (void)close(descriptor);
        }
    }
    sim_free(parent);
    sim_free(path);
    if (made == NULL && !failed) {
        result = world_fail(error, SIM_ERR_STATE, WORLD_FILE(folder),
                            "other runs take the folder all the time");
    }
    *lock = made;
    return made != NULL ? SIM_OK : result;
}

void results_lock_release(results_lock_t *lock)
{
    if (lock == NULL) {
        return;
    }
    (void)unlink(lock->path);
    (void)rmdir(lock->parent); // fails where something is left in it
    (void)close(lock->descriptor);
    SIM_FREE_ALL(lock->parent, lock->path, lock);
}

void results_lock_await(const char *folder, const char *file, unsigned wait_ms)
{
    char *const path = sim_format("%s/%s", folder, file);
    for (unsigned waited = 0; waited < wait_ms; waited += PAUSE_MS) {
        const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        const bool is_free = descriptor < 0 || flock(descriptor, LOCK_SH | LOCK_NB) == 0;
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        if (is_free) {
            break;
        }
        pause_ms(PAUSE_MS);
    }
    sim_free(path);
}
