// SPDX-License-Identifier: Apache-2.0
// cli/arena/cells.c - the table of the arena's cells, and their text.
//
// A cell simulates about a million packet-hops, so that the whole table runs in seconds. Cells with
// an end of their own stop at `until` only if a control starves flows.
#include "cli/arena/cells.h"

#include "kernel/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- parts of scenarios

#define NIC "nic: {mtu: 4096, congestion-control: dcqcn}\n"
#define LOSSLESS NIC "switch: {buffer: 32MB}\n"
// Networks without PFC repair their losses with selective retransmission. The buffer is small in
// racks, and large where round trips are long.
#define WITHOUT_PFC(buffer)                                         \
    "nic: {mtu: 4096, congestion-control: dcqcn, transport: irn}\n" \
    "switch: {buffer: " buffer ", pfc: {enabled: false}}\n"
#define LOSSY WITHOUT_PFC("4MB")
#define WIDE WITHOUT_PFC("64MB")
#define WIDEST WITHOUT_PFC("128MB")
#define STAR "topology: {star: {hosts: $(senders + 1), rate: $(rate), delay: $(delay)}}\n"
// 32 hosts on a fabric without oversubscription.
#define FABRIC                                                                              \
    "topology: {leaf-spine: {leaves: 4, spines: 8, hosts-per-leaf: 8, host-rate: $(rate), " \
    "fabric-rate: $(rate), delay: 1us}}\n"
#define LARGE_FABRIC                                                                         \
    "topology: {leaf-spine: {leaves: 9, spines: 8, hosts-per-leaf: 30, host-rate: $(rate), " \
    "fabric-rate: $(rate), delay: 1us}}\n"

#define FILL "observe:\n  - {series: \"switch[*].buffer_bytes\", every: 10us}\n"
// Flows without end also show their progress, and what still happens in the second half of the run.
#define PROGRESS                                                               \
    "observe:\n"                                                               \
    "  - {series: \"switch[*].buffer_bytes\", every: $(ceil(time / 200))us}\n" \
    "  - {series: \"nic[*].tx_data_bytes\", every: $(ceil(time / 200))us}\n"   \
    "  - {series: \"port[*->*].paused_ps\", every: $(ceil(time / 2))us}\n"     \
    "  - {series: \"port[*->*].discards\", every: $(ceil(time / 2))us}\n"      \
    "  - {series: \"qp[*->*].rate_bps\", every: $(ceil(time / 2))us}\n"        \
    "until: $(time)us\n"

#define POISSON(sizes)                                                     \
    FILL "until: 60ms\n"                                                   \
         "traffic:\n"                                                      \
         "  - poisson: {from: \"host[*]\", to: \"host[*]\", sizes: " sizes \
         ", load: $(load), stop: $(time)us}\n"

// Four flows without end to host0. Each begins a twentieth of the run after the one before.
#define JOINING                                                                         \
    PROGRESS                                                                            \
    "traffic:\n"                                                                        \
    "  - incast: {to: host0, from: host1, bytes: 100GB}\n"                              \
    "  - incast: {to: host0, from: host2, bytes: 100GB, start: $(ceil(time / 20))us}\n" \
    "  - incast: {to: host0, from: host3, bytes: 100GB, start: $(ceil(time / 10))us}\n" \
    "  - incast: {to: host0, from: host4, bytes: 100GB, start: $(ceil(time * 3 / 20))us}\n"

#define INCAST_256                                                                          \
    LARGE_FABRIC FILL "until: 60ms\n"                                                       \
                      "traffic:\n"                                                          \
                      "  - incast: {to: host0, from: \"host[30-*]\", senders: $(senders), " \
                      "bytes: $(bytes), every: 2ms, stop: 3ms}\n"

