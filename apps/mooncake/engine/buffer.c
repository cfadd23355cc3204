// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/buffer.c - an engine's registered memory, and the NICs near it
// (docs/models/mooncake.md).
#include "apps/mooncake/engine/buffer.h"

#include <string.h>

#include "apps/mooncake/engine/transfer_engine.h"
#include "apps/mooncake/engine/verify.h"
#include "apps/mooncake_memory.h"

const app__mc_local_buffer_t *app__mc_local_buffer(const app_mooncake_t *engine, uint64_t address,
                                                   uint64_t length)
{
    for (size_t i = 0; i < engine->buffer_count; i++) {
        const app__mc_local_buffer_t *const buffer = &engine->buffers[i];
        if (address >= buffer->address && address - buffer->address < buffer->length &&
            length <= buffer->length - (address - buffer->address)) {
            return buffer;
        }
    }
    return NULL;
}

// -- where memory lies

bool app__mc_host_has(const net_node_t *host, const char *location, nic_location_t *place)
{
    sim_message_t message;
    return nic_location_parse(host, location, place, &message) == SIM_OK;
}

// On a host without GPUs "cuda:0" is only a name, and so is "cpu:1" on a host with one socket.
int app__mc_place(net_node_t *host, uint64_t address, uint64_t size, const char *location)
{
    nic_location_t place;
    if (app__mc_host_has(host, location, &place)) {
        nic_memory_place(host, address, size, place);
        return SIM_OK;
    }
    const char *const described = strncmp(location, "cuda:", 5) == 0  ? "cuda:0"
                                  : strncmp(location, "cpu:", 4) == 0 ? "cpu:1"
                                                                      : NULL;
    return described != NULL && app__mc_host_has(host, described, &place) ? SIM_ERR_UNKNOWN
                                                                          : SIM_OK;
}

static void find_near(const app_mooncake_t *engine, app__mc_local_buffer_t *buffer)
{
    const net_node_t *const host = engine->station->host;
    const uint32_t all = buffer->choice.preferred + buffer->choice.available;
    const uint32_t front = buffer->choice.preferred > 0 ? buffer->choice.preferred : all;
    buffer->near = sim_alloc_array(front, sizeof(*buffer->near));
    nic_location_t place;
    const bool placed = app__mc_host_has(host, buffer->location, &place);
    nic_distance_t least = NIC_OTHER_SOCKET;
    for (uint32_t i = 0; i < front; i++) {
        const nic_t *const nic = nic_at(host, engine->contexts[buffer->contexts[i]].nic_index);
        const nic_distance_t distance = placed ? nic_distance(nic, place) : NIC_SAME_SOCKET;
        if (distance < least) {
            least = distance;
            buffer->near_count = 0;
        }
        if (distance == least) {
            buffer->near[buffer->near_count++] = i;
        }
    }
}

// -- registration

static bool overlaps(const app_mooncake_t *engine, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < engine->buffer_count; i++) {
        const app__mc_local_buffer_t *const buffer = &engine->buffers[i];
        if (address < buffer->address + buffer->length && buffer->address < address + size) {
            return true;
        }
    }
    return false;
}

static void find_contexts(const app_mooncake_t *engine, const app_mooncake_priority_t *item,
                          app__mc_local_buffer_t *buffer)
{
    const size_t count = item->preferred_count + item->available_count;
    buffer->contexts = sim_alloc_array(count, sizeof(*buffer->contexts));
    for (size_t i = 0; i < count; i++) {
        const char *const name = i < item->preferred_count
                                     ? item->preferred[i]
                                     : item->available[i - item->preferred_count];
        uint32_t context = 0;
        while (context < engine->context_count &&
               strcmp(engine->contexts[context].name, name) != 0) {
            context++;
        }
        SIM_CHECKF(context < engine->context_count, "NIC %s of the matrix has no context", name);
        buffer->contexts[i] = context;
    }
    buffer->choice =
        (app__mooncake_choice_t){(uint32_t)item->preferred_count, (uint32_t)item->available_count};
}

