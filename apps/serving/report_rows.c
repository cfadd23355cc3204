// SPDX-License-Identifier: Apache-2.0
// apps/serving/report_rows.c - the rows of the report of `serving` (docs/models/serving.md).
#include "apps/serving/report.h"

// clang-format off
#define STAGE(name_, index_, help_) \
    {name_, SIM_REPORT_REAL, "ms", help_, .offset = index_ * sizeof(double)}
static const sim_report_row_t stage_rows[] = {
    STAGE("routing_ms", APP__SERVING_ROUTING, "from the arrival at the router to the prefill node"),
    STAGE("fetch_ms", APP__SERVING_FETCH_WAIT, "wait at the prefill node for KV data of earlier prompts"),
    STAGE("prefill_queue_ms", APP__SERVING_PREFILL_QUEUE, "wait at the prefill node until a step takes the request"),
    STAGE("prefill_ms", APP__SERVING_PREFILL, "from that step to the end of the one that completes the prompt"),
    STAGE("memory_wait_ms", APP__SERVING_MEMORY_WAIT, "further time in which the decode node had no memory for the request"),
    STAGE("kv_ms", APP__SERVING_KV, "further time until all KV data is at the decode node, with the messages about it"),
    STAGE("decode_queue_ms", APP__SERVING_DECODE_QUEUE, "wait at the decode node until a step takes the request"),
    STAGE("decode_ms", APP__SERVING_DECODE, "from that step, or from the computed prompt if one node does both, to the last token"),
};
static const sim_report_table_t stage_table = {
    .rows = stage_rows, .count = SIM_COUNT_OF(stage_rows), .bytes = sizeof(app__serving_stages_t)};

