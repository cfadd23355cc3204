// SPDX-License-Identifier: Apache-2.0
// results/report/terminal.c - the summary of a run that a person reads.
#include "kernel/digits.h"
#include "net/port_pause.h"
#include "net/ports.h"
#include "nic/extra.h"
#include "nic/reports.h"
#include "results/report/part.h"
#include "results/span.h"
#include "results/summary.h"
#include "results/totals/pause_roots.h"
#include "world/format.h"

#include <math.h>
#include <string.h>

#define PORTS_SHOWN_MAX 5u
#define ROOTS_SHOWN_MAX 3u
#define LINE_WIDTH 100u
#define NIC_PARTS_MAX 32u
#define OTHERS_NAMED 3u // entries of other traffic

// Returns why a program failed as a whole; NULL if none did.
static const char *failure_of(const world_t *world)
{
    const char *why = NULL;
    for (size_t i = 0; i < world->app_count && why == NULL; i++) {
        why = app_failure(world->apps[i]);
    }
    return why;
}

static const char *ended_sentence(const world_t *world, const results_t *results)
{
    switch (results->ended) {
    case SIM_ENDED_DONE:
        return failure_of(world) != NULL || results->flows.failed + results->local_flows.failed > 0
                   ? "nothing is left to do"
                   : "everything is done";
    case SIM_ENDED_UNTIL:
        return results->sim_time_ps < SIM_MIN(world->scenario->run.until_ps, SIM_TIME_END)
                   ? "where it was left"
                   : "the time limit";
    case SIM_ENDED_INTERRUPTED:
        return "interrupted";
    case SIM_ENDED_STALLED:
        break;
    }
    return "STALLED";
}

// Says over which time the traffic below reports its own rates, where that differs from the line
// above: two rates of one run would seem to contradict each other.
static void print_other_rates(const world_t *world, bool ended_later, FILE *out)
{
    bool transfers = false;
    bool programs = false;
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        double rate = 0;
        programs = programs || app->ops->print != NULL || app->ops->warn != NULL;
        transfers = transfers || (app->ops->print == NULL && app->ops->report != NULL &&
                                  sim_report_number(app->ops->report, app, "goodput_gbps", &rate));
    }
    if (transfers && ended_later) {
        fputs("            goodput_gbps below: from the first start to the end of the last "
              "transfer\n",
              out);
    }
    if (programs) {
        fputs(
            "            each traffic entry below measures its own rates over a time of its own\n",
            out);
    }
}

static void print_rates(const world_t *world, const results_t *results, FILE *out)
{
    const sim_time_t from_ps = results_span_from_ps(results->span);
    const sim_time_t until_ps = results_span_to_ps(results->span);
    if (results->nics.rx_data_bytes == 0 || until_ps <= from_ps) {
        return;
    }
    world_text_t from;
    world_text_t until;
    fprintf(out, "  rates     %s Gbps of payload from %s to %s, idle times included",
            SIM_DIGITS(results_span_goodput_gbps(results->span), 5),
            world_format_time(&from, from_ps), world_format_time(&until, until_ps));
    if (until_ps < results->sim_time_ps) {
        fprintf(out, ", %s; %s to the end",
                results_span_is_of_programs(results->span) ? "while programs have transfers"
                                                           : "while transfers start",
                SIM_DIGITS(results_run_goodput_gbps(results), 5));
    }
    fputc('\n', out);
    print_other_rates(world, until_ps < results->sim_time_ps, out);
}

static void print_head(const world_t *world, const results_t *results, FILE *out)
{
    world_text_t time;
    const world_scenario_t *const scenario = world->scenario;
    fprintf(out, "%s", scenario->run.name);
    if (scenario->run.description[0] != '\0') {
        fprintf(out, ": %s", scenario->run.description);
    }
    const net_node_counts_t nodes = net_count_nodes(world->net);
    fprintf(out, "\n  ended     %s at %s\n", ended_sentence(world, results),
            world_format_time(&time, results->sim_time_ps));
    fprintf(out, "  network   %zu host%s, ", nodes.hosts, sim_plural(nodes.hosts));
    if (nodes.accelerators > 0) {
        fprintf(out, "%zu accelerators, ", nodes.accelerators);
    }
    fprintf(out, "%zu switch%s, %zu link%s; congestion control %s\n", nodes.switches,
            nodes.switches == 1 ? "" : "es", net_link_count(world->net),
            sim_plural(net_link_count(world->net)), nic_config_control(&scenario->nic_config));
}

