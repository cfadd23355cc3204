// SPDX-License-Identifier: Apache-2.0
// results/tables/summary_parts.c - fields of summary.json that have to be worked out: lists,
// objects and quotients.
#include "results/tables/summary_parts.h"
#include "results/span.h"
#include "results/totals/pause_roots.h"

#include "net/nodes.h"
#include "net/port_metrics.h"
#include "net/ports.h"
#include "nic/extra.h"
#include "nic/reports.h"
#include "nic/transport.h"
#include "results/report/part.h"
#include "results/story.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

// A row of an object: a count or a time of the struct that it is made of.
#define WHOLE(type, name_, member)                                                          \
    {                                                                                       \
        .name = name_, .kind = SIM_REPORT_U64, .unit = "", .offset = offsetof(type, member) \
    }
#define WHOLE32(type, name_, member)                                                        \
    {                                                                                       \
        .name = name_, .kind = SIM_REPORT_U32, .unit = "", .offset = offsetof(type, member) \
    }

// Adds a NIC's counters to the object, by the vendors' names.
static void put_counters(const nic_counter_info_t *infos, const void *counters, json_t *object)
{
    for (const nic_counter_info_t *info = infos; info->name != NULL; info++) {
        uint64_t value;
        memcpy(&value, (const char *)counters + info->field.offset, sizeof(value));
        json_object_set_new(object, info->name, results_json_whole(value));
    }
}

// -- the run

static json_t *make_hash(uint64_t value)
{
    char *const text = sim_format("%016" PRIx64, value);
    json_t *const string = json_string(text);
    sim_free(text);
    return string;
}

json_t *results_make_digest(const results_view_t *view)
{
    return make_hash(view->results->digest);
}

json_t *results_make_fast_forward(const results_view_t *view)
{
    app_skips_t settled = view->world->skips;
    const app_skips_t *const skips = &settled;
    if (!skips->exact) {
        return NULL;
    }
    app_skips_settle(&settled);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"packet_hops_simulated", view->results->packet_hops - skips->hops_skipped},
        {"packet_hops_skipped", skips->hops_skipped},
        {"jumps", skips->jumps},
        {"memo_hits", skips->hits},
        {"memo_misses", skips->misses},
        {"audited", skips->audited},
        {"rails", skips->rails},
        {"memory_bytes", skips->bytes},
    };
    json_t *const object = json_object();
    json_t *const refused = json_object();
    json_object_set_new(object, "mode", json_string("exact"));
    for (size_t i = 0; i < SIM_COUNT_OF(numbers); i++) {
        json_object_set_new(object, numbers[i].name, results_json_whole(numbers[i].value));
    }
    for (size_t i = 0; i < skips->refused_count; i++) {
        json_object_set_new(refused, skips->refused[i].reason,
                            results_json_whole(skips->refused[i].count));
    }
    json_object_set_new(object, "refused", refused);
    return object;
}

json_t *results_make_outcome_digest(const results_view_t *view)
{
    return make_hash(view->results->outcome);
}

json_t *results_make_control(const results_view_t *view)
{
    return json_string(nic_config_control(&view->world->scenario->nic_config));
}

json_t *results_make_plugins(const results_view_t *view)
{
    size_t count;
    const world_plugin_file_t *const files =
        world_registry_plugins(view->world->scenario->registry, &count);
    json_t *const list = count == 0 ? NULL : json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "name", files[i].name, "sha256", files[i].sha256));
    }
    return list;
}

json_t *results_make_ended(const results_view_t *view)
{
    return json_string(results_ended_text(view->results->ended));
}

json_t *results_make_nodes(const results_view_t *view)
{
    return results_json_whole(net_node_count(view->world->net));
}

json_t *results_make_hosts(const results_view_t *view)
{
    return results_json_whole(net_count_nodes(view->world->net).hosts);
}

json_t *results_make_accelerators(const results_view_t *view)
{
    return results_json_whole(net_count_nodes(view->world->net).accelerators);
}

