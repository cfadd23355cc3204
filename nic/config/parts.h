// SPDX-License-Identifier: Apache-2.0
// nic/config/parts.h - parts that a NIC's configuration names, and their own configurations
// (nic/extra.h).
#ifndef NIC_CONFIG_PARTS_H
#define NIC_CONFIG_PARTS_H

#include "nic/device.h"
#include "nic/frames.h"
#include "nic/host.h"
#include "nic/scheduler.h"
#include "nic/transport.h"

// Makes the configurations of all parts, as copies of those of `from`; NULL: with defaults.
void nic__parts_create(nic_config_t *to, const nic_config_t *from);
bool nic__parts_equal(const nic_config_t *a, const nic_config_t *b);
void nic__parts_destroy(nic_config_t *config);
SIM_MUST_CHECK sim_err_t nic__check_parts(const nic_config_t *config, sim_message_t *message);

// Each function returns the table that the configuration chooses, or NULL if the name is unknown.
// It sets *part to the part's own configuration, or to NULL if it has none.
const nic_cc_ops_t *nic__config_cc(const nic_config_t *config, const void **part);
const nic_scheduler_ops_t *nic__config_scheduler(const nic_config_t *config, const void **part);
const nic_device_ops_t *nic__config_device(const nic_config_t *config, const void **part);
const nic_frames_ops_t *nic__config_frames(const nic_config_t *config, const void **part);
const nic_path_rtt_ops_t *nic__config_path_rtt(const nic_config_t *config);
const nic_transport_ops_t *nic__config_transport(const nic_config_t *config);

#endif // NIC_CONFIG_PARTS_H
