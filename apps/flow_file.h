// SPDX-License-Identifier: Apache-2.0
// apps/flow_file.h - reads flows from the files of other simulators.
//
// The formats are described in docs/formats/peers.md. Hosts are numbers; the application "flows"
// takes number n for the host named host<n>.
#ifndef APPS_FLOW_FILE_H
#define APPS_FLOW_FILE_H

#include "kernel/words.h"

SIM_C_BEGIN

typedef void (*app_note_fn)(const char *text, void *ctx);

typedef enum app_flow_format {
    APP_FLOW_AUTO,  // decided from the first words of the file
    APP_FLOW_ROWS,  // rocesim's own format: docs/formats/scenario.md
    APP_FLOW_HPCC,  // HPCC's ns-3 simulator and its forks: SimAI, ConWeave
    APP_FLOW_HTSIM, // htsim's connection matrices, .cm
} app_flow_format_t;

#define APP_FLOW_AS_THE_NIC 0xff // priority: the class of the NIC

// Triggers of a flow by number, from 1; 0: none. A trigger can start a flow instead of its time.
typedef struct app_flow_chain {
    uint32_t started_by; // trigger that starts this flow, which then has no start time
    uint32_t sent;       // trigger activated when the sender has all acknowledgements
    uint32_t received;   // trigger activated when the receiver has all bytes
    bool acknowledged;   // received: later, when the sender would know on an idle path
} app_flow_chain_t;

typedef enum app_trigger_kind {
    APP_TRIGGER_ONESHOT,   // starts all its flows
    APP_TRIGGER_MULTISHOT, // starts one at each activation
    APP_TRIGGER_BARRIER,   // starts all its flows at activation number `count`
} app_trigger_kind_t;

typedef struct app_flow_trigger {
    uint64_t id;
    uint64_t count; // activations before it starts flows
    app_trigger_kind_t kind;
    uint32_t line;
    uint32_t column;
} app_flow_trigger_t;

typedef struct app_flow_row {
    uint64_t bytes;
    sim_time_t start_ps; // NEVER: chain.started_by starts the flow
    uint32_t source;     // number of the source host
    uint32_t destination;
    uint32_t line; // place of the row in the file
    uint32_t column;
    uint32_t destination_line; // place of the destination: a row may span several lines
    uint32_t destination_column;
    uint32_t repeat;           // number of earlier rows of the same pair
    uint16_t source_port;      // HPCC: 10000 + repeat; 0: none
    uint16_t destination_port; // 0: none
    uint8_t priority;          // or APP_FLOW_AS_THE_NIC
    app_flow_chain_t chain;
} app_flow_row_t;

typedef struct app_flow_file {
    app_flow_row_t *rows;
    size_t count;
    size_t capacity;
    app_flow_trigger_t *triggers; // in order of id
    size_t trigger_count;
    size_t trigger_capacity;
    uint64_t nodes; // HTSIM: number of nodes that the file declares; 0: none declared
    uint32_t nodes_line;
    uint32_t nodes_column;
} app_flow_file_t;

// Detects the format of a text; never returns AUTO.
app_flow_format_t app_flow_file_detect(const char *text, size_t size_bytes);

// Reads size_bytes in format HPCC or HTSIM. An error message begins with "NAME:LINE:COLUMN: ".
// `note` (may be NULL) receives warnings. Free with app_flow_file_fini, also after an error.
SIM_MUST_CHECK sim_err_t app_flow_file_parse(app_flow_format_t format, const char *name,
                                             const char *text, size_t size_bytes, app_note_fn note,
                                             void *ctx, app_flow_file_t *file,
                                             sim_message_t *message);
void app_flow_file_fini(app_flow_file_t *file);

SIM_C_END

#endif // APPS_FLOW_FILE_H
