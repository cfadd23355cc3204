// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/verify.c - checks that the data that arrived is the data that was sent,
// without storing it (docs/models/mooncake.md).
//
// Registered memory is filled with a pattern that is computed, not stored (nic/memory.h): a hash of
// segment and address at each multiple of the stride. Packets carry these words as payload, through
// the peer's region into its memory. After a READ the engine checks its own memory; after WRITEs
// the peer's engine checks when an audit message asks it to, one for a whole batch. Checked data is
// forgotten, so memory use is that of transfers in flight.
#include "apps/mooncake/engine/verify.h"

#include <string.h>

#include "apps/mooncake/engine/files/nvmeof.h"

#define ENTRY_BYTES 40u
#define AUDIT_MAX_BYTES (UINT64_C(1) << 19)
#define PAGE_MASK UINT64_C(4095)
#define CHECKED_BYTES UINT64_C(4096) // bytes checked at a time

uint64_t app__mc_seed_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = name; *c != '\0'; c++) {
        hash = sim_mix64(hash ^ (uint8_t)*c);
    }
    return hash;
}

static uint64_t word_of(uint64_t seed, uint64_t address)
{
    return sim_mix64(seed ^ sim_mix64(address + 1)) | 1;
}

static uint64_t word_at(uint64_t address, const void *ctx)
{
    return word_of(((const app_mooncake_t *)ctx)->seed, address);
}

void app__mc_fill(app_mooncake_t *engine, uint64_t address, uint64_t length)
{
    const uint64_t from = address & ~PAGE_MASK;
    const uint64_t to = (address + length + PAGE_MASK) & ~PAGE_MASK;
    nic_memory_set_fill(engine->station->memory, from, to - from, engine->stride_bytes, word_at,
                        engine);
}

// Returns whether [to, to + length) holds the data of [from, ...) of the segment with that seed,
// and then forgets it.
static bool check(app_mooncake_t *engine, uint64_t seed, uint64_t from, uint64_t to,
                  uint64_t length, uint64_t stride_bytes)
{
    nic_memory_t *const memory = engine->station->memory;
    uint64_t at = (from + stride_bytes - 1) & ~(stride_bytes - 1);
    uint64_t seen = 0;
    bool right = true;
    const uint64_t held_bytes = nic_memory_bytes(memory);
    if (held_bytes > engine->memory_bytes_max) {
        engine->memory_bytes_max = held_bytes;
    }
    char bytes[CHECKED_BYTES + 8]; // a word may begin at the end of a piece
    for (uint64_t first = from; first - from < length; first += CHECKED_BYTES) {
        const uint64_t left = length - (first - from);
        if (at - first >= CHECKED_BYTES) {
            continue; // no word begins in this piece
        }
        const size_t count = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
        // Only the bytes between the first and the last word are read.
        const uint64_t skipped = SIM_MIN(at - first, count);
        const uint64_t words = (CHECKED_BYTES - 1 - (at - first)) / stride_bytes;
        const uint64_t read = SIM_MIN(words * stride_bytes + 8, count - skipped);
        nic_memory_read(memory, to + (first - from) + skipped, bytes + skipped, read);
        for (; at - first < CHECKED_BYTES && at - first + 8 <= count; at += stride_bytes) {
            right = right && app__mc_get64(bytes + (at - first)) == word_of(seed, at);
            seen++;
        }
    }
    nic_memory_forget(memory, to, length);
    return right && seen > 0;
}

static void count(app_mooncake_t *engine, app__mc_batch_t *batch, uint64_t good, uint64_t bad)
{
    engine->counters.verified_bytes += good;
    engine->counters.unverified_bytes += bad;
    if (batch != NULL) {
        batch->unverified += bad;
    }
}

// -- audits

typedef struct audit {
    app_mooncake_t *engine;
    app_mooncake_batch_id_t batch_id;
    uint64_t bytes;
} audit_t;

static void audited(int32_t status, const char *body, size_t size, void *ctx)
{
    audit_t *const audit = ctx;
    app_mooncake_t *const engine = audit->engine;
    const uint64_t good = status == SIM_OK && size == 8 ? app__mc_get64(body) : 0;
    SIM_CHECK(good <= audit->bytes);
    const uint64_t slot = (uint64_t)audit->batch_id & UINT32_MAX;
    app__mc_batch_t *batch = engine->batches[slot];
    batch = batch != NULL && batch->id == audit->batch_id ? batch : NULL;
    count(engine, batch, good, audit->bytes - good);
    sim_work_end(engine->station->node, 1);
    if (batch != NULL) {
        batch->audits--;
        app__mc_batch_settle(engine, batch);
    }
}

// Returns the name of the engine whose memory a segment is in.
static const char *owner_of(const app__mc_segment_t *segment)
{
    const app_mooncake_segment_desc_t *const desc = segment->desc;
    return desc != NULL && desc->server != NULL ? desc->server : segment->name;
}

