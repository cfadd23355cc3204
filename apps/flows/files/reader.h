// SPDX-License-Identifier: Apache-2.0
// apps/flows/files/reader.h - the state of a reader of flow files, and its parts.
#ifndef APPS_FLOWS_FILES_READER_H
#define APPS_FLOWS_FILES_READER_H

#include "apps/flow_file.h"

#define APP__FLOW_BYTES_MAX UINT64_C(1000000000000000)

// A trigger that a connection names, before triggers are resolved to numbers.
typedef enum app__trigger_use { APP__STARTED_BY, APP__SENT, APP__RECEIVED } app__trigger_use_t;
typedef struct app__trigger_reference {
    size_t row; // of the connection
    app__trigger_use_t use;
    uint64_t id;
    sim_word_t word;
} app__trigger_reference_t;

typedef struct app__flow_reader {
    sim_words_t words;
    app_flow_file_t *file;
    app_note_fn note; // may be NULL
    void *ctx;
    sim_message_t *message;
    // state of the HPCC reader
    uint64_t declared;
    uint32_t declared_line;
    bool has_port; // rows have a destination port
    sim_time_t last_start_ps;
    bool noted_order;
    // state of the htsim reader
    app__trigger_reference_t *references;
    size_t reference_count;
    size_t reference_capacity;
} app__flow_reader_t;

// -- htsim.c
bool app__flow_is_htsim(sim_words_t words);
SIM_MUST_CHECK sim_err_t app__flow_read_htsim(app__flow_reader_t *reader);

// -- triggers.c
// Reads the id behind a trigger key of the current connection.
SIM_MUST_CHECK sim_err_t app__trigger_refer(app__flow_reader_t *reader, app__trigger_use_t use);
// Reads the rest of a row that begins with "trigger".
SIM_MUST_CHECK sim_err_t app__trigger_read(app__flow_reader_t *reader, const sim_word_t *begin);
// Replaces the trigger ids of connections by the numbers of their triggers.
SIM_MUST_CHECK sim_err_t app__trigger_resolve(app__flow_reader_t *reader);

#endif // APPS_FLOWS_FILES_READER_H
