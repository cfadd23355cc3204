// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/slicing.c - cuts transfers into slices, and chooses among NICs
// (docs/models/mooncake.md).
#include "apps/mooncake/engine/slicing.h"

#include <string.h>

uint64_t app__mooncake_slice_count(uint64_t length, uint64_t slice_bytes, uint64_t fragment_bytes)
{
    SIM_CHECK(slice_bytes > 0 && fragment_bytes <= slice_bytes);
    if (length == 0) {
        return 0;
    }
    const uint64_t whole = length / slice_bytes;
    const uint64_t tail = length % slice_bytes;
    if (whole == 0) {
        return 1;
    }
    return whole + (tail > 0 && tail >= fragment_bytes);
}

uint64_t app__mooncake_slice_length(uint64_t length, uint64_t slice_bytes, uint64_t fragment_bytes,
                                    uint64_t index)
{
    const uint64_t count = app__mooncake_slice_count(length, slice_bytes, fragment_bytes);
    SIM_CHECK(index < count);
    return index + 1 < count ? slice_bytes : length - index * slice_bytes;
}

// -- priorities

const app_mooncake_priority_t *app__mooncake_priority(const app_mooncake_matrix_t *matrix,
                                                      const char *location)
{
    for (size_t i = 0; i < matrix->count; i++) {
        if (strcmp(matrix->items[i].location, location) == 0) {
            return &matrix->items[i];
        }
    }
    return NULL;
}

uint32_t app__mooncake_choose(const app__mooncake_choice_t *choice, uint32_t retry, uint64_t random,
                              uint32_t first)
{
    const uint32_t all = choice->preferred + choice->available;
    SIM_CHECK(all > 0);
    const uint32_t front = choice->preferred > 0 ? choice->preferred : all;
    if (retry == 0) {
        return (uint32_t)(random % front);
    }
    // The rest of the first list, from the failed one on, then the second list, then again from the
    // start.
    const uint32_t step = retry % all;
    SIM_CHECK(first < all);
    if (first >= front) {
        return (first + step) % all;
    }
    return step < front ? (first + step) % front : step;
}

// Returns the number at the end of a NIC's name: "mlx5_3" is NIC 3 of its host.
bool app__mooncake_nic_index(const char *name, uint32_t *index)
{
    size_t size = strlen(name);
    size_t digits = 0;
    while (digits < size && name[size - digits - 1] >= '0' && name[size - digits - 1] <= '9') {
        digits++;
    }
    if (digits == 0 || digits > 5) {
        return false;
    }
    uint32_t value = 0;
    for (size_t i = size - digits; i < size; i++) {
        value = value * 10 + (uint32_t)(name[i] - '0');
    }
    *index = value;
    return true;
}

// -- descriptions

static char **copy_names(char *const *names, size_t count)
{
    char **const copy = sim_alloc_array(count + 1, sizeof(*copy));
    for (size_t i = 0; i < count; i++) {
        copy[i] = sim_strdup(names[i]);
    }
    return copy;
}

static void free_names(char **names, size_t count)
{
    sim_free_each(names, count);
    sim_free(names);
}

void app_mooncake_matrix_fini(app_mooncake_matrix_t *matrix)
{
    for (size_t i = 0; i < matrix->count; i++) {
        app_mooncake_priority_t *const item = &matrix->items[i];
        sim_free(item->location);
        free_names(item->preferred, item->preferred_count);
        free_names(item->available, item->available_count);
    }
    sim_free(matrix->items);
    *matrix = (app_mooncake_matrix_t){NULL, 0};
}

void app__mooncake_matrix_copy(app_mooncake_matrix_t *to, const app_mooncake_matrix_t *from)
{
    to->count = from->count;
    to->items = sim_alloc_array(from->count + 1, sizeof(*to->items));
    for (size_t i = 0; i < from->count; i++) {
        const app_mooncake_priority_t *const item = &from->items[i];
        to->items[i] = (app_mooncake_priority_t){
            .location = sim_strdup(item->location),
            .preferred = copy_names(item->preferred, item->preferred_count),
            .preferred_count = item->preferred_count,
            .available = copy_names(item->available, item->available_count),
            .available_count = item->available_count,
        };
    }
}

static void buffer_fini(app_mooncake_buffer_t *buffer)
{
    SIM_FREE_ALL(buffer->name, buffer->rkeys, buffer->lkeys);
}

void app_mooncake_segment_desc_destroy(app_mooncake_segment_desc_t *desc)
{
    if (desc == NULL) {
        return;
    }
    for (size_t i = 0; i < desc->device_count; i++) {
        sim_free(desc->devices[i].name);
        sim_free(desc->devices[i].gid);
    }
    for (size_t i = 0; i < desc->buffer_count; i++) {
        buffer_fini(&desc->buffers[i]);
    }
    app_mooncake_matrix_fini(&desc->matrix);
    SIM_FREE_ALL(desc->name, desc->server, desc->devices, desc->buffers, desc);
}

void app_mooncake_handshake_desc_fini(app_mooncake_handshake_desc_t *desc)
{
    SIM_FREE_ALL(desc->local_nic_path, desc->peer_nic_path, desc->qp_nums);
    *desc = (app_mooncake_handshake_desc_t){.mtu = 0};
}

const app_mooncake_buffer_t *app__mooncake_buffer_of(const app_mooncake_segment_desc_t *desc,
                                                     uint64_t address, uint64_t length)
{
    for (size_t i = 0; i < desc->buffer_count; i++) {
        const app_mooncake_buffer_t *const buffer = &desc->buffers[i];
        if (address >= buffer->addr && address - buffer->addr < buffer->length &&
            length <= buffer->length - (address - buffer->addr)) {
            return buffer;
        }
    }
    return NULL;
}
