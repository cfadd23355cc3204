// SPDX-License-Identifier: Apache-2.0
// cli/explain/print.c - prints findings as text and as JSON, with trees of pauses and victims.
#include "cli/explain/print.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/pauses.h"
#include "cli/explain/run_data.h"
#include "cli/explain/verdict.h"
#include "world/names.h"

#include "world/format.h"

#include <stdlib.h>
#include <string.h>

#define CHILDREN_MAX 6u
#define DEPTH_MAX 12u
#define VICTIMS_MAX 8u
#define PORTS_MAX 10u

// -- trees

typedef struct branch {
    uint32_t uid;
    sim_time_t paused_ps;
} branch_t;

static int by_paused(const void *a, const void *b)
{
    const branch_t *const x = a;
    const branch_t *const y = b;
    return 2 * SIM_COMPARE(y->paused_ps, x->paused_ps) + SIM_COMPARE(x->uid, y->uid);
}

// Returns the stopped ports below `parent` (EXPLAIN_NONE: the root), longest first; the caller
// frees them.
static branch_t *children_of(const explain_t *explain, const explain_root_t *root, uint32_t parent,
                             size_t *count)
{
    size_t capacity = 0;
    branch_t *children = NULL;
    *count = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        if (root->by_port[i] > 0 && i != parent &&
            cli__explain_parent(explain, root, i) == parent) {
            SIM_GROW(children, *count, &capacity);
            children[(*count)++] = (branch_t){i, root->by_port[i] - 1};
        }
    }
    if (*count > 0) {
        qsort(children, *count, sizeof(*children), by_paused);
    }
    return children;
}

static void print_branch(const explain_t *explain, const explain_root_t *root, uint32_t parent,
                         uint32_t depth, FILE *out)
{
    size_t count = 0;
    branch_t *const children = children_of(explain, root, parent, &count);
    for (size_t i = 0; i < count && i < CHILDREN_MAX; i++) {
        world_text_t time;
        world_text_t bytes;
        const explain_port_t *const port = &explain->ports[children[i].uid];
        fprintf(out, "    %*s%s stopped for %s", (int)(2 * depth), "",
                cli__explain_port_name(explain, children[i].uid),
                world_format_time(&time, children[i].paused_ps));
        if (port->port->node->kind != NET_NODE_HOST) { // a NIC's queue is in its queue pairs
            fprintf(out, ", held up to %s", world_format_bytes(&bytes, port->queue_bytes_max));
        }
        fputc('\n', out);
        if (depth < DEPTH_MAX) {
            print_branch(explain, root, children[i].uid, depth + 1, out);
        }
    }
    if (count > CHILDREN_MAX) {
        fprintf(out, "    %*sand %zu more port%s\n", (int)(2 * depth), "", count - CHILDREN_MAX,
                sim_plural(count - CHILDREN_MAX));
    }
    sim_free(children);
}

static json_t *branch_json(const explain_t *explain, const explain_root_t *root, uint32_t parent,
                           uint32_t depth)
{
    json_t *const list = json_array();
    size_t count = 0;
    branch_t *const children = children_of(explain, root, parent, &count);
    for (size_t i = 0; i < count && depth <= DEPTH_MAX; i++) {
        const uint32_t uid = children[i].uid;
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:o}", "port",
                                              cli__explain_port_name(explain, uid), "paused_ps",
                                              (json_int_t)children[i].paused_ps, "queue_bytes_max",
                                              (json_int_t)explain->ports[uid].queue_bytes_max,
                                              "stops", branch_json(explain, root, uid, depth + 1)));
    }
    sim_free(children);
    return list;
}

// -- victims

// A flow that a finding slowed, with its lost goodput.
typedef struct victim {
    uint32_t flow;
    double excess_ps;
} victim_t;

static int by_excess(const void *a, const void *b)
{
    const victim_t *const x = a;
    const victim_t *const y = b;
    if (x->excess_ps < y->excess_ps || x->excess_ps > y->excess_ps) {
        return x->excess_ps > y->excess_ps ? -1 : 1;
    }
    return (x->flow > y->flow) - (x->flow < y->flow);
}

