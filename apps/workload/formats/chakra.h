// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/chakra.h - an execution trace of Chakra: the nodes of one rank's file.
//
// chakra_read.c reads a file of protobuf, chakra_json.c one of JSON, chakra_schedule.c makes a
// schedule of the files of all ranks. What is read and what it means: docs/models/chakra.md
#ifndef APPS_WORKLOAD_FORMATS_CHAKRA_H
#define APPS_WORKLOAD_FORMATS_CHAKRA_H

#include "apps/workload/formats/format.h"

// Types of nodes, with Chakra's numbers.
typedef enum app__chakra_type {
    APP__CHAKRA_INVALID,
    APP__CHAKRA_METADATA,
    APP__CHAKRA_MEM_LOAD,
    APP__CHAKRA_MEM_STORE,
    APP__CHAKRA_COMP,
    APP__CHAKRA_SEND,
    APP__CHAKRA_RECV,
    APP__CHAKRA_COLL,
    APP__CHAKRA_TYPES
} app__chakra_type_t;

// Attributes of nodes that a schedule needs.
typedef enum app__chakra_attr {
    APP__CHAKRA_IS_CPU,
    APP__CHAKRA_COMM_TYPE,
    APP__CHAKRA_COMM_SIZE,
    APP__CHAKRA_COMM_SRC,
    APP__CHAKRA_COMM_DST,
    APP__CHAKRA_COMM_TAG,
    APP__CHAKRA_COMM_ROOT,
    APP__CHAKRA_ATTRS
} app__chakra_attr_t;

typedef struct app__chakra_text {
    const char *text; // in the file's bytes; NULL: there is none
    uint32_t length;
} app__chakra_text_t;

typedef struct app__chakra_node {
    uint64_t id;
    uint64_t duration_us;
    uint64_t values[APP__CHAKRA_ATTRS];
    app__chakra_text_t name;
    app__chakra_text_t group; // pg_name
    uint32_t dep_first;       // in the trace's deps
    uint32_t dep_count;
    uint8_t type; // app__chakra_type_t
    uint8_t has;  // bits of app__chakra_attr_t
} app__chakra_node_t;

typedef struct app__chakra_trace {
    const char *file;
    char *name; // owned, with the bytes; NULL: both are borrowed
    char *bytes;
    app__chakra_text_t version;
    app__chakra_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    uint64_t *deps; // ids of nodes; after app__chakra_read, indices, or UINT64_MAX for absent ids
    size_t dep_count;
    size_t dep_capacity;
    uint64_t ctrl_deps;
    uint64_t dangling;     // data dependencies on ids that the file does not have
    size_t first_dangling; // node with the first of them
    uint64_t first_absent; // the id that is absent
} app__chakra_trace_t;

bool app__chakra_recognises(const app__workload_file_t *file);
// Reads a trace, which points into the bytes. Call app__chakra_fini afterwards, also after errors.
SIM_MUST_CHECK sim_err_t app__chakra_read(const char *file, const char *bytes, size_t size_bytes,
                                          app__chakra_trace_t *trace, sim_message_t *message);
void app__chakra_fini(app__chakra_trace_t *trace);
// Returns whether a node has an attribute.
static inline bool app__chakra_has(const app__chakra_node_t *node, app__chakra_attr_t attr)
{
    return (node->has >> attr & 1) != 0;
}

// Returns the attribute with a name; -1: a schedule does not need it.
int app__chakra_attr_of(const app__chakra_text_t *name);

// Notes in the schedule what a trace holds.
void app__chakra_note_counts(const app__chakra_trace_t *trace, app__schedule_t *schedule);
// Returns the name of a collective in Chakra, "ALL_GATHER"; NULL: it is unknown.
const char *app__chakra_comm_name(uint64_t comm_type);

#endif // APPS_WORKLOAD_FORMATS_CHAKRA_H
