// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/outputs.h - the output files of `rocesim hpcc`: created before the run, closed after it.
#ifndef CLI_HPCC_OUTPUTS_H
#define CLI_HPCC_OUTPUTS_H

#include "cli/hpcc/hpcc.h"

// Returns a node's number in the topology file: the digits at the end of its name, or its index if
// the name has none.
uint32_t cli_hpcc_node_number(const net_node_t *node);
// Returns the address that the simulator gives a node: 11.(number / 256).(number % 256).1
uint32_t cli_hpcc_address(uint32_t number);
typedef struct cli_hpcc_outputs cli_hpcc_outputs_t;
SIM_MUST_CHECK sim_err_t cli_hpcc_outputs_open(cli_hpcc_t *hpcc, world_t *world, const char *folder,
                                               cli_hpcc_outputs_t **outputs, world_error_t *error);
SIM_MUST_CHECK sim_err_t cli_hpcc_outputs_close(cli_hpcc_outputs_t *outputs, world_error_t *error);

#endif // CLI_HPCC_OUTPUTS_H
