// SPDX-License-Identifier: Apache-2.0
// Goal: "rail-optimised" is the graph of SimAI's generator: a published file of its template
// Spectrum-X has the same links, rates and delays.
// Method: the file is read, in ../shared, and its links are compared with those of the built
// network as a sorted list, nodes numbered as in the file: GPUs, NVSwitches, leaves, spines.
// Does not pin: the order of links.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/app_fixture.h"
#include "tests/check_main.h"
#include "topologies/topology_file.h"

#define FOLDER "../shared/data/ai/data/simai-own/topo/"

typedef struct published {
    const char *file;
    const char *settings;
    uint32_t servers;
} published_t;

static const published_t published[] = {
    {FOLDER "Spectrum-X_16g_8gps_400Gbps_H100", "servers=2; servers-per-segment=64", 2},
    {FOLDER "Spectrum-X_128g_8gps_400Gbps_H100", "servers=16; servers-per-segment=64", 16},
};

static char *read_text(const char *name, size_t *size)
{
    FILE *const file = fopen(name, "r");
    ck_assert(file != NULL);
    char *const text = sim_alloc(1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

// Returns the number of a node in SimAI's files.
static uint32_t number_of(const char *name, uint32_t servers)
{
    static const char *const tiers[] = {"host", "nvswitch", "leaf", "spine"};
    const uint32_t counts[] = {servers * 8, servers, 8, 64};
    uint32_t first = 0;
    for (size_t t = 0; t < SIM_COUNT_OF(tiers); t++) {
        if (strncmp(name, tiers[t], strlen(tiers[t])) == 0) {
            return first + (uint32_t)strtoul(name + strlen(tiers[t]), NULL, 10);
        }
        first += counts[t];
    }
    ck_abort_msg("%s", name);
}

typedef struct line {
    uint32_t low;
    uint32_t high;
    uint64_t rate_bps;
    sim_time_t delay_ps;
} line_t;

static line_t line_of(uint32_t a, uint32_t b, uint64_t rate_bps, sim_time_t delay_ps)
{
    line_t line;
    memset(&line, 0, sizeof(line));
    line.low = a < b ? a : b;
    line.high = a < b ? b : a;
    line.rate_bps = rate_bps;
    line.delay_ps = delay_ps;
    return line;
}

static int compare_lines(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(line_t));
}

START_TEST(spectrum_x_is_rail_optimised)
{
    const published_t *const row = &published[_i];
    size_t size = 0;
    char *const text = read_text(row->file, &size);
    topo_file_t *file = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(
        topo_file_parse(TOPO_FILE_AUTO, row->file, text, size, NULL, NULL, &file, &message),
        SIM_OK);
    world_t world;
    world_init(&world);
    char *const settings = sim_format("%s; gpus-per-server=8; hosts=gpus; spines=64; "
                                      "nvlink-rate=2880Gbps; nvlink-delay=25ns; delay=500ns",
                                      row->settings);
    world_build(&world, "rail-optimised", settings);
    ck_assert_uint_eq(net_link_count(world.net), file->link_count);
    ck_assert_uint_eq(net_node_count(world.net), file->node_count);
    line_t *const theirs = sim_alloc_array(file->link_count, sizeof(*theirs));
    line_t *const ours = sim_alloc_array(file->link_count, sizeof(*ours));
    for (size_t i = 0; i < file->link_count; i++) {
        const topo_file_link_t *const link = &file->links[i];
        theirs[i] = line_of(link->a, link->b, link->rate_bps, link->delay_ps);
        const net_link_t own = net_link_at(world.net, i);
        ours[i] = line_of(number_of(own.a->sim.name, row->servers),
                          number_of(own.b->sim.name, row->servers), own.config->rate_bps,
                          own.config->delay_ps);
    }
    qsort(theirs, file->link_count, sizeof(*theirs), compare_lines);
    qsort(ours, file->link_count, sizeof(*ours), compare_lines);
    ck_assert_int_eq(memcmp(theirs, ours, file->link_count * sizeof(*ours)), 0);
    sim_free(theirs);
    sim_free(ours);
    sim_free(settings);
    sim_free(text);
    topo_file_destroy(file);
    world_fini(&world);
}
END_TEST

int main(void)
{
    const check_entry_t entries[] = {
        CHECK_LOOP(spectrum_x_is_rail_optimised, 0, (int)SIM_COUNT_OF(published))};
    if (access(published[0].file, R_OK) != 0) {
        puts("skip: SimAI's topologies, " FOLDER ", are not here");
        return 77;
    }
    return check_run(entries, SIM_COUNT_OF(entries));
}
