// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/scenario_internal.h - functions that put values of a config into a scenario's tree.
#ifndef CLI_HPCC_SCENARIO_INTERNAL_H
#define CLI_HPCC_SCENARIO_INTERNAL_H

#include "cli/hpcc/hpcc.h"

typedef struct cli__maker {
    cli_hpcc_t *hpcc;
    const cli_hpcc_config_t *config;
    world_document_t *document;
    world_tree_t *root;
} cli__maker_t;

// Sets the attribute at `path` to the formatted text. _key: the value has the place of that key in
// the config. _fixed: the value comes from the simulator's code.
void cli__maker_key(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key,
                    const char *format, ...) SIM_PRINTF(4, 5);
void cli__maker_fixed(const cli__maker_t *maker, const char *path, const char *text);

// Sets an attribute to the unchanged value of a key.
void cli__maker_rate(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key);
void cli__maker_count(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key);
void cli__maker_text(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key);
void cli__maker_flag(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key);

// Returns whether --set sets the attribute at a path, or a map that it is in.
bool cli__maker_replaced(const cli__maker_t *maker, const char *path);
bool cli__maker_on(const cli__maker_t *maker, cli_hpcc_key_t key);
const char *cli__maker_bool(bool value);

// Returns SIM_ERR_INVALID if the config lacks a key that it needs.
SIM_MUST_CHECK sim_err_t cli__maker_need(const cli__maker_t *maker, cli_hpcc_key_t key,
                                         world_error_t *error);

// "nic." (scenario_nic.c)
SIM_MUST_CHECK sim_err_t cli__maker_nic(const cli__maker_t *maker, world_error_t *error);

// Makes the scenario: a tree in which each value has the place of the config that it comes from.
SIM_MUST_CHECK sim_err_t cli_hpcc_scenario(cli_hpcc_t *hpcc, world_document_t *document,
                                           world_tree_t **root, world_error_t *error);

#endif // CLI_HPCC_SCENARIO_INTERNAL_H
