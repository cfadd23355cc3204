// SPDX-License-Identifier: Apache-2.0
// programs/sockets/endpoint.h - descriptors of the program that are simulated.
//
// Each is a real descriptor, so that poll() and its like can ask the kernel: a local socket whose
// other end the simulator holds, or the end of a pipe that becomes readable when a timer is due.
#ifndef PROGRAMS_SOCKETS_ENDPOINT_H
#define PROGRAMS_SOCKETS_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "programs/turn.h"

#define ENDPOINT_OPTIONS_MAX 24u

typedef enum endpoint_kind {
    ENDPOINT_SOCKET,
    ENDPOINT_TIMER,
    ENDPOINT_RANDOM,
    ENDPOINT_NETLINK
} endpoint_kind_t;

typedef struct endpoint_option {
    int level;
    int name;
    int value;
} endpoint_option_t;

typedef struct endpoint {
    endpoint_kind_t kind;
    uint32_t users; // descriptors that refer to it

    // ENDPOINT_SOCKET
    uint32_t handle;
    int domain;
    bool datagrams; // UDP; else TCP
    bool listens;
    bool connected;
    uint64_t receive_timeout_ps;
    uint64_t send_timeout_ps;
    endpoint_option_t options[ENDPOINT_OPTIONS_MAX];
    uint32_t option_count;

    // ENDPOINT_TIMER
    uint64_t id;
    int clock_kind;
    int signal_fd; // the other end of the pipe; ENDPOINT_NETLINK: of the pair of sockets
    struct timerfd_state *state;
    struct endpoint *next;
} endpoint_t;

// What attempts on descriptors that find nothing share.
extern __thread turn_idle_t endpoint_idle __attribute__((tls_model("initial-exec")));

// Returns the object of a descriptor, or NULL. Also NULL in a program that is not simulated.
endpoint_t *endpoint_of(int descriptor);

// Returns the same if it is a socket.
endpoint_t *endpoint_socket_of(int descriptor);

// Returns a new object for a descriptor, or NULL with ENOMEM.
endpoint_t *endpoint_create(int descriptor, endpoint_kind_t kind);

// Notes that `to` refers to what `from` refers to.
void endpoint_copy(int from, int to);

// Notes that a descriptor is closed.
void endpoint_close(int descriptor);

// Returns true if operations on the descriptor must not wait.
bool endpoint_nonblocking(int descriptor);

// Returns true if a read of the descriptor may have to wait for the simulation: a socket, a pipe,
// an eventfd or the like, but neither a file nor a terminal.
bool endpoint_waits(int descriptor);

// Waits until poll() shows `events` on the descriptor. Returns 0; -1 with EINTR if a handler of a
// signal ran that interrupts calls, and -1 with EAGAIN when the time is over.
int endpoint_await(int descriptor, short events, uint64_t timeout_ps);

// The process has opened a named pipe, whose other end another program of the host may have. Nobody
// tells of what that one does, so waits for descriptors look again after a time.
extern bool endpoint_shares_pipes;

// Returns the time until the next look of a wait that ends after `left_ps`. `step_ps` begins at 0
// and keeps the time until the look before.
uint64_t endpoint_step(uint64_t *step_ps, uint64_t left_ps);

// Lets the simulator see what was written, closed or read.
void endpoint_flush(void);

// Notes that bytes were taken out of a socket, so that there is room for others.
void endpoint_note_room(void);

#endif // PROGRAMS_SOCKETS_ENDPOINT_H
