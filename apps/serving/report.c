// SPDX-License-Identifier: Apache-2.0
// apps/serving/report.c - fills the report of `serving`, and warns of what failed
// (docs/models/serving.md).
#include "apps/serving/report.h"

#include <math.h>
#include <string.h>

#include "apps/serving/failures.h"
#include "apps/serving/router.h"
#include "apps/serving/transfers/kv_transfer.h"

typedef struct sums {
    sim_sample_set_t ttft;
    sim_sample_set_t tpot;
    sim_sample_set_t e2e;
    sim_sample_set_t kv;
    double e2e_ps;
    app__serving_network_t network_ps;
    uint64_t good;
    uint64_t reused;
    sim_time_t last_ps;
} sums_t;

static sim_time_t first_of(const app__serving_t *serving, const app__serving_attempt_t *attempt)
{
    return serving->config.first == APP__SERVING_FIRST_PREFILL &&
                   attempt->ready_ps != SIM_TIME_NEVER
               ? attempt->prefill_first_ps
               : attempt->first_ps;
}

void app__serving_stages(const app__serving_attempt_t *attempt,
                         double stage_ps[APP__SERVING_STAGES])
{
    for (uint32_t s = 0; s < APP__SERVING_STAGES; s++) {
        stage_ps[s] = 0.0;
    }
    stage_ps[APP__SERVING_ROUTING] = (double)(attempt->queued_ps - attempt->arrival_ps);
    stage_ps[APP__SERVING_FETCH_WAIT] = (double)(attempt->fetched_ps - attempt->queued_ps);
    stage_ps[APP__SERVING_PREFILL_QUEUE] = (double)(attempt->began_ps - attempt->fetched_ps);
    stage_ps[APP__SERVING_PREFILL] = (double)(attempt->computed_ps - attempt->began_ps);
    sim_time_t from_ps = attempt->computed_ps;
    if (attempt->ready_ps != SIM_TIME_NEVER) {
        // A wait for memory counts where the prompt is computed; messages count as KV data.
        const sim_time_t begin_ps = SIM_MAX(attempt->reserved_ps, from_ps);
        const sim_time_t wait_ps = attempt->gave_ps > begin_ps ? attempt->gave_ps - begin_ps : 0;
        stage_ps[APP__SERVING_MEMORY_WAIT] = (double)wait_ps;
        stage_ps[APP__SERVING_KV] = (double)(attempt->ready_ps - from_ps - wait_ps);
        from_ps = attempt->ready_ps;
        if (attempt->joined_ps != SIM_TIME_NEVER) {
            stage_ps[APP__SERVING_DECODE_QUEUE] = (double)(attempt->joined_ps - from_ps);
            from_ps = attempt->joined_ps;
        }
    }
    stage_ps[APP__SERVING_DECODE] = (double)(attempt->end_ps - from_ps);
}

// Counts a request at each multiple of the goals that its times are within.
static void add_to_goals(const app__serving_t *serving, sim_time_t ttft_ps, sim_time_t tpot_ps,
                         app__serving_goal_t *goals)
{
    static const double factors[APP__SERVING_GOALS] = {0.125, 0.2, 0.25, 0.4, 0.5, 0.7, 1,
                                                       1.4,   2,   3,    4,   6,   8};
    for (size_t i = 0; i < APP__SERVING_GOALS; i++) {
        goals[i].factor = factors[i];
        const bool first =
            (double)ttft_ps <= goals[i].factor * (double)serving->config.ttft_goal_ps;
        const bool further =
            (double)tpot_ps <= goals[i].factor * (double)serving->config.tpot_goal_ps;
        goals[i].ttft_rps += first ? 1 : 0;
        goals[i].tpot_rps += further ? 1 : 0;
        goals[i].goodput_rps += first && further ? 1 : 0;
    }
}

