// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/plan.c - decides how each call of a collective is done: algorithm,
// protocol, channels, and the sizes of chunks and slices.
#include "apps/workload/collective/algorithms/choose.h"
#include "apps/workload/collective/call_plan.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/member.h"
#include "apps/workload/domains.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

#include <string.h>

#define SLICE_MAX (UINT64_C(1) << 30) // a work request has less than 2 GiB
#define KIB UINT64_C(1024)
#define NVLS_STEP (128 * KIB) // NCCL: nvlsChunkSize; half of it for a tree of so many nodes
#define NVLS_NODES 4u
#define NVLS_CHANNELS 16u // NCCL: of an H100
// NCCL: of a B200, within one NVLink domain and beyond it
#define NVLS_CHANNELS_BLACKWELL 24u
#define NVLS_CHANNELS_BLACKWELL_FAR 32u
// NCCL: of rings and trees within one NVLink domain (src/graph/search.cc and connect.cc: twice 12
// channels of 30 GB/s, or twice 16 of 45 GB/s), and of sends and receives
#define DOMAIN_CHANNELS 24u
#define DOMAIN_CHANNELS_BLACKWELL 32u
#define P2P_CHANNELS 32u
// RCCL: twice 4 for each of 7 rings in a node, 64 between nodes and of sends and receives
#define RCCL_DOMAIN_CHANNELS 56u
#define RCCL_CHANNELS 64u
#define ALL_PAIRS_CHANNELS 8u // RCCL: of its all-reduces of all pairs
#define NIC_DOUBLED_BPS UINT64_C(400000000000)
#define CHANNELS_MAX 64u      // NCCL: MAXCHANNELS
#define P2P_LL_MAX (16 * KIB) // NCCL (to 2.28): of a pair, for each of these channels
#define P2P_CHANNELS_FAR 16u  // NCCL: of sends and receives between nodes
// A block whose warps serve two directions has this share of its rate in each: 21.2 GB/s of sends
// on a B200.
#define HALF_BLOCK 0.65
// NCCL: 18 links reach 18 x 20.6 of the 450 GB/s on the wire, and 18 x 40.1 of 900 on a Blackwell
// GPU; NVLS reaches 5/6 of them (src/graph/tuning.cc, 2.18 to 2.27).
#define LINKS_SHARE (18 * 20.6 / 450)
#define LINKS_SHARE_BLACKWELL (18 * 40.1 / 900)
#define NVLS_SHARE (5.0 / 6)
#define LINKS_SHARE_XGMI (48.0 / 64) // RCCL: of a link of MI300X
// NCCL: at most 32 GPUs are heads, which reduce and spread for all of a rack.
#define NVLS_HEADS 32u
// NVLS between nodes: a shard's bus bandwidth, which NCCL 2.30 expects at most with 2 and with more
// nodes (perChMaxNVLSTreeBws), in GB/s
static const double nvls_tree_gbytes[2][2] = {{57.7, 45.5}, {96, 80}}; // Hopper, Blackwell
// A step of an all-reduce by NVLS waits for the other GPUs before it moves its chunk. Published
// times of 4 to 8 H100 leave 6 us for it (4 us with chunks of 16 KiB, 7 of 128 KiB). Those of 4, 8
// and 64 GB300 at 8 and 16 GiB rise by 0.7 us a GPU (docs/models/collectives.md).
#define NVLS_STEP_PS (6 * SIM_PS_PER_US)
#define NVLS_STEP_BLACKWELL_PS (4 * SIM_PS_PER_US)
#define NVLS_STEP_BLACKWELL_GPU_PS (SIM_PS_PER_US * 7 / 10)
// A local-rate from BLACKWELL_BPS on is taken for that of a Blackwell GPU, and the one of 12 links
// of 200 Gbps for that of an A100.
#define BLACKWELL_BPS UINT64_C(7200000000000)
#define AMPERE_BPS UINT64_C(2400000000000)
// NCCL's latencies and the rates of blocks are those of GPUs with 1.98 GHz; an A100 has 1.41 GHz.
#define AMPERE_CLOCKS 1.4
#define BUFFER_STEPS 8u                       // NCCL: steps of a channel's buffer
#define SLICES_MAX (APP__COLL_WINDOW_MAX - 1) // of a chunk: the buffer has room for one more

static const app__algorithm_t *const algorithms[APP__ALGORITHM_COUNT] = {
    [APP__ALGORITHM_RING] = &app__ring,
    [APP__ALGORITHM_TREE] = &app__tree,
    [APP__ALGORITHM_HALVING_DOUBLING] = &app__halving_doubling,
    [APP__ALGORITHM_HIERARCHICAL] = &app__hierarchical,
    [APP__ALGORITHM_PAT] = &app__pat,
    [APP__ALGORITHM_NVLS] = &app__nvls,
    [APP__ALGORITHM_NVLS_TREE] = &app__nvls_tree,
    [APP__ALGORITHM_CHAIN] = &app__chain,
    [APP__ALGORITHM_PAIRWISE] = &app__pairwise,
    [APP__ALGORITHM_DIRECT] = &app__direct,
    [APP__ALGORITHM_ALL_PAIRS] = &app__all_pairs,
};

