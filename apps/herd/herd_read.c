// SPDX-License-Identifier: Apache-2.0
// apps/herd/herd_read.c - GETs by one-sided READs, as the stores that HERD is compared with do them
// (Kalia et al., SIGCOMM 2014, 5.1): what they read, not what they find.
//
//     pilaf      32 bytes of a bucket, 1.6 times in the mean, then the entry: key, value
//     farm       six places of key and value side by side
//     farm-var   six places of key and pointer, then the value
#include "apps/herd/herd_internal.h"

#define PLACES 6u
#define POINTER_BYTES 8u
#define BUCKET_BYTES 32u
#define AGAIN_PERCENT 60u // of pilaf's GETs read a second bucket
#define OF_READ 2u

static uint32_t read_bytes(const app__herd_t *herd, const app__herd_op_t *op)
{
    const uint32_t item = APP_HERD_KEY_BYTES + herd->value_bytes;
    switch (herd->config.system) {
    case APP__HERD_FARM:
        return op->reads == 0 ? PLACES * item : 0;
    case APP__HERD_FARM_VAR:
        return op->reads == 0   ? PLACES * (APP_HERD_KEY_BYTES + POINTER_BYTES)
               : op->reads == 1 ? herd->value_bytes
                                : 0;
    case APP__HERD_PILAF:
    default:
        return op->reads < op->probes ? BUCKET_BYTES : op->reads == op->probes ? item : 0;
    }
}

bool app__herd_read_on(app__herd_client_t *client, uint32_t at)
{
    const app__herd_t *const herd = client->herd;
    app__herd_op_t *const op = &client->ops[at];
    if (op->reads == 0) {
        op->probes = (uint8_t)(1 + (sim_random_below(&client->random, 100) < AGAIN_PERCENT));
    }
    const uint32_t bytes = read_bytes(herd, op);
    if (bytes == 0) {
        return false;
    }
    const uint32_t server = at / herd->window - herd->server_count * herd->worker_count;
    const uint64_t room = (app__herd_table_bytes(herd) - bytes) / APP_HERD_SLOT_BYTES;
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)OF_READ << 32 | at,
        .opcode = NIC_WR_RDMA_READ,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__herd_request_address(client, at),
                bytes,
                app__machine_key(client->thread.machine)},
        .rdma = {app__herd_table_address(herd) +
                     sim_random_below(&client->random, room + 1) * APP_HERD_SLOT_BYTES,
                 app__machine_key(&herd->machines[server])},
    };
    op->reads++;
    client->reads++;
    app__post(client->read_qps[server], &wr);
    return true;
}