#define VICTIM                                                                        \
    FABRIC FILL "until: 60ms\n"                                                       \
                "traffic:\n"                                                          \
                "  - incast: {to: host0, from: \"host[9-31]\", senders: $(senders), " \
                "bytes: $(bytes), every: 1ms, stop: 3ms}\n"                           \
                "  - flows: {list: [host8 host1 30MB 0us, host8 host2 20KB 1050us, "  \
                "host16 host3 20KB 2050us, host24 host1 20KB 1100us]}\n"

#define ALL_TO_ALL              \
    FABRIC FILL "until: 60ms\n" \
                "traffic:\n"    \
                "  - all-to-all: {bytes: $(bytes)}\n"

#define PERMUTATION             \
    FABRIC FILL "until: 60ms\n" \
                "traffic:\n"    \
                "  - permutation: {bytes: $(bytes)}\n"

#define LOSSES(model)                                                                          \
    FABRIC FILL "until: 200ms\n"                                                               \
                "links: {\"leaf*--spine*\": {loss-rate: $(loss)e-6, loss-model: " model "}}\n" \
                "traffic:\n"                                                                   \
                "  - poisson: {sizes: websearch, load: $(load), stop: $(time)us}\n"

// Storage traffic and an incast among nine hosts.
#define RATE(nic)                                                                             \
    nic "switch: {buffer: 32MB}\n" STAR FILL "until: 60ms\n"                                  \
        "traffic:\n"                                                                          \
        "  - poisson: {sizes: alistorage, load: 0.4, stop: $(time)us}\n"                      \
        "  - incast: {to: host0, senders: $(senders), bytes: $(bytes), every: $(ceil(time / " \
        "4))us, "                                                                             \
        "stop: $(time)us}\n"

// -- parameters

#define RATE_100                     \
    {                                \
        "rate", 100, 50, 200, "Gbps" \
    }
#define RATE_OF(gbps)                    \
    {                                    \
        "rate", gbps, gbps, gbps, "Gbps" \
    }
#define DELAY                          \
    {                                  \
        "delay", 1000, 500, 2000, "ns" \
    }
#define LOAD(percent)                                  \
    {                                                  \
        "load", percent, percent - 8, percent + 8, "%" \
    }
#define SENDERS_8               \
    {                           \
        "senders", 8, 6, 14, "" \
    }
#define JOINING_CELL(cell, words, network, delay_us, low, high, time_us) \
    {                                                                    \
        cell, words, 15,                                                 \
            {{"senders", 4, 4, 4, ""},                                   \
             RATE_100,                                                   \
             {"delay", delay_us, low, high, "ns"},                       \
             {"time", time_us, time_us, time_us, ""}},                   \
            network STAR JOINING                                         \
    }
#define POISSON_CELL(cell, words, nic, sizes, percent, time_us)                                 \
    {                                                                                           \
        cell, words, 0,                                                                         \
            {RATE_100, LOAD(percent), {"time", time_us, time_us * 4 / 5, time_us * 6 / 5, ""}}, \
            nic FABRIC POISSON(sizes)                                                           \
    }
#define RATE_CELL(cell, words, gbps, nic, kilobytes, time_us)              \
    {                                                                      \
        cell, words, 0,                                                    \
            {RATE_OF(gbps),                                                \
             SENDERS_8,                                                    \
             DELAY,                                                        \
             {"bytes", kilobytes, kilobytes / 2, kilobytes * 3 / 2, "KB"}, \
             {"time", time_us, time_us, time_us, ""}},                     \
            RATE(nic)                                                      \
    }