// A protocol of NCCL: the data in a step of a channel's buffer, and what a ring's chunk and
// slice have of them.
typedef struct protocol {
    uint64_t step_bytes;
    uint32_t chunk_steps;
    uint32_t slice_steps;
    uint64_t p2p_bytes;    // slice of sends and receives
    uint32_t wire[2];      // bytes sent for bytes of data
    uint64_t buffer_bytes; // of a step of sends and receives, with flags
    uint64_t least_bytes;  // of a buffer for each channel: threads of a block x its threshold
    double block_bps;      // of data that a thread block moves: those of 8 B300 with one channel
} protocol_t;

// src/include/device.h, collectives.h and src/enqueue.cc of NCCL 2.23: buffers of 4 MiB, 512 KiB,
// and 120 x 640 x 8 x 8 bytes; LL has 4 bytes of flags with 4 of data, LL128 8 with 120.
static const protocol_t protocols[APP__PROTOCOL_COUNT] = {
    [APP__PROTOCOL_SIMPLE] = {512 * KIB, 4, 2, 128 * KIB, {1, 1}, 512 * KIB, 512 * 64, 33e9 * 8},
    [APP__PROTOCOL_LL] = {32 * KIB, 1, 1, 32 * KIB, {2, 1}, 64 * KIB, 512 * 8, 7.6e9 * 8},
    [APP__PROTOCOL_LL128] = {576000, 1, 1, 576000, {16, 15}, 614400, 640 * 8, 21.5e9 * 8},
};

const char *app__protocol_name(app__protocol_t protocol)
{
    static const char *const names[APP__PROTOCOL_COUNT] = {
        [APP__PROTOCOL_AUTO] = "auto",   [APP__PROTOCOL_SIMPLE] = "simple",
        [APP__PROTOCOL_LL] = "ll",       [APP__PROTOCOL_LL128] = "ll128",
        [APP__PROTOCOL_PLAIN] = "plain",
    };
    return names[protocol];
}

// -- sizes

uint64_t app__coll_wire_bytes(const app__coll_plan_t *plan, uint64_t bytes, uint16_t what)
{
    const uint32_t *const wire = protocols[plan->protocol].wire;
    return (what & APP__STEP_PACKETS) != 0 ? 2 * bytes
           : wire[0] == wire[1]            ? bytes
                                           : (bytes * wire[0] + wire[1] - 1) / wire[1];
}

static uint64_t pair_bytes(const app__coll_plan_t *plan, uint32_t from, uint32_t to)
{
    const uint64_t n = plan->program.ranks;
    return plan->matrix != NULL ? plan->matrix[from * n + to]
                                : plan->bytes / n + (to < plan->bytes % n);
}

uint64_t app__coll_step_bytes(const app__coll_plan_t *plan, const app__step_t *step, uint32_t loop)
{
    if ((step->what & APP__STEP_SIGNAL) != 0) {
        return APP__SIGNAL_BYTES;
    }
    if ((step->what & APP__STEP_PAIR) != 0) {
        const uint64_t bytes = pair_bytes(plan, step->from_chunk, step->to_chunk);
        return app__cut_bytes(&plan->cut, bytes, loop, step->count, 1);
    }
    const bool stores = (step->what & (APP__STEP_RECV | APP__STEP_REDUCE)) == APP__STEP_RECV;
    const uint32_t first = stores ? step->to_chunk : step->from_chunk;
    if (step->stride != 0) {
        const uint32_t n = plan->program.ranks;
        uint64_t bytes = 0;
        for (uint64_t i = 0; i < step->count; i++) {
            const uint32_t at = (uint32_t)((first % n + i * step->stride) % n);
            bytes += app__cut_bytes(&plan->cut, plan->cut.bytes, loop, first - first % n + at, 1);
        }
        return bytes;
    }
    return app__cut_bytes(&plan->cut, plan->cut.bytes, loop, first, step->count);
}

uint32_t app__coll_slices(const app__coll_plan_t *plan, uint64_t bytes, uint64_t *slice_bytes)
{
    *slice_bytes = plan->slice_bytes;
    if (plan->slices > 1) { // NCCL cuts small chunks, too, but not into slices that are too small
        const uint64_t even = (bytes + plan->slices - 1) / plan->slices;
        const uint64_t least = plan->slice_bytes / 32;
        *slice_bytes = SIM_MIN(even, plan->slice_bytes);
        *slice_bytes = SIM_MAX(least, *slice_bytes);
    }
    return (uint32_t)((bytes + *slice_bytes - 1) / *slice_bytes);
}

