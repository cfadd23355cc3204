// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/choose.c - NCCL's choice of an algorithm and a protocol: the
// least of latency + bytes / bandwidth, from the constants of NCCL 2.23 for H100
// (src/graph/tuning.cc). docs/models/collectives.md
#include "apps/workload/collective/algorithms/choose.h"

#define PROTOCOLS 3u // LL, LL128, Simple
// A processor's time for a step to another node; 3 times that with Simple (NCCL)
static const double post_us[] = {[APP__PROCESSOR_AMD] = 2, [APP__PROCESSOR_INTEL] = 1};
// The kernel's launch, which is a part of NCCL's latencies of LL128 and NVLS alone: nccl-tests of 2
// H100 and 8 B200 take as much longer than 6.6 us and the steps.
#define LAUNCH_US 4.0

// Latencies in us of an algorithm, by protocol: of a call, of a step over NVLink, over the network.
typedef struct latency {
    const app__algorithm_t *algorithm;
    double base[PROTOCOLS];
    double inside[PROTOCOLS];
    double between[PROTOCOLS];
} latency_t;

static const latency_t nccl_latencies[] = {
    {&app__ring, {6.6, 14, 8.4}, {0.6, 1.9, 3.4}, {2.7, 4, 14}},
    {&app__tree, {6.8, 14, 8.4}, {0.6, 1.25, 4}, {5, 8.5, 14}},
    {&app__chain, {6.6, 14, 8.4}, {0.6, 1.9, 3.4}, {2.7, 4, 14}}, // NCCL: ring
    {&app__nvls, {0, 0, 0}, {0, 0, 25}, {0, 0, 18}},
    {&app__nvls_tree, {0, 0, 0}, {0, 0, 25}, {0, 0, 14}},
    {&app__pat, {0, 0, 8.4}, {0, 0, 4}, {0, 0, 14}},
};
// RCCL: those of MI300X (src/graph/tuning.cc). The launch of its kernel is a part of them. A ring
// with Simple between nodes has that of a tree here: RCCL's 320 us only decide its choice.
static const latency_t rccl_latencies[] = {
    {&app__ring, {12, 0, 17}, {0.8, 0, 2.1}, {9.5, 0, 25}},
    {&app__tree, {12, 0, 17}, {0.9, 0, 2.3}, {10.5, 0, 25}},
    {&app__chain, {12, 0, 17}, {0.8, 0, 2.3}, {9.5, 0, 25}},
    {&app__all_pairs, {12, 0, 17}, {0.8, 0, 2.1}, {9.5, 0, 25}},
};
#define MIB (UINT64_C(1) << 20)
#define ALL_PAIRS_LL_MAX (MIB / 2 - 1) // RCCL: of the files of its all-reduces of all pairs
#define ALL_PAIRS_MAX (16 * MIB)
// Between nodes, RCCL takes trees with LL up to the first size, and rings from the second one on:
// the first is that of its table of corrections, the second that of public times of 2 nodes.
#define RCCL_TREE_LL_MAX (2 * MIB)
#define RCCL_RING_MIN (256 * MIB)
// The share of its links' bandwidth that RCCL expects, by LL and Simple: ring, tree of up to 2 and
// of more nodes, all pairs. Bytes with LL are half of those on the link.
static const double rccl_share[4][2] = {{.08, 1}, {.06, .11}, {.06, .59}, {.5, 1}};

// NCCL from 2.28.9 on has this for a step of an NVLS tree. Older versions choose by 14.
#define NVLS_TREE_BETWEEN_US 20.9

// GB/s that NCCL expects at most, by 1, 2, more nodes: of LL within a node, and of a channel.
typedef struct limits {
    double ll;
    double ring_ll128[3];
    double tree_ll128[3];
    double tree[3];
} limits_t;

