// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_transfers.h - batches of transfers of Mooncake's Transfer Engine.
#ifndef APPS_MOONCAKE_TRANSFERS_H
#define APPS_MOONCAKE_TRANSFERS_H

#include "apps/mooncake_engine.h"

SIM_C_BEGIN

typedef enum app_mooncake_opcode { APP_MOONCAKE_READ, APP_MOONCAKE_WRITE } app_mooncake_opcode_t;

typedef struct app_mooncake_request {
    // READ: from the target to source; WRITE: from source to the target
    app_mooncake_opcode_t opcode;
    uint64_t source; // in registered local memory
    app_mooncake_segment_id_t target_id;
    uint64_t target_offset; // RAM: an address on the target's host; NVMe-oF: a position in the file
    uint64_t length;
} app_mooncake_request_t;

typedef enum app_mooncake_task_status {
    APP_MOONCAKE_WAITING,   // slices are in flight
    APP_MOONCAKE_PENDING,   // accepted, but nothing is posted yet
    APP_MOONCAKE_INVALID,   // unknown segment, or outside of registered buffers
    APP_MOONCAKE_CANCELED,  // ended by app_mooncake_cancel_transfer
    APP_MOONCAKE_COMPLETED, // all bytes arrived
    APP_MOONCAKE_TIMEOUT,   // a slice took longer than slice-timeout
    APP_MOONCAKE_FAILED,    // all retries failed
} app_mooncake_task_status_t;
const char *app_mooncake_task_status_text(app_mooncake_task_status_t status);

typedef struct app_mooncake_status {
    app_mooncake_task_status_t s;
    uint64_t transferred; // bytes that are known to have arrived
} app_mooncake_status_t;

// Allocates a batch for batch_size entries (1 to 2^20). Returns a negative number if it is out of
// range.
app_mooncake_batch_id_t app_mooncake_allocate_batch_id(app_mooncake_t *engine, uint64_t batch_size);
// Submits transfers. Returns a negative number, and takes none, if there is no such batch or it has
// too few free entries.
int app_mooncake_submit_transfer(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                                 const app_mooncake_request_t *entries, size_t count);
// Returns how many entries have been submitted, and writes the first status_count of their
// statuses. Negative: there is no such batch.
int64_t app_mooncake_get_transfer_status(const app_mooncake_t *engine,
                                         app_mooncake_batch_id_t batch_id,
                                         app_mooncake_status_t *status, size_t status_count);
// Frees a batch. Returns a negative number while an entry is PENDING or WAITING.
int app_mooncake_free_batch_id(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id);
// Cancels an entry: it ends CANCELED; slices that are in flight may still arrive. Returns a
// negative number if there is no such entry or it has ended.
int app_mooncake_cancel_transfer(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                                 size_t index);
// Calls fn once, when no entry submitted so far is PENDING or WAITING any more, perhaps before this
// function returns. Returns a negative number if there is no such batch.
int app_mooncake_on_transfers(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                              app_mooncake_batch_fn fn, void *ctx);
// Calls fn like app_mooncake_on_transfers, but after the arrived data has been verified where the
// engine verifies: for WRITEs one round trip later. Until then nobody should write to the same
// memory. If both callbacks are set, this one comes second. Either may free the batch.
int app_mooncake_on_batch(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                          app_mooncake_batch_fn fn, void *ctx);

// Allocates a batch for exactly these entries and submits them (allocateBatchID and
// submitTransfer). Returns the batch, or a negative number.
app_mooncake_batch_id_t app_mooncake_submit(app_mooncake_t *engine,
                                            const app_mooncake_request_t *entries, size_t count);
// Returns the same as app_mooncake_get_transfer_status, and frees the batch if no entry is PENDING
// or WAITING; *freed says whether it did.
int64_t app_mooncake_get_status(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id,
                                app_mooncake_status_t *status, size_t status_count, bool *freed);

SIM_C_END

#endif // APPS_MOONCAKE_TRANSFERS_H