static uint64_t largest_pair(const app__coll_plan_t *plan)
{
    const uint32_t n = plan->program.ranks;
    uint64_t most = 0;
    if (plan->matrix == NULL) {
        return (plan->bytes + n - 1) / n;
    }
    for (uint64_t i = 0; i < (uint64_t)n * n; i++) {
        most = i / n != i % n && plan->matrix[i] > most ? plan->matrix[i] : most;
    }
    return most;
}

static bool reduces_in_switch(const app__algorithm_t *algorithm)
{
    return algorithm == &app__nvls || algorithm == &app__nvls_tree;
}

// Returns how many GPUs of a node reduce for NVLS.
static uint32_t nvls_heads(const app__program_t *program)
{
    return SIM_MIN(program->layout->per_node, NVLS_HEADS);
}

// Lowers `chunk` to `least` if the buffer has fewer than `chunks` of them for each channel and
// head.
static uint64_t fewer(const app__coll_plan_t *plan, uint64_t chunk, uint64_t chunks, uint64_t least)
{
    const uint64_t together = (uint64_t)plan->program.channels * nvls_heads(&plan->program);
    return plan->bytes < chunks * together * chunk && chunk > least ? least : chunk;
}

// Returns the bytes of a head's chunks of NVLS: NCCL 2.27, calcCollChunking in src/enqueue.cc.
// Between nodes, NCCL's NVLS needs switches that reduce; here it has a ring there, and a tree's
// chunks.
static uint64_t head_chunk(const app__coll_plan_t *plan)
{
    const uint32_t nodes = plan->program.layout->nodes;
    uint64_t chunk = nodes < NVLS_NODES ? NVLS_STEP : NVLS_STEP / 2;
    if (plan->program.algorithm == &app__nvls_tree || nodes > 1) {
        chunk = fewer(plan, chunk, 4, 64 * KIB);
        return fewer(plan, chunk, 1, 32 * KIB);
    }
    chunk = fewer(plan, chunk, 64, 64 * KIB);
    chunk = fewer(plan, chunk, 8, 32 * KIB);
    return fewer(plan, chunk, 2, 16 * KIB);
}

// Returns the bytes of a rank's chunks of NVLS. All ranks have shards here, also where few are
// heads, so that a loop has the bytes of NCCL's.
static uint64_t nvls_chunk(const app__coll_plan_t *plan)
{
    const uint32_t size = plan->program.layout->per_node;
    return size == 0 ? head_chunk(plan) : head_chunk(plan) * nvls_heads(&plan->program) / size;
}

// Returns the bytes of a step of a channel's buffer.
static uint64_t step_bytes(const app__coll_plan_t *plan)
{
    const bool simple = plan->protocol == APP__PROTOCOL_SIMPLE;
    return simple && reduces_in_switch(plan->program.algorithm)
               ? nvls_chunk(plan)
               : protocols[plan->protocol].step_bytes;
}

// Halves a chunk while the buffer has fewer loops than a limit and the chunk more than some KiB.
// There is a limit for each of these.
typedef struct shrink {
    double loops[4];
    uint32_t kib[4];
} shrink_t;

// Returns the bytes of a chunk of a tree or a chain, which get smaller with the buffer: trees with
// LL128 (NCCL 2.23, calcCollChunking in src/enqueue.cc), and both with Simple (RCCL, and NCCL up to
// 2.18).
static uint64_t small_chunk(const app__coll_plan_t *plan, bool rccl, uint64_t chunk)
{
    const app__program_t *const program = &plan->program;
    const double per_node = (double)program->ranks / program->layout->nodes;
    const bool tree = program->algorithm == &app__tree;
    double levels = 0;
    for (uint32_t nodes = program->layout->nodes; nodes > 1; nodes /= 2) {
        levels += 1;
    }
    const double steps = (1 + levels + 0.1 * per_node) / per_node;
    const double depth = per_node - 1 + levels;
    shrink_t shrink = {.loops = {0}};
    if (tree && plan->protocol == APP__PROTOCOL_LL128) {
        shrink = (shrink_t){{64 * steps, 16 * steps}, {128, 32}};
    } else if (rccl && tree && plan->protocol == APP__PROTOCOL_SIMPLE) {
        shrink = (shrink_t){{8 * depth, 4 * depth, depth}, {128, 64, 32}};
    } else if (rccl && program->algorithm == &app__chain &&
               plan->protocol == APP__PROTOCOL_SIMPLE) {
        shrink = (shrink_t){{64, 32, 16, 8}, {256, 128, 64, 32}};
    }
    for (size_t i = 0; i < SIM_COUNT_OF(shrink.loops); i++) {
        // NCCL divides whole numbers.
        while (chunk > shrink.kib[i] * KIB &&
               // NOLINTNEXTLINE(bugprone-integer-division)
               (double)(plan->bytes / (program->channels * chunk)) < shrink.loops[i]) {
            chunk /= 2;
        }
    }
    return chunk;
}

