// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/sql_table.h - the tables of runs as virtual tables of SQLite.
#ifndef STUDIO_SERVER_DATA_QUERY_SQL_TABLE_H
#define STUDIO_SERVER_DATA_QUERY_SQL_TABLE_H

#include "studio/server/data/query/scan.h"

#include <sqlite3.h>

// Creates a virtual table for each table that one of the runs has; sources must outlive the
// database. On false see sqlite3_errmsg.
bool studio_sql_tables(sqlite3 *database, const studio_sources_t *sources);

#endif // STUDIO_SERVER_DATA_QUERY_SQL_TABLE_H