json_t *results_make_links(const results_view_t *view)
{
    return results_json_whole(net_link_count(view->world->net));
}

json_t *results_make_rates_from(const results_view_t *view)
{
    return results_json_whole(results_span_from_ps(view->results->span));
}

json_t *results_make_rates_until(const results_view_t *view)
{
    return results_json_whole(results_span_to_ps(view->results->span));
}

json_t *results_make_rates_goodput(const results_view_t *view)
{
    return json_real(results_span_goodput_gbps(view->results->span));
}

json_t *results_make_run_goodput(const results_view_t *view)
{
    return json_real(results_run_goodput_gbps(view->results));
}

static void add_warning(json_t *list, const char *kind, const char *text)
{
    json_t *const json = json_object();
    json_object_set_new(json, "kind", json_string(kind));
    json_object_set_new(json, "text", json_string(text));
    json_array_append_new(list, json);
}

// Takes a line "warning: ..." of a program.
static void take_warning(const char *text, void *ctx)
{
    static const char prefix[] = "warning: ";
    const size_t skipped = strncmp(text, prefix, sizeof(prefix) - 1) == 0 ? sizeof(prefix) - 1 : 0;
    const char *const line = text + skipped;
    char *const copy = sim_format("%.*s", (int)strcspn(line, "\n"), line);
    add_warning(ctx, "program", copy);
    sim_free(copy);
}

json_t *results_make_warnings(const results_view_t *view)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < view->results->warnings.count; i++) {
        const world_warning_t *const warning = &view->results->warnings.items[i];
        add_warning(list, warning->kind, warning->text);
    }
    for (size_t i = 0; i < view->world->app_count; i++) {
        const app_t *const app = view->world->apps[i];
        if (app->ops->warn != NULL) {
            app->ops->warn(app, take_warning, list);
        }
    }
    return list;
}

json_t *results_make_notes(const results_view_t *view)
{
    json_t *const notes = json_array();
    for (size_t i = 0; i < view->results->note_count; i++) {
        json_array_append_new(notes, json_string(view->results->notes[i]));
    }
    return notes;
}

// -- flows

json_t *results_make_fct(const results_view_t *view)
{
    return results_bin_fct_json(&view->results->flows.all);
}

json_t *results_make_local_fct(const results_view_t *view)
{
    return results_bin_fct_json(&view->results->local_flows.all);
}

json_t *results_make_slowdown(const results_view_t *view)
{
    return results_bin_slowdown_json(&view->results->flows.all);
}

json_t *results_make_by_size(const results_view_t *view)
{
    return results_flow_bins_json(&view->results->flows);
}

static json_t *goodput_json(results_flow_bins_t *flows)
{
    const sim_percentiles_t rates = sim_percentiles(&flows->rates_bps, 1000000000);
    json_t *const object = json_object();
    results_part_json(&sim_report_percentiles, &rates, object, NULL);
    return object;
}

static json_t *fairness_json(const results_flow_bins_t *flows)
{
    const double index = results_flow_bins_fairness(flows);
    return isnan(index) ? json_null() : json_real(index);
}

json_t *results_make_goodput(const results_view_t *view)
{
    return goodput_json(&view->results->flows);
}

json_t *results_make_fairness(const results_view_t *view)
{
    return fairness_json(&view->results->flows);
}

// -- the network

json_t *results_make_drops(const results_view_t *view)
{
    json_t *const object = json_object();
    for (unsigned r = 0; r < NET_DROP_REASON_COUNT; r++) {
        json_object_set_new(object, net_drop_reason_name((net_drop_reason_t)r),
                            results_json_whole(view->results->drops[r]));
    }
    return object;
}

