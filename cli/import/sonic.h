// SPDX-License-Identifier: Apache-2.0
// cli/import/sonic.h - what is known of a switch when all tables of config_db.json are read.
#ifndef CLI_IMPORT_SONIC_H
#define CLI_IMPORT_SONIC_H

#include "cli/import/format.h"

typedef enum import_map {
    IMPORT_MAP_DSCP,
    IMPORT_MAP_QUEUE,
    IMPORT_MAP_GROUP,
    IMPORT_MAP_PFC,
    IMPORT_MAPS,
} import_map_t;

typedef struct import_sonic_reader {
    import_fabric_t *fabric;
    const import_file_t *file;
    uint32_t node;
    size_t listed_ports;      // entries of PORT
    struct profile *profiles; // of buffers, then of ECN
    size_t profile_count;
    size_t profile_capacity;
    struct scheduler *schedulers;
    size_t scheduler_count;
    size_t scheduler_capacity;
    uint64_t pool_bytes; // SIM_AUTO: not given
    uint64_t egress_pool_bytes;
    uint64_t headroom_pool_bytes; // SIM_AUTO: each port has its own headroom
    // Numbers of queues, until import_sonic_use_maps turns them into traffic classes.
    uint32_t ecn_classes;
    uint32_t strict_classes;
    uint32_t weights[IMPORT_CLASSES]; // 0: not given
    int lossy_exponent;               // INT_MAX: not given
    char *map_names[IMPORT_MAPS];     // of PORT_QOS_MAP; NULL: it names none
    char *dscps;                      // that reach lossless classes, for a comment; NULL: not known
    const char *watchdog;             // NULL: off
    uint64_t detect_ms;
    uint64_t restore_ms;
    world_error_t *error;
} import_sonic_reader_t;

// The functions of the format.
bool import_sonic_is(const import_file_t *file);
SIM_MUST_CHECK sim_err_t import_sonic_read(import_fabric_t *fabric, const import_file_t *file,
                                           world_error_t *error);

// Returns the text of a field of an entry; NULL: it has none.
const char *import_sonic_field(const world_tree_t *fields, const char *field);
// Returns a reference to another entry without the brackets and the table of older versions:
// "[BUFFER_PROFILE|x]" is "x". NULL stays NULL. Free it with sim_free.
char *import_sonic_reference(const char *text);

// Adds the values of the scenario for this switch: buffer, PFC, ECN and scheduling.
void import_sonic_add_values(import_sonic_reader_t *reader);

#endif // CLI_IMPORT_SONIC_H
