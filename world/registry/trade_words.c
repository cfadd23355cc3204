// SPDX-License-Identifier: Apache-2.0
// world/registry/trade_words.c - words of the trade for what a scenario calls by another name.
//
// A row counts only where its name is possible, so `size` is `bytes` in traffic that has bytes, and
// a word may have several rows: the first possible one is meant.
#include "world/registry/trade_words.h"

#include <stdbool.h>
#include <string.h>

typedef struct trade_word {
    const char *words; // separated by spaces, in lower case, with '-'
    const char *name;
    const char *spelling; // NULL: the name
} trade_word_t;

static const trade_word_t rows[] = {
    // topologies
    {"clos folded-clos spine-leaf two-tier", "leaf-spine", NULL},
    {"three-tier", "fat-tree", NULL},
    {"rail rails rail-only", "rail-optimised", NULL},
    {"single-switch one-switch switch tor", "star", NULL},
    {"back-to-back point-to-point p2p direct cable", "pair", NULL},
    {"line linear chain", "parking-lot", NULL},
    {"ring mesh grid", "torus", NULL},
    {"full-mesh clique", "hyperx", NULL},
    {"planes dual-plane", "multi-plane", NULL},
    {"custom nodes edges", "graph", NULL},
    // traffic
    {"allreduce all-reduce nccl nccl-tests", "collective", "collective: {kind: all-reduce}"},
    {"allgather all-gather", "collective", "collective: {kind: all-gather}"},
    {"reducescatter reduce-scatter", "collective", "collective: {kind: reduce-scatter}"},
    {"broadcast bcast", "collective", "collective: {kind: broadcast}"},
    {"a2a", "all-to-all", NULL},
    {"write write-bw ib-write-bw", "perftest", "perftest: {test: ib_write_bw}"},
    {"read read-bw ib-read-bw", "perftest", "perftest: {test: ib_read_bw}"},
    {"send send-bw ib-send-bw", "perftest", "perftest: {test: ib_send_bw}"},
    {"write-lat ib-write-lat", "perftest", "perftest: {test: ib_write_lat}"},
    {"websearch web-search", "poisson", "poisson: {sizes: websearch}"},
    {"random uniform background", "poisson", NULL},
    {"cbr iperf iperf3 stream elephant elephants greedy", "bulk", NULL},
    {"flow", "flows", NULL},
    {"kv kv-cache kvcache", "kv-matrix", NULL},
    {"mooncake", "mooncake-trace", NULL},
    {"llm inference vllm", "serving", NULL},
    {"gpt megatron", "training", NULL},
    {"chakra aicb goal simai astra-sim", "workload", NULL},
    {"program command exec", "programs", NULL},
    // keys
    {"size msg-size message-size message-bytes flow-size length", "bytes", NULL},
    {"bytes msg-size message-size", "size", NULL},
    {"op operation type pattern collective action", "kind", NULL},
    {"algo", "algorithm", NULL},
    {"iters iterations loops", "repeat", NULL},
    {"world-size gpus workers", "ranks", NULL},
    {"cc cc-algo cca cc-mode congestion", "congestion-control", NULL},
    {"lb load-balance load-balancing", "load-balancer", NULL},
    {"rto retransmission-timeout", "timeout", NULL},
    {"retries", "retry-count", NULL},
    {"bandwidth bw speed capacity link-rate link-speed", "rate", NULL},
    {"bandwidth bw speed rate link-rate link-speed", "host-rate", NULL},
    {"host-speed nic-rate nic-speed server-rate server-speed edge-rate", "host-rate", NULL},
    {"spine-rate spine-speed uplink-rate uplink-speed leaf-rate core-rate", "fabric-rate", NULL},
    {"switch-rate trunk-rate oversubscription oversubscription-ratio", "fabric-rate", NULL},
    {"uplinks uplinks-per-leaf", "links-per-spine", NULL},
    {"latency prop-delay propagation-delay link-delay link-latency", "delay", NULL},
    {"num-hosts n-hosts nodes servers", "hosts", NULL},
    {"hosts num-servers num-hosts", "servers", NULL},
    {"leafs tors racks num-leaves num-racks", "leaves", NULL},
    {"num-spines", "spines", NULL},
    {"hosts servers nodes hosts-per-tor hosts-per-rack servers-per-leaf servers-per-rack",
     "hosts-per-leaf", NULL},
    {"source src sender client", "from", NULL},
    {"destination dest dst receiver target server", "to", NULL},
    {"from to source src destination dst", "list", "list: [host0 host1 1MB 0s]"},
    {"fan-in fanin degree", "senders", NULL},
    {"at time begin when start-time", "start", NULL},
    {"file", "trace", NULL},
    {"utilisation utilization", "load", NULL},
    {"cdf distribution flow-sizes", "sizes", NULL},
    {"duration end sim-time simulation-time stop-time", "until", NULL},
    {"duration end stop-time until", "stop", NULL},
    {"buffer-size shared-buffer memory", "buffer", NULL},
    {"k-min min-threshold", "kmin", NULL},
    {"k-max max-threshold", "kmax", NULL},
    {"p-max max-probability", "pmax", NULL},
    {"g gain ewma-gain", "dce-tcp-g", "dce-tcp-g: 1020, for g = 1/256"},
    {"rai r-ai rate-ai ai-rate", "rpg-ai-rate", NULL},
    {"rhai r-hai rate-hai hai-rate", "rpg-hai-rate", NULL},
    {"min-rate rmin", "rpg-min-rate", NULL},
    {"timer rp-timer increase-timer", "rpg-time-reset", NULL},
    {"byte-counter", "rpg-byte-reset", NULL},
    {"f fast-recovery-times", "rpg-threshold", NULL},
    {"alpha-timer alpha-resume-interval", "dce-tcp-rtt", NULL},
    {"rate-decrease-interval", "rate-reduce-monitor-period", NULL},
    {"min-time-between-cnps cnp-timer", "cnp-interval", NULL},
    {"target-util u-target utilisation utilization", "eta", NULL},
    {"w-ai wai", "window-ai", NULL},
    {"rai r-ai rate-ai", "ai-rate", NULL},
    {"xoff xoff-threshold", "threshold", NULL},
    {"xon xon-threshold", "xon-offset", NULL},
    {"pcap pcapng capture", "captures", NULL},
    {"snap snap-len snapshot-length truncate", "snaplen", NULL},
    {"failure failures link-failures", "faults", NULL},
    {"link switch node device host", "part", NULL},
    {"port interface node host nic at where", "ports", NULL},
    {"loss drop-rate drop packet-loss plr error-rate", "loss-rate", NULL},
    {"ber", "bit-error-rate", NULL},
};

static char alike(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    return c == '_' ? '-' : c;
}

static bool has_word(const char *words, const char *word)
{
    while (*words != '\0') {
        const size_t length = strcspn(words, " ");
        size_t same = 0;
        while (same < length && alike(word[same]) == words[same]) {
            same++;
        }
        if (same == length && word[same] == '\0') {
            return true;
        }
        words += length + (words[length] == ' ' ? 1 : 0);
    }
    return false;
}

const char *world_trade_word(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!has_word(rows[i].words, word)) {
            continue;
        }
        for (size_t n = 0; n < count; n++) {
            if (strcmp(names[n], rows[i].name) == 0) {
                return rows[i].spelling != NULL ? rows[i].spelling : names[n];
            }
        }
    }
    return NULL;
}
