// SPDX-License-Identifier: Apache-2.0
// cli/workload/requests.h - `rocesim check FILE` on traces of requests to language models.
#ifndef CLI_WORKLOAD_REQUESTS_H
#define CLI_WORKLOAD_REQUESTS_H

#include "kernel/base.h"

// Returns whether a text is a trace of requests by its first line.
bool cli_requests_is(const char *text, size_t size_bytes);
// Describes one. Returns the exit status.
int cli_requests_check(const char *name, const char *text, size_t size_bytes, bool json);

#endif // CLI_WORKLOAD_REQUESTS_H
