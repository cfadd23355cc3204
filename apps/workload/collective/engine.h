// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/engine.h - the state of collectives that run.
//
// A member is a rank in a group. Its calls run one after the other. engine.c takes the steps of the
// program's blocks, and connection.c moves their messages. Only events of a rank's host touch its
// members; plans and layouts never change.
#ifndef APPS_WORKLOAD_COLLECTIVE_ENGINE_H
#define APPS_WORKLOAD_COLLECTIVE_ENGINE_H

#include "apps/workload/collective/choose.h"
#include "apps/workload/collective/msccl/msccl.h"
#include "apps/workload/collective/program.h"
#include "apps/workload/internal.h"
#include "kernel/map.h"

#define APP__COLL_WINDOW_MAX 64u // messages of a connection that wait in its buffer, at most

// How a call is done: the same for all of a group's calls that are alike.
typedef struct app__coll_plan {
    app__program_t program;
    app__cut_t cut;
    app__protocol_t protocol;
    uint32_t group;
    double expected_us; // by NCCL's constants; 0: none
    app__coll_latency_t latency;
    uint64_t local_bps; // of messages within a node
    uint64_t bytes;
    const uint64_t *matrix;
    app__dimension_t dimension;
    bool barrier;
    uint32_t width;       // channels that do the same at the same time; 1: each for itself
    uint64_t slice_bytes; // of a message, at most
    uint32_t slices;      // of a chunk; 0: as many as it has of slice_bytes
    uint32_t window;      // messages of a connection under way, at most; 0: any number
} app__coll_plan_t;

typedef struct app__member app__member_t;
typedef struct app__collectives app__collectives_t;

// Numbers that end in any order: all below `next` have ended, and next + 1 + i if bit i is set.
typedef struct app__sequence {
    uint32_t next;
    uint64_t ahead;
} app__sequence_t;

typedef struct app__coll_message {
    uint64_t bytes; // on the wire
    uint64_t local_bps;
    sim_time_t due_ps;
    uint32_t record; // in the rank's records, or APP__NO_RECORD
    uint32_t place;  // among the connection's messages of its call
    uint16_t what;   // of its step: APP__STEP_FINAL, APP__STEP_SPREAD
} app__coll_message_t;

// The queue pair of a connection, or of one message of it.
typedef struct app__slot {
    nic_qp_t *qp;             // NULL: not made yet
    app__passive_t *accepted; // the runtime's note of a queue pair that a packet made
} app__slot_t;

// One end of a connection: messages from one member to another on one lane.
typedef struct app__conn {
    app__active_t active; // first: completions of sends find it
    app__member_t *member;
    uint32_t peer; // number in the group
    uint32_t lane;
    bool incoming;
    bool local;              // within a host
    app__passers_t stream;   // incoming and local: messages that pass a link
    uint32_t waiter;         // block that waits for a message, or for room; or APP__NO_BLOCK
    sim_link_t link;         // among those of the member
    struct app__conn *other; // local: the other end
    app__slot_t *slots;
    uint32_t phase;      // place of the next message among the queue pairs: repeat/memo.c sets it
    uint32_t call;       // operation of the call that its latest messages are of
    uint32_t call_first; // number of the first of them
    // outgoing: messages are filled by a block, allowed by the receiver, posted, acknowledged
    uint32_t filled;
    uint32_t posted;
    app__sequence_t allowed;
    // local: taken out of the receiver's buffer; incoming: clear-to-sends that are acknowledged
    app__sequence_t acked;
    app__coll_message_t *messages; // ring: those from acked.next to filled
    uint32_t message_capacity;
    sim_timer_t timer; // until the first message is due
    // incoming
    sim_list_t comings; // messages that the block learns of later
    app__sequence_t arrived;
    app__sequence_t visible; // to the block: with arrival acknowledged, later than arrived
    sim_time_t ack_ps;       // that much later
    uint32_t consumed;
    uint32_t permitted; // clear-to-send was sent for those below
    uint32_t permitter; // block that waits until it may send one; or APP__NO_BLOCK
    uint32_t closed;    // queue pairs of messages below are gone
    app__passive_t passive;
} app__conn_t;

