// SPDX-License-Identifier: Apache-2.0
// cli/capture_names.h - the names behind the addresses of captures, for Wireshark and tshark.
#ifndef CLI_CAPTURE_NAMES_H
#define CLI_CAPTURE_NAMES_H

#include "cli/world.h"

// Writes FOLDER/hosts (IP address and name of each interface, as in hosts(5)) and FOLDER/ethers
// (MAC address and name of each port, as in ethers(5)).
SIM_MUST_CHECK sim_err_t cli_write_names(const cli_world_t *world,
                                         const char *folder,
                                         cli_error_t *error);

#endif // CLI_CAPTURE_NAMES_H
