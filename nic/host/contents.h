// SPDX-License-Identifier: Apache-2.0
// nic/host/contents.h - contents of the memory of hosts.
#ifndef NIC_HOST_CONTENTS_H
#define NIC_HOST_CONTENTS_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// Frees the contents of a host's memory.
void nic__memory_fini(nic_memory_t *memory);
// Returns where a range lies that is in one area of another owner, such as a program's pages; NULL:
// there is none. At least one byte.
uint8_t *nic__memory_at(const nic_memory_t *memory, uint64_t address, uint64_t length_bytes);
// Says that the memory has contents from now on, so that NICs look at payloads.
void nic__note_contents(nic_memory_t *memory);

#endif // NIC_HOST_CONTENTS_H
