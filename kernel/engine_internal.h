// SPDX-License-Identifier: Apache-2.0
// kernel/engine_internal.h - the state of a simulation, which the files of the engine share.
//
//     sim.c        creates, registers, observes, destroys
//     partition.c  how wide a window is, which nodes run together (unit.h)
//     deal.c       which thread (thread.h) runs which units
//     mail.c       messages in flight, and a node's mail of a window; sort.c: its order;
//                  far.h: messages beyond the mailboxes
//     window.c     one thread's share of one window: runs units, samples
//     appoint.c    when units want to run next
//     timers/      a node's timers
//     threads/     where threads meet, and whether they need to
//     run.c        the loop over windows, how a run ends
//     ranks.c      messages to and agreements with other processes
//
// All of them are in kernel/engine/. In which order events of one instant run, they ask through
// sim->order (kernel/order/ops.h).
#ifndef KERNEL_ENGINE_INTERNAL_H
#define KERNEL_ENGINE_INTERNAL_H

#include <stdatomic.h>

#include "kernel/engine/agree.h"
#include "kernel/engine/far.h"
#include "kernel/engine/threads/barrier.h"
#include "kernel/engine/threads/share.h"
#include "kernel/engine/unit.h"
#include "kernel/event.h"
#include "kernel/order/ops.h"

#define SIM_NO_WINDOW UINT64_MAX

typedef struct sim_thread sim_thread_t;

typedef struct sim_sampler {
    sim_node_t *node;
    sim_time_t next_ps;
    sim_time_t period_ps;
    sim_sample_fn fn;
    sim_sample_many_fn many; // NULL: none
    void *ctx;
    struct sim_sampler *next; // of the same node
} sim_sampler_t;

// The part of a channel that sending does not read.
typedef struct sim_channel_ends {
    sim_node_t *to;
    uint32_t from;  // number of the node
    uint32_t delay; // number in sim->delays
} sim_channel_ends_t;

#define SIM_CHANNEL_BLOCK 4096u // channels allocated together, so that they never move

typedef struct sim_window_observer {
    sim_window_fn fn;
    void *ctx;
} sim_window_observer_t;

// The progress of a run, by which it notices that it has stalled.
typedef struct sim__stall {
    uint64_t progress_seen;
    sim_time_t fruitless_ps; // busy time since progress was seen
    bool quiet;              // with colours: no progress since the beginning of quiet_cell
    uint64_t quiet_cell;
    sim_time_t excused_ps; // time since then that does not count as fruitless
} sim__stall_t;

struct sim {
    sim_options_t options; // as they apply: until_ps is at most SIM_TIME_END
    sim_options_t asked;   // as they were given
    sim_node_t **nodes;    // NULL where a node was vacated
    size_t node_count;
    size_t node_capacity;
    sim_channel_t **channel_blocks; // of SIM_CHANNEL_BLOCK channels each
    size_t channel_block_count;
    size_t channel_block_capacity;
    sim_channel_ends_t *channel_ends; // by channel index
    sim_far_ring_t **far;             // by channel index; NULL until something took the far path
    sim_time_t *delays_ps;            // of channels; consecutive channels of equal delay share one
    size_t delay_count;
    size_t delay_capacity;
    size_t channel_count;
    size_t channel_capacity;
    sim_sampler_t **samplers;
    size_t sampler_count;
    size_t sampler_capacity;
    sim_time_t portion_ps; // of a time without events, which samplers are served in one go
    sim_window_observer_t *observers;
    size_t observer_count;
    size_t observer_capacity;
    struct sim_stream **streams;
    size_t stream_count;
    size_t stream_capacity;

    const sim_order_ops_t *order; // of events that tie; settled when the run begins
    struct sim_fifo *fifo;        // its state; NULL where it has none

    sim_thread_t **threads; // threads[0] exists from sim_create on
    unsigned thread_count;
    bool threads_missing; // the system gave fewer than options.threads asked for
    sim_unit_t *units;    // of this rank
    uint32_t unit_count;
    sim_time_t window_ps;
    uint64_t window;      // the one being run
    bool coloured;        // units run by turns, by colour: see partition.c
    bool clipped;         // the window is run up to its middle only
    bool last_try;        // the run makes no progress and ends after this window
    uint64_t level_cell;  // nodes of both colours stop at the beginning of this cell
    uint64_t judged_cell; // background timers due in this cell fire
    unsigned parity;      // of the number of windows run so far
    bool ran;
    sim_time_t split_ps;   // a window ends there (sim_split_window_at); SIM_TIME_NEVER
    bool level_wanted;     // colours are to be dropped (sim_level)
    bool levelling;        // this window is run up to its middle for that
    bool colour_wanted;    // they are to come back (sim_colour)
    bool had_colours;      // nodes had colours before the engine dropped them
    bool moved;            // what is to come was moved since the last window (sim_shift)
    sim_time_t stop_ps;    // of the present step; SIM_TIME_NEVER where there are no steps
    sim_time_t stopped_ps; // of the step before: everything before it has happened
    bool watching;         // the present step is one of sim_step_watched
    bool ends_step;        // sim_end_step was called in the present step

