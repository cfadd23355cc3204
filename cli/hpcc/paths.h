// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/paths.h - computes base RTT, bandwidth and BDP of pairs of hosts as HPCC's driver does.
//
// rtt = 2 x sum of delays + sum over the path's links of payload x 8 / rate, each term cut to whole
// nanoseconds. So a payload without headers is stored and forwarded one way, and the ACK takes no
// time. The path is the first shortest one. Hosts do not forward.
#ifndef CLI_HPCC_PATHS_H
#define CLI_HPCC_PATHS_H

#include "topologies/topology_file.h"

typedef struct cli_hpcc_paths cli_hpcc_paths_t;

// file must outlive it. Free with cli_hpcc_paths_destroy.
cli_hpcc_paths_t *cli_hpcc_paths_create(const topo_file_t *file, uint64_t payload_bytes);
void cli_hpcc_paths_destroy(cli_hpcc_paths_t *paths);

typedef struct cli_hpcc_pair {
    uint64_t rtt_ns;
    uint64_t rate_bps; // lowest rate of the path
} cli_hpcc_pair_t;

// Fills the pair's values. Returns false if there is no path. The cost is a search over all links,
// unless `to` is the same as in the call before.
bool cli_hpcc_pair(cli_hpcc_paths_t *paths, uint32_t from, uint32_t to, cli_hpcc_pair_t *pair);

// Returns rtt x rate in bytes.
uint64_t cli_hpcc_bdp_bytes(const cli_hpcc_pair_t *pair);

// Sets the largest RTT and BDP of all pairs of hosts. The cost is one search per host.
void cli_hpcc_paths_max(cli_hpcc_paths_t *paths, uint64_t *rtt_ns, uint64_t *bdp_bytes);

#endif // CLI_HPCC_PATHS_H
