// SPDX-License-Identifier: Apache-2.0
// nic/extra.h - what a program adds to the congestion controls, transports, stores, policies and
// schedulers that the library has: rows that are chosen by name and configured by attributes as
// those are.
//
// A nic_config_t made by nic_config_init_with knows the rows it was given, and has a config struct
// of each; copies of it have their own.
#ifndef NIC_EXTRA_H
#define NIC_EXTRA_H

#include "nic/host.h"

SIM_C_BEGIN

typedef enum nic_extra_kind {
    NIC_EXTRA_CC,        // ops: nic_cc_ops_t; chosen by nic.congestion-control
    NIC_EXTRA_TRANSPORT, // ops: nic_transport_ops_t; chosen by nic.transport
    NIC_EXTRA_STORE,     // ops: nic_store_ops_t; chosen by nic.detailed.store
    NIC_EXTRA_POLICY,    // ops: nic_policy_ops_t; chosen by nic.cache.policy
    NIC_EXTRA_SCHEDULER, // ops: nic_scheduler_ops_t; chosen by nic.scheduler
} nic_extra_kind_t;

typedef struct nic_extra {
    nic_extra_kind_t kind;
    const char *name;              // none of the library's
    const sim_attr_table_t *attrs; // "nic.<name>."; NULL: no parameters
    const void *ops;
} nic_extra_t;

// Defaults, those of the extras included; they are borrowed and must outlive config and its copies.
void nic_config_init_with(nic_config_t *config, const nic_extra_t *extras, size_t extra_count);

// The row of that kind and name among the config's extras, with its config struct in *row_config
// (NULL: it has none); NULL: there is none.
const nic_extra_t *nic_config_extra(const nic_config_t *config,
                                    nic_extra_kind_t kind,
                                    const char *name,
                                    const void **row_config);

SIM_C_END

#endif // NIC_EXTRA_H