// Adds to a class's object what ports counted of it, a group of counters.
static void put_class_totals(json_t *object, const char *group, const uint64_t *totals)
{
    for (size_t i = 0; net_port_metrics[i].name != NULL; i++) {
        const net_port_metric_t *const metric = &net_port_metrics[i];
        if (metric->by_class != NULL && strcmp(metric->total.group, group) == 0) {
            json_object_set_new(object, metric->by_class, results_json_whole(totals[i]));
        }
    }
}

// The groups of counters in the order in which summary.json lists them.
static const char *const groups[] = {"traffic", "ecn", "pfc", "watchdog", "drops"};

json_t *results_make_classes(const results_view_t *view)
{
    json_t *const list = json_array();
    for (unsigned p = 0; p < NET_PRIORITIES; p++) {
        json_t *const object = json_object();
        json_object_set_new(object, "priority", results_json_whole(p));
        for (size_t g = 0; g < SIM_COUNT_OF(groups); g++) {
            put_class_totals(object, groups[g], view->results->class_totals[p]);
        }
        json_array_append_new(list, object);
    }
    return list;
}

// Adds to a port's object those of its counters that describe the hottest ports.
static void put_hot_counters(json_t *object, const char *group, const net_port_t *port,
                             sim_time_t time_ps)
{
    for (const net_port_metric_t *m = net_port_metrics; m->name != NULL; m++) {
        if (m->hottest && strcmp(m->total.group, group) == 0) {
            const uint64_t value = net_port_metric_read(m, port, UINT8_MAX, time_ps);
            json_object_set_new(object, m->name, results_json_whole(value));
        }
    }
}

json_t *results_make_hottest(const results_view_t *view)
{
    const results_t *const results = view->results;
    json_t *const list = json_array();
    for (size_t i = 0; i < results->hottest_count; i++) {
        const net_port_t *const port = results->hottest[i];
        const double used = results_span_utilisation(results->span, port);
        const double run_used =
            results_port_utilisation(port, results->traffic_from_ps, results->sim_time_ps);
        json_t *const object = json_object();
        json_object_set_new(object, "port", json_string(net_port_name(port)));
        json_object_set_new(object, "queue_bytes_max",
                            results_json_whole(net_port_queue_bytes_max(port)));
        put_hot_counters(object, groups[0], port, results->sim_time_ps);
        json_object_set_new(object, "utilisation", json_real(used));
        json_object_set_new(object, "run_utilisation", json_real(run_used));
        for (size_t g = 1; g < SIM_COUNT_OF(groups); g++) {
            put_hot_counters(object, groups[g], port, results->sim_time_ps);
        }
        json_array_append_new(list, object);
    }
    return list;
}

static const sim_report_row_t pause_root_rows[] = {
    WHOLE(results_pause_root_t, "first_ps", first_ps),
    WHOLE(results_pause_root_t, "pauses", pauses),
    WHOLE(results_pause_root_t, "paused_ps", paused_ps),
    WHOLE32(results_pause_root_t, "ports", ports),
    WHOLE32(results_pause_root_t, "hosts", hosts),
    WHOLE32(results_pause_root_t, "links_away", links_away),
};
static const sim_report_table_t pause_root_table = {.rows = pause_root_rows,
                                                    .count = SIM_COUNT_OF(pause_root_rows),
                                                    .bytes = sizeof(results_pause_root_t)};

json_t *results_make_pause_roots(const results_view_t *view)
{
    const size_t wanted = (size_t)view->world->scenario->outputs.hottest_ports;
    json_t *const list = json_array();
    if (view->results->pause_roots == NULL) {
        return list;
    }
    const size_t count = results_pause_roots_count(view->results->pause_roots);
    for (size_t i = 0; i < count && i < wanted; i++) {
        const results_pause_root_t *const root =
            results_pause_roots_at(view->results->pause_roots, i);
        json_t *const object = json_object();
        json_object_set_new(object, "port", json_string(results_pause_root_name(root)));
        results_part_json(&pause_root_table, root, object, NULL);
        json_array_append_new(list, object);
    }
    return list;
}

