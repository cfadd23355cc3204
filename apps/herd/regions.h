// SPDX-License-Identifier: Apache-2.0
// apps/herd/regions.h - the layout of the memory regions of servers and clients.
#ifndef APPS_HERD_REGIONS_H
#define APPS_HERD_REGIONS_H

#include "apps/herd/client.h"

static inline uint64_t app__herd_slot_address(const app__herd_t *herd,
                                              uint32_t worker, // index at its server
                                              uint32_t client, uint32_t slot)
{
    const uint64_t number = ((uint64_t)worker * herd->client_count + client) * herd->window + slot;
    return herd->memory_address + number * herd->slot_bytes;
}
// A server's region has, after its request slots: answers of each worker, requests received by
// SEND, and the table that READs go to.
uint64_t app__herd_answers_address(const app__herd_t *herd, uint32_t worker, uint32_t buffer);
uint32_t app__herd_answer_buffers(const app__herd_t *herd);
uint64_t app__herd_received_address(const app__herd_t *herd, uint32_t worker, uint32_t buffer);
uint64_t app__herd_table_address(const app__herd_t *herd);
uint64_t app__herd_store_bytes(const app__herd_t *herd); // per worker, in that region; 0: none
// A client's part has requests, received answers, answers written by WRITE, and data that READs
// brought.
static inline uint64_t app__herd_request_address(const app__herd_client_t *client, uint32_t op)
{
    return client->memory_address + (uint64_t)op * client->herd->slot_bytes;
}
static inline uint64_t app__herd_receive_address(const app__herd_client_t *client, uint32_t buffer)
{
    const app__herd_t *const herd = client->herd;
    return client->memory_address + (uint64_t)herd->ops_per_client * herd->slot_bytes +
           (uint64_t)buffer * herd->receive_bytes;
}
static inline uint64_t app__herd_answer_slot_address(const app__herd_client_t *client, uint32_t op)
{
    const app__herd_t *const herd = client->herd;
    return app__herd_receive_address(client, herd->receives) +
           (uint64_t)op * herd->answer_slot_bytes;
}
static inline uint64_t app__herd_read_address(const app__herd_client_t *client, uint32_t op)
{
    const app__herd_t *const herd = client->herd;
    return app__herd_answer_slot_address(client, herd->ops_per_client) +
           (uint64_t)op * herd->read_bytes;
}

static inline uint32_t app__herd_value_bytes(const app__herd_t *herd, app_city128_t key)
{
    return herd->value_bytes != 0 ? herd->value_bytes : app_herd_value_length(key);
}
// Returns the bytes of an answer. The answer to a GET that missed is empty.
static inline uint32_t app__herd_answer_bytes(const app__herd_t *herd, bool put, bool hit,
                                              uint32_t value_bytes)
{
    const app__herd_config_t *const config = &herd->config;
    return put ? (uint32_t)config->put_answer
               : app_herd_answer_bytes(true, hit, value_bytes + (uint32_t)config->get_head);
}

#endif // APPS_HERD_REGIONS_H
