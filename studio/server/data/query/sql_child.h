// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/sql_child.h - runs an SQL statement in a confined process of its own.
//
// One step of a statement can take any time, so only a process can be stopped for certain. It has
// limits of processor time and memory, reads the tables of the given runs and nothing else.
#ifndef STUDIO_SERVER_DATA_QUERY_SQL_CHILD_H
#define STUDIO_SERVER_DATA_QUERY_SQL_CHILD_H

#include "studio/server/data/query/sql.h"

#include <sys/types.h>

typedef struct studio_sql_child studio_sql_child_t;

typedef struct studio_sql_limits {
    uint64_t rows;         // 0: as many as the format allows
    uint64_t cpu_s;        // processor time
    const char *temporary; // folder for SQLite's temporary files
} studio_sql_limits_t;

// Starts the process and waits for its first rows. SIM_ERR_INVALID, with the place in *error, if
// the statement is wrong; SIM_ERR_RANGE if it needs too much time or memory. The
// sources are not used after the call.
SIM_MUST_CHECK sim_err_t studio_sql_child_start(const studio_sources_t *sources, const char *text,
                                                const studio_sql_limits_t *limits,
                                                studio_format_t format,
                                                const studio_patience_t *patience,
                                                studio_sql_child_t **child,
                                                studio_place_error_t *error);
// Reads the next bytes of the answer; returns 0 at its end, -1 if the process was stopped.
ssize_t studio_sql_child_read(studio_sql_child_t *child, void *buffer, size_t size_bytes);
// Says why the process was stopped.
const char *studio_sql_child_trouble(const studio_sql_child_t *child);
// Stops the process if it still runs; NULL is allowed.
void studio_sql_child_end(studio_sql_child_t *child);

// The process itself: arguments are the format's number and the limits; the order is on its input.
int studio_sql_child_main(const char *const *arguments);

#endif // STUDIO_SERVER_DATA_QUERY_SQL_CHILD_H
