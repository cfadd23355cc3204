// SPDX-License-Identifier: Apache-2.0
// apps/serving/report.h - the values that `serving` reports after a run.
#ifndef APPS_SERVING_REPORT_H
#define APPS_SERVING_REPORT_H

#include "apps/report_rows.h"
#include "apps/serving/attempt.h"
#include "apps/serving/goals.h"
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

// clang-format off
#define APP__SERVING_NIC_ROWS(X) \
    X(node, STRING, "", false, "host of the NIC") \
    X(nic, U64, "", false, "number of the NIC in its host") \
    X(use, STRING, "", false, "compute, storage (storage-nics), or store (of a storage node)") \
    X(sent_bytes, U64, "bytes", false, "KV data that the NIC sent") \
    X(received_bytes, U64, "bytes", false, "KV data that the NIC received")
// clang-format on
typedef struct app__serving_nic_row {
    APP__SERVING_NIC_ROWS(APP__MEMBER)
} app__serving_nic_row_t;

// clang-format off
#define APP__SERVING_NODE_ROWS(X) \
    X(node, STRING, "", false, "host of the node, the first one of several") \
    X(hosts, U64, "", false, "number of hosts of the node: pipeline stages x tp-hosts") \
    X(role, STRING, "", false, "prefill, decode, or both") \
    X(steps, U64, "", false, "number of steps that the node's GPUs computed") \
    X(prefill_tokens, U64, "", false, "number of tokens of prompts that the node computed, those computed again included") \
    X(decode_tokens, U64, "", false, "number of tokens that the node computed behind their prompts") \
    X(preemptions, U64, "", false, "number of requests that gave up their memory for others") \
    X(batch_mean, REAL, "", false, "mean number of requests in a step") \
    X(busy_percent, REAL, "%", false, "share of the time from the start to the last token in which the node computed; mean of its stages") \
    X(bubble_percent, REAL, "%", false, "share of the time with steps under way in which a stage of the node had none to compute; mean of its stages") \
    X(exchange_percent, REAL, "%", false, "share of its steps in which the node waited for experts of other nodes") \
    X(tp_percent, REAL, "%", false, "share of its steps in which the node waited for all-reduces between its hosts") \
    X(pp_percent, REAL, "%", false, "share of its steps, from the first stage to the last, in which activations were on their way between stages") \
    X(memory_percent, REAL, "%", false, "largest share of the node's KV memory in use at the begin of a step") \
    X(sent_bytes, U64, "bytes", false, "KV data that the node sent") \
    X(received_bytes, U64, "bytes", false, "KV data that the node received") \
    X(waiting, U64, "", false, "number of requests that waited for a turn at the node when the run ended")
// clang-format on
typedef struct app__serving_node_row {
    APP__SERVING_NODE_ROWS(APP__MEMBER)
} app__serving_node_row_t;

// clang-format off
#define APP__SERVING_REQUEST_ROWS(X) \
    X(request, U64, "", false, "number of the request, from 0") \
    X(prefill, STRING, "", false, "host that computed the prompt") \
    X(decode, STRING, "", false, "host that generated the tokens") \
    X(prompt_tokens, U64, "", false, "number of tokens of the prompt") \
    X(output_tokens, U64, "", false, "number of tokens that were generated") \
    X(arrival_ms, REAL, "ms", false, "simulated time of the arrival") \
    X(ttft_ms, REAL, "ms", false, "time from the arrival to the first token") \
    X(e2e_ms, REAL, "ms", false, "time from the arrival to the last token") \
    X(preempted, U64, "", false, "number of times that the request gave up its memory at its decode node") \
    X(cached_tokens, U64, "", false, "number of tokens of the prompt that were not computed, since their KV data was in a cache")
// clang-format on
typedef struct app__serving_request_row {
    APP__SERVING_REQUEST_ROWS(APP__MEMBER)
    app__serving_stages_t stages;
} app__serving_request_row_t;

// clang-format off
#define APP__SERVING_NETWORK_ROWS(X) \
    X(messages, REAL, "", false, "messages from the router to the prefill node") \
    X(store, REAL, "", false, "KV data of earlier prompts, from other nodes or the store") \
    X(kv, REAL, "", false, "KV data from the prefill to the decode node") \
    X(tp, REAL, "", false, "all-reduces between the hosts of a node, by the mean share of their steps") \
    X(pp, REAL, "", false, "activations between the stages of a node, by the mean share of their steps") \
    X(ep, REAL, "", false, "activations to experts of other nodes and back, by the mean share of their steps")