// Returns among how many channels NCCL divides a pair's bytes within an NVLink domain (2.23,
// addP2pToPlan in src/enqueue.cc): pairs have equally many of 32, and twice as many while a part
// has more than 32 steps of a buffer, but none has less than an eighth of a step.
static uint32_t parts_of(const app__coll_plan_t *plan)
{
    const uint64_t bytes = largest_pair(plan);
    const uint64_t step = protocols[plan->protocol].buffer_bytes;
    const uint32_t channels = plan->program.channels;
    uint32_t parts = channels;
    while (parts > 1 && parts * plan->program.ranks > channels) {
        parts /= 2;
    }
    parts = (uint32_t)SIM_MIN(parts, (bytes + step / 8 - 1) / (step / 8));
    while (parts < channels && bytes > parts * step * 32) {
        parts *= 2;
    }
    return SIM_MAX(parts, 1);
}

// Sets chunks, slices and the window.
static void set_units(const app__coll_options_t *options, app__coll_plan_t *plan)
{
    const app__program_t *const program = &plan->program;
    const protocol_t *const protocol = &protocols[plan->protocol];
    const bool plain = plan->protocol == APP__PROTOCOL_PLAIN;
    const bool ring = program->algorithm == &app__ring;
    const uint64_t chunk_steps = ring ? protocol->chunk_steps : 1;
    const uint64_t slice_steps = ring ? protocol->slice_steps : 1;
    const bool rccl = options->ccl == APP__CCL_RCCL;
    const uint64_t unit_bytes = small_chunk(plan, rccl, step_bytes(plan));
    const bool divides = program->pairs && options->tuning_latency && program->layout->nodes == 1;
    plan->parts = divides ? parts_of(plan) : 1;
    uint64_t chunk_bytes = plain || program->pairs ? 0 : unit_bytes * chunk_steps;
    uint64_t slice_bytes = plain            ? SLICE_MAX
                           : divides        ? unit_bytes * plan->parts
                           : program->pairs ? protocol->p2p_bytes
                                            : unit_bytes * slice_steps;
    chunk_bytes = options->chunk_bytes != SIM_AUTO ? options->chunk_bytes : chunk_bytes;
    slice_bytes = options->slice_bytes != SIM_AUTO ? options->slice_bytes : slice_bytes;
    const uint64_t bytes = plan->barrier    ? program->chunks // a byte each
                           : program->pairs ? largest_pair(plan)
                                            : plan->bytes;
    if (chunk_bytes > 0 && slice_bytes < (chunk_bytes - 1) / SLICES_MAX + 1) {
        slice_bytes = (chunk_bytes - 1) / SLICES_MAX + 1;
    }
    const uint64_t part_bytes = (chunk_bytes + program->step_chunks - 1) / program->step_chunks;
    plan->cut = app__cut(bytes, program->chunks, part_bytes, program->equal_chunks);
    const uint64_t slices =
        chunk_bytes > slice_bytes ? (chunk_bytes + slice_bytes - 1) / slice_bytes : 1;
    plan->slice_bytes = slice_bytes;
    plan->slices = slices > 1 && !program->pairs ? (uint32_t)slices : 0;
    if (!plain) {
        SIM_CHECK(slice_bytes > 0);
        // In a ring all ranks send a whole chunk before they take one, so there is room for more.
        const uint64_t least = program->pairs ? 1 : slices + 1;
        const uint64_t fits = BUFFER_STEPS * unit_bytes / slice_bytes;
        plan->window = (uint32_t)(fits < least ? least : SIM_MIN(APP__COLL_WINDOW_MAX, fits));
    }
}

// -- algorithms

// Returns the algorithm of a collective for which NCCL has no choice. Plain messages follow SimAI,
// which begins all pairs of an all-to-all at once.
static const app__algorithm_t *default_of(uint32_t kind, app__protocol_t protocol)
{
    return kind == APP__COLL_ALL_TO_ALL && protocol == APP__PROTOCOL_PLAIN ? &app__direct
           : kind == APP__COLL_ALL_TO_ALL                                  ? &app__pairwise
           : kind == APP__COLL_BROADCAST || kind == APP__COLL_REDUCE       ? &app__chain
                                                                           : &app__ring;
}

static bool is_blackwell(const app__collectives_t *all)
{
    return all->workload->options.local_bps >= BLACKWELL_BPS;
}

static app__gpu_t gpu_of(const app__collectives_t *all)
{
    return all->options.ccl == APP__CCL_RCCL                ? APP__GPU_MI300
           : !all->options.tuning_latency                   ? APP__GPU_ANY
           : is_blackwell(all)                              ? APP__GPU_BLACKWELL
           : all->workload->options.local_bps == AMPERE_BPS ? APP__GPU_AMPERE
                                                            : APP__GPU_HOPPER;
}

// Returns the channels that NCCL has for each NIC between nodes (src/graph/search.cc, connect.cc):
// two, and twice as many where it has more than 400 Gbps, or is one of at most four with more than
// 200 Gbps.
static uint32_t channels_between(const app__collectives_t *all, uint32_t locals)
{
    const app__port_t *const rail =
        &all->workload->ports[app__rail_port(&all->workload->ranks[0], 0)];
    const uint64_t bps = nic_rate_bps(rail->endpoint->nic);
    return bps > NIC_DOUBLED_BPS || (bps > NIC_DOUBLED_BPS / 2 && locals <= 4) ? 4 : 2;
}