// Where a block is.
typedef struct app__place {
    uint32_t loop;
    uint32_t step;
    uint32_t slice;
} app__place_t;

// A step at a place: what it does and how it is sliced.
typedef struct app__coll_look {
    app__step_t step;
    uint64_t bytes; // of the step
    uint64_t slice_bytes;
    uint32_t slices;
} app__coll_look_t;

typedef struct app__coll_block {
    app__place_t at;
    bool looked;           // the next three are of the step at hand
    app__coll_look_t look; // kept, since each slice looks twice: when it waits, and when it goes on
    app__conn_t *from;     // that the step receives by; NULL: it does not
    app__conn_t *to;       // that it sends by; NULL: it does not
    app__place_t permit;   // first receive that has no clear-to-send
    uint32_t steps;
    uint32_t channel;
    uint32_t awaits;  // block whose step this one waits for; APP__NO_BLOCK: none
    uint32_t waiters; // blocks that wait for a step of this one
    bool permits;     // it receives from other hosts, which wait for clear-to-sends
    bool busy;        // moves or reduces
    bool handled;     // the slice at hand
    bool done;
} app__coll_block_t;

typedef struct app__coll_timer {
    sim_timer_t timer;
    app__member_t *member;
    uint32_t block;
} app__coll_timer_t;

// A call that runs at a member.
typedef struct app__coll_run {
    const app__coll_plan_t *plan;
    uint32_t op;
    uint32_t left; // blocks
    uint32_t block_count;
    app__coll_block_t *blocks;
    app__coll_timer_t *timers; // of blocks that are busy; NULL: they take no time
    app__coll_timer_t begin;   // of the blocks, after the latency of the call
} app__coll_run_t;

struct app__member {
    app__collectives_t *all;
    app__rank_t *rank;
    uint32_t group;
    uint32_t number;       // within the group
    uint64_t *position;    // per port of the rank: of its first QP number
    app__op_queue_t calls; // that wait
    app__coll_run_t *run;  // NULL: none
    uint32_t unsent;       // messages whose memory the NIC still needs
    sim_list_t conns;
    sim_map_t conn_of; // connections by peer, lane and direction
};

typedef struct app__coll_group {
    app__layout_t layout;
    app__member_t *members; // by number
    bool inside;            // all of them are on one host
    uint32_t lanes;         // most of its plans
    uint32_t width;         // that of all its plans; 1: they differ
    bool joined;            // blocks of channel 0 stand for all channels
} app__coll_group_t;

// Something to do at a member: advance a block, or start its next call.
typedef struct app__coll_work {
    app__member_t *member;
    uint32_t block; // APP__NO_BLOCK: none
} app__coll_work_t;

// The work of a host's members, in the order in which it came up.
typedef struct app__coll_host {
    app__coll_work_t *work;
    size_t work_count;
    size_t work_capacity;
    bool working;
    sim_list_t spare_comings;
} app__coll_host_t;

// A message for flows.csv.
typedef struct app__coll_record {
    sim_time_t start_ps;
    sim_time_t end_ps;
    uint64_t bytes;
    uint32_t source; // interfaces
    uint32_t destination;
    uint32_t source_qp; // numbers of queue pairs
    uint32_t destination_qp;
    uint16_t udp_source_port;
    bool local;
    bool failed;
    nic_wr_opcode_t opcode;
} app__coll_record_t;
#define APP__NO_RECORD UINT32_MAX

