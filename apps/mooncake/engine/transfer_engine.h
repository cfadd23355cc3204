// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/transfer_engine.h - an engine: its NICs, its memory, and what it transfers.
#ifndef APPS_MOONCAKE_ENGINE_TRANSFER_ENGINE_H
#define APPS_MOONCAKE_ENGINE_TRANSFER_ENGINE_H

#include "apps/mooncake/engine/buffer.h"
#include "apps/mooncake/engine/control/station.h"
#include "apps/mooncake/engine/task.h"
#include "apps/mooncake_metadata.h"
#include "kernel/random.h"
#include "kernel/ranks.h"

typedef struct app__mc_file app__mc_file_t;
typedef struct app__nvme_queue app__nvme_queue_t;
typedef struct app__mc_remote_link app__mc_remote_link_t;
typedef struct app__mc_drive app__mc_drive_t;

struct app__mc_remote_link {
    app__mc_remote_link_t *next;
};

struct app_mooncake {
    app_mooncake_metadata_client_t client; // put NULL: that of the metadata node
    app__mc_station_t *station;
    app_mooncake_t *next_on_station;
    char *name;
    app_mooncake_config_t config;
    app_mooncake_matrix_t matrix;
    bool verify;
    bool closed;
    uint64_t seed; // of the pattern that fills its memory
    uint64_t stride_bytes;
    uint64_t memory_bytes_max; // highest size of its host's contents
    sim_list_t tasks;          // tasks that are not freed
    sim_random_t random;
    uint64_t turn; // for round robin
    app__mc_context_t *contexts;
    uint32_t context_count;
    app__mc_local_buffer_t *buffers;
    size_t buffer_count;
    size_t buffer_capacity;
    app__mc_segment_t **segments; // by id; 0: its own
    size_t segment_count;
    size_t segment_capacity;
    app__mc_batch_t **batches; // by id; NULL: free
    size_t batch_count;
    size_t batch_capacity;
    size_t batches_free; // number of NULL entries
    uint64_t batch_serial;
    app__mc_slice_t *free_slices;
    void **slabs; // blocks of memory for slices
    size_t slab_count;
    size_t slab_capacity;
    sim_list_t timed;      // slices that can time out
    sim_link_t *looked_at; // slice that the timer looks at next; moved on if that slice ends
    sim_timer_t slice_timer;
    sim_timer_t begin_timer;
    sim_time_t copies_until_ps; // end of the queued copies within the host
    // The engine's own record:
    bool put_under_way;
    bool put_again;
    app__mc_waiter_t *put_waiters;   // for the write in progress
    app__mc_waiter_t *again_waiters; // for the next write
    app__mc_file_t *files;
    app__mc_drive_t *drive;         // of all its files; NULL: none
    app__nvme_queue_t *queues;      // of hosts that use its files
    app__mc_remote_link_t *remotes; // storage nodes that it uses
    app_mooncake_counters_t counters;
    uint64_t peer_nics_elsewhere; // of an engine that another rank ran: app__mc_peer_nics_max there
};

// Sends the results of an engine to rank 0, and returns true, if the carried rank ran it.
bool app__mc_carry_engine(app_mooncake_t *engine, sim_carry_t *carry);
// Returns the most NICs that one NIC of the engine talked to.
uint64_t app__mc_peer_nics_max(const app_mooncake_t *engine);

#endif // APPS_MOONCAKE_ENGINE_TRANSFER_ENGINE_H
