// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_files.h - files of storage nodes as segments of Mooncake's Transfer Engine.
#ifndef APPS_MOONCAKE_FILES_H
#define APPS_MOONCAKE_FILES_H

#include "apps/mooncake_engine.h"

SIM_C_BEGIN

// Behaviour of a storage node's drive, which all files of the host share.
typedef struct app_mooncake_drive_config {
    uint64_t queue_depth;        // commands that it accepts at a time
    sim_time_t latency_ps;       // time of a READ on its channel, without its transfer
    uint64_t rate_bps;           // of all transfers together
    sim_time_t write_latency_ps; // of a WRITE; 0: as latency_ps
    uint64_t channels;           // commands that it works on at a time; 0: queue_depth
} app_mooncake_drive_config_t;

// Serves a file as an NVMe-oF segment of its name from now on. All files of a host lie on one
// drive, which the first of them describes; for others `drive` is NULL or the same. Returns 0, or a
// negative number: the engine already has a file of that name, the host's drive is another one, or
// the host has 60 files.
int app_mooncake_serve_file(app_mooncake_t *engine, const char *file_name, uint64_t length,
                            const app_mooncake_drive_config_t *drive, app_mooncake_done_fn fn,
                            void *ctx);

SIM_C_END

#endif // APPS_MOONCAKE_FILES_H