static void add_served(const app__serving_t *serving, const app__serving_attempt_t *attempt,
                       uint32_t number, app__serving_report_t *report, sums_t *sums)
{
    const app__request_t *const request = &serving->requests.items[number];
    const sim_time_t first_ps = first_of(serving, attempt);
    const sim_time_t ttft_ps = first_ps - attempt->arrival_ps;
    const sim_time_t e2e_ps = attempt->end_ps - attempt->arrival_ps;
    SIM_CHECK(attempt->tokens == request->output_tokens);
    report->requests++;
    report->prompt_tokens += request->prompt_tokens;
    report->output_tokens += attempt->tokens;
    sim_sample_set_add(&sums->ttft, ttft_ps);
    sim_sample_set_add(&sums->e2e, e2e_ps);
    sim_time_t tpot_ps = 0;
    if (request->output_tokens > 1) {
        tpot_ps = (attempt->end_ps - first_ps) / (request->output_tokens - 1);
        sim_sample_set_add(&sums->tpot, tpot_ps);
    }
    sums->good +=
        ttft_ps <= serving->config.ttft_goal_ps && tpot_ps <= serving->config.tpot_goal_ps;
    add_to_goals(serving, ttft_ps, tpot_ps, report->goals);
    double stage_ps[APP__SERVING_STAGES];
    app__serving_stages(attempt, stage_ps);
    for (uint32_t s = 0; s < APP__SERVING_STAGES; s++) {
        report->stages.ms[s] += stage_ps[s];
    }
    if (attempt->ready_ps != SIM_TIME_NEVER) {
        sim_sample_set_add(&sums->kv, (uint64_t)stage_ps[APP__SERVING_KV]);
    }
    sums->e2e_ps += (double)e2e_ps;
    sums->network_ps.messages += stage_ps[APP__SERVING_ROUTING];
    sums->network_ps.store += stage_ps[APP__SERVING_FETCH_WAIT];
    sums->network_ps.kv += stage_ps[APP__SERVING_KV];
    app__serving_add_network(serving, attempt, stage_ps, &sums->network_ps);
    sums->reused += attempt->reused_in_fact;
    sums->last_ps = SIM_MAX(attempt->end_ps, sums->last_ps);
}

// Returns the largest sum of bytes of a NIC divided by the mean; NaN: nothing moved.
static double imbalance(const app__serving_report_t *report, bool storage)
{
    double sum = 0.0;
    double most = 0.0;
    double count = 0.0;
    for (size_t i = 0; i < report->nic_count; i++) {
        const app__serving_nic_row_t *const nic = &report->nics[i];
        if (strcmp(nic->use, storage ? "storage" : "compute") == 0) {
            const double bytes = (double)nic->sent_bytes + (double)nic->received_bytes;
            sum += bytes;
            most = SIM_MAX(bytes, most);
            count += 1.0;
        }
    }
    return sum > 0.0 ? most * count / sum : (double)NAN;
}

static void fill_nics(const app__serving_t *serving, app__serving_report_t *report)
{
    const uint32_t all = serving->all_count;
    report->nics = sim_alloc_array(serving->nic_count, sizeof(*report->nics));
    for (uint32_t n = 0; n < all; n++) {
        const app__serving_node_t *const node = &serving->nodes[n];
        for (uint32_t i = 0; i < node->nics; i++) {
            app__serving_nic_row_t *const nic = &report->nics[report->nic_count++];
            *nic = (app__serving_nic_row_t){
                .node = node->station->host->sim.name,
                .nic = i,
                .use = node->place.gpus == 0                  ? "store"
                       : i + node->storage_nics >= node->nics ? "storage"
                                                              : "compute",
                .sent_bytes = node->nic_sent[i],
                .received_bytes = node->nic_received[i],
            };
            // Transfers that other nodes posted.
            for (uint32_t m = 0; m < all; m++) {
                nic->sent_bytes += serving->nodes[m].read_from[node->first_nic + i];
                nic->received_bytes += serving->nodes[m].written_to[node->first_nic + i];
            }
        }
    }
    report->nic_imbalance = imbalance(report, false);
    report->storage_nic_imbalance = imbalance(report, true);
}

// Returns the time of a token's KV data at the busiest NIC of the first host of a node, which has
// most layers.
static double busiest_ps(const app__serving_node_t *node)
{
    const app__serving_t *const serving = node->serving;
    const double share = (double)node->place.layers / (double)serving->served.sizes.layers;
    const uint32_t all = serving->flows;
    double most_ps = 0.0;
    for (uint32_t i = 0; i < node->nics; i++) {
        uint64_t flows = 0;
        for (uint32_t f = 0; f < all; f++) {
            const uint32_t gpu = (uint32_t)(f * node->gpus.count / all) % node->place.gpus;
            flows +=
                app__serving_rank_of(node, f, all) == 0 && app__serving_nic_of_gpu(node, gpu) == i;
        }
        const double rate = (double)nic_rate_bps(nic_at(node->station->host, i));
        const double time_ps = (double)flows * (double)serving->flow_unit_bytes * 8e12 / rate;
        most_ps = SIM_MAX(time_ps * share, most_ps);
    }
    return most_ps;
}