static const sim_report_row_t tally_rows[] = {
    WHOLE(net_tally_t, "bytes_created", bytes_created),
    WHOLE(net_tally_t, "bytes_delivered", bytes_delivered),
    WHOLE(net_tally_t, "bytes_dropped", bytes_dropped),
};
static const sim_report_table_t tally_table = {.rows = tally_rows,
                                               .count = SIM_COUNT_OF(tally_rows),
                                               .bytes = sizeof(net_tally_t)};

json_t *results_make_conservation(const results_view_t *view)
{
    json_t *const object = json_object();
    json_object_set_new(object, "ok", json_boolean(view->results->conservation_ok));
    results_part_json(&tally_table, &view->results->packets, object, NULL);
    if (!view->results->conservation_ok) {
        json_object_set_new(object, "message",
                            json_string(view->results->conservation_message.text));
    }
    return object;
}

json_t *results_make_nic_counters(const results_view_t *view)
{
    json_t *const object = json_object();
    put_counters(nic_counter_infos, &view->results->nics, object);
    return object;
}

// -- applications and NICs

static void take_app(const app_t *app, json_t *object)
{
    json_t *const units = json_object();
    if (app->ops->report != NULL) {
        results_part_json(app->ops->report, app, object, units);
    }
    json_object_set_new(object, "units", units);
}

// Returns what can be said of messages within hosts, which have no ideal times to compare with.
static json_t *take_local_flows(results_flow_bins_t *flows)
{
    json_t *const object = json_object();
    json_object_set_new(object, "count", results_json_whole(flows->all.count));
    json_object_set_new(object, "completed", results_json_whole(flows->all.completed));
    json_object_set_new(object, "failed", results_json_whole(flows->failed));
    json_object_set_new(object, "delivered_bytes", results_json_whole(flows->delivered_bytes));
    json_object_set_new(object, "fct_us", results_bin_fct_json(&flows->all));
    return object;
}

static json_t *take_flows(results_flow_bins_t *flows)
{
    json_t *const object = take_local_flows(flows);
    json_object_set_new(object, "goodput_gbps", goodput_json(flows));
    json_object_set_new(object, "fairness", fairness_json(flows));
    json_object_set_new(object, "slowdown", results_bin_slowdown_json(&flows->all));
    json_object_set_new(object, "by_size", results_flow_bins_json(flows));
    return object;
}

json_t *results_make_apps(const results_view_t *view)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < view->world->app_count; i++) {
        results_flow_bins_t *const flows = &view->results->app_flows[i];
        results_flow_bins_t *const local = &view->results->app_local_flows[i];
        const app_t *const app = view->world->apps[i];
        uint64_t done = 0;
        uint64_t planned = 0;
        app->ops->progress(app, &done, &planned);
        json_t *const object = json_object();
        json_object_set_new(object, "kind", json_string(app->ops->name));
        json_object_set_new(object, "transfers_done", results_json_whole(done));
        json_object_set_new(object, "transfers_planned", results_json_whole(planned));
        const char *const why = app_failure(app);
        if (why != NULL) {
            json_object_set_new(object, "failure", json_string(why));
        }
        take_app(app, object);
        if (flows->all.count > 0) {
            json_object_set_new(object, "flows", take_flows(flows));
        }
        if (local->all.count > 0) {
            json_object_set_new(object, "local_flows", take_local_flows(local));
        }
        json_array_append_new(list, object);
    }
    return list;
}

json_t *results_make_operations(const results_view_t *view)
{
    return view->results->rnic_count > 0 ? results_json_whole(view->results->rnics.wqes_completed)
                                         : json_null();
}

json_t *results_make_events_per_operation(const results_view_t *view)
{
    const uint64_t operations = view->results->rnics.wqes_completed;
    return operations > 0 ? json_real((double)view->results->events / (double)operations)
                          : json_null();
}

