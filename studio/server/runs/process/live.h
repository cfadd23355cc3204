// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/process/live.h - what each port of a run that runs does, from the file of its
// progress.
#ifndef STUDIO_SERVER_RUNS_PROCESS_LIVE_H
#define STUDIO_SERVER_RUNS_PROCESS_LIVE_H

#include "kernel/base.h"

#include <jansson.h>

#define STUDIO_LIVE_TOP_MAX 64

// {sim_ns, count, ports: [{port, queued_bytes, sent_bytes, drops, paused}]} of text as
// cli/progress.h describes it: the ports of the list `chosen` (names by commas; NULL: none), then
// the `top` with the longest queues that are not among them. NULL: the text is not whole.
json_t *studio_live_read(const char *text, const char *chosen, size_t top);
// The names of all ports: a list; NULL as above.
json_t *studio_live_names(const char *text);

#endif // STUDIO_SERVER_RUNS_PROCESS_LIVE_H