#define NODE(name_, kind_, unit_, help_) \
    {#name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(app__serving_node_row_t, name_)}
static const sim_report_row_t node_rows[] = {
    NODE(node, STRING, "", "host of the node, the first one of several"),
    NODE(hosts, U64, "", "number of hosts of the node: pipeline stages x tp-hosts"),
    NODE(role, STRING, "", "prefill, decode, or both"),
    NODE(steps, U64, "", "number of steps that the node's GPUs computed"),
    NODE(prefill_tokens, U64, "", "number of tokens of prompts that the node computed, those computed again included"),
    NODE(decode_tokens, U64, "", "number of tokens that the node computed behind their prompts"),
    NODE(preemptions, U64, "", "number of requests that gave up their memory for others"),
    NODE(batch_mean, REAL, "", "mean number of requests in a step"),
    NODE(busy_percent, REAL, "%", "share of the time from the start to the last token in which the node computed; mean of its stages"),
    NODE(bubble_percent, REAL, "%", "share of the time with steps under way in which a stage of the node had none to compute; mean of its stages"),
    NODE(exchange_percent, REAL, "%", "share of its steps in which the node waited for experts of other nodes"),
    NODE(tp_percent, REAL, "%", "share of its steps in which the node waited for all-reduces between its hosts"),
    NODE(pp_percent, REAL, "%", "share of its steps, from the first stage to the last, in which activations were on their way between stages"),
    NODE(memory_percent, REAL, "%", "largest share of the node's KV memory in use at the begin of a step"),
    NODE(sent_bytes, U64, "bytes", "KV data that the node sent"),
    NODE(received_bytes, U64, "bytes", "KV data that the node received"),
};
static const sim_report_table_t node_table = {
    .rows = node_rows, .count = SIM_COUNT_OF(node_rows), .bytes = sizeof(app__serving_node_row_t)};

#define SHARE(name_, help_) \
    {#name_, SIM_REPORT_REAL, "", help_, .offset = offsetof(app__serving_network_t, name_)}
static const sim_report_row_t network_rows[] = {
    SHARE(messages, "messages from the router to the prefill node"),
    SHARE(store, "KV data of earlier prompts, from other nodes or the store"),
    SHARE(kv, "KV data from the prefill to the decode node"),
    SHARE(tp, "all-reduces between the hosts of a node, by the mean share of their steps"),
    SHARE(pp, "activations between the stages of a node, by the mean share of their steps"),
    SHARE(ep, "activations to experts of other nodes and back, by the mean share of their steps"),
};
static const sim_report_table_t network_table = {
    .rows = network_rows, .count = SIM_COUNT_OF(network_rows), .bytes = sizeof(app__serving_network_t)};

#define NIC(name_, kind_, unit_, help_) \
    {#name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(app__serving_nic_row_t, name_)}
static const sim_report_row_t nic_rows[] = {
    NIC(node, STRING, "", "host of the NIC"),
    NIC(nic, U64, "", "number of the NIC in its host"),
    NIC(use, STRING, "", "compute, storage (storage-nics), or store (of a storage node)"),
    NIC(sent_bytes, U64, "bytes", "KV data that the NIC sent"),
    NIC(received_bytes, U64, "bytes", "KV data that the NIC received"),
};
static const sim_report_table_t nic_table = {
    .rows = nic_rows, .count = SIM_COUNT_OF(nic_rows), .bytes = sizeof(app__serving_nic_row_t)};

#define SERVED(name_, kind_, unit_, help_) \
    {#name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(app__serving_request_row_t, name_)}
static const sim_report_row_t served_rows[] = {
    SERVED(request, U64, "", "number of the request, from 0"),
    SERVED(prefill, STRING, "", "host that computed the prompt"),
    SERVED(decode, STRING, "", "host that generated the tokens"),
    SERVED(prompt_tokens, U64, "", "number of tokens of the prompt"),
    SERVED(output_tokens, U64, "", "number of tokens that were generated"),
    SERVED(arrival_ms, REAL, "ms", "simulated time of the arrival"),
    SERVED(ttft_ms, REAL, "ms", "time from the arrival to the first token"),
    SERVED(e2e_ms, REAL, "ms", "time from the arrival to the last token"),
    SERVED(preempted, U64, "", "number of times that the request gave up its memory at its decode node"),
    SERVED(cached_tokens, U64, "", "number of tokens of the prompt that were not computed, since their KV data was in a cache"),
    {"stages", SIM_REPORT_OBJECT, "ms", "parts of e2e_ms, which add up to it",
     .offset = offsetof(app__serving_request_row_t, stages), .table = &stage_table},
};
static const sim_report_table_t served_table = {
    .rows = served_rows, .count = SIM_COUNT_OF(served_rows), .bytes = sizeof(app__serving_request_row_t)};

#define ROW(name_, kind_, unit_, shown_, help_) \
    {#name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(app__serving_report_t, name_), .shown = shown_}
#define TIMES(name_, shown_, help_) \
    {#name_, SIM_REPORT_OBJECT, "ms", help_, .offset = offsetof(app__serving_report_t, name_), \
     .table = &sim_report_percentiles, .shown = shown_}
#define LIST(name_, count_, table_, help_) \
    {.name = #name_, .kind = SIM_REPORT_LIST, .unit = "", .help = help_, .of = SIM_REPORT_OBJECT, \
     .table = &table_, .get = get_##name_}

static bool get_nodes(const void *object, sim_report_value_t *value)
{
    const app__serving_report_t *const report = object;
    value->list = (sim_report_list_t){report->nodes, report->node_count};
    return true;
}

static bool get_nics(const void *object, sim_report_value_t *value)
{
    const app__serving_report_t *const report = object;
    value->list = (sim_report_list_t){report->nics, report->nic_count};
    return true;
}

static bool get_served(const void *object, sim_report_value_t *value)
{
    const app__serving_report_t *const report = object;
    value->list = (sim_report_list_t){report->served, report->served_count};
    return report->served != NULL;
}

const sim_report_row_t app__serving_report_rows[APP__SERVING_REPORT_ROWS] = {
    ROW(requests, U64, "", true, "number of requests that were served to their last token"),
    ROW(refused, U64, "", true, "number of requests that were refused, by admission or since their KV data fits into no node"),
    ROW(failed, U64, "", true, "number of requests that failed, since their KV data or messages about them could not be moved, or no node was left"),
    ROW(unfinished, U64, "", true, "number of requests that had not ended, or not arrived, when the run ended"),
    ROW(placed_again, U64, "", false, "number of times that a request was placed on other nodes because one of its own was lost"),
    TIMES(ttft_ms, true, "time from a request's arrival to its first token"),
    TIMES(tpot_ms, true, "time per further token of a request, of requests with at least two"),
    TIMES(e2e_ms, true, "time from a request's arrival to its last token"),
    ROW(goodput_rps, REAL, "1/s", true, "requests per second within ttft-goal and tpot-goal"),
    ROW(good_share, REAL, "", true, "share of served requests within both goals"),
    ROW(requests_per_s, REAL, "1/s", true, "served requests per second"),
    ROW(tokens_per_s, REAL, "1/s", true, "generated tokens per second"),
    ROW(kv_hit_rate, REAL, "", true, "share of prompt tokens that were not computed, since their KV data was in a cache"),
    ROW(network_share, REAL, "", true, "share of all requests' time in which they waited for the network: the sum of network_shares"),
    {"network_shares", SIM_REPORT_OBJECT, "", "share of all requests' time in which they waited for the network, by kind",
     .offset = offsetof(app__serving_report_t, network_shares), .table = &network_table, .shown = false},
    ROW(nic_imbalance, REAL, "", true, "largest traffic of a NIC divided by the mean, over the NICs of prefill and decode nodes, without storage-nics"),
    ROW(storage_nic_imbalance, REAL, "", false, "largest traffic of a NIC for storage divided by the mean, over the storage-nics of prefill and decode nodes"),
    TIMES(kv_ms, true, "time from a computed prompt until its decode node has all KV data, without waits for memory there"),
    ROW(kv_formula_ms, REAL, "ms", true, "mean KV data of a request divided by the rate of a node's NICs: the formula without a network"),
    {"stages", SIM_REPORT_OBJECT, "ms", "mean parts of e2e_ms, which add up to it",
     .offset = offsetof(app__serving_report_t, stages), .table = &stage_table, .shown = true},
    ROW(seconds, REAL, "s", false, "time from the start to the last token, or to the end of an interrupted run"),
    ROW(prompt_tokens, U64, "", false, "number of tokens of the prompts of served requests"),
    ROW(output_tokens, U64, "", false, "number of tokens that were generated for served requests"),
    ROW(preemptions, U64, "", false, "number of times that a request gave up its memory for others"),
    ROW(again_tokens, U64, "", false, "number of tokens whose KV data was given up by preemptions"),
    ROW(kv_bytes, U64, "bytes", false, "KV data that prefill nodes sent"),
    ROW(fetched_bytes, U64, "bytes", false, "KV data of earlier prompts that nodes read from others"),
    ROW(stored_bytes, U64, "bytes", false, "KV data that prefill nodes wrote to storage nodes"),
    ROW(fetches_failed, U64, "", false, "number of prompts that were computed further, since KV data of earlier ones could not be read"),
    ROW(exchange_bytes, U64, "bytes", false, "activations that went to experts of other nodes and back"),
    ROW(exchanges_failed, U64, "", false, "number of transfers of activations that failed, after which the step went on"),
    ROW(tp_bytes, U64, "bytes", false, "activations that hosts of a node sent to each other in all-reduces"),
    ROW(pp_bytes, U64, "bytes", false, "activations that stages of a node sent to the next one"),
    LIST(nodes, node_count, node_table, "each prefill and decode node"),
    LIST(nics, nic_count, nic_table, "each NIC of these nodes"),
    LIST(served, served_count, served_table, "each served request, with log"),
};
// clang-format on
