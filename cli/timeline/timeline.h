// SPDX-License-Identifier: Apache-2.0
// cli/timeline/timeline.h - `rocesim timeline`: draws what the ranks of a run did over time.
#ifndef CLI_TIMELINE_TIMELINE_H
#define CLI_TIMELINE_TIMELINE_H

#include "cli/args.h"

int cli_command_timeline(const cli_args_t *args);

#endif // CLI_TIMELINE_TIMELINE_H