static void set_channels(const app__collectives_t *all, app__coll_plan_t *plan)
{
    const app__coll_options_t *const options = &all->options;
    const app__layout_t *const layout = plan->program.layout;
    const uint32_t locals = layout->per_node > 0 ? layout->per_node : 1;
    const bool pairs = plan->program.kind == APP__COLL_ALL_TO_ALL;
    const bool rccl = options->ccl == APP__CCL_RCCL;
    uint32_t channels = pairs ? 8 : 2 * locals;
    if (plan->protocol == APP__PROTOCOL_PLAIN) {
        channels = pairs ? 1 : locals;
    } else if (options->tuning_latency && layout->nodes == 1) {
        channels = rccl                ? (pairs ? RCCL_CHANNELS : RCCL_DOMAIN_CHANNELS)
                   : pairs             ? P2P_CHANNELS
                   : is_blackwell(all) ? DOMAIN_CHANNELS_BLACKWELL
                                       : DOMAIN_CHANNELS;
    } else if (options->tuning_latency && rccl) {
        channels = pairs ? SIM_MIN(layout->ranks, RCCL_CHANNELS) : RCCL_CHANNELS;
    } else if (options->tuning_latency && pairs && layout->per_node > 0) {
        channels = SIM_MIN(layout->nodes, P2P_CHANNELS_FAR);
    } else if (options->tuning_latency && !pairs) {
        channels = SIM_MIN(channels_between(all, locals) * locals, CHANNELS_MAX);
    }
    plan->program.channels = options->channels != SIM_AUTO ? (uint32_t)options->channels : channels;
}

// Returns how much longer a GPU's kernels take than those that NCCL's latencies are for.
static double clocks_of(const app__collectives_t *all)
{
    return gpu_of(all) == APP__GPU_AMPERE ? AMPERE_CLOCKS : 1;
}

static sim_time_t scaled(sim_time_t time_ps, sim_ratio_t scale)
{
    return (sim_time_t)((double)time_ps * (double)scale.num / (double)scale.den);
}

// Returns the rate that NCCL expects of a GPU's NVLinks.
static double links_bps(const app__collectives_t *all)
{
    return (double)all->workload->options.local_bps * (all->options.ccl == APP__CCL_RCCL
                                                           ? LINKS_SHARE_XGMI
                                                       : is_blackwell(all) ? LINKS_SHARE_BLACKWELL
                                                                           : LINKS_SHARE);
}

// Returns how many channels NCCL takes for a buffer of a ring or a tree: fewer than there are for
// few bytes (topoGetAlgoInfo and scheduleCollTasksToPlan in src/enqueue.cc).
static uint32_t channels_for(const app__coll_plan_t *plan)
{
    const app__program_t *const program = &plan->program;
    const protocol_t *const protocol = &protocols[plan->protocol];
    const bool ll = plan->protocol == APP__PROTOCOL_LL;
    const bool ring = program->algorithm != &app__tree;
    const uint64_t least = protocol->least_bytes * (ll && ring ? program->ranks : 1);
    const uint64_t cell = 32 * KIB / (program->kind == APP__COLL_ALL_REDUCE ? 2 : 1) / (ll ? 4 : 1);
    const uint64_t fits = SIM_MIN(plan->bytes / least, (plan->bytes + cell - 1) / cell);
    return (uint32_t)SIM_MIN(program->channels, SIM_MAX(fits, 1));
}

static bool takes_fewer(const app__collectives_t *all, const app__coll_plan_t *plan)
{
    const app__algorithm_t *const algorithm = plan->program.algorithm;
    return all->options.tuning_latency && all->options.channels == SIM_AUTO &&
           plan->protocol != APP__PROTOCOL_PLAIN &&
           (algorithm == &app__ring || algorithm == &app__tree || algorithm == &app__chain);
}

// Returns the number of channels that NCCL uses for NVLS.
static uint32_t nvls_channels(const app__collectives_t *all, const app__layout_t *layout)
{
    return !is_blackwell(all)  ? NVLS_CHANNELS
           : layout->nodes > 1 ? NVLS_CHANNELS_BLACKWELL_FAR
                               : NVLS_CHANNELS_BLACKWELL;
}

// Returns the bits of a loop of NVLS in full chunks.
static double full_loop_bits(const app__collectives_t *all, const app__program_t *program)
{
    return 8.0 * NVLS_STEP * nvls_channels(all, program->layout) * nvls_heads(program);
}

// Returns for how long a loop of NVLS waits.
static sim_time_t nvls_step_ps(const app__collectives_t *all, const app__program_t *program)
{
    return is_blackwell(all)
               ? NVLS_STEP_BLACKWELL_PS + NVLS_STEP_BLACKWELL_GPU_PS * program->layout->per_node
               : NVLS_STEP_PS;
}

