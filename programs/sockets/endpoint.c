// SPDX-License-Identifier: Apache-2.0
// programs/sockets/endpoint.c - descriptors of the program that are simulated.

#include "programs/sockets/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/process/descriptors.h"
#include "programs/process/signals.h"
#include "programs/system.h"
#include "programs/threads/threads.h"
#include "programs/time/moment.h"
#include "programs/time/timerfd.h"

#define DESCRIPTORS_MAX 16384
#define STEP_PS_MIN (1000 * TURN_PS_PER_NS) // first wait between two looks at a named pipe
#define STEP_PS_MAX (100 * STEP_PS_MIN)

__thread turn_idle_t endpoint_idle;
bool endpoint_shares_pipes;

static endpoint_t *endpoints[DESCRIPTORS_MAX];
static bool room; // the simulator may have more bytes for a socket that was full

endpoint_t *endpoint_of(int descriptor)
{
    return descriptor >= 0 && descriptor < DESCRIPTORS_MAX && turn_on() ? endpoints[descriptor]
                                                                        : NULL;
}

endpoint_t *endpoint_socket_of(int descriptor)
{
    endpoint_t *endpoint = endpoint_of(descriptor);
    return endpoint != NULL && endpoint->kind == ENDPOINT_SOCKET ? endpoint : NULL;
}

endpoint_t *endpoint_create(int descriptor, endpoint_kind_t kind)
{
    endpoint_t *endpoint =
        descriptor >= 0 && descriptor < DESCRIPTORS_MAX ? calloc(1, sizeof *endpoint) : NULL;
    if (endpoint == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    endpoint_close(descriptor);
    endpoint->kind = kind;
    endpoint->users = 1;
    endpoint->receive_timeout_ps = PROGRAM_NEVER;
    endpoint->send_timeout_ps = PROGRAM_NEVER;
    endpoints[descriptor] = endpoint;
    return endpoint;
}

void endpoint_close(int descriptor)
{
    endpoint_t *endpoint = endpoint_of(descriptor);
    if (endpoint == NULL) {
        return;
    }
    endpoints[descriptor] = NULL;
    endpoint->users--;
    if (endpoint->users != 0) {
        return;
    }
    if (endpoint->kind == ENDPOINT_SOCKET) {
        turn_shared->sockets_written = 1;
        turn_act();
    } else if (endpoint->kind == ENDPOINT_TIMER) {
        timerfd_forget(endpoint);
    } else if (endpoint->kind == ENDPOINT_NETLINK) {
        descriptors_close(endpoint->signal_fd);
    }
    free(endpoint);
}

void endpoint_copy(int from, int to)
{
    endpoint_t *endpoint = endpoint_of(from);
    if (to < 0 || to >= DESCRIPTORS_MAX || from == to) {
        return;
    }
    if (endpoint != NULL) {
        endpoint->users++;
    }
    endpoint_close(to);
    if (turn_on()) {
        endpoints[to] = endpoint;
    }
}

bool endpoint_nonblocking(int descriptor)
{
    return (system_call(SYS_fcntl, descriptor, F_GETFL) & O_NONBLOCK) != 0;
}

bool endpoint_waits(int descriptor)
{
    struct stat file;
    if (!turn_on()) {
        return false;
    }
    if (endpoint_of(descriptor) != NULL) {
        return true;
    }
    if (fstat(descriptor, &file) != 0) {
        return false;
    }
    const mode_t type = file.st_mode & S_IFMT;
    return type == S_IFIFO || type == S_IFSOCK || type == 0;
}

uint64_t endpoint_step(uint64_t *step_ps, uint64_t left_ps)
{
    if (!endpoint_shares_pipes) {
        return left_ps;
    }
    *step_ps = *step_ps == 0 ? STEP_PS_MIN : *step_ps * 2;
    *step_ps = *step_ps < STEP_PS_MAX ? *step_ps : STEP_PS_MAX;
    return *step_ps < left_ps ? *step_ps : left_ps;
}

int endpoint_await(int descriptor, short events, uint64_t timeout_ps)
{
    const uint64_t before = signals_interrupts;
    const uint64_t end_ps = moment_after(timeout_ps);
    uint64_t step_ps = 0;
    for (;;) {
        struct pollfd ready = {.fd = descriptor, .events = events};
        if (system_call(SYS_poll, &ready, 1, 0) != 0) {
            return 0;
        }
        if (room) {
            endpoint_flush();
            continue;
        }
        const uint64_t left_ps = moment_until(end_ps);
        if (left_ps == 0) {
            errno = EAGAIN;
            return -1;
        }
        (void)turn_wait(PROGRAM_ON_SOCKET | PROGRAM_ON_EVENT | PROGRAM_ON_SIGNAL,
                        endpoint_step(&step_ps, left_ps));
        threads_cancel_point();
        if (signals_interrupts != before) {
            errno = EINTR;
            return -1;
        }
    }
}

void endpoint_flush(void)
{
    room = false;
    turn_shared->sockets_written = 1;
    turn_flush();
}

void endpoint_note_room(void)
{
    room = true;
}
