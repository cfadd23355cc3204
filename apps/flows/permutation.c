// SPDX-License-Identifier: Apache-2.0
// apps/flows/permutation.c - each host sends to one other host and receives from one.
//
// The receiver is drawn such that no host sends to itself, or is `stride` hosts further on. NIC n
// of a host sends to NIC n of the other. docs/models/traffic.md
#include "apps/app_internal.h"
#include "apps/flows/planned.h"
#include "apps/hosts.h"

#define PREFIX "traffic.permutation"

typedef struct permutation_config {
    char *hosts;
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t stop_ps; // SIM_AUTO: none
    uint64_t stride;    // SIM_AUTO: drawn
    uint64_t qps;       // SIM_AUTO: one, not reported
    app__shape_t shape;
} permutation_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(permutation_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "hosts", hosts, "*", "hosts that take part, at least two"),
    ATTR(BYTES, "bytes", bytes, "1MB", "1", "1TB", "size of each message"),
    ATTR(TIME, "start", start_ps, "0s", "0s", "10000s", "time at which all transfers start", .not_above = PREFIX ".stop"),
    ATTR(COUNT, "stride", stride, "auto", "1", "100000000", "number of places in the list of hosts from a sender to its receiver; auto: receivers are drawn at random", .auto_ok = true),
    APP__STOP_ATTR(PREFIX, permutation_config_t, stop_ps),
    APP__QPS_ATTR(PREFIX, permutation_config_t, qps),
    APP__SHAPE_ATTRS(PREFIX, permutation_config_t, shape),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "application", sizeof(permutation_config_t),
                                            attrs, SIM_COUNT_OF(attrs)};

static sim_err_t choose(const app_context_t *context, const permutation_config_t *config,
                        uint32_t *order, uint32_t count, sim_message_t *message)
{
    if (config->stride == SIM_AUTO) {
        sim_random_t random;
        app__random_init(&random, context, 0, "permutation");
        sim_random_derangement(&random, order, count);
        return SIM_OK;
    }
    if (config->stride % count == 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "stride",
                              " is %" PRIu64
                              ", expected a number that is no multiple of the number of hosts (%u)",
                              config->stride, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint32_t)((i + config->stride) % count);
    }
    return SIM_OK;
}

static sim_err_t fill(const permutation_config_t *config, const app__places_t *places,
                      const uint32_t *order, app__plan_t *plan, sim_message_t *message)
{
    const size_t nics = places->list.count / places->host_count;
    for (size_t i = 0; i < places->list.count; i++) {
        const size_t to = order[i / nics] * nics + i % nics;
        const app__request_t request = {
            .source = places->list.interfaces[i],
            .destination = places->list.interfaces[to],
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

static sim_err_t permutation_create(const app_context_t *context, const void *config_void,
                                    app_t **app, sim_message_t *message)
{
    const permutation_config_t *const config = config_void;
    app__places_t places;
    sim_err_t error = app__places_find(context, "hosts", config->hosts, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    uint32_t *order = NULL;
    app__plan_t *plan = NULL;
    uint32_t nics = 0;
    error = app__places_grid(context, "hosts", &places, &nics, message);
    if (error != SIM_OK) {
        goto fini;
    }
    order = sim_alloc_array(places.host_count, sizeof(*order));
    error = choose(context, config, order, places.host_count, message);
    if (error != SIM_OK) {
        goto fini;
    }
    plan = app__plan_create(context, &config->shape, app_permutation.name);
    app__plan_split(plan, config->qps);
    error = app__plan_stop_at(plan, config->stop_ps, config->start_ps, message);
    if (error == SIM_OK) {
        error = fill(config, &places, order, plan, message);
    }
    if (error != SIM_OK) {
        app__plan_destroy(plan);
        goto fini;
    }
    *app = app__planned_create(&app_permutation, context, plan);
fini:
    sim_free(order);
    app__places_fini(&places);
    return error;
}

const app_ops_t app_permutation = {
    .name = "permutation",
    .help = "each host sends to one other host and receives from one",
    .attrs = &attr_table,
    .create = permutation_create,
    APP__PLANNED_OPS,
};
