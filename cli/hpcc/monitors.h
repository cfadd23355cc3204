// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/monitors.h - SimAI's monitors, and qlen.txt.
#ifndef CLI_HPCC_MONITORS_H
#define CLI_HPCC_MONITORS_H

#include "cli/hpcc/output_internal.h"

// -- qlen.txt (qlen.c)
void cli__hpcc_qlen_attach(cli_hpcc_outputs_t *outputs);
void cli__hpcc_qlen_write(cli_hpcc_outputs_t *outputs);
void cli__hpcc_qlen_free(cli__hpcc_qlen_t *all);
// -- SimAI's monitors (monitors.c)
typedef enum cli__hpcc_monitor {
    CLI__HPCC_BANDWIDTH, // bw.txt
    CLI__HPCC_RATES,     // rate.txt
    CLI__HPCC_CNPS,      // cnp.txt
    CLI__HPCC_QUEUES,    // qlen.txt
} cli__hpcc_monitor_t;

// Writes the header and lets the monitor write its lines during the run.
void cli__hpcc_monitor(cli_hpcc_outputs_t *outputs, cli__hpcc_monitor_t which,
                       results_file_t *file);
void cli__hpcc_monitors_free(cli__hpcc_monitors_t *all);

#endif // CLI_HPCC_MONITORS_H
