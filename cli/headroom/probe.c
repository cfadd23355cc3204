// SPDX-License-Identifier: Apache-2.0
// cli/headroom/probe.c - a port's worst case as a small scenario.
//
// Host a is the peer of the port. It sends to b, which stops the switch and releases it later;
// c sends to a, so that pauses for a wait for its frames. The response time of a is part of the
// cable's delay: both ends of it wait half of it longer, which is the same to the switch. Nothing
// that a sends depends on c. So a second run, with c later by the right time, has the longest
// possible wait of the pause, and a third that of the release.
#include "cli/headroom/probe.h"

#include "net/ports.h"
#include "net/switch.h"
#include "net/trace.h"
#include "results/runner.h"
#include "world/yaml_tree.h"

#include <inttypes.h>
#include <string.h>

#define CLASS 3u
#define START_PS SIM_PS_PER_US // of a; the storm of b has come by then

// One run of the scenario.
typedef struct probe_run {
    const cli_port_needs_t *needs;
    uint64_t threshold_bytes;
    uint64_t room_bytes; // headroom, more than enough
    uint64_t messages;   // of a
    sim_time_t release_ps;
    sim_time_t until_ps;
    sim_time_t back_ps; // when c begins
    // Results of the probe.
    const net_port_t *port;
    sim_time_t back_begun_ps; // begin of the last frame to a
    sim_time_t xoff_ps;       // first decision to pause; 0: none
    sim_time_t xoff_back_ps;  // begin of the frame that was under way to a then
    sim_time_t xon_ps;        // first decision to release behind release_ps
    sim_time_t xon_back_ps;
    uint64_t xon_bytes;      // held then
    uint64_t left_bytes;     // held when the first frame came again; UINT64_MAX: none came yet
    uint64_t headroom_bytes; // largest use
    uint64_t held_bytes;     // largest number, with the headroom
} probe_run_t;

static uint64_t held_by(const probe_run_t *run, uint64_t *headroom_bytes)
{
    const net_received_t *const held = run->port->received[CLASS];
    *headroom_bytes = held->headroom_bytes;
    return held->stored_bytes + held->headroom_bytes;
}

static void on_back(const net_trace_t *trace, void *ctx)
{
    probe_run_t *const run = ctx;
    if (trace->packet != NULL && trace->packet->frame_bytes == run->needs->back_bytes) {
        run->back_begun_ps = trace->time_ps;
    }
}

static void on_decision(const net_trace_t *trace, void *ctx)
{
    probe_run_t *const run = ctx;
    uint64_t headroom = 0;
    if (trace->detail != CLASS) {
        return;
    }
    if (trace->point == NET_TRACE_XOFF && run->xoff_ps == 0) {
        run->xoff_ps = trace->time_ps;
        run->xoff_back_ps = run->back_begun_ps;
    }
    if (trace->point == NET_TRACE_XON && run->xon_ps == 0 && trace->time_ps > run->release_ps) {
        run->xon_ps = trace->time_ps;
        run->xon_back_ps = run->back_begun_ps;
        run->xon_bytes = held_by(run, &headroom);
    }
}

static void on_arrival(const net_trace_t *trace, void *ctx)
{
    probe_run_t *const run = ctx;
    uint64_t headroom = 0;
    const uint64_t held = held_by(run, &headroom);
    run->headroom_bytes = SIM_MAX(run->headroom_bytes, headroom);
    run->held_bytes = SIM_MAX(run->held_bytes, held);
    if (run->xon_ps != 0 && run->left_bytes == UINT64_MAX) {
        run->left_bytes = held - trace->packet->frame_bytes;
    }
}

static sim_err_t on_begin(world_t *world, const char *folder, void *ctx, world_error_t *error)
{
    probe_run_t *const run = ctx;
    const net_node_t *const sw = net_node_find(world->net, "s");
    (void)folder;
    (void)error;
    run->port = net_port_at(sw, 0);
    net_port_listen(net_port_at(sw, 0), NET_TRACE_TX, on_back, run);
    net_port_listen(net_port_at(sw, 0), NET_TRACE_XOFF | NET_TRACE_XON, on_decision, run);
    net_port_listen(net_port_at(sw, 1), NET_TRACE_ENQUEUE, on_arrival, run);
    return SIM_OK;
}

