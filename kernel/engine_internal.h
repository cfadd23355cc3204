// SPDX-License-Identifier: Apache-2.0
// kernel/engine_internal.h - what the files of the engine share: units, threads, the simulation.
//
//     sim.c        creates, registers, observes, destroys
//     partition.c  how wide a window is, which nodes run together
//     deal.c       which thread runs which units
//     mail.c       messages in flight, and a node's mail of a window; sort.c: its order
//     window.c     one thread's share of one window: runs units, samples
//     appoint.c    when units want to run next
//     timer.c      a node's timers, with wheel.h
//     run.c        the loop over windows, how a run ends
//     barrier.c    where threads meet; share.c: whether they need to
//     ranks.c      messages to and agreements with other processes
//
// All of them are in kernel/engine/. In which order events of one instant run, they ask through
// sim->order (kernel/order/ops.h).
#ifndef KERNEL_ENGINE_INTERNAL_H
#define KERNEL_ENGINE_INTERNAL_H

#include <stdatomic.h>

#include "kernel/engine/agree.h"
#include "kernel/engine/barrier.h"
#include "kernel/engine/share.h"
#include "kernel/engine/wheel.h"
#include "kernel/event.h"
#include "kernel/order/lineage.h"
#include "kernel/order/ops.h"

#define SIM_MAIL_CLASSES 24u // mailbox capacities 16 << class: at most 2 GB
#define SIM_NO_WINDOW UINT64_MAX

// A message on a channel that arrives beyond the mail slots.
typedef struct sim_far_letter {
    sim_time_t arrive_ps;
    void *message;
} sim_far_letter_t;

// The far messages of one channel, in order of arrival: a ring.
struct sim_far_fifo {
    sim_far_letter_t *letters;
    size_t first;
    size_t count;
    size_t capacity; // power of two
};

// The channels into a node that have carried far messages.
struct sim_far {
    sim_channel_t **channels;
    size_t count;
    size_t capacity;
};

// A far message on its way to the thread that owns the receiver.
typedef struct sim_parcel {
    sim_channel_t *channel;
    sim_time_t arrive_ps;
    void *message;
} sim_parcel_t;

// The far messages from one thread to another.
typedef struct sim_parcels {
    sim_parcel_t *items;
    size_t count;
    size_t capacity;
    sim_time_t earliest_ps;
} sim_parcels_t;

// Nodes that run together. Most units hold one node; several share one when the links between them
// are shorter than a window, and then run interleaved by time.
struct sim_unit {
    sim_node_t **members;
    uint32_t count;
    uint32_t index;          // bit in the activity maps
    uint64_t far_window;     // earliest window beyond the slots with an appointment of this unit
    sim_time_t lookahead_ps; // least delay between members; units of several only
    sim_node_t **heap;       // members with something to do in this window, by time
    uint32_t heap_count;
    uint8_t colour; // 0 or 1 where sim->coloured
};

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

// The facts about a unit that the loop over a window reads before it touches the unit.
typedef struct sim_seat {
    sim_unit_t *unit; // NULL in the padding
    sim_node_t *node; // its first member
    uint32_t node_index;
    bool alone; // its only member
} sim_seat_t;

// A window beyond the slots in which a unit has something to do.
typedef struct sim_appointment {
    uint64_t window;
    sim_unit_t *unit;
} sim_appointment_t;

typedef struct sim_appointments {
    sim_appointment_t *items;
    size_t count;
    size_t capacity;
} sim_appointments_t;

// A message for a node of another rank.
typedef struct sim_leaving {
    sim_node_t *from;
    void *message;
    uint32_t place;  // of the rank among this one's neighbours
    uint32_t node;   // receiver
    uint32_t window; // its lower bits, or FAR and the port: kernel/engine/ranks.c
    uint64_t key;
} sim_leaving_t;
#define SIM_LEAVING 16u // messages that wait until their parts are in the cache; a power of two