// Puts a counter of a transport into the transport's object, made at its first counter.
static void take_transport_counter(const nic_transport_ops_t *ops, const nic_counter_info_t *info,
                                   uint64_t value, void *ctx)
{
    json_t *counters = json_object_get(ctx, ops->name);
    if (counters == NULL) {
        counters = json_object();
        json_object_set_new(ctx, ops->name, counters);
    }
    json_object_set_new(counters, info->name, results_json_whole(value));
}

json_t *results_make_trimmed(const results_view_t *view)
{
    uint64_t sum = 0;
    return results_trimmed_packets(view->world, &sum) ? results_json_whole(sum) : NULL;
}

// Adds a counter to the sums, if its transport is one of Ultra Ethernet.
static void add_transport_counter(const nic_transport_ops_t *ops, const nic_counter_info_t *info,
                                  uint64_t value, void *ctx)
{
    if (ops->own_control) {
        const json_t *const before = json_object_get(ctx, info->name);
        const uint64_t sum = value + (uint64_t)json_integer_value(before);
        json_object_set_new(ctx, info->name, results_json_whole(sum));
    }
}

json_t *results_make_transport(const results_view_t *view)
{
    json_t *const sums = json_object();
    for (size_t i = 0; i < view->world->nic_count; i++) {
        if (world_nic_exists(view->world, &view->world->nics[i])) {
            (void)nic_transport_each_counter(world_nic_of(view->world, &view->world->nics[i]),
                                             add_transport_counter, sums);
        }
    }
    if (json_object_size(sums) == 0) {
        json_decref(sums);
        return NULL;
    }
    return sums;
}

json_t *results_make_nics(const results_view_t *view)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < view->world->nic_count; i++) {
        nic_rnic_counters_t counters;
        size_t report_count;
        if (!world_nic_exists(view->world, &view->world->nics[i])) {
            continue;
        }
        const nic_report_t *const reports =
            nic_reports(world_nic_of(view->world, &view->world->nics[i]), &report_count);
        const bool detailed =
            nic_get_rnic_counters(world_nic_of(view->world, &view->world->nics[i]), &counters);
        json_t *const transports = json_object();
        const bool counts = nic_transport_each_counter(
            world_nic_of(view->world, &view->world->nics[i]), take_transport_counter, transports);
        if (!detailed && report_count == 0 && !counts) {
            json_decref(transports);
            continue;
        }
        json_t *const object = json_object();
        json_object_set_new(object, "name", json_string(view->world->nics[i].name));
        if (detailed) {
            put_counters(nic_rnic_counter_infos, &counters, object);
        }
        for (size_t r = 0; r < report_count; r++) {
            json_t *const part = json_object();
            results_part_json(reports[r].part.table, reports[r].part.object, part, NULL);
            const int failed = json_object_set_new(object, reports[r].name, part);
            SIM_CHECKF(failed == 0, "%s", reports[r].name);
        }
        if (counts) {
            json_object_set(object, "transports", transports);
        }
        json_decref(transports);
        json_array_append_new(list, object);
    }
    return list;
}

json_t *results_make_story(const results_view_t *view)
{
    return results_story(view->before);
}

// -- the machine

static json_t *rate(uint64_t count, double wall_s)
{
    return json_real(wall_s > 0 ? (double)count / wall_s : 0.0);
}

json_t *results_make_wall_hops(const results_view_t *view)
{
    return rate(view->results->packet_hops, view->results->wall_s);
}

json_t *results_make_wall_events(const results_view_t *view)
{
    return rate(view->results->events, view->results->wall_s);
}

json_t *results_make_wall_operations(const results_view_t *view)
{
    return view->results->rnic_count > 0
               ? rate(view->results->rnics.wqes_completed, view->results->wall_s)
               : json_null();
}

json_t *results_make_wall_memory(const results_view_t *view)
{
    (void)view;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0
               ? results_json_whole((uint64_t)usage.ru_maxrss * 1024)
               : json_null();
}