static void print_bin(const char *name, results_size_bin_t *bin, FILE *out)
{
    world_text_t p50;
    world_text_t p99;
    if (bin->count == 0) {
        return;
    }
    if (bin->completed == 0) {
        fprintf(out, "            %-10s %9" PRIu64 " %9u %11s %11s %9s %9s %9s\n", name, bin->count,
                0u, "-", "-", "-", "-", "-");
        return;
    }
    fprintf(
        out, "            %-10s %9" PRIu64 " %9" PRIu64 " %11s %11s %9.2f %9.2f %9.2f\n", name,
        bin->count, bin->completed,
        world_format_time(&p50, sim_sample_set_percentile(&bin->fct_ps, 50, 100)),
        world_format_time(&p99, sim_sample_set_percentile(&bin->fct_ps, 99, 100)),
        (double)sim_sample_set_percentile(&bin->slowdown, 50, 100) / (double)RESULTS_SLOWDOWN_ONE,
        (double)sim_sample_set_percentile(&bin->slowdown, 99, 100) / (double)RESULTS_SLOWDOWN_ONE,
        (double)sim_sample_set_max(&bin->slowdown) / (double)RESULTS_SLOWDOWN_ONE);
}

// Returns the number of rows printed.
static size_t print_bins(results_flow_bins_t *flows, FILE *out)
{
    size_t rows = 0;
    for (size_t i = 0; i < RESULTS_SIZE_BINS; i++) {
        print_bin(flows->bins[i].name, &flows->bins[i], out);
        rows += flows->bins[i].count > 0;
    }
    return rows;
}

// Rows by size: where there are several traffic entries, of each by itself.
static void print_sizes(const world_t *world, results_t *results, FILE *out)
{
    size_t with_flows = 0;
    for (size_t i = 0; i < results->app_count; i++) {
        with_flows += results->app_flows[i].all.count > 0;
    }
    if (with_flows < 2) {
        print_bins(&results->flows, out);
    }
    for (size_t i = 0; with_flows > 1 && i < results->app_count; i++) {
        if (results->app_flows[i].all.count > 0) {
            fprintf(out, "            traffic %zu, %s\n", i, world->apps[i]->ops->name);
            if (print_bins(&results->app_flows[i], out) > 1) {
                print_bin("together", &results->app_flows[i].all, out);
            }
        }
    }
    print_bin("all", &results->flows.all, out);
}

// Prints the messages within hosts in a row of their own: they have no ideal times to compare with.
static void print_local(results_size_bin_t *bin, uint64_t failed, FILE *out)
{
    world_text_t p50;
    world_text_t p99;
    const bool any = bin->completed > 0;
    if (bin->count == 0) {
        return;
    }
    fprintf(out, "            %-10s %9" PRIu64 " %9" PRIu64 " %11s %11s %9s %9s %9s", bin->name,
            bin->count, bin->completed,
            any ? world_format_time(&p50, sim_sample_set_percentile(&bin->fct_ps, 50, 100)) : "-",
            any ? world_format_time(&p99, sim_sample_set_percentile(&bin->fct_ps, 99, 100)) : "-",
            "-", "-", "-");
    fputs(failed > 0 ? "  FAILED\n" : "\n", out);
}

