// SPDX-License-Identifier: Apache-2.0
// apps/workload/internal.h - the state of a schedule that runs on hosts.
//
// A rank is a program on one host, which places.c chooses. Its operations go through these parts:
// execute.c starts them and runs their processors, match.c pairs messages with receives, and
// channels.c moves messages over queue pairs. Only events of the rank's host touch a rank; the
// schedule never changes.
#ifndef APPS_WORKLOAD_INTERNAL_H
#define APPS_WORKLOAD_INTERNAL_H

#include "apps/channel/channel.h"
#include "apps/channel/local.h"
#include "apps/workload/collective/options.h"
#include "apps/workload/loggp.h"
#include "apps/workload/schedule.h"
#include "kernel/random.h"
#include "kernel/ring.h"

#define APP__NO_OP UINT32_MAX
#define APP__NO_PORT UINT32_MAX

typedef enum app__network { APP__NETWORK_PACKETS, APP__NETWORK_IDEAL } app__network_t;

typedef enum app__send_order { APP__SEND_IN_TURN, APP__SEND_IN_ORDER } app__send_order_t;

typedef enum app__map {
    APP__MAP_PACKED,
    APP__MAP_ROUND_ROBIN,
    APP__MAP_RANDOM,
    APP__MAP_LIST
} app__map_t;

// How a schedule runs on hosts: settings of every application that runs one. APP__WORKLOAD_ATTRS
// has a row for each.
typedef struct app__workload_options {
    const char *title; // what the schedule is, in messages: the name of its file; borrowed
    char *hosts;
    app__map_t map;
    char *places; // for APP__MAP_LIST: the place of each rank; during creation only
    sim_time_t start_ps;
    app__network_t network;
    app__send_order_t send_order;
    uint64_t send_window_bytes;
    sim_time_t calc_grid_ps; // computations end at multiples of it; 0: at any time
    app__loggp_t loggp;      // costs of processors and NICs; L and G: of the ideal network only
    uint64_t local_bps;      // between ranks of one host
    sim_time_t local_ps;
    app__coll_options_t collective;
} app__workload_options_t;

