// SPDX-License-Identifier: Apache-2.0
// cli/ranks/watch.c - notices which rank ends first, since mpirun does not always report it.
//
// Each rank appends its number and its process to a file of the launcher's as it begins. The
// launcher gets a descriptor of each process from the system, which becomes readable when the
// process ends, and through which it passes signals on. Without such descriptors (before Linux 5.3)
// it notices nothing, and mpirun passes signals on. A rank that mpirun ends notes that in the file:
// another rank died before it.
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

#define LOOK_AGAIN_MS 50   // while ranks begin or end
#define LOOK_RARELY_MS 250 // a signal may come between a look and the wait
#define LINE_BYTES 32u
#define TOLD '-' // begins the line of a rank that mpirun has ended
#define GONE 0   // events of a rank that ended before its process could be opened
#define SECOND_MS 1000
// After a death mpirun ends the other ranks within 1.1 s, prints who died, and ends. What it has
// not done by these times, the launcher does.
#define RANKS_KILL_MS 2000 // after a rank has died: ends those that are left
// After all ranks have ended. An mpirun with which a rank died while it signed in there (PMIx)
// waits forever for a lock.
#define MPIRUN_KILL_MS 1000
#define MPIRUN_KILL_WHOLE_MS 5000 // where rank 0 has come to its end
#define SAME_SIGNAL_MS 500        // `timeout` sends each signal twice

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

// Signals that ask the launcher to end; only the signal handler changes it.
static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    (void)number;
    if (caught < SIG_ATOMIC_MAX) {
        caught++;
    }
}