static void print_flows(const world_t *world, results_t *results, FILE *out)
{
    const results_size_bin_t *const all = &results->flows.all;
    if (all->count + results->local_flows.all.count == 0) {
        return;
    }
    fprintf(out, "  flows     %" PRIu64 " of %" PRIu64 " completed", all->completed, all->count);
    if (results->flows.failed > 0) {
        fprintf(out, ", %" PRIu64 " FAILED", results->flows.failed);
    }
    if (results->flow_not_begun > 0) {
        fprintf(out, "; %" PRIu64 " start%s at or after the end of the run",
                results->flow_not_begun, results->flow_not_begun == 1 ? "s" : "");
    }
    fputc('\n', out);
    if (all->completed < all->count && results->flows.rates_bps.count > 0) {
        world_text_t bytes;
        world_text_t median;
        const double fairness = results_flow_bins_fairness(&results->flows);
        fprintf(out, "            %s delivered; %s in the median over flows",
                world_format_bytes(&bytes, results->flows.delivered_bytes),
                world_format_rate(&median,
                                  sim_sample_set_percentile(&results->flows.rates_bps, 50, 100)));
        if (isfinite(fairness)) {
            fprintf(out, "; fairness %.3f", fairness);
        }
        fputc('\n', out);
    }
    fprintf(out, "            %-10s %9s %9s %11s %11s %9s %9s %9s\n", "size", "flows", "completed",
            "FCT p50", "FCT p99", "slow p50", "slow p99", "slow max");
    print_sizes(world, results, out);
    print_local(&results->local_flows.all, results->local_flows.failed, out);
    if (results->flow_left_out > 0) {
        fprintf(out, "            %" PRIu64 " more messages are not counted here (flows-max)\n",
                results->flow_left_out);
    }
}

static void print_drops(const world_t *world, const results_t *results, FILE *out)
{
    fprintf(out, "  drops     %" PRIu64, results->packets.dropped);
    const char *separator = ": ";
    for (unsigned r = 0; r < NET_DROP_REASON_COUNT; r++) {
        if (results->drops[r] > 0) {
            fprintf(out, "%s%" PRIu64 " %s", separator, results->drops[r],
                    net_drop_reason_name((net_drop_reason_t)r));
            separator = ", ";
        }
    }
    uint64_t trimmed = 0;
    if (results_trimmed_packets(world, &trimmed) && trimmed > 0) {
        fprintf(out, "; %" PRIu64 " packet%s trimmed", trimmed, sim_plural(trimmed));
    }
    fprintf(out, "; %" PRIu64 " packet%s retransmitted\n", results->nics.retransmitted_packets,
            sim_plural(results->nics.retransmitted_packets));
}

// Prints how often senders waited for the retransmission timer. With go-back-N it is nic.timeout,
// which is long by default; other transports have timers of their own.
static void print_timeouts(const world_t *world, const results_t *results, FILE *out)
{
    const uint64_t count = results->nics.local_ack_timeout_err;
    const nic_config_t *const config = &world->scenario->nic_config;
    const uint64_t exponent = config->timeout;
    if (count > 0 && strcmp(config->transport, "go-back-n") != 0) {
        fprintf(out,
                "  timeouts  %" PRIu64 ": a sender waited for an answer, by the timers of "
                "nic.transport %s\n",
                count, config->transport);
        return;
    }
    if (count == 0 || exponent == 0) {
        return;
    }
    world_text_t time;
    fprintf(out,
            "  timeouts  %" PRIu64 ": a sender waited %s for an answer, by nic.timeout %" PRIu64
            " (4.096 us x 2^%" PRIu64 ")\n",
            count, world_format_time(&time, UINT64_C(4096000) << exponent), exponent, exponent);
}

// Prints the ports at which pauses began, and how many others each of them stopped.
static void print_pause_roots(const results_t *results, FILE *out)
{
    const size_t count =
        results->pause_roots != NULL ? results_pause_roots_count(results->pause_roots) : 0;
    for (size_t i = 0; i < count && i < ROOTS_SHOWN_MAX; i++) {
        const results_pause_root_t *const root = results_pause_roots_at(results->pause_roots, i);
        world_text_t first;
        world_text_t paused;
        fprintf(out,
                "            %s %s at %s: %" PRIu32 " port%s stopped (%" PRIu32
                " of hosts) up to %" PRIu32 " link%s away, %s\n",
                i == 0 ? "began at" : "and at", results_pause_root_name(root),
                world_format_time(&first, root->first_ps), root->ports, root->ports == 1 ? "" : "s",
                root->hosts, root->links_away, root->links_away == 1 ? "" : "s",
                world_format_time(&paused, root->paused_ps));
    }
    if (count > ROOTS_SHOWN_MAX) {
        fprintf(out, "            and at %zu more\n", count - ROOTS_SHOWN_MAX);
    }
}

