// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/files/nvmeof.h - files of storage nodes, which other engines read and write.
#ifndef APPS_MOONCAKE_ENGINE_FILES_NVMEOF_H
#define APPS_MOONCAKE_ENGINE_FILES_NVMEOF_H

#include "apps/mooncake/engine/transfer_engine.h"

// Returns the address of a file's contents on its storage node.
#define APP__MC_FILE_AREA (UINT64_C(1) << 50)
#define APP__MC_FILE_AREA_BITS 44
static inline uint64_t app__mc_file_address(uint64_t nsid)
{
    return APP__MC_FILE_AREA + ((nsid - 1) << APP__MC_FILE_AREA_BITS);
}

void app__mc_file_submit(app_mooncake_t *engine, app__mc_task_t *task);
// Serves a request for a file of the engine itself.
void app__mc_file_at_home(app_mooncake_t *engine, app__mc_task_t *task);
void app__mc_files_fini(app_mooncake_t *engine);
void app__nvme_host_close(app_mooncake_t *engine);
void app__nvme_host_fini(app_mooncake_t *engine);
void app__nvme_node_close(app_mooncake_t *engine);

#endif // APPS_MOONCAKE_ENGINE_FILES_NVMEOF_H