// clang-format on
// Shares of all requests' time in which they waited for the network.
typedef struct app__serving_network {
    APP__SERVING_NETWORK_ROWS(APP__MEMBER)
} app__serving_network_t;

// clang-format off
#define APP__SERVING_FIRST_ROWS(X) \
    X(requests, U64, "", true, "number of requests that were served to their last token") \
    X(refused, U64, "", true, "number of requests that were refused, by admission or since their KV data fits into no node") \
    X(failed, U64, "", true, "number of requests that failed, since their KV data or messages about them could not be moved, or no node was left") \
    X(unfinished, U64, "", true, "number of requests that had not ended, or not arrived, when the run ended") \
    X(placed_again, U64, "", false, "number of times that a request was placed on other nodes because one of its own was lost") \
    X(ttft_ms, TIMES, "ms", true, "time from a request's arrival to its first token") \
    X(tpot_ms, TIMES, "ms", true, "time per further token of a request, of requests with at least two") \
    X(e2e_ms, TIMES, "ms", true, "time from a request's arrival to its last token") \
    X(goodput_rps, REAL, "1/s", true, "requests per second within ttft-goal and tpot-goal") \
    X(good_share, REAL, "", true, "share of served requests within both goals") \
    X(requests_per_s, REAL, "1/s", true, "served requests per second") \
    X(tokens_per_s, REAL, "1/s", true, "generated tokens per second") \
    X(kv_hit_rate, REAL, "", true, "share of prompt tokens that were not computed, since their KV data was in a cache") \
    X(network_share, REAL, "", true, "share of all requests' time in which they waited for the network: the sum of network_shares")
#define APP__SERVING_NETWORK_TIME_ROWS(X) \
    X(nic_imbalance, REAL, "", true, "largest traffic of a NIC divided by the mean, over the NICs of prefill and decode nodes, without storage-nics") \
    X(storage_nic_imbalance, REAL, "", false, "largest traffic of a NIC for storage divided by the mean, over the storage-nics of prefill and decode nodes") \
    X(kv_ms, TIMES, "ms", true, "time from a computed prompt until its decode node has all KV data, without waits for memory there") \
    X(kv_formula_ms, REAL, "ms", true, "mean KV data of a request divided by the rate of a node's NICs: the formula without a network")
#define APP__SERVING_SUM_ROWS(X) \
    X(seconds, REAL, "s", false, "time from the start to the last token, or to the end of an interrupted run") \
    X(prompt_tokens, U64, "", false, "number of tokens of the prompts of served requests") \
    X(output_tokens, U64, "", false, "number of tokens that were generated for served requests") \
    X(preemptions, U64, "", false, "number of times that a request gave up its memory for others") \
    X(again_tokens, U64, "", false, "number of tokens whose KV data was given up by preemptions") \
    X(kv_bytes, U64, "bytes", false, "KV data that prefill nodes sent") \
    X(fetched_bytes, U64, "bytes", false, "KV data of earlier prompts that nodes read from others") \
    X(stored_bytes, U64, "bytes", false, "KV data that prefill nodes wrote to storage nodes") \
    X(fetches_failed, U64, "", false, "number of prompts that were computed further, since KV data of earlier ones could not be read") \
    X(exchange_bytes, U64, "bytes", false, "activations that went to experts of other nodes and back") \
    X(exchanges_failed, U64, "", false, "number of transfers of activations that failed, after which the step went on") \
    X(tp_bytes, U64, "bytes", false, "activations that hosts of a node sent to each other in all-reduces") \
    X(pp_bytes, U64, "bytes", false, "activations that stages of a node sent to the next one")
// clang-format on
typedef struct app__serving_report {
    APP__SERVING_FIRST_ROWS(APP__MEMBER)
    app__serving_network_t network_shares;
    APP__SERVING_NETWORK_TIME_ROWS(APP__MEMBER)
    app__serving_stages_t stages;
    APP__SERVING_SUM_ROWS(APP__MEMBER)
    app__serving_node_row_t *nodes;
    size_t node_count;
    app__serving_nic_row_t *nics;
    size_t nic_count;
    sim_report_points_t ttft;
    sim_report_points_t tpot;
    sim_report_points_t kv;
    app__serving_goal_t goals[APP__SERVING_GOALS];
    sim_report_list_t goal_list;
    app__serving_request_row_t *served;
    size_t served_count;
} app__serving_report_t;

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
