// SPDX-License-Identifier: Apache-2.0
// apps/flows/files/import.h - adds the flows of other simulators' files to plans.
#ifndef APPS_FLOWS_FILES_IMPORT_H
#define APPS_FLOWS_FILES_IMPORT_H

#include "apps/flows/plan.h"

// Adds the flows of another simulator's file to the plan. Host n of the file is the host "host<n>".
// acknowledged: triggers that a sender activates at its receiver act when the sender would know.
SIM_MUST_CHECK sim_err_t app__flows_add_file(const app_context_t *context, app__plan_t *plan,
                                             app_flow_format_t format, const char *name,
                                             const char *text, size_t size_bytes, bool acknowledged,
                                             sim_message_t *message);

#endif // APPS_FLOWS_FILES_IMPORT_H
