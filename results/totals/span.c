// SPDX-License-Identifier: Apache-2.0
// results/totals/span.c - reads each node's counters at the end of the span.
#include "results/span.h"

#include "kernel/ranks.h"
#include "net/port_metrics.h"
#include "net/ports.h"

// Transfers that start at so many different times arrive; fewer are one go.
#define ARRIVALS_MIN 16u

typedef struct span_node {
    results_span_t *span;
    size_t first_port; // in busy_ps
    size_t nics_end;   // one past the last of its NICs, in the world's; 0: it has none
    bool read;
} span_node_t;

struct results_span {
    const world_t *world;
    sim_time_t from_ps;
    sim_time_t to_ps;
    bool of_programs;   // from the first transfer of programs to the last
    span_node_t *nodes; // as the network numbers them
    size_t node_count;
    sim_time_t *busy_ps;     // of each port
    uint64_t *payload_bytes; // of each node
};

// -- when traffic arrives

typedef struct starts {
    sim_time_t first_ps;
    sim_time_t last_ps;
    sim_time_t before_ps;
    uint32_t different; // than the one before, up to ARRIVALS_MIN
    bool any;
} starts_t;

static void take_start(const app_flow_result_t *flow, void *ctx)
{
    starts_t *const starts = ctx;
    starts->any = true;
    if (flow->start_ps == SIM_TIME_NEVER) {
        return;
    }
    starts->first_ps = SIM_MIN(flow->start_ps, starts->first_ps);
    starts->last_ps = SIM_MAX(flow->start_ps, starts->last_ps);
    starts->different += flow->start_ps != starts->before_ps && starts->different < ARRIVALS_MIN;
    starts->before_ps = flow->start_ps;
}

bool results_plans_nothing(const app_t *app)
{
    uint64_t done = 0;
    uint64_t planned = 0;
    app->ops->progress(app, &done, &planned);
    return app->ops->flows != NULL && planned == 0;
}

// Finds the time over which rates are reported. It begins at the first start of a transfer, or at 0
// where a program has no transfers.
static void find_span(results_span_t *span)
{
    starts_t all = {.first_ps = SIM_TIME_NEVER, .before_ps = SIM_TIME_NEVER};
    bool programs = false;
    for (size_t i = 0; i < span->world->app_count; i++) {
        const app_t *const app = span->world->apps[i];
        all.any = false;
        if (app->ops->flows != NULL) {
            app->ops->flows(app, take_start, &all);
        }
        programs |= !all.any && !results_plans_nothing(app);
    }
    const sim_time_t asked_ps = span->world->scenario->outputs.rates_until_ps;
    const bool arrive = !programs && all.different >= ARRIVALS_MIN;
    span->from_ps = programs || all.first_ps == SIM_TIME_NEVER ? 0 : all.first_ps;
    span->to_ps = asked_ps != SIM_AUTO ? asked_ps : arrive ? all.last_ps : SIM_TIME_NEVER;
}

// -- reading

static void read_node(span_node_t *of, sim_time_t time_ps)
{
    results_span_t *const span = of->span;
    const net_node_t *const node = net_node_look(span->world->net, (size_t)(of - span->nodes));
    of->read = true;
    if (node == NULL) {
        return;
    }
    for (uint32_t p = 0; p < node->port_count; p++) {
        if (net_port_exists(node, p)) {
            span->busy_ps[of->first_port + p] =
                net_port_busy_ps(net_port_at(node, p), UINT8_MAX, time_ps);
        }
    }
    const world_nic_t *const nics = span->world->nics;
    for (size_t i = of->nics_end; i > 0 && nics[i - 1].host == node->sim.index; i--) {
        const nic_t *const nic = nic_exists(node) ? world_nic_of(span->world, &nics[i - 1]) : NULL;
        span->payload_bytes[of - span->nodes] +=
            nic == NULL ? 0 : nic_get_counters(nic)->rx_data_bytes;
    }
}

static void sample(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    span_node_t *const of = ctx;
    if (!of->read) {
        read_node(of, time_ps);
    }
}

results_span_t *results_span_create(const world_t *world)
{
    results_span_t *const span = sim_alloc(sizeof(*span));
    span->world = world;
    find_span(span);
    span->node_count = net_node_count(world->net);
    span->nodes = sim_alloc_array(span->node_count + 1, sizeof(*span->nodes));
    span->payload_bytes = sim_alloc_array(span->node_count + 1, sizeof(*span->payload_bytes));
    size_t ports = 0;
    for (size_t i = 0; i < span->node_count; i++) {
        span->nodes[i] = (span_node_t){.span = span, .first_port = ports};
        ports += net_ports_of(world->net, i);
        if (span->to_ps != SIM_TIME_NEVER && sim_is_here(world->sim, i)) {
            sim_sample(world->sim, &net_node_at(world->net, i)->sim, span->to_ps,
                       SIM_TIME_NEVER - span->to_ps, sample, &span->nodes[i]);
        }
    }
    for (size_t i = 0; i < world->nic_count; i++) {
        span->nodes[world->nics[i].host].nics_end = i + 1;
    }
    span->busy_ps = sim_alloc_array(ports + 1, sizeof(*span->busy_ps));
    return span;
}

