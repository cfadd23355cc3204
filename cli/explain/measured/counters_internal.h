// SPDX-License-Identifier: Apache-2.0
// cli/explain/measured/counters_internal.h - measured counters of ports over time, and
// the links between the ports.
#ifndef CLI_EXPLAIN_MEASURED_COUNTERS_INTERNAL_H
#define CLI_EXPLAIN_MEASURED_COUNTERS_INTERNAL_H

#include "cli/explain/explain_internal.h"

typedef struct meter_port {
    char *own;  // name at its node
    char *name; // for people: "NODE:own" where another node has a port of this name
    uint32_t node;
    uint32_t peer; // port; EXPLAIN_NONE: unknown
    bool has_samples;
    double stopped_us; // in all, counted; where only frames are counted, estimated from them
    double frames;     // pause frames received
    double peer_sent;  // pause frames that the peer sent
    double sent_bytes;
    double errors; // frames that arrived damaged
    double drops;  // frames that the port dropped
    bool has_durations;
    bool has_frames; // or durations
} meter_port_t;

typedef struct meter_node {
    char *name;
    uint32_t links;
    bool is_host; // said by a topology.json
    double cnps;  // that it sent
} meter_node_t;

// A counter as the file has it. Whole numbers are exact, so that the place where one wraps is
// known.
typedef struct meter_value {
    uint64_t whole;
    double part; // below 1
    bool is_missing;
} meter_value_t;

typedef struct meter_sample {
    uint32_t port;
    uint32_t line;
    double time_s;
    size_t values; // index of the first one in meter_t.values
} meter_sample_t;

// The kind of values in a column of counters.
typedef enum meter_kind {
    METER_OTHER,
    METER_FRAMES,
    METER_DURATION,
    METER_SENT,
    METER_BYTES,
    METER_ERRORS,
    METER_DROPS,
    METER_KINDS,
} meter_kind_t;

typedef struct meter {
    meter_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    meter_port_t *ports;
    size_t port_count;
    size_t port_capacity;
    uint32_t last_port; // of the sample that was read last
    meter_sample_t *samples;
    size_t sample_count;
    size_t sample_capacity;
    meter_kind_t *kinds; // of the columns of counters
    size_t kind_count;
    meter_value_t *values; // by sample and column of counters
    size_t value_count;
    size_t value_capacity;
    double *times;
    size_t time_count;
    float *active; // by port and interval: stopped us, or frames where no duration is counted
    uint32_t *parents;
    bool has_durations;
    bool has_bytes;
    size_t snapshots;     // 0: the samples are rows with times
    size_t unknown_ports; // values of ports that the topology lacks
    char *unknown_port;   // the first of them
} meter_t;

// counters_read.c: read the links, and the samples of counters, and sum up what counters grew by in
// each interval between two times.
SIM_MUST_CHECK sim_err_t cli__meter_links(meter_t *meter, const char *path, world_error_t *error);
SIM_MUST_CHECK sim_err_t cli__meter_samples(meter_t *meter, const char *path, world_error_t *error);
// Reads a number: "1234", "12.5" or "1,234"; "", "N/A" and "-" are missing. False: it is none.
bool cli__meter_parse(const char *text, meter_value_t *value);
// Sums up what the counters of all samples grew by. Messages name the file `path`.
SIM_MUST_CHECK sim_err_t cli__meter_intervals(meter_t *meter, const char *path,
                                              world_error_t *error);
// snapshots.c: reads snapshots, each a file or a folder, in the order of their times.
SIM_MUST_CHECK sim_err_t cli__meter_snapshots(meter_t *meter, const char *const *paths,
                                              size_t count, world_error_t *error);
void cli__meter_fini(meter_t *meter);

#endif // CLI_EXPLAIN_MEASURED_COUNTERS_INTERNAL_H