static uint64_t total_of(const results_t *results, const results_summary_field_t *field)
{
    uint64_t value;
    SIM_CHECK(field->kind == RESULTS_FIELD_WHOLE);
    memcpy(&value, (const char *)results + field->offset, sizeof(value));
    return value;
}

// Returns whether a line is left out because all of its numbers are 0.
static bool is_left_out(const results_t *results, const results_summary_field_t *fields,
                        size_t count, const char *line)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].line != NULL && strcmp(fields[i].line, line) == 0 &&
            (!fields[i].rare || total_of(results, &fields[i]) != 0)) {
            return false;
        }
    }
    return true;
}

// Prints the totals that have their words in this line: "  ECN       3 packets marked".
static void print_totals(const results_t *results, const results_summary_field_t *fields,
                         size_t count, const char *line, const char *shown, FILE *out)
{
    const char *separator = "";
    if (is_left_out(results, fields, count, line)) {
        return;
    }
    fprintf(out, "  %-9s ", shown);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].line == NULL || strcmp(fields[i].line, line) != 0) {
            continue;
        }
        world_text_t text;
        const uint64_t value = total_of(results, &fields[i]);
        fputs(separator, out);
        if (strcmp(fields[i].unit, "ps") == 0) {
            fputs(world_format_time(&text, value), out);
        } else if (strcmp(fields[i].unit, "bytes") == 0) {
            fputs(world_format_bytes(&text, value), out);
        } else {
            fprintf(out, "%" PRIu64, value);
        }
        fprintf(out, " %s", fields[i].words);
        separator = ", ";
    }
    fputc('\n', out);
}

// Returns whether an earlier field has its words in the same line, which is printed then.
static bool line_is_out(const results_summary_field_t *fields, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (fields[i].line != NULL && strcmp(fields[i].line, fields[at].line) == 0) {
            return true;
        }
    }
    return false;
}

#define PAUSE_LINE "PFC" // comes first, with where the pauses began

// Returns the name of what stops ports: PFC, credits of links, or both.
static const char *name_of_stops(const world_t *world)
{
    bool credits = false;
    bool pauses = false;
    for (size_t n = 0; n < net_node_count(world->net); n++) {
        const net_node_t *const node = net_node_at(world->net, n);
        for (uint32_t p = 0; node->kind == NET_NODE_HOST && p < node->port_count; p++) {
            const bool by_credits = net_port_has_credits(&node->ports[p]);
            credits |= by_credits;
            pauses |= !by_credits;
        }
    }
    return !credits ? PAUSE_LINE : pauses ? "stops" : "CBFC";
}

static void print_network(const world_t *world, const results_t *results, FILE *out)
{
    size_t count = 0;
    results_summary_field_t *const fields = results_summary_fields(&count);
    print_totals(results, fields, count, PAUSE_LINE, name_of_stops(world), out);
    print_pause_roots(results, out);
    for (size_t i = 0; i < count; i++) {
        const char *const line = fields[i].line;
        if (line != NULL && strcmp(line, PAUSE_LINE) != 0 && !line_is_out(fields, i)) {
            print_totals(results, fields, count, line, line, out);
        }
    }
    sim_free(fields);
    print_drops(world, results, out);
}

static void print_hottest(const results_t *results, FILE *out)
{
    for (size_t i = 0; i < results->hottest_count && i < PORTS_SHOWN_MAX; i++) {
        const net_port_t *const port = results->hottest[i];
        world_text_t queue;
        world_text_t used;
        world_text_t stopped;
        sim_time_t paused_ps = 0;
        for (unsigned p = 0; p < NET_PRIORITIES; p++) {
            paused_ps += net_port_paused_ps(port, p, results->sim_time_ps);
        }
        fprintf(out, "  %-9s %-24s queue up to %9s, %7s used, %s stopped\n",
                i == 0 ? "hottest" : "", net_port_name(port),
                world_format_bytes(&queue, net_port_queue_bytes_max(port)),
                world_format_percent(&used, results_span_utilisation(results->span, port)),
                world_format_time(&stopped, paused_ps));
    }
}