// Returns the address of a request's target in its owner's memory.
static uint64_t target_of(const app__mc_task_t *task)
{
    const app_mooncake_segment_desc_t *const desc = task->segment->desc;
    const bool file = desc != NULL && desc->server != NULL;
    return task->request.target_offset + (file ? app__mc_file_address(desc->nsid) : 0);
}

// Sends the collected audit message.
static void audit_flush(app_mooncake_t *engine, app__mc_batch_t *batch)
{
    if (batch->audit_size == 0) {
        return;
    }
    audit_t *const audit = sim_alloc(sizeof(*audit));
    *audit = (audit_t){engine, batch->id, batch->audit_bytes};
    const app__mc_message_t message = {
        .kind = APP__MC_AUDIT,
        .key = owner_of(batch->audit_segment),
        .body = batch->audit,
        .size = batch->audit_size,
    };
    batch->audits++;
    sim_work_begin(engine->station->node, 1);
    app__mc_ask(engine->station, batch->audit_segment->station, &message,
                engine->config.handshake_timeout_ps, engine->config.call_retries, audited, audit,
                true);
    batch->audit_size = 0;
    batch->audit_bytes = 0;
}

// Handles an audit. A repeated audit finds that the first one forgot the data: its answer is lost
// or late, and the bytes count as unverified.
void app__mc_on_audit(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    (void)ctx;
    app_mooncake_t *const engine = app__mc_engine_named(station, incoming->key);
    uint64_t good = 0;
    for (size_t i = 0; engine != NULL && i + ENTRY_BYTES <= incoming->size; i += ENTRY_BYTES) {
        const char *const entry = incoming->body + i;
        const uint64_t length = app__mc_get64(entry + 24);
        if (check(engine, app__mc_get64(entry), app__mc_get64(entry + 8), app__mc_get64(entry + 16),
                  length, app__mc_get64(entry + 32))) {
            good += length;
        }
    }
    char body[8];
    app__mc_put64(body, good);
    app__mc_answer(station, incoming->peer, incoming->id, SIM_OK, body, sizeof(body));
}

static void collect(app_mooncake_t *engine, app__mc_task_t *task)
{
    app__mc_batch_t *const batch = task->batch;
    if (batch->audit_segment != task->segment ||
        batch->audit_size + ENTRY_BYTES > AUDIT_MAX_BYTES) {
        audit_flush(engine, batch);
    }
    batch->audit_segment = task->segment;
    while (batch->audit_size + ENTRY_BYTES > batch->audit_capacity) {
        SIM_GROW(batch->audit, batch->audit_capacity, &batch->audit_capacity);
    }
    char *const entry = batch->audit + batch->audit_size;
    app__mc_put64(entry, engine->seed);
    app__mc_put64(entry + 8, task->request.source);
    app__mc_put64(entry + 16, target_of(task));
    app__mc_put64(entry + 24, task->request.length);
    app__mc_put64(entry + 32, engine->stride_bytes);
    batch->audit_size += ENTRY_BYTES;
    batch->audit_bytes += task->request.length;
}

void app__mc_verify(app__mc_task_t *task)
{
    app_mooncake_t *const engine = task->engine;
    const app_mooncake_request_t *const request = &task->request;
    if (!engine->verify || task->is_part) {
        return;
    }
    const bool local = task->segment->id == APP_MOONCAKE_LOCAL_SEGMENT;
    const bool reads = request->opcode == APP_MOONCAKE_READ;
    if (!local && !reads) {
        collect(engine, task);
        return;
    }
    const bool right =
        check(engine, reads ? app__mc_seed_of(owner_of(task->segment)) : engine->seed,
              reads ? target_of(task) : request->source, reads ? request->source : target_of(task),
              request->length, engine->stride_bytes);
    count(engine, task->batch, right ? request->length : 0, right ? 0 : request->length);
}

void app__mc_batch_settle(app_mooncake_t *engine, app__mc_batch_t *batch)
{
    if (batch->open > 0) {
        return;
    }
    audit_flush(engine, batch);
    if (batch->ended_fn != NULL) {
        const app_mooncake_batch_id_t id = batch->id;
        const app_mooncake_batch_fn fn = batch->ended_fn;
        batch->ended_fn = NULL;
        fn(id, batch->ended_ctx);
        // The batch may have been freed, and another one made in its place.
        if (engine->batches[(uint64_t)id & UINT32_MAX] != batch || batch->id != id ||
            batch->open > 0) {
            return;
        }
    }
    if (batch->audits == 0 && batch->fn != NULL) {
        const app_mooncake_batch_fn fn = batch->fn;
        batch->fn = NULL;
        fn(batch->id, batch->ctx);
    }
}