double app__serving_formula_ps(const app__serving_t *serving)
{
    const double from_ps = busiest_ps(&serving->nodes[0]);
    const double to_ps = busiest_ps(&serving->nodes[serving->node_count - 1]);
    return SIM_MAX(from_ps, to_ps);
}

static void fill_served(const app__serving_t *serving, app__serving_report_t *report)
{
    report->served = sim_alloc_array(serving->requests.count, sizeof(*report->served));
    for (uint32_t i = 0; i < serving->requests.count; i++) {
        const app__serving_attempt_t *const attempt = app__serving_served(serving, i);
        if (attempt == NULL) {
            continue;
        }
        double stage_ps[APP__SERVING_STAGES];
        app__serving_stages(attempt, stage_ps);
        const double ms = (double)SIM_PS_PER_MS;
        app__serving_request_row_t *const row = &report->served[report->served_count++];
        *row = (app__serving_request_row_t){
            .request = i,
            .prefill = serving->nodes[attempt->prefill].station->host->sim.name,
            .decode = serving->nodes[attempt->decode].station->host->sim.name,
            .prompt_tokens = serving->requests.items[i].prompt_tokens,
            .output_tokens = attempt->tokens,
            .arrival_ms = (double)attempt->arrival_ps / ms,
            .ttft_ms = (double)(first_of(serving, attempt) - attempt->arrival_ps) / ms,
            .e2e_ms = (double)(attempt->end_ps - attempt->arrival_ps) / ms,
            .preempted = attempt->preempted,
            .cached_tokens = attempt->reused_in_fact,
        };
        for (uint32_t s = 0; s < APP__SERVING_STAGES; s++) {
            row->stages.ms[s] = stage_ps[s] / ms;
        }
    }
}

static void fill_network(app__serving_report_t *report, const sums_t *sums)
{
    const app__serving_network_t *const ps = &sums->network_ps;
    const double all_ps = sums->e2e_ps > 0.0 ? sums->e2e_ps : (double)NAN;
    report->network_shares = (app__serving_network_t){
        .messages = ps->messages / all_ps,
        .store = ps->store / all_ps,
        .kv = ps->kv / all_ps,
        .tp = ps->tp / all_ps,
        .pp = ps->pp / all_ps,
        .ep = ps->ep / all_ps,
    };
    report->network_share = (ps->messages + ps->store + ps->kv + ps->tp + ps->pp + ps->ep) / all_ps;
}

static void fill_sums(const app__serving_t *serving, app__serving_report_t *report, sums_t *sums)
{
    const sim_time_t end_ps = sim_end_time_ps(net_sim(serving->app.net));
    const uint64_t ended = report->requests + report->refused + report->failed;
    const sim_time_t until_ps = ended < serving->requests.count ? end_ps : sums->last_ps;
    const sim_time_t start_ps = serving->config.start_ps;
    const double seconds = until_ps > start_ps ? (double)(until_ps - start_ps) / 1e12 : (double)NAN;
    report->seconds = until_ps > start_ps ? seconds : 0.0;
    report->requests_per_s = (double)report->requests / seconds;
    report->goodput_rps = (double)sums->good / seconds;
    for (size_t i = 0; i < APP__SERVING_GOALS; i++) {
        report->goals[i].goodput_rps /= seconds;
        report->goals[i].ttft_rps /= seconds;
        report->goals[i].tpot_rps /= seconds;
    }
    report->goal_list =
        (sim_report_list_t){report->goals, report->requests > 0 ? APP__SERVING_GOALS : 0};
    report->tokens_per_s = (double)report->output_tokens / seconds;
    report->good_share =
        report->requests == 0 ? (double)NAN : (double)sums->good / (double)report->requests;
    report->kv_hit_rate = report->prompt_tokens == 0
                              ? (double)NAN
                              : (double)sums->reused / (double)report->prompt_tokens;
    fill_network(report, sums);
    for (uint32_t s = 0; s < APP__SERVING_STAGES; s++) {
        report->stages.ms[s] =
            report->requests == 0
                ? (double)NAN
                : report->stages.ms[s] / (double)report->requests / (double)SIM_PS_PER_MS;
    }
    report->ttft_ms = sim_percentiles(&sums->ttft, SIM_PS_PER_MS);
    report->tpot_ms = sim_percentiles(&sums->tpot, SIM_PS_PER_MS);
    report->e2e_ms = sim_percentiles(&sums->e2e, SIM_PS_PER_MS);
    report->kv_ms = sim_percentiles(&sums->kv, SIM_PS_PER_MS);
    report->ttft = sim_report_points(&sums->ttft);
    report->tpot = sim_report_points(&sums->tpot);
    report->kv = sim_report_points(&sums->kv);
    if (serving->node_count > serving->prefill_count && report->requests > 0) {
        report->kv_formula_ms = app__serving_formula_ps(serving) * (double)report->prompt_tokens /
                                (double)report->requests / (double)SIM_PS_PER_MS;
    } else {
        report->kv_formula_ms = (double)NAN;
    }
    app__serving_report_nodes(serving, report, seconds * 1e12);
}

