// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/cost.c - what each step of an access takes
// (docs/models/tiered-cache.md).
//
// Links and the driver's core are times until which they are busy. A step is booked when the access
// begins, as everything in the detailed NIC: what queues at that moment is waited for, and the
// latencies of the steps behind each other are added.
#include "nic/store/tiered/cost.h"
#include "nic/core.h"
#include "nic/store/tiered/driver/orders.h"
#include "nic/store/tiered/object.h"
#include "nic/store/tiered/rules/cluster.h"
#include "nic/store/tiered/tiered.h"

#include <assert.h>
#include <stdlib.h>

#define LINE_BYTES 64u // of CXL memory
#define MAILBOX_BYTES 64u
#define FRACTION_BITS 20

// -- L2

static sim_time_t line_time_ps(const tiered_t *tiered, uint64_t bytes)
{
    const uint64_t lines = (bytes + LINE_BYTES - 1) / LINE_BYTES;
    return (lines * LINE_BYTES * tiered->cxl_byte_time) >> FRACTION_BITS;
}

static sim_time_t setup_ps(const tiered_t *tiered)
{
    return tiered->config.l2_access == NIC_CACHE_DMA ? tiered->config.l2_setup_ps : 0;
}

sim_time_t nic__tiered_cxl_read(tiered_t *tiered, uint64_t bytes)
{
    tiered_cxl_t *const cxl = &tiered->cxl;
    const sim_time_t now_ps = tiered->now_ps;
    const sim_time_t busy_ps = line_time_ps(tiered, bytes);
    const sim_time_t queue_ps =
        cxl->line->read_free_ps > now_ps ? cxl->line->read_free_ps - now_ps : 0;
    // The access's own bookings end before its next step begins, so it does not wait for them.
    const sim_time_t wait_ps = queue_ps > cxl->own_ps ? queue_ps - cxl->own_ps : 0;
    cxl->line->read_free_ps = now_ps + queue_ps + busy_ps;
    cxl->own_ps += busy_ps;
    cxl->busy_ps += busy_ps;
    cxl->read_bytes += bytes;
    return setup_ps(tiered) + wait_ps + busy_ps + tiered->config.l2_latency_ps;
}

sim_time_t nic__tiered_cxl_write(tiered_t *tiered, uint64_t bytes)
{
    tiered_cxl_t *const cxl = &tiered->cxl;
    const sim_time_t now_ps = tiered->now_ps;
    const sim_time_t busy_ps = line_time_ps(tiered, bytes);
    const sim_time_t queue_ps =
        cxl->line->write_free_ps > now_ps ? cxl->line->write_free_ps - now_ps : 0;
    cxl->line->write_free_ps = now_ps + queue_ps + busy_ps;
    cxl->busy_ps += busy_ps;
    cxl->write_bytes += bytes;
    return setup_ps(tiered) + queue_ps + busy_ps + tiered->config.l2_latency_ps;
}

// -- PCIe

sim_time_t nic__tiered_dma_read(tiered_t *tiered, uint64_t bytes)
{
    tiered->counters.dma_read_bytes += bytes;
    return nic_pcie_read(tiered->pcie, tiered->now_ps, bytes, NIC_PCIE_CONTEXT_READ) -
           tiered->now_ps;
}

sim_time_t nic__tiered_dma_write(tiered_t *tiered, uint64_t bytes)
{
    tiered->counters.dma_write_bytes += bytes;
    return nic_pcie_write(tiered->pcie, tiered->now_ps, bytes, NIC_PCIE_CONTEXT_WRITE) -
           tiered->now_ps;
}

// -- the directory: on the NIC, in L2, or with the host

static sim_time_t read_lines(tiered_t *tiered, uint32_t count)
{
    tiered->counters.directory_lines += count;
    if (tiered->directory_on_nic) {
        return tiered->config.l1_latency_ps;
    }
    static_assert(NIC_HANDLE_LINE_BYTES == NIC_DIRECTORY_BUCKET_BYTES, "both are lines");
    const uint64_t bytes = (uint64_t)count * NIC_DIRECTORY_BUCKET_BYTES;
    return tiered->directory_in_cxl ? nic__tiered_cxl_read(tiered, bytes)
                                    : nic__tiered_dma_read(tiered, bytes);
}

