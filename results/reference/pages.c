// SPDX-License-Identifier: Apache-2.0
// results/reference/pages.c - the pages, one row each.
#include "results/reference/pages.h"

// Time that communication adds to an iteration, by the parallelism that it is for.
#define EXPOSED(prefix)                                  \
    {prefix "tp", "waits for tensor parallelism"},       \
        {prefix "pp", "waits for pipeline parallelism"}, \
        {prefix "dp", "waits for data parallelism"},     \
        {prefix "ep", "waits for expert parallelism"},   \
        {prefix "cp", "waits for context parallelism"},  \
    {                                                    \
        prefix "other", "other waits"                    \
    }

// clang-format off
#define COLLECTIVES                                                                       \
    {.kind = "lines", .title = "Bus bandwidth over size", .rows = "collectives",          \
     .help = "The bus bandwidth is that of nccl-tests. The bound is what the slowest part of the network allows.", \
     .x = "bytes", .x_label = "size of the collective", .by = "kind", .log = "x",         \
     .values = {{"busbw_gbytes_per_s", "bus bandwidth"}, {"bound_gbytes_per_s", "bound"}}}, \
    {.kind = "table", .title = "Collectives, as nccl-tests prints them", .rows = "collectives", \
     .values = {{"kind", "collective"}, {"name", "for"}, {"bytes", "size"}, {"ranks", "ranks"}, \
                {"count", "calls"}, {"mean_us", "mean time"}, {"p99_us", "time, p99"},     \
                {"busbw_gbytes_per_s", "bus bandwidth"}, {"bound_us", "bound of the time"}, \
                {"bound_by", "bound by"}, {"algorithm", "algorithm"}, {"protocol", "protocol"}}}

#define TRACKS                                                                            \
    {.kind = "tracks", .title = "Operations of each rank over time", .rows = "operations", \
     .help = "Each row is a rank and a stream. Colours say what an operation is for.",    \
     .record = "outputs.operations-max=20000"}

#define MOONCAKE_TRANSFERS                                                                \
    {.kind = "cdf", .title = "Transfers", .log = "x", .x_label = "time", .values = {{"transfer_cdf", "transfer"}}}, \
    {.kind = "lines", .title = "Throughput over time", .rows = "bandwidth", .x = "time_us", .x_label = "simulated time", \
     .values = {{"gbytes_per_s", "throughput"}}},                                         \
    {.kind = "bars", .title = "Bytes by NIC", .rows = "nics", .x = "nic", .x_label = "NIC", .by = "engine", .values = {{"bytes", "bytes"}}}, \
    {.kind = "table", .title = "Threads and parts of hosts, by engine", .rows = "parts",  \
     .values = {{"engine", "engine"}, {"part", "part"}, {"bytes", "bytes"}, {"gbytes_per_s", "rate while busy"}, {"busy_percent", "busy"}}}