// Returns the rate of a buffer that the NVSwitches of nodes reduce or spread in full chunks, where
// each loop of an all-reduce waits `step_ps`. NCCL chooses by the rate without these waits.
static double nvls_bps(const app__collectives_t *all, const app__program_t *program,
                       sim_time_t step_ps)
{
    const double size = program->layout->per_node;
    const uint32_t nodes = program->layout->nodes;
    const double ranks = program->ranks;
    const double links = links_bps(all) * NVLS_SHARE;
    const double step_s = (double)step_ps / SIM_PS_PER_S;
    const double bps = program->kind == APP__COLL_ALL_REDUCE && size > 0
                           ? 1 / (1 / links + step_s / full_loop_bits(all, program))
                           : links;
    const double tree_bps = 8e9 * nvls_tree_gbytes[is_blackwell(all)][nodes > 2] * size * ranks /
                            (2 * SIM_MAX(ranks - 1, 1));
    return all->options.nvls_bps != SIM_AUTO ? (double)all->options.nvls_bps
           : nodes > 1                       ? SIM_MIN(bps, tree_bps)
                                             : bps;
}

// Decides what the options leave open, as NCCL would.
static void choose(const app__collectives_t *all, app__coll_plan_t *plan)
{
    const app__coll_options_t *const options = &all->options;
    const app__layout_t *const layout = plan->program.layout;
    app__program_t *const program = &plan->program;
    const app__rank_t *const rank = &all->workload->ranks[0];
    const app__port_t *const rail = &all->workload->ports[app__rail_port(rank, 0)];
    const double inside_bps = rank->domain == NULL ? links_bps(all) : (double)app__domain_bps(rank);
    const app__coll_question_t question = {
        .gpu = gpu_of(all),
        .processor = options->processor,
        .bytes = plan->barrier ? program->ranks : plan->bytes,
        .kind = program->kind,
        .ranks = program->ranks,
        .nodes = layout->nodes,
        .per_node = program->ranks / layout->nodes,
        .channels = program->channels,
        .inside_gbytes = inside_bps / 8e9,
        .nvls_gbytes = nvls_bps(all, program, 0) / 8e9,
        .between_gbytes =
            (double)nic_rate_bps(rail->endpoint->nic) / 8e9 * program->ranks / layout->nodes,
        .nvls = options->nvls && all->workload->options.local_bps != AMPERE_BPS,
        .algorithm = program->algorithm,
        .protocol = options->protocol,
    };
    if (options->protocol != APP__PROTOCOL_PLAIN && program->ranks > 1) {
        const app__coll_choice_t choice = app__coll_choose(&question, program);
        program->algorithm = program->algorithm == NULL ? choice.algorithm : program->algorithm;
        plan->protocol = choice.algorithm == NULL ? plan->protocol : choice.protocol;
        plan->expected_us = choice.us;
    }
    if (program->algorithm == NULL) {
        program->algorithm = default_of(program->kind, plan->protocol);
    }
    if (options->tuning_latency) {
        const bool pairs = program->kind == APP__COLL_ALL_TO_ALL;
        if (pairs && layout->nodes == 1 && options->protocol == APP__PROTOCOL_AUTO &&
            largest_pair(plan) <= P2P_CHANNELS * P2P_LL_MAX) {
            plan->protocol = APP__PROTOCOL_LL;
        }
        const app__coll_latency_t latency =
            app__coll_latency(&question, program->algorithm, plan->protocol);
        plan->latency = (app__coll_latency_t){
            .call_ps = scaled(latency.call_ps, options->tuning_scale),
            .inside_ps = (sim_time_t)((double)scaled(latency.inside_ps, options->tuning_scale) *
                                      clocks_of(all)),
            .between_ps = scaled(latency.between_ps, options->tuning_scale),
            .post_ps = scaled(latency.post_ps, options->tuning_scale),
        };
    }
}

// Returns the rate of the plan's messages within a host. With NCCL's latencies, an all-reduce by
// NVLS in loops of smaller chunks takes as much longer as these wait. The NVSwitch reduces a rank's
// own shard, too, and returns it, so that messages to the other ranks have less than that rate.
static uint64_t local_bps(const app__collectives_t *all, const app__coll_plan_t *plan)
{
    const app__program_t *const program = &plan->program;
    const uint32_t size = program->layout->per_node;
    if (!reduces_in_switch(program->algorithm)) {
        return all->workload->options.local_bps;
    }
    double bps = nvls_bps(all, program, nvls_step_ps(all, program));
    const bool waits = program->kind == APP__COLL_ALL_REDUCE && all->options.tuning_latency;
    if (waits && plan->cut.chunk_bytes > 0) {
        const double step_ps =
            (double)scaled(nvls_step_ps(all, program), all->options.tuning_scale);
        const uint64_t loop = plan->cut.chunk_bytes * plan->cut.chunks;
        const double bits = 8.0 * (double)SIM_MIN(loop, plan->bytes);
        const double full_bits = full_loop_bits(all, program);
        bps = 1 / (1 / bps + step_ps / SIM_PS_PER_S * (1 / bits - 1 / full_bits));
    }
    return (uint64_t)(program->kind == APP__COLL_ALL_REDUCE && size > 1 ? bps / size * (size - 1)
                                                                        : bps);
}

