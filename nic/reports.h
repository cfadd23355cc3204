// SPDX-License-Identifier: Apache-2.0
// nic/reports.h - the reports that the parts of a NIC give at the end of a run.
//
// A part of a NIC (its caches, a transport, a unit) adds its report where it is made; it is then
// `nics[i].NAME` in summary.json and a line on the terminal, which adds the NICs up: whole numbers
// are summed, reals averaged, of names that end in _max the largest counts.
#ifndef NIC_REPORTS_H
#define NIC_REPORTS_H

#include "kernel/report.h"
#include "nic/host.h"

SIM_C_BEGIN

// Adds a part's report. name ("cache") and object must live as long as the NIC, and no two parts of
// a NIC have the same name. The object is read after the run.
void nic_add_report(nic_t *nic, const char *name, const sim_report_table_t *table,
                    const void *object);

typedef struct nic_report {
    const char *name;
    sim_report_part_t part;
} nic_report_t;
// Returns the reports in the order they were added; NULL and a count of 0 if there are none.
const nic_report_t *nic_reports(const nic_t *nic, size_t *count);

// The reports that a NIC can have, for the reference in docs/.
typedef struct nic_report_info {
    const char *name;
    const char *help; // a sentence: which NICs have it
    const sim_report_table_t *table;
} nic_report_info_t;
extern const nic_report_info_t nic_report_infos[]; // ends with a NULL name

SIM_C_END

#endif // NIC_REPORTS_H
