// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/files/nvme.h - both ends of NVMe over RDMA, as the communication manager
// sees them.
#ifndef APPS_MOONCAKE_ENGINE_FILES_NVME_H
#define APPS_MOONCAKE_ENGINE_FILES_NVME_H

#include "apps/mooncake/engine/files/nvme_cm.h"

// Handle received messages: nvme_host.c has replies and rejects, nvmeof.c requests.
void app__nvme_host_received(app__mc_station_t *station, const app__cm_message_t *message);
void app__nvme_node_received(app__mc_station_t *station, const app__cm_message_t *message);

#endif // APPS_MOONCAKE_ENGINE_FILES_NVME_H
