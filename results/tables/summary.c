// SPDX-License-Identifier: Apache-2.0
// results/tables/summary.c - the fields of summary.json, one row each.
//
// Fields whose names begin with wall_ depend on the machine and the moment; all others are a
// function of the scenario and the program's version. What a row makes that is no number or text of
// the run or its scenario: results/tables/summary_parts.c.
#include "results/summary.h"

#include "results/report/part.h"
#include "results/tables/summary_parts.h"

#include <stdlib.h>
#include <string.h>

#define REAL_DIGITS 12 // of numbers that are not whole

// clang-format off
#define RUN(path_, unit_, help_, member_)                                              \
    {.path = path_, .unit = unit_, .help = help_, .kind = RESULTS_FIELD_WHOLE,         \
     .offset = offsetof(results_t, member_)}
#define RUN_REAL(path_, unit_, help_, member_)                                         \
    {.path = path_, .unit = unit_, .help = help_, .kind = RESULTS_FIELD_REAL,          \
     .offset = offsetof(results_t, member_)}
#define SCENARIO_WHOLE(path_, unit_, help_, member_)                                   \
    {.path = path_, .unit = unit_, .help = help_, .kind = RESULTS_FIELD_SCENARIO_WHOLE, \
     .offset = offsetof(world_scenario_t, member_)}
#define SCENARIO_TEXT(path_, unit_, help_, member_)                                    \
    {.path = path_, .unit = unit_, .help = help_, .kind = RESULTS_FIELD_SCENARIO_TEXT, \
     .offset = offsetof(world_scenario_t, member_)}
#define MADE(path_, unit_, help_, make_)                                               \
    {.path = path_, .unit = unit_, .help = help_, .kind = RESULTS_FIELD_MADE, .make = make_}