void results_span_destroy(results_span_t *span)
{
    if (span != NULL) {
        SIM_FREE_ALL(span->nodes, span->busy_ps, span->payload_bytes, span);
    }
}

void results__span_leave(const results_span_t *span, sim_buffer_t *bytes)
{
    for (uint32_t i = 0; i < span->node_count; i++) {
        const span_node_t *const of = &span->nodes[i];
        if (of->read && sim_is_here(span->world->sim, i)) {
            sim_buffer_put_u32(bytes, i);
            sim_buffer_put_u64(bytes, span->payload_bytes[i]);
            sim_buffer_put(bytes, &span->busy_ps[of->first_port],
                           net_ports_of(span->world->net, i) * sizeof(*span->busy_ps));
        }
    }
    sim_buffer_put_u32(bytes, UINT32_MAX);
}

void results__span_take(results_span_t *span, sim_reader_t *bytes)
{
    for (uint32_t i = sim_reader_u32(bytes); i != UINT32_MAX; i = sim_reader_u32(bytes)) {
        SIM_CHECK(i < span->node_count && !span->nodes[i].read);
        span_node_t *const of = &span->nodes[i];
        of->read = true;
        span->payload_bytes[i] = sim_reader_u64(bytes);
        sim_reader_get(bytes, &span->busy_ps[of->first_port],
                       net_ports_of(span->world->net, i) * sizeof(*span->busy_ps));
    }
}

typedef struct transfers {
    sim_time_t first_ps;
    sim_time_t last_ps; // NEVER: one has not ended
} transfers_t;

static void take_transfer(const app_flow_result_t *flow, void *ctx)
{
    transfers_t *const transfers = ctx;
    const sim_time_t end_ps = flow->failed_ps > 0 ? flow->failed_ps : flow->end_ps;
    transfers->first_ps = SIM_MIN(flow->start_ps, transfers->first_ps);
    transfers->last_ps = SIM_MAX(end_ps, transfers->last_ps);
}

// Lets the span of a run whose programs have all transfers be the time of these: programs sleep
// and exchange addresses before and after it.
static void fit_programs(results_span_t *span)
{
    const world_t *const world = span->world;
    const world_scenario_t *const scenario = world->scenario;
    transfers_t transfers = {.first_ps = SIM_TIME_NEVER};
    if (scenario->programs == NULL || scenario->outputs.rates_until_ps != SIM_AUTO) {
        return;
    }
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        if (app->ops->flows == NULL ||
            (app->ops->flows_left_out != NULL && app->ops->flows_left_out(app) > 0)) {
            return;
        }
        app->ops->flows(app, take_transfer, &transfers);
    }
    if (transfers.first_ps != SIM_TIME_NEVER) {
        span->of_programs = true;
        span->from_ps = transfers.first_ps;
        span->to_ps = transfers.last_ps;
    }
}

void results_span_end(results_span_t *span, sim_time_t end_ps)
{
    fit_programs(span);
    span->to_ps = SIM_MIN(span->to_ps, end_ps);
    span->from_ps = SIM_MIN(span->from_ps, span->to_ps);
    for (size_t i = 0; i < span->node_count; i++) {
        if (!span->nodes[i].read) {
            read_node(&span->nodes[i], end_ps);
        }
    }
    SIM_CHECK(span->from_ps <= span->to_ps && span->to_ps <= end_ps);
}

// -- what it was

sim_time_t results_span_from_ps(const results_span_t *span)
{
    return span->from_ps;
}

sim_time_t results_span_to_ps(const results_span_t *span)
{
    return span->to_ps;
}

bool results_span_is_of_programs(const results_span_t *span)
{
    return span->of_programs;
}

double results_span_utilisation(const results_span_t *span, const net_port_t *port)
{
    const size_t at = span->nodes[port->node->sim.index].first_port + port->index;
    const sim_time_t time_ps = span->to_ps - span->from_ps;
    const sim_time_t busy_ps = span->busy_ps[at];
    return time_ps == 0 ? 0.0 : busy_ps < time_ps ? (double)busy_ps / (double)time_ps : 1.0;
}

double results_span_goodput_gbps(const results_span_t *span)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < span->node_count; i++) {
        bytes += span->payload_bytes[i];
    }
    const sim_time_t time_ps = span->to_ps - span->from_ps;
    return time_ps == 0 ? 0.0 : (double)bytes * 8000.0 / (double)time_ps;
}
