// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/sql.h - read-only SQL over the tables of given runs.
//
// The database is in memory and its only tables are virtual ones that read table files. An
// authorizer allows select, read, functions and recursion only, so a statement reaches no other
// file. A handler stops it after its time limit, and limits bound texts, depths and rows.
#ifndef STUDIO_SERVER_DATA_QUERY_SQL_H
#define STUDIO_SERVER_DATA_QUERY_SQL_H

#include "studio/server/data/query/query.h"

#define STUDIO_SQL_ROWS_MAX 1000000u
#define STUDIO_SQL_ANSWER_BYTES_MAX ((size_t)64 << 20)

typedef struct studio_sql studio_sql_t;

// Prepares one statement; SIM_ERR_INVALID, with the place in *error, if it is wrong. limit 0: as
// many rows as the format allows. cpu_s: the statement stops itself after this much processor time.
SIM_MUST_CHECK sim_err_t studio_sql_open(const studio_sources_t *sources, const char *text,
                                         uint64_t limit, uint64_t cpu_s, studio_format_t format,
                                         const studio_patience_t *patience, studio_sql_t **sql,
                                         studio_place_error_t *error);
// Computes the first piece before the answer begins, so that an error can still be answered as one.
SIM_MUST_CHECK sim_err_t studio_sql_begin(studio_sql_t *sql, studio_place_error_t *error);
// Works like studio_query_write. A later error ends the answer: as "error" in json, otherwise by
// breaking off the stream (studio_sql_failed).
bool studio_sql_write(studio_sql_t *sql, studio_out_t *out);
bool studio_sql_failed(const studio_sql_t *sql);
void studio_sql_close(studio_sql_t *sql); // NULL is allowed

#endif // STUDIO_SERVER_DATA_QUERY_SQL_H
