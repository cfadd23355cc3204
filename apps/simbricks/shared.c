// SPDX-License-Identifier: Apache-2.0
// apps/simbricks/shared.c - maps memory that another process may make smaller.
#define _GNU_SOURCE // MAP_ANONYMOUS
#include "apps/simbricks/shared.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static _Thread_local app__shared_t *mapped;
static struct sigaction before; // what happened on SIGBUS before
static pthread_once_t handles = PTHREAD_ONCE_INIT;

// Puts empty memory in the place of a mapping that this access has left. Any other error happens
// again, as it would without the handler.
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    const int error = errno;
    const uint8_t *const at = info->si_addr;
    app__shared_t *shared = mapped;
    while (shared != NULL && (at < shared->base || at >= shared->base + shared->size)) {
        shared = shared->next;
    }
    if (shared != NULL && mmap(shared->base, shared->size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
        shared->cut = 1;
    } else {
        (void)sigaction(number, &before, NULL);
    }
    errno = error;
}

static void handle_bus_errors(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_bus_error;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, &before);
}

bool app__shared_map(app__shared_t *shared, int file, size_t size)
{
    (void)pthread_once(&handles, handle_bus_errors);
    void *const base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) {
        return false;
    }
    *shared = (app__shared_t){.base = base, .size = size, .next = mapped};
    mapped = shared;
    return true;
}

void app__shared_unmap(app__shared_t *shared)
{
    for (app__shared_t **at = &mapped; *at != NULL; at = &(*at)->next) {
        if (*at == shared) {
            *at = shared->next;
            (void)munmap(shared->base, shared->size);
            shared->base = NULL;
            return;
        }
    }
}

bool app__shared_is_cut(const app__shared_t *shared)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST); // the accesses come first
    return shared->cut != 0;
}