static int by_line(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

// Returns the number of different lines in which entries lie that the index on the NIC lacks, and
// takes these entries in.
static uint32_t far_lines(tiered_t *tiered, const uint32_t *tokens, uint32_t count)
{
    uint64_t *const lines = sim_alloc_array(count, sizeof(*lines));
    uint32_t far = 0;
    for (uint32_t i = 0; i < count; i++) {
        const tiered_token_t *const token = &tiered->tokens[tokens[i]];
        const uint32_t handle = nic__tiered_handle(token);
        if (!token->live) {
            lines[far++] = nic_handles_line(handle); // a line says that it is gone
            continue;
        }
        SIM_CHECK(nic_handles_find(&tiered->handles, handle) == tokens[i]);
        if (nic_cache_insert(&tiered->handle_index, (uint64_t)handle + 1)) {
            tiered->counters.handle_hits++;
        } else {
            lines[far++] = nic_handles_line(handle);
        }
    }
    qsort(lines, far, sizeof(*lines), by_line);
    uint32_t different = 0;
    for (uint32_t i = 0; i < far; i++) {
        different += i == 0 || lines[i] != lines[i - 1];
    }
    sim_free(lines);
    return different;
}

// Looks tokens up by their handles, in the index on the NIC first.
static sim_time_t read_handles(tiered_t *tiered, const uint32_t *tokens, uint32_t count)
{
    const uint32_t lines = far_lines(tiered, tokens, count);
    return tiered->config.l1_latency_ps + (lines != 0 ? read_lines(tiered, lines) : 0);
}

sim_time_t nic__tiered_read_directory(tiered_t *tiered, const uint32_t *tokens, uint32_t count)
{
    tiered->counters.directory_reads += count;
    if (nic__tiered_by_handle(tiered)) {
        return read_handles(tiered, tokens, count);
    }
    sim_time_t took_ps = 0;
    uint32_t reading = count;
    for (uint32_t step = 1; reading != 0; step++) {
        reading = 0;
        for (uint32_t i = 0; i < count; i++) {
            const tiered_token_t *const token = &tiered->tokens[tokens[i]];
            uint32_t reads = 1;
            if (token->live) {
                (void)nic_directory_find(
                    &tiered->directory,
                    nic_directory_name((nic_token_type_t)token->type, token->key), &reads);
            }
            reading += reads >= step;
        }
        took_ps += reading != 0 ? read_lines(tiered, reading) : 0;
    }
    return took_ps;
}

void nic__tiered_write_directory(tiered_t *tiered)
{
    if (tiered->now_ps == 0) {
        return; // what is set up before the run costs nothing
    }
    tiered->counters.directory_writes++;
    if (tiered->directory_in_cxl) {
        (void)nic__tiered_cxl_write(tiered, sizeof(nic_directory_entry_t));
    }
    // The table of handles is the driver's, whatever has copies of it.
    const bool with_host = !tiered->directory_in_cxl && !tiered->directory_on_nic;
    if (with_host || nic__tiered_by_handle(tiered)) {
        (void)nic__tiered_dma_write(tiered, sizeof(nic_directory_entry_t));
    }
}

void nic__tiered_copy_directory(tiered_t *tiered, uint32_t lines)
{
    if (tiered->now_ps == 0) {
        return;
    }
    tiered->counters.directory_growths++;
    if (tiered->directory_in_cxl) {
        (void)nic__tiered_cxl_write(tiered, (uint64_t)lines * NIC_DIRECTORY_BUCKET_BYTES);
    }
}

// -- the driver: one core that serves urgent requests before those in the background

void nic__tiered_drive_on_core(tiered_t *tiered, sim_time_t from_ps, sim_time_t work_ps)
{
    if (tiered->config.driver_core == NIC_CACHE_CORE_SHARED) {
        tiered->shares_core = nic_cores_interrupt(tiered->store.nic, from_ps, work_ps);
    }
}

uint32_t nic__tiered_cores(const tiered_t *tiered, sim_time_t *busy_ps)
{
    const uint32_t cores = nic_cores_busy(tiered->store.nic, busy_ps);
    if (tiered->shares_core) {
        return cores;
    }
    *busy_ps +=
        tiered->driver.busy_ps[NIC_SERVER_URGENT] + tiered->driver.busy_ps[NIC_SERVER_BACKGROUND];
    return cores + 1;
}

sim_time_t nic__tiered_mailbox(tiered_t *tiered)
{
    return nic_pcie_write(tiered->pcie, tiered->now_ps, MAILBOX_BYTES, NIC_PCIE_CONTEXT_WRITE) -
           tiered->now_ps;
}

static sim_time_t unpack_ps(const tiered_t *tiered, const tiered_token_t *token, uint32_t count)
{
    return token->compressed ? tiered->config.decompress_ps * count : 0;
}

sim_time_t nic__tiered_driver_work_ps(const tiered_t *tiered, const tiered_token_t *token,
                                      uint32_t count)
{
    const nic_cache_config_t *const config = &tiered->config;
    return config->driver_ps + config->iommu_ps +
           (config->decompress_on_nic ? 0 : unpack_ps(tiered, token, count));
}

static_assert((int)NIC_IOMMU_PD == NIC_TOKEN_PD && (int)NIC_IOMMU_MR == NIC_TOKEN_MR &&
                  (int)NIC_IOMMU_CQ == NIC_TOKEN_CQ && (int)NIC_IOMMU_QP == NIC_TOKEN_QP,
              "kinds of contexts begin with the types of tokens");

nic_iommu_kind_t nic__tiered_kind(const tiered_token_t *token)
{
    // The keys of shared receive queues begin above those of CQs.
    return token->key > UINT32_MAX ? NIC_IOMMU_SRQ : (nic_iommu_kind_t)token->type;
}

static uint64_t context_address(const tiered_t *tiered, const tiered_token_t *token)
{
    return nic_iommu_context_address(tiered->store.nic, nic__tiered_kind(token), token->object);
}

bool nic__tiered_denied(const tiered_t *tiered, const tiered_token_t *token)
{
    return token->cell.entry.layer == NIC_LAYER_L3 &&
           nic_iommu_denies(tiered->store.nic, context_address(tiered, token),
                            nic_context_bytes((nic_token_type_t)token->type));
}

bool nic__tiered_refused(const tiered_t *tiered, const tiered_token_t *token)
{
    return nic__tiered_denied(tiered, token) &&
           nic_iommu_refuses(tiered->store.nic, context_address(tiered, token), 1);
}

bool nic__tiered_refused_line(const tiered_t *tiered, uint64_t page)
{
    const uint64_t line = page / NIC_TABLE_LINE_PAGES;
    const nic_t *const nic = tiered->store.nic;
    return nic_iommu_refuses(nic, nic_iommu_context_address(nic, NIC_IOMMU_MTT, (uint32_t)line), 1);
}

// Returns how long the IOMMU takes to translate the addresses of contexts that the NIC reads.
static sim_time_t translate(const tiered_t *tiered, nic_token_type_t type, const uint32_t *tokens,
                            uint32_t count)
{
    sim_time_t ready_ps = tiered->now_ps;
    for (uint32_t i = 0; i < count; i++) {
        if (tokens[i] != TIERED_NONE) {
            const uint64_t address = context_address(tiered, &tiered->tokens[tokens[i]]);
            ready_ps = nic__later(ready_ps,
                                  nic_iommu_translate(tiered->store.nic, NIC_IOMMU_DRIVER, address,
                                                      nic_context_bytes(type), tiered->now_ps));
        }
    }
    return ready_ps - tiered->now_ps;
}

sim_time_t nic__tiered_answer(tiered_t *tiered, nic_token_type_t type, const uint32_t *tokens,
                              uint32_t count, bool stage)
{
    const nic_cache_config_t *const config = &tiered->config;
    uint64_t context_bytes = 0;
    uint64_t bytes = 0;
    sim_time_t on_nic_ps = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (tokens[i] != TIERED_NONE) {
            const tiered_token_t *const token = &tiered->tokens[tokens[i]];
            context_bytes += nic_context_bytes(type);
            bytes += nic__tiered_bytes(token);
            on_nic_ps += config->decompress_on_nic ? unpack_ps(tiered, token, 1) : 0;
        }
    }
    sim_time_t took_ps = 0;
    if (tiered->has_l2 && (stage || config->expand_answer == NIC_CACHE_TO_CXL)) {
        // The driver writes the context into L2. The NIC reads it from there if it needs it at
        // once.
        took_ps += nic__tiered_cxl_write(tiered, bytes);
        if (stage) {
            return took_ps;
        }
        took_ps += nic__tiered_cxl_read(tiered, bytes);
    } else {
        took_ps += tiered->pcie->config.write_latency_ps; // "it lies there"
        took_ps += translate(tiered, type, tokens, count);
        took_ps += nic__tiered_dma_read(tiered, context_bytes);
    }
    return took_ps + on_nic_ps;
}

