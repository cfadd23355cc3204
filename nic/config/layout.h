// SPDX-License-Identifier: Apache-2.0
// nic/config/layout.h - where a host's NICs, PCIe switches and GPUs are: behind which switch, at
// which socket. From the attributes nic.host.*: evenly, or as lists of places say.
#ifndef NIC_CONFIG_LAYOUT_H
#define NIC_CONFIG_LAYOUT_H

#include "nic/fabric.h"
#include "nic/host.h"
#include "nic/iommu.h"

SIM_C_BEGIN

#define NIC_NO_SWITCH UINT16_MAX // at a root port of its socket

typedef struct nic_spot {
    uint16_t pcie_switch; // or NIC_NO_SWITCH
    uint16_t socket;
    uint16_t lanes; // 0: not said
} nic_spot_t;

typedef struct nic_layout {
    uint32_t sockets;
    uint32_t switches;
    uint32_t nics;
    uint32_t gpus;
    nic_spot_t *nic_spots;
    nic_spot_t *switch_spots; // their sockets
    nic_spot_t *gpu_spots;
} nic_layout_t;

// Makes the layout of a host with `nics` NICs; ANY_NICS: as many as the host has places for.
// Returns SIM_ERR_RANGE, SIM_ERR_INVALID or SIM_ERR_UNKNOWN with a message about an attribute; then
// there is nothing to destroy.
#define NIC_LAYOUT_ANY_NICS UINT32_MAX
SIM_MUST_CHECK sim_err_t nic__layout_create(const nic_host_config_t *config, uint32_t nics,
                                            nic_layout_t *layout, sim_message_t *message);
void nic__layout_destroy(nic_layout_t *layout);
// Reads the place in memory that a text names. The message says what was expected.
sim_err_t nic__location_of(const nic_host_config_t *config, const char *text,
                           nic_location_t *location, sim_message_t *message);

SIM_C_END

// Pages that NICs may not touch.
typedef struct nic_page_range {
    uint64_t first;
    uint64_t last;
} nic_page_range_t;

// Returns the address of a context of a host's NIC (nic/iommu.h).
uint64_t nic__context_address(uint32_t nic, nic_iommu_kind_t kind, uint32_t number);
// Reads the next ADDRESS+BYTES or KIND:NUMBER of nic.host.iommu.deny, and moves *rest behind it;
// NULL: it was the last. Returns false if there is none, or what stands there is wrong.
bool nic__denied_range(const char **rest, uint32_t page_bits, nic_page_range_t *range);
// Checks the attributes nic.host.iommu. The message names the one that is wrong.
SIM_MUST_CHECK sim_err_t nic__iommu_check(const nic_host_config_t *config, sim_message_t *message);

#endif // NIC_CONFIG_LAYOUT_H
