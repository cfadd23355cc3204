// SPDX-License-Identifier: Apache-2.0
// results/summary.c - the fields of summary.json.
//
// Fields whose names begin with wall_ depend on the machine and the moment; all others are a
// function of the scenario and the program's version.
#include "results/summary.h"
#include "nic/reports.h"
#include "nic/transport.h"
#include "results/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define REAL_DIGITS 12 // of numbers that are not whole

// -- the run

static json_t *get_version(const world_t *world, results_t *results)
{
    (void)world;
    (void)results;
    return json_string(ROCESIM_VERSION);
}

static json_t *get_scenario(const world_t *world, results_t *results)
{
    (void)results;
    return json_string(world->scenario->run.name);
}

static json_t *get_description(const world_t *world, results_t *results)
{
    (void)results;
    return json_string(world->scenario->run.description);
}

static json_t *get_seed(const world_t *world, results_t *results)
{
    (void)results;
    return results_json_whole(world->scenario->run.seed);
}

static json_t *get_tie_seed(const world_t *world, results_t *results)
{
    (void)results;
    return results_json_whole(world->scenario->run.tie_seed);
}

static json_t *get_digest(const world_t *world, results_t *results)
{
    (void)world;
    char *const text = sim_format("%016" PRIx64, results->digest);
    json_t *const string = json_string(text);
    sim_free(text);
    return string;
}

static json_t *get_ended(const world_t *world, results_t *results)
{
    (void)world;
    return json_string(results_ended_text(results->ended));
}

static json_t *get_congestion_control(const world_t *world, results_t *results)
{
    (void)results;
    return json_string(world->scenario->nic_config.congestion_control);
}

static json_t *get_nodes(const world_t *world, results_t *results)
{
    (void)results;
    return results_json_whole(net_node_count(world->net));
}

static json_t *get_hosts(const world_t *world, results_t *results)
{
    (void)results;
    uint64_t count = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        count += net_node_at(world->net, i)->kind == NET_NODE_HOST;
    }
    return results_json_whole(count);
}

static json_t *get_links(const world_t *world, results_t *results)
{
    (void)results;
    return results_json_whole(net_link_count(world->net));
}

#define GET_WHOLE(name, expression)                               \
    static json_t *name(const world_t *world, results_t *results) \
    {                                                             \
        (void)world;                                              \
        return results_json_whole(results->expression);           \
    }

GET_WHOLE(get_sim_time, sim_time_ps)
static json_t *get_rates_from(const world_t *world, results_t *results)
{
    (void)world;
    return results_json_whole(results_span_from_ps(results->span));
}

static json_t *get_rates_until(const world_t *world, results_t *results)
{
    (void)world;
    return results_json_whole(results_span_to_ps(results->span));
}

static json_t *get_rates_goodput(const world_t *world, results_t *results)
{
    (void)world;
    return json_real(results_span_goodput_gbps(results->span));
}

static json_t *get_run_goodput(const world_t *world, results_t *results)
{
    (void)world;
    return json_real(results_run_goodput_gbps(results));
}

GET_WHOLE(get_traffic_from, traffic_from_ps)
GET_WHOLE(get_events, events)
GET_WHOLE(get_packet_hops, packet_hops)
GET_WHOLE(get_created, packets.created)
GET_WHOLE(get_delivered, packets.delivered)
GET_WHOLE(get_dropped, packets.dropped)
GET_WHOLE(get_in_flight, packets_in_flight)
GET_WHOLE(get_bytes_delivered, packets.bytes_delivered)
GET_WHOLE(get_flow_count, flow_count)
GET_WHOLE(get_flow_completed, flow_completed)
GET_WHOLE(get_flow_failed, flow_failed)
GET_WHOLE(get_flow_not_begun, flow_not_begun)
GET_WHOLE(get_marked, sums.ecn_marked)
GET_WHOLE(get_marked_again, sums.ecn_marked_again)
GET_WHOLE(get_cnp_sent, nics.np_cnp_sent)
GET_WHOLE(get_cnp_handled, nics.rp_cnp_handled)
GET_WHOLE(get_pause_frames, sums.pause_frames)
GET_WHOLE(get_resume_frames, sums.resume_frames)
GET_WHOLE(get_paused, sums.paused_ps)
GET_WHOLE(get_retransmitted, nics.retransmitted_packets)
GET_WHOLE(get_event_rows, event_rows)
GET_WHOLE(get_event_rows_left_out, event_rows_left_out)
GET_WHOLE(get_series_rows, series_rows)
GET_WHOLE(get_series_rows_left_out, series_rows_left_out)
GET_WHOLE(get_capture_frames, capture_frames)
GET_WHOLE(get_capture_frames_left_out, capture_frames_left_out)