// Prints the warnings about what happened. Those about the scenario came before the run.
static void print_remarks(const results_t *results, FILE *out)
{
    for (size_t i = results->remark_first; i < results->warnings.count; i++) {
        fprintf(out, "  warning   %s\n", results->warnings.items[i].text);
    }
}

static const char *hit_share(world_text_t *buffer, uint64_t hits, uint64_t misses)
{
    return hits + misses == 0
               ? "unused"
               : world_format_percent(buffer, (double)hits / (double)(hits + misses));
}

// Prints how many PCIe operations the detailed NICs needed per work request, and their cache hits.
static void print_rnics(const results_t *results, FILE *out)
{
    const nic_rnic_counters_t *const sums = &results->rnics;
    if (sums->wqes_completed == 0) {
        return;
    }
    const double operations = (double)sums->wqes_completed;
    world_text_t text[6];
    fprintf(out,
            "  NICs      %zu detailed: %s operations of %s events, %s PCIe reads and %s writes "
            "each\n",
            results->rnic_count, world_format_count(&text[0], operations),
            SIM_DIGITS((double)results->events / operations, 3),
            SIM_DIGITS((double)sums->pcie_reads / operations, 3),
            SIM_DIGITS((double)sums->pcie_writes / operations, 3));
    fprintf(out, "            cache hits: contexts %s, translations %s, WQEs %s, CQs %s, keys %s\n",
            hit_share(&text[0], sums->context_hits, sums->context_misses),
            hit_share(&text[1], sums->translation_hits, sums->translation_misses),
            hit_share(&text[2], sums->wqe_hits, sums->wqe_misses),
            hit_share(&text[3], sums->cq_hits, sums->cq_misses),
            hit_share(&text[4], sums->key_hits, sums->key_misses));
    fprintf(out, "            receive buffer up to %s, %" PRIu64 " pause%s sent for it\n",
            world_format_bytes(&text[5], sums->buffer_bytes_max), sums->pauses_sent,
            sim_plural(sums->pauses_sent));
}

// Finds the parts of that name of all NICs from `first` on and returns how many they are.
static size_t find_parts(const world_t *world, size_t first, const char *name,
                         sim_report_part_t *parts)
{
    size_t found = 0;
    for (size_t i = first; i < world->nic_count; i++) {
        size_t count = 0;
        const nic_report_t *const reports =
            world_nic_exists(world, &world->nics[i])
                ? nic_reports(world_nic_of(world, &world->nics[i]), &count)
                : NULL;
        for (size_t r = 0; r < count; r++) {
            if (strcmp(reports[r].name, name) == 0) {
                parts[found++] = reports[r].part;
            }
        }
    }
    return found;
}

// Prints the reports of the parts of NICs, summed over all NICs, in the order of the first NIC.
static void print_nic_parts(const world_t *world, FILE *out)
{
    const char *done[NIC_PARTS_MAX];
    size_t done_count = 0;
    sim_report_part_t *const parts = sim_alloc_array(world->nic_count + 1, sizeof(*parts));
    for (size_t i = 0; i < world->nic_count; i++) {
        size_t count = 0;
        const nic_report_t *const reports =
            world_nic_exists(world, &world->nics[i])
                ? nic_reports(world_nic_of(world, &world->nics[i]), &count)
                : NULL;
        for (size_t r = 0; r < count; r++) {
            const char *const name = reports[r].name;
            size_t known = 0;
            while (known < done_count && strcmp(done[known], name) != 0) {
                known++;
            }
            if (known < done_count || done_count == SIM_COUNT_OF(done)) {
                continue;
            }
            done[done_count++] = name;
            const size_t found = find_parts(world, i, name, parts);
            fprintf(out, "  %-9s %s of %zu NIC%s", "NICs", name, found, found == 1 ? "" : "s");
            results_part_print_sum(name, parts, found, out);
            fputc('\n', out);
        }
    }
    sim_free(parts);
}

static void write_text(const char *text, void *ctx)
{
    fputs(text, ctx);
}

