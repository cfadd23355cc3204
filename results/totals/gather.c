// SPDX-License-Identifier: Apache-2.0
// results/totals/gather.c - gathers what flows, ports and NICs counted.
#include "results/results.h"
#include "results/span.h"
#include "results/totals/pause_roots.h"

#include "net/ports.h"
#include "net/route_choices.h"
#include "results/totals/outcome.h"

#include <stdlib.h>
#include <string.h>

const char *results_ended_text(sim_ended_t ended)
{
    switch (ended) {
    case SIM_ENDED_DONE:
        return "done";
    case SIM_ENDED_UNTIL:
        return "until";
    case SIM_ENDED_INTERRUPTED:
        return "interrupted";
    case SIM_ENDED_STALLED:
        break;
    }
    return "stalled";
}

double results_port_utilisation(const net_port_t *port, sim_time_t from_ps, sim_time_t now_ps)
{
    if (now_ps <= from_ps) {
        return 0.0;
    }
    const sim_time_t busy_ps = net_port_busy_ps(port, UINT8_MAX, now_ps);
    const sim_time_t time_ps = now_ps - from_ps;
    return busy_ps < time_ps ? (double)busy_ps / (double)time_ps : 1.0;
}

bool results_trimmed_packets(const world_t *world, uint64_t *sum)
{
    const net_port_metric_t *const metric = net_port_metric_find("trimmed");
    const net_t *const net = world->net;
    bool any = false;
    *sum = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        if (node == NULL || node->kind != NET_NODE_SWITCH ||
            strcmp(net_switch_config(node)->mmu.text, "trimming") != 0) {
            continue;
        }
        any = true;
        for (uint32_t p = 0; p < node->port_count; p++) {
            const net_port_t *const port = &node->ports[p];
            *sum += port->counted ? net_port_metric_read(metric, port, UINT8_MAX, 0) : 0;
        }
    }
    return any;
}

double results_run_goodput_gbps(const results_t *results)
{
    const sim_time_t from_ps = results_span_from_ps(results->span);
    return results->sim_time_ps <= from_ps ? 0.0
                                           : (double)results->nics.rx_data_bytes * 8000.0 /
                                                 (double)(results->sim_time_ps - from_ps);
}

typedef struct flow_taker {
    results_t *results;
    sim_digest_t *outcome;
    results_flow_bins_t *app_flows;
    results_flow_bins_t *app_local_flows;
    bool any;
} flow_taker_t;

static void take_flow(const app_flow_result_t *untimed, void *ctx)
{
    flow_taker_t *const taker = ctx;
    results_t *const results = taker->results;
    results_outcome_flow(taker->outcome, untimed);
    const app_flow_result_t timed = app_flow_timed(untimed);
    const app_flow_result_t *const flow = &timed;
    results_flow_bins_t *const bins[] = {
        flow->local ? &results->local_flows : &results->flows,
        flow->local ? taker->app_local_flows : taker->app_flows,
    };
    if (!flow->local && flow->status == NIC_WC_SUCCESS && flow->end_ps == SIM_TIME_NEVER &&
        flow->start_ps >= results->sim_time_ps) {
        results->flow_not_begun++;
    }
    taker->any = true;
    if (flow->start_ps < results->traffic_from_ps) {
        results->traffic_from_ps = flow->start_ps;
    }
    for (size_t i = 0; i < SIM_COUNT_OF(bins); i++) {
        results_flow_bins_add(bins[i], flow);
        results_flow_bins_add_progress(bins[i], flow, results->sim_time_ps);
    }
}

static void take_apps(results_t *results, const world_t *world, sim_digest_t *outcome)
{
    results_flow_bins_init(&results->flows, "all");
    results_flow_bins_init(&results->local_flows, "NVLink");
    results->traffic_from_ps = results->sim_time_ps;
    results->app_count = world->app_count;
    results->app_flows = sim_alloc_array(world->app_count + 1, sizeof(*results->app_flows));
    results->app_local_flows =
        sim_alloc_array(world->app_count + 1, sizeof(*results->app_local_flows));
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        flow_taker_t taker = {.results = results,
                              .outcome = outcome,
                              .app_flows = &results->app_flows[i],
                              .app_local_flows = &results->app_local_flows[i]};
        sim_digest_add(outcome, i);
        results_flow_bins_init(taker.app_flows, app->ops->name);
        results_flow_bins_init(taker.app_local_flows, "NVLink");
        if (app->ops->flows != NULL) {
            app->ops->flows(app, take_flow, &taker);
        }
        results->flow_left_out +=
            app->ops->flows_left_out != NULL ? app->ops->flows_left_out(app) : 0;
        if (!taker.any && !results_plans_nothing(app)) {
            results->traffic_from_ps = 0;
        }
    }
    if (results_span_is_of_programs(results->span)) {
        results->traffic_from_ps = results_span_from_ps(results->span);
    }
}

