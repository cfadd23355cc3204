// SPDX-License-Identifier: Apache-2.0
// apps/flows/plan.h - plans of transfers, for all kinds of flows.
//
// A transfer moves messages of one size, one after another, from one interface to another. A plan
// holds a list of transfers (64 bytes each), or makes them as their time comes (blocks.c). QPs
// exist only for transfers in progress: the requester's is created at the start time and destroyed
// with the last completion, the responder's when the first packet arrives (apps/runtime.c).
//
// Usage: create; add transfers in any order, or set their arrivals; begin once, before sim_run;
// read the results after the run; destroy. A plan must live as long as the simulation runs.
#ifndef APPS_FLOWS_PLAN_H
#define APPS_FLOWS_PLAN_H

#include "apps/channel/channel.h"
#include "apps/flow_file.h"
#include "apps/flows/shape.h"

#define APP__TRANSFERS_MAX (UINT64_C(1) << 27)

typedef struct app__transfer {
    uint64_t bytes;      // of each message
    sim_time_t start_ps; // NEVER: waits for a trigger
    // RC: last completion at the requester; UC and UD: arrival of the last byte at the responder.
    // NEVER: unfinished or failed.
    sim_time_t end_ps;
    uint32_t source; // interface of the requester
    uint32_t destination;
    uint32_t source_qp;
    uint32_t destination_qp;
    uint32_t messages; // planned messages
    uint32_t left_out; // messages not posted because the plan stopped; written by the requester
    union {
        struct {                    // RC
            uint32_t retransmitted; // retransmitted packets; written by the requester
            uint32_t end_order;     // app_flow_result_t
        };
        uint64_t arrived_bytes; // UC and UD: whole messages or datagrams; written by the responder
    };
    uint8_t priority;      // or APP__AS_THE_NIC
    uint8_t dscp;          // or APP__AS_THE_NIC
    uint8_t verb;          // app__verb_t
    uint8_t status;        // nic_wc_status_t
    uint16_t source_port;  // UDP source port; 0: derived from the flow's number
    uint16_t service_port; // destination port in the flow file, for results; 0: none
} app__transfer_t;

static_assert(sizeof(app__transfer_t) <= SIM_CACHE_LINE, "there may be millions of them");

// Returns the payload of the posted messages of an ended transfer, else of all planned ones.
static inline uint64_t app__transfer_bytes(const app__transfer_t *transfer)
{
    return transfer->bytes * (transfer->messages - transfer->left_out);
}

typedef struct app__plan app__plan_t;

// Creates a plan. `label` names its transfers in results; it must outlive the plan.
app__plan_t *app__plan_create(const app_context_t *context, const app__shape_t *shape,
                              const char *label);
void app__plan_destroy(app__plan_t *plan);

// Returns the time until which to plan: stop_ps, or the end of the run where that is SIM_AUTO.
sim_time_t app__plan_stop_ps(const app_context_t *context, sim_time_t stop_ps);

// Sets the time from which no transfer starts and no message is posted (SIM_AUTO: never). Transfers
// in progress end with the messages they have posted. Call it before adding transfers.
// SIM_ERR_RANGE: stop_ps is not after start_ps, the start of the first transfer.
SIM_MUST_CHECK sim_err_t app__plan_stop_at(app__plan_t *plan, sim_time_t stop_ps,
                                           sim_time_t start_ps, sim_message_t *message);

typedef struct app__request {
    uint32_t source;
    uint32_t destination;
    uint64_t bytes; // of each message
    sim_time_t start_ps;
    uint64_t priority;     // SIM_AUTO: that of the plan's shape
    uint16_t source_port;  // UDP source port; 0: derived from the flow's number
    uint16_t service_port; // destination port in the flow file; 0: none
    bool can_talk;         // app__can_talk was already checked
    app_flow_chain_t chain;
} app__request_t;

// Adds a transfer of the plan's shape, unless it would start after the plan's stop.
// SIM_ERR_INVALID: the two cannot talk; SIM_ERR_RANGE: there are too many. The message begins with
// the name of the attribute to blame.
SIM_MUST_CHECK sim_err_t app__plan_add(app__plan_t *plan, const app__request_t *request,
                                       const char *blame, sim_message_t *message);

// Lets app__plan_add_split make as many transfers of each request; SIM_AUTO: one, which is not
// reported as a row. Call it before the first of them.
void app__plan_split(app__plan_t *plan, uint64_t qps);
// Adds a transfer as app__plan_add does, or its parts. The first ones are a byte longer if the
// bytes do not divide evenly. SIM_ERR_RANGE also: a part would be empty.
SIM_MUST_CHECK sim_err_t app__plan_add_split(app__plan_t *plan, const app__request_t *request,
                                             const char *blame, sim_message_t *message);

// A source that draws transfers one after another, in place of a list.
typedef struct app__arrivals_ops {
    // Returns the next transfer, with can_talk set, not earlier than those before. False: there is
    // none, or *error is set. A copy meets no error where the original passed without one.
    bool (*next)(void *arrivals, app__request_t *request, sim_err_t *error, sim_message_t *message);
    // Returns an independent copy in the current state. Any thread may make and use one.
    void *(*copy)(const void *arrivals);
    void (*destroy)(void *arrivals);
} app__arrivals_ops_t;

// Sets the arrivals of a plan and counts them. The plan owns `arrivals` from here on, also after an
// error; it destroys all copies before it is destroyed. SIM_ERR_RANGE: there are too many; also
// returns errors of next.
SIM_MUST_CHECK sim_err_t app__plan_arrive(app__plan_t *plan, const app__arrivals_ops_t *ops,
                                          void *arrivals, const char *blame,
                                          sim_message_t *message);

// Declares that transfers are added in groups of `parts` with one source, destination and start;
// results then also report each group as a whole. 1: each transfer is a whole.
void app__plan_group(app__plan_t *plan, uint64_t parts);

// Sets the triggers that requests name by number, from 1. Call it before adding transfers; those
// that a trigger starts have start_ps NEVER. One host both activates a trigger and requests what it
// starts. Transfers with chain.received use SEND.
void app__plan_triggers(app__plan_t *plan, const app_flow_trigger_t *triggers, size_t count);

// Returns the error that there are too many transfers. The message begins with `blame`.
sim_err_t app__too_many(const char *blame, sim_message_t *message);

// Orders transfers by start time (then by order of adding), numbers the QPs and arms the timers.
void app__plan_begin(app__plan_t *plan);

uint64_t app__plan_count(const app__plan_t *plan);
app__verb_t app__plan_verb(const app__plan_t *plan); // of its shape
// Returns a transfer of a list, by order of start.
const app__transfer_t *app__plan_at(const app__plan_t *plan, uint64_t index);

#endif // APPS_FLOWS_PLAN_H