static json_t *get_notes(const world_t *world, results_t *results)
{
    (void)world;
    json_t *const notes = json_array();
    for (size_t i = 0; i < results->note_count; i++) {
        json_array_append_new(notes, json_string(results->notes[i]));
    }
    return notes;
}

// -- flows

static json_t *get_fct(const world_t *world, results_t *results)
{
    (void)world;
    return results_bin_fct_json(&results->flows.all);
}

static json_t *get_slowdown(const world_t *world, results_t *results)
{
    (void)world;
    return results_bin_slowdown_json(&results->flows.all);
}

static json_t *get_by_size(const world_t *world, results_t *results)
{
    (void)world;
    return results_flow_bins_json(&results->flows);
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

static json_t *get_delivered_bytes(const world_t *world, results_t *results)
{
    (void)world;
    return results_json_whole(results->flows.delivered_bytes);
}

static json_t *get_goodput(const world_t *world, results_t *results)
{
    (void)world;
    return goodput_json(&results->flows);
}

static json_t *get_fairness(const world_t *world, results_t *results)
{
    (void)world;
    return fairness_json(&results->flows);
}

// -- the network

static json_t *get_drops(const world_t *world, results_t *results)
{
    (void)world;
    json_t *const object = json_object();
    for (unsigned r = 0; r < NET_DROP_REASON_COUNT; r++) {
        json_object_set_new(object,
                            net_drop_reason_name((net_drop_reason_t)r),
                            results_json_whole(results->drops[r]));
    }
    return object;
}

static json_t *get_classes(const world_t *world, results_t *results)
{
    (void)world;
    json_t *const list = json_array();
    for (unsigned p = 0; p < NET_PRIORITIES; p++) {
        const results_class_sums_t *const sums = &results->classes[p];
        json_t *const object = json_object();
        json_object_set_new(object, "priority", results_json_whole(p));
        json_object_set_new(object, "packet_hops", results_json_whole(sums->tx_packets));
        json_object_set_new(object, "byte_hops", results_json_whole(sums->tx_bytes));
        json_object_set_new(object, "ecn_marked", results_json_whole(sums->ecn_marked));
        json_object_set_new(object, "pause_frames", results_json_whole(sums->pause_frames));
        json_object_set_new(object, "resume_frames", results_json_whole(sums->resume_frames));
        json_object_set_new(object, "paused_ps", results_json_whole(sums->paused_ps));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *get_hottest(const world_t *world, results_t *results)
{
    (void)world;
    json_t *const list = json_array();
    for (size_t i = 0; i < results->hottest_count; i++) {
        const net_port_t *const port = results->hottest[i];
        results_class_sums_t sums = {0};
        for (unsigned p = 0; p < NET_PRIORITIES; p++) {
            sums.tx_bytes += port->classes[p].tx_bytes;
            sums.ecn_marked += port->ecn_marked[p];
            sums.pause_frames += port->pauses[p].rx_pause;
            sums.paused_ps += results_port_paused_ps(port, p, results->sim_time_ps);
        }
        json_t *const object = json_object();
        json_object_set_new(object, "port", json_string(net_port_name(port)));
        json_object_set_new(object,
                            "queue_bytes_max",
                            results_json_whole(net_port_queue_bytes_max(port)));
        json_object_set_new(object, "tx_bytes", results_json_whole(sums.tx_bytes));
        json_object_set_new(object,
                            "utilisation",
                            json_real(results_span_utilisation(results->span, port)));
        json_object_set_new(
            object,
            "run_utilisation",
            json_real(
                results_port_utilisation(port, results->traffic_from_ps, results->sim_time_ps)));
        json_object_set_new(object, "ecn_marked", results_json_whole(sums.ecn_marked));
        json_object_set_new(object, "rx_pause", results_json_whole(sums.pause_frames));
        json_object_set_new(object, "paused_ps", results_json_whole(sums.paused_ps));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *get_pause_roots(const world_t *world, results_t *results)
{
    const size_t wanted = (size_t)world->scenario->outputs.hottest_ports;
    json_t *const list = json_array();
    if (results->pause_roots == NULL) {
        return list;
    }
    const size_t count = results_pause_roots_count(results->pause_roots);
    for (size_t i = 0; i < count && i < wanted; i++) {
        const results_pause_root_t *const root = results_pause_roots_at(results->pause_roots, i);
        json_t *const object = json_object();
        json_object_set_new(object, "port", json_string(results_pause_root_name(root)));
        json_object_set_new(object, "first_ps", results_json_whole(root->first_ps));
        json_object_set_new(object, "pauses", results_json_whole(root->pauses));
        json_object_set_new(object, "paused_ps", results_json_whole(root->paused_ps));
        json_object_set_new(object, "ports", results_json_whole(root->ports));
        json_object_set_new(object, "hosts", results_json_whole(root->hosts));
        json_object_set_new(object, "links_away", results_json_whole(root->links_away));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *get_conservation(const world_t *world, results_t *results)
{
    (void)world;
    json_t *const object = json_object();
    json_object_set_new(object, "ok", json_boolean(results->conservation_ok));
    json_object_set_new(object,
                        "bytes_created",
                        results_json_whole(results->packets.bytes_created));
    json_object_set_new(object,
                        "bytes_delivered",
                        results_json_whole(results->packets.bytes_delivered));
    json_object_set_new(object,
                        "bytes_dropped",
                        results_json_whole(results->packets.bytes_dropped));
    if (!results->conservation_ok) {
        json_object_set_new(object, "message", json_string(results->conservation_message.text));
    }
    return object;
}

static json_t *get_nic_counters(const world_t *world, results_t *results)
{
    (void)world;
    json_t *const object = json_object();
    for (const nic_counter_info_t *info = nic_counter_infos; info->name != NULL; info++) {
        uint64_t value;
        memcpy(&value, (const char *)&results->nics + info->offset, sizeof(value));
        json_object_set_new(object, info->name, results_json_whole(value));
    }
    return object;
}

// -- applications

static void take_app(const app_t *app, json_t *object)
{
    json_t *const units = json_object();
    if (app->ops->report != NULL) {
        results_part_json(app->ops->report, app, object, units);
    }
    json_object_set_new(object, "units", units);
}

static json_t *take_flows(results_flow_bins_t *flows)
{
    json_t *const object = json_object();
    json_object_set_new(object, "count", results_json_whole(flows->all.count));
    json_object_set_new(object, "completed", results_json_whole(flows->all.completed));
    json_object_set_new(object, "failed", results_json_whole(flows->failed));
    json_object_set_new(object, "delivered_bytes", results_json_whole(flows->delivered_bytes));
    json_object_set_new(object, "goodput_gbps", goodput_json(flows));
    json_object_set_new(object, "fairness", fairness_json(flows));
    json_object_set_new(object, "fct_us", results_bin_fct_json(&flows->all));
    json_object_set_new(object, "slowdown", results_bin_slowdown_json(&flows->all));
    json_object_set_new(object, "by_size", results_flow_bins_json(flows));
    return object;
}

static json_t *get_apps(const world_t *world, results_t *results)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < world->app_count; i++) {
        results_flow_bins_t *const flows = &results->app_flows[i];
        const app_t *const app = world->apps[i];
        uint64_t done = 0;
        uint64_t planned = 0;
        app->ops->progress(app, &done, &planned);
        json_t *const object = json_object();
        json_object_set_new(object, "kind", json_string(app->ops->name));
        json_object_set_new(object, "transfers_done", results_json_whole(done));
        json_object_set_new(object, "transfers_planned", results_json_whole(planned));
        take_app(app, object);
        if (flows->all.count > 0) {
            json_object_set_new(object, "flows", take_flows(flows));
        }
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *get_operations(const world_t *world, results_t *results)
{
    (void)world;
    return results->rnic_count > 0 ? results_json_whole(results->rnics.wqes_completed)
                                   : json_null();
}

static json_t *get_events_per_operation(const world_t *world, results_t *results)
{
    (void)world;
    const uint64_t operations = results->rnics.wqes_completed;
    return operations > 0 ? json_real((double)results->events / (double)operations) : json_null();
}

static void take_counters(const nic_rnic_counters_t *counters, json_t *object)
{
    for (const nic_counter_info_t *info = nic_rnic_counter_infos; info->name != NULL; info++) {
        uint64_t value;
        memcpy(&value, (const char *)counters + info->offset, sizeof(value));
        json_object_set_new(object, info->name, results_json_whole(value));
    }
}

// Into an object per transport that counts something.
static void take_transport_counter(const nic_transport_ops_t *ops,
                                   const nic_counter_info_t *info,
                                   uint64_t value,
                                   void *ctx)
{
    json_t *counters = json_object_get(ctx, ops->name);
    if (counters == NULL) {
        counters = json_object();
        json_object_set_new(ctx, ops->name, counters);
    }
    json_object_set_new(counters, info->name, results_json_whole(value));
}

static json_t *get_nics(const world_t *world, results_t *results)
{
    (void)results;
    json_t *const list = json_array();
    for (size_t i = 0; i < world->nic_count; i++) {
        nic_rnic_counters_t counters;
        size_t report_count;
        const nic_report_t *const reports = nic_reports(world->nics[i].nic, &report_count);
        const bool detailed = nic_get_rnic_counters(world->nics[i].nic, &counters);
        json_t *const transports = json_object();
        const bool counts =
            nic_transport_each_counter(world->nics[i].nic, take_transport_counter, transports);
        if (!detailed && report_count == 0 && !counts) {
            json_decref(transports);
            continue;
        }
        json_t *const object = json_object();
        json_object_set_new(object, "name", json_string(world->nics[i].name));
        if (detailed) {
            take_counters(&counters, object);
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

// -- the machine

static json_t *get_wall(const world_t *world, results_t *results)
{
    (void)world;
    return json_real(results->wall_s);
}

static json_t *rate(uint64_t count, double wall_s)
{
    return json_real(wall_s > 0 ? (double)count / wall_s : 0.0);
}

static json_t *get_wall_hops(const world_t *world, results_t *results)
{
    (void)world;
    return rate(results->packet_hops, results->wall_s);
}

static json_t *get_wall_events(const world_t *world, results_t *results)
{
    (void)world;
    return rate(results->events, results->wall_s);
}

static json_t *get_wall_operations(const world_t *world, results_t *results)
{
    (void)world;
    return results->rnic_count > 0 ? rate(results->rnics.wqes_completed, results->wall_s)
                                   : json_null();
}

static json_t *get_wall_threads(const world_t *world, results_t *results)
{
    (void)results;
    return results_json_whole(world->scenario->run.threads);
}

static json_t *get_wall_memory(const world_t *world, results_t *results)
{
    (void)world;
    (void)results;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0
               ? results_json_whole((uint64_t)usage.ru_maxrss * 1024)
               : json_null();
}

// clang-format off
const results_summary_field_t results_summary_fields[] = {
    {"version", "", "of rocesim", get_version},
    {"scenario", "", "its name", get_scenario},
    {"description", "", "of the scenario", get_description},
    {"seed", "", "of all random draws", get_seed},
    {"tie_seed", "", "of the order of simultaneous events", get_tie_seed},
    {"digest", "", "hash over what happened (arrivals, drops, marks, completions) and every final counter, 16 hexadecimal digits: equal digests mean equal runs", get_digest},
    {"ended", "", "done: nothing was left to do; until: the time limit; interrupted: by a signal; stalled: work was left and nothing moved", get_ended},
    {"sim_time_ps", "ps", "simulated time at the end", get_sim_time},
    {"rates.from_ps", "ps", "rates and utilisation are told from here: the first start of a transfer; 0 where an application has none", get_rates_from},
    {"rates.until_ps", "ps", "to here: outputs.rates-until; where it says auto, the last start, if at least 16 follow one another, else the end", get_rates_until},
    {"rates.goodput_gbps", "Gbps", "payload that all NICs accepted in order within, by its time", get_rates_goodput},
    {"rates.run_goodput_gbps", "Gbps", "the same from rates.from_ps to the end of the run", get_run_goodput},
    {"traffic_from_ps", "ps", "when the first flow starts, from which utilisation counts; 0 where an application has no flows", get_traffic_from},
    {"network.nodes", "", "hosts and switches", get_nodes},
    {"network.hosts", "", "hosts", get_hosts},
    {"network.links", "", "links", get_links},
    {"congestion_control", "", "nic.congestion-control of the scenario (patterns may differ)", get_congestion_control},
    {"events", "", "events run", get_events},
    {"packet_hops", "packets", "frames sent over links, PFC frames too", get_packet_hops},
    {"packets.created", "packets", "frames made, PFC frames too", get_created},
    {"packets.delivered", "packets", "frames that reached the end they were made for", get_delivered},
    {"packets.dropped", "packets", "frames dropped anywhere", get_dropped},
    {"packets.in_flight", "packets", "frames still under way at the end", get_in_flight},
    {"bytes_delivered", "bytes", "frame bytes that reached their end", get_bytes_delivered},
    {"flows.count", "", "flows planned", get_flow_count},
    {"flows.completed", "", "flows that ended in success", get_flow_completed},
    {"flows.failed", "", "flows that ended in a completion error", get_flow_failed},
    {"flows.not_begun", "", "flows whose start is not before the end of the run", get_flow_not_begun},
    {"flows.delivered_bytes", "bytes", "payload delivered, of unfinished flows too, of failed ones not", get_delivered_bytes},
    {"flows.goodput_gbps", "Gbps", "a distribution (below) over the flows that began and have not failed: payload delivered / time from the start to the end, or to the end of the run", get_goodput},
    {"flows.fairness", "", "Jain's index of those rates: 1 where all are equal, 1 / count where one has all; null: none", get_fairness},
    {"flows.fct_us", "us", "mean, p50, p90, p99, max of the completion time; percentiles are exact (nearest rank); null where no flow has completed", get_fct},
    {"flows.slowdown", "", "the same of the completion time divided by the ideal one", get_slowdown},
    {"flows.by_size", "", "a list: size (bytes of the flow: 0-10KB means up to 10000), count, completed, fct_us and slowdown as above", get_by_size},
    {"ecn_marked", "packets", "packets that switches marked CE, each once", get_marked},
    {"ecn_marked_again", "packets", "hops at which a packet would have been marked that came with CE", get_marked_again},
    {"cnp_sent", "packets", "congestion notifications sent", get_cnp_sent},
    {"cnp_handled", "packets", "congestion notifications acted upon", get_cnp_handled},
    {"pfc.pause_frames", "frames", "per-class pauses sent (a frame that stops two classes counts twice)", get_pause_frames},
    {"pfc.resume_frames", "frames", "per-class releases sent", get_resume_frames},
    {"pfc.paused_ps", "ps", "time a class of a port was stopped, summed over ports and classes", get_paused},
    {"pfc.roots", "", "a list of ports where pauses began, those whose pauses lasted longest first: port (more comes in for it than its link carries; or a host: its NIC is slow), first_ps (when), pauses (it and those it stopped told), paused_ps (sum of those), ports (stopped by them), hosts (of those, ports of hosts), links_away (the farthest; 1 is a neighbour)", get_pause_roots},
    {"drops", "packets", "drops by reason", get_drops},
    {"retransmitted_packets", "packets", "data packets sent again", get_retransmitted},
    {"classes", "", "a list by priority: packet_hops, byte_hops, ecn_marked, pause_frames, resume_frames, paused_ps", get_classes},
    {"hottest_ports", "", "a list of ports by largest queue: port, queue_bytes_max, tx_bytes, utilisation (share of the link's time that frames took, preamble to gap, from rates.from_ps to rates.until_ps), run_utilisation (the same to the end), ecn_marked, rx_pause, paused_ps", get_hottest},
    {"conservation", "", "ok: frames and bytes created are delivered, dropped or in flight, and no lossless class dropped; WQEs, CQEs and PCIe bytes of detailed NICs add up; message says what is wrong", get_conservation},
    {"nic_counters", "", "sums over all NICs, by the names of docs/formats/counters.md", get_nic_counters},
    {"apps", "", "a list by traffic entry: kind, transfers_done, transfers_planned, what the application tells itself (below, by kind), units (of that, by dotted path), and flows (count, completed, failed, delivered_bytes, goodput_gbps, fairness, fct_us, slowdown, by_size as above) where it has any", get_apps},
    {"operations", "", "work requests that NICs with nic.model detailed completed; null where there are none", get_operations},
    {"events_per_operation", "", "events of the whole run / operations", get_events_per_operation},
    {"nics", "", "a list of the NICs with something to tell: name; with nic.model detailed, what happened inside by the names of docs/formats/counters.md; objects of their parts, below; transports, with an object of what each counts by name (docs/models/adamap.md)", get_nics},
    {"events_csv.rows", "", "rows of events.csv", get_event_rows},
    {"events_csv.left_out", "", "events beyond outputs.events-max", get_event_rows_left_out},
    {"series_csv.rows", "", "rows of series.csv", get_series_rows},
    {"series_csv.left_out", "", "rows beyond outputs.series-max", get_series_rows_left_out},
    {"capture_frames", "packets", "frames in all captures", get_capture_frames},
    {"notes", "", "a list of texts: why a series or a capture that was asked for is empty", get_notes},
    {"capture_frames_left_out", "packets", "frames beyond captures.bytes-max of their capture, in no file", get_capture_frames_left_out},
    {"wall_s", "s", "time the run took", get_wall},
    {"wall_packet_hops_per_s", "1/s", "packet_hops / wall_s", get_wall_hops},
    {"wall_events_per_s", "1/s", "events / wall_s", get_wall_events},
    {"wall_operations_per_s", "1/s", "operations / wall_s", get_wall_operations},
    {"wall_threads", "", "threads used", get_wall_threads},
    {"wall_memory_bytes", "bytes", "largest memory of the process", get_wall_memory},
    {NULL, NULL, NULL, NULL},
};
// clang-format on

json_t *results_summary_json(const world_t *world, results_t *results)
{
    json_t *const root = json_object();
    for (const results_summary_field_t *field = results_summary_fields; field->path != NULL;
         field++) {
        json_t *into = root;
        const char *const dot = strchr(field->path, '.');
        const char *key = field->path;
        if (dot != NULL) {
            char *const group = sim_format("%.*s", (int)(dot - key), key);
            into = json_object_get(root, group);
            if (into == NULL) {
                into = json_object();
                json_object_set_new(root, group, into);
            }
            sim_free(group);
            key = dot + 1;
        }
        const int failed = json_object_set_new(into, key, field->get(world, results));
        SIM_CHECKF(failed == 0, "%s", field->path);
    }
    return root;
}

char *results_summary_text(const json_t *summary)
{
    char *const text = json_dumps(summary, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS));
    SIM_CHECK(text != NULL);
    char *const line = sim_format("%s\n", text);
    free(text);
    return line;
}
