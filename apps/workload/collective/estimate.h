// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/estimate.h - what a schedule and its collectives will send and how long
// that takes at least, told before the run.
#ifndef APPS_WORKLOAD_COLLECTIVE_ESTIMATE_H
#define APPS_WORKLOAD_COLLECTIVE_ESTIMATE_H

#include "apps/app.h"
#include "apps/workload/collective/call_plan.h"

// Checks that ranks reach those that they send to. SIM_ERR_INVALID: the message begins with
// "hosts".
SIM_MUST_CHECK sim_err_t app__coll_check_paths(const app__collectives_t *collectives,
                                               sim_message_t *message);

// The load of a plan: the messages of all its calls, and the least time of one call.
typedef struct app__coll_load {
    double messages; // of all calls and ranks
    double local_messages;
    double bytes;   // of all messages, on the wire
    double streams; // channels, more or less: runs of messages of one block to one peer
    double local_streams;
    double send_s;   // of one call: the time for which the NICs or NVLink of some rank send
    double nic_s;    // of one call: the time for which the NICs of some rank send
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

// Writes how the collectives of a schedule are done: a line for each set of calls that are alike.
void app__workload_describe(const app_t *app, void (*write)(const char *text, void *ctx),
                            void *ctx);

void app__workload_loads(const app_t *app, app_load_fn fn, void *ctx);

#endif // APPS_WORKLOAD_COLLECTIVE_ESTIMATE_H