// The rows of the options, which are the field `member` of the configuration `type`.
// clang-format off
#define APP__WORKLOAD_ATTRS(prefix, type, member)                                                  \
    SIM_ATTR(prefix ".hosts", STRING, type, member.hosts,                                          \
             .default_text = "*",                                                                  \
             .help = "hosts that the ranks run on"),                                               \
    SIM_ATTR(prefix ".map", ENUM, type, member.map,                                                \
             .default_text = "packed", .choices = "packed|round-robin|random|list",                \
             .help = "order in which ranks take places: NIC by NIC, host by host, drawn by the "   \
                     "seed, or as places lists them"),                                             \
    SIM_ATTR(prefix ".places", STRING, type, member.places,                                        \
             .default_text = "",                                                                   \
             .help = "places of the ranks with map: list, by number from 0, such as 0 4 1 5; a "   \
                     "place is a NIC of a host, or a host if the file numbers NICs"),              \
    SIM_ATTR(prefix ".start", TIME, type, member.start_ps,                                         \
             .default_text = "0s", .min_text = "0s", .max_text = "10000s",                         \
             .help = "time at which all ranks begin"),                                             \
    SIM_ATTR(prefix ".network-model", ENUM, type, member.network,                                  \
             .default_text = "packets", .choices = "packets|ideal",                                \
             .help = "the network of messages: the simulated one, or an ideal one with LogGP's "   \
                     "L and G and no packets"),                                                    \
    SIM_ATTR(prefix ".semantics", ENUM, type, member.loggp.semantics,                              \
             .default_text = "atlahs", .choices = "spcl|atlahs",                                   \
             .help = "rules for receivers: those of LogGOPSim, which takes a message on the "      \
                     "processor of its send, or those of ATLAHS, on that of its receive"),         \
    SIM_ATTR(prefix ".ties", ENUM, type, member.loggp.ties,                                   \
             .default_text = "file", .choices = "file|heap",                                       \
             .help = "order of events of one instant on the ideal network: that of the file, or "  \
                     "that of ATLAHS's own program, which breaks the order of receives"),          \
    SIM_ATTR(prefix ".latency", TIME, type, member.loggp.latency_ps,                               \
             .default_text = "3700ns", .min_text = "0s", .max_text = "1s",                         \
             .help = "time of a message in the ideal network (L of LogGP)"),                       \
    SIM_ATTR(prefix ".byte-gap", TIME, type, member.loggp.byte_gap_ps,                             \
             .default_text = "40ps", .min_text = "0s", .max_text = "100ns",                        \
             .help = "time of a byte in the ideal network (G of LogGP); 40 ps are 200 Gbps"),      \
    SIM_ATTR(prefix ".gap", TIME, type, member.loggp.gap_ps,                                       \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "time between two messages that a NIC sends or receives (g of LogGP)"),       \
    SIM_ATTR(prefix ".byte-overhead", TIME, type, member.loggp.byte_overhead_ps,                   \
             .default_text = "0s", .min_text = "0s", .max_text = "100ns",                          \
             .help = "time of a processor for each byte of a message after the first (O of "       \
                     "LogGOPS)"),                                                                  \
    SIM_ATTR(prefix ".eager-max", BYTES, type, member.loggp.eager_max_bytes,                       \
             .default_text = "1TiB", .min_text = "0", .max_text = "1TiB",                          \
             .help = "longest message that a send hands over without waiting for its receive; "    \
                     "longer ones first exchange ready-to-send and clear-to-send (S of LogGOPS)"), \
    SIM_ATTR(prefix ".send-order", ENUM, type, member.send_order,                                  \
             .default_text = "in-turn", .choices = "in-turn|in-order",                             \
             .help = "messages of a NIC to several ranks: all at once, which then share its rate " \
                     "in turn, or one after the other in the order of the sends"),                 \
    SIM_ATTR(prefix ".send-window", BYTES, type, member.send_window_bytes,                         \
             .default_text = "128KiB", .min_text = "4KiB", .max_text = "1TiB",                     \
             .help = "maximum number of bytes of a NIC that are posted and not acknowledged with " \
                     "send-order in-order; the next message begins only within it"),               \
    SIM_ATTR(prefix ".send-overhead", TIME, type, member.loggp.send_ps,                            \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "time of a processor for each send (o of LogGP)"),                            \
    SIM_ATTR(prefix ".recv-overhead", TIME, type, member.loggp.recv_ps,                            \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "time of a processor for each message that it receives (o of LogGP)"),        \
    SIM_ATTR(prefix ".calc-scale", RATIO, type, member.loggp.calc_scale,                           \
             .default_text = "1", .min_text = "0", .max_text = "1000",                             \
             .help = "factor on the duration of every computation"),                               \
    SIM_ATTR(prefix ".calc-grid", TIME, type, member.calc_grid_ps,                                 \
             .default_text = "0s", .min_text = "0s", .max_text = "1s",                             \
             .help = "computations of ranks end at multiples of this simulated time, so that "     \
                     "ranks go on together; 0s: when they are done"),                              \
    SIM_ATTR(prefix ".local-rate", RATE, type, member.local_bps,                                   \
             .default_text = "3600Gbps", .min_text = "1Mbps", .max_text = "1000Tbps",              \
             .help = "rate of messages between ranks of one host; the default is NVLink of an "    \
                     "H100"),                                                                      \
    SIM_ATTR(prefix ".local-delay", TIME, type, member.local_ps,                                   \
             .default_text = "1us", .min_text = "0s", .max_text = "1s",                            \
             .help = "time between the last byte of a message and its arrival within a host"),     \
    APP__COLL_ATTRS(prefix, type, member.collective)
// clang-format on

typedef struct app__workload app__workload_t;
typedef struct app__rank app__rank_t;
typedef struct app__moment app__moment_t;

