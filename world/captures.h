// SPDX-License-Identifier: Apache-2.0
// world/captures.h - the capture files that a scenario asks for under `captures`.
#ifndef WORLD_CAPTURES_H
#define WORLD_CAPTURES_H

#include "kernel/attribute.h"
#include "world/error.h"
#include "world/patterns.h"

SIM_C_BEGIN

typedef enum world_direction {
    WORLD_DIRECTION_BOTH,
    WORLD_DIRECTION_TX,
    WORLD_DIRECTION_RX
} world_direction_t;

typedef enum world_capture_times { WORLD_CAPTURE_NS, WORLD_CAPTURE_PS } world_capture_times_t;

typedef enum world_capture_trigger {
    WORLD_CAPTURE_ALWAYS,
    WORLD_CAPTURE_DROP,
    WORLD_CAPTURE_MARK,
    WORLD_CAPTURE_PAUSE,
    WORLD_CAPTURE_RETRANSMISSION,
    WORLD_CAPTURE_TRIM,
} world_capture_trigger_t;

// Each entry of "captures".
typedef struct world_capture_config {
    char *ports;
    world_direction_t direction;
    char *filter;
    uint64_t snaplen_bytes; // SIM_AUTO: whole frames
    uint64_t bytes_max;     // of the file before compression
    bool telemetry;         // kept
    char *file;
    char *fabric; // name of a pcapng file; empty: a pcap file, `file`
    world_capture_times_t times;
    world_capture_trigger_t around;
    sim_time_t before_ps;
    sim_time_t after_ps;
    uint64_t at_most;
    uint64_t ring_bytes; // 0: no ring
} world_capture_config_t;
extern const sim_attr_table_t world_capture_config_attrs;

typedef struct world_capture {
    world_capture_config_t config;
    world_place_t place;
    world_place_t filter_place;
    world_place_t file_place;
    world_pair_t ports;
} world_capture_t;

SIM_C_END

#endif // WORLD_CAPTURES_H