const results_page_t results_pages[] = {
    {
        .name = "training", .title = "Training", .of = "apps", .kinds = "training|workload", .needs = "iteration_ms", .first = true,
        .facts = {{"iteration_ms", "time of an iteration"}, {"compute_ms", "computation, mean of the ranks"},
                  {"bytes_sent", "payload of all messages"},
                  {"slowest_rank.rank", "rank that exceeds its peers most"}, {"slowest_rank.calc_ms", "its computations"},
                  {"slowest_rank.peers_ms", "computations of its peers"}, {"messages_failed", "failed messages"}},
        .charts = {
            {.kind = "parts", .title = "What an iteration consists of",
             .help = "The mean over all ranks: computation, and waits for communication that nothing hides.",
             .values = {{"compute_ms", "computation"}, EXPOSED("exposed_ms.")}},
            {.kind = "stack", .title = "An iteration of each rank", .rows = "by_rank", .x = "rank", .x_label = "rank",
             .values = {{"compute", "computation"}, EXPOSED("")}},
            {.kind = "parts", .title = "Critical path of the run",
             .help = "The chain of operations that decides when the run ends, by what they are.",
             .values = {{"critical_ms.compute", "computation"}, EXPOSED("critical_ms.")}},
            {.kind = "bars", .title = "Bytes by parallelism",
             .values = {{"bytes.tp", "tensor"}, {"bytes.pp", "pipeline"}, {"bytes.dp", "data"}, {"bytes.ep", "expert"},
                        {"bytes.cp", "context"}, {"bytes.other", "other"}}},
            COLLECTIVES, TRACKS,
        },
    },
    {
        .name = "workload", .title = "Workload", .of = "apps", .kinds = "training|workload", .first = true,
        .facts = {{"finish_us.max", "time until the last rank finished"}, {"finish_us.mean", "mean time until a rank finished"},
                  {"ranks", "ranks"}, {"ranks_finished", "ranks that finished"}, {"messages", "messages"},
                  {"bytes_sent", "payload of all messages"}, {"busy", "share of the time in which processors worked"}},
        .charts = {COLLECTIVES, TRACKS},
    },
    {
        .name = "collective", .title = "Collective", .of = "apps", .kinds = "collective", .first = true,
        .facts = {{"collectives[0].mean_us", "mean time of a call"}, {"collectives[0].busbw_gbytes_per_s", "bus bandwidth"},
                  {"collectives[0].bound_us", "bound of the time"}, {"collectives[0].bound_by", "bound by"},
                  {"collectives[0].algorithm", "algorithm"}, {"collectives[0].protocol", "protocol"}, {"ranks", "ranks"},
                  {"bytes_sent", "payload of all messages"}},
        .charts = {COLLECTIVES, TRACKS},
    },
    {
        .name = "serving", .title = "Serving", .of = "apps", .kinds = "serving", .first = true,
        .facts = {{"ttft_ms.p50", "time to first token, median"}, {"ttft_ms.p99", "time to first token, p99"},
                  {"tpot_ms.p50", "time per output token, median"}, {"tpot_ms.p99", "time per output token, p99"},
                  {"goodput_rps", "requests per second within both goals"}, {"good_share", "share of requests within both goals"},
                  {"tokens_per_s", "output tokens per second"}, {"network_share", "share of the time that waits for the network"},
                  {"kv_hit_rate", "share of prompts found in caches"}, {"failed", "failed requests"}, {"refused", "refused requests"}},
        .charts = {
            {.kind = "parts", .title = "Stages of a request", .help = "Mean times. They add up to the time of a request.",
             .values = {{"stages.routing_ms", "to the prefill node"}, {"stages.fetch_ms", "wait for earlier KV data"},
                        {"stages.prefill_queue_ms", "wait for prefill"}, {"stages.prefill_ms", "prefill"},
                        {"stages.memory_wait_ms", "wait for memory"}, {"stages.kv_ms", "KV transfer"},
                        {"stages.decode_queue_ms", "wait for decoding"}, {"stages.decode_ms", "decoding"}}},
            {.kind = "cdf", .title = "Time to first token and time per output token", .log = "x", .x_label = "time",
             .values = {{"ttft_cdf", "time to first token"}, {"tpot_cdf", "time per output token"}}},
            {.kind = "lines", .title = "Requests per second within a goal", .rows = "goals", .x = "factor",
             .x_label = "goals, as a multiple of ttft-goal and tpot-goal", .log = "x",
             .help = "Requests count if both times are within the goals.",
             .values = {{"goodput_rps", "within both goals"}, {"ttft_rps", "within the goal for the first token"},
                        {"tpot_rps", "within the goal for further tokens"}}},
            {.kind = "cdf", .title = "Transfers of KV data", .log = "x", .x_label = "time", .values = {{"kv_cdf", "KV transfer"}}},
            {.kind = "stack", .title = "Bytes of KV data by node", .rows = "nodes", .x = "node", .x_label = "node",
             .values = {{"sent_bytes", "sent"}, {"received_bytes", "received"}}},
            {.kind = "table", .title = "Nodes", .rows = "nodes",
             .values = {{"node", "node"}, {"role", "role"}, {"steps", "steps"}, {"batch_mean", "requests in a step"},
                        {"busy_percent", "busy"}, {"memory_percent", "KV memory used"}, {"sent_bytes", "sent"},
                        {"received_bytes", "received"}, {"preemptions", "preemptions"}}},
        },
    },
    {
        .name = "kv-matrix", .title = "KV transfers", .of = "apps", .kinds = "kv-matrix", .first = true,
        .facts = {{"duration_ms", "time of all patterns"}, {"slowdown_mean", "mean slowdown by other transfers"},
                  {"slowdown_max", "largest slowdown"}, {"agent_tx_bytes", "bytes of all transfers"}, {"ranks", "ranks"},
                  {"messages_failed", "failed messages"}},
        .charts = {
            {.kind = "bars", .title = "Time of each pattern", .rows = "patterns", .x = "pattern", .x_label = "pattern",
             .values = {{"latency_ms", "time"}, {"isolated_latency_ms", "time alone in the network"}, {"bound_ms", "bound of the slowest link"}}},
            {.kind = "bars", .title = "Bandwidth of a sender", .rows = "patterns", .x = "pattern", .x_label = "pattern",
             .values = {{"mean_bw_gbytes_per_s", "mean bandwidth"}}},
            {.kind = "table", .title = "Patterns", .rows = "patterns",
             .values = {{"pattern", "pattern"}, {"size_gbytes", "size"}, {"num_senders", "senders"}, {"latency_ms", "time"},
                        {"isolated_latency_ms", "time alone"}, {"bound_ms", "bound"}, {"mean_bw_gbytes_per_s", "bandwidth"},
                        {"bottleneck", "bottleneck"}}},
        },
    },
    {
        .name = "mooncake", .title = "Mooncake", .of = "apps", .kinds = "mooncake-trace", .first = true,
        .facts = {{"gbytes_per_s", "throughput"}, {"requests", "requests"}, {"ttft_ms.p50", "time to first token, median"},
                  {"ttft_ms.p99", "time to first token, p99"}, {"transfer_ms.p50", "transfer, median"},
                  {"transfer_ms.p99", "transfer, p99"}, {"token_hit_rate", "share of tokens found in caches"},
                  {"block_hit_rate", "share of blocks found in caches"}, {"failed", "failed requests"},
                  {"retried", "retried slices"}},
        .charts = {
            {.kind = "parts", .title = "Stages of a prompt", .help = "Mean time of each stage.",
             .values = {{"wait_ms", "wait"}, {"compute_ms", "prefill"}, {"send_ms", "transfer"}, {"decode_ms", "decoding"}}},
            {.kind = "cdf", .title = "Time to first token", .log = "x", .x_label = "time", .values = {{"ttft_cdf", "time to first token"}}},
            MOONCAKE_TRANSFERS,
        },
    },
    {
        .name = "mooncake-bench", .title = "Mooncake", .of = "apps", .kinds = "mooncake-bench", .first = true,
        .facts = {{"gbytes_per_s", "throughput"}, {"requests", "requests"}, {"transfer_ms.p50", "transfer, median"},
                  {"transfer_ms.p99", "transfer, p99"}, {"recovery_ms", "longest time without arrivals"},
                  {"failed", "failed requests"}, {"retried", "retried slices"}},
        .charts = {MOONCAKE_TRANSFERS},
    },
    {
        .name = "accelerators", .title = "Accelerators", .of = "apps", .kinds = "accelerators", .first = true,
        .facts = {{"gbytes_per_s", "throughput of all accelerators"}, {"time_us", "time until the last message arrived"},
                  {"latency_us.p50", "latency, median"}, {"latency_us.p99", "latency, p99"}, {"latency_us.max", "latency, maximum"},
                  {"messages", "messages"}, {"bytes", "payload of all messages"}, {"accelerators", "accelerators"}},
        .charts = {
            {.kind = "stack", .title = "Bytes of each accelerator", .rows = "shares", .x = "accelerator", .x_label = "accelerator", .by = "host",
             .values = {{"sent_bytes", "sent"}, {"received_bytes", "received"}}},
            {.kind = "cdf", .title = "Latency of a message", .log = "x", .x_label = "time", .values = {{"latency_cdf", "latency"}}},
            {.kind = "bars", .title = "Bytes by link", .rows = "ports.csv", .x = "port",
             .help = "The ports that sent most.", .values = {{"tx_bytes", "bytes sent"}}},
            {.kind = "bars", .title = "Stops of links for lack of credits", .rows = "ports.csv", .x = "port",
             .values = {{"credit_waits", "waits"}}},
        },
    },
    {
        .name = "cache", .title = "Cache", .of = "nics", .needs = "cache", .first = true,
        .facts = {{"accesses", "accesses of queue pairs"}, {"l1_hit_rate", "share of accesses that hit L1"}, {"l2_hit_rate", "share of the L1 misses that hit L2"},
                  {"belady_hit_rate", "hit rate that the best L1 policy could reach"}, {"dma_bytes", "bytes over PCIe (DMA)"}, {"cxl_bytes", "bytes over CXL"},
                  {"migrations.*", "moves between tiers"}, {"promote_l2", "threshold for L2, at the end"}, {"promote_l1", "threshold for L1, at the end"}},
        .charts = {
            {.kind = "shares", .title = "Where lookups found the entry", .rows = "types", .x = "type",
             .values = {{"l1_hits", "L1 (SRAM on the NIC)"}, {"l2_hits", "L2 (CXL memory)"}, {"expands", "L3 (host memory, by the driver)"}}},
            {.kind = "bars", .title = "Share of the time that links and the driver were busy",
             .help = "Above 90 %, requests wait for a link or for the driver's core. Without moves to L1 or L2, the thresholds of promotion may be too high.",
             .values = {{"dma_utilisation", "PCIe (DMA)"}, {"cxl_utilisation", "CXL"}, {"driver_utilisation", "driver's core"}}},
            {.kind = "times", .title = "What each way took",
             .values = {{"access_ns", "any access"}, {"l1_ns", "L1 (SRAM on the NIC)"}, {"l2_ns", "L2 (CXL memory)"}, {"expand_ns", "L3 (host memory, by the driver)"},
                        {"driver.urgent.wait_ns", "wait for the driver, urgent requests"}, {"driver.background.wait_ns", "wait for the driver, background requests"},
                        {"migration_ns", "move of an entry between tiers"}, {"met_ns", "access that met a move"}}},
        },
    },
    {
        .name = "herd", .title = "HERD", .of = "apps", .kinds = "herd", .first = true,
        .facts = {{"mops", "throughput"}, {"latency_us.p50", "latency, median"}, {"latency_us.p99", "latency, p99"},
                  {"get_hit_rate", "share of GETs that found their key"}, {"batch_mean", "requests per turn of a core"},
                  {"cores_busy", "mean number of busy cores"}, {"pcie_bytes_per_operation", "PCIe bytes per operation"},
                  {"lost", "lost requests"}, {"failed", "failed requests"}},
        .charts = {
            {.kind = "bars", .title = "Throughput of each core", .rows = "workers", .x = "#", .x_label = "core", .values = {{"mops", "throughput"}}},
            {.kind = "bars", .title = "Requests per turn of a core", .rows = "batches", .x = "requests", .x_label = "requests in a turn", .values = {{"turns", "turns"}}},
            {.kind = "cdf", .title = "Latency", .log = "x", .x_label = "time", .values = {{"latency_cdf", "latency"}}},
            {.kind = "lines", .title = "Throughput over time", .rows = "series", .x = "start_us", .x_label = "simulated time", .values = {{"mops", "throughput"}}},
            {.kind = "lines", .title = "Latency over time", .rows = "series", .x = "start_us", .x_label = "simulated time",
             .values = {{"latency_us_mean", "mean"}, {"latency_us_max", "maximum"}}},
        },
    },
    {
        .name = "perftest", .title = "Perftest", .of = "apps", .kinds = "perftest", .first = true,
        .facts = {{"bw_average", "mean bandwidth"}, {"bw_peak", "peak bandwidth"}, {"message_rate", "message rate"},
                  {"t_typical", "typical latency"}, {"t_p99", "latency, p99"}, {"bw_average_max", "largest mean bandwidth"},
                  {"t_typical_min", "smallest typical latency"}, {"iterations", "iterations"}},
        .charts = {
            {.kind = "lines", .title = "Bandwidth over size", .rows = "sizes", .x = "bytes", .x_label = "size of a message", .log = "x",
             .values = {{"bw_average", "mean bandwidth"}, {"bw_peak", "peak bandwidth"}}},
            {.kind = "lines", .title = "Latency over size", .rows = "sizes", .x = "bytes", .x_label = "size of a message", .log = "xy",
             .values = {{"t_typical", "typical"}, {"t_p99", "p99"}}},
        },
    },
    {
        .name = "rates", .title = "Rates", .of = "apps", .kinds = "all-to-all-reads|verbs-rate|sequencer|drtm-kv|contexts", .first = true,
        .facts = {{"mops", "throughput"}, {"mops_per_machine", "throughput of a machine"}, {"mops_received", "messages that receivers took"},
                  {"latency_us.p50", "latency, median"}, {"latency_us.p99", "latency, p99"}, {"responses_per_batch", "responses per batch"},
                  {"gets_mops", "GETs"}, {"puts_mops", "PUTs"}, {"lost", "lost requests"}, {"failed", "failed operations"}},
    },
    {
        .name = "bulk", .title = "Transport", .of = "apps", .kinds = "bulk", .first = true,
        .facts = {{"goodput_gbps", "goodput in the steady state"}, {"whole_gbps", "goodput from start to end"}, {"rtt_us", "round trip"}, {"transport.retransmitted", "retransmitted packets"},
                  {"transport.repaired", "lost packets that were recovered"}, {"transport.repair_us_mean", "mean time to recover a packet"},
                  {"transport.nodes_mean", "mean number of bitmaps"}, {"transport.nic_bytes_per_qp_max", "NIC memory of a queue pair, maximum"},
                  {"transport.host_bytes_max", "host memory, maximum"}},
        .charts = {
            {.kind = "bars", .title = "Retransmitted packets by round", .rows = "transport.by_round", .x = "#", .x_label = "round", .values = {{"", "packets"}}},
        },
    },
    {
        .name = "transport", .title = "UEC and MRC", .of = "summary", .needs = "transport", .first = true,
        .facts = {{"transport.retransmitted", "packets sent again"}, {"trimmed", "packets that switches trimmed"},
                  {"transport.lost", "packets that were lost"}, {"transport.sacks", "selective acknowledgements"},
                  {"transport.nacks", "negative acknowledgements"}, {"transport.probes", "probes"},
                  {"transport.credits", "credits"}, {"ecn_marked", "packets marked with ECN"},
                  {"flows.slowdown.p99", "slowdown, p99"}, {"link_imbalance", "imbalance of equal ports"}},
        .charts = {
            {.kind = "bars", .title = "Packets by what became of them",
             .values = {{"trimmed", "trimmed"}, {"transport.nacks", "reported missing"}, {"transport.retransmitted", "sent again"},
                        {"transport.lost", "lost"}, {"packets.dropped", "dropped"}}},
            {.kind = "bars", .title = "Packets sent again, by NIC", .rows = "nics", .x = "name", .x_label = "NIC",
             .values = {{"transports.*.retransmitted", "sent again"}, {"transports.*.trimmed", "arrived trimmed"}}},
            {.kind = "bars", .title = "Longest queues", .rows = "hottest_ports", .x = "port", .values = {{"queue_bytes_max", "longest queue"}}},
        },
    },
    {
        .name = "balance", .title = "Paths", .of = "summary", .needs = "paths_equal", .first = false,
        .facts = {{"paths_equal", "ports with others of equal cost"}, {"paths_used", "ports of these that sent"},
                  {"link_imbalance", "imbalance of equal ports"}, {"reordering.packets", "packets out of order"},
                  {"reordering.ratio", "share of packets out of order"}, {"reordering.extent_max", "largest extent of a reordering"}},
        .charts = {
            {.kind = "bars", .title = "Bytes by path", .rows = "ports.csv", .x = "port",
             .help = "The ports that sent most.", .values = {{"tx_bytes", "bytes sent"}}},
            {.kind = "bars", .title = "Use of the ports with the longest queues", .rows = "hottest_ports", .x = "port", .values = {{"utilisation", "utilisation"}}},
        },
    },
};
// clang-format on

const size_t results_page_count = SIM_COUNT_OF(results_pages);
