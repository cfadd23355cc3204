// SPDX-License-Identifier: Apache-2.0
// kernel/ranks.h - one simulation in several processes, called ranks, on one machine or on many.
//
// Every rank registers the same nodes. Each node belongs to one rank, which alone runs it; in other
// ranks it has a number and a name, and channels only to nodes of theirs. All ranks run the same
// windows in step. After a window each sends its neighbours the messages for their nodes, and all
// agree on the next window. While only one rank has anything to do, it runs windows alone. The
// result is that of one process, whatever the number of ranks.
//
// The kernel knows no network of machines: a program gives it a table of operations, as
// cli/ranks_mpi.c does for MPI. Ties must go by hash.
#ifndef KERNEL_RANKS_H
#define KERNEL_RANKS_H

#include "kernel/buffer.h"
#include "kernel/record.h"

SIM_C_BEGIN

#define SIM_RANKS_MAX 1024u

// The windows in which ranks have something to do; UINT64_MAX: there is none.
typedef struct sim_ranks_due {
    uint64_t first;  // of all ranks
    uint64_t rank;   // one that has something to do in it
    uint64_t second; // of all ranks but that one
} sim_ranks_due_t;

// Numbers on which ranks agree.
#define SIM_RANKS_LEAST 3u
#define SIM_RANKS_SUMS 8u
#define SIM_RANKS_LATEST 6u
typedef struct sim_ranks_view {
    uint64_t least[SIM_RANKS_LEAST];   // each is the least one of all ranks
    uint64_t sums[SIM_RANKS_SUMS];     // each is the sum over all ranks
    uint64_t latest[SIM_RANKS_LATEST]; // those of the rank with the largest latest[0]
    sim_ranks_due_t due;
} sim_ranks_view_t;

// Puts together what two ranks, or two sets of ranks, say. The order of calls does not matter.
void sim_ranks_combine(const sim_ranks_view_t *from, sim_ranks_view_t *into);

#define SIM_RANKS_HEAD 192u

// Takes the bytes that one rank gave.
typedef void (*sim_ranks_take_fn)(unsigned rank, const void *bytes, size_t size, void *ctx);

// The ways in which ranks talk. All ranks call the same operations in the same order; each call
// returns when this rank has what it needs.
typedef struct sim_ranks_ops {
    // Begins to give out[i] to rank others[i], and to replace in[i] by what that rank gives and the
    // numbers of the view by those of all ranks. `others` is symmetric: two ranks either both name
    // each other or neither does. The first SIM_RANKS_HEAD bytes of all buffers are for the
    // operation's own use: it sends a buffer as it lies. The caller leaves buffers and view alone
    // until finish_exchange returns.
    void (*begin_exchange)(void *ctx, const unsigned *others, size_t count, sim_buffer_t *out,
                           sim_buffer_t *in, sim_ranks_view_t *view);
    // Moves bytes on their way while the caller has other things to do. May do nothing.
    void (*poll)(void *ctx);
    void (*finish_exchange)(void *ctx);
    // Replaces the numbers of the view by those of all ranks.
    void (*agree)(void *ctx, sim_ranks_view_t *view);
    // Brings each rank's bytes to rank 0, which calls take for every rank, itself included, in
    // order. Other ranks call nothing.
    void (*collect)(void *ctx, const void *bytes, size_t size, sim_ranks_take_fn take,
                    void *take_ctx);
} sim_ranks_ops_t;

typedef struct sim_ranks {
    const sim_ranks_ops_t *ops;
    void *ctx;      // of the operations
    unsigned rank;  // of this process, below count
    unsigned count; // 1..SIM_RANKS_MAX
} sim_ranks_t;

// Carries the messages of a simulation from rank to rank. `from` is the sender, whose thread calls;
// `to` is the receiver, at its own rank.
typedef struct sim_codec {
    // Appends the message, and returns its memory as the receiver would.
    void (*leave)(void *ctx, sim_node_t *from, void *message, sim_buffer_t *bytes);
    // Prefetches the parts of a message that leaves soon, but for its first cache line, which is
    // at hand.
    void (*warm)(void *ctx, const void *message);
    // Makes the message again, in memory of the receiver's worker.
    void *(*arrive)(void *ctx, sim_node_t *to, sim_reader_t *bytes);
} sim_codec_t;

// Sets the codec, which is borrowed, for all messages. Before sim_run.
void sim_set_codec(sim_t *sim, const sim_codec_t *codec, void *ctx);

// Runs the simulation in these ranks, which are borrowed. Before sim_run; needs a codec, and
// options without fifo_ties.
void sim_use_ranks(sim_t *sim, const sim_ranks_t *ranks);
// Returns the ranks; NULL: the simulation runs in this process alone.
const sim_ranks_t *sim_ranks(const sim_t *sim);

// A link between two nodes, given by their numbers: a channel in each direction.
typedef struct sim_network_link {
    uint32_t a;
    uint32_t b;
    sim_time_t delay_ps;
} sim_network_link_t;
typedef void (*sim_link_fn)(const void *ctx, size_t link, sim_network_link_t *at);