static void serving_fill(const void *object, void *report_void)
{
    const app__serving_t *const serving = object;
    app__serving_report_t *const report = report_void;
    sums_t sums = {.good = 0};
    sim_sample_set_init(&sums.ttft);
    sim_sample_set_init(&sums.tpot);
    sim_sample_set_init(&sums.e2e);
    sim_sample_set_init(&sums.kv);
    report->refused = serving->router->refused;
    report->placed_again = serving->router->placed_again;
    for (uint32_t i = 0; i < serving->requests.count; i++) {
        const app__serving_attempt_t *const attempt = app__serving_served(serving, i);
        if (attempt != NULL) {
            add_served(serving, attempt, i, report, &sums);
        } else {
            report->failed += serving->attempts[i].failed;
        }
    }
    report->unfinished =
        serving->requests.count - report->requests - report->refused - report->failed;
    fill_sums(serving, report, &sums);
    fill_nics(serving, report);
    if (serving->config.log) {
        fill_served(serving, report);
    }
    sim_sample_set_fini(&sums.ttft);
    sim_sample_set_fini(&sums.tpot);
    sim_sample_set_fini(&sums.e2e);
    sim_sample_set_fini(&sums.kv);
}

// Warns of failures that came when the last request had ended: nothing of them is in the results.
static void warn_late(const app__serving_t *serving, void (*write)(const char *text, void *ctx),
                      void *ctx)
{
    sim_time_t last_ps = 0;
    for (uint32_t i = 0; i < serving->requests.count; i++) {
        const sim_time_t settled_ps = serving->attempts[i].settled_ps;
        last_ps = SIM_MAX(settled_ps, last_ps); // NEVER: it has not ended
    }
    for (size_t i = 0; i < serving->failure_count; i++) {
        const app__serving_failure_t *const failure = &serving->failures[i];
        if (failure->at_ps > last_ps) {
            char *const text = sim_format("warning: serving: %s fails at %.6g s, but the last "
                                          "request ended at %.6g s\n",
                                          failure->host->sim.name, (double)failure->at_ps / 1e12,
                                          (double)last_ps / 1e12);
            write(text, ctx);
            sim_free(text);
        }
    }
}

void app__serving_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    const app__serving_t *const serving = (const app__serving_t *)(const void *)app;
    uint64_t failed = 0;
    uint64_t unreported = 0;
    for (uint32_t i = 0; i < serving->requests.count; i++) {
        failed += serving->attempts[i].failed && app__serving_served(serving, i) == NULL;
    }
    for (uint32_t n = 0; n < serving->node_count; n++) {
        unreported += serving->nodes[n].counters.unreported;
    }
    if (serving->router->too_long > 0) {
        char *const text = sim_format(
            "warning: serving: %" PRIu64 " request%s refused, since the KV data "
            "does not fit into the memory of a node\n",
            serving->router->too_long, serving->router->too_long == 1 ? " was" : "s were");
        write(text, ctx);
        sim_free(text);
    }
    if (failed > 0) {
        char *const text =
            sim_format("warning: serving: %" PRIu64 " request%s failed, since KV data or "
                       "messages could not be moved, or no node was left\n",
                       failed, sim_plural(failed));
        write(text, ctx);
        sim_free(text);
    }
    if (unreported > 0) {
        char *const text = sim_format(
            "warning: serving: the router was not told of the end of %" PRIu64
            " request%s, since messages to its host were lost for 30 s; it waits for them, so "
            "the run does not end by itself\n",
            unreported, sim_plural(unreported));
        write(text, ctx);
        sim_free(text);
    }
    warn_late(serving, write, ctx);
}

