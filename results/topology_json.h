// SPDX-License-Identifier: Apache-2.0
// results/topology_json.h - topology.json of a result folder.
#ifndef RESULTS_TOPOLOGY_JSON_H
#define RESULTS_TOPOLOGY_JSON_H

#include "results/file.h"
#include "results/results.h"

SIM_C_BEGIN

// Writes the nodes with their ports, the interfaces, and the links between nodes, by the names that
// the other files use.
void results_put_topology(results_file_t *file, const world_t *world);

SIM_C_END

#endif // RESULTS_TOPOLOGY_JSON_H
