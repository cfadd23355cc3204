// SPDX-License-Identifier: Apache-2.0
// world/construct/output_estimate.c - an estimate of what a run writes down: series and captures.
//
// The engine hands records on after each window, which is at most 16 us of simulated time, so the
// memory for observers is that of one window. Files grow to their own limits.
#include "kernel/digits.h"
#include "world/patterns.h"
#include "world/planned_transfers.h"

#include <math.h>

#include "world/captures.h"
#include "world/construct/output_estimate.h"
#include "world/format.h"
#include "world/names.h"
#include "world/series.h"

#define WINDOW_PS (16 * SIM_PS_PER_US) // the widest (kernel/engine/partition.c)
// Measured: a record of a sample takes 96 bytes. Its arrays may be twice as large, and a stream
// sorts a copy of half of it.
#define SAMPLE_BYTES 256.0
#define METRIC_BYTES 400.0 // of a path that a series observes, before it has a sample
#define FRAME_BYTES 600.0  // of a captured frame until it is written, measured likewise
#define ROW_BYTES 45.0     // of series.csv
#define HOP_BYTES 80.0     // of a row of hops.csv
#define ROW_S 0.5e-6       // time to write one

// Returns the number of ports that a pattern matches.
static double ports_of(const world_t *world, const world_pair_t *pair, const char *pattern,
                       double *rate_bps)
{
    net_port_t **ports = NULL;
    size_t count = 0;
    world_error_t error;
    const world_place_t place = {0};
    if (world_find_ports(world, pair, pattern, &place, &ports, &count, &error) != SIM_OK) {
        count = 0;
    }
    for (size_t i = 0; rate_bps != NULL && i < count; i++) {
        *rate_bps += (double)ports[i]->line->rate_bps;
    }
    sim_free(ports);
    return (double)count;
}

// Returns how many things a series observes. Queue pairs are counted as one per NIC: how many there
// will be is not known.
static double metrics_of(const world_t *world, const world_series_t *series)
{
    if (series->kind == WORLD_SERIES_PORT) {
        return ports_of(world, &series->ports, series->config.series, NULL);
    }
    double count = 0;
    if (series->kind == WORLD_SERIES_NIC || series->kind == WORLD_SERIES_QP) {
        for (size_t i = 0; i < world->nic_count; i++) {
            count +=
                world_pattern_match(series->nodes, world->nics[i].name) ||
                world_pattern_match(series->nodes, net_node_name(world->net, world->nics[i].host));
        }
        return count;
    }
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        count +=
            (series->kind == WORLD_SERIES_NODE || net_kind_of(world->net, i) == NET_NODE_SWITCH) &&
            world_pattern_match(series->nodes, net_node_name(world->net, i));
    }
    return count;
}

// Returns how long the run lasts at least: to the last planned start, or to its limit.
static sim_time_t least_end_ps(const world_t *world)
{
    const sim_time_t until_ps = world->scenario->run.until_ps;
    const sim_time_t last_ps = world->survey->last_ps;
    return SIM_MIN(last_ps, until_ps);
}

static void add_series(const world_t *world, const world_series_t *series, world_observed_t *sum)
{
    const double metrics = metrics_of(world, series);
    sum->metrics += metrics;
    sum->memory_bytes += metrics * METRIC_BYTES;
    if (series->config.on == WORLD_ON_CHANGE) {
        return;
    }
    const double every_ps = (double)series->config.every_ps;
    const sim_time_t until_ps = world->scenario->run.until_ps;
    const sim_time_t window_ps = SIM_MIN(until_ps, WINDOW_PS);
    sum->memory_bytes += metrics * (floor((double)window_ps / every_ps) + 1) * SAMPLE_BYTES;
    const sim_time_t end_ps = least_end_ps(world);
    if (end_ps > series->config.start_ps) {
        const double samples = ceil((double)(end_ps - series->config.start_ps) / every_ps);
        sum->rows += metrics * samples;
    }
}