// NCCL 2.30. The first row stands for all GPUs where tuning-latency is off.
static const limits_t limits[] = {
    [APP__GPU_ANY] = {141, {36.7, 36.7, 36.7}, {36, 36, 29}, {38.7, 41.4, 36}},
    [APP__GPU_AMPERE] = {87.7, {20, 20, 20}, {20, 20, 20}, {24, 23.6, 17.8}},
    [APP__GPU_HOPPER] = {141, {36.7, 36.7, 36.7}, {36.7, 36.7, 29}, {38.7, 41.4, 36}},
    [APP__GPU_BLACKWELL] = {141, {40, 40, 40}, {55.6, 31.67, 20}, {70, 42.8, 24}},
};

// GB/s of LL between 2 and more nodes, whose processors look at each flag of a message
static const double ll_between[][2] =
    {[APP__PROCESSOR_AMD] = {22.5, 19}, [APP__PROCESSOR_INTEL] = {39, 20.4}};
static const double ll_between_any[2] = {45, 35}; // where tuning-latency is off
#define BLACKWELL_GBYTES 700.0 // of NVLink, from which on LL reaches twice as much in a node (2.30)

// The share of its bandwidth that a tree reaches, by the log2 of the size in units of 64 bytes.
static const double tree_share[PROTOCOLS][23] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
};

static uint32_t log2_of(uint64_t n)
{
    uint32_t log = 0;
    while (n >> 1 >> log != 0) {
        log++;
    }
    return log;
}

// Returns the steps of a ring.
static double ring_steps(const app__coll_question_t *question, uint32_t count)
{
    return question->kind == APP__COLL_ALL_REDUCE ? 2.0 * (count - 1) : count - 1.0;
}

// Returns the bus bandwidth in GB/s that NCCL expects of LL at most.
static double ll_gbytes(const app__coll_question_t *question)
{
    if (question->nodes == 1) {
        return limits[question->gpu].ll * (question->inside_gbytes > BLACKWELL_GBYTES ? 2 : 1);
    }
    return (question->gpu == APP__GPU_ANY ? ll_between_any
                                          : ll_between[question->processor])[question->nodes > 2];
}

// Returns the bytes of the call per us, in GB/s x 1000.
static double bandwidth(const app__coll_question_t *question, const app__algorithm_t *algorithm,
                        uint32_t protocol)
{
    const uint32_t row = question->nodes < 3 ? question->nodes - 1 : 2;
    const limits_t *const most = &limits[question->gpu];
    const double ll_most = ll_gbytes(question);
    const bool one_node = question->nodes == 1;
    const bool tree = algorithm == &app__tree;
    const double channels = question->channels;
    double bus =
        one_node ? question->inside_gbytes
                 : SIM_MIN(question->between_gbytes, question->inside_gbytes * question->per_node);
    if (algorithm == &app__nvls || algorithm == &app__nvls_tree) {
        const double between = question->between_gbytes * (question->nodes > 2 ? 1 : 2) *
                               question->ranks / ring_steps(question, question->ranks);
        return 1000 * (one_node ? question->nvls_gbytes : SIM_MIN(question->nvls_gbytes, between));
    }
    if (question->gpu == APP__GPU_MI300) {
        const uint32_t kind = algorithm == &app__all_pairs ? 3 : tree ? 1 + (row == 2) : 0;
        const double steps =
            algorithm == &app__chain ? question->ranks : ring_steps(question, question->ranks);
        bus *= rccl_share[kind][protocol == 2];
        return (tree ? bus / 2 : bus * question->ranks / steps) * 1000;
    }
    if (tree) {
        bus = SIM_MIN(bus * 0.92, channels * most->tree[row]);
        bus = protocol == 0   ? SIM_MIN(bus / 3.8, ll_most)
              : protocol == 1 ? SIM_MIN(bus * (one_node ? 7.0 / 9 : 120.0 / 128),
                                        channels * most->tree_ll128[row])
                              : bus;
        const uint32_t log = log2_of(question->bytes >> 6);
        return bus * (log < 23 ? tree_share[protocol][log] : 1) / 2 * 1000;
    }
    if (algorithm == &app__pat) {
        bus *= 0.75;
    }
    bus = protocol == 0   ? SIM_MIN(ll_most, bus / 2)
          : protocol == 1 ? SIM_MIN(bus * 0.92, channels * most->ring_ll128[row])
                          : bus;
    const double steps =
        algorithm == &app__chain ? question->ranks : ring_steps(question, question->ranks);
    return bus * question->ranks / steps * 1000;
}