// Adds the port's counters to the totals, and those that ports.csv contains to the outcome.
static void take_port(results_t *results, const net_port_t *port, sim_digest_t *outcome)
{
    if (net_port_untouched(port)) {
        return;
    }
    sim_digest_add(outcome, port->uid);
    sim_digest_add(outcome, net_port_queue_bytes_max(port));
    for (size_t i = 0; net_port_metrics[i].name != NULL; i++) {
        const net_port_metric_t *const metric = &net_port_metrics[i];
        uint64_t values[NET_PRIORITIES];
        if (metric->total.group == NULL) {
            continue;
        }
        if (!metric->per_priority) {
            const uint64_t value =
                port->counted ? net_port_metric_read(metric, port, UINT8_MAX, results->sim_time_ps)
                              : 0;
            results->port_totals[i] += value;
            if (value != 0 || !metric->total.rare) {
                sim_digest_add(outcome, value);
            }
        } else if (net_port_metric_read_classes(metric, port, results->sim_time_ps, values)) {
            for (unsigned p = 0; p < NET_PRIORITIES; p++) {
                results->class_totals[p][i] += values[p];
                sim_digest_add(outcome, values[p]);
            }
        }
    }
    for (unsigned r = 0; port->counted && r < NET_DROP_REASON_COUNT; r++) {
        results->drops[r] += port->rare->drops[r];
        sim_digest_add(outcome, port->rare->drops[r]);
    }
}

static void sum_classes(results_t *results)
{
    for (size_t i = 0; net_port_metrics[i].name != NULL; i++) {
        for (unsigned p = 0; p < NET_PRIORITIES; p++) {
            results->port_totals[i] += results->class_totals[p][i];
        }
    }
    results->packet_hops =
        results->port_totals[net_port_metric_find("tx_packets") - net_port_metrics];
}

static uint64_t tx_bytes(const net_port_t *port)
{
    uint64_t bytes = 0;
    for (unsigned p = 0; p < NET_PRIORITIES; p++) {
        bytes += port->classes[p]->tx_bytes;
    }
    return bytes;
}

typedef struct hot {
    const net_port_t *port;
    uint64_t queue_bytes_max;
    uint64_t tx_bytes;
} hot_t;

static int compare_heat(const void *a, const void *b)
{
    const hot_t *const x = a;
    const hot_t *const y = b;
    return 4 * SIM_COMPARE(y->queue_bytes_max, x->queue_bytes_max) +
           2 * SIM_COMPARE(y->tx_bytes, x->tx_bytes) + SIM_COMPARE(x->port->uid, y->port->uid);
}

// The hottest so far, unsorted; sorted and cut whenever there are twice as many as wanted.
typedef struct hottest {
    hot_t *items;
    size_t count;
    size_t capacity;
    size_t wanted;
    bool cut; // the last of the wanted is items[wanted - 1]: what is cooler cannot get in
} hottest_t;

static void cut(hottest_t *hottest)
{
    if (hottest->count > 0) {
        qsort(hottest->items, hottest->count, sizeof(*hottest->items), compare_heat);
    }
    if (hottest->count >= hottest->wanted) {
        hottest->count = hottest->wanted;
        hottest->cut = true;
    }
}

static void offer(hottest_t *hottest, const net_port_t *port)
{
    const uint64_t sent_bytes = net_port_untouched(port) ? 0 : tx_bytes(port);
    const hot_t hot = {port, net_port_queue_bytes_max(port), sent_bytes};
    if (hottest->cut && compare_heat(&hot, &hottest->items[hottest->wanted - 1]) > 0) {
        return;
    }
    SIM_APPEND(hottest->items, hottest->count, hottest->capacity, hot);
    if (hottest->count / 2 >= hottest->wanted) {
        cut(hottest);
    }
}

static void take_ports(results_t *results, const world_t *world, sim_digest_t *outcome)
{
    hottest_t hottest = {.wanted = (size_t)world->scenario->outputs.hottest_ports};
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        // A host that was let go has ports that do not exist.
        const net_node_t *const node =
            hottest.cut ? net_node_look(world->net, i) : net_node_at(world->net, i);
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            // A port that does not exist is as hot as the coolest, and later.
            if (!net_port_exists(node, p) && hottest.cut) {
                continue;
            }
            take_port(results, net_port_at(node, p), outcome);
            offer(&hottest, net_port_at(node, p));
        }
    }
    cut(&hottest);
    results->hottest = sim_alloc_array(hottest.count + 1, sizeof(net_port_t *));
    for (; results->hottest_count < hottest.count; results->hottest_count++) {
        results->hottest[results->hottest_count] = hottest.items[results->hottest_count].port;
    }
    sim_free(hottest.items);
    sum_classes(results);
}

static void add_counters(void *sums, const void *values, const nic_counter_info_t *infos)
{
    for (const nic_counter_info_t *info = infos; info->name != NULL; info++) {
        uint64_t value;
        uint64_t sum;
        memcpy(&value, (const char *)values + info->field.offset, sizeof(value));
        memcpy(&sum, (char *)sums + info->field.offset, sizeof(sum));
        sum += value;
        memcpy((char *)sums + info->field.offset, &sum, sizeof(sum));
    }
}

