// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/lower.h - execution plans of MSCCL++ as programs.
#ifndef APPS_WORKLOAD_COLLECTIVE_MSCCL_LOWER_H
#define APPS_WORKLOAD_COLLECTIVE_MSCCL_LOWER_H

#include "apps/workload/collective/msccl/msccl.h"
#include "apps/workload/formats/json.h"

// Makes and verifies a program of a plan of this number of GPUs, whose operations plan.c has
// counted. SIM_ERR_INVALID: an operation cannot be run; the message names its place. Call
// app__msccl_fini afterwards, also after an error. json and its file's name must stay until then.
SIM_MUST_CHECK sim_err_t app__mscclpp_lower(const app__json_t *json, uint32_t ranks,
                                            app__msccl_t *msccl, sim_message_t *message);

// Reads and verifies an execution plan of MSCCL++ (plan.c, lower.c).
SIM_MUST_CHECK sim_err_t app__mscclpp_read(const app__workload_file_t *file, app__msccl_t *msccl,
                                           sim_message_t *message);

#endif // APPS_WORKLOAD_COLLECTIVE_MSCCL_LOWER_H