// Returns the flows that pauses of the finding's root stopped on their way and that do not pass the
// root; the caller frees them.
static victim_t *victims_of(const explain_t *explain, const explain_finding_t *finding,
                            size_t *count)
{
    victim_t *victims = NULL;
    size_t capacity = 0;
    *count = 0;
    for (uint32_t f = 0; f < explain->flow_count && finding->root_count > 0; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        const net_node_t *const end =
            world_host_of(explain->world, &explain->world->nics[flow->destination]);
        bool stopped = false;
        bool causes =
            finding->port != EXPLAIN_NONE && cli__explain_passes(explain, flow, finding->port);
        for (uint32_t r = 0; r < finding->root_count; r++) {
            const explain_root_t *const root = &explain->roots[finding->roots[r]];
            causes |= end == root->node;
            for (uint32_t h = 0; h < flow->hop_count; h++) {
                stopped |= root->by_port[explain->hops[flow->first_hop + h]] > 0;
            }
        }
        if (stopped && !causes && flow->excess_ps > 0) {
            SIM_GROW(victims, *count, &capacity);
            victims[(*count)++] = (victim_t){f, flow->excess_ps};
        }
    }
    if (*count > 0) {
        qsort(victims, *count, sizeof(*victims), by_excess);
    }
    return victims;
}

// Returns the goodput that the flow had, and that it would have had without the excess time.
static double goodput_bps(const explain_flow_t *flow, double less_ps)
{
    const double bytes = (double)(flow->ended ? flow->bytes : flow->delivered_bytes);
    const double ps = (double)(flow->end_ps - flow->start_ps) - less_ps;
    return ps > 0 ? bytes * 8e12 / ps : 0;
}

static void print_victims(const explain_t *explain, const explain_finding_t *finding, FILE *out)
{
    size_t count = 0;
    victim_t *const victims = victims_of(explain, finding, &count);
    if (count > 0) {
        fprintf(out, "  victims: its pauses stopped %zu flow%s on other paths\n", count,
                sim_plural(count));
    }
    for (size_t i = 0; i < count && i < VICTIMS_MAX; i++) {
        const explain_flow_t *const flow = &explain->flows[victims[i].flow];
        world_text_t late;
        world_text_t had;
        world_text_t could;
        fprintf(out, "    flow %" PRIu64 " %s->%s lost %s: %s instead of %s\n", flow->id,
                world_interface_name(explain->world, flow->source),
                world_interface_name(explain->world, flow->destination),
                world_format_time(&late, (sim_time_t)flow->excess_ps),
                world_format_rate(&had, (uint64_t)goodput_bps(flow, 0)),
                world_format_rate(&could, (uint64_t)goodput_bps(flow, flow->excess_ps)));
    }
    sim_free(victims);
}

static json_t *victims_json(const explain_t *explain, const explain_finding_t *finding)
{
    json_t *const list = json_array();
    size_t count = 0;
    victim_t *const victims = victims_of(explain, finding, &count);
    for (size_t i = 0; i < count; i++) {
        const explain_flow_t *const flow = &explain->flows[victims[i].flow];
        json_array_append_new(
            list, json_pack("{s:I, s:s, s:s, s:I, s:f, s:f}", "flow_id", (json_int_t)flow->id,
                            "src", world_interface_name(explain->world, flow->source), "dst",
                            world_interface_name(explain->world, flow->destination), "lost_ps",
                            (json_int_t)flow->excess_ps, "goodput_gbps", goodput_bps(flow, 0) / 1e9,
                            "possible_gbps", goodput_bps(flow, flow->excess_ps) / 1e9));
    }
    sim_free(victims);
    return list;
}

// -- text

static void print_root(const explain_t *explain, const explain_root_t *root, FILE *out)
{
    world_text_t first;
    world_text_t time;
    fprintf(out,
            "  pauses that began at %s, from %s on: stopped %" PRIu64
            " time%s, %u port%s (%u of hosts), "
            "%s in all\n",
            root->name, world_format_time(&first, root->first_ps), root->pauses,
            sim_plural(root->pauses), root->ports, sim_plural(root->ports), root->hosts,
            world_format_time(&time, root->paused_ps));
    print_branch(explain, root, EXPLAIN_NONE, 0, out);
}

static bool have_equal_remedies(const explain_finding_t *a, const explain_finding_t *b)
{
    bool equal = a->remedy_count == b->remedy_count;
    for (size_t i = 0; equal && i < a->remedy_count; i++) {
        equal = strcmp(a->remedies[i].set, b->remedies[i].set) == 0;
    }
    return equal;
}

