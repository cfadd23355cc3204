// SPDX-License-Identifier: Apache-2.0
// apps/services/sequencer_internal.h - the counter and the clients' results, shared by all versions
// of the sequencer.
#ifndef APPS_SERVICES_SEQUENCER_INTERNAL_H
#define APPS_SERVICES_SEQUENCER_INTERNAL_H

#include "apps/services/rpc_internal.h"

typedef enum app__sequencer_version {
    APP__SEQUENCER_RPC,
    APP__SEQUENCER_SPEC,
    APP__SEQUENCER_FETCH_ADD,
} app__sequencer_version_t;

typedef struct app__sequencer_config {
    app__sequencer_version_t version;
    uint64_t first_number;
    sim_time_t count_ps;
    sim_time_t move_ps;
    app__rpc_config_t rpc;
    app__span_t span;
} app__sequencer_config_t;

// Results of one client. Numbers are kept if each client makes a given number of requests.
typedef struct app__sequencer_got {
    uint64_t *numbers;
    uint64_t count;
    uint64_t last;
    uint64_t backward; // numbers below the previous one
    uint64_t high;     // upper half of the number that it expects
    uint64_t wrong;    // wrong guesses
} app__sequencer_got_t;

typedef struct app__spec app__spec_t;

typedef struct app__sequencer {
    app_t app; // first
    app__sequencer_version_t version;
    app__rpc_t rpc;    // RPC
    app__spec_t *spec; // SPEC, FETCH_ADD
    // The counter: a memory line that one core owns at a time. Only events of the server touch it.
    uint64_t next;
    sim_time_t free_ps;
    uint32_t owner;
    sim_time_t count_ps;
    sim_time_t move_ps;
    uint64_t requests;
    uint64_t first_number;
    app__sequencer_got_t *got;
    uint32_t client_count;
} app__sequencer_t;

// Takes `count` numbers in a worker's turn and returns the first. The core waits until the line is
// free and, if another core owns it, for its transfer.
uint64_t app__sequencer_take(app__sequencer_t *sequencer, nic_core_t *core, uint32_t worker,
                             uint32_t count);
// Returns the number nearest to the last one that has this lower half. Simulated memory has no
// contents, so a response carries only half of the number.
static inline uint64_t app__sequencer_near(const app__sequencer_got_t *got, uint32_t low)
{
    return got->last + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)got->last);
}
void app__sequencer_keep(app__sequencer_got_t *got, uint64_t requests, uint64_t number);

// sequencer_spec.c
SIM_MUST_CHECK sim_err_t app__spec_create(app__sequencer_t *sequencer, const app_context_t *context,
                                          const app__sequencer_config_t *config,
                                          sim_message_t *message);
void app__spec_destroy(app__spec_t *spec);
void app__spec_carry(app__spec_t *spec, sim_carry_t *carry);
const app__thread_t *app__spec_client_thread(const app__spec_t *spec, uint32_t client);
app__server_sums_t app__spec_sums(const app_t *app, const app__spec_t *spec);

#endif // APPS_SERVICES_SEQUENCER_INTERNAL_H
