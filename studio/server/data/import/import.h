// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/import.h - from a result folder to an index: the files the studio
// answers from.
//
//     INDEX/flows.table ...     one for each CSV file (table.h), packets and the log
//     INDEX/series.points       the series by path, for plots (points.h)
//     INDEX/capture-N.pcap      captures that were compressed
//     INDEX/import.json         what was imported from which files, and how fast
//
// Made beside its place and renamed when it is whole: after a crash there is an index or there is
// none. What is left of one that did not become whole is cleared by the next import.
#ifndef STUDIO_SERVER_DATA_IMPORT_IMPORT_H
#define STUDIO_SERVER_DATA_IMPORT_IMPORT_H

#include "kernel/base.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>

#define STUDIO_IMPORT_FORMAT 1

// Of what is imported, for the thread that asks; all may change while they are read.
typedef struct studio_progress {
    _Atomic(const char *) part; // "series.csv": lives as long as the program
    atomic_ullong bytes_done;
    atomic_ullong bytes_total;
    atomic_ullong rows;
    atomic_bool stop;           // set by who wants it to end
    uint64_t capture_bytes_max; // of a capture, uncompressed; 0: STUDIO_CAPTURE_BYTES_MAX
} studio_progress_t;

// Imports result/ and the log file (NULL: none) into index/, which it replaces. SIM_ERR_STATE: it
// was stopped; SIM_ERR_INVALID: it is no result folder of rocesim, or damaged.
SIM_MUST_CHECK sim_err_t studio_import(const char *result,
                                       const char *log,
                                       const char *index,
                                       studio_progress_t *progress,
                                       sim_message_t *message);

// import.json where the index is whole, of this format and of these results; NULL: there is none.
json_t *studio_import_state(const char *result, const char *index);

// -- parts of it

// Rows of a CSV file (RFC 4180, as results/file.h writes it) into INDEX/NAME.table. columns: of
// schema.json's table, or NULL. *rows: how many.
SIM_MUST_CHECK sim_err_t studio_import_csv(const char *path,
                                           const char *table_path,
                                           const char *name,
                                           const json_t *schema,
                                           studio_progress_t *progress,
                                           uint64_t *rows,
                                           sim_message_t *message);
// Lines of a text file.
SIM_MUST_CHECK sim_err_t studio_import_log(const char *path,
                                           const char *table_path,
                                           studio_progress_t *progress,
                                           uint64_t *rows,
                                           sim_message_t *message);
// summary.json's leaves: a row of path, value, text each.
SIM_MUST_CHECK sim_err_t studio_import_summary(const json_t *summary,
                                               const char *table_path,
                                               uint64_t *rows,
                                               sim_message_t *message);
// captures/ of the folder into packets.table and INDEX/capture-N.pcap; captures: an array that is
// filled with {file, packets, bytes, ...}.
SIM_MUST_CHECK sim_err_t studio_import_captures(const char *result,
                                                const char *index,
                                                json_t *captures,
                                                studio_progress_t *progress,
                                                uint64_t *rows,
                                                sim_message_t *message);

#endif // STUDIO_SERVER_DATA_IMPORT_IMPORT_H