// Prints what may help against a finding, or which finding before it has the same remedies.
static void print_remedies(const explain_t *explain, size_t index, FILE *out)
{
    const explain_finding_t *const finding = &explain->findings[index];
    if (finding->remedy_count == 0) {
        return;
    }
    for (size_t before = 0; before < index; before++) {
        if (have_equal_remedies(finding, &explain->findings[before])) {
            fprintf(out, "  what may help: as for cause %zu\n", before + 1);
            return;
        }
    }
    fputs("  what may help (--what-if runs each):\n", out);
    for (size_t i = 0; i < finding->remedy_count; i++) {
        fprintf(out, "    --set %s: %s\n", finding->remedies[i].set, finding->remedies[i].why);
    }
}

static void print_finding(const explain_t *explain, size_t index, FILE *out)
{
    const explain_finding_t *const finding = &explain->findings[index];
    fprintf(out, "%zu. %s at %s%s\n  %s\n", index + 1, cli__explain_kind_name(finding->kind),
            finding->place, finding->minor ? " (minor)" : "", finding->sentence);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        fprintf(out, "  - %s\n", finding->evidence[i]);
    }
    cli__explain_print_pairs(explain, finding, out);
    for (uint32_t r = 0; r < finding->root_count; r++) {
        print_root(explain, &explain->roots[finding->roots[r]], out);
    }
    print_victims(explain, finding, out);
    print_remedies(explain, index, out);
}

// Prints the ports that were stopped longest, in the words of switches and NICs.
static void print_counters(const explain_t *explain, FILE *out)
{
    branch_t *const ports = sim_alloc_array(explain->port_count + 1, sizeof(*ports));
    size_t count = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        if (explain->ports[i].port != NULL && explain->ports[i].paused_ps > 0) {
            ports[count++] = (branch_t){i, explain->ports[i].paused_ps};
        }
    }
    if (count > 0) {
        qsort(ports, count, sizeof(*ports), by_paused);
        fputs("\nports that were stopped longest (SONiC: pfcstat, pause history; SAI: "
              "PFC_n_RX_PAUSE_DURATION_US;\nNIC: ethtool -S rx_prioN_pause_duration)\n",
              out);
    }
    for (size_t i = 0; i < count && i < PORTS_MAX; i++) {
        const bool host = explain->ports[ports[i].uid].port->node->kind == NET_NODE_HOST;
        fprintf(out, "  %-24s %s %.1f us\n", cli__explain_port_name(explain, ports[i].uid),
                host ? "rx_prioN_pause_duration" : "RX_PAUSE_DURATION_US",
                (double)ports[i].paused_ps / SIM_PS_PER_US);
    }
    sim_free(ports);
}

static void add_note(json_t *notes, char *text)
{
    json_array_append_new(notes, json_string(text));
    sim_free(text);
}

// Returns sentences about what the analysis could not see, for people.
static json_t *notes_json(const explain_t *explain)
{
    json_t *const notes = json_array();
    world_text_t time;
    if (explain->events_left_out > 0) {
        add_note(notes, sim_format("events.csv ends at %s: it leaves out %" PRIu64
                                   " event%s (outputs.events-max), so pauses and drops below "
                                   "happened before it ends",
                                   world_format_time(&time, explain->events_end_ps),
                                   explain->events_left_out, sim_plural(explain->events_left_out)));
    }
    if (explain->flows_left_out > 0) {
        add_note(notes, sim_format("flows.csv leaves out %" PRIu64
                                   " message%s (flows-max), so what follows is about the first %zu "
                                   "flows over the network",
                                   explain->flows_left_out, sim_plural(explain->flows_left_out),
                                   explain->flow_count));
    }
    if (!explain->paths_known) {
        add_note(notes, sim_strdup("packets of a flow take several paths here: ports of equal cost "
                                   "between switches are looked at together"));
    }
    return notes;
}

static void print_notes(const explain_t *explain, FILE *out)
{
    json_t *const notes = notes_json(explain);
    for (size_t i = 0; i < json_array_size(notes); i++) {
        fprintf(out, "%s\n", json_string_value(json_array_get(notes, i)));
    }
    json_decref(notes);
}

