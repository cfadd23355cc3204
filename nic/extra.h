// SPDX-License-Identifier: Apache-2.0
// nic/extra.h - the parts of a NIC that are chosen by name, the library's and those that a program
// adds, each configured by attributes of its own.
//
// A nic_config_t made by nic_config_init_with knows the rows it was given besides the library's. It
// has a config struct of each part that has attributes; copies of it have their own.
#ifndef NIC_EXTRA_H
#define NIC_EXTRA_H

#include "nic/host.h"

SIM_C_BEGIN

// The first member of each table of operations is its name.
typedef enum nic_extra_kind {
    NIC_EXTRA_CC,        // ops: nic_cc_ops_t; chosen by nic.congestion-control
    NIC_EXTRA_TRANSPORT, // ops: nic_transport_ops_t; chosen by nic.transport
    NIC_EXTRA_STORE,     // ops: nic_store_ops_t; chosen by nic.detailed.store
    NIC_EXTRA_POLICY,    // ops: nic_policy_ops_t; chosen by nic.cache.policy
    NIC_EXTRA_SCHEDULER, // ops: nic_scheduler_ops_t; chosen by nic.scheduler
    NIC_EXTRA_FRAMES,    // ops: nic_frames_ops_t; chosen by nic.frames
    NIC_EXTRA_DEVICE,    // ops: nic_device_ops_t; chosen by nic.model
    NIC_EXTRA_PATH_RTT,  // ops: nic_path_rtt_ops_t; chosen by nic.path-rtt
    NIC_EXTRA_KIND_COUNT
} nic_extra_kind_t;

typedef struct nic_extra {
    nic_extra_kind_t kind;
    const char *name;              // none of the library's of that kind
    const sim_attr_table_t *attrs; // "nic.<name>."; NULL: no parameters
    const void *ops;
} nic_extra_t;

const char *nic_extra_kind_text(nic_extra_kind_t kind);      // "congestion control"
const char *nic_extra_kind_attribute(nic_extra_kind_t kind); // "nic.congestion-control"
// Returns the library's rows of a kind, tables of operations; ends with NULL.
const void *const *nic_extra_library(nic_extra_kind_t kind);

// Fills config with defaults, those of the extras included. The extras are borrowed and must
// outlive config and its copies.
void nic_config_init_with(nic_config_t *config, const nic_extra_t *extras, size_t extra_count);

// Returns the config struct that belongs to a part's table, or NULL if there is no such part.
void *nic_config_part(const nic_config_t *config, const sim_attr_table_t *table);
// Fills in the table of that index (from 0) and its struct. Returns false if there is none.
bool nic_config_part_at(const nic_config_t *config, size_t index, const sim_attr_table_t **table,
                        void **part);

// Returns the operations of that kind and name, or NULL if the config knows none. *part is their
// config struct, NULL if they have none.
const void *nic_config_find(const nic_config_t *config, nic_extra_kind_t kind, const char *name,
                            const void **part);

// Returns the name of the congestion control that a NIC of this configuration uses: that of its
// transport, if that has one of its own, else nic.congestion-control.
const char *nic_config_control(const nic_config_t *config);

// Returns whether packets of one queue pair of this configuration's NIC take several paths, by the
// choice of its transport or of nic.repath.
bool nic_config_spreads(const nic_config_t *config);

SIM_C_END

#endif // NIC_EXTRA_H
