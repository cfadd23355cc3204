// SPDX-License-Identifier: Apache-2.0
// apps/herd/read.c - GETs by one-sided READs, like those of the stores that HERD is compared with
// (table.h). Each READ but the first depends on the data of the last one.
//
//     pilaf      buckets until one has the key's tag, then the entry; a wrong checksum is read
//                again
//     farm       six adjacent places of key and value
//     farm-var   six adjacent places of key and pointer, then the value
//     farm-var   six places of key and pointer, then the value
#include "apps/herd/client.h"

#include "apps/herd/regions.h"

#define OF_READ 2u

typedef struct step {
    app_herd_extent_t next; // the next READ; 0 bytes: the chain is over
    uint32_t into;          // offset in the operation's buffer
    uint32_t value; // offset of the value in the buffer, at the end of the chain; 0: not found
    bool again;     // a repetition, because the data was torn
} step_t;

static step_t first_step(const app__herd_t *herd, app_city128_t key)
{
    return (step_t){.next = herd->config.system == APP__HERD_PILAF
                                ? app_herd_table_bucket(herd->table_image, key, 0)
                                : app_herd_table_neighbourhood(herd->table_image, key)};
}

static step_t try_bucket(const app__herd_t *herd, app__herd_op_t *op, app_city128_t key, bool again)
{
    op->stage = 0;
    if (!again && ++op->probes == APP_HERD_HASHES) {
        return (step_t){.value = 0};
    }
    return (step_t){
        .next = app_herd_table_bucket(herd->table_image, key, op->probes),
        .again = again,
    };
}

// Chooses the step after a READ of Pilaf; stage 0: a bucket arrived; 1: the entry after it.
static step_t next_of_pilaf(const app__herd_t *herd, app__herd_op_t *op, const uint8_t *bytes,
                            app_city128_t key)
{
    const uint8_t *const entry = bytes + APP_HERD_BUCKET_BYTES;
    app_herd_extent_t where = {0, 0};
    const app_herd_look_t look = op->stage == 0 ? app_herd_table_in_bucket(bytes, key, &where)
                                                : app_herd_table_in_entry(bytes, entry, key);
    if (look != APP_HERD_FOUND) {
        return try_bucket(herd, op, key, look == APP_HERD_TORN);
    }
    if (op->stage == 0) {
        op->stage = 1;
        return (step_t){.next = where, .into = APP_HERD_BUCKET_BYTES};
    }
    return (step_t){.value = APP_HERD_BUCKET_BYTES + APP_HERD_KEY_BYTES};
}

// Chooses the step after a READ of FaRM; stage 0: a neighbourhood arrived; 1: the value after it. A
// torn value is read again.
static step_t next_of_farm(const app__herd_t *herd, app__herd_op_t *op, const uint8_t *bytes,
                           app_city128_t key)
{
    const uint32_t places = app_herd_table_neighbourhood(herd->table_image, key).bytes;
    uint32_t at = places;
    app_herd_extent_t value;
    if (!app_herd_table_in_neighbourhood(herd->table_image, bytes, key, &at, &value)) {
        return (step_t){.value = 0};
    }
    const bool apart = herd->config.system == APP__HERD_FARM_VAR;
    if (apart && op->stage == 0) {
        op->stage = 1;
        return (step_t){.next = value, .into = places};
    }
    at = apart ? places : at;
    uint32_t stamp = 0;
    if (!app_herd_check_value(key, bytes + at, herd->value_bytes, &stamp)) {
        step_t again = first_step(herd, key);
        if (apart) {
            again = (step_t){.next = value, .into = places};
        }
        again.again = true;
        return again;
    }
    return (step_t){.value = at};
}

static step_t next_step(app__herd_client_t *client, uint32_t at)
{
    const app__herd_t *const herd = client->herd;
    app__herd_op_t *const op = &client->ops[at];
    const app_city128_t key = app_herd_key(op->key);
    if (op->reads == 0) {
        return first_step(herd, key);
    }
    uint8_t bytes[APP__HERD_READ_MAX];
    nic_memory_read(client->memory, app__herd_read_address(client, at), bytes, herd->read_bytes);
    return herd->config.system == APP__HERD_PILAF ? next_of_pilaf(herd, op, bytes, key)
                                                  : next_of_farm(herd, op, bytes, key);
}

bool app__herd_read_on(app__herd_client_t *client, uint32_t at, uint64_t *value_address)
{
    const app__herd_t *const herd = client->herd;
    app__herd_op_t *const op = &client->ops[at];
    const step_t step = next_step(client, at);
    *value_address = 0;
    if (step.next.bytes == 0) {
        *value_address = step.value == 0 ? 0 : app__herd_read_address(client, at) + step.value;
        return false;
    }
    const uint32_t server = at / herd->window - herd->server_count * herd->worker_count;
    const nic_send_wr_t wr = {
        .wr_id = (uint64_t)OF_READ << 32 | at,
        .opcode = NIC_WR_RDMA_READ,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {app__herd_read_address(client, at) + step.into, step.next.bytes,
                app__machine_key(client->thread.machine)},
        .rdma = {app__herd_table_address(herd) + step.next.offset,
                 app__machine_key(&herd->machines[server])},
    };
    op->reads++;
    client->reads++;
    client->reads_again += step.again;
    app__post(client->read_qps[server], &wr);
    return true;
}