void cli__explain_print(const explain_t *explain, FILE *out)
{
    world_text_t time;
    fprintf(out, "%s: %s at %s\n", explain->scenario->run.name,
            explain->stalled ? "stalled" : "ended", world_format_time(&time, explain->end_ps));
    print_notes(explain, out);
    char *const verdict = cli__explain_verdict_text(explain);
    fprintf(out, "%s\n%s", verdict, explain->finding_count > 0 ? "\n" : "");
    sim_free(verdict);
    for (size_t i = 0; i < explain->finding_count; i++) {
        print_finding(explain, i, out);
    }
    print_counters(explain, out);
}

// -- JSON

static json_t *evidence_json(const explain_finding_t *finding)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < finding->evidence_count; i++) {
        json_array_append_new(list, json_string(finding->evidence[i]));
    }
    return list;
}

static json_t *flows_json(const explain_t *explain, const explain_finding_t *finding)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < finding->flow_count; i++) {
        const explain_flow_t *const flow = &explain->flows[finding->flows[i]];
        json_array_append_new(
            list, json_pack("{s:I, s:s, s:s, s:i}", "flow_id", (json_int_t)flow->id, "src",
                            world_interface_name(explain->world, flow->source), "dst",
                            world_interface_name(explain->world, flow->destination), "src_port",
                            (int)flow->source_port));
    }
    return list;
}

static json_t *remedies_json(const explain_finding_t *finding)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < finding->remedy_count; i++) {
        json_array_append_new(list, json_pack("{s:s, s:s}", "set", finding->remedies[i].set, "why",
                                              finding->remedies[i].why));
    }
    return list;
}

static json_t *pauses_json(const explain_t *explain, const explain_finding_t *finding)
{
    json_t *const list = json_array();
    for (uint32_t r = 0; r < finding->root_count; r++) {
        const explain_root_t *const root = &explain->roots[finding->roots[r]];
        json_array_append_new(
            list, json_pack("{s:s, s:I, s:I, s:I, s:i, s:o}", "root", root->name, "first_ps",
                            (json_int_t)root->first_ps, "paused_ps", (json_int_t)root->paused_ps,
                            "pauses", (json_int_t)root->pauses, "ports", (int)root->ports, "stops",
                            branch_json(explain, root, EXPLAIN_NONE, 0)));
    }
    return list;
}

static json_t *finding_json(const explain_t *explain, const explain_finding_t *finding)
{
    json_t *const json =
        json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "kind",
                  cli__explain_kind_name(finding->kind), "place", finding->place, "sentence",
                  finding->sentence, "lost_ps", (json_int_t)finding->score_ps, "evidence",
                  evidence_json(finding), "flows", flows_json(explain, finding), "victims",
                  victims_json(explain, finding), "remedies", remedies_json(finding));
    if (finding->port != EXPLAIN_NONE) {
        json_object_set_new(json, "port",
                            json_string(cli__explain_port_name(explain, finding->port)));
    }
    json_object_set_new(json, "minor", json_boolean(finding->minor));
    json_object_set_new(json, "pauses", pauses_json(explain, finding));
    json_object_set_new(json, "queue_pairs", cli__explain_pairs_json(explain, finding));
    return json;
}

json_t *cli__explain_json(const explain_t *explain)
{
    json_t *const causes = json_array();
    for (size_t i = 0; i < explain->finding_count; i++) {
        json_array_append_new(causes, finding_json(explain, &explain->findings[i]));
    }
    char *const verdict = cli__explain_verdict_text(explain);
    json_t *const json = json_pack(
        "{s:s, s:b, s:I, s:b, s:I, s:I, s:s, s:s, s:o, s:f, s:o}", "scenario",
        explain->scenario->run.name, "stalled", (int)explain->stalled, "sim_time_ps",
        (json_int_t)explain->end_ps, "paths_known", (int)explain->paths_known, "events_left_out",
        (json_int_t)explain->events_left_out, "events_end_ps", (json_int_t)explain->events_end_ps,
        "verdict", cli__explain_verdict_name(cli__explain_verdict(explain)), "verdict_text",
        verdict, "notes", notes_json(explain), "slowdown", cli__explain_slowdown(explain), "causes",
        causes);
    sim_free(verdict);
    return json;
}