// Returns whether NCCL expects longer latencies of a ring for large messages between nodes. Here
// processors that post the messages of several channels take that time.
static bool has_plateau(const app__coll_question_t *question, uint32_t protocol)
{
    return protocol == 2 && question->gpu != APP__GPU_MI300 && question->nodes > 1 &&
           question->kind == APP__COLL_ALL_REDUCE &&
           question->bytes / ((uint64_t)question->channels * question->ranks) >= 64;
}

static double latency_us(const app__coll_question_t *question, const latency_t *row,
                         uint32_t protocol)
{
    const double inside = row->inside[protocol];
    const double between = row->between[protocol];
    const double nodes = log2_of(question->nodes);
    const double per_node = question->per_node;
    double us = row->base[protocol];
    if (row->algorithm == &app__all_pairs) {
        return us + 2 * (question->nodes == 1 ? inside : between);
    }
    if (row->algorithm == &app__tree) {
        return us + 2 * ((per_node - 1) * inside + nodes * between);
    }
    if (row->algorithm == &app__nvls) {
        return us + inside + (question->nodes > 1 ? between : 0);
    }
    if (row->algorithm == &app__nvls_tree) {
        return us + inside + 2 * nodes * between;
    }
    if (row->algorithm == &app__pat) {
        return us + nodes * between / 3.5 + question->ranks * 2.8;
    }
    // The processors post each step of a ring, also while the step is one within the node.
    const double inter = ring_steps(question, question->nodes);
    const bool posts = question->nodes > 1 && question->gpu != APP__GPU_ANY;
    const double least = posts ? post_us[question->processor] * (protocol == 2 ? 3 : 1) : 0;
    us +=
        (ring_steps(question, question->ranks) - inter) * SIM_MAX(inside, least) + inter * between;
    return has_plateau(question, protocol) ? us * 1.4 : us;
}

// Returns the library's latencies; sets their number.
static const latency_t *latencies_of(const app__coll_question_t *question, size_t *count)
{
    const bool rccl = question->gpu == APP__GPU_MI300;
    *count = rccl ? SIM_COUNT_OF(rccl_latencies) : SIM_COUNT_OF(nccl_latencies);
    return rccl ? rccl_latencies : nccl_latencies;
}

// Returns the index of a protocol in this file's tables; plain messages are those of Simple.
static uint32_t column_of(app__protocol_t protocol)
{
    return protocol == APP__PROTOCOL_LL ? 0 : protocol == APP__PROTOCOL_LL128 ? 1 : 2;
}

app__coll_latency_t app__coll_latency(const app__coll_question_t *question,
                                      const app__algorithm_t *algorithm, app__protocol_t protocol)
{
    const uint32_t column = column_of(protocol);
    size_t count = 0;
    const latency_t *const latencies = latencies_of(question, &count);
    const latency_t *row = &latencies[0];
    for (size_t i = 0; i < count; i++) {
        row = latencies[i].algorithm == algorithm ? &latencies[i] : row;
    }
    const bool switched = row->algorithm == &app__nvls || row->algorithm == &app__nvls_tree;
    double call_us = row->base[column];
    double inside_us = row->inside[column];
    double between_us =
        row->algorithm == &app__nvls_tree ? NVLS_TREE_BETWEEN_US : row->between[column];
    if (row->algorithm == &app__pat) {
        call_us += question->ranks * 2.8;
        between_us /= 3.5;
    } else if (switched && question->kind == APP__COLL_ALL_REDUCE) {
        inside_us /= 2; // to the switch and back
    }
    const bool launched = column == 1 || switched || question->gpu == APP__GPU_MI300;
    const double launch_us = launched ? 0 : LAUNCH_US;
    return (app__coll_latency_t){
        .call_ps = (sim_time_t)((call_us + launch_us) * 1e6),
        .inside_ps = (sim_time_t)(inside_us * 1e6),
        .between_ps = (sim_time_t)(between_us * 1e6),
        .post_ps = (sim_time_t)(post_us[question->processor] * 1e6),
    };
}

