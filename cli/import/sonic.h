// SPDX-License-Identifier: Apache-2.0
// cli/import/sonic.h - what is known of a switch when all tables of config_db.json are read.
#ifndef CLI_IMPORT_SONIC_H
#define CLI_IMPORT_SONIC_H

#include "cli/import/format.h"

typedef struct import_sonic_reader {
    import_fabric_t *fabric;
    const import_file_t *file;
    uint32_t node;
    struct profile *profiles; // of buffers, then of ECN
    size_t profile_count;
    size_t profile_capacity;
    struct scheduler *schedulers;
    size_t scheduler_count;
    size_t scheduler_capacity;
    uint64_t pool_bytes; // SIM_AUTO: not given
    uint64_t egress_pool_bytes;
    uint32_t ecn_classes;
    uint32_t strict_classes;
    uint32_t weights[IMPORT_CLASSES]; // 0: not given
    int lossy_exponent;               // INT_MAX: not given
    const char *watchdog;             // NULL: off
    uint64_t detect_ms;
    uint64_t restore_ms;
    world_error_t *error;
} import_sonic_reader_t;

// Adds the values of the scenario for this switch: buffer, PFC, ECN and scheduling.
void import_sonic_add_values(import_sonic_reader_t *reader);

#endif // CLI_IMPORT_SONIC_H
