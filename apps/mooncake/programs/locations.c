// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/locations.c - where memory lies in its host, and the NICs near it
// (nic/fabric.h, docs/models/mooncake.md).
#include <string.h>

#include "apps/mooncake/programs/programs.h"
#include "apps/mooncake_memory.h"
#include "nic/fabric.h"

// -- the matrix "auto"

static char *append(char *text, const char *more)
{
    char *const longer = sim_format("%s%s", text, more);
    sim_free(text);
    return longer;
}

static char *append_list(char *text, const net_node_t *host, const uint8_t *distances, bool nearest)
{
    uint8_t least = UINT8_MAX;
    for (uint32_t i = 0; i < nic_count(host); i++) {
        least = SIM_MIN(distances[i], least);
    }
    bool first = true;
    text = append(text, "[");
    for (uint32_t i = 0; i < nic_count(host); i++) {
        if ((distances[i] == least) == nearest) {
            char *const name = sim_format("%s\"mlx5_%u\"", first ? "" : ", ", i);
            text = append(text, name);
            sim_free(name);
            first = false;
        }
    }
    return append(text, "]");
}

// Appends a location: the nearest NICs are preferred, the others available.
static char *append_location(char *text, const net_node_t *host, const char *location)
{
    nic_location_t place;
    const bool placed = app__mc_host_has(host, location, &place);
    uint8_t *const distances = sim_alloc(nic_count(host) + 1u);
    for (uint32_t i = 0; i < nic_count(host); i++) {
        distances[i] = placed ? (uint8_t)nic_distance(nic_at(host, i), place) : 0;
    }
    char *const begin = sim_format("%s\"%s\": [", text[1] == '\0' ? "" : ", ", location);
    text = append(text, begin);
    sim_free(begin);
    text = append_list(text, host, distances, true);
    text = append(text, ", ");
    text = append_list(text, host, distances, false);
    sim_free(distances);
    return append(text, "]");
}

char *app__mc_matrix(const net_node_t *host, const char *matrix)
{
    if (strcmp(matrix, "auto") != 0) {
        return sim_strdup(matrix);
    }
    char *text = sim_strdup("{");
    for (unsigned kind = 0; kind < 2; kind++) {
        nic_location_t place;
        bool there = true;
        for (uint32_t i = 0; there; i++) {
            char *const location = sim_format("%s:%u", kind == 0 ? "cpu" : "cuda", i);
            there = app__mc_host_has(host, location, &place);
            if (there || i == 0) {
                text = append_location(text, host, location);
            }
            sim_free(location);
        }
    }
    return append(text, "}");
}

// -- lists of locations

// Returns location `index` of a list such as "cpu:0, cpu:1", starting over after the last.
char *app__mc_location_of(const char *list, uint64_t index)
{
    const uint32_t skip = (uint32_t)(index % app__mc_location_count(list));
    const char *at = list;
    for (uint32_t i = 0; i < skip; i++) {
        at = strchr(at, ',') + 1;
    }
    at += strspn(at, " ");
    return sim_format("%.*s", (int)strcspn(at, ", "), at);
}

uint32_t app__mc_location_count(const char *list)
{
    uint32_t count = 1;
    for (const char *c = list; *c != '\0'; c++) {
        count += *c == ',';
    }
    return count;
}

sim_err_t app__mc_register_location(app_mooncake_t *engine, const char *list, uint64_t index,
                                    uint64_t address, uint64_t bytes, sim_message_t *message)
{
    char *const location = app__mc_location_of(list, index);
    const int result = app_mooncake_register_local_memory(engine, address, bytes, location,
                                                          APP_MOONCAKE_ALL, NULL, NULL);
    sim_err_t error = SIM_OK;
    if (result != SIM_OK) {
        error = sim_fail(message, SIM_ERR_INVALID,
                         "%s has no location '%s', expected one of the matrix that nic.host has, "
                         "too",
                         app_mooncake_name(engine), location);
    }
    sim_free(location);
    return error;
}

// -- utilisation

static void add_part(app__mc_report_t *report, const app__mc_part_t *part)
{
    report->parts = sim_realloc_array(report->parts, report->part_count + 1, sizeof(*part));
    report->parts[report->part_count++] = *part;
}

void app__mc_report_parts(app__mc_report_t *report, const app_mooncake_t *engine,
                          sim_time_t time_ps)
{
    nic_part_t part;
    const double percent = time_ps == 0 ? 0.0 : 100.0 / (double)time_ps;
    for (uint32_t i = 0; nic_host_part(engine->station->host, i, &part); i++) {
        if (part.bytes == 0) {
            continue;
        }
        const app__mc_part_t row = {
            .engine = engine->name,
            .part = sim_strdup(part.name),
            .gbytes_per_s = (double)part.rate_bps / 8e9,
            .bytes = part.bytes,
            .busy_percent = (double)part.busy_ps * percent,
        };
        add_part(report, &row);
    }
    for (uint32_t c = 0; c < engine->context_count; c++) {
        const app__mc_context_t *const context = &engine->contexts[c];
        for (uint32_t w = 0; w < context->worker_count; w++) {
            const sim_time_t busy_ps = nic_core_busy_ps(context->workers[w].core);
            if (busy_ps == 0) {
                continue;
            }
            const app__mc_worker_t *const worker = &context->workers[w];
            const uint64_t bytes = w == 0 ? worker->polled_bytes : worker->posted_bytes;
            const app__mc_part_t row = {
                .engine = engine->name,
                .part = sim_format("%s worker %u", context->name, w),
                .gbytes_per_s = (double)bytes * 1e3 / (double)busy_ps,
                .bytes = bytes,
                .busy_percent = (double)busy_ps * percent,
            };
            add_part(report, &row);
        }
    }
}
