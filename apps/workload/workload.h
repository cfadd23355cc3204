// SPDX-License-Identifier: Apache-2.0
// apps/workload/workload.h - a schedule that runs on hosts, as an application.
//
// It owns its ranks (rank.h), their NICs (port.h), the channels between these (channels.h) and what
// collectives need (collective/collectives.h). The schedule never changes.
#ifndef APPS_WORKLOAD_WORKLOAD_H
#define APPS_WORKLOAD_WORKLOAD_H

#include "apps/app.h"
#include "apps/workload/ideal/loggp.h"
#include "apps/workload/run_options.h"

typedef struct app__workload app__workload_t;
typedef struct app__rank app__rank_t;
typedef struct app__port app__port_t;
typedef struct app__rank_channel app__rank_channel_t;

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
    struct app__loops *loops;             // likewise
};

// Makes an application that runs a schedule, which it owns from now on, also after an error.
SIM_MUST_CHECK sim_err_t app__workload_create(const app_context_t *context, const app_ops_t *ops,
                                              const app__workload_options_t *options,
                                              app__schedule_t *schedule, app__workload_t **created,
                                              sim_message_t *message);
void app__workload_destroy(app_t *app);
void app__workload_progress(const app_t *app, uint64_t *done, uint64_t *planned);
extern const app_program_ops_t app__workload_program;

#endif // APPS_WORKLOAD_WORKLOAD_H
