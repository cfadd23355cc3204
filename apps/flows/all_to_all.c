// SPDX-License-Identifier: Apache-2.0
// apps/flows/all_to_all.c - every host sends to every other one, like a collective operation.
//
// All transfers start at once. Each host posts them in the order of the hosts after it, so that no
// host is the first target of all. NIC n of a host sends to NIC n of the others.
// docs/models/traffic.md
#include "apps/app_internal.h"
#include "apps/flows/planned.h"
#include "apps/hosts.h"

#define PREFIX "traffic.all-to-all"

typedef struct all_to_all_config {
    char *hosts;
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t stop_ps; // SIM_AUTO: none
    uint64_t qps;       // SIM_AUTO: one, not reported
    app__shape_t shape;
} all_to_all_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(all_to_all_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "hosts", hosts, "*", "hosts that take part, at least two"),
    ATTR(BYTES, "bytes", bytes, "64KB", "1", "1TB", "size of each message, one message per pair of hosts"),
    ATTR(TIME, "start", start_ps, "0s", "0s", "10000s", "time at which all transfers start", .not_above = PREFIX ".stop"),
    APP__STOP_ATTR(PREFIX, all_to_all_config_t, stop_ps),
    APP__QPS_ATTR(PREFIX, all_to_all_config_t, qps),
    APP__SHAPE_ATTRS(PREFIX, all_to_all_config_t, shape),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "application", sizeof(all_to_all_config_t),
                                            attrs, SIM_COUNT_OF(attrs)};

// Adds the transfers from one interface to the same NIC of all other hosts.
static sim_err_t fill_from(const all_to_all_config_t *config, const app__places_t *places,
                           size_t from, app__plan_t *plan, sim_message_t *message)
{
    const size_t count = places->list.count;
    const size_t nics = count / places->host_count;
    for (size_t step = nics; step < count; step += nics) {
        const app__request_t request = {
            .source = places->list.interfaces[from],
            .destination = places->list.interfaces[(from + step) % count],
            .bytes = config->bytes,
            .start_ps = config->start_ps,
            .priority = SIM_AUTO,
        };
        const sim_err_t error = app__plan_add_split(plan, &request, "hosts", message);
        if (error != SIM_OK) {
            return error;
        }
    }
    return SIM_OK;
}

static sim_err_t all_to_all_create(const app_context_t *context, const void *config_void,
                                   app_t **app, sim_message_t *message)
{
    const all_to_all_config_t *const config = config_void;
    app__places_t places;
    sim_err_t error = app__places_find(context, "hosts", config->hosts, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    app__plan_t *plan = NULL;
    uint32_t nics = 0;
    error = app__places_grid(context, "hosts", &places, &nics, message);
    if (error != SIM_OK) {
        goto fini;
    }
    plan = app__plan_create(context, &config->shape, app_all_to_all.name);
    app__plan_split(plan, config->qps);
    error = app__plan_stop_at(plan, config->stop_ps, config->start_ps, message);
    for (size_t i = 0; error == SIM_OK && i < places.list.count; i++) {
        error = fill_from(config, &places, i, plan, message);
    }
    if (error != SIM_OK) {
        app__plan_destroy(plan);
        goto fini;
    }
    *app = app__planned_create(&app_all_to_all, context, plan);
fini:
    app__places_fini(&places);
    return error;
}

const app_ops_t app_all_to_all = {
    .name = "all-to-all",
    .help = "every host sends to every other one",
    .attrs = &attr_table,
    .create = all_to_all_create,
    APP__PLANNED_OPS,
};
