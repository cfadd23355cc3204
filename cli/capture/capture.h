// SPDX-License-Identifier: Apache-2.0
// cli/capture/capture.h - the command `rocesim capture`: works on capture files.
#ifndef CLI_CAPTURE_CAPTURE_H
#define CLI_CAPTURE_CAPTURE_H

#include "cli/args.h"
#include "pcap-out/read.h"

// Runs the action args->operands[0] on the files behind it. Returns the exit status.
int cli_command_capture(const cli_args_t *args);

// Prints each hop of a packet that a file of `captures.fabric` holds: `packet` is "HOST QP NUMBER
// PSN NUMBER". Fails with SIM_ERR_INVALID if it is not in the file.
SIM_MUST_CHECK sim_err_t cli_capture_follow(const char *path, const char *packet, bool json,
                                            world_error_t *error);

#endif // CLI_CAPTURE_CAPTURE_H
