// SPDX-License-Identifier: Apache-2.0
// apps/rates/contexts_internal.h - configuration of contexts.c, and the choice of the next queue
// pair (docs/models/tiered-cache.md).
#ifndef APPS_RATES_CONTEXTS_INTERNAL_H
#define APPS_RATES_CONTEXTS_INTERNAL_H

#include "apps/machine_internal.h"
#include "apps/zipf.h"
#include "nic/cache.h"

typedef enum app__pattern {
    APP__UNIFORM,
    APP__ZIPF,
    APP__SCAN,
    APP__BURSTY,
    APP__REPLAY
} app__pattern_t;

typedef enum app__side { APP__OUTBOUND, APP__INBOUND, APP__BOTH_WAYS } app__side_t;
typedef enum app__access { APP__ACCESS_WRITE, APP__ACCESS_READ } app__access_t;
typedef enum app__arrivals { APP__EVEN, APP__POISSON } app__arrivals_t;
typedef enum app__carrier { APP__CARRIER_RC, APP__CARRIER_UC } app__carrier_t;

typedef struct app__contexts_config {
    char *host;
    char *peer;
    uint64_t tokens;
    app__pattern_t pattern;
    sim_ratio_t skew;
    bool shuffle;
    uint64_t working_set;
    uint64_t phase;
    char *replay_file;
    char *record_file;
    app__side_t direction; // side that begins operations
    app__access_t verb;
    app__carrier_t transport;
    uint64_t bytes;
    uint64_t outstanding;
    sim_time_t interval_ps;
    app__arrivals_t arrivals;
    uint64_t churn;
    uint64_t regions;
    uint64_t region_bytes;
    uint64_t warm_up;
    uint64_t operations;
    sim_time_t start_ps;
} app__contexts_config_t;

// Data that the choices of both sides share.
typedef struct app__choices {
    const app__contexts_config_t *config;
    uint32_t *order; // queue pair by rank
    app_zipf_t zipf;
    uint32_t *replay;
    size_t replay_count;
} app__choices_t;

typedef struct app__choice {
    const app__choices_t *shared;
    sim_random_t random;
    uint32_t set_first;
} app__choice_t;

// Prepares choices, which app__choices_fini frees; for pattern replay it reads the file. After an
// error nothing is to be freed. `config` must last as long as the choices.
SIM_MUST_CHECK sim_err_t app__choices_init(app__choices_t *choices, const app_context_t *context,
                                           const app__contexts_config_t *config,
                                           sim_message_t *message);
void app__choices_fini(app__choices_t *choices);
// Returns the queue pair of operation `index`. Call it for 0, 1, 2... in this order.
uint32_t app__choose(app__choice_t *choice, uint64_t index);

#endif // APPS_RATES_CONTEXTS_INTERNAL_H
