// SPDX-License-Identifier: Apache-2.0
// world/series.h - the series of metrics that a scenario asks for under `observe`.
#ifndef WORLD_SERIES_H
#define WORLD_SERIES_H

#include "kernel/attribute.h"
#include "nic/cache.h"
#include "nic/cache_metrics.h"
#include "nic/transport.h"
#include "nic/transport_metrics.h"
#include "world/patterns.h"
#include "world/registry.h"

SIM_C_BEGIN

typedef enum world_observe_on {
    WORLD_ON_TIME,  // a row each `every`
    WORLD_ON_CHANGE // a row per instant that left another value
} world_observe_on_t;

// Each entry of "observe".
typedef struct world_observe_config {
    char *series;
    sim_time_t start_ps;
    sim_time_t every_ps;
    world_observe_on_t on;
} world_observe_config_t;
extern const sim_attr_table_t world_observe_config_attrs;

// The kinds of metrics that a series samples: "port[leaf0->host5].queue_bytes[3]".
typedef enum world_series_kind {
    WORLD_SERIES_PORT,   // port[A->B].METRIC or .METRIC[PRIORITY]
    WORLD_SERIES_NIC,    // nic[HOST].COUNTER, nic[HOST].cache.METRIC
    WORLD_SERIES_QP,     // qp[HOST:NUMBER].METRIC, qp[HOST->PEER].METRIC, qp[HOST->PEER:NUMBER]...
    WORLD_SERIES_SWITCH, // switch[NAME].buffer_bytes
    WORLD_SERIES_NODE,   // node[NAME].arrivals_hash
} world_series_kind_t;

typedef struct world_series {
    world_observe_config_t config;
    world_place_t place;
    world_series_kind_t kind;
    world_pair_t ports; // PORT
    char *nodes;        // NIC, QP, SWITCH: pattern of names
    char *qps;          // QP: pattern of numbers
    char *peers;        // QP: pattern of names of what they are connected to; NULL: not asked for
    uint8_t classes;    // PORT: those that are summed
    bool one_class;
    uint32_t metric;                        // index in the kind's table
    const char *cc_metric;                  // QP: instead, a number of its congestion control
    const nic_cache_metric_t *cache_metric; // NIC: instead, a number of its tiered cache
    const nic_transport_metric_t *transport_metric; // NIC: instead, one of its transports
} world_series_t;

// Metrics of nodes that series can sample; each table ends with a NULL name.
typedef struct world_switch_metric {
    const char *name;
    const char *unit;
    const char *help;
    uint64_t (*read)(const net_node_t *node);
    uint32_t points; // of its ports, after which it may have changed
} world_switch_metric_t;
extern const world_switch_metric_t world_switch_metrics[];
extern const world_switch_metric_t world_node_metrics[]; // of hosts, too

// Lists, each once, the names of the metrics of congestion controls that nic_qp_metrics does not
// have. Returns how many they are, at most count_max.
size_t world_cc_metric_names(const world_registry_t *registry, const char **names,
                             size_t count_max);

SIM_C_END

#endif // WORLD_SERIES_H