// One thread of execution.
typedef struct sim_thread {
    sim_worker_t worker; // first
    sim_t *sim;
    sim_seat_t *seats;         // by bit index - first_bit
    const sim_seat_t **agenda; // of the window being run; room for all seats
    uint32_t first_bit;        // multiple of 64
    uint32_t end_bit;
    sim_mailbox_t *lent; // the node being run reads this mailbox in place; NULL: it reads the batch
    unsigned lent_by;    // thread that owns `lent`
    sim_mail_t *batch;   // sorted mail of the unit being run, if it has one node
    size_t batch_capacity;
    sim_mail_t *stage; // mail gathered from several sources, not yet sorted
    size_t stage_capacity;
    uint32_t *histogram;
    size_t histogram_capacity;
    sim_mail_t *free_mail[SIM_MAIL_CLASSES]; // unused mailboxes, linked through their first entry
    // Mailboxes of other threads that this one has read, by thread and parity of the window, linked
    // likewise; the key of their first entry is their class.
    sim_mail_t *returned[SIM_THREADS_MAX][2];
    sim_appointments_t appointments;           // heap by window
    sim_parcels_t parcels[SIM_THREADS_MAX][2]; // by destination thread and parity of the window
    sim_sampler_t **samplers;
    size_t sampler_count;
    sim_time_t sample_next_ps; // when the earliest of them is due
    sim_time_t record_end_ps;  // records put now are before this and not before the window
    sim_line_t line;           // ties by insertion
    // messages for nodes of other ranks
    sim_leaving_t leaving[SIM_LEAVING]; // those taken last: a ring
    uint64_t left_count;                // messages that went from there into a buffer
    sim_buffer_t *away;                 // by neighbouring rank
    uint64_t *away_due;  // by neighbouring rank: first window with an arrival; SIM_NO_WINDOW: none
    uint64_t away_count; // all since the run began
    uint64_t *inner;     // by bit - first_bit: units that no channel joins with another rank
    // published at the barrier
    uint64_t next_window; // the next one in which this thread has something to do
    uint64_t share_ns;    // wall time of its part of the window
    bool cut;             // the time limit left mail unread
    uint64_t digest;      // of its nodes, after the run
} sim_thread_t;

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
    struct sim_far_fifo **far;        // by channel index; NULL until something took the far path
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

// Returns the thread that runs the node.
static inline sim_thread_t *sim__thread_of(const sim_node_t *node)
{
    return (sim_thread_t *)(void *)node->worker;
}

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
    return (sim->channel_count + 1) * sizeof(struct sim_far_fifo *);
}
// Returns the channel's far messages; NULL: there were none so far.
static inline struct sim_far_fifo *sim__far(const sim_t *sim, const sim_channel_t *channel)
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

// Marks that the unit has something to do in the window of this slot.
static inline void sim__mark_active(sim_thread_t *thread, uint32_t slot, const sim_unit_t *unit)
{
    thread->worker.active[slot][unit->index >> 6] |= UINT64_C(1) << (unit->index & 63);
    thread->worker.slot_used[slot] = true;
}

// -- partition.c, deal.c

// Makes sim->units, threads and window_ps from nodes and channels. Called once.
void sim__partition(sim_t *sim);

// Deals units, and the samplers of their nodes, to the threads. Called once.
void sim__deal(sim_t *sim);
// Returns the size of a thread's mailboxes, which begin at worker.boxes[0]. In ranks they are from
// sim_alloc_sparse.
size_t sim__mailboxes_bytes(const sim_t *sim);

// -- ranks.c

// Frees a thread's buffers for other ranks.
void sim__ranks_free_away(sim_thread_t *thread);

// Finds the inner units of this rank's threads, and whether windows may begin early at all.
void sim__early_find(sim_t *sim);
// Returns whether this rank may begin the next window before it has met the others after the
// present one. `own` holds its numbers.
bool sim__early_may_begin(const sim_t *sim, const sim__seen_t *own);
// Runs the inner units of all threads through the next window. Thread 0 calls it; the others wait
// for it at the meeting after a window, but where thread 0 runs windows alone.
void sim__early_begin(sim_t *sim);

// -- kernel/fast_forward/shift.c

// Drops or takes up colours as was asked for, when a window was run.
void sim__change_colours(sim_t *sim);

// -- sim.c

extern const sim_mail_t sim__no_mail[SIM_MAIL_PAD]; // mail of a node that has none in this window
sim_thread_t *sim__thread_create(sim_t *sim, unsigned index);
void sim__thread_destroy(sim_thread_t *thread);

// -- mail.c

// Gathers a node's arrivals of this window in node->mail, sorted, with a sentinel (key UINT64_MAX)
// behind them. Entries behind the sentinel are no messages: they may be prefetched, never read.
void sim__gather_mail(sim_thread_t *thread, sim_node_t *node);
// Recycles the mailbox that a node, alone in its unit, has read in place.
void sim__mail_done(sim_thread_t *thread);
// Takes over the parcels that other threads sent in the window before.
void sim__receive_parcels(sim_thread_t *thread);
// Adds the message to a mailbox of the slot that is full, in larger memory.
void sim__mailbox_grow(sim_worker_t *worker, uint32_t slot, sim_mailbox_t *box,
                       const sim_channel_t *channel, sim_time_t within_ps, void *message);