// The progress of an operation: what it waits for, its times and its outcome.
typedef struct app__op_state {
    uint32_t left;       // operations that it still waits for
    uint32_t next;       // in the queue that it stands in
    sim_time_t start_ps; // send: when it was handed to the NIC; NEVER: it has not started
    sim_time_t end_ps;   // send: when it was acknowledged, or failed; NEVER: not yet
    uint8_t status;      // nic_wc_status_t of a message
    bool finished;
    bool arrived; // receive: its message is here
} app__op_state_t;

typedef struct app__op_queue {
    uint32_t head; // APP__NO_OP: empty
    uint32_t tail;
} app__op_queue_t;

// What a message is: its kind, and the number of the send among its rank's operations. It is the
// immediate value of the message's last piece.
#define APP__WORD_OP (APP__OPS_MAX - 1) // mask of the operation
#define APP__WORD_DATA 0u
#define APP__WORD_READY_TO_SEND (UINT32_C(1) << 30) // a send above eager-max asks for its receive
#define APP__WORD_CLEAR_TO_SEND (UINT32_C(2) << 30) // its receive is there

// An operation that waits for a processor, or a message that has arrived.
typedef struct app__cpu_item {
    uint32_t op;
    uint32_t source; // rank of the message; APP__NO_OP: an operation
} app__cpu_item_t;

// A processor of a rank: it runs one operation at a time, in the order in which they got ready.
typedef struct app__cpu {
    sim_timer_t timer;
    app__rank_t *rank;
    SIM_RING(app__cpu_item_t) queue;
    bool busy;
    uint32_t running;   // APP__NO_OP while busy: a message without a receive
    sim_time_t busy_ps; // so far
} app__cpu_t;

// A message that has arrived before its receive.
typedef struct app__unexpected {
    uint32_t source;
    uint32_t op;   // of the source
    uint32_t next; // index among the rank's, or APP__NO_OP
} app__unexpected_t;

// A receive that has its ready-to-send and waits for the data.
typedef struct app__granted {
    uint32_t source;
    uint32_t op; // of the source
    uint32_t receive;
} app__granted_t;

struct app__rank {
    app__workload_t *workload;
    const app__rank_ops_t *ops;
    app__op_state_t *states;
    uint32_t number;
    uint32_t port_first; // first of its NICs in workload->ports
    uint32_t port_count;
    uint32_t domain_port;     // among its ports: the one to its NVSwitch; or APP__NO_PORT
    const net_node_t *domain; // that NVSwitch; NULL: none
    bool direct;              // its host has links to other hosts
    uint32_t left;            // operations that have not finished
    bool begun;
    sim_node_t *node;
    sim_timer_t begin;
    app__cpu_t *cpus;
    uint32_t cpu_count;
    app__op_queue_t ready;  // operations to start in this event
    app__op_queue_t posted; // receives without a message, in the order in which they were posted
    app__unexpected_t *unexpected; // messages without a receive; in order of arrival by `next`
    size_t unexpected_count;
    size_t unexpected_capacity;
    uint32_t unexpected_head;
    uint32_t unexpected_tail;
    uint32_t unexpected_free;
    uint64_t unexpected_now;
    uint64_t unexpected_peak;
    app__granted_t *granted;
    size_t granted_count;
    size_t granted_capacity;
    sim_list_t comings; // messages within the host that it sends, or that it learns of later
    sim_list_t spare_comings;
    sim_list_t spare_messages;      // of channels.c
    sim_time_t end_ps;              // when its last operation finished
    uint64_t failed;                // messages
    const app__loggp_rank_t *ideal; // its times on an ideal network; NULL: packets
    app__moment_t *moments;         // of the ideal network (ideal.c), in order of time
    size_t moment_count;
    size_t moment_at; // the next one
};

// The channel from one NIC to another that the schedule needs.
typedef struct app__open_channel app__open_channel_t; // channels.c
typedef struct app__rank_channel {
    uint32_t source; // port
    uint32_t destination;
    app__open_channel_t *open; // NULL: nothing was sent yet
} app__rank_channel_t;