// The state of a rank for its collectives.
typedef struct app__coll_rank {
    app__member_t **members; // by group
    uint32_t member_count;
    app__coll_host_t *host;
    uint32_t node;        // number of its node
    uint32_t rail;        // its place among the ranks of its node
    uint32_t domain_port; // port that leads to its node only; UINT32_MAX: none
    app__coll_record_t *records;
    size_t record_count;
    size_t record_capacity;
    uint64_t messages;
    uint64_t bytes; // sent, on the wire
} app__coll_rank_t;

struct app__collectives {
    app__workload_t *workload;
    app__coll_options_t options;
    app__msccl_t file; // the algorithm that options.algorithm_file names; program NULL: none
    bool file_used;    // by some plan
    const app__algorithm_t *wanted; // options.algorithm; NULL: auto
    bool wanted_used;               // by some plan
    const char *refusal;            // why it cannot do some call; NULL: it can
    app__coll_plan_t *plans;
    size_t plan_count;
    size_t plan_capacity;
    uint32_t *plan_of; // per call
    app__coll_group_t *groups;
    app__coll_rank_t *ranks;
    app__coll_host_t *hosts;
    uint32_t host_count;
    uint32_t slots;       // queue pairs of a connection: those that stay, or of messages under way
    uint64_t records_max; // of a rank
    uint64_t first_flow_id;
};

// -- layout.c

// Fills collectives->ranks' hosts, nodes and rails, and the layouts of groups, with `inside`.
void app__coll_layouts(app__collectives_t *collectives);

// -- plan.c

// Decides how each call is done. SIM_ERR_INVALID: an algorithm cannot do one; the message begins
// with the name of an attribute.
SIM_MUST_CHECK sim_err_t app__coll_plan_all(app__collectives_t *collectives,
                                            sim_message_t *message);
const char *app__protocol_name(app__protocol_t protocol);
// Returns the bytes of a step in a loop.
uint64_t app__coll_step_bytes(const app__coll_plan_t *plan, const app__step_t *step, uint32_t loop);
// Returns how many slices a step of so many bytes has, and their size: the last one may be smaller.
uint32_t app__coll_slices(const app__coll_plan_t *plan, uint64_t bytes, uint64_t *slice_bytes);
// Returns the bytes that the protocol sends for so many of data in a step that does `what`.
uint64_t app__coll_wire_bytes(const app__coll_plan_t *plan, uint64_t bytes, uint16_t what);

// -- engine.c

void app__coll_wake(app__member_t *member, uint32_t block); // adds work; app__coll_work_all does it
void app__coll_work_all(app__coll_host_t *host);

// -- describe.c

// Checks that ranks reach those that they send to. SIM_ERR_INVALID: the message begins with
// "hosts".
SIM_MUST_CHECK sim_err_t app__coll_check_paths(const app__collectives_t *collectives,
                                               sim_message_t *message);

// -- loads.c

// The load of a plan: the messages of all its calls, and the least time of one call.
typedef struct app__coll_load {
    double messages; // of all calls and ranks
    double local_messages;
    double bytes;   // of all messages, on the wire
    double streams; // connections, more or less: runs of messages of one block to one peer
    double local_streams;
    double send_s;   // of one call: the NICs or NVLink of some rank send for so long
    double fill_s;   // of one call: the NVSwitch spreads a loop's sums, when all is handed in
    double serial_s; // of one call: the messages of one block one after the other, on average
    uint32_t rounds; // messages that follow one another in one loop of a call
    uint32_t from;   // interfaces of a message between hosts; APP__NO_RANK: none
    uint32_t to;
} app__coll_load_t;

// Sums up so many calls of a plan from some of its ranks. Adds what each port sends to port_bytes
// (by port of the workload; may be NULL), and calls fn (may be NULL) for the messages of a stream.
app__coll_load_t app__coll_load(const app__collectives_t *all, const app__coll_plan_t *plan,
                                uint64_t calls, double *port_bytes, app_load_fn fn, void *ctx);
// Returns how many calls each plan has. The caller frees it with sim_free.
uint64_t *app__coll_calls(const app__collectives_t *all);

// -- flows.c