static void take_rnic(results_t *results, const nic_t *nic)
{
    nic_rnic_counters_t counters;
    if (!nic_get_rnic_counters(nic, &counters)) {
        return;
    }
    const uint64_t buffer_bytes_max = results->rnics.buffer_bytes_max;
    results->rnic_count++;
    add_counters(&results->rnics, &counters, nic_rnic_counter_infos);
    results->rnics.buffer_bytes_max = SIM_MAX(buffer_bytes_max, counters.buffer_bytes_max);
}

// Adds what a switch's ports of equal cost sent, in times that their links would need for it.
// *imbalance: the sum over switches of their bytes times their imbalance.
static void take_choices(results_t *results, const net_node_t *node, const bool *choices,
                         double *bytes, double *imbalance)
{
    double sum_s = 0;
    double most_s = 0;
    double sent = 0;
    uint32_t count = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        if (!choices[p]) {
            continue;
        }
        uint64_t port_bytes = 0;
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            port_bytes += net_port_at(node, p)->classes[c]->tx_bytes;
        }
        const double time_s = (double)port_bytes * 8 / (double)net_port_at(node, p)->line->rate_bps;
        sum_s += time_s;
        most_s = SIM_MAX(time_s, most_s);
        sent += (double)port_bytes;
        count++;
        results->paths_used += port_bytes > 0 ? 1 : 0;
    }
    results->paths_equal += count;
    if (sum_s > 0) {
        *bytes += sent;
        *imbalance += sent * (most_s * count / sum_s - 1);
    }
}

static void take_paths(results_t *results, const world_t *world)
{
    double bytes = 0;
    double imbalance = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i);
        if (node == NULL || node->kind != NET_NODE_SWITCH || node->sim.events == 0) {
            continue;
        }
        bool *const choices = sim_alloc_array(node->port_count, sizeof(*choices));
        net_routes_choices(world->net, node, choices);
        take_choices(results, node, choices, &bytes, &imbalance);
        sim_free(choices);
    }
    results->link_imbalance = bytes > 0 ? imbalance / bytes : 0;
}

static void take_nics(results_t *results, const world_t *world, sim_digest_t *outcome)
{
    static const nic_counters_t zeros;
    for (size_t i = 0; i < world->nic_count; i++) {
        if (!world_nic_exists(world, &world->nics[i])) {
            results_outcome_nic(outcome, &zeros); // as in one process
            continue;
        }
        const nic_t *const nic = world_nic_of(world, &world->nics[i]);
        results_outcome_nic(outcome, nic_get_counters(nic));
        add_counters(&results->nics, nic_get_counters(nic), nic_counter_infos);
        take_rnic(results, nic);
        if (results->conservation_ok && !nic_conserved(nic)) {
            results->conservation_ok = false;
            (void)sim_fail(&results->conservation_message, SIM_ERR_INVALID,
                           "WQEs, CQEs or PCIe bytes of %s do not add up", world->nics[i].name);
        }
    }
}

// Returns the digest of a run: that of the simulation, and the ends of the ranks of programs, which
// local messages and computations change without any packet.
static uint64_t digest_of(const world_t *world)
{
    uint64_t ends = 0;
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        const app_program_ops_t *const program = app->ops->program;
        for (uint32_t r = 0; program != NULL && r < program->rank_count(app); r++) {
            app_rank_end_t end;
            if (program->rank_ended(app, r, &end)) {
                ends += sim_mix64(sim_mix64(end.end_ps) ^ r);
            }
        }
    }
    return sim_digest(world->sim) ^ ends;
}

void results_init(results_t *results, const world_t *world, sim_ended_t ended, results_span_t *span)
{
    memset(results, 0, sizeof(*results));
    results->span = span;
    results->ended = ended;
    results->sim_time_ps = sim_end_time_ps(world->sim);
    results_span_end(span, results->sim_time_ps);
    results->digest = digest_of(world);
    results->events = sim_events(world->sim);
    results->work_outstanding = sim_work_outstanding(world->sim);
    net_conservation(world->net, &results->packets, &results->packets_in_flight);
    results->conservation_ok = net_conservation_ok(world->net, &results->conservation_message);
    sim_digest_t outcome = {0};
    take_apps(results, world, &outcome);
    take_ports(results, world, &outcome);
    take_paths(results, world);
    take_nics(results, world, &outcome);
    results->outcome = outcome.value;
    SIM_CHECK(results->flows.all.completed + results->flows.failed + results->flow_not_begun <=
              results->flows.all.count);
}

void results_note(results_t *results, char *text)
{
    SIM_APPEND(results->notes, results->note_count, results->note_capacity, text);
}

void results_fini(results_t *results)
{
    results_flow_bins_fini(&results->flows);
    results_flow_bins_fini(&results->local_flows);
    for (size_t i = 0; i < results->app_count; i++) {
        results_flow_bins_fini(&results->app_flows[i]);
        results_flow_bins_fini(&results->app_local_flows[i]);
    }
    sim_free_each(results->notes, results->note_count);
    sim_free(results->notes);
    world_warnings_fini(&results->warnings);
    results_span_destroy(results->span);
    sim_free(results->app_flows);
    sim_free(results->app_local_flows);
    results_pause_roots_destroy(results->pause_roots);
    results_reordering_destroy(results->reordering);
    sim_free(results->hottest);
}