// A message that waits for its turn at a NIC.
typedef struct app__port_send {
    uint32_t channel; // in workload->channels
    uint32_t word;
} app__port_send_t;

// A message that waits for the gap of a receiver.
typedef struct app__port_arrival {
    sim_time_t time_ps; // when its rank takes it
    uint32_t source;    // rank
    uint32_t word;
} app__port_arrival_t;

// A NIC of a rank.
typedef struct app__port {
    app__rank_t *rank;
    app__endpoint_t *endpoint;
    uint64_t position;  // of its first QP number
    uint32_t out_first; // in workload->channels
    uint32_t out_count;
    uint32_t in_first; // in workload->incoming
    uint32_t in_count;
    app__nvlink_t nvlink;        // to other ranks of the host
    app__nvlink_t nvlink_in;     // from the host's NVSwitch, which spreads what other ranks send
    app__passers_t nvlink_sends; // messages that are of no collective
    // -- with a gap between messages, or in the order of their sends (port.c)
    sim_timer_t send_timer;
    SIM_RING(app__port_send_t) sends;
    app__message_t *message;    // the first of them, once it has begun in order
    uint64_t outstanding_bytes; // posted and not completed
    sim_time_t send_ps;         // when the next message may begin
    sim_timer_t receive_timer;
    SIM_RING(app__port_arrival_t) arrivals;
    sim_time_t receive_ps; // when the next one may be received
} app__port_t;

struct app__workload {
    app_t app; // first
    app__schedule_t *schedule;
    app__rank_t *ranks;
    app__port_t *ports;
    uint32_t port_count;
    uint32_t place_count;          // that ranks could have
    app__rank_channel_t *channels; // by source, then by destination
    uint32_t channel_count;
    uint32_t *incoming; // channels by destination, then by source
    app_runtime_t *runtime;
    // Called in an event of the rank's host when a message has arrived whole. `word` says what it
    // is and which operation of the source sent it.
    void (*arrived)(app__rank_t *rank, uint32_t source, uint32_t word);
    uint64_t first_flow_id;
    uint32_t iterations; // of a training job; 0: it has none
    bool cancelled;      // ranks begin nothing more
    bool retired;        // its queue pairs are gone
    app__workload_options_t options;
    app__loggp_result_t ideal;            // on an ideal network
    struct app__collectives *collectives; // NULL: the schedule has none
    struct app__memo *memo;               // collective/repeat/memo.h; NULL: nothing is skipped
};

// -- queues of operations of a rank

static inline void app__queue_init(app__op_queue_t *queue)
{
    *queue = (app__op_queue_t){APP__NO_OP, APP__NO_OP};
}

static inline void app__queue_put(app__op_queue_t *queue, app__op_state_t *states, uint32_t op)
{
    states[op].next = APP__NO_OP;
    if (queue->head == APP__NO_OP) {
        queue->head = op;
    } else {
        states[queue->tail].next = op;
    }
    queue->tail = op;
}

static inline uint32_t app__queue_take(app__op_queue_t *queue, const app__op_state_t *states)
{
    const uint32_t op = queue->head;
    queue->head = states[op].next;
    return op;
}

// -- runner.c

// Makes an application that runs a schedule, which it owns from now on, also after an error.
SIM_MUST_CHECK sim_err_t app__workload_create(const app_context_t *context, const app_ops_t *ops,
                                              const app__workload_options_t *options,
                                              app__schedule_t *schedule, app__workload_t **created,
                                              sim_message_t *message);
void app__workload_destroy(app_t *app);
void app__workload_progress(const app_t *app, uint64_t *done, uint64_t *planned);
extern const app_program_ops_t app__workload_program;

// -- domains.c

typedef struct app__domains app__domains_t;
app__domains_t *app__domains_create(const net_t *net); // after net_build
void app__domains_destroy(app__domains_t *domains);    // NULL is allowed
// Returns the NVSwitch of a host that is a GPU, and the port to it; NULL and APP__NO_PORT: it is no
// GPU.
const net_node_t *app__domain_of(const app__domains_t *domains, const net_node_t *host,
                                 uint32_t *port);
