// SPDX-License-Identifier: Apache-2.0
// results/run/memory_watch.c - the watch of results/run/memory_watch.h.
#include "results/run/memory_watch.h"

#include "kernel/attribute.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 100000000
#define PROGRAM_BYTES ((uint64_t)64 << 20) // the program itself, and the memory that it buffers in
#define SPARE_BYTES ((uint64_t)1 << 30)    // that a run may take before it notices the interruption

struct results_memory_watch {
    sim_t *sim;
    uint64_t max_bytes;
    pthread_t thread;
    pthread_mutex_t lock; // of the two below
    pthread_cond_t changed;
    bool over;
    bool exceeded;
};

// Returns the memory that the process occupies; 0: the system does not say.
static uint64_t occupied_bytes(void)
{
    char line[128] = ""; // pages of addresses, pages in memory, and others
    FILE *const file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return 0;
    }
    const bool read = fgets(line, sizeof(line), file) != NULL;
    (void)fclose(file);
    const char *const second = read ? strchr(line, ' ') : NULL;
    return second != NULL ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void *look(void *ctx)
{
    results_memory_watch_t *const watch = ctx;
    pthread_mutex_lock(&watch->lock);
    while (!watch->over) {
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_nsec += PERIOD_NS;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&watch->changed, &watch->lock, &next);
        const uint64_t bytes = occupied_bytes();
        if (!watch->over && bytes > watch->max_bytes) {
            watch->exceeded = true;
            sim_interrupt(watch->sim);
        }
        if (!watch->over && bytes > watch->max_bytes + SPARE_BYTES) {
            fprintf(stderr, "rocesim: the run takes more than memory-max, and stays in one moment; "
                            "it is ended without results\n");
            _exit(EXIT_FAILURE);
        }
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

results_memory_watch_t *results__memory_watch_begin(sim_t *sim, uint64_t max_bytes)
{
    if (max_bytes == SIM_AUTO || max_bytes > UINT64_MAX / 2) {
        return NULL;
    }
    results_memory_watch_t *const watch = sim_alloc(sizeof(*watch));
    *watch = (results_memory_watch_t){.sim = sim, .max_bytes = max_bytes + PROGRAM_BYTES};
    pthread_mutex_init(&watch->lock, NULL);
    pthread_cond_init(&watch->changed, NULL);
    sigset_t all;
    sigset_t before;
    sigfillset(&all); // signals are for the thread that runs
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&watch->thread, NULL, look, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        pthread_cond_destroy(&watch->changed);
        pthread_mutex_destroy(&watch->lock);
        sim_free(watch);
        return NULL;
    }
    return watch;
}

bool results__memory_watch_end(results_memory_watch_t *watch)
{
    if (watch == NULL) {
        return false;
    }
    pthread_mutex_lock(&watch->lock);
    watch->over = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    const bool exceeded = watch->exceeded;
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    sim_free(watch);
    return exceeded;
}
