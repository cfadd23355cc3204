// SPDX-License-Identifier: Apache-2.0
// apps/flows/exchanges.c - traffic in which all hosts send at once: "all-to-all", where every host
// sends to every other one, like a collective operation, and "permutation", where each host sends
// to one other host and receives from one.
//
// In all-to-all, each host posts its transfers in the order of the hosts after it, so that no host
// is the first target of all. In a permutation, the receiver is drawn such that no host sends to
// itself, or is `stride` hosts further on. NIC n of a host sends to NIC n of the others.
// docs/models/traffic.md
#include "apps/app_internal.h"
#include "apps/flows/planned.h"
#include "apps/hosts.h"

typedef struct exchange_config {
    char *hosts;
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t stop_ps; // SIM_AUTO: none
    uint64_t stride;    // permutation; SIM_AUTO: drawn
    uint64_t qps;       // SIM_AUTO: one, not reported
    app__shape_t shape;
} exchange_config_t;

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(exchange_config_t, __VA_ARGS__)
#define FIRST_ATTRS(prefix, bytes_, bytes_help_) \
    ATTR(STRING, prefix ".hosts", hosts, "*", "hosts that take part, at least two"), \
    ATTR(BYTES, prefix ".bytes", bytes, bytes_, "1", "1TB", bytes_help_), \
    ATTR(TIME, prefix ".start", start_ps, "0s", "0s", "10000s", "time at which all transfers start", .not_above = prefix ".stop")
#define LAST_ATTRS(prefix) \
    APP__STOP_ATTR(prefix, exchange_config_t, stop_ps), \
    APP__QPS_ATTR(prefix, exchange_config_t, qps), \
    APP__SHAPE_ATTRS(prefix, exchange_config_t, shape)
static const sim_attr_t all_to_all_attrs[] = {
    FIRST_ATTRS("traffic.all-to-all", "64KB", "size of each message, one message per pair of hosts"),
    LAST_ATTRS("traffic.all-to-all"),
};
static const sim_attr_t permutation_attrs[] = {
    FIRST_ATTRS("traffic.permutation", "1MB", "size of each message"),
    ATTR(COUNT, "traffic.permutation.stride", stride, "auto", "1", "100000000", "number of places in the list of hosts from a sender to its receiver; auto: receivers are drawn at random", .auto_ok = true),
    LAST_ATTRS("traffic.permutation"),
};
// clang-format on
static const sim_attr_table_t all_to_all_table =
    SIM_ATTR_TABLE("traffic.all-to-all", "application", exchange_config_t, all_to_all_attrs);
static const sim_attr_table_t permutation_table =
    SIM_ATTR_TABLE("traffic.permutation", "application", exchange_config_t, permutation_attrs);

typedef struct exchange {
    const app_context_t *context;
    const exchange_config_t *config;
    app__places_t places;
    uint32_t nics; // of each host
    app__plan_t *plan;
} exchange_t;

// Adds the transfer from one interface to another, both by their places.
static sim_err_t add(const exchange_t *exchange, size_t from, size_t to, sim_message_t *message)
{
    const app__request_t request = {
        .source = exchange->places.list.interfaces[from],
        .destination = exchange->places.list.interfaces[to],
        .bytes = exchange->config->bytes,
        .start_ps = exchange->config->start_ps,
        .priority = SIM_AUTO,
    };
    return app__plan_add_split(exchange->plan, &request, "hosts", message);
}

static sim_err_t fill_all(const exchange_t *exchange, sim_message_t *message)
{
    const size_t count = exchange->places.list.count;
    sim_err_t error = SIM_OK;
    for (size_t from = 0; from < count; from++) {
        for (size_t step = exchange->nics; error == SIM_OK && step < count;
             step += exchange->nics) {
            error = add(exchange, from, (from + step) % count, message);
        }
    }
    return error;
}

static sim_err_t choose(const exchange_t *exchange, uint32_t *order, sim_message_t *message)
{
    const uint32_t count = exchange->places.host_count;
    const uint64_t stride = exchange->config->stride;
    if (stride == SIM_AUTO) {
        sim_random_t random;
        app__random_init(&random, exchange->context, 0, "permutation");
        sim_random_derangement(&random, order, count);
        return SIM_OK;
    }
    if (stride % count == 0) {
        return sim_fail_about(message, SIM_ERR_RANGE, "stride",
                              " is %" PRIu64
                              ", expected a number that is no multiple of the number of hosts (%u)",
                              stride, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint32_t)((i + stride) % count);
    }
    return SIM_OK;
}

static sim_err_t fill_permutation(const exchange_t *exchange, sim_message_t *message)
{
    const uint32_t nics = exchange->nics;
    uint32_t *const order = sim_alloc_array(exchange->places.host_count, sizeof(*order));
    sim_err_t error = choose(exchange, order, message);
    for (size_t i = 0; error == SIM_OK && i < exchange->places.list.count; i++) {
        error = add(exchange, i, order[i / nics] * (size_t)nics + i % nics, message);
    }
    sim_free(order);
    return error;
}

static sim_err_t create(const app_context_t *context, const exchange_config_t *config,
                        const app_ops_t *ops,
                        sim_err_t (*fill)(const exchange_t *exchange, sim_message_t *message),
                        app_t **app, sim_message_t *message)
{
    exchange_t exchange = {.context = context, .config = config};
    sim_err_t error = app__places_find(context, "hosts", config->hosts, &exchange.places, message);
    if (error != SIM_OK) {
        return error;
    }
    error = app__places_grid(context, "hosts", &exchange.places, &exchange.nics, message);
    if (error == SIM_OK) {
        exchange.plan = app__plan_create(context, &config->shape, ops->name);
        app__plan_split(exchange.plan, config->qps);
        error = app__plan_stop_at(exchange.plan, config->stop_ps, config->start_ps, message);
        if (error == SIM_OK) {
            error = fill(&exchange, message);
        }
        if (error == SIM_OK) {
            *app = app__planned_create(ops, context, exchange.plan);
        } else {
            app__plan_destroy(exchange.plan);
        }
    }
    app__places_fini(&exchange.places);
    return error;
}

static sim_err_t all_to_all_create(const app_context_t *context, const void *config, app_t **app,
                                   sim_message_t *message)
{
    return create(context, config, &app_all_to_all, fill_all, app, message);
}

static sim_err_t permutation_create(const app_context_t *context, const void *config, app_t **app,
                                    sim_message_t *message)
{
    return create(context, config, &app_permutation, fill_permutation, app, message);
}

const app_ops_t app_all_to_all = {
    .name = "all-to-all",
    .help = "every host sends to every other one",
    .attrs = &all_to_all_table,
    .create = all_to_all_create,
    APP__PLANNED_OPS,
};

const app_ops_t app_permutation = {
    .name = "permutation",
    .help = "each host sends to one other host and receives from one",
    .attrs = &permutation_table,
    .create = permutation_create,
    APP__PLANNED_OPS,
};
