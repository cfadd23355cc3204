// SPDX-License-Identifier: Apache-2.0
// apps/flows/transfer.h - plans of transfers and their execution: the engine of all kinds of flows.
//
// A transfer moves messages of one size, one after another, from one interface to another on a QP
// of its own. A plan holds transfers of a list from the start, 64 bytes each, and arrivals while
// they are near (blocks.c); QPs and what goes with them exist only for transfers under way. The
// requester's QP is made at the start time and destroyed with the last completion; the responder's
// when the first packet comes, see runtime.c.
//
// Life: create; add in any order, or give it arrivals; begin, once, before sim_run; after the run
// look at the results; destroy. The plan must live as long as the simulation runs.
#ifndef APPS_FLOWS_TRANSFER_H
#define APPS_FLOWS_TRANSFER_H

#include "apps/app_internal.h"
#include "apps/flow_file.h"

#define APP__TRANSFERS_MAX (UINT64_C(1) << 27)
// A longer message is posted in pieces of this: a work request has at most 2^31 bytes.
#define APP__PIECE_BYTES (UINT64_C(1) << 30)
#define APP__AS_THE_NIC 0xff // priority, dscp: what the requester's NIC has

typedef enum app__verb { APP__VERB_WRITE, APP__VERB_SEND, APP__VERB_READ } app__verb_t;
typedef enum app__service { APP__RC, APP__UC, APP__UD } app__service_t;

// How an application's transfers are made: the attributes that all kinds have in common.
typedef struct app__shape {
    uint64_t priority; // SIM_AUTO: the NIC's
    uint64_t dscp;     // SIM_AUTO: priority x 8, or the NIC's
    uint32_t verb;     // app__verb_t
    uint32_t service;  // app__service_t
    bool reuse;        // one QP for all transfers of two interfaces
    uint64_t messages; // of a transfer
    uint64_t depth;    // messages posted and not completed, at most
} app__shape_t;

// clang-format off
// Of the kinds that add their transfers with app__plan_stop_at.
#define APP__STOP_ATTR(prefix, config, member)                                                    \
    {prefix ".stop", SIM_ATTR_TIME, true, offsetof(config, member), "auto", "0s", NULL, NULL,     \
     "no transfer starts and no message is posted from here on; auto: no such time"}

#define APP__SHAPE_ATTRS(prefix, config, member)                                                  \
    {prefix ".priority", SIM_ATTR_COUNT, true, offsetof(config, member.priority), "auto", "0",    \
     "7", NULL, "class of the transfers; auto: nic.priority"},                                    \
    {prefix ".dscp", SIM_ATTR_COUNT, true, offsetof(config, member.dscp), "auto", "0", "63",      \
     NULL, "DSCP of the transfers; auto: priority x 8, or nic.dscp where priority is auto"},      \
    {prefix ".verb", SIM_ATTR_ENUM, false, offsetof(config, member.verb), "write", NULL, NULL,    \
     "write|send|read", "verb that moves the data"},                                              \
    {prefix ".service", SIM_ATTR_ENUM, false, offsetof(config, member.service), "rc", NULL, NULL, \
     "rc|uc|ud", "of the queue pairs. uc (write, send), ud (send, a datagram for each MTU of a "  \
     "message): nothing is sent again, a transfer ends when all of it has arrived"},              \
    {prefix ".reuse", SIM_ATTR_BOOL, false, offsetof(config, member.reuse), "false", NULL, NULL,  \
     NULL, "transfers of two interfaces share one queue pair and take turns on it; false: each "  \
     "has one of its own"},                                                                       \
    {prefix ".messages", SIM_ATTR_COUNT, false, offsetof(config, member.messages), "1", "1",      \
     "1000000000", NULL, "messages of each transfer, one after another on its QP"},               \
    {prefix ".depth", SIM_ATTR_COUNT, false, offsetof(config, member.depth), "16", "1", "65536",  \
     NULL, "messages of a transfer posted and not completed, at most"}
// clang-format on

typedef struct app__transfer {
    uint64_t bytes;      // of each message
    sim_time_t start_ps; // NEVER: a trigger has yet to start it
    // Last completion at the requester; of UC and UD, when all has arrived at the responder. NEVER:
    // unfinished or failed.
    sim_time_t end_ps;
    uint32_t source; // interface of the requester
    uint32_t destination;
    uint32_t source_qp;
    uint32_t destination_qp;
    uint32_t messages; // planned
    uint32_t left_out; // of them, because the plan stopped; by the requester
    union {
        struct {                    // of RC
            uint32_t retransmitted; // packets, by the requester
            uint32_t end_order;     // app_flow_result_t
        };
        uint64_t arrived_bytes; // of UC and UD: in whole messages, or datagrams; by the responder
    };
    uint8_t priority;      // APP__AS_THE_NIC
    uint8_t dscp;          // APP__AS_THE_NIC
    uint8_t verb;          // app__verb_t
    uint8_t status;        // nic_wc_status_t
    uint16_t source_port;  // of UDP; 0: derived from the flow's number
    uint16_t service_port; // destination port in the file it comes from, for results; 0: none
} app__transfer_t;

static_assert(sizeof(app__transfer_t) <= SIM_CACHE_LINE, "there may be millions of them");

