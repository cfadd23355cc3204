// SPDX-License-Identifier: Apache-2.0
// nic/fast_forward_period.h - moments of a network between which all repeats, and the jump over it.
//
// In the middle of long messages, a network without losses often does the same again and again. Two
// moments with an equal state, but for positions in messages and for counts, prove that: the
// network does the same until a message ends, a timer fires or a program acts.
// docs/models/fast-forward.md
#ifndef NIC_FAST_FORWARD_PERIOD_H
#define NIC_FAST_FORWARD_PERIOD_H

#include "kernel/fast_forward_notes.h"
#include "kernel/fast_forward_period.h"
#include "nic/host.h"

SIM_C_BEGIN

typedef struct nic_moment nic_moment_t;

// The program whose messages begin and end between two moments.
typedef struct nic_moment_program {
    // Adds its structs to a list, and notes the rest. Returns why it cannot; NULL: it can.
    const char *(*note)(void *ctx, sim_state_t *state, sim_notes_t *notes);
    // Returns how many periods more it does what it did in that between the moments.
    uint64_t (*most)(void *ctx);
    // Does `count` periods of its own state, but for what is noted or has rows.
    void (*jump)(void *ctx, uint64_t count, sim_time_t period_ps);
    void *ctx;
} nic_moment_program_t;

// Returns the state of the network and all that is under way, between windows. The caller frees it.
// program NULL: no message begins or ends, and no program acts.
nic_moment_t *nic_moment_take(const net_t *net, sim_time_t now_ps,
                              const nic_moment_program_t *program);
void nic_moment_free(nic_moment_t *moment); // NULL is allowed
// Returns why such states cannot be compared; NULL: they can.
const char *nic_moment_refused(const nic_moment_t *moment);
size_t nic_moment_bytes(const nic_moment_t *moment); // of the structs that it copied
sim_time_t nic_moment_time_ps(const nic_moment_t *moment);
// Returns whether the network does again what it did between two moments. If not, *why names what
// differs.
bool nic_moment_repeats(const nic_moment_t *first, const nic_moment_t *second, const char **why);
// Returns how many times more it does so, at least: until a message, what the program repeats or
// the run ends, or a timer fires.
uint64_t nic_moment_most(const nic_moment_t *first, const nic_moment_t *second);
// Repeats `count` times at once what happened between two moments. The network is at the second
// one. Returns the frames that it sent in them. With `check`, ends the program if this does not
// lead to the state of the second moment.
uint64_t nic_moment_jump(const nic_moment_t *first, const nic_moment_t *second, uint64_t count,
                         bool check);

// The frames that a host's port sends, from which the length of a period is guessed.
typedef struct nic_watch nic_watch_t;

// Watches the port of the NIC with the most queue pairs that send. NULL: none sends, some one has
// less than least_packets left, or the first or last packet of a message is under way. *seen is
// increased by the nodes and queue pairs that were looked at: node *from first, where the search
// ended the last time. The caller ends the watch.
nic_watch_t *nic_watch_begin(const net_t *net, uint32_t least_packets, uint64_t *seen,
                             size_t *from);
// Returns whether some queue pair sends, and all of them have least_packets left. *steady says
// whether all packets under way are of the middle of messages.
bool nic_watch_holds(const nic_watch_t *watch, uint32_t least_packets, uint64_t *seen,
                     bool *steady);
void nic_watch_end(nic_watch_t *watch); // NULL is allowed
// Returns after which time the frames of the port repeat; 0: not known yet. *over is set when there
// is no hope. *seen is increased by the lengths that were tried.
sim_time_t nic_watch_period_ps(nic_watch_t *watch, bool *over, uint64_t *seen);

SIM_C_END

#endif // NIC_FAST_FORWARD_PERIOD_H