// clang-format off
const cli_arena_cell_t cli_arena_cells[] = {
    {"incast-8", "eight senders, one receiver, four times", 0,
     {RATE_100, SENDERS_8, DELAY, {"bytes", 1000, 400, 1600, "KB"}},
     LOSSLESS STAR FILL
     "until: 60ms\n"
     "traffic:\n"
     "  - incast: {to: host0, senders: $(senders), bytes: $(bytes), every: 1500us, stop: 5ms}\n"},
    {"incast-256", "256 senders of other racks, one receiver, twice", 0,
     {RATE_100, {"senders", 240, 160, 240, ""}, {"bytes", 64, 32, 100, "KB"}},
     LOSSLESS INCAST_256},
    {"incast-256-lossy", "256 senders of other racks, one receiver, without PFC", 0,
     {RATE_100, {"senders", 240, 160, 240, ""}, {"bytes", 64, 32, 100, "KB"}},
     LOSSY INCAST_256},
    {"long-2", "one flow, then a second one", 10,
     {{"senders", 2, 2, 2, ""}, RATE_100, DELAY, {"time", 20000, 16000, 24000, ""}},
     LOSSLESS STAR PROGRESS
     "traffic:\n"
     "  - incast: {to: host0, from: host1, bytes: 100GB}\n"
     "  - incast: {to: host0, from: host2, bytes: 100GB, start: $(ceil(time / 10))us}\n"},
    {"long-8", "eight flows without end, four at once", 10,
     {{"senders", 8, 8, 8, ""}, RATE_100, DELAY, {"time", 20000, 16000, 24000, ""}},
     LOSSLESS STAR PROGRESS
     "traffic:\n"
     "  - incast: {to: host0, from: \"host[1-4]\", bytes: 100GB}\n"
     "  - incast: {to: host0, from: \"host[5-8]\", bytes: 100GB, start: $(ceil(time / 10))us}\n"},
    {"long-64", "64 flows without end", 1,
     {{"senders", 64, 40, 90, ""}, RATE_100, DELAY, {"time", 40000, 40000, 44000, ""}},
     LOSSLESS
     "topology: {dumbbell: {left: $(senders), right: 1, host-rate: $(rate), "
     "bottleneck-rate: $(rate), host-delay: $(delay), bottleneck-delay: $(delay)}}\n"
     PROGRESS
     "traffic:\n"
     "  - incast: {to: host$(senders), bytes: 100GB}\n"},
    {"parking-lot", "a flow over two bottlenecks, each shared with another flow", 13,
     {RATE_100, DELAY, {"time", 20000, 16000, 24000, ""}},
     LOSSLESS
     "topology:\n"
     "  graph:\n"
     "    nodes: [{switch: [s0, s1, s2]}, {host: [a, b, c, d, e, f]}]\n"
     "    links: [a--s0, b--s2, c--s0, d--s1, e--s1, f--s2, s0--s1, s1--s2]\n"
     "link: {rate: $(rate), delay: $(delay)}\n"
     PROGRESS
     "traffic:\n"
     "  - flows: {list: [a b 100GB 0us, c d 100GB 1ms, e f 100GB 2ms]}\n"},
    {"parking-lot-3", "two flows over three bottlenecks, each shared with two others", 13,
     {RATE_100, DELAY, {"time", 20000, 16000, 24000, ""}},
     LOSSLESS
     "topology:\n"
     "  graph:\n"
     "    nodes: [{switch: [s0, s1, s2, s3]}, {host: [a0, a1, b0, b1]}, "
     "{host: [c0, c1, d0, d1, e0, e1, f0, f1, g0, g1, h0, h1]}]\n"
     "    links: [a0--s0, a1--s0, b0--s3, b1--s3, c0--s0, c1--s0, d0--s1, d1--s1, e0--s1, "
     "e1--s1, f0--s2, f1--s2, g0--s2, g1--s2, h0--s3, h1--s3, s0--s1, s1--s2, s2--s3]\n"
     "link: {rate: $(rate), delay: $(delay)}\n"
     PROGRESS
     "traffic:\n"
     "  - flows: {list: [a0 b0 100GB 0us, a1 b1 100GB 0us, c0 d0 100GB 1ms, c1 d1 100GB 1ms, "
     "e0 f0 100GB 1ms, e1 f1 100GB 1ms, g0 h0 100GB 1ms, g1 h1 100GB 1ms]}\n"},
    JOINING_CELL("rtt-10us", "four flows that join, 10 us of round trip", LOSSLESS,
                 2500, 1500, 4000, 20000),
    JOINING_CELL("rtt-30us", "four flows that join, 30 us of round trip", LOSSLESS,
                 7500, 4500, 12000, 20000),
    JOINING_CELL("rtt-100us", "four flows that join, 100 us of round trip", LOSSLESS,
                 25000, 14000, 40000, 20000),
    JOINING_CELL("rtt-300us", "four flows that join, 300 us of round trip, without PFC", WIDE,
                 75000, 45000, 120000, 20000),
    JOINING_CELL("rtt-1ms", "four flows that join, 1 ms of round trip, without PFC", WIDE,
                 250000, 140000, 400000, 80000),
    {"rtt-10ms", "four flows that join, 10 ms of round trip, 25 Gbps, without PFC", 15,
     {{"senders", 4, 4, 4, ""}, RATE_OF(25), {"delay", 2500, 1500, 3000, "us"},
      {"time", 400000, 400000, 400000, ""}},
     WIDEST STAR JOINING},
    {"rtt-mixed", "flows of 8, 26 and 206 us of round trip share a port", 15,
     {{"senders", 4, 4, 4, ""}, RATE_100, {"delay", 1, 1, 2, "us"},
      {"far", 100, 60, 160, "us"}, {"time", 20000, 16000, 24000, ""}},
     LOSSLESS STAR
     "links: {host3--switch0: {delay: 10us}, host4--switch0: {delay: $(far)}}\n" JOINING},
    {"rtt-mixed-10ms", "flows of 4 us to 10 ms of round trip share a port, without PFC", 15,
     {{"senders", 4, 4, 4, ""}, RATE_OF(25), {"delay", 1, 1, 2, "us"},
      {"far", 5000, 3000, 6000, "us"}, {"time", 400000, 400000, 400000, ""}},
     WIDEST STAR
     "links: {host2--switch0: {delay: $(far)}, host3--switch0: {delay: 500us}}\n" JOINING},
    {"victim", "flows beside an incast that shares their way, not their receiver", 0,
     {RATE_100, {"senders", 20, 12, 22, ""}, {"bytes", 500, 300, 800, "KB"}}, LOSSLESS VICTIM},
    {"victim-lossy", "flows beside an incast that shares their way, without PFC", 0,
     {RATE_100, {"senders", 20, 12, 22, ""}, {"bytes", 500, 300, 800, "KB"}}, LOSSY VICTIM},
    POISSON_CELL("websearch-30", "web search, 32 hosts, load 30 %", LOSSLESS, "websearch", 30, 6000),
    POISSON_CELL("websearch-50", "web search, load 50 %", LOSSLESS, "websearch", 50, 5000),
    POISSON_CELL("websearch-80", "web search, load 80 %", LOSSLESS, "websearch", 80, 4000),
    POISSON_CELL("storage-30", "Alibaba's storage, 32 hosts, load 30 %", LOSSLESS,
                 "alistorage", 30, 3000),
    POISSON_CELL("storage-50", "Alibaba's storage, load 50 %", LOSSLESS, "alistorage", 50, 2000),
    POISSON_CELL("storage-80", "Alibaba's storage, load 80 %", LOSSLESS, "alistorage", 80, 1500),
    POISSON_CELL("hadoop-50", "Facebook's Hadoop, load 50 %", LOSSLESS, "fbhadoop", 50, 1500),
    POISSON_CELL("websearch-lossy", "web search, load 50 %, without PFC", LOSSY,
                 "websearch", 50, 5000),
    {"websearch-incast", "web search, load 30 %, and incasts of 24 to 1", 0,
     {RATE_100, LOAD(30), {"senders", 24, 16, 30, ""}, {"bytes", 200, 100, 300, "KB"},
      {"time", 3000, 2500, 3500, ""}},
     LOSSLESS FABRIC POISSON("websearch")
     "  - incast: {to: \"host[*]\", random-target: on, senders: $(senders), bytes: $(bytes), "
     "every: 500us, stop: $(time)us}\n"},
    {"permutation", "each of 32 hosts sends to one other", 0,
     {RATE_100, {"bytes", 5000, 3000, 7000, "KB"}}, LOSSLESS PERMUTATION},
    {"permutation-lossy", "each of 32 hosts sends to one other, without PFC", 0,
     {RATE_100, {"bytes", 5000, 3000, 7000, "KB"}}, LOSSY PERMUTATION},
    {"all-to-all", "each of 32 hosts sends to all others", 0,
     {RATE_100, {"bytes", 120, 80, 180, "KB"}}, LOSSLESS ALL_TO_ALL},
    {"all-to-all-lossy", "each of 32 hosts sends to all others, without PFC", 0,
     {RATE_100, {"bytes", 120, 80, 180, "KB"}}, LOSSY ALL_TO_ALL},
    {"loss-light", "links lose one frame of 10000", 0,
     {RATE_100, LOAD(30), {"loss", 100, 50, 200, ""}, {"time", 2000, 2000, 2000, ""}},
     LOSSY LOSSES("independent")},
    {"loss-heavy", "links lose one frame of 200", 0,
     {RATE_100, LOAD(30), {"loss", 5000, 3000, 10000, ""}, {"time", 2000, 2000, 2000, ""}},
     LOSSY LOSSES("independent")},
    {"loss-bursts", "links lose one frame of 1000, in bursts", 0,
     {RATE_100, LOAD(30), {"loss", 1000, 500, 2000, ""}, {"time", 2000, 2000, 2000, ""}},
     LOSSY LOSSES("bursts")},
    {"link-fails", "a fabric link fails, comes back, and fails again", 0,
     {RATE_100, {"bytes", 6000, 4000, 8000, "KB"}, {"fails", 200, 100, 300, "us"}},
     LOSSY
     FABRIC FILL
     "until: 60ms\n"
     "faults:\n"
     "  - {part: leaf0--spine0, at: $(fails), until: 600us, every: 700us, times: 3}\n"
     "traffic:\n"
     "  - permutation: {bytes: $(bytes)}\n"},
    {"link-degraded", "the receiver's link falls to a quarter, and recovers", 50,
     {{"senders", 4, 4, 4, ""}, {"rate", 100, 100, 200, "Gbps"}, DELAY,
      {"time", 20000, 20000, 20000, ""}},
     LOSSLESS STAR
     "faults:\n"
     "  - {part: host0--switch0, kind: degraded, rate: 25Gbps, at: 5ms, until: 10ms}\n" JOINING},
    {"training-storage", "all-reduces of 16 hosts beside storage traffic of the others", 0,
     {RATE_100, LOAD(50), {"bytes", 4000, 3000, 6000, "KB"}, {"time", 1500, 1500, 1500, ""}},
     LOSSLESS FABRIC FILL
     "until: 60ms\n"
     "traffic:\n"
     "  - collective: {kind: all-reduce, bytes: $(bytes), repeat: 3, "
     "hosts: \"host[0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30]\"}\n"
     "  - poisson: {from: \"host[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31]\", "
     "to: \"host[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31]\", sizes: alistorage, "
     "load: $(load), stop: $(time)us}\n"},
    RATE_CELL("rate-25", "storage and incasts at 25 Gbps", 25, "nic: {mtu: 1024}\n", 100, 8000),
    RATE_CELL("rate-50", "storage and incasts at 50 Gbps", 50, NIC, 200, 8000),
    RATE_CELL("rate-200", "storage and incasts at 200 Gbps", 200, NIC, 1000, 4000),
    RATE_CELL("rate-400", "storage and incasts at 400 Gbps", 400, NIC, 2000, 2000),
    RATE_CELL("rate-800", "storage and incasts at 800 Gbps", 800, NIC, 4000, 1500),
    {"fast-to-slow", "senders of 400 Gbps, receivers of 100 Gbps, storage and long flows", 0,
     {{"senders", 8, 6, 12, ""}, RATE_OF(400), DELAY, {"time", 2000, 2000, 2000, ""},
      {"bytes", 4000, 2000, 6000, "KB"}},
     LOSSLESS
     "topology: {dumbbell: {left: $(senders), right: $(senders), host-rate: $(rate), "
     "bottleneck-rate: 800Gbps, host-delay: $(delay)}}\n"
     "links: {\"host[$(senders)-*]--*\": {rate: 100Gbps}}\n" FILL
     "until: 60ms\n"
     "traffic:\n"
     "  - poisson: {from: \"host[0-$(senders - 1)]\", to: \"host[$(senders)-*]\", sizes: alistorage, load: 0.1, "
     "stop: $(time)us}\n"
     "  - flows: {list: [host0 host$(senders) $(bytes) 0us, host1 host$(senders) $(bytes) 100us, "
     "host2 host$(senders + 1) $(bytes) 0us]}\n"},
};
const size_t cli_arena_cell_count = SIM_COUNT_OF(cli_arena_cells);

