// SPDX-License-Identifier: Apache-2.0
// apps/flow_file.h - flows read from the files of other simulators.
//
// Formats: docs/formats/peers.md. Hosts are numbers; the application "flows" takes them for the
// hosts named host<number>.
#ifndef APPS_FLOW_FILE_H
#define APPS_FLOW_FILE_H

#include "kernel/words.h"

SIM_C_BEGIN

typedef void (*app_note_fn)(const char *text, void *ctx);

typedef enum app_flow_format {
    APP_FLOW_AUTO,  // by the first words
    APP_FLOW_ROWS,  // our own: docs/formats/scenario.md
    APP_FLOW_HPCC,  // HPCC's ns-3 simulator and its forks: SimAI, ConWeave
    APP_FLOW_HTSIM, // htsim's connection matrices, .cm
} app_flow_format_t;

#define APP_FLOW_AS_THE_NIC 0xff // priority: the NIC's

// What starts flows besides their time: triggers of the file, by number from 1; 0: none.
typedef struct app_flow_chain {
    uint32_t started_by; // the flow has no start of its own
    uint32_t sent;       // activated when its sender has all answers
    uint32_t received;   // activated when its receiver has all its bytes
} app_flow_chain_t;

typedef enum app_trigger_kind {
    APP_TRIGGER_ONESHOT,   // starts all its flows
    APP_TRIGGER_MULTISHOT, // starts one at each activation
    APP_TRIGGER_BARRIER,   // starts all its flows at activation number `count`
} app_trigger_kind_t;

typedef struct app_flow_trigger {
    uint64_t id;
    uint64_t count; // activations it needs
    app_trigger_kind_t kind;
    uint32_t line;
    uint32_t column;
} app_flow_trigger_t;

typedef struct app_flow_row {
    uint64_t bytes;
    sim_time_t start_ps; // NEVER: chain.started_by
    uint32_t source;     // number of the host
    uint32_t destination;
    uint32_t line; // of the row in the file
    uint32_t column;
    uint32_t destination_line; // a row may go over several
    uint32_t destination_column;
    uint32_t repeat;           // earlier rows of the same pair
    uint16_t source_port;      // HPCC: 10000 + repeat; 0: none
    uint16_t destination_port; // 0: none
    uint8_t priority;          // or APP_FLOW_AS_THE_NIC
    app_flow_chain_t chain;
} app_flow_row_t;

typedef struct app_flow_file {
    app_flow_row_t *rows;
    size_t count;
    size_t capacity;
    app_flow_trigger_t *triggers; // by id
    size_t trigger_count;
    size_t trigger_capacity;
    uint64_t nodes; // HTSIM: how many it says there are; 0: it does not
    uint32_t nodes_line;
    uint32_t nodes_column;
} app_flow_file_t;

// The format a text is in; never AUTO.
app_flow_format_t app_flow_file_detect(const char *text, size_t size_bytes);

// Reads size_bytes in format HPCC or HTSIM. On failure message begins with "NAME:LINE:COLUMN: ".
// note (may be NULL) hears of what is odd but no error. Free with app_flow_file_fini, also on
// failure.
SIM_MUST_CHECK sim_err_t app_flow_file_parse(app_flow_format_t format,
                                             const char *name,
                                             const char *text,
                                             size_t size_bytes,
                                             app_note_fn note,
                                             void *ctx,
                                             app_flow_file_t *file,
                                             sim_message_t *message);
void app_flow_file_fini(app_flow_file_t *file);

SIM_C_END

#endif // APPS_FLOW_FILE_H
