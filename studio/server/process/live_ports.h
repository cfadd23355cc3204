// SPDX-License-Identifier: Apache-2.0
// studio/server/process/live_ports.h - the state of each port of a running run, from its file of
// progress.
#ifndef STUDIO_SERVER_PROCESS_LIVE_PORTS_H
#define STUDIO_SERVER_PROCESS_LIVE_PORTS_H

#include "kernel/base.h"

#include <jansson.h>

#define STUDIO_LIVE_TOP_MAX 64

// Returns {sim_ns, count, ports: [{port, queued_bytes, sent_bytes, drops, paused}]} of a text as
// cli/progress.h describes it: the ports listed in chosen (names separated by commas; NULL: none),
// then the `top` longest queues among the others. NULL: the text is incomplete.
json_t *studio_live_read(const char *text, const char *chosen, size_t top);
// Returns the list of all port names; NULL if the text is incomplete.
json_t *studio_live_names(const char *text);

#endif // STUDIO_SERVER_PROCESS_LIVE_PORTS_H