// Payload of what was posted, once the transfer has ended; of all that is planned before.
static inline uint64_t app__transfer_bytes(const app__transfer_t *transfer)
{
    return transfer->bytes * (transfer->messages - transfer->left_out);
}

typedef struct app__plan app__plan_t;

// label names the transfers in results; kept by reference.
app__plan_t *app__plan_create(const app_context_t *context,
                              const app__shape_t *shape,
                              const char *label);
void app__plan_destroy(app__plan_t *plan);

// From stop_ps (SIM_AUTO: never) on, no transfer of the plan starts and no message is posted:
// transfers under way end with the messages they have posted. Call before adding transfers.
// SIM_ERR_RANGE: it is not after start_ps, when the first one is to start.
SIM_MUST_CHECK sim_err_t app__plan_stop_at(app__plan_t *plan,
                                           sim_time_t stop_ps,
                                           sim_time_t start_ps,
                                           sim_message_t *message);

typedef struct app__request {
    uint32_t source;
    uint32_t destination;
    uint64_t bytes; // of each message
    sim_time_t start_ps;
    uint64_t priority;     // SIM_AUTO: the shape's
    uint16_t source_port;  // of UDP; 0: derived from the flow's number
    uint16_t service_port; // destination port in the file it comes from; 0: none
    bool can_talk;         // known already: app__can_talk
    app_flow_chain_t chain;
} app__request_t;

// Adds a transfer of the plan's shape, unless it would start after the plan's stop.
// SIM_ERR_INVALID: the two cannot talk; SIM_ERR_RANGE: there are too many. The message begins with
// the name of the attribute to blame.
SIM_MUST_CHECK sim_err_t app__plan_add(app__plan_t *plan,
                                       const app__request_t *request,
                                       const char *blame,
                                       sim_message_t *message);

// Transfers that are drawn one after another, instead of added.
typedef struct app__arrivals_ops {
    // The next one, not earlier than those before, with can_talk set. False: there is none, or
    // *error is one, which a copy never meets before where the copied one has passed.
    bool (*next)(void *arrivals, app__request_t *request, sim_err_t *error, sim_message_t *message);
    // One that goes on from where this is, apart from it; made and used on any thread.
    void *(*copy)(const void *arrivals);
    void (*destroy)(void *arrivals);
} app__arrivals_ops_t;

// Counts what arrives. The plan owns arrivals from here on, also after an error; copies of it are
// gone before it is destroyed. SIM_ERR_RANGE: there are too many; and errors of next.
SIM_MUST_CHECK sim_err_t app__plan_arrive(app__plan_t *plan,
                                          const app__arrivals_ops_t *ops,
                                          void *arrivals,
                                          const char *blame,
                                          sim_message_t *message);

// The transfers are added in groups of so many, of one source, destination and start: parts of one
// whole, which its report then tells of. 1: each is a whole.
void app__plan_group(app__plan_t *plan, uint64_t parts);

// Triggers that requests name by number, from 1. Before transfers are added; those that one starts
// have start_ps NEVER. Everything about a trigger happens on one host: what activates it, and the
// requesters of what it starts. Transfers with chain.received are SENDs.
void app__plan_triggers(app__plan_t *plan, const app_flow_trigger_t *triggers, size_t count);

// Orders by start time (then by order of adding), numbers the QPs, arms the timers.
void app__plan_begin(app__plan_t *plan);

uint64_t app__plan_count(const app__plan_t *plan);
app__verb_t app__plan_verb(const app__plan_t *plan); // of its shape
// In order of start; of a list.
const app__transfer_t *app__plan_at(const app__plan_t *plan, uint64_t index);

// The parts of app_ops_t.
void app__plan_flows(const app__plan_t *plan, app_flow_fn fn, void *ctx);
void app__plan_progress(const app__plan_t *plan, uint64_t *done, uint64_t *planned);
extern const sim_report_table_t app__plan_report; // about an app__plan_t

// An application that is nothing but a plan.
typedef struct app__planned {
    app_t app; // first
    app__plan_t *plan;
} app__planned_t;

// Begins the plan and makes the application that owns it.
app_t *app__planned_create(const app_ops_t *ops, const app_context_t *context, app__plan_t *plan);
void app__planned_destroy(app_t *app);
void app__planned_flows(const app_t *app, app_flow_fn fn, void *ctx);
void app__planned_progress(const app_t *app, uint64_t *done, uint64_t *planned);
double app__planned_under_way(const app_t *app);
extern const sim_report_table_t app__planned_report; // about an app__planned_t
#define APP__PLANNED_OPS                                                    \
    .destroy = app__planned_destroy, .flows = app__planned_flows,           \
    .progress = app__planned_progress, .under_way = app__planned_under_way, \
    .report = &app__planned_report

// Adds the flows of another simulator's file, between hosts named host<number>.
SIM_MUST_CHECK sim_err_t app__flows_add_file(const app_context_t *context,
                                             app__plan_t *plan,
                                             app_flow_format_t format,
                                             const char *name,
                                             const char *text,
                                             size_t size_bytes,
                                             sim_message_t *message);

// Until when to plan: stop_ps, or the end of the run where that is SIM_AUTO.
sim_time_t app__plan_stop_ps(const app_context_t *context, sim_time_t stop_ps);

#endif // APPS_FLOWS_TRANSFER_H
