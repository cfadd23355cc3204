// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/directory/handles.h - the table of handles: the directory's entries in the order
// of 32-bit handles, in the driver's memory, with a copy in L2 and an index on the NIC
// (docs/models/tiered-cache.md).
//
// A handle says the type of an object and its index in the pool of that type, so an entry is found
// without a search. The entries of a type lie one behind the other, five of 12 bytes in a line of
// 64. The table of a type doubles when its pool outgrows it.
#ifndef NIC_STORE_TIERED_DIRECTORY_HANDLES_H
#define NIC_STORE_TIERED_DIRECTORY_HANDLES_H

#include "nic/store/tiered/token.h"

SIM_C_BEGIN

#define NIC_HANDLE_LINE_BYTES 64u
#define NIC_HANDLES_IN_LINE (NIC_HANDLE_LINE_BYTES / (uint32_t)sizeof(nic_directory_entry_t))

typedef struct nic_handle_table {
    uint32_t *tokens[NIC_TOKEN_TYPE_COUNT]; // by index; NIC_HANDLE_NONE: none
    uint32_t capacity[NIC_TOKEN_TYPE_COUNT];
} nic_handle_table_t;

// Frees a table, which begins with zeros.
void nic_handles_fini(nic_handle_table_t *table);
// Puts in the token of a handle that is free. Returns the number of lines if the table of its type
// doubled, else 0.
uint32_t nic_handles_put(nic_handle_table_t *table, uint32_t handle, uint32_t token);
void nic_handles_remove(nic_handle_table_t *table, uint32_t handle);
// Returns the token of a handle, or NIC_HANDLE_NONE.
uint32_t nic_handles_find(const nic_handle_table_t *table, uint32_t handle);
// Returns the number of the line in which the entry of a handle lies, unlike those of other types.
static inline uint64_t nic_handles_line(uint32_t handle)
{
    return (uint64_t)nic_handle_type(handle) << NIC_HANDLE_INDEX_BITS |
           nic_handle_index(handle) / NIC_HANDLES_IN_LINE;
}
uint64_t nic_handles_bytes(const nic_handle_table_t *table, nic_token_type_t type);

SIM_C_END

#endif // NIC_STORE_TIERED_DIRECTORY_HANDLES_H
