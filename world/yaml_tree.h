// SPDX-License-Identifier: Apache-2.0
// world/yaml_tree.h - a scenario file as a tree that remembers where each part was written.
//
// YAML 1.2 (so JSON too) with limits, so that no file can exhaust memory, stack or patience, and
// with two rules of our own:
//   - anchors, aliases, tags, merge keys and several documents are refused;
//   - a name pattern needs no quotes: `host[0-15]` and `*` are plain text everywhere, also inside
//     {...} and [...] where YAML would read a list or an alias.
// Every mapping has each key once.
#ifndef WORLD_YAML_TREE_H
#define WORLD_YAML_TREE_H

#include "world/error.h"

SIM_C_BEGIN

#define WORLD_YAML_BYTES_MAX ((size_t)16 << 20)
#define WORLD_YAML_DEPTH_MAX 32u
#define WORLD_YAML_PARTS_MAX 1000000u

typedef enum world_tree_kind {
    WORLD_TREE_SCALAR,
    WORLD_TREE_LIST,
    WORLD_TREE_MAP
} world_tree_kind_t;

typedef struct world_tree world_tree_t;
typedef struct world_document world_document_t;

typedef struct world_tree_entry {
    world_tree_t *key; // a scalar; NULL in a list
    world_tree_t *value;
} world_tree_entry_t;

struct world_tree {
    world_tree_kind_t kind;
    world_place_t place;
    bool is_null;                // a scalar without a value: nothing, ~ or null, unquoted
    char *text;                  // scalar
    world_tree_entry_t *entries; // list, map
    size_t count;
    size_t capacity;
};

// Owns trees and the texts of their origins.
world_document_t *world_document_create(void);
void world_document_destroy(world_document_t *document);
// Makes the last of equal keys of a mapping count, as most programs that read JSON have it, in
// texts that are parsed from now on. Otherwise equal keys are an error.
void world_document_keep_last(world_document_t *document);
// Returns the number of keys that were left out for this reason, and the place of the first key
// that was given again.
size_t world_document_repeats(const world_document_t *document, world_place_t *place);
// Returns a copy of text that lives as long as the document.
const char *world_document_text(world_document_t *document, const char *text);

// Parses size bytes. An empty document is an error. Positions count from line 1, column 1; with
// lines false they are left out (for a value of the command line).
SIM_MUST_CHECK sim_err_t world_yaml_parse(world_document_t *document, const char *origin,
                                          bool lines, const char *bytes, size_t size,
                                          world_tree_t **tree, world_error_t *error);

// Reads a whole file of at most WORLD_YAML_BYTES_MAX bytes and parses it.
SIM_MUST_CHECK sim_err_t world_yaml_read(world_document_t *document, const char *file_name,
                                         world_tree_t **tree, world_error_t *error);

// Reads a file ("-": the standard input) into memory that the caller frees with sim_free; a 0
// follows the last byte. A file of gzip is decompressed; other compression and binary files such as
// captures are refused by name. Waits for what comes by a pipe; one that nobody writes to is empty.
// SIM_ERR_RANGE: larger than size_max. place is where the file was named (NULL: the command line).
SIM_MUST_CHECK sim_err_t world_read_file(const char *file_name, size_t size_max, char **bytes,
                                         size_t *size, world_error_t *error);

// -- building and looking

world_tree_t *world_tree_new(world_document_t *document, world_tree_kind_t kind,
                             world_place_t place);
world_tree_t *world_tree_new_scalar(world_document_t *document, world_place_t place,
                                    const char *text);
// Appends an entry to a list (key NULL) or a map.
void world_tree_add(world_tree_t *tree, world_tree_t *key, world_tree_t *value);
// Returns a copy of a tree with the same places.
world_tree_t *world_tree_copy(world_document_t *document, const world_tree_t *tree);
// Adds the entries of a mapping to another: mappings below the same key are merged, any other value
// replaces the one that is there. Values of `from` become part of `into`.
void world_tree_merge(world_tree_t *into, const world_tree_t *from);
// Returns the entry of that key in a map, or NULL.
world_tree_entry_t *world_tree_find(const world_tree_t *map, const char *key);
// Returns the value of that key in a map, or NULL.
world_tree_t *world_tree_value(const world_tree_t *map, const char *key);
// Returns what a tree is, for messages: "a mapping", "a list", "a value", "nothing".
const char *world_tree_kind_text(const world_tree_t *tree);
// Fails with SIM_ERR_INVALID: key is of another kind than was expected.
sim_err_t world_tree_fail(const world_tree_t *tree, const char *key, const char *expected,
                          world_error_t *error);
// Checks that a map has no other keys than these. Messages name `what` it is ("a sweep") and the
// page that lists the keys.
SIM_MUST_CHECK sim_err_t world_tree_check_keys(const world_tree_t *map, const char *what,
                                               const char *const *keys, size_t count,
                                               const char *page, world_error_t *error);

SIM_C_END

#endif // WORLD_YAML_TREE_H