sim_time_t nic__tiered_expand(tiered_t *tiered, const tiered_token_t *token)
{
    const uint32_t number = nic__tiered_number(tiered, token);
    const sim_time_t work_ps = nic__tiered_driver_work_ps(tiered, token, 1);
    const sim_time_t mailbox_ps = nic__tiered_mailbox(tiered);
    nic__tiered_drive(tiered);
    const sim_time_t wait_ps = nic_server_urgent(&tiered->driver, tiered->now_ps, work_ps);
    nic__tiered_drive_on_core(tiered, tiered->now_ps + wait_ps, work_ps);
    const sim_time_t answer_ps =
        nic__tiered_answer(tiered, (nic_token_type_t)token->type, &number, 1, false);
    nic__tiered_note_expand(tiered, token);
    return mailbox_ps + wait_ps + work_ps + answer_ps;
}

// -- page tables

#define TABLE_WAYS 16u

void nic__tiered_table_init(tiered_t *tiered, uint64_t seed)
{
    const uint64_t lines = tiered->config.l2_table_bytes / NIC_TABLE_LINE_BYTES;
    if (lines != 0) {
        nic_cache_init(&tiered->table, lines, TABLE_WAYS, false, seed);
    }
}

void nic__tiered_table_fini(tiered_t *tiered)
{
    nic_cache_fini(&tiered->table);
}

sim_time_t nic__tiered_read_table(tiered_t *tiered, uint64_t page)
{
    SIM_ASSERT(tiered->table.slots != NULL);
    const uint64_t line = page / NIC_TABLE_LINE_PAGES;
    if (nic_cache_insert(&tiered->table, line + 1)) {
        tiered->counters.table_hits++;
        return tiered->now_ps + nic__tiered_cxl_read(tiered, NIC_TABLE_LINE_BYTES);
    }
    tiered->counters.table_misses++;
    const sim_time_t took_ps = nic__tiered_dma_read(tiered, NIC_TABLE_LINE_BYTES);
    (void)nic__tiered_cxl_write(tiered, NIC_TABLE_LINE_BYTES); // nobody waits for the copy
    return tiered->now_ps + took_ps;
}
