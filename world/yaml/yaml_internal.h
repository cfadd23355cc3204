// SPDX-License-Identifier: Apache-2.0
// world/yaml/yaml_internal.h - what tree.c and parse.c share.
#ifndef WORLD_YAML_YAML_INTERNAL_H
#define WORLD_YAML_YAML_INTERNAL_H

#include "world/yaml_tree.h"

struct world_document {
    world_tree_t **trees;
    size_t tree_count;
    size_t tree_capacity;
    char **texts;
    size_t text_count;
    size_t text_capacity;
    bool keeps_last;        // of equal keys of a mapping
    size_t repeat_count;    // number of keys that were given before and are left out
    world_place_t repeated; // the first key that was given again
};

// Checks that bytes are UTF-8 text and returns them with the characters of name patterns replaced
// by placeholders that mean nothing to YAML (one character each, so that columns stay right).
// The caller frees *shielded with sim_free.
SIM_MUST_CHECK sim_err_t world__yaml_shield(const world_place_t *place, const char *bytes,
                                            size_t size, char **shielded, size_t *shielded_size,
                                            world_error_t *error);
// Undoes it, into memory of its own. SIM_ERR_INVALID: text contains a zero byte.
SIM_MUST_CHECK sim_err_t world__yaml_unshield(const char *text, size_t size, char **plain);

// -- unpack.c

// Replaces a file of gzip by what it holds, at most size_max bytes. Fails for other compression and
// for binary files that no reader of texts takes; the message names them.
SIM_MUST_CHECK sim_err_t world__unpack(const char *file_name, size_t size_max, char **bytes,
                                       size_t *size, world_error_t *error);

#endif // WORLD_YAML_YAML_INTERNAL_H
