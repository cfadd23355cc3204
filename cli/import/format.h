// SPDX-License-Identifier: Apache-2.0
// cli/import/format.h - the formats that `rocesim import` reads, each a reader of one file.
#ifndef CLI_IMPORT_FORMAT_H
#define CLI_IMPORT_FORMAT_H

#include "cli/import/fabric.h"
#include "world/yaml_tree.h"

// A file in memory. `name` lives as long as the fabric.
typedef struct import_file {
    const char *name;
    const char *text; // a 0 follows the last byte
    size_t size_bytes;
    world_document_t *document; // owns the tree of a file of JSON
    const world_tree_t *json;   // NULL: the file is not JSON with a mapping
    const world_tree_t *tree;   // of a list of YAML or JSON; NULL: the file is none
} import_file_t;

// A row says what a key of a format becomes. Readers and docs/formats/import.md use the same rows.
typedef struct import_key {
    const char *table; // or section, column, element
    const char *field; // "": the table's own key
    import_note_kind_t kind;
    const char *becomes;
} import_key_t;

typedef struct import_format {
    const char *name; // "SONiC's config_db.json"
    // Returns whether a file is of this format. It looks at its beginning, not at its name.
    bool (*is)(const import_file_t *file);
    SIM_MUST_CHECK sim_err_t (*read)(import_fabric_t *fabric, const import_file_t *file,
                                     world_error_t *error);
    const import_key_t *keys;
    size_t key_count;
} import_format_t;

extern const import_format_t import_sonic;
extern const import_format_t import_lldp_json;
extern const import_format_t import_lldp_table;
extern const import_format_t import_lldp_text;
extern const import_format_t import_lldp_eos;
extern const import_format_t import_ibnetdiscover;
extern const import_format_t import_slurm;
extern const import_format_t import_nccl;
extern const import_format_t import_links;

// Returns the name of a node that a file describes without naming it: its file's name without
// folder and endings. Free it with sim_free.
char *import_name_of_file(const char *path);
// Notes a key of a format by its row in the table, or as not known.
void import_note_key(import_fabric_t *fabric, const import_format_t *format, const char *table,
                     const char *field, const world_place_t *place);

#endif // CLI_IMPORT_FORMAT_H
