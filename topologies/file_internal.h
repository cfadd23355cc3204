// SPDX-License-Identifier: Apache-2.0
// topologies/file_internal.h - the state and functions that the readers of topology files share.
#ifndef TOPOLOGIES_FILE_INTERNAL_H
#define TOPOLOGIES_FILE_INTERNAL_H

#include "kernel/words.h"
#include "topologies/topology_file.h"

typedef struct topo__file_reader {
    sim_words_t words;
    size_t size_bytes; // of the whole text
    topo_file_t *file;
    topo_note_fn note; // may be NULL
    void *ctx;
    sim_message_t *message;
} topo__file_reader_t;

// Adds a node named <tier><number> and returns its index.
uint32_t topo__file_add_node(topo_file_t *file, const char *tier, uint32_t number,
                             net_node_kind_t kind);
void topo__file_add_link(topo_file_t *file, const topo_file_link_t *link);

#endif // TOPOLOGIES_FILE_INTERNAL_H
