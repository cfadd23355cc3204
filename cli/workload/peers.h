// SPDX-License-Identifier: Apache-2.0
// cli/workload/peers.h - `rocesim check FILE` on files of other programs that are no workloads.
#ifndef CLI_WORKLOAD_PEERS_H
#define CLI_WORKLOAD_PEERS_H

#include "kernel/base.h"

// A file of another program, or one that a scenario names.
typedef struct cli_peer {
    char what[128];   // as the object of a sentence: "a topology of htsim"
    const char *use;  // how rocesim uses it, or what has its place: a half sentence
    bool is_topology; // topology.file reads it
} cli_peer_t;

// Recognises a file by its content. Returns whether it is one of the files above.
bool cli_peer_of(const char *text, size_t size_bytes, cli_peer_t *peer);

// Returns whether a word stands in a text.
bool cli_has_word(const char *text, size_t size, const char *word);
// Returns whether a file is a scenario, however broken: keys of a scenario are at the top of its
// mapping, or its name ends in .yaml and nothing else is known about it.
bool cli_is_scenario(const char *name, const char *text, size_t size_bytes);
// Describes a file in no known format by what can be seen: a table, JSON, a binary file.
void cli_peer_unknown(const char *text, size_t size_bytes, cli_peer_t *peer);

// Returns whether a text is a topology of a server in NCCL's XML, or its graph of channels.
bool cli_nccl_is(const char *text, size_t size_bytes);
// Counts its elements. Returns the exit status.
int cli_nccl_check(const char *name, const char *text, size_t size_bytes, bool json);

#endif // CLI_WORKLOAD_PEERS_H
