// SPDX-License-Identifier: Apache-2.0
// world/scenario/metrics.c - the metrics that a series may have, by name.
#include "world/scenario/metrics.h"
#include "world/series.h"

#include "net/port_metrics.h"
#include "nic/transport.h"

#include <string.h>

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_qp_metric(const char *name)
{
    const nic_qp_metric_t *metric = nic_qp_metrics;
    while (metric->name != NULL && strcmp(metric->name, name) != 0) {
        metric++;
    }
    return metric->name != NULL;
}

// Adds the metrics of an algorithm that are not among the names. Returns the new count.
static size_t add_names(const nic_cc_ops_t *ops, const char **names, size_t count, size_t count_max)
{
    const char *const *name = ops->metric_names;
    for (; name != NULL && *name != NULL && count < count_max; name++) {
        if (!is_qp_metric(*name) && !is_among(*name, names, count)) {
            names[count++] = *name;
        }
    }
    return count;
}

size_t world_cc_metric_names(const world_registry_t *registry, const char **names, size_t count_max)
{
    size_t count = 0;
    for (const nic_cc_ops_t *const *ops = world_registry_ccs(registry); *ops != NULL; ops++) {
        count = add_names(*ops, names, count, count_max);
    }
    for (const nic_transport_ops_t *const *ops = nic_transport_all; *ops != NULL; ops++) {
        if ((*ops)->cc != NULL) {
            count = add_names((*ops)->cc, names, count, count_max);
        }
    }
    return count;
}

#define NAMES_MAX 128u

static size_t metric_names(const world_registry_t *registry, world_series_kind_t kind,
                           const char **names)
{
    size_t count = 0;
    for (; count < NAMES_MAX; count++) {
        const char *name = NULL;
        switch (kind) {
        case WORLD_SERIES_PORT:
            name = net_port_metrics[count].name;
            break;
        case WORLD_SERIES_NIC:
            name = nic_counter_infos[count].name;
            break;
        case WORLD_SERIES_QP:
            name = nic_qp_metrics[count].name;
            break;
        case WORLD_SERIES_SWITCH:
            name = world_switch_metrics[count].name;
            break;
        case WORLD_SERIES_NODE:
            name = world_node_metrics[count].name;
            break;
        }
        if (name == NULL) {
            break;
        }
        names[count] = name;
    }
    if (kind == WORLD_SERIES_QP) {
        count += world_cc_metric_names(registry, names + count, NAMES_MAX - count);
    }
    if (kind == WORLD_SERIES_NIC) {
        for (size_t i = 0; nic_cache_metrics[i].name != NULL && count < NAMES_MAX; i++) {
            names[count++] = nic_cache_metrics[i].name;
        }
        for (size_t i = 0; nic_transport_metrics[i].name != NULL && count < NAMES_MAX; i++) {
            names[count++] = nic_transport_metrics[i].name;
        }
    }
    return count;
}

static const nic_cache_metric_t *find_cache_metric(const char *name)
{
    const nic_cache_metric_t *metric = nic_cache_metrics;
    while (metric->name != NULL && strcmp(metric->name, name) != 0) {
        metric++;
    }
    return metric->name != NULL ? metric : NULL;
}

static const nic_transport_metric_t *find_transport_metric(const char *name)
{
    const nic_transport_metric_t *metric = nic_transport_metrics;
    while (metric->name != NULL && strcmp(metric->name, name) != 0) {
        metric++;
    }
    return metric->name != NULL ? metric : NULL;
}

// Fails with a list of the metrics there are; for "cache.hits" with those of cache, if there are
// any.
static sim_err_t unknown_metric(const char *name, const char **names, size_t count,
                                const world_place_t *place, world_error_t *error)
{
    const char *const dot = strchr(name, '.');
    const size_t part = dot != NULL ? (size_t)(dot - name) + 1 : 0;
    size_t alike = 0;
    for (size_t i = 0; i < count && part > 0; i++) {
        alike += strncmp(names[i], name, part) == 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (alike == 0 || strncmp(names[i], name, part) == 0) {
            names[kept++] = names[i];
        }
    }
    world_shown_t shown;
    if (strchr(name, '*') != NULL) {
        world_fail(error, SIM_ERR_UNKNOWN, place,
                   "metric '%s' is a pattern: a series has one metric", world_show(&shown, name));
    } else {
        world_fail(error, SIM_ERR_UNKNOWN, place, "unknown metric '%s'", world_show(&shown, name));
        world_error_add_nearest(error, name, names, kept);
    }
    world_error_add_names(error, names, kept, "rocesim params --outputs-markdown");
    return SIM_ERR_UNKNOWN;
}

sim_err_t world__find_metric(const world_registry_t *registry, world_series_t *series,
                             const char *name, const world_place_t *place, world_error_t *error)
{
    const char *names[NAMES_MAX];
    const size_t count = metric_names(registry, series->kind, names);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            series->metric = (uint32_t)i;
            series->cc_metric =
                series->kind == WORLD_SERIES_QP && !is_qp_metric(name) ? names[i] : NULL;
            series->cache_metric =
                series->kind == WORLD_SERIES_NIC ? find_cache_metric(name) : NULL;
            series->transport_metric =
                series->kind == WORLD_SERIES_NIC ? find_transport_metric(name) : NULL;
            return SIM_OK;
        }
    }
    return unknown_metric(name, names, count, place, error);
}