// Names all links of the network, from which all ranks find the same windows. Without a call, every
// rank must create all channels. ctx is borrowed. Before sim_run.
void sim_set_links(sim_t *sim, size_t count, sim_link_fn fn, const void *ctx);

// Finds the nodes that one rank must run together, because links between them are too short for
// windows: sets unit_of[i] to the lowest number of a node that node i runs with. After
// sim_set_links.
void sim_find_units(sim_t *sim, uint32_t *unit_of);

// Gives each node to a rank, by its number; the nodes of a unit to one. All ranks make the same
// call. Without one, runs of nodes in the order of their registration go to the ranks.
void sim_seat(sim_t *sim, const uint16_t *rank_of);

// Returns whether sim_seat was called.
bool sim_is_seated(const sim_t *sim);

// Returns whether this rank runs the node of that number, which need not exist. After sim_seat or
// in sim_run; always true in one process.
bool sim_is_here(const sim_t *sim, size_t node);

// Destroys a node that another rank runs, and leaves its number empty. No channel, timer or sampler
// knows it. After sim_seat, before sim_run.
void sim_node_vacate(sim_node_t *node);

// Registers a node under a number that sim_node_vacate left empty. It may come while the simulation
// runs, from any thread; calls must not overlap.
void sim_node_return(sim_t *sim, sim_node_t *node, const sim_node_ops_t *ops, const char *name,
                     size_t number);

// Returns whether this rank runs the node. After sim_seat or in sim_run; always true in one
// process.
bool sim_node_is_here(const sim_node_t *node);

// Numbers of the program's own that ranks sum up while they run, for their progress.
#define SIM_RANKS_TOLD 2u
// Sets this rank's number, between windows (sim_on_window).
void sim_ranks_tell(sim_t *sim, unsigned number, uint64_t value);
// Returns the sum over all ranks, as of the last window.
uint64_t sim_ranks_told(const sim_t *sim, unsigned number);

// Carries state of nodes from the rank that ran them to rank 0. One function describes a struct for
// both directions: each call appends a value at the rank that leaves it, and replaces the value at
// rank 0. Both ranks built the same structs, so values come in the same order. Pointers stay.
typedef struct sim_carry {
    unsigned rank;      // whose nodes are carried
    sim_buffer_t *to;   // NULL: values are taken
    sim_reader_t *from; // NULL: values are left
} sim_carry_t;

static inline bool sim_carry_leaves(const sim_carry_t *carry)
{
    return carry->to != NULL;
}
// Return whether the carried rank ran the node. Only then its state is carried. The second one
// needs the node's number alone.
bool sim_carry_has(const sim_carry_t *carry, const sim_node_t *node);
bool sim_carry_has_number(const sim_carry_t *carry, const sim_t *sim, size_t node);
// Carries `bytes` bytes that hold no pointer.
void sim_carry(sim_carry_t *carry, void *value, size_t bytes);
// Carries a field or an element; `size_t` counts included.
#define SIM_CARRY(carry, lvalue) sim_carry(carry, &(lvalue), sizeof(lvalue))
// Carries neighbouring fields of a struct, from `first` to `last`, none of them a pointer.
#define SIM_CARRY_FIELDS(carry, object, first, last) \
    sim_carry(                                       \
        carry, &(object)->first,                     \
        (size_t)((unsigned char *)(&(object)->last + 1) - (unsigned char *)&(object)->first))
// Carries a growing array (SIM_GROW) whose elements hold no pointer: rank 0 gets one of that size.
#define SIM_CARRY_LIST(carry, items, count, capacity) \
    ((items) = sim__carry_list(carry, items, &(count), &(capacity), sizeof(*(items))))
void *sim__carry_list(sim_carry_t *carry, void *items, size_t *count, size_t *capacity,
                      size_t size);

// Carries bytes that the owner frees with sim_free: rank 0 frees its own and gets a copy. NULL is
// carried, too. A copy ends with a zero byte, so texts have a size of their length.
void sim_carry_block(sim_carry_t *carry, char **bytes, size_t *size);

// Costs of a run in ranks for this rank, after sim_run.
typedef struct sim_ranks_cost {
    uint64_t windows;      // after which all ranks met
    uint64_t alone;        // that this rank ran without meeting the others
    uint64_t early;        // that this rank began before it had the others' messages
    uint64_t agreements;   // calls of sim_ranks_ops_t.agree
    uint64_t messages_out; // number of messages to nodes of other ranks
    uint64_t bytes_out;    // bytes of these messages
    uint64_t events;       // of this rank's nodes
    double waited_s;       // wall time in exchange, agree and collect
} sim_ranks_cost_t;
void sim_ranks_cost(const sim_t *sim, sim_ranks_cost_t *cost);

// Makes the records of a stream fit to be carried to rank 0, where all records are handed on: pack
// replaces pointers in a copy of a record by numbers, unpack does the reverse at rank 0. Without a
// call, records are carried as they are and must hold no pointers that are followed.
typedef void (*sim_record_change_fn)(void *record, size_t record_bytes, void *ctx);
void sim_stream_carry(sim_stream_t *stream, sim_record_change_fn pack, sim_record_change_fn unpack);

SIM_C_END

#endif // KERNEL_RANKS_H