// Returns the NIC of a host that is faster than its others; APP__NO_PORT: all have one rate.
uint32_t app__fastest_nic(const net_node_t *host);
// Returns the port, in workload->ports, from which a rank sends to another on NICs of a number:
// within an NVLink domain the one to the NVSwitch.
uint32_t app__port_to(const app__rank_t *rank, const app__rank_t *peer, uint32_t nic);

// -- places.c

// Returns whether a host has links to other hosts, and not all of its links lead to one node.
bool app__is_direct(const net_node_t *host);
// Finds the ports, in workload->ports, of two ranks whose path has the fewest hops and, among
// those, the highest rate. If no two of them have a path, it gives the first ones.
void app__direct_ports(const app__rank_t *rank, const app__rank_t *peer, uint32_t *own,
                       uint32_t *other);

// Gives every rank its place, makes their ports and links. SIM_ERR_RANGE: there are too few places.
// Gives every rank its place, makes their ports and channels. SIM_ERR_RANGE: there are too few places.
SIM_MUST_CHECK sim_err_t app__ranks_place(const app_context_t *context,
                                          const app__workload_options_t *options,
                                          app__workload_t *workload, sim_message_t *message);

// Counts the places that ranks of collectives can have on the hosts. SIM_ERR_UNKNOWN: no hosts.
SIM_MUST_CHECK sim_err_t app__ranks_count(const app_context_t *context,
                                          const app__workload_options_t *options, uint32_t *places,
                                          sim_message_t *message);

void app__workload_places(const app_t *app, app_place_fn fn, void *ctx);

// -- execute.c

void app__rank_begin(app__rank_t *rank, sim_time_t start_ps); // arms its first event
// Starts everything that is ready; called at the end of whatever made operations ready.
void app__rank_pump(app__rank_t *rank);
// Notes that a receive has its message; a processor then handles it.
void app__rank_received(app__rank_t *rank, uint32_t op, uint8_t cpu);
// Takes a message that has arrived: operation `op` of rank `source`.
void app__rank_arrived(app__rank_t *rank, uint32_t source, uint32_t op);
// Takes a ready-to-send; answers it when its receive is there.
void app__rank_announced(app__rank_t *rank, uint32_t source, uint32_t op);
// Takes a clear-to-send for an operation of the rank itself: sends its data.
void app__rank_cleared(app__rank_t *rank, uint32_t op);
// Notes that all data of a send have been acknowledged, or have failed.
void app__rank_acknowledged(app__rank_t *rank, uint32_t op);
void app__rank_finish(app__rank_t *rank, uint32_t op);

// -- ideal.c

// Runs the schedule on an ideal network and arms the events of the ranks.
void app__ideal_begin(app__workload_t *workload);

// -- match.c

void app__match_init(app__rank_t *rank);
// Posts a receive; returns whether a message was waiting for it, which is then in *message.
bool app__match_post(app__rank_t *rank, uint32_t op, app__unexpected_t *message);
// Takes a message that has arrived whole: operation `op` of rank `source`. Returns the receive that
// gets it; APP__NO_OP: the message waits for one.
uint32_t app__match_arrive(app__rank_t *rank, uint32_t source, uint32_t op);

// -- channels.c

// Makes the channels that the schedule needs and reserves their QP numbers. SIM_ERR_INVALID: two
// ranks cannot talk; the message begins with "hosts".
SIM_MUST_CHECK sim_err_t app__rank_channels_create(app__workload_t *workload,
                                                   sim_message_t *message);
// Returns whether all messages are acknowledged.
bool app__rank_channels_quiet(const app__workload_t *workload);
// Closes all channels, which are quiet.
void app__rank_channels_retire(app__workload_t *workload);
void app__rank_channels_free(app__workload_t *workload);
// Finds the path of messages from one rank to another on NICs of a number while all links are up.
// Returns false if they do not go through the network.
bool app__rank_channel_path(const app__workload_t *workload, uint32_t rank, uint32_t peer,
                            uint32_t nic, net_path_t *path);
