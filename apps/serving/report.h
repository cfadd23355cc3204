// SPDX-License-Identifier: Apache-2.0
// apps/serving/report.h - the values that `serving` reports after a run.
#ifndef APPS_SERVING_REPORT_H
#define APPS_SERVING_REPORT_H

#include "apps/serving/attempt.h"
#include "apps/serving/node.h"

// Parts of the time from the arrival of a request to its last token. They add up to it.
typedef enum app__serving_report_stage {
    APP__SERVING_ROUTING,
    APP__SERVING_FETCH_WAIT,
    APP__SERVING_PREFILL_QUEUE,
    APP__SERVING_PREFILL,
    APP__SERVING_MEMORY_WAIT,
    APP__SERVING_KV,
    APP__SERVING_DECODE_QUEUE,
    APP__SERVING_DECODE,
    APP__SERVING_STAGES,
} app__serving_report_stage_t;

typedef struct app__serving_stages {
    double ms[APP__SERVING_STAGES];
} app__serving_stages_t;

typedef struct app__serving_nic_row {
    const char *node;
    uint64_t nic;
    const char *use;
    uint64_t sent_bytes;
    uint64_t received_bytes;
} app__serving_nic_row_t;

typedef struct app__serving_node_row {
    const char *node;
    const char *role;
    uint64_t steps;
    uint64_t prefill_tokens;
    uint64_t decode_tokens;
    uint64_t preemptions;
    uint64_t hosts;
    double batch_mean;
    double busy_percent;
    double bubble_percent;
    double exchange_percent;
    double tp_percent;
    double pp_percent;
    double memory_percent;
    uint64_t sent_bytes;
    uint64_t received_bytes;
} app__serving_node_row_t;

typedef struct app__serving_request_row {
    uint64_t request;
    const char *prefill;
    const char *decode;
    uint64_t prompt_tokens;
    uint64_t output_tokens;
    double arrival_ms;
    double ttft_ms;
    double e2e_ms;
    uint64_t preempted;
    uint64_t cached_tokens;
    app__serving_stages_t stages;
} app__serving_request_row_t;

// Shares of all requests' time in which they waited for the network.
typedef struct app__serving_network {
    double messages;
    double store;
    double kv;
    double tp;
    double pp;
    double ep;
} app__serving_network_t;

typedef struct app__serving_report {
    uint64_t requests;
    uint64_t refused;
    uint64_t failed;
    uint64_t unfinished;
    uint64_t placed_again;
    sim_percentiles_t ttft_ms;
    sim_percentiles_t tpot_ms;
    sim_percentiles_t e2e_ms;
    double goodput_rps;
    double good_share;
    double requests_per_s;
    double tokens_per_s;
    double kv_hit_rate;
    double network_share;
    app__serving_network_t network_shares;
    double nic_imbalance;
    double storage_nic_imbalance;
    sim_percentiles_t kv_ms;
    double kv_formula_ms;
    app__serving_stages_t stages;
    double seconds;
    uint64_t prompt_tokens;
    uint64_t output_tokens;
    uint64_t preemptions;
    uint64_t again_tokens;
    uint64_t kv_bytes;
    uint64_t fetched_bytes;
    uint64_t stored_bytes;
    uint64_t fetches_failed;
    uint64_t exchange_bytes;
    uint64_t exchanges_failed;
    uint64_t tp_bytes;
    uint64_t pp_bytes;
    app__serving_node_row_t *nodes;
    size_t node_count;
    app__serving_nic_row_t *nics;
    size_t nic_count;
    app__serving_request_row_t *served;
    size_t served_count;
} app__serving_report_t;

#define APP__SERVING_REPORT_ROWS 36u
extern const sim_report_row_t app__serving_report_rows[APP__SERVING_REPORT_ROWS];

// Fills what `serving` reports of its nodes; all_ps: from the start to the last token.
void app__serving_report_nodes(const app__serving_t *serving, app__serving_report_t *report,
                               double all_ps);
// Adds the time of a served request that its steps waited for other hosts of a node, or of a pool.
void app__serving_add_network(const app__serving_t *serving, const app__serving_attempt_t *attempt,
                              const double stage_ps[APP__SERVING_STAGES],
                              app__serving_network_t *sum_ps);
// Computes the stages of a request that was served, in ps.
void app__serving_stages(const app__serving_attempt_t *attempt,
                         double stage_ps[APP__SERVING_STAGES]);
// Returns the time of a token's KV data at the rates of the busiest NICs of a prefill and a decode
// node, in ps: the formula of simulators without a network.
double app__serving_formula_ps(const app__serving_t *serving);

extern const sim_report_table_t app__serving_report;
void app__serving_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);

#endif // APPS_SERVING_REPORT_H