// At 100 Gbit/s. The sources are in docs/arena.md.
static const cli_arena_published_t published[] = {
    {"dctcp", {"switch.ecn.kmin=300KB", "switch.ecn.kmax=300KB", "switch.ecn.pmax=1"}},
    {"timely", {"nic.timely.update=rtt", "nic.timely.start=line", "nic.timely.burst=false",
                "nic.timely.exclude-serialisation=false", "nic.timely.ai-rate=100Mbps",
                "nic.timely.hai-rate=500Mbps"}},
    {"timely-patched", {"nic.timely-patched.ai-rate=100Mbps", "nic.timely-patched.burst=false"}},
};
// clang-format on

// -- look-up and text

const cli_arena_cell_t *cli_arena_cell_find(const char *name)
{
    for (size_t i = 0; i < cli_arena_cell_count; i++) {
        if (strcmp(cli_arena_cells[i].name, name) == 0) {
            return &cli_arena_cells[i];
        }
    }
    return NULL;
}

const cli_arena_published_t *cli_arena_published(const char *control)
{
    for (size_t i = 0; i < SIM_COUNT_OF(published); i++) {
        if (strcmp(published[i].control, control) == 0) {
            return &published[i];
        }
    }
    return NULL;
}

unsigned cli_arena_parameter_value(const cli_arena_cell_t *cell, size_t index,
                                   const uint64_t *hidden)
{
    static const unsigned rates[] = {25, 40, 50, 100, 200, 400, 800};
    const cli_arena_parameter_t *const parameter = &cell->parameters[index];
    if (hidden == NULL || parameter->low == parameter->high) {
        return parameter->value;
    }
    sim_random_t random;
    sim_random_init(&random, *hidden, index, cell->name);
    if (strcmp(parameter->unit, "Gbps") != 0) {
        return parameter->low +
               (unsigned)sim_random_below(&random, parameter->high - parameter->low + 1);
    }
    unsigned inside[SIM_COUNT_OF(rates)];
    size_t count = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(rates); i++) {
        if (rates[i] >= parameter->low && rates[i] <= parameter->high) {
            inside[count++] = rates[i];
        }
    }
    SIM_CHECK(count > 0);
    return inside[sim_random_below(&random, count)];
}

char *cli_arena_cell_text(const cli_arena_cell_t *cell, const uint64_t *hidden)
{
    char *buffer = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&buffer, &length);
    SIM_CHECK(out != NULL);
    fprintf(out, "# A cell of `rocesim arena`.\nname: %s\ndescription: \"%s\"\nparameters:\n",
            cell->name, cell->about);
    for (size_t i = 0; cell->parameters[i].name != NULL; i++) {
        fprintf(out, "  %s: {default: %u%s}\n", cell->parameters[i].name,
                cli_arena_parameter_value(cell, i, hidden), cell->parameters[i].unit);
    }
    fputs(cell->body, out);
    (void)fclose(out);
    char *const text = sim_strdup(buffer);
    free(buffer);
    return text;
}