static char *text_of(const probe_run_t *run)
{
    const cli_port_needs_t *const needs = run->needs;
    const uint64_t delay_ps = needs->delay_ps + (needs->response_ps + 1) / 2;
    return sim_format(
        "name: headroom\n"
        "topology:\n"
        "  graph:\n"
        "    nodes: [{switch: s}, {host: [a, b, c]}]\n"
        "    links:\n"
        "      - {between: a--s, delay: %" PRIu64 "ps}\n"
        "      - b--s\n"
        "      - c--s\n"
        "link: {rate: %" PRIu64 "bps, delay: 1ns}\n"
        "nic: {mtu: 4096, congestion-control: none}\n"
        "switch:\n"
        "  buffer: 64GB\n"
        "  ecn: {enabled: false}\n"
        "  pfc: {priorities: [%u], threshold: %" PRIu64 "B, reserved: 0B, headroom: %" PRIu64
        "B, xon-offset: 0B}\n"
        "stall-after: 0s\n"
        "until: %" PRIu64 "ps\n"
        "faults: [{part: b, kind: pause-storm, at: 0s, until: %" PRIu64 "ps, priorities: [%u]}]\n"
        "traffic:\n"
        "  - perftest: {test: ib_send_bw, connection: uc, from: a, to: b, size: %u, priority: %u, "
        "tx-depth: 1024, iterations: %" PRIu64 ", start: %" PRIu64 "ps}\n"
        "  - perftest: {test: ib_send_bw, connection: uc, from: c, to: a, size: %u, priority: 0, "
        "tx-depth: 1024, iterations: 10000000, start: %" PRIu64 "ps}\n",
        SIM_MAX(delay_ps, 1), needs->rate_bps, CLASS, run->threshold_bytes, run->room_bytes,
        run->until_ps, run->release_ps, CLASS, needs->frame_bytes - CLI_PROBE_HEADER_BYTES, CLASS,
        run->messages, (uint64_t)START_PS, needs->back_bytes - CLI_PROBE_HEADER_BYTES,
        run->back_ps);
}

static sim_err_t simulate(probe_run_t *run, world_error_t *error)
{
    const results_options_t options = {.begin = on_begin, .ctx = run};
    char *const text = text_of(run);
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    world_scenario_t *scenario = NULL;
    results_run_t *results = NULL;
    run->xoff_ps = 0;
    run->xon_ps = 0;
    run->headroom_bytes = 0;
    run->held_bytes = 0;
    run->back_begun_ps = 0;
    run->left_bytes = UINT64_MAX;
    sim_err_t result =
        world_yaml_parse(document, "headroom", true, text, strlen(text), &root, error);
    if (result == SIM_OK) {
        result =
            world_scenario_load_tree(NULL, document, root, "headroom", NULL, 0, &scenario, error);
    } else {
        world_document_destroy(document);
    }
    if (result == SIM_OK) {
        result = results_execute(scenario, &options, &results, error);
    }
    results_run_destroy(results);
    world_scenario_destroy(scenario);
    sim_free(text);
    return result;
}

// Shifts c so that a frame of it begins 1 ps before `decision_ps`, when the frame under way began
// at begun_ps.
static void shift(probe_run_t *run, sim_time_t decision_ps, sim_time_t begun_ps)
{
    if (decision_ps > begun_ps && begun_ps > 0) {
        run->back_ps += decision_ps - begun_ps - 1;
    }
}

sim_err_t cli_probe(const cli_port_needs_t *needs, uint64_t burst_bytes, cli_probed_t *probed,
                    world_error_t *error)
{
    const uint64_t about = cli_headroom_bytes(needs) + needs->frame_bytes;
    const uint64_t payload = needs->frame_bytes - CLI_PROBE_HEADER_BYTES;
    const sim_time_t byte_ps = 8 * SIM_PS_PER_S / needs->rate_bps + 1;
    const sim_time_t trip_ps = 2 * needs->delay_ps + needs->response_ps;
    probe_run_t run = {
        .needs = needs,
        .threshold_bytes = 2 * about,
        .room_bytes = 2 * about,
        .messages = 10000000,
        .back_ps = START_PS,
    };
    *probed = (cli_probed_t){0};
    // Wires carry up to 24 bytes more than is held for each frame of 60 bytes or more.
    run.release_ps = START_PS + 2 * trip_ps + 2 * (run.threshold_bytes + run.room_bytes) * byte_ps;
    run.until_ps =
        run.release_ps + 3 * trip_ps + 2 * (run.threshold_bytes + 2 * run.room_bytes) * byte_ps;
    sim_err_t result = simulate(&run, error);
    const sim_time_t xon_ps = run.xon_ps;
    const sim_time_t xon_back_ps = run.xon_back_ps;
    if (result == SIM_OK) {
        shift(&run, run.xoff_ps, run.xoff_back_ps);
        result = simulate(&run, error);
        probed->headroom_bytes = run.headroom_bytes;
    }
    if (result == SIM_OK) {
        run.back_ps = START_PS;
        shift(&run, xon_ps, xon_back_ps);
        result = simulate(&run, error);
        probed->reserve_bytes =
            run.left_bytes != UINT64_MAX ? run.xon_bytes - run.left_bytes : run.xon_bytes;
    }
    if (result == SIM_OK && burst_bytes > 0) {
        run.messages = (burst_bytes + payload - 1) / payload;
        run.threshold_bytes = (run.messages + 1) * needs->frame_bytes;
        run.release_ps = START_PS + 2 * trip_ps + 2 * run.threshold_bytes * byte_ps + SIM_PS_PER_US;
        run.until_ps = run.release_ps;
        result = simulate(&run, error);
        probed->xoff_bytes = run.held_bytes;
    }
    return result;
}