// With NCCL's latencies, a thread block moves the slices of a channel within a node one after the
// other: it waits for a slice, copies it and fences it before it looks at the next one. NCCL's
// latency of a step is that of all slices of a chunk, and includes the way to the other GPU.
static void set_blocks(const app__collectives_t *all, app__coll_plan_t *plan)
{
    const protocol_t *const protocol = &protocols[plan->protocol];
    const bool serial = !reduces_in_switch(plan->program.algorithm) &&
                        plan->protocol != APP__PROTOCOL_PLAIN && !plan->program.switched &&
                        (!plan->program.pairs || plan->program.layout->nodes == 1);
    const sim_time_t local_ps = all->workload->options.local_ps;
    const uint32_t slices = SIM_MAX(plan->slices, 1);
    const double full_bps = protocol->block_bps * plan->parts * protocol->wire[0] /
                            SIM_MAX(protocol->wire[1], 1) / clocks_of(all);
    const bool simple = plan->protocol == APP__PROTOCOL_SIMPLE;
    plan->way_ps = local_ps;
    if (!all->options.tuning_latency) {
        return;
    }
    if (plan->program.by_node && simple && all->options.block_bps == SIM_AUTO) {
        plan->pairs_bps = (uint64_t)(full_bps * HALF_BLOCK);
    }
    if (serial) {
        plan->latency.inside_ps /= plan->program.pairs ? protocol->slice_steps : slices;
        plan->way_ps = SIM_MIN(local_ps, plan->latency.inside_ps);
        if (all->workload->ports[0].nvlink.packets == NULL) { // else headers take their share
            plan->local_bps = (uint64_t)links_bps(all);
        }
        if (all->options.block_bps == SIM_AUTO) {
            const bool halved =
                plan->program.pairs || (simple && plan->program.algorithm == &app__tree);
            plan->block_bps = (uint64_t)(full_bps * (halved ? HALF_BLOCK : 1));
            plan->last_bps = !plan->program.pairs ? plan->block_bps
                             : simple             ? (uint64_t)full_bps
                                                  : 0; // LL is copied line by line
        }
    }
    plan->latency.inside_ps -= SIM_MIN(local_ps, plan->latency.inside_ps);
}

// Returns whether the file of an algorithm is for a call.
static bool fits_file(const app__collectives_t *all, const app__coll_plan_t *plan)
{
    const app__program_file_t *const file = all->file.program;
    return file != NULL && file->kind == (app__coll_kind_t)plan->program.kind && !plan->barrier &&
           plan->matrix == NULL && file->ranks == plan->program.ranks &&
           plan->bytes >= file->bytes_min &&
           (file->bytes_max == 0 || plan->bytes <= file->bytes_max);
}

static app__protocol_t protocol_of(const app__program_file_t *file)
{
    const char *const name = file->protocol == NULL ? "" : file->protocol;
    return strcmp(name, "LL") == 0      ? APP__PROTOCOL_LL
           : strcmp(name, "LL128") == 0 ? APP__PROTOCOL_LL128
                                        : APP__PROTOCOL_SIMPLE;
}

// Returns how many channels of a call do the same at the same time. Within a host the channels of
// a ring lead to the same ranks, and those of NVLS, and share NVLink equally; so all do if their
// chunks have the same size. The blocks of channel 0 are the first ones then.
static uint32_t width_of(const app__collectives_t *all, const app__coll_plan_t *plan)
{
    const app__algorithm_t *const algorithm = plan->program.algorithm;
    return (algorithm == &app__ring || algorithm == &app__nvls) &&
                   all->groups[plan->group].inside &&
                   (plan->cut.equal || plan->cut.bytes % plan->cut.chunks == 0)
               ? plan->program.channels
               : 1;
}

