// SPDX-License-Identifier: Apache-2.0
// results/tables/capture_names.h - the names behind the addresses of captures, for Wireshark and
// tshark.
#ifndef RESULTS_TABLES_CAPTURE_NAMES_H
#define RESULTS_TABLES_CAPTURE_NAMES_H

#include "world/world.h"

SIM_C_BEGIN

// Writes FOLDER/hosts (IP address and name of each interface, as in hosts(5)) and FOLDER/ethers
// (MAC address and name of each port, as in ethers(5)).
SIM_MUST_CHECK sim_err_t results_write_names(const world_t *world, const char *folder,
                                             world_error_t *error);

SIM_C_END

#endif // RESULTS_TABLES_CAPTURE_NAMES_H