    // decided by thread 0 between the two barriers of a window
    uint64_t decided_window; // SIM_NO_WINDOW: the run ends
    sim_ended_t ended;
    sim__stall_t stall;
    uint64_t upkeep_seen;   // calls of sim_upkeep up to now
    uint64_t others_seen;   // events besides them, when they were counted last
    uint64_t upkeep_window; // nothing but upkeep happened since the start of this window

    // Numbers of all ranks that decide how the run continues; the engine reads them after each
    // window.
    sim__seen_t seen;
    const sim_codec_t *codec; // NULL: none
    void *codec_ctx;
    struct sim__ranks *ranks; // NULL: one process
    bool seated;              // nodes have ranks
    bool expects_background;  // sim_expect_background was called
    bool may_be_early;        // inner units may begin windows early: appoint.c
    bool early;               // they do, and threads are asked to run them
    uint16_t *rank_of;        // by node, once they are seated
    sim_link_fn links;        // NULL: the channels are all there are
    const void *links_ctx;
    size_t link_count;
    unsigned rank;       // 0 in one process
    unsigned rank_count; // 1 in one process
    uint64_t flush_left; // windows until streams are flushed; in ranks only

    sim__barrier_t barrier;
    sim__share_t share; // of thread 0
    atomic_bool interrupted;
    uint64_t digest;
    sim_time_t end_ps;
};

// Return the start and the end of a window. Where nodes have two colours, each colour runs in every
// second window, which is twice as wide and begins in the middle of the one before.
static inline sim_time_t sim__window_start(const sim_t *sim, uint64_t window)
{
    return (window - (sim->coloured && window > 0 ? 1 : 0)) * sim->window_ps;
}
static inline sim_time_t sim__window_end(const sim_t *sim, uint64_t window)
{
    return (window + 1) * sim->window_ps;
}
// Returns the window in which a unit runs events due at time_ps.
static inline uint64_t sim__window_of(const sim_t *sim, const sim_unit_t *unit, sim_time_t time_ps)
{
    const uint64_t cell = time_ps / sim->window_ps;
    return sim->coloured ? cell + ((cell ^ unit->colour) & 1) : cell;
}

static inline uint64_t sim__least(uint64_t a, uint64_t b)
{
    return SIM_MIN(a, b);
}

// Returns whether ties go by hash: the test of paths that run for every event.
static inline bool sim__ties_by_hash(const sim_t *sim)
{
    return SIM_LIKELY(sim->order->by_hash);
}
// Returns whether all events are in one list.
static inline bool sim__in_one_list(const sim_t *sim)
{
    return SIM_UNLIKELY(sim->order->one_list);
}

static inline sim_channel_ends_t *sim__ends(const sim_t *sim, const sim_channel_t *channel)
{
    return &sim->channel_ends[channel->index];
}
static inline size_t sim__far_bytes(const sim_t *sim)
{
    return (sim->channel_count + 1) * sizeof(sim_far_ring_t *);
}
// Returns the channel's far messages; NULL: there were none so far.
static inline sim_far_ring_t *sim__far(const sim_t *sim, const sim_channel_t *channel)
{
    return sim->far[channel->index];
}
static inline sim_time_t sim__delay_ps(const sim_t *sim, const sim_channel_ends_t *ends)
{
    return sim->delays_ps[ends->delay];
}

// Returns whether this rank runs the node. NULL: it was vacated, since another rank runs it.
static inline bool sim__is_here(const sim_t *sim, const sim_node_t *node)
{
    return !sim->seated || (node != NULL && node->rank == sim->rank);
}

// -- kernel/engine/run.c

// Decides what follows the window that was run: sim->decided_window, or how the run ends.
void sim__decide(sim_t *sim);
// Ends a run: shows observers the rest, and sets the time of its end.
void sim__finish(sim_t *sim);

// -- kernel/fast_forward/shift.c

// Drops or takes up colours as was asked for, when a window was run.
void sim__change_colours(sim_t *sim);

// Returns the time of the node's next event, mail of this window included.
static inline sim_time_t sim__node_next_ps(const sim_node_t *node)
{
    sim_time_t next_ps = SIM_MIN(node->wake_ps, node->timer_ps);
    if (node->mail->key != UINT64_MAX) {
        const sim_time_t mail_ps = sim__mail_time(node);
        next_ps = SIM_MIN(mail_ps, next_ps);
    }
    return next_ps;
}

#endif // KERNEL_ENGINE_INTERNAL_H
