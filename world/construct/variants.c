// SPDX-License-Identifier: Apache-2.0
// world/construct/variants.c - the configuration of each node: the scenario's, changed by the
// patterns that match its name, later ones last.
//
// Nodes that the same patterns match share a configuration, so that a million hosts need few.
#include "world/construct/variants.h"
#include "world/bind.h"
#include "world/overlays.h"
#include "world/patterns.h"
#include "world/world.h"

#include <string.h>

typedef struct variant {
    bool *matches; // by overlay
    net_switch_config_t switch_config;
    nic_config_t nic_config;
    bool is_nic;
} variant_t;

struct world_variants {
    const world_scenario_t *scenario;
    variant_t **items;
    size_t count;
    size_t capacity;
    bool *matches; // of the name at hand
    sim_err_t result;
    world_error_t error;
};

world_variants_t *world__variants_create(const world_scenario_t *scenario)
{
    world_variants_t *const variants = sim_alloc(sizeof(*variants));
    variants->scenario = scenario;
    variants->matches = sim_alloc_array(scenario->node_count + 1, sizeof(bool));
    return variants;
}

void world__variants_destroy(world_variants_t *variants)
{
    for (size_t i = 0; i < variants->count; i++) {
        variant_t *const variant = variants->items[i];
        if (variant->is_nic) {
            nic_config_fini(&variant->nic_config);
        } else {
            sim_attrs_fini(&net_switch_config_attrs, &variant->switch_config);
        }
        sim_free(variant->matches);
        sim_free(variant);
    }
    SIM_FREE_ALL(variants->items, variants->matches, variants);
}

static const world_tree_t *overlay_map(const world_node_overlay_t *overlay, bool is_nic)
{
    return is_nic ? overlay->nic_map : overlay->switch_map;
}

// Fills variants->matches; false: the node is as the scenario says for all.
static bool match(world_variants_t *variants, const char *name, bool is_nic)
{
    bool any = false;
    for (size_t i = 0; i < variants->scenario->node_count; i++) {
        const world_node_overlay_t *const overlay = &variants->scenario->nodes[i];
        const bool matches =
            overlay_map(overlay, is_nic) != NULL && world_pattern_match(overlay->pattern, name);
        variants->matches[i] = matches;
        any = any || matches;
    }
    return any;
}

static void keep_error(world_variants_t *variants, const world_tree_t *map, const char *name,
                       sim_err_t result, const char *section, const sim_message_t *message)
{
    if (variants->result == SIM_OK) {
        const world_place_t place = world_locate(map, section, message->about);
        variants->result =
            world_fail(&variants->error, result, &place, "%s (of node %s)", message->text, name);
    }
}

static void fill_switch(world_variants_t *variants, variant_t *variant, const char *name)
{
    const world_scenario_t *const scenario = variants->scenario;
    const world_tree_t *last = NULL;
    sim_attrs_copy(&net_switch_config_attrs, &variant->switch_config, &scenario->switch_config);
    const world_targets_t targets =
        world_targets_one(&net_switch_config_attrs, &variant->switch_config);
    for (size_t i = 0; i < scenario->node_count; i++) {
        if (variant->matches[i]) {
            last = scenario->nodes[i].switch_map;
            world_error_t error;
            const sim_err_t result = world_bind(last, "switch", &targets, NULL, &error);
            SIM_CHECKF(result == SIM_OK, "%s", error.text);
        }
    }
    sim_message_t message;
    const sim_err_t result = net_switch_config_check(&variant->switch_config, &message);
    if (result != SIM_OK) {
        keep_error(variants, last, name, result, "switch", &message);
        variant->switch_config.ecn_kmin_bytes = variant->switch_config.ecn_kmax_bytes;
    }
}

static void fill_nic(world_variants_t *variants, variant_t *variant, const char *name)
{
    const world_scenario_t *const scenario = variants->scenario;
    nic_config_copy(&variant->nic_config, &scenario->nic_config);
    const world_targets_t targets = world_targets_nic(&variant->nic_config);
    const world_tree_t *last = NULL;
    for (size_t i = 0; i < scenario->node_count; i++) {
        if (variant->matches[i]) {
            last = scenario->nodes[i].nic_map;
            world_error_t error;
            const sim_err_t result = world_bind(last, "nic", &targets, NULL, &error);
            SIM_CHECKF(result == SIM_OK, "%s", error.text);
        }
    }
    sim_message_t message;
    const sim_err_t result = nic_config_check(&variant->nic_config, &message);
    if (result != SIM_OK) {
        keep_error(variants, last, name, result, "nic", &message);
        // The network is built to its end all the same, from values that fit.
        nic_config_fini(&variant->nic_config);
        nic_config_copy(&variant->nic_config, &scenario->nic_config);
    }
}

static const variant_t *find(world_variants_t *variants, const char *name, bool is_nic)
{
    const size_t size = variants->scenario->node_count * sizeof(bool);
    for (size_t i = 0; i < variants->count; i++) {
        const variant_t *const variant = variants->items[i];
        if (variant->is_nic == is_nic && memcmp(variant->matches, variants->matches, size) == 0) {
            return variant;
        }
    }
    variant_t *const variant = sim_alloc(sizeof(*variant));
    variant->is_nic = is_nic;
    variant->matches = sim_alloc(size);
    memcpy(variant->matches, variants->matches, size);
    SIM_APPEND(variants->items, variants->count, variants->capacity, variant);
    if (is_nic) {
        fill_nic(variants, variant, name);
    } else {
        fill_switch(variants, variant, name);
    }
    return variant;
}

const net_switch_config_t *world__variants_switch(world_variants_t *variants, const char *name)
{
    return match(variants, name, false) ? &find(variants, name, false)->switch_config
                                        : &variants->scenario->switch_config;
}

const nic_config_t *world__variants_nic(world_variants_t *variants, const char *name)
{
    return match(variants, name, true) ? &find(variants, name, true)->nic_config
                                       : &variants->scenario->nic_config;
}

void world__variants_keep_error(world_variants_t *variants, sim_err_t result,
                                const world_error_t *error)
{
    if (variants->result == SIM_OK) {
        variants->result = result;
        variants->error = *error;
    }
}

sim_err_t world__variants_check(const world_variants_t *variants, world_error_t *error)
{
    if (variants->result != SIM_OK) {
        *error = variants->error;
    }
    return variants->result;
}
