// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/directory/handles.c - the directory as a table of handles
// (docs/models/tiered-cache.md).
#include "nic/store/tiered/directory/handles.h"

#define FIRST_LINES 16u

void nic_handles_fini(nic_handle_table_t *table)
{
    sim_free_each(table->tokens, NIC_TOKEN_TYPE_COUNT);
}

static uint32_t *place_of(const nic_handle_table_t *table, uint32_t handle)
{
    const uint32_t type = (uint32_t)nic_handle_type(handle);
    const uint32_t index = nic_handle_index(handle);
    return type < NIC_TOKEN_TYPE_COUNT && index < table->capacity[type]
               ? &table->tokens[type][index]
               : NULL;
}

// Doubles the table of a type until it has an index.
static void grow(nic_handle_table_t *table, uint32_t type, uint32_t index)
{
    const uint32_t old = table->capacity[type];
    uint32_t capacity = old == 0 ? FIRST_LINES * NIC_HANDLES_IN_LINE : old;
    while (capacity <= index) {
        capacity *= 2;
    }
    table->tokens[type] =
        sim_realloc_array(table->tokens[type], capacity, sizeof(*table->tokens[type]));
    for (uint32_t i = old; i < capacity; i++) {
        table->tokens[type][i] = NIC_HANDLE_NONE;
    }
    table->capacity[type] = capacity;
}

uint32_t nic_handles_put(nic_handle_table_t *table, uint32_t handle, uint32_t token)
{
    const uint32_t type = (uint32_t)nic_handle_type(handle);
    const bool grows = nic_handle_index(handle) >= table->capacity[type];
    if (grows) {
        grow(table, type, nic_handle_index(handle));
    }
    uint32_t *const place = place_of(table, handle);
    SIM_CHECK(place != NULL && *place == NIC_HANDLE_NONE);
    *place = token;
    return grows ? table->capacity[type] / NIC_HANDLES_IN_LINE : 0;
}

void nic_handles_remove(nic_handle_table_t *table, uint32_t handle)
{
    uint32_t *const place = place_of(table, handle);
    SIM_CHECK(place != NULL && *place != NIC_HANDLE_NONE);
    *place = NIC_HANDLE_NONE;
}

uint32_t nic_handles_find(const nic_handle_table_t *table, uint32_t handle)
{
    const uint32_t *const place = place_of(table, handle);
    return place != NULL ? *place : NIC_HANDLE_NONE;
}

uint64_t nic_handles_bytes(const nic_handle_table_t *table, nic_token_type_t type)
{
    return (uint64_t)table->capacity[type] / NIC_HANDLES_IN_LINE * NIC_HANDLE_LINE_BYTES;
}
