// SPDX-License-Identifier: Apache-2.0
// cli/yaml_tree.h - a scenario file as a tree that remembers where each part was written.
//
// YAML 1.2 (so JSON too) with limits, so that no file can exhaust memory, stack or patience, and
// with two rules of our own:
//   - anchors, aliases, tags, merge keys and several documents are refused;
//   - a name pattern needs no quotes: `host[0-15]` and `*` are plain text everywhere, also inside
//     {...} and [...] where YAML would read a list or an alias.
// Every mapping has each key once.
#ifndef CLI_YAML_TREE_H
#define CLI_YAML_TREE_H

#include "cli/error.h"

#define CLI_YAML_BYTES_MAX ((size_t)16 << 20)
#define CLI_YAML_DEPTH_MAX 32u
#define CLI_YAML_PARTS_MAX 1000000u

typedef enum cli_tree_kind { CLI_TREE_SCALAR, CLI_TREE_LIST, CLI_TREE_MAP } cli_tree_kind_t;

typedef struct cli_tree cli_tree_t;
typedef struct cli_document cli_document_t;

typedef struct cli_tree_entry {
    cli_tree_t *key; // a scalar; NULL in a list
    cli_tree_t *value;
} cli_tree_entry_t;

struct cli_tree {
    cli_tree_kind_t kind;
    cli_place_t place;
    bool is_null;              // a scalar without a value: nothing, ~ or null, unquoted
    char *text;                // scalar
    cli_tree_entry_t *entries; // list, map
    size_t count;
    size_t capacity;
};

// Owns trees and the texts of their origins.
cli_document_t *cli_document_create(void);
void cli_document_destroy(cli_document_t *document);
// A copy of text that lives as long as the document.
const char *cli_document_text(cli_document_t *document, const char *text);

// Parses size bytes. An empty document is an error. Positions count from line 1, column 1; with
// lines false they are left out (for a value of the command line).
SIM_MUST_CHECK sim_err_t cli_yaml_parse(cli_document_t *document,
                                        const char *origin,
                                        bool lines,
                                        const char *bytes,
                                        size_t size,
                                        cli_tree_t **tree,
                                        cli_error_t *error);

// Reads a whole file of at most CLI_YAML_BYTES_MAX bytes and parses it.
SIM_MUST_CHECK sim_err_t cli_yaml_read(cli_document_t *document,
                                       const char *file_name,
                                       cli_tree_t **tree,
                                       cli_error_t *error);

// Reads a file into memory that the caller frees with sim_free; a 0 follows the last byte.
// SIM_ERR_RANGE: larger than size_max. place is where the file was named (NULL: the command line).
SIM_MUST_CHECK sim_err_t cli_read_file(const char *file_name,
                                       size_t size_max,
                                       char **bytes,
                                       size_t *size,
                                       cli_error_t *error);

// -- building and looking

cli_tree_t *cli_tree_new(cli_document_t *document, cli_tree_kind_t kind, cli_place_t place);
cli_tree_t *cli_tree_new_scalar(cli_document_t *document, cli_place_t place, const char *text);
// key NULL for lists.
void cli_tree_add(cli_tree_t *tree, cli_tree_t *key, cli_tree_t *value);
// Entry of that key in a map, or NULL.
cli_tree_entry_t *cli_tree_find(const cli_tree_t *map, const char *key);
// "a mapping", "a list", "a value", "nothing"
const char *cli_tree_kind_text(const cli_tree_t *tree);

#endif // CLI_YAML_TREE_H
