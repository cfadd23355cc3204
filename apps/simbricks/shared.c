// SPDX-License-Identifier: Apache-2.0
// apps/simbricks/shared.c - maps memory that another process may make smaller.
#define _GNU_SOURCE // MAP_ANONYMOUS
#include "apps/simbricks/shared.h"

#include <errno.h>
#include <sys/mman.h>

static _Thread_local app__shared_t *mapped;

// Puts empty memory in the place of a mapping that this access has left. After any other error, the
// access happens again under what the process did on SIGBUS before.
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
        const struct sigaction stop = {.sa_handler = SIG_DFL};
        (void)sigaction(number, mapped != NULL ? &mapped->before : &stop, NULL);
    }
    errno = error;
}

// Sets the handler. Returns what happened on SIGBUS before; another thread may have set it already.
static struct sigaction handle_bus_errors(void)
{
    struct sigaction before = {.sa_handler = SIG_DFL};
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_bus_error;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, &before);
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == on_bus_error) {
        return mapped != NULL ? mapped->before : (struct sigaction){.sa_handler = SIG_DFL};
    }
    return before;
}

bool app__shared_map(app__shared_t *shared, int file, size_t size)
{
    void *const base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) {
        return false;
    }
    *shared =
        (app__shared_t){.base = base, .size = size, .before = handle_bus_errors(), .next = mapped};
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