// Calls fn for the messages of collectives that were recorded, in order of their starts.
void app__coll_flows(const app__collectives_t *collectives, app_flow_fn fn, void *ctx);

// -- queue_pairs.c

#define APP__CONN_SLOTS 32u      // queue pairs of a connection that has one for each message
#define APP__CONN_POSTED_MAX 16u // messages of a connection that are posted and not acknowledged

// The two ends of the queue pair of a message.
typedef struct app__ends {
    const app__port_t *own;
    const app__port_t *peer;
    uint32_t own_number;
    uint32_t peer_number;
} app__ends_t;

static inline app__coll_rank_t *app__member_rank(const app__member_t *member)
{
    return &member->all->ranks[member->rank->number];
}

static inline app__member_t *app__conn_peer(const app__conn_t *conn)
{
    return &conn->member->all->groups[conn->member->group].members[conn->peer];
}

// Returns how many channels a block of a member stands for, and a message.
static inline uint32_t app__member_width(const app__member_t *member)
{
    const app__coll_group_t *const group = &member->all->groups[member->group];
    return group->joined ? group->width : 1;
}

// Counts the events of the other channels that an event of a block or a message stands for.
static inline void app__count_others(const app__member_t *member)
{
    member->rank->node->events += app__member_width(member) - 1;
}

// Returns whether the connection's queue pairs stay.
static inline bool app__conn_permanent(const app__conn_t *conn)
{
    return conn->member->all->options.queue_pairs == APP__QPS_PERMANENT;
}

static inline bool app__conn_has_cts(const app__conn_t *conn)
{
    return conn->member->all->options.protocol != APP__PROTOCOL_PLAIN;
}

app__ends_t app__conn_ends(const app__conn_t *conn, uint32_t message);
// Returns the queue pair of a message, making it if there is none yet.
nic_qp_t *app__conn_qp(app__conn_t *conn, uint32_t message);
void app__conn_end_qp(app__conn_t *conn, uint32_t message);
void app__conn_post_receive(app__conn_t *conn, nic_qp_t *qp, uint32_t message);
// Members of app__conn_range_ops.
sim_time_t app__conn_passive_from_ps(const void *owner, uint32_t interface, uint64_t offset);
void app__conn_accept(void *owner, app__endpoint_t *endpoint, uint64_t offset,
                      app__passive_t *passive);
bool app__conn_is_finished(void *owner, const app__passive_t *passive);

// -- connection.c

extern const app__range_ops_t app__conn_range_ops;
// Takes a clear-to-send, or a message without an immediate, that a queue pair has written.
void app__conn_cts_arrived(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx);
void app__conn_write_arrived(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx);
// Finds or makes the end of a connection at a member.
app__conn_t *app__conn(app__member_t *member, uint32_t peer, uint32_t lane, bool incoming);
bool app__conn_has_room(const app__conn_t *conn, uint32_t window);
// Sends the data of a step that does `what`.
void app__conn_send(app__conn_t *conn, const app__coll_plan_t *plan, uint64_t bytes, uint16_t what);
// Returns whether a block may send a clear-to-send; if not, the block is woken when it may.
bool app__conn_may_permit(app__conn_t *conn, uint32_t window, uint32_t block);
void app__conn_permit(app__conn_t *conn); // sends a clear-to-send
void app__conn_consume(app__conn_t *conn);
void app__conns_reserve(app__collectives_t *collectives); // QP numbers of all members
void app__conns_fini(app__member_t *member);
bool app__conns_quiet(const app__member_t *member); // all messages have arrived, and it is known
void app__conns_retire(app__member_t *member);      // frees all connections
// Sets the ports of the two ends of a connection for the message `number`.
void app__conn_ports(const app__member_t *own, const app__member_t *peer, uint32_t lane,
                     uint32_t number, const app__port_t **own_port, const app__port_t **peer_port);

#endif // APPS_WORKLOAD_COLLECTIVE_ENGINE_H
