// SPDX-License-Identifier: Apache-2.0
// world/construct/submit.c - adds applications to a world that stands between two steps.
// Page: docs/sessions.md.
#include "kernel/steps.h"
#include "world/construct/applications.h"
#include "world/construct/check.h"
#include "world/scenario/sections.h"

#include <string.h>

static void add_text(world_document_t *document, world_tree_t *map, const char *key,
                     const char *text)
{
    world_tree_add(map, world_tree_new_scalar(document, map->place, key),
                   world_tree_new_scalar(document, map->place, text));
}

// Gives the application its start, in ps.
static sim_err_t set_start(world_document_t *document, const world_tree_t *root,
                           sim_time_t start_ps, world_error_t *error)
{
    if (root->kind != WORLD_TREE_MAP || root->count != 1 ||
        root->entries[0].value->kind != WORLD_TREE_MAP) {
        return world_fail(error, SIM_ERR_INVALID, &root->place,
                          "expected a mapping with one application: {\"collective\": {...}}");
    }
    world_tree_t *const map = root->entries[0].value;
    if (world_tree_find(map, "start") != NULL) {
        return world_fail(error, SIM_ERR_INVALID, &map->place,
                          "start: expected `at` beside the application in its place");
    }
    char *const text = sim_format("%" PRIu64 "ps", start_ps);
    add_text(document, map, "start", text);
    sim_free(text);
    return SIM_OK;
}

static void touch(uint32_t rank, uint32_t interface, void *ctx)
{
    const world_t *const world = ctx;
    (void)rank;
    sim_touch(&nic_node(nic_of_interface(world->net, interface))->sim);
}

static sim_err_t create(world_t *world, world_scenario_t *scenario, world_error_t *error)
{
    const world_traffic_t *const traffic = &scenario->traffic[scenario->traffic_count - 1];
    if (traffic->ops->program == NULL) {
        return world_fail(error, SIM_ERR_INVALID, &traffic->place,
                          "%s: a session cannot submit it, expected collective, workload or "
                          "training",
                          traffic->ops->name);
    }
    const sim_err_t result = world__check_messages(world, error);
    // A session that was added for the client counts as no entry, so that random streams are those
    // of a scenario without it.
    const size_t index = world->app_count - (scenario->session_added ? 1 : 0);
    return result != SIM_OK ? result
                            : world__create_app(world, traffic, (uint32_t)index, true, error);
}

// Keeps a document as long as the scenario, or frees it after an error.
static void keep(world_scenario_t *scenario, world_document_t *document, sim_err_t result)
{
    if (result != SIM_OK) {
        world_document_destroy(document);
        return;
    }
    SIM_APPEND(scenario->submitted, scenario->submitted_count, scenario->submitted_capacity,
               document);
}

sim_err_t world_add_program(world_t *world, world_scenario_t *scenario, const world_place_t *place,
                            const char *host, const char *command, sim_time_t start_ps, app_t **app,
                            world_error_t *error)
{
    SIM_CHECK(world->scenario == scenario && scenario->steps);
    world_document_t *const document = world_document_create();
    world_place_t here = *place;
    here.origin = world_document_text(document, place->origin);
    world_tree_t *const root = world_tree_new(document, WORLD_TREE_MAP, here);
    world_tree_t *const map = world_tree_new(document, WORLD_TREE_MAP, here);
    char *const start = sim_format("%" PRIu64 "ps", start_ps);
    add_text(document, map, "host", host);
    add_text(document, map, "command", command);
    add_text(document, map, "start", start);
    sim_free(start);
    world_tree_add(root, world_tree_new_scalar(document, here, "programs"), map);
    sim_err_t result = world__add_traffic(scenario, root, error);
    if (result == SIM_OK) {
        const world_traffic_t *const traffic = &scenario->traffic[scenario->traffic_count - 1];
        result = world__create_app(world, traffic, (uint32_t)world->app_count, false, error);
        if (result != SIM_OK) {
            world__drop_traffic(scenario);
        }
    }
    keep(scenario, document, result);
    if (result == SIM_OK) {
        *app = world->apps[world->app_count - 1];
    }
    return result;
}

sim_err_t world_submit(world_t *world, world_scenario_t *scenario, const char *origin,
                       const char *json, size_t size, sim_time_t start_ps, app_t **app,
                       world_error_t *error)
{
    SIM_CHECK(world->scenario == scenario && scenario->steps);
    world_document_t *const document = world_document_create();
    world_tree_t *root = NULL;
    sim_err_t result = world_yaml_parse(document, origin, false, json, size, &root, error);
    result = result == SIM_OK ? set_start(document, root, start_ps, error) : result;
    result = result == SIM_OK ? world__add_traffic(scenario, root, error) : result;
    if (result == SIM_OK) {
        result = create(world, scenario, error);
        if (result != SIM_OK) {
            world__drop_traffic(scenario);
        }
    }
    keep(scenario, document, result);
    if (result == SIM_OK) {
        *app = world->apps[world->app_count - 1];
        (*app)->ops->places(*app, touch, world);
    }
    return result;
}