// A SIGHUP that is ignored at the start stays ignored, so that a program under nohup lives on.
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIM_COUNT_OF(numbers); i++) {
        struct sigaction before;
        if (numbers[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 ||
            before.sa_handler != SIG_IGN) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

void cli_ranks_watch_begin(cli_ranks_watch_t *watch, const char *file, unsigned count)
{
    catch_signals();
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

// Returns whether a rank has ended that was not known to have.
static bool has_just_ended(const struct pollfd *process)
{
    return process->events == GONE || (process->fd >= 0 && (process->revents & POLLIN) != 0);
}

// Returns whether any rank has ended that was not known to have.
static bool any_just_ended(const cli_ranks_watch_t *watch)
{
    bool any = false;
    for (unsigned i = 1; i <= watch->met; i++) {
        any |= has_just_ended(&watch->processes[i]);
    }
    return any;
}

static bool any_gone(const cli_ranks_watch_t *watch)
{
    bool any = false;
    for (unsigned i = 1; i <= watch->met; i++) {
        any |= watch->processes[i].events == GONE;
    }
    return any;
}

// Returns whether mpirun asked a rank to end before it ended.
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
static int died_first(const cli_ranks_watch_t *watch)
{
    int first = -1;
    unsigned ended = 0;
    for (unsigned i = 1; i <= watch->met; i++) {
        if (has_just_ended(&watch->processes[i]) && !was_told(watch, watch->ranks[i])) {
            first = watch->ranks[i];
            ended++;
        }
    }
    return ended == 1 ? first : -1;
}

int64_t cli_ranks_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)SECOND_MS + now.tv_nsec / 1000000;
}

static void close_process(struct pollfd *process)
{
    if (process->fd >= 0) {
        (void)close(process->fd);
    }
    *process = (struct pollfd){.fd = -1, .events = POLLIN};
}

// Notes which ranks have ended, and closes their processes.
static void note_ended(cli_ranks_watch_t *watch)
{
    if (watch->over_ms == 0) {
        watch->first = died_first(watch);
        watch->over_ms = cli_ranks_now_ms();
    }
    bool any_left = false;
    for (unsigned i = 1; i <= watch->met; i++) {
        struct pollfd *const process = &watch->processes[i];
        if (has_just_ended(process)) {
            close_process(process);
        }
        any_left |= process->fd >= 0;
    }
    watch->empty_ms = any_left ? 0 : cli_ranks_now_ms();
}

// Returns whether rank 0 has come to its end: then the others end by themselves.
static bool is_whole(const cli_ranks_watch_t *watch)
{
    struct stat about;
    return stat(watch->status, &about) == 0 && about.st_size > 0;
}

// Sends a signal to each rank that is known to live. Returns their number.
static unsigned signal_ranks(const cli_ranks_watch_t *watch, int number)
{
    unsigned count = 0;
    for (unsigned i = 1; i <= watch->met; i++) {
        const int process = watch->processes[i].fd;
        if (process >= 0) {
            (void)syscall(SYS_pidfd_send_signal, process, number, NULL, 0);
            count++;
        }
    }
    return count;
}

// Passes on a signal to the launcher. SIGUSR1 makes ranks end the run and write its results. Where
// some have not begun, or at a second signal, the launcher ends all of them.
static void pass_signal_on(cli_ranks_watch_t *watch)
{
    const unsigned signals = (unsigned)caught;
    const int64_t now = cli_ranks_now_ms();
    if (signals == watch->signals) {
        return;
    }
    const bool again = watch->signals > 0;
    watch->signals = signals;
    if (again && now - watch->signal_ms < SAME_SIGNAL_MS) {
        return;
    }
    watch->signal_ms = now;
    if (!again && watch->met == watch->count) {
        if (signal_ranks(watch, SIGUSR1) == 0 && watch->over_ms == 0) {
            (void)kill(watch->mpirun, SIGUSR1);
        }
        return;
    }
    (void)kill(watch->mpirun, SIGTERM);
    if (watch->over_ms == 0) {
        watch->over_ms = now;
    }
    if (signal_ranks(watch, SIGKILL) == 0 && watch->empty_ms == 0) {
        watch->empty_ms = now;
    }
}

// Ends what mpirun has left long after a rank has died, and then mpirun, whatever it says
// meanwhile. Ranks that have not signed in die with mpirun (cli_ranks_join). Returns false if
// nothing more can come.
static bool hurry(cli_ranks_watch_t *watch)
{
    const int64_t now = cli_ranks_now_ms();
    const bool whole = is_whole(watch);
    if (watch->empty_ms == 0) {
        if (!whole && now - watch->over_ms >= RANKS_KILL_MS) {
            (void)signal_ranks(watch, SIGKILL);
        }
        return true;
    }
    const bool late = now - watch->empty_ms >= (whole ? MPIRUN_KILL_WHOLE_MS : MPIRUN_KILL_MS);
    if (late) {
        (void)kill(watch->mpirun, SIGKILL);
        watch->ended_mpirun = true;
    }
    return !late;
}

// Returns how long to wait at most before looking again.
static int patience_ms(const cli_ranks_watch_t *watch)
{
    return any_gone(watch)                                   ? 0
           : watch->over_ms > 0 || watch->met < watch->count ? LOOK_AGAIN_MS
                                                             : LOOK_RARELY_MS;
}

bool cli_ranks_watch_wait(cli_ranks_watch_t *watch, int messages)
{
    for (;;) {
        if (watch->met < watch->count) {
            open_processes(watch);
        }
        watch->processes[0] = (struct pollfd){.fd = messages, .events = POLLIN};
        const int ready = poll(watch->processes, watch->met + 1, patience_ms(watch));
        if ((ready < 0 && errno != EINTR) || (watch->over_ms > 0 && !hurry(watch))) {
            return false;
        }
        if (ready >= 0 && any_just_ended(watch)) {
            note_ended(watch);
        }
        pass_signal_on(watch);
        if (watch->processes[0].revents != 0) {
            return true;
        }
    }
}

void cli_ranks_watch_end(cli_ranks_watch_t *watch)
{
    for (unsigned i = 1; i <= watch->met; i++) {
        close_process(&watch->processes[i]);
    }
    sim_free(watch->processes);
    sim_free(watch->ranks);
}