// Sends an operation's message, or asks whether it may be sent (APP__WORD_READY_TO_SEND).
void app__rank_send(app__rank_t *rank, uint32_t op, uint32_t kind);
// Answers a rank whose operation asked: APP__WORD_CLEAR_TO_SEND.
void app__rank_answer(app__rank_t *rank, uint32_t source, uint32_t op);
// Sends a message on a channel.
void app__rank_channel_send(app__workload_t *workload, uint32_t channel, uint32_t word);
// Begins a message whose pieces the caller posts (app__channel_post).
app__message_t *app__rank_channel_begin(app__workload_t *workload, uint32_t channel, uint32_t word);
// Returns the bytes of a message of a rank.
uint64_t app__word_bytes(const app__rank_t *source, uint32_t word);

// -- port.c

// Sends a message of a NIC when it is its turn and the gap after the previous one has passed.
void app__port_send(app__port_t *port, uint32_t channel, uint32_t word);
// Returns the largest piece of a message.
uint64_t app__port_piece_bytes(const app__workload_options_t *options);
void app__port_completed(app__port_t *port, uint64_t bytes);
// Hands a message that has arrived to its rank when the gap after the previous one has passed.
void app__port_arrived(app__port_t *port, uint32_t source, uint32_t word);
void app__port_fini(app__port_t *port);

// -- collective/engine.c

// Makes what the schedule's collectives need: workload->collectives, also after an error. The
// message begins with the name of an attribute.
SIM_MUST_CHECK sim_err_t app__collectives_create(const app_context_t *context,
                                                 app__workload_t *workload, sim_message_t *message);
void app__collectives_destroy(struct app__collectives *collectives); // NULL is allowed
// Returns whether all messages of collectives are acknowledged, and nothing is on its way.
bool app__collectives_quiet(const app__workload_t *workload);
// Frees the connections of collectives that are quiet.
void app__collectives_retire(const app__workload_t *workload);
// Gives back the QP numbers of a workload's collectives, if it has any.
void app__collectives_return(const app__workload_t *workload);
void app__coll_begin(app__rank_t *rank, uint32_t op); // the rank calls a collective

// -- collective/describe.c

// Writes how the collectives of a schedule are done: a line for each set of calls that are alike.
void app__workload_describe(const app_t *app, void (*write)(const char *text, void *ctx),
                            void *ctx);

// -- collective/loads.c

void app__workload_loads(const app_t *app, app_load_fn fn, void *ctx);

// -- collective/matrix.c

// Reads the sizes of an all-to-all: ranks x ranks numbers. The caller frees *matrix with sim_free.
SIM_MUST_CHECK sim_err_t app__coll_read_matrix(const app_context_t *context, const char *name,
                                               uint32_t ranks, uint64_t **matrix,
                                               sim_message_t *message);

// -- carry.c

void app__workload_carry(app_t *app, sim_carry_t *carry);

// -- report.c

uint64_t app__workload_operations(const app_t *app, uint64_t most, app_operation_fn fn, void *ctx);
void app__workload_flows(const app_t *app, app_flow_fn fn, void *ctx);
void app__workload_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);
extern const sim_report_table_t app__workload_report;

// The members of app_ops_t that all applications of this folder share.
#define APP__WORKLOAD_OPS APP__WORKLOAD_OPS_WITH(&app__workload_report)
#define APP__WORKLOAD_OPS_WITH(table)                                                    \
    .destroy = app__workload_destroy, .flows = app__workload_flows,                      \
    .operations = app__workload_operations, .places = app__workload_places,              \
    .progress = app__workload_progress, .carry = app__workload_carry,                    \
    .describe = app__workload_describe, .loads = app__workload_loads, .report = (table), \
    .warn = app__workload_warn, .program = &app__workload_program

#endif // APPS_WORKLOAD_INTERNAL_H
