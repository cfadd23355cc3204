// SPDX-License-Identifier: Apache-2.0
// cli/live/targets.h - the places to which the counters of a running simulation go.
#ifndef CLI_LIVE_TARGETS_H
#define CLI_LIVE_TARGETS_H

#include "kernel/buffer.h"
#include "net/port_metrics.h"
#include "world/error.h"
#include "world/world.h"

// A place. One table of operations for each kind, immutable.
typedef struct live_target_ops {
    const char *name; // of the option: "sysfs"
    // Refuses a wrong place before anything is opened; NULL: every place is good.
    sim_err_t (*check)(const world_t *world, const char *where, world_error_t *error);
    // Opens the place that the option names. *target is what the others get.
    sim_err_t (*open)(const world_t *world, const char *where, void **target, world_error_t *error);
    void (*publish)(void *target, const world_t *world, sim_time_t now_ps);
    void (*close)(void *target, const world_t *world, sim_time_t now_ps);
} live_target_ops_t;

extern const live_target_ops_t live__sysfs;
extern const live_target_ops_t live__http;
extern const live_target_ops_t live__redis;
extern const live_target_ops_t live__extcap;

// A counter of ports under its public names. A row with a class has "%u" in its name of SAI.
typedef struct live_counter {
    const char *metric; // net_port_metric_find
    uint64_t divisor;   // from its unit
    bool by_class;
    bool is_gauge;    // it also falls
    const char *sai;  // of SONiC's COUNTERS_DB; NULL: none
    const char *name; // of OpenMetrics, without "_total"
    const char *help;
} live_counter_t;
extern const live_counter_t live__counters[]; // ends with metric NULL

// Returns a counter's value; class_number is ignored by counters without classes.
uint64_t live__read(const live_counter_t *counter, const net_port_t *port, unsigned class_number,
                    sim_time_t now_ps);

// Refuses a text of `size` bytes that is no port of TCP, or one below `least`.
SIM_MUST_CHECK sim_err_t live__check_port(const char *text, size_t size, const char *kind,
                                          uint64_t least, world_error_t *error);

void live__put(sim_buffer_t *out, const char *format, ...) SIM_PRINTF(2, 3);

#endif // CLI_LIVE_TARGETS_H
