// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/node_report.c - what `serving` reports of its nodes, over all of their hosts
// (docs/models/serving.md).
#include <math.h>

#include "apps/serving/report.h"

// Sums over the hosts of a node. Times are those of the first host of each stage: the others of the
// stage wait for it.
typedef struct sums {
    app__serving_counters_t all;
    double busy_ps;
    double exchange_ps;
    double tp_ps;
    double pp_ps;
} sums_t;

static void add_host(const app__serving_node_t *host, sums_t *sums)
{
    const app__serving_counters_t *const own = &host->counters;
    app__serving_counters_t *const all = &sums->all;
    all->sent_bytes += own->sent_bytes;
    all->fetched_bytes += own->fetched_bytes;
    all->stored_bytes += own->stored_bytes;
    all->exchange_bytes += own->exchange_bytes;
    all->exchanges_failed += own->exchanges_failed;
    all->fetches_failed += own->fetches_failed;
    all->tp_bytes += own->tp_bytes;
    all->pp_bytes += own->pp_bytes;
    if (host->place.rank == 0) {
        sums->busy_ps += (double)own->busy_ps;
        sums->exchange_ps += (double)own->exchange_ps;
        sums->tp_ps += (double)own->tp_ps;
        sums->pp_ps += (double)own->pp_ps;
    }
}

static sums_t sum_of(const app__serving_t *serving, uint32_t leader)
{
    sums_t sums = {.busy_ps = 0.0};
    for (uint32_t i = 0; i < serving->nodes[leader].place.host_count; i++) {
        add_host(&serving->nodes[app__serving_host_of(serving, leader, i)], &sums);
    }
    return sums;
}

static void fill_node(const app__serving_t *serving, uint32_t leader, const sums_t *sums,
                      double all_ps, app__serving_node_row_t *row)
{
    const app__serving_node_t *const node = &serving->nodes[leader];
    const app__serving_counters_t *const counters = &node->counters;
    const double steps = counters->steps == 0 ? (double)NAN : (double)counters->steps;
    const double stages = (double)node->place.stages;
    const double flight_ps = (double)counters->flight_ps * stages;
    *row = (app__serving_node_row_t){
        .node = node->station->host->sim.name,
        .role = serving->node_count == serving->prefill_count ? "both"
                : node->decodes                               ? "decode"
                                                              : "prefill",
        .hosts = node->place.host_count,
        .steps = counters->steps,
        .prefill_tokens = counters->prefill_tokens,
        .decode_tokens = counters->decode_tokens,
        .preemptions = counters->preemptions,
        .batch_mean = (double)counters->batch_sum / steps,
        // Steps of requests that other nodes served first may end after the last token.
        .busy_percent = all_ps > 0.0 ? fmin(100.0, 100.0 * (sums->busy_ps / stages) / all_ps) : 0.0,
        .memory_percent = 100.0 * (double)counters->pages_max / (double)node->pages,
        .sent_bytes = sums->all.sent_bytes,
        .received_bytes = counters->received_bytes,
    };
    if (sums->busy_ps > 0.0) {
        row->exchange_percent = 100.0 * sums->exchange_ps / sums->busy_ps;
        row->tp_percent = 100.0 * sums->tp_ps / sums->busy_ps;
    }
    if (flight_ps > 0.0) {
        row->bubble_percent = 100.0 * (1.0 - fmin(1.0, sums->busy_ps / flight_ps));
        row->pp_percent = 100.0 * sums->pp_ps / (double)counters->latency_ps;
    }
}

// Counts an attempt at the node at which it waits for a turn: of its prompt, or of further tokens.
static void count_waiting(const app__serving_attempt_t *attempt, app__serving_node_row_t *rows)
{
    if (attempt->queued_ps != SIM_TIME_NEVER && attempt->began_ps == SIM_TIME_NEVER) {
        rows[attempt->prefill].waiting++;
    } else if (attempt->reserved_ps != SIM_TIME_NEVER && attempt->joined_ps == SIM_TIME_NEVER) {
        rows[attempt->decode].waiting++;
    }
}

void app__serving_report_nodes(const app__serving_t *serving, app__serving_report_t *report,
                               double all_ps)
{
    report->nodes = sim_alloc_array(serving->node_count, sizeof(*report->nodes));
    for (uint32_t n = 0; n < serving->node_count; n++) {
        const sums_t sums = sum_of(serving, n);
        report->preemptions += serving->nodes[n].counters.preemptions;
        report->again_tokens += serving->nodes[n].counters.again_tokens;
        report->kv_bytes += sums.all.sent_bytes;
        report->fetched_bytes += sums.all.fetched_bytes;
        report->stored_bytes += sums.all.stored_bytes;
        report->exchange_bytes += sums.all.exchange_bytes;
        report->exchanges_failed += sums.all.exchanges_failed;
        report->fetches_failed += sums.all.fetches_failed;
        report->tp_bytes += sums.all.tp_bytes;
        report->pp_bytes += sums.all.pp_bytes;
        fill_node(serving, n, &sums, all_ps, &report->nodes[report->node_count++]);
    }
    const uint32_t count = serving->requests.count;
    for (uint64_t i = 0; i < (uint64_t)count * serving->attempts_max; i++) {
        if (app__serving_served(serving, (uint32_t)(i % count)) == NULL) {
            count_waiting(&serving->attempts[i], report->nodes);
        }
    }
}

// Adds a time in steps of a node, by the mean share of its steps in which it waited.
static void add_steps(const app__serving_t *serving, uint32_t leader, double time_ps,
                      app__serving_network_t *sum_ps)
{
    const double latency_ps = (double)serving->nodes[leader].counters.latency_ps;
    if (latency_ps > 0.0) {
        const sums_t sums = sum_of(serving, leader);
        sum_ps->tp += time_ps * (sums.tp_ps / latency_ps);
        sum_ps->pp += time_ps * (sums.pp_ps / latency_ps);
        sum_ps->ep += time_ps * (sums.exchange_ps / latency_ps);
    }
}

void app__serving_add_network(const app__serving_t *serving, const app__serving_attempt_t *attempt,
                              const double stage_ps[APP__SERVING_STAGES],
                              app__serving_network_t *sum_ps)
{
    add_steps(serving, attempt->prefill, stage_ps[APP__SERVING_PREFILL], sum_ps);
    add_steps(serving, attempt->decode, stage_ps[APP__SERVING_DECODE], sum_ps);
}
