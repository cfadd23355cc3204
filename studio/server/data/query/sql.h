// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/sql.h - SQL over the tables of the runs that were given, which can do
// nothing but
// read them.
//
// A database in memory whose only tables are virtual ones that read the columns' files. An
// authorizer allows select, read, functions and recursion and nothing else: no ATTACH, no PRAGMA,
// no writing, no extension; there is no way to any other file. A handler ends what takes longer
// than its time, and limits keep texts, depths and rows in bounds.
#ifndef STUDIO_SERVER_DATA_QUERY_SQL_H
#define STUDIO_SERVER_DATA_QUERY_SQL_H

#include "studio/server/data/query/query.h"

#define STUDIO_SQL_SECONDS_MAX 10
#define STUDIO_SQL_ROWS_MAX 1000000u
#define STUDIO_SQL_ANSWER_BYTES_MAX ((size_t)64 << 20)

typedef struct studio_sql studio_sql_t;

// Prepares one statement. SIM_ERR_INVALID: *error says where in the text. limit 0: as many rows as
// the format allows.
SIM_MUST_CHECK sim_err_t studio_sql_open(const studio_sources_t *sources,
                                         const char *text,
                                         uint64_t limit,
                                         studio_format_t format,
                                         const studio_patience_t *patience,
                                         studio_sql_t **sql,
                                         studio_place_error_t *error);
// The first piece, before an answer begins: an error here is one of the statement.
SIM_MUST_CHECK sim_err_t studio_sql_begin(studio_sql_t *sql, studio_place_error_t *error);
// As studio_query_write. What fails later ends the answer: "error" in json, a broken off stream
// otherwise (studio_sql_failed).
bool studio_sql_write(studio_sql_t *sql, studio_out_t *out);
bool studio_sql_failed(const studio_sql_t *sql);
void studio_sql_close(studio_sql_t *sql); // NULL is allowed

#endif // STUDIO_SERVER_DATA_QUERY_SQL_H
