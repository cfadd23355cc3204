// SPDX-License-Identifier: Apache-2.0
// cli/workload/peers.h - `rocesim check FILE` on files of other programs that are no workloads.
#ifndef CLI_WORKLOAD_PEERS_H
#define CLI_WORKLOAD_PEERS_H

#include "kernel/base.h"

// Returns what a file is, as the object of a sentence, and how it is used; NULL: unknown.
const char *cli_peer_of(const char *text, size_t size_bytes);

// Returns whether a text is a topology of a server in NCCL's XML, or its graph of channels.
bool cli_nccl_is(const char *text, size_t size_bytes);
// Counts its elements. Returns the exit status.
int cli_nccl_check(const char *name, const char *text, size_t size_bytes, bool json);

#endif // CLI_WORKLOAD_PEERS_H
