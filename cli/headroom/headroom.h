// SPDX-License-Identifier: Apache-2.0
// cli/headroom/headroom.h - `rocesim headroom`: measures the buffers that lossless classes need.
//
// bounds.c has closed forms, probe.c simulates the worst case of one port, command.c finds the
// kinds of ports of a scenario, and prints and writes what they need. docs/headroom.md
#ifndef CLI_HEADROOM_HEADROOM_H
#define CLI_HEADROOM_HEADROOM_H

#include "cli/args.h"

int cli_command_headroom(const cli_args_t *args);

#endif // CLI_HEADROOM_HEADROOM_H
