// SPDX-License-Identifier: Apache-2.0
// world/values/file_number.c - numbers that expressions of a scenario take from files.
#include "world/values/file_number.h"

#include <string.h>

#include "apps/workload/formats/format.h"
#include "topologies/topology_file.h"
#include "world/world.h"

#define FILE_BYTES_MAX ((size_t)1 << 32)

static const char *const functions[] = {"ranks", "path_links", "path_delay", "host_rate"};

bool world_is_file_function(const char *name)
{
    for (size_t i = 0; i < SIM_COUNT_OF(functions); i++) {
        if (strcmp(functions[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// Reads a file by its name in the scenario. ctx is the root of the scenario.
static sim_err_t read_input(const char *name, char **text, size_t *size, sim_message_t *message,
                            void *ctx)
{
    const world_tree_t *const root = ctx;
    const world_tree_t *const folder = world_tree_value(root, "folder");
    char *const path = world_input_path(
        root->place.origin, folder != NULL && folder->text != NULL ? folder->text : "", name);
    world_error_t error;
    const sim_err_t result = world_read_file(path, FILE_BYTES_MAX, text, size, &error);
    sim_free(path);
    return result == SIM_OK ? SIM_OK : sim_fail(message, result, "%s", error.text);
}

static sim_err_t ranks_in(void *root, const char *name, const char *text, size_t size,
                          world_number_t *number, sim_message_t *message)
{
    const app__workload_file_t file = {
        .name = name,
        .text = text,
        .size_bytes = size,
        .read_file = read_input,
        .ctx = root,
    };
    uint32_t ranks = 0;
    const sim_err_t result = app__format_ranks(&file, &ranks, message);
    *number = (world_number_t){WORLD_UNIT_NONE, ranks, 1};
    return result;
}

static sim_err_t path_in(const char *function, const char *name, const char *text, size_t size,
                         world_number_t *number, sim_message_t *message)
{
    topo_file_t *file = NULL;
    const sim_err_t result =
        topo_file_parse(TOPO_FILE_AUTO, name, text, size, NULL, NULL, &file, message);
    if (result != SIM_OK) {
        return result;
    }
    const topo_file_path_t path = topo_file_longest_path(file);
    topo_file_destroy(file);
    if (path.links == 0) {
        return sim_fail(message, SIM_ERR_INVALID, "%s: no two hosts are joined", name);
    }
    *number = strcmp(function, "path_links") == 0 ? (world_number_t){WORLD_UNIT_NONE, path.links, 1}
              : strcmp(function, "path_delay") == 0
                  ? (world_number_t){WORLD_UNIT_TIME, (int64_t)path.delay_ps, 1}
                  : (world_number_t){WORLD_UNIT_RATE, (int64_t)path.host_bps, 1};
    return SIM_OK;
}

sim_err_t world_file_number(const world_tree_t *root, const char *function, const char *name,
                            const world_place_t *place, world_number_t *number,
                            world_error_t *error)
{
    char *text = NULL;
    size_t size = 0;
    sim_message_t message = {.text = ""};
    void *const ctx = (void *)(uintptr_t)root;
    sim_err_t result = read_input(name, &text, &size, &message, ctx);
    if (result != SIM_OK) {
        return world_fail(error, result, NULL, "%s", message.text);
    }
    result = strcmp(function, "ranks") == 0 ? ranks_in(ctx, name, text, size, number, &message)
                                            : path_in(function, name, text, size, number, &message);
    sim_free(text);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, place, "%s", message.text);
}
