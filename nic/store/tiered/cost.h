// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/cost.h - the times of steps: CXL, directory, page tables, mailbox and driver.
#ifndef NIC_STORE_TIERED_COST_H
#define NIC_STORE_TIERED_COST_H

#include "nic/iommu.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/tiers/sharing.h"

typedef struct tiered_cxl {
    tiered_line_t *line; // its own, or the one of an L2 that NICs share
    tiered_line_t own_line;
    uint64_t read_bytes;
    uint64_t write_bytes;
    sim_time_t busy_ps;
    sim_time_t own_ps; // of reads that the access at hand has booked
} tiered_cxl_t;

sim_time_t nic__tiered_cxl_read(tiered_t *tiered, uint64_t bytes);
sim_time_t nic__tiered_cxl_write(tiered_t *tiered, uint64_t bytes);
// Looks tokens up in the directory, all at a time: each reads one bucket after the other, or its
// line of the table of handles.
sim_time_t nic__tiered_read_directory(tiered_t *tiered, const uint32_t *tokens, uint32_t count);
// Writes a changed entry of the directory; nobody waits for it.
void nic__tiered_write_directory(tiered_t *tiered);
// Copies the directory, or the table of handles of one type, into `lines` lines.
void nic__tiered_copy_directory(tiered_t *tiered, uint32_t lines);
// Charges the driver's work to the core that it shares with the host's program (driver.core).
void nic__tiered_drive_on_core(tiered_t *tiered, sim_time_t from_ps, sim_time_t work_ps);
// Returns the number of cores of the host, the driver's own included. *busy_ps is the time that all
// of them together have worked.
uint32_t nic__tiered_cores(const tiered_t *tiered, sim_time_t *busy_ps);
// Writes a request to the driver's mailbox.
sim_time_t nic__tiered_mailbox(tiered_t *tiered);
// Returns how long the driver's core works on a request for `count` tokens like this one.
sim_time_t nic__tiered_driver_work_ps(const tiered_t *tiered, const tiered_token_t *token,
                                      uint32_t count);
// Transfers the contexts of tokens (TIERED_NONE: none) from the host to the NIC, or to L2 with
// `stage`.
sim_time_t nic__tiered_answer(tiered_t *tiered, nic_token_type_t type, const uint32_t *tokens,
                              uint32_t count, bool stage);
// Expands a token for which an access waits: an urgent request to the driver, the driver's work,
// and the transfer of the context to the NIC.
sim_time_t nic__tiered_expand(tiered_t *tiered, const tiered_token_t *token);
sim_time_t nic__tiered_dma_read(tiered_t *tiered, uint64_t bytes);
sim_time_t nic__tiered_dma_write(tiered_t *tiered, uint64_t bytes);

// Returns whether the context of a token that is with the host lies in a page that the NIC may not
// touch. The second one counts a fault.
bool nic__tiered_denied(const tiered_t *tiered, const tiered_token_t *token);
bool nic__tiered_refused(const tiered_t *tiered, const tiered_token_t *token);
// Returns true, and counts a fault, if the NIC may not touch the line of a page's translation.
bool nic__tiered_refused_line(const tiered_t *tiered, uint64_t page);
// Returns the kind of a token's context.
nic_iommu_kind_t nic__tiered_kind(const tiered_token_t *token);

void nic__tiered_table_init(tiered_t *tiered, uint64_t seed);
void nic__tiered_table_fini(tiered_t *tiered);
// Reads a translation that the NIC lacks. Returns the time at which it arrives.
sim_time_t nic__tiered_read_table(tiered_t *tiered, uint64_t page);

#endif // NIC_STORE_TIERED_COST_H