// Sends a message whose arrival lies beyond the slots.
void sim__parcel_send(sim_thread_t *thread, sim_channel_t *channel, sim_time_t arrive_ps,
                      void *message);
// Takes the channel's next far message if it arrives in this window. False: it does not, or there
// is none.
bool sim__far_take(sim_thread_t *thread, const sim_node_t *node, const sim_channel_t *channel,
                   sim_far_letter_t *letter);
// Puts a message into the thread's mailbox of that slot for the node, which this rank runs, and
// marks the node's unit as active.
void sim__mailbox_put(sim_thread_t *thread, uint32_t slot, uint32_t node, sim_mail_t mail);
// Frees the memory of one of the thread's mailboxes.
void sim__mailbox_empty(sim_thread_t *thread, sim_mailbox_t *box);
// Puts the mail that the node has not taken back into its thread's mailbox of this window.
void sim__mail_return(sim_thread_t *thread, const sim_node_t *node);

// -- mail.c, window.c, sort.c: the slots of sim__order_by_hash (kernel/order/ops.h)

void sim__send_by_slots(sim_node_t *from, sim_channel_t *channel, sim_time_t arrive_ps,
                        void *message);
void sim__wake_with_room(sim_node_t *node, sim_time_t time_ps, uint32_t port);
void sim__run_units(sim_thread_t *thread, sim_time_t end_ps);
void sim__sort_by_rank(sim_node_t *node, sim_mail_t *mail, size_t count);
// Leaves messages behind the end of a clipped window as they are: they are sorted again.
void sim__sort_by_rotor(sim_node_t *node, sim_mail_t *mail, size_t count);

// -- kernel/order/rotor.c

// Counts a tie of the node at time_ps, which is not before that of the one before, and returns its
// number since the node's last rest, modulo SIM__ROTOR_TURNS.
#define SIM__ROTOR_TURNS 16u
uint64_t sim__rotor_turn(sim_node_t *node, sim_time_t time_ps);

// -- timer.c

// Arms a timer with a number that was taken for it.
void sim__timer_arm_as(sim_node_t *node, sim_timer_t *timer, sim_time_t time_ps, uint64_t number);

// -- window.c

// Runs the thread's units through sim->window.
void sim__run_window(sim_thread_t *thread);
// Runs the thread's inner units through sim->window; sim__run_window then runs the rest of the
// window.
void sim__run_early(sim_thread_t *thread);
// Runs all samplers of this thread's nodes that are due before bound_ps.
void sim__sample_until(sim_thread_t *thread, sim_time_t bound_ps);
// Puts a node whose next event may have become earlier into its place in its unit's heap.
void sim__heap_lower(sim_unit_t *unit, sim_node_t *node);

// -- appoint.c

// Schedules the unit, which this thread runs, for the window that holds time_ps: a later one than
// the current, or any before the run has begun.
void sim__appoint(sim_thread_t *thread, sim_unit_t *unit, sim_time_t time_ps);
// Marks units with an appointment in sim->window as active, as it begins.
void sim__keep_appointments(sim_thread_t *thread);
// Appoints all units of a thread anew, for when they are due next.
void sim__appoint_all(sim_thread_t *thread);
// Sets thread->next_window, as sim->window ends for this thread.
void sim__publish_next(sim_thread_t *thread);
// Returns, between windows, whether everything due in `window`, which is the next, was cancelled or
// moved meanwhile. Removes units from its map that have nothing left to do in it.
bool sim__is_empty(const sim_t *sim, uint64_t window);
// Passes an empty window as if it had been run.
void sim__pass_empty(sim_t *sim, uint64_t window);

// -- record.c

// Hands all records before end_ps to their streams, keeps the others, and returns how many it
// handed on.
size_t sim__streams_flush(sim_t *sim, sim_time_t end_ps);
// Returns how many records the streams hold.
uint64_t sim__streams_held(const sim_t *sim);
void sim__stream_destroy(struct sim_stream *stream);

// Returns how many timers of the node are armed, background timers included.
static inline uint32_t sim__timers_armed(const sim_node_t *node)
{
    return node->timer_count + (node->wheel == NULL ? 0 : node->wheel->count);
}

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
