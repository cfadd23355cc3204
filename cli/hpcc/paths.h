// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/paths.h - base RTT, bandwidth and BDP of pairs of hosts as HPCC's driver computes
// them.
//
// rtt = 2 x sum of delays + sum over the links of the path of payload x 8 / rate, each cut to whole
// nanoseconds: one way of store and forward of a payload without headers, and no time for the ACK.
// The path is the first shortest one, hosts do not forward. Whole nanoseconds everywhere.
#ifndef CLI_HPCC_PATHS_H
#define CLI_HPCC_PATHS_H

#include "topologies/topology_file.h"

typedef struct cli_hpcc_paths cli_hpcc_paths_t;

// file must outlive it. Free with cli_hpcc_paths_destroy.
cli_hpcc_paths_t *cli_hpcc_paths_create(const topo_file_t *file, uint64_t payload_bytes);
void cli_hpcc_paths_destroy(cli_hpcc_paths_t *paths);

typedef struct cli_hpcc_pair {
    uint64_t rtt_ns;
    uint64_t rate_bps; // least of the path
} cli_hpcc_pair_t;

// Cost: a search over all links, unless `to` is that of the call before. False: there is no path.
bool cli_hpcc_pair(cli_hpcc_paths_t *paths, uint32_t from, uint32_t to, cli_hpcc_pair_t *pair);

// rtt x rate in bytes.
uint64_t cli_hpcc_bdp_bytes(const cli_hpcc_pair_t *pair);

// The largest of all pairs of hosts: a search for every host.
void cli_hpcc_paths_max(cli_hpcc_paths_t *paths, uint64_t *rtt_ns, uint64_t *bdp_bytes);

#endif // CLI_HPCC_PATHS_H
