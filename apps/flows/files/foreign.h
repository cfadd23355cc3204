// SPDX-License-Identifier: Apache-2.0
// apps/flows/files/foreign.h - files that people give as flows and that list none.
#ifndef APPS_FLOWS_FILES_FOREIGN_H
#define APPS_FLOWS_FILES_FOREIGN_H

#include "kernel/base.h"

// Returns what the file is if it is known to list no flows ("a GOAL file, ..."); NULL otherwise.
const char *app__flow_foreign(const char *text, size_t size_bytes);
// The format of the message about it.
#define APP__FLOW_FOREIGN_FORMAT                                                               \
    "is %s: it lists no flows, expected rows such as \"host0 host1 1MB 0us\", or a flow file " \
    "of HPCC's simulator or htsim"

#endif // APPS_FLOWS_FILES_FOREIGN_H