// Prints what the application number `number` has done and the shown rows of its report.
static void print_rows(const app_t *app, size_t number, uint64_t failed, FILE *out)
{
    uint64_t done = 0;
    uint64_t planned = 0;
    app->ops->progress(app, &done, &planned);
    failed = SIM_MIN(failed, done); // progress counts them as done
    const int width =
        fprintf(out, "  traffic   %zu, %s: %" PRIu64 " of %" PRIu64 " transfer%s done", number,
                app->ops->name, done - failed, planned, sim_plural(planned)) +
        (failed > 0 ? fprintf(out, ", %" PRIu64 " FAILED", failed) : 0);
    if (app->ops->report != NULL) {
        results_part_print(app->ops->report, app, out, width > 0 ? (size_t)width : 0);
    }
    fputc('\n', out);
}

// Says which other traffic had a part in the rates and times of the table of application `number`,
// since the tool that it imitates is usually run alone.
static void print_others(const world_t *world, size_t number, FILE *out)
{
    const size_t others = world->app_count - 1;
    size_t named = 0;
    for (size_t i = 0; i < world->app_count && named < OTHERS_NAMED; i++) {
        if (i != number) {
            fprintf(out, "%straffic %zu (%s)", named == 0 ? "  beside    " : ", ", i,
                    world->apps[i]->ops->name);
            named++;
        }
    }
    if (others > named) {
        fprintf(out, " and %zu other%s", others - named, sim_plural(others - named));
    }
    if (others > 0) {
        fputs(", which ran in the same network\n", out);
    }
}

static void print_apps(const world_t *world, const results_t *results, FILE *out)
{
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        if (app->ops->print != NULL) {
            const bool goes_on = i > 0 && world->apps[i - 1]->ops == app->ops && !app->ops->alone;
            fputs(goes_on ? "" : "\n", out);
            app->ops->print(app, write_text, out);
            if (app->ops->alone) {
                print_others(world, i, out);
            }
        }
        if (app->ops->print == NULL || app->ops->prints_rows) {
            print_rows(app, i, results->app_flows[i].failed, out);
        }
        if (app->ops->warn != NULL) {
            app->ops->warn(app, write_text, out);
        }
    }
}

void results_report(const world_t *world, results_t *results, const char *folder, FILE *out)
{
    print_head(world, results, out);
    print_flows(world, results, out);
    print_rates(world, results, out);
    print_network(world, results, out);
    print_timeouts(world, results, out);
    print_hottest(results, out);
    print_remarks(results, out);
    print_rnics(results, out);
    print_nic_parts(world, out);
    print_apps(world, results, out);
    if (results->event_rows_left_out > 0) {
        fprintf(out,
                "  events    the first %" PRIu64 " are in events.csv, %" PRIu64
                " more are not (outputs.events-max)\n",
                results->event_rows, results->event_rows_left_out);
    }
    if (results->series_rows_left_out > 0) {
        fprintf(out,
                "  series    the first %" PRIu64 " rows are in series.csv, %" PRIu64
                " more are not (outputs.series-max)\n",
                results->series_rows, results->series_rows_left_out);
    }
    if (results->captures_cut > 0) {
        fprintf(out,
                "  captures  %" PRIu64 " of %zu stop%s early: %" PRIu64
                " frames are not there (captures.bytes-max)\n",
                results->captures_cut, world->scenario->capture_count,
                results->captures_cut == 1 ? "s" : "", results->capture_frames_left_out);
    }
    for (size_t i = 0; i < results->note_count; i++) {
        fprintf(out, "  empty     %s\n", results->notes[i]);
    }
    world_text_t hops;
    world_text_t speed;
    fprintf(out, "  digest    %016" PRIx64 "\n", results->digest);
    fprintf(out, "  ran       %.2f s: %s packet-hops, %s/s\n", results->wall_s,
            world_format_count(&hops, (double)results->packet_hops),
            world_format_count(
                &speed, results->wall_s > 0 ? (double)results->packet_hops / results->wall_s : 0));
    if (folder != NULL) {
        fprintf(out, "  files     %s/\n", folder);
    }
}
