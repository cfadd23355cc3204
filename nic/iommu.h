// SPDX-License-Identifier: Apache-2.0
// nic/iommu.h - the IOMMU of a host: translations of its NICs' accesses to host memory, and pages
// that they may not touch.
//
// Attributes "nic.host.iommu." say what it translates: nothing, the contexts that the tiered store
// expands (the default), or payloads as well. A domain is a protection domain of a NIC; its regions
// are mapped when they are registered, and their translations leave the IOTLB when they are
// deregistered. A page that the IOTLB lacks is walked: one read of memory per level of the page
// table, one after the other, by one of a few walkers. docs/models/rnic.md
#ifndef NIC_IOMMU_H
#define NIC_IOMMU_H

#include "kernel/report.h"
#include "nic/verbs.h"

SIM_C_BEGIN

typedef enum nic_iommu_use { NIC_IOMMU_OFF, NIC_IOMMU_EXPANDS, NIC_IOMMU_ALL } nic_iommu_use_t;

typedef struct nic_iommu_counters {
    uint64_t hits;          // of the IOTLB, a page each
    uint64_t walks;         // of the page table
    uint64_t waits;         // walks that had to wait for a walker
    uint64_t reads;         // of memory, by walks
    uint64_t invalidations; // translations that left the IOTLB with their region
    uint64_t ats_hits;      // pages whose translation the NIC had itself
    uint64_t ats_misses;    // translation requests of NICs
    uint64_t faults;        // accesses to pages that NICs may not touch
    sim_time_t walk_ps;     // all walks together, their waits included
} nic_iommu_counters_t;

// Denies the NICs of a host all access to [address, address + length_bytes), or allows it again.
// Ends are rounded to pages. An access that needs a denied page fails with the standard's error:
// local protection error, remote operational error, or for a context the queue pair's error state.
void nic_iommu_deny(net_node_t *host, uint64_t address, uint64_t length_bytes);
void nic_iommu_allow(net_node_t *host, uint64_t address, uint64_t length_bytes);
// Returns false if the host has no IOMMU; *counters is unchanged then.
bool nic_iommu_get_counters(const net_node_t *host, nic_iommu_counters_t *counters);

// The report nics[].iommu, of the whole host.
extern const sim_report_table_t nic_iommu_report;

// -- for devices and stores

// Reports the counters of the host's IOMMU with this NIC, once, if it is not off.
void nic_iommu_add_report(nic_t *nic);

// The domain of what the driver keeps for a NIC: contexts.
#define NIC_IOMMU_DRIVER 0u
// The kinds of contexts that the driver keeps in host memory, each kind in a part of its own. The
// first four are those of tokens. An MTT context is a line of a page table.
typedef enum nic_iommu_kind {
    NIC_IOMMU_PD,
    NIC_IOMMU_MR,
    NIC_IOMMU_CQ,
    NIC_IOMMU_QP,
    NIC_IOMMU_SRQ,
    NIC_IOMMU_MTT,
    NIC_IOMMU_KIND_COUNT
} nic_iommu_kind_t;
// Returns "pd", "mr", "cq", "qp", "srq" or "mtt".
const char *nic_iommu_kind_name(nic_iommu_kind_t kind);
// Returns the address of the context of an object in host memory, 256 bytes each.
uint64_t nic_iommu_context_address(const nic_t *nic, nic_iommu_kind_t kind, uint32_t number);
// Returns whether the IOMMU translates payloads of this NIC.
bool nic_iommu_translates(const nic_t *nic);
// Returns the domain of a region's key.
uint32_t nic_iommu_domain(const nic_t *nic, uint32_t key);
// Translates an access that begins at now_ps, page by page. Returns when all translations are
// there; now_ps without an IOMMU. domain: NIC_IOMMU_DRIVER, or the number of a protection domain.
sim_time_t nic_iommu_translate(nic_t *nic, uint32_t domain, uint64_t address, uint64_t bytes,
                               sim_time_t now_ps);
// Returns whether a page of these is denied to the host's NICs.
bool nic_iommu_denies(const nic_t *nic, uint64_t address, uint64_t bytes);
// Returns true, and counts a fault, if the NIC may not touch a page of these.
bool nic_iommu_refuses(const nic_t *nic, uint64_t address, uint64_t bytes);

SIM_C_END

#endif // NIC_IOMMU_H
