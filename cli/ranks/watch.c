// SPDX-License-Identifier: Apache-2.0
// cli/ranks/watch.c - notices which rank ends first, since mpirun does not always tell.
//
// Each rank appends its number and its process to a file of the launcher's as it begins. The
// launcher gets a descriptor of each process from the system, which becomes readable when the
// process ends. Without such descriptors (before Linux 5.3) it notices nothing.
#include "cli/ranks/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOK_AGAIN_MS 50 // while ranks have not begun
#define LINE_BYTES 32u
#define TERM_AFTER_S 4u // mpirun gives ranks five seconds at most
#define KILL_AFTER_S 7u
#define SECOND_MS 1000

void cli_ranks_sign_in(const char *file)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
    const char *rank = NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(names) && rank == NULL; i++) {
        rank = getenv(names[i]);
    }
    const int opened = rank == NULL ? -1 : open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (opened < 0) {
        return;
    }
    char line[LINE_BYTES];
    const int size =
        snprintf(line, sizeof(line), "%lu %ld\n", strtoul(rank, NULL, 10), (long)getpid());
    // A short write leaves a rank unwatched, and no more.
    (void)!write(opened, line, (size_t)size);
    (void)close(opened);
}

void cli_ranks_watch_begin(cli_ranks_watch_t *watch, const char *file, unsigned count)
{
    *watch = (cli_ranks_watch_t){
        .file = file,
        .count = count,
        .first = -1,
        .processes = sim_alloc_array(count + 1, sizeof(*watch->processes)),
        .ranks = sim_alloc_array(count + 1, sizeof(*watch->ranks)),
    };
}

// Opens the processes of ranks that have signed in since the last call.
static void open_processes(cli_ranks_watch_t *watch)
{
    FILE *const list = fopen(watch->file, "re");
    char line[LINE_BYTES];
    unsigned number = 0;
    while (list != NULL && fgets(line, sizeof(line), list) != NULL && number < watch->count) {
        char *end = line;
        const unsigned long rank = strtoul(line, &end, 10);
        const long process = strtol(end, NULL, 10);
        if (number++ < watch->met || process <= 0) {
            continue;
        }
        watch->ranks[watch->met + 1] = (int)rank;
        watch->processes[watch->met + 1] =
            (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, process, 0), .events = POLLIN};
        watch->met++;
    }
    if (list != NULL) {
        (void)fclose(list);
    }
}

// Closes the processes: the first has ended.
static void stop(cli_ranks_watch_t *watch)
{
    for (unsigned i = 1; i <= watch->met; i++) {
        if (watch->processes[i].fd >= 0) {
            (void)close(watch->processes[i].fd);
            watch->processes[i].fd = -1;
        }
    }
    watch->over = true;
}

// Returns whether rank 0 has come to its end: then the others end by themselves.
static bool is_whole(const cli_ranks_watch_t *watch)
{
    struct stat about;
    return stat(watch->status, &about) == 0 && about.st_size > 0;
}

// Counts a second in which mpirun did not end. Ranks die with mpirun (cli_ranks_join). Returns
// false if nothing more can come.
static bool hurry(cli_ranks_watch_t *watch)
{
    watch->late_s++;
    if (watch->mpirun <= 0 || is_whole(watch)) {
        return true;
    }
    if (watch->late_s == TERM_AFTER_S) {
        (void)kill(watch->mpirun, SIGTERM);
    } else if (watch->late_s == KILL_AFTER_S) {
        (void)kill(watch->mpirun, SIGKILL);
        return false;
    }
    return true;
}

bool cli_ranks_watch_wait(cli_ranks_watch_t *watch, int messages)
{
    for (;;) {
        if (!watch->over && watch->met < watch->count) {
            open_processes(watch);
        }
        watch->processes[0] = (struct pollfd){.fd = messages, .events = POLLIN};
        const bool looks = !watch->over && watch->met < watch->count;
        const nfds_t polled = watch->over ? 1 : watch->met + 1;
        const int wait_ms = looks ? LOOK_AGAIN_MS : watch->over ? SECOND_MS : -1;
        const int ready = poll(watch->processes, polled, wait_ms);
        if ((ready < 0 && errno != EINTR) || (ready == 0 && watch->over && !hurry(watch))) {
            return false;
        }
        unsigned ended = 0;
        for (unsigned i = 1; i < polled; i++) {
            if ((watch->processes[i].revents & POLLIN) != 0) {
                watch->first = watch->ranks[i];
                ended++;
            }
        }
        if (ended > 0) {
            watch->first = ended == 1 ? watch->first : -1; // nobody knows which was first
            stop(watch);
        }
        if (watch->processes[0].revents != 0) {
            return true;
        }
    }
}

void cli_ranks_watch_end(cli_ranks_watch_t *watch)
{
    stop(watch);
    sim_free(watch->processes);
    sim_free(watch->ranks);
}