static void serving_fini(void *report_void)
{
    app__serving_report_t *const report = report_void;
    SIM_FREE_ALL(report->nodes, report->nics, report->served, report->ttft.points,
                 report->tpot.points, report->kv.points);
}

// -- the rows

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
static const sim_report_table_t stage_table =
    APP__TABLE(stage_rows, app__serving_stages_t);

#define NODE(...) APP__ROW(app__serving_node_row_t, __VA_ARGS__)
static const sim_report_row_t node_rows[] = {APP__SERVING_NODE_ROWS(NODE)};
static const sim_report_table_t node_table = APP__TABLE(node_rows, app__serving_node_row_t);

#define NETWORK(...) APP__ROW(app__serving_network_t, __VA_ARGS__)
static const sim_report_row_t network_rows[] = {APP__SERVING_NETWORK_ROWS(NETWORK)};
static const sim_report_table_t network_table = APP__TABLE(network_rows, app__serving_network_t);

#define NIC(...) APP__ROW(app__serving_nic_row_t, __VA_ARGS__)
static const sim_report_row_t nic_rows[] = {APP__SERVING_NIC_ROWS(NIC)};
static const sim_report_table_t nic_table = APP__TABLE(nic_rows, app__serving_nic_row_t);

#define REQUEST(...) APP__ROW(app__serving_request_row_t, __VA_ARGS__)
static const sim_report_row_t request_rows[] = {
    APP__SERVING_REQUEST_ROWS(REQUEST)
    {"stages", SIM_REPORT_OBJECT, "ms", "parts of e2e_ms, which add up to it",
     .offset = offsetof(app__serving_request_row_t, stages), .table = &stage_table},
};
static const sim_report_table_t request_table = APP__TABLE(request_rows, app__serving_request_row_t);

#define GOAL(...) APP__ROW(app__serving_goal_t, __VA_ARGS__)
static const sim_report_row_t goal_rows[] = {APP__SERVING_GOAL_ROWS(GOAL)};
static const sim_report_table_t goal_table = APP__TABLE(goal_rows, app__serving_goal_t);

#define ROW(...) APP__ROW(app__serving_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {
    APP__SERVING_FIRST_ROWS(ROW)
    {"network_shares", SIM_REPORT_OBJECT, "", "share of all requests' time in which they waited for the network, by kind",
     .offset = offsetof(app__serving_report_t, network_shares), .table = &network_table, .shown = false},
    APP__SERVING_NETWORK_TIME_ROWS(ROW)
    {"stages", SIM_REPORT_OBJECT, "ms", "mean parts of e2e_ms, which add up to it",
     .offset = offsetof(app__serving_report_t, stages), .table = &stage_table, .shown = true},
    APP__SERVING_SUM_ROWS(ROW)
    APP__ARRAY(app__serving_report_t, nodes, nodes, node_count, node_table, false, "each prefill and decode node")
    APP__ARRAY(app__serving_report_t, nics, nics, nic_count, nic_table, false, "each NIC of these nodes")
    APP__ARRAY(app__serving_report_t, ttft_cdf, ttft.points, ttft.count, sim_report_point_table, true, "distribution of ttft_ms over all requests")
    APP__ARRAY(app__serving_report_t, tpot_cdf, tpot.points, tpot.count, sim_report_point_table, true, "distribution of tpot_ms over all requests with two tokens or more")
    APP__ARRAY(app__serving_report_t, kv_cdf, kv.points, kv.count, sim_report_point_table, true, "distribution of kv_ms over all requests")
    {"goals", SIM_REPORT_LIST, "", "requests per second within multiples of the goals",
     .offset = offsetof(app__serving_report_t, goal_list), .of = SIM_REPORT_OBJECT, .table = &goal_table, .optional = true},
    APP__ARRAY(app__serving_report_t, served, served, served_count, request_table, true, "each served request, with log")
};
// clang-format on

const sim_report_table_t app__serving_report =
    APP__FILLED(report_rows, app__serving_report_t, serving_fill, .fini = serving_fini);
