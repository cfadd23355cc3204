// SPDX-License-Identifier: Apache-2.0
// cli/ranks/watch.c - notices which rank ends first, since mpirun does not always tell.
//
// Each rank appends its number and its process to a file of the launcher's as it begins. The
// launcher gets a descriptor of each process from the system, which becomes readable when the
// process ends. Without such descriptors (before Linux 5.3) it notices nothing. A rank that mpirun
// tells to end notes that in the file: another rank died before it.
#include "cli/ranks/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_AGAIN_MS 50 // while ranks have not begun
#define LINE_BYTES 32u
#define TOLD '-'           // begins the line of a rank that mpirun told to end
#define GONE 0             // events of a rank that ended before its process could be opened
#define TERM_AFTER_MS 4000 // mpirun gives ranks five seconds at most
#define KILL_AFTER_MS 7000
#define SECOND_MS 1000

// The launcher's file and this rank's line, for the signal handler, which has no context argument.
static volatile int told_file = -1;
static char told_line[LINE_BYTES];

void cli_ranks_note_told(void)
{
    if (told_file >= 0) {
        const int before = errno; // of the code that the signal interrupts
        // A short write leaves the launcher without the name of the rank that died, and no more.
        (void)!write(told_file, told_line, strlen(told_line));
        errno = before;
    }
}

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
    snprintf(told_line, sizeof(told_line), "%c%lu\n", TOLD, strtoul(rank, NULL, 10));
    told_file = opened;
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
        if (line[0] == TOLD) {
            continue;
        }
        char *end = line;
        const unsigned long rank = strtoul(line, &end, 10);
        const long process = strtol(end, NULL, 10);
        if (number++ < watch->met || process <= 0) {
            continue;
        }
        watch->ranks[watch->met + 1] = (int)rank;
        const int opened = (int)syscall(SYS_pidfd_open, process, 0);
        const bool gone = opened < 0 && errno == ESRCH;
        watch->processes[watch->met + 1] =
            (struct pollfd){.fd = opened, .events = gone ? GONE : POLLIN};
        watch->met++;
    }
    if (list != NULL) {
        (void)fclose(list);
    }
}

static bool has_ended(const struct pollfd *process)
{
    return process->events == GONE || (process->revents & POLLIN) != 0;
}

static bool any_gone(const cli_ranks_watch_t *watch, nfds_t polled)
{
    bool any = false;
    for (nfds_t i = 1; i < polled; i++) {
        any |= watch->processes[i].events == GONE;
    }
    return any;
}

// Returns whether the rank of any of these processes has ended.
static bool any_ended(const cli_ranks_watch_t *watch, nfds_t polled)
{
    bool any = false;
    for (nfds_t i = 1; i < polled; i++) {
        any |= has_ended(&watch->processes[i]);
    }
    return any;
}

// Returns whether mpirun told a rank to end before it ended.
static bool was_told(const cli_ranks_watch_t *watch, int rank)
{
    FILE *const list = fopen(watch->file, "re");
    char line[LINE_BYTES];
    bool found = false;
    while (list != NULL && !found && fgets(line, sizeof(line), list) != NULL) {
        found = line[0] == TOLD && strtol(line + 1, NULL, 10) == rank;
    }
    if (list != NULL) {
        (void)fclose(list);
    }
    return found;
}

// Returns the rank that died by itself among those whose end was just noticed; -1: nobody knows.
static int died_first(const cli_ranks_watch_t *watch, nfds_t polled)
{
    int first = -1;
    unsigned ended = 0;
    for (nfds_t i = 1; i < polled; i++) {
        if (has_ended(&watch->processes[i]) && !was_told(watch, watch->ranks[i])) {
            first = watch->ranks[i];
            ended++;
        }
    }
    return ended == 1 ? first : -1;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)SECOND_MS + now.tv_nsec / 1000000;
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
    if (!watch->over) {
        watch->over = true;
        watch->over_ms = now_ms();
    }
}

// Returns whether rank 0 has come to its end: then the others end by themselves.
static bool is_whole(const cli_ranks_watch_t *watch)
{
    struct stat about;
    return stat(watch->status, &about) == 0 && about.st_size > 0;
}

// Ends an mpirun that is still there long after a rank has ended, whatever it says meanwhile. Ranks
// die with mpirun (cli_ranks_join). Returns false if nothing more can come.
static bool hurry(cli_ranks_watch_t *watch)
{
    const int64_t late_ms = now_ms() - watch->over_ms;
    if (watch->mpirun <= 0 || late_ms < TERM_AFTER_MS || is_whole(watch)) {
        return true;
    }
    if (late_ms >= KILL_AFTER_MS) {
        (void)kill(watch->mpirun, SIGKILL);
        return false;
    }
    if (!watch->termed) {
        (void)kill(watch->mpirun, SIGTERM);
    }
    watch->termed = true;
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
        const bool gone = !watch->over && any_gone(watch, polled);
        const int wait_ms = gone ? 0 : looks ? LOOK_AGAIN_MS : watch->over ? SECOND_MS : -1;
        const int ready = poll(watch->processes, polled, wait_ms);
        if ((ready < 0 && errno != EINTR) || (watch->over && !hurry(watch))) {
            return false;
        }
        if (ready >= 0 && any_ended(watch, polled)) {
            watch->first = died_first(watch, polled);
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