static void add_capture(const world_t *world, const world_capture_t *capture, world_observed_t *sum)
{
    double rate_bps = 0;
    const world_capture_config_t *const config = &capture->config;
    const double ports = ports_of(world, &capture->ports, config->ports, &rate_bps);
    const double ways = config->direction == WORLD_DIRECTION_BOTH ? 2 : 1;
    const double mtu = (double)world->scenario->nic_config.mtu_bytes;
    const sim_time_t until_ps = world->scenario->run.until_ps;
    const double window_s = (double)SIM_MIN(until_ps, WINDOW_PS) / 1e12;
    sum->memory_bytes += ways * rate_bps * window_s / 8 / (mtu + 100) * FRAME_BYTES;
    double all = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        all += net_ports_of(world->net, i);
    }
    // Half of the packets of a transfer are its ACKs at most.
    const double frames = all > 0 ? world->survey->packet_hops * ways * ports / all : 0;
    const double whole = mtu * 2 / 3 + 100;
    const double kept = config->snaplen_bytes != SIM_AUTO && (double)config->snaplen_bytes < whole
                            ? (double)config->snaplen_bytes
                            : whole;
    const double bytes = frames * (kept + 16);
    const double most = (double)(config->ring_bytes != 0 ? config->ring_bytes : config->bytes_max);
    sum->capture_bytes += SIM_MIN(bytes, most);
}

void world__observed_estimate(const world_t *world, world_observed_t *observed)
{
    const world_scenario_t *const scenario = world->scenario;
    *observed = (world_observed_t){0};
    for (size_t i = 0; i < scenario->series_count; i++) {
        add_series(world, &scenario->series[i], observed);
    }
    for (size_t i = 0; i < scenario->capture_count; i++) {
        add_capture(world, &scenario->captures[i], observed);
    }
    const double most = (double)scenario->outputs.series_max;
    observed->rows_written = SIM_MIN(observed->rows, most);
    const double hops = world->survey->packet_hops;
    const double hops_max = (double)scenario->outputs.hops_max;
    observed->hop_rows = SIM_MIN(hops, hops_max);
    observed->wall_s = (observed->rows_written + observed->hop_rows) * ROW_S;
}

void world_observed_print(const world_t *world, FILE *out)
{
    const world_scenario_t *const scenario = world->scenario;
    const world_observed_t *const observed = &world->survey->observed;
    fprintf(out, "  observe   %zu capture%s, %zu series", scenario->capture_count,
            scenario->capture_count == 1 ? "" : "s", scenario->series_count);
    world_text_t text;
    world_text_t rows;
    world_text_t written;
    if (observed->metrics > 0) {
        fprintf(out, " of %s metric%s", SIM_DIGITS(observed->metrics, 6),
                sim_plural((uint64_t)observed->metrics));
    }
    if (observed->rows > 0) {
        fprintf(out, ", at least %s row%s (%s of them in series.csv, some %s)",
                world_format_number(&rows, observed->rows), sim_plural((uint64_t)observed->rows),
                world_format_number(&written, observed->rows_written),
                world_format_bytes(&text, (uint64_t)(observed->rows_written * ROW_BYTES)));
    }
    if (observed->capture_bytes > 0) {
        fprintf(out, ", some %s of frames without filters",
                world_format_bytes(&text, (uint64_t)observed->capture_bytes));
    }
    if (observed->hop_rows > 0) {
        fprintf(out, ", some %s row%s of hops.csv (%s)",
                world_format_number(&rows, observed->hop_rows),
                sim_plural((uint64_t)observed->hop_rows),
                world_format_bytes(&text, (uint64_t)(observed->hop_rows * HOP_BYTES)));
    }
    if (observed->memory_bytes > 0) {
        const double shown = SIM_MIN(observed->memory_bytes, 1.8e19);
        fprintf(out, ", %s of memory", world_format_bytes(&text, (uint64_t)shown));
    }
    fputc('\n', out);
}

sim_err_t world__observed_check(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    const world_observed_t *const observed = &world->survey->observed;
    if (observed->memory_bytes <= (double)scenario->run.memory_max_bytes) {
        return SIM_OK;
    }
    world_text_t needed;
    world_text_t allowed;
    const double shown = SIM_MIN(observed->memory_bytes, 1.8e19);
    return world_fail(
        error, SIM_ERR_RANGE,
        scenario->series_count > 0 ? &scenario->series[0].place : &scenario->captures[0].place,
        "%zu series of %s metric%s and %zu capture%s take some %s of memory in 16 "
        "us of simulated time, expected at most %s: a longer 'every', fewer ports, a "
        "higher memory-max, or --yes",
        scenario->series_count, SIM_DIGITS(observed->metrics, 6),
        sim_plural((uint64_t)observed->metrics), scenario->capture_count,
        scenario->capture_count == 1 ? "" : "s", world_format_bytes(&needed, (uint64_t)shown),
        world_format_bytes(&allowed, scenario->run.memory_max_bytes));
}