// Fields that comparisons print: in a section, by a label or in the CSV alone.
#define COMPARED_RUN(section_, path_, unit_, help_, member_, ...)                      \
    {.path = path_, .unit = unit_, .help = help_, .kind = RESULTS_FIELD_WHOLE,         \
     .offset = offsetof(results_t, member_), .section = RESULTS_SECTION_##section_, __VA_ARGS__}
#define COMPARED_MADE(section_, path_, unit_, help_, make_, ...)                       \
    {.path = path_, .unit = unit_, .help = help_, .kind = RESULTS_FIELD_MADE, .make = make_, \
     .section = RESULTS_SECTION_##section_, __VA_ARGS__}
// A number inside the object that the row before it writes. Without a label only sweeps print it.
#define INSIDE(section_, path_, unit_, ...)                                            \
    {.path = path_, .unit = unit_, .help = "", .kind = RESULTS_FIELD_INSIDE,           \
     .section = RESULTS_SECTION_##section_, __VA_ARGS__}
// The totals of a group of counters (net/link/port_fields.c, nic/host/counters.c).
#define TOTALS(group_) {.path = "", .kind = RESULTS_FIELD_TOTALS, .text = group_}

static const results_summary_field_t fields[] = {
    {.path = "version", .unit = "", .help = "version of the rocesim program that ran", .kind = RESULTS_FIELD_TEXT, .text = ROCESIM_VERSION},
    SCENARIO_TEXT("scenario", "", "name of the scenario that was run", run.name),
    SCENARIO_TEXT("description", "", "description in the scenario, for people", run.description),
    SCENARIO_WHOLE("seed", "", "seed of all random draws in the run", run.seed),
    SCENARIO_WHOLE("tie_seed", "", "seed of the order of simultaneous events", run.tie_seed),
    MADE("digest", "", "hash over all that happened (arrivals, drops, marks, completions) and all final counters, 16 hexadecimal digits; runs with equal digests are equal", results_make_digest),
    MADE("outcome_digest", "", "hash over flows, counters of ports and NICs, and drops, 16 hexadecimal digits; it does not depend on how the run was executed", results_make_outcome_digest),
    MADE("ended", "", "why the run ended; done: nothing was left to do; until: the time limit; interrupted: a signal; stalled: work was left and nothing moved", results_make_ended),
    COMPARED_RUN(HEAD, "sim_time_ps", "ps", "simulated time at which the run ended", sim_time_ps, .label = "simulated time", .swept = true),
    MADE("rates.from_ps", "ps", "begin of the time over which rates and utilisation are reported: the first start of a transfer; 0 where an application has none", results_make_rates_from),
    MADE("rates.until_ps", "ps", "end of that time: outputs.rates-until; where that is auto, the last start of a transfer if at least 16 follow one another, else the end of the run, or of the last transfer where processes of this machine have all of them", results_make_rates_until),
    COMPARED_MADE(RATES, "rates.goodput_gbps", "Gbps", "payload that all NICs accepted in order from rates.from_ps to rates.until_ps, divided by that time: the network while new transfers start", results_make_rates_goodput, .label = "goodput while transfers start, Gbps"),
    COMPARED_MADE(RATES, "rates.run_goodput_gbps", "Gbps", "payload that all NICs accepted in order from rates.from_ps to the end of the run, divided by that time; the last transfers, which end alone, lower it", results_make_run_goodput, .label = "goodput to the end of the run, Gbps"),
    RUN("traffic_from_ps", "ps", "simulated time at which the first flow starts; 0 where an application has no flows", traffic_from_ps),
    MADE("network.nodes", "", "number of hosts, switches and accelerators", results_make_nodes),
    MADE("network.hosts", "", "number of hosts in the network", results_make_hosts),
    MADE("network.accelerators", "", "number of accelerators that are nodes of the network (scale-up.model packets)", results_make_accelerators),
    MADE("network.links", "", "number of links in the network", results_make_links),
    MADE("congestion_control", "", "congestion control of the scenario: nic.congestion-control, or that of a transport with one of its own (patterns may differ)", results_make_control),
    MADE("plugins", "", "list of the plug-ins of the scenario: name of the file, and sha256 of its content; left out where there are none", results_make_plugins),
    RUN("events", "", "number of events that the engine ran", events),
    MADE("fast_forward", "", "object about the packets that fast-forward did not simulate: mode, packet_hops_simulated, packet_hops_skipped, jumps, memo_hits, memo_misses, audited, rails (number of equal rails of which one was simulated; 0: all were), memory_bytes, and refused (number of spans that were simulated, by reason); left out where the mode is off", results_make_fast_forward),
    COMPARED_RUN(NETWORK, "packet_hops", "packets", "number of frames sent over links, PFC frames included", packet_hops, .label = NULL),
    RUN("packets.created", "packets", "number of frames that were made, PFC frames included", packets.created),
    RUN("packets.delivered", "packets", "number of frames that reached the node they were made for", packets.delivered),
    COMPARED_RUN(NETWORK, "packets.dropped", "packets", "number of frames dropped anywhere in the network", packets.dropped, .label = "drops", .swept = true),
    RUN("packets.in_flight", "packets", "number of frames that were still on their way at the end", packets_in_flight),
    COMPARED_RUN(NETWORK, "bytes_delivered", "bytes", "frame bytes that reached the node they were made for", packets.bytes_delivered, .label = NULL),
    COMPARED_RUN(FLOWS, "flows.count", "", "number of flows over the network: transfers, and messages of workloads", flows.all.count, .label = "flows"),
    COMPARED_RUN(FLOWS, "flows.completed", "", "number of flows that ended in success", flows.all.completed, .label = "  completed", .swept = true),
    COMPARED_RUN(FLOWS, "flows.failed", "", "number of flows that ended in a completion error", flows.failed, .label = "  failed", .swept = true),
    RUN("flows.not_begun", "", "number of flows whose start is at or after the end of the run", flow_not_begun),
    COMPARED_RUN(FLOWS, "flows.delivered_bytes", "bytes", "payload delivered by all flows, unfinished ones included, failed ones not", flows.delivered_bytes, .label = "  delivered"),
    COMPARED_RUN(FLOWS, "flows.left_out", "", "number of messages beyond flows-max, over the network or within hosts, which flows.csv and all numbers of flows leave out", flow_left_out, .label = "  left out", .rare = true),
    MADE("flows.goodput_gbps", "Gbps", "distribution (below) over the flows that began and did not fail: payload delivered / time from the start to the end, or to the end of the run", results_make_goodput),
    INSIDE(RATES, "flows.goodput_gbps.p50", "Gbps", .label = "goodput of a flow p50, Gbps"),
    COMPARED_MADE(RATES, "flows.fairness", "", "Jain's index of the goodputs of flows: 1 where all are equal, 1 / count where one flow has all; null: no flow", results_make_fairness, .label = "fairness"),
    MADE("flows.fct_us", "us", "distribution of the flows' completion times: mean, p50, p90, p99, max; percentiles are exact (nearest rank); null where no flow has completed", results_make_fct),
    INSIDE(TIMES, "flows.fct_us.p50", "us", .label = "FCT p50", .swept = true),
    INSIDE(TIMES, "flows.fct_us.p99", "us", .label = "FCT p99", .swept = true),
    MADE("flows.slowdown", "", "distribution of the flows' completion times divided by their ideal ones", results_make_slowdown),
    INSIDE(TIMES, "flows.slowdown.p50", "", .swept = true),
    INSIDE(TIMES, "flows.slowdown.p99", "", .swept = true),
    MADE("flows.by_size", "", "list by size of the flows (0-10KB means up to 10000 bytes): size, count, completed, fct_us and slowdown as above", results_make_by_size),
    COMPARED_RUN(FLOWS, "local_flows.count", "", "number of messages within hosts, over NVLink or in memory, which are no flows over the network", local_flows.all.count, .label = "messages over NVLink", .rare = true),
    COMPARED_RUN(FLOWS, "local_flows.completed", "", "number of messages within hosts that ended in success", local_flows.all.completed, .label = NULL),
    COMPARED_RUN(FLOWS, "local_flows.failed", "", "number of messages within hosts that ended in a completion error", local_flows.failed, .label = NULL),
    COMPARED_RUN(FLOWS, "local_flows.delivered_bytes", "bytes", "payload that messages within hosts delivered", local_flows.delivered_bytes, .label = "  delivered over NVLink", .rare = true),
    MADE("local_flows.fct_us", "us", "distribution of the times of messages within hosts; null where none has ended", results_make_local_fct),
    TOTALS("ecn"),
    TOTALS("cnp"),
    TOTALS("pfc"),
    TOTALS("credits"),
    MADE("pfc.roots", "", "list of ports where chains of pauses began, the longest first: port (its link is overloaded, or its host's NIC is slow), first_ps (time of the first pause), pauses (number of pauses in its chains; over all roots, pfc.pauses), paused_ps (total time of these pauses; over all roots, pfc.paused_ps), ports (ports that they stopped), hosts (stopped ports of hosts), links_away (distance of the farthest stopped port; 1 is a neighbour)", results_make_pause_roots),
    MADE("drops", "packets", "number of dropped packets by reason", results_make_drops),
    TOTALS("retransmission"),
    TOTALS("traffic"),
    COMPARED_RUN(NETWORK, "reordering.packets", "packets", "number of requests and responses that arrived at a host behind a later packet of their connection, without retransmissions (RFC 4737, 3)", reordered.reordered, .label = NULL),
    RUN("reordering.extent_max", "packets", "largest extent of a reordered packet: arrivals of its connection since the first later packet (RFC 4737, 4.2)", reordered.extent_max),
    RUN_REAL("reordering.ratio", "", "share of requests and responses that were reordered", reordered_ratio),
    RUN("paths_equal", "", "number of ports with others of equal cost beside them, at switches that forwarded packets", paths_equal),
    COMPARED_RUN(NETWORK, "paths_used", "", "number of these ports that sent", paths_used, .label = NULL),
    RUN_REAL("link_imbalance", "", "imbalance of these ports: largest divided by mean time for what a switch's ports sent, less 1, averaged over switches by their bytes; 0: even", link_imbalance),
    TOTALS("watchdog"),
    MADE("trimmed", "packets", "number of packets that lost their payload at a port of a switch; left out where no switch has switch.mmu trimming", results_make_trimmed),
    MADE("transport", "", "sums over all NICs of what transports of Ultra Ethernet count (retransmitted, sacks, nacks, trimmed, probes, lost...); left out where none has them", results_make_transport),
    TOTALS("drops"),
    MADE("classes", "", "list by priority of what all ports counted: packet_hops, byte_hops, ecn_marked, pause_frames, resume_frames, pauses, paused_ps", results_make_classes),
    MADE("hottest_ports", "", "list of ports, those with the longest queues first: port, queue_bytes_max, tx_bytes, utilisation (share of the link's time that frames took, preamble to gap, from rates.from_ps to rates.until_ps), run_utilisation (to the end of the run), ecn_marked, rx_pause, paused_ps", results_make_hottest),
    MADE("conservation", "", "ok: all frames and bytes created were delivered, dropped or in flight, no lossless class dropped, and WQEs, CQEs and PCIe bytes of detailed NICs add up; message says what is wrong", results_make_conservation),
    MADE("nic_counters", "", "sums over all NICs, by the names of docs/formats/counters.md", results_make_nic_counters),
    MADE("apps", "", "list by traffic entry: kind, transfers_done, transfers_planned, failure (why the program failed as a whole; only if it did), the values that the application reports (below, by kind), units (of those values, by dotted path), and flows (count, completed, failed, delivered_bytes, goodput_gbps, fairness, fct_us, slowdown, by_size as above) and local_flows (count, completed, failed, delivered_bytes, fct_us) where it has any", results_make_apps),
    MADE("operations", "", "number of work requests that NICs with nic.model detailed completed; null where there are none", results_make_operations),
    MADE("events_per_operation", "", "number of events of the whole run divided by operations; null where there are none", results_make_events_per_operation),
    MADE("nics", "", "list of the NICs that have something to report: name; counters of nic.model detailed by the names of docs/formats/counters.md; objects of their parts, below; transports, with what each counts by name (docs/models/adamap.md)", results_make_nics),
    RUN("events_csv.rows", "", "number of rows in events.csv", event_rows),
    RUN("events_csv.left_out", "", "number of events beyond outputs.events-max, which events.csv leaves out", event_rows_left_out),
    RUN("series_csv.rows", "", "number of rows in series.csv", series_rows),
    RUN("series_csv.left_out", "", "number of rows beyond outputs.series-max, which series.csv leaves out", series_rows_left_out),
    RUN("capture_frames", "packets", "number of frames in all captures", capture_frames),
    MADE("notes", "", "list of texts that say why a series or a capture that was asked for is empty", results_make_notes),
    MADE("warnings", "", "list of warnings that the run printed: settings that are valid and probably not meant. Each has a kind (for example rate-increase; sweeps and comparisons print each kind once) and a text", results_make_warnings),
    RUN("capture_frames_left_out", "packets", "number of frames that are in no file, because their capture has reached captures.bytes-max", capture_frames_left_out),
    MADE("story", "", "list of sentences about the run, for people", results_make_story),
    RUN_REAL("wall_s", "s", "real time that the run took", wall_s),
    MADE("wall_packet_hops_per_s", "1/s", "packet_hops per second of real time", results_make_wall_hops),
    MADE("wall_events_per_s", "1/s", "events per second of real time", results_make_wall_events),
    MADE("wall_operations_per_s", "1/s", "operations per second of real time; null where there are none", results_make_wall_operations),
    SCENARIO_WHOLE("wall_threads", "", "number of threads that the scenario asked for", run.threads),
    MADE("wall_memory_bytes", "bytes", "largest memory that the process used", results_make_wall_memory),
};
// clang-format on

// -- totals

static results_summary_field_t field_of(const sim_total_t *total, const char *unit, size_t offset)
{
    return (results_summary_field_t){.path = total->field,
                                     .unit = unit,
                                     .kind = RESULTS_FIELD_WHOLE,
                                     .offset = offset,
                                     .section = RESULTS_SECTION_NETWORK,
                                     .label = total->label,
                                     .line = total->line,
                                     .words = total->words,
                                     .rare = total->rare,
                                     .swept = total->swept};
}

static bool is_of(const sim_total_t *total, const char *group)
{
    return total->field != NULL && strcmp(total->group, group) == 0;
}

// Puts the totals of a group into the fields and returns how many there are.
static size_t add_totals(const char *group, results_summary_field_t *into)
{
    size_t count = 0;
    for (size_t i = 0; net_port_metrics[i].name != NULL; i++) {
        const net_port_metric_t *const metric = &net_port_metrics[i];
        if (is_of(&metric->total, group)) {
            const size_t offset = offsetof(results_t, port_totals) + i * sizeof(uint64_t);
            into[count] = field_of(&metric->total, metric->unit, offset);
            into[count++].help = metric->help;
        }
    }
    for (const nic_counter_info_t *info = nic_counter_infos; info->name != NULL; info++) {
        if (is_of(&info->total, group)) {
            const size_t offset = offsetof(results_t, nics) + info->field.offset;
            into[count] = field_of(&info->total, info->unit, offset);
            into[count++].help = info->help;
        }
    }
    return count;
}

static size_t nic_counter_count(void)
{
    size_t count = 0;
    while (nic_counter_infos[count].name != NULL) {
        count++;
    }
    return count;
}

results_summary_field_t *results_summary_fields(size_t *count)
{
    const size_t room = SIM_COUNT_OF(fields) + NET_PORT_METRICS_MAX + nic_counter_count();
    results_summary_field_t *const all = sim_alloc_array(room, sizeof(*all));
    *count = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(fields); i++) {
        if (fields[i].kind == RESULTS_FIELD_TOTALS) {
            *count += add_totals(fields[i].text, all + *count);
        } else {
            all[(*count)++] = fields[i];
        }
    }
    SIM_CHECK(*count <= room);
    return all;
}

// -- the object

static json_t *value_of(const results_summary_field_t *field, const results_view_t *view)
{
    const char *const in_run = (const char *)view->results + field->offset;
    const char *const in_scenario = (const char *)view->world->scenario + field->offset;
    switch (field->kind) {
    case RESULTS_FIELD_WHOLE:
        return results_json_whole(*(const uint64_t *)(const void *)in_run);
    case RESULTS_FIELD_REAL:
        return json_real(*(const double *)(const void *)in_run);
    case RESULTS_FIELD_SCENARIO_WHOLE:
        return results_json_whole(*(const uint64_t *)(const void *)in_scenario);
    case RESULTS_FIELD_SCENARIO_TEXT:
        return json_string(*(char *const *)(const void *)in_scenario);
    case RESULTS_FIELD_TEXT:
        return json_string(field->text);
    case RESULTS_FIELD_MADE:
        break;
    case RESULTS_FIELD_INSIDE:
    case RESULTS_FIELD_TOTALS:
        SIM_CHECKF(false, "%s has no value of its own", field->path);
        break;
    }
    return field->make(view);
}

json_t *results_summary_json(const world_t *world, results_t *results)
{
    json_t *const root = json_object();
    const results_view_t view = {world, results, root};
    size_t count = 0;
    results_summary_field_t *const all = results_summary_fields(&count);
    for (const results_summary_field_t *field = all; field < all + count; field++) {
        if (field->kind == RESULTS_FIELD_INSIDE) {
            continue;
        }
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
        json_t *const value = value_of(field, &view);
        if (value == NULL) {
            continue; // this run has no such value
        }
        const int failed = json_object_set_new(into, key, value);
        SIM_CHECKF(failed == 0, "%s", field->path);
    }
    sim_free(all);
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
