// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/import.h - imports a result folder into an index, from which the studio
// answers.
//
//     INDEX/flows.table ...     one per CSV file (table.h), and those of packets and the log
//     INDEX/series.points       series by path, for plots (points.h)
//     INDEX/network             nodes and links (network/network.h)
//     INDEX/capture-N.pcap      uncompressed copies of captures
//     INDEX/import.json         which files were imported, and how fast
//
// An index is built under another name and renamed when it is complete, so that a crash leaves
// either a complete index or none. The next import removes the rest of an incomplete one.
#ifndef STUDIO_SERVER_DATA_IMPORT_IMPORT_H
#define STUDIO_SERVER_DATA_IMPORT_IMPORT_H

#include "kernel/base.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>

#define STUDIO_IMPORT_FORMAT 3

// Progress of an import, for the thread that asks. All fields may change while they are read.
typedef struct studio_progress {
    _Atomic(const char *) part; // such as "series.csv"; a constant
    atomic_ullong bytes_done;
    atomic_ullong bytes_total;
    atomic_ullong rows;
    atomic_bool stop;           // set by another thread to stop the import
    uint64_t capture_bytes_max; // of an uncompressed capture; 0: STUDIO_CAPTURE_BYTES_MAX
} studio_progress_t;

// Imports result/ and the log file (NULL: none) and replaces index/. Returns SIM_ERR_STATE if it
// was stopped, SIM_ERR_INVALID if it is no result folder of rocesim or damaged.
SIM_MUST_CHECK sim_err_t studio_import(const char *result, const char *log, const char *index,
                                       studio_progress_t *progress, sim_message_t *message);

// Returns import.json if the index is complete, has this format and belongs to these results; else
// NULL.
json_t *studio_import_state(const char *result, const char *index);

// -- parts of it

// Imports a CSV file (RFC 4180, as results/file.h writes it) as INDEX/NAME.table. columns describes
// them as in schema.json, or is NULL. Sets *rows to the number of rows.
SIM_MUST_CHECK sim_err_t studio_import_csv(const char *path, const char *table_path,
                                           const char *name, const json_t *schema,
                                           studio_progress_t *progress, uint64_t *rows,
                                           sim_message_t *message);
// Imports the lines of a text file.
SIM_MUST_CHECK sim_err_t studio_import_log(const char *path, const char *table_path,
                                           studio_progress_t *progress, uint64_t *rows,
                                           sim_message_t *message);
// Imports the leaves of summary.json: one row of path, value and text each.
SIM_MUST_CHECK sim_err_t studio_import_summary(const json_t *summary, const char *table_path,
                                               uint64_t *rows, sim_message_t *message);
// Imports the folder's captures/ as packets.table and INDEX/capture-N.pcap, and fills the array
// captures with {file, packets, bytes, ...}.
SIM_MUST_CHECK sim_err_t studio_import_captures(const char *result, const char *index,
                                                json_t *captures, studio_progress_t *progress,
                                                uint64_t *rows, sim_message_t *message);

#endif // STUDIO_SERVER_DATA_IMPORT_IMPORT_H
