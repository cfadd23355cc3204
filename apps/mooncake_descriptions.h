// SPDX-License-Identifier: Apache-2.0
// apps/mooncake_descriptions.h - descriptions: records in the metadata service and messages of
// handshakes of Mooncake's Transfer Engine.
#ifndef APPS_MOONCAKE_DESCRIPTIONS_H
#define APPS_MOONCAKE_DESCRIPTIONS_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct app_mooncake_priority {
    char *location; // "cpu:0", "cuda:1"
    char **preferred;
    size_t preferred_count;
    char **available;
    size_t available_count;
} app_mooncake_priority_t;

typedef struct app_mooncake_matrix {
    app_mooncake_priority_t *items; // in the order written
    size_t count;
} app_mooncake_matrix_t;
void app_mooncake_matrix_fini(app_mooncake_matrix_t *matrix);

typedef struct app_mooncake_device {
    char *name; // "mlx5_3": NIC 3 of its host
    uint16_t lid;
    char *gid;
} app_mooncake_device_t;

typedef struct app_mooncake_buffer {
    char *name; // location, such as "cpu:0"
    uint64_t addr;
    uint64_t length;
    uint32_t *rkeys; // one key per device
    size_t rkey_count;
    // One key per device, in descriptions of the engine's own segment only: records do not hold
    // them.
    uint32_t *lkeys;
    size_t lkey_count;
} app_mooncake_buffer_t;

typedef struct app_mooncake_segment_desc {
    char *name;
    app_mooncake_device_t *devices;
    size_t device_count;
    app_mooncake_matrix_t matrix;
    app_mooncake_buffer_t *buffers;
    size_t buffer_count;
    char *server;         // NVMe-oF: name of the server of the file; NULL: a RAM segment
    uint64_t file_length; // NVMe-oF: bytes
    uint64_t nsid;        // NVMe-oF: namespace of the file on its server, from 1
} app_mooncake_segment_desc_t;
void app_mooncake_segment_desc_destroy(app_mooncake_segment_desc_t *desc);

typedef struct app_mooncake_handshake_desc {
    char *local_nic_path; // "server@nic" of the sender
    char *peer_nic_path;
    uint32_t *qp_nums;
    size_t qp_count;
    uint32_t mtu; // path MTU of its NIC in bytes; 0: not given
} app_mooncake_handshake_desc_t;
void app_mooncake_handshake_desc_fini(app_mooncake_handshake_desc_t *desc);

SIM_C_END

#endif // APPS_MOONCAKE_DESCRIPTIONS_H