static void make_plan(app__collectives_t *all, const app__call_t *call, app__coll_plan_t *plan)
{
    const app__coll_options_t *const options = &all->options;
    const app__layout_t *const layout = &all->groups[call->group].layout;
    const bool barrier = call->kind == APP__COLL_BARRIER;
    app__program_t *const program = &plan->program;
    *plan = (app__coll_plan_t){
        .group = call->group,
        .bytes = call->bytes,
        .matrix = call->matrix,
        .dimension = (app__dimension_t)call->dimension,
        .barrier = barrier,
        .protocol =
            options->protocol == APP__PROTOCOL_AUTO ? APP__PROTOCOL_SIMPLE : options->protocol,
        .program =
            {
                .layout = layout,
                .ranks = layout->ranks,
                .root = call->root,
                .kind = barrier ? APP__COLL_ALL_REDUCE : call->kind,
                .pxn = options->pxn,
                .switched = all->workload->ranks[0].domain != NULL,
            },
    };
    set_channels(all, plan);
    const app__algorithm_t *const wanted = algorithms[options->algorithm];
    const char *const refusal = wanted == NULL ? NULL : wanted->refuses(program);
    program->algorithm = refusal == NULL ? wanted : NULL;
    if (wanted != NULL) {
        all->wanted = wanted;
        all->wanted_used = all->wanted_used || refusal == NULL;
        all->refusal = refusal != NULL ? refusal : all->refusal;
    }
    if (fits_file(all, plan)) {
        program->algorithm = &app__from_file;
        program->file = all->file.program;
        all->file_used = true;
        plan->protocol = options->protocol == APP__PROTOCOL_AUTO ? protocol_of(program->file)
                                                                 : options->protocol;
    } else {
        choose(all, plan);
    }
    if (reduces_in_switch(program->algorithm) && options->channels == SIM_AUTO) {
        program->channels = nvls_channels(all, layout);
    } else if (program->algorithm == &app__all_pairs && options->channels == SIM_AUTO) {
        program->channels = ALL_PAIRS_CHANNELS;
    } else if (takes_fewer(all, plan)) {
        program->channels = channels_for(plan);
    }
    program->step_chunks = 1;
    program->alternates = !program->pxn && plan->protocol != APP__PROTOCOL_PLAIN &&
                          layout->nodes > 1 && layout->per_node > 1;
    program->by_node = options->tuning_latency && options->ccl == APP__CCL_NCCL &&
                       program->algorithm == &app__pairwise && layout->nodes > 1 &&
                       layout->per_node > 0 && plan->protocol != APP__PROTOCOL_PLAIN;
    program->algorithm->plan(program);
    // NCCL rounds chunks up, so that all channels of a loop have equal ones.
    program->equal_chunks =
        program->equal_chunks ||
        (options->tuning_latency && layout->nodes == 1 &&
         (program->algorithm == &app__nvls || program->algorithm == &app__ring));
    set_units(options, plan);
    plan->local_bps = local_bps(all, plan);
    set_blocks(all, plan);
    plan->width = width_of(all, plan);
}

static bool same(const app__call_t *call, const app__coll_plan_t *plan)
{
    const bool barrier = call->kind == APP__COLL_BARRIER;
    return plan->group == call->group && plan->barrier == barrier &&
           (barrier || plan->program.kind == call->kind) && plan->bytes == call->bytes &&
           plan->matrix == call->matrix && plan->dimension == (app__dimension_t)call->dimension &&
           plan->program.root == call->root;
}

// Refuses a plan whose loops or messages nobody could count.
static sim_err_t check_units(const app__coll_plan_t *plan, sim_message_t *message)
{
    const uint64_t step_bytes = plan->cut.chunk_bytes * plan->program.step_chunks;
    const bool loops = plan->cut.loops == APP__LOOPS_MAX;
    if (!loops && step_bytes / plan->slice_bytes < APP__LOOPS_MAX) {
        return SIM_OK;
    }
    return sim_fail_about(message, SIM_ERR_RANGE, loops ? "chunk" : "slice",
                          ": a collective of %" PRIu64 " bytes has 2^32 %s or more, expected "
                          "fewer bytes or longer %ss",
                          plan->bytes, loops ? "loops" : "slices in a chunk",
                          loops ? "chunk" : "slice");
}

sim_err_t app__coll_plan_all(app__collectives_t *all, sim_message_t *message)
{
    const app__schedule_t *const schedule = all->workload->schedule;
    uint32_t *const latest = sim_alloc_array(schedule->group_count + 1, sizeof(*latest));
    uint32_t *const older = sim_alloc_array(schedule->call_count + 1, sizeof(*older));
    sim_err_t error = SIM_OK;
    all->plan_of = sim_alloc_array(schedule->call_count + 1, sizeof(*all->plan_of));
    for (size_t i = 0; i < schedule->call_count && error == SIM_OK; i++) {
        const app__call_t *const call = &schedule->calls[i];
        uint32_t at = latest[call->group]; // 1 + the newest plan of the group
        while (at != 0 && !same(call, &all->plans[at - 1])) {
            at = older[at - 1];
        }
        if (at == 0) {
            SIM_GROW(all->plans, all->plan_count, &all->plan_capacity);
            app__coll_plan_t *const plan = &all->plans[all->plan_count];
            make_plan(all, call, plan);
            error = check_units(plan, message);
            older[all->plan_count++] = latest[call->group];
            at = (uint32_t)all->plan_count;
            latest[call->group] = at;
            app__coll_group_t *const group = &all->groups[call->group];
            group->lanes = SIM_MAX(plan->program.lanes, group->lanes);
            group->width = group->width == 0 || group->width == plan->width ? plan->width : 1;
        }
        all->plan_of[i] = at - 1;
    }
    sim_free(older);
    sim_free(latest);
    return error;
}