// Returns whether RCCL considers an algorithm with a protocol. All pairs are for one node.
static bool rccl_considers(const app__coll_question_t *question, const app__algorithm_t *algorithm,
                           app__protocol_t protocol)
{
    const uint64_t bytes = question->bytes;
    const bool ll = protocol == APP__PROTOCOL_LL;
    if (protocol == APP__PROTOCOL_LL128) {
        return false;
    }
    if (algorithm == &app__all_pairs) {
        return question->nodes == 1 && bytes <= ALL_PAIRS_MAX && ll == (bytes <= ALL_PAIRS_LL_MAX);
    }
    if (question->nodes == 1 || question->kind != APP__COLL_ALL_REDUCE) {
        return algorithm != &app__tree || ll;
    }
    return ll == (bytes <= RCCL_TREE_LL_MAX) &&
           (algorithm == &app__ring) == (bytes >= RCCL_RING_MIN);
}

// Returns whether the library considers an algorithm with a protocol.
static bool considers(const app__coll_question_t *question, const app__algorithm_t *algorithm,
                      app__protocol_t protocol)
{
    const bool nvls = algorithm == &app__nvls;
    const bool nvls_tree = algorithm == &app__nvls_tree;
    if (question->algorithm != NULL) {
        return question->algorithm == algorithm &&
               (!(nvls || nvls_tree || algorithm == &app__pat) || protocol == APP__PROTOCOL_SIMPLE);
    }
    if (question->gpu == APP__GPU_MI300) {
        return rccl_considers(question, algorithm, protocol);
    }
    if (nvls || nvls_tree) {
        return protocol == APP__PROTOCOL_SIMPLE && question->nvls && question->per_node > 2 &&
               nvls == (question->nodes == 1) && question->kind == APP__COLL_ALL_REDUCE;
    }
    return algorithm != &app__pat ||
           (protocol == APP__PROTOCOL_SIMPLE && question->ranks == question->nodes);
}

app__coll_choice_t app__coll_choose(const app__coll_question_t *question,
                                    const app__program_t *program)
{
    static const app__protocol_t protocols[PROTOCOLS] = {APP__PROTOCOL_LL, APP__PROTOCOL_LL128,
                                                         APP__PROTOCOL_SIMPLE};
    app__coll_choice_t best = {NULL, APP__PROTOCOL_SIMPLE, 0};
    size_t count = 0;
    const latency_t *const latencies = latencies_of(question, &count);
    for (size_t a = 0; a < count; a++) {
        for (uint32_t p = 0; p < PROTOCOLS; p++) {
            const app__algorithm_t *const algorithm = latencies[a].algorithm;
            const bool other =
                question->protocol != APP__PROTOCOL_AUTO && question->protocol != protocols[p];
            if (other || algorithm->refuses(program) != NULL ||
                !considers(question, algorithm, protocols[p])) {
                continue;
            }
            const double us = latency_us(question, &latencies[a], p) +
                              (double)question->bytes / bandwidth(question, algorithm, p);
            if (best.algorithm == NULL || us < best.us) {
                best = (app__coll_choice_t){algorithm, protocols[p], us};
            }
        }
    }
    return best;
}