int app_mooncake_register_local_memory(app_mooncake_t *engine, uint64_t address, uint64_t size,
                                       const char *location, uint32_t rights,
                                       app_mooncake_done_fn fn, void *ctx)
{
    const app_mooncake_priority_t *const item = app__mooncake_priority(&engine->matrix, location);
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    if (item == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    // Numbers in descriptions are limited to 2^63 - 1.
    if (size == 0 || address > INT64_MAX || size - 1 > INT64_MAX - address ||
        rights > APP_MOONCAKE_ALL) {
        return SIM_ERR_RANGE;
    }
    if (overlaps(engine, address, size)) {
        return SIM_ERR_EXISTS;
    }
    if (app__mc_place(engine->station->host, address, size, location) != SIM_OK) {
        return SIM_ERR_UNKNOWN;
    }
    uint32_t access = NIC_ACCESS_LOCAL_WRITE;
    access |= (rights & APP_MOONCAKE_REMOTE_READ) != 0 ? (uint32_t)NIC_ACCESS_REMOTE_READ : 0;
    access |= (rights & APP_MOONCAKE_REMOTE_WRITE) != 0 ? (uint32_t)NIC_ACCESS_REMOTE_WRITE : 0;
    SIM_GROW(engine->buffers, engine->buffer_count, &engine->buffer_capacity);
    app__mc_local_buffer_t *const buffer = &engine->buffers[engine->buffer_count++];
    *buffer = (app__mc_local_buffer_t){
        .address = address,
        .length = size,
        .location = sim_strdup(location),
        .rights = rights,
        .regions = sim_alloc_array(engine->context_count, sizeof(nic_mr_t *)),
    };
    find_contexts(engine, item, buffer);
    find_near(engine, buffer);
    for (uint32_t c = 0; c < engine->context_count; c++) {
        SIM_CHECK(engine->contexts[c].endpoint != NULL);
        const sim_err_t error = nic_mr_register(engine->contexts[c].endpoint->pd, address, size,
                                                access, &buffer->regions[c]);
        SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    }
    if (engine->verify) {
        app__mc_fill(engine, address, size);
    }
    if (rights != 0) {
        app__mc_put_record(engine, fn, ctx);
    }
    return SIM_OK;
}

// Deregisters a buffer. Its contents stay in memory: a NIC may still read them for an accepted
// request.
static void drop_buffer(app_mooncake_t *engine, size_t index)
{
    app__mc_local_buffer_t *const buffer = &engine->buffers[index];
    for (uint32_t c = 0; c < engine->context_count; c++) {
        nic_mr_deregister(buffer->regions[c]);
    }
    SIM_FREE_ALL(buffer->location, buffer->regions, buffer->contexts, buffer->near);
    memmove(buffer, buffer + 1, (engine->buffer_count - index - 1) * sizeof(*buffer));
    engine->buffer_count--;
}

int app_mooncake_unregister_local_memory(app_mooncake_t *engine, uint64_t address,
                                         app_mooncake_done_fn fn, void *ctx)
{
    if (engine->closed) {
        return SIM_ERR_STATE;
    }
    for (size_t i = 0; i < engine->buffer_count; i++) {
        if (engine->buffers[i].address == address) {
            drop_buffer(engine, i);
            app__mc_put_record(engine, fn, ctx);
            return SIM_OK;
        }
    }
    return SIM_ERR_UNKNOWN;
}

void app__mc_buffers_drop(app_mooncake_t *engine)
{
    while (engine->buffer_count > 0) {
        drop_buffer(engine, engine->buffer_count - 1);
    }
}

void app__mc_buffers_fini(app_mooncake_t *engine)
{
    for (size_t i = 0; i < engine->buffer_count; i++) {
        SIM_FREE_ALL(engine->buffers[i].location, engine->buffers[i].regions,
                     engine->buffers[i].contexts, engine->buffers[i].near);
    }
    sim_free(engine->buffers);
}
