// SPDX-License-Identifier: Apache-2.0
// cli/bind.h - gives the mappings of a scenario to the attributes of config structs, and back.
//
// `switch: {ecn: {kmin: 400KB}}` sets the attribute switch.ecn.kmin. A thing that is configured
// may take its attributes from several tables (a NIC and its congestion controls).
#ifndef CLI_BIND_H
#define CLI_BIND_H

#include "cli/yaml_tree.h"
#include "nic/host.h"

#define CLI_TABLES_MAX 24u

typedef struct cli_target {
    const sim_attr_table_t *table;
    void *config;
} cli_target_t;

typedef struct cli_targets {
    cli_target_t items[CLI_TABLES_MAX];
    size_t count;
} cli_targets_t;

cli_targets_t cli_targets_one(const sim_attr_table_t *table, void *config);
// The NIC's own attributes and those of every congestion control. config may be NULL when only the
// tables are asked for.
cli_targets_t cli_targets_nic(nic_config_t *config);

// Sets every attribute that map (or a null value: none) gives below prefix ("switch"; "" for the
// top level). others (count of them) are keys that the caller handles: they are passed over, and
// named with the accepted ones. On error some attributes may have been set.
SIM_MUST_CHECK sim_err_t cli_bind(const cli_tree_t *map,
                                  const char *prefix,
                                  const cli_targets_t *targets,
                                  const char *const *others,
                                  cli_error_t *error);

// The place of the deepest part of map that the path (below prefix, or with it) leads to: where to
// point when a check of several values fails. The path is the first word of text.
cli_place_t cli_locate(const cli_tree_t *map, const char *prefix, const char *text);

// Adds every attribute of targets with its present value to map, as nested mappings without the
// prefix.
void cli_unbind(cli_document_t *document,
                cli_tree_t *map,
                const char *prefix,
                const cli_targets_t *targets);

// Adds the keys that are accepted directly below path to the message: " (expected a, b or c)".
void cli_add_accepted(cli_error_t *error,
                      const char *path,
                      const cli_targets_t *targets,
                      const char *const *others);

// -- scalars that are not attributes

// A value's text: a scalar, or "[a, b]" of a list of scalars. NULL with a message for anything
// else. Free with sim_free.
char *cli_value_text(const cli_tree_t *tree, const char *path, cli_error_t *error);

#endif // CLI_BIND_H
