// SPDX-License-Identifier: Apache-2.0
// apps/channel/mad.c - reading and writing messages of the connection manager by one table.
#include "apps/channel/mad.h"

#include <string.h>

#define DATA_AT 24u // behind the header of a management datagram
#define FIRST 0x10  // APP__MAD_REQ
#define KINDS (APP__MAD_SIDR_REP - FIRST + 1)
#define GIDS_AT 56u // in a REQ: that of the sender, then that of the receiver
#define GID_BYTES 16u

static const struct {
    uint8_t at;
    uint8_t bytes;
} privates[KINDS] = {
    [APP__MAD_REQ - FIRST] = {140, 92},      [APP__MAD_MRA - FIRST] = {10, 222},
    [APP__MAD_REJ - FIRST] = {84, 148},      [APP__MAD_REP - FIRST] = {36, 196},
    [APP__MAD_RTU - FIRST] = {8, 224},       [APP__MAD_DREQ - FIRST] = {12, 220},
    [APP__MAD_DREP - FIRST] = {8, 224},      [APP__MAD_SIDR_REQ - FIRST] = {16, 216},
    [APP__MAD_SIDR_REP - FIRST] = {96, 136},
};

#define ON(name) (1u << (APP__MAD_##name - FIRST))

// A field of messages, or a constant of the sender.
typedef struct field {
    uint32_t kinds; // that have it
    uint16_t bit;   // the first, counted from the most significant bit of the data
    uint8_t bits;
    uint16_t offset; // in app__mad_t
} field_t;

static const field_t fields[] = {
    {ON(REQ) | ON(MRA) | ON(REJ) | ON(REP) | ON(RTU) | ON(DREQ) | ON(DREP) | ON(SIDR_REQ), 0, 32,
     offsetof(app__mad_t, local_id)},
    {ON(MRA) | ON(REJ) | ON(REP) | ON(RTU) | ON(DREQ) | ON(DREP), 32, 32,
     offsetof(app__mad_t, remote_id)},
    {ON(SIDR_REP), 0, 32, offsetof(app__mad_t, remote_id)},
    {ON(REQ) | ON(SIDR_REQ), 64, 64, offsetof(app__mad_t, service_id)},
    {ON(SIDR_REP), 96, 64, offsetof(app__mad_t, service_id)},
    {ON(REQ), 128, 64, offsetof(app__mad_t, guid)},
    {ON(REP), 224, 64, offsetof(app__mad_t, guid)},
    {ON(REQ), 256, 24, offsetof(app__mad_t, qp_num)},
    {ON(REP), 96, 24, offsetof(app__mad_t, qp_num)},
    {ON(DREQ) | ON(SIDR_REP), 64, 24, offsetof(app__mad_t, qp_num)},
    {ON(REQ), 224, 32, offsetof(app__mad_t, qkey)},
    {ON(REP), 64, 32, offsetof(app__mad_t, qkey)},
    {ON(SIDR_REP), 160, 32, offsetof(app__mad_t, qkey)},
    {ON(REQ), 352, 24, offsetof(app__mad_t, psn)},
    {ON(REP), 160, 24, offsetof(app__mad_t, psn)},
    {ON(REQ), 280, 8, offsetof(app__mad_t, responder_resources)},
    {ON(REP), 192, 8, offsetof(app__mad_t, responder_resources)},
    {ON(REQ), 312, 8, offsetof(app__mad_t, initiator_depth)},
    {ON(REP), 200, 8, offsetof(app__mad_t, initiator_depth)},
    {ON(REQ), 351, 1, offsetof(app__mad_t, flow_control)},
    {ON(REP), 215, 1, offsetof(app__mad_t, flow_control)},
    {ON(REQ), 381, 3, offsetof(app__mad_t, retry_count)},
    {ON(REQ), 405, 3, offsetof(app__mad_t, rnr_retry_count)},
    {ON(REP), 216, 3, offsetof(app__mad_t, rnr_retry_count)},
    {ON(REQ), 412, 1, offsetof(app__mad_t, srq)},
    {ON(REP), 219, 1, offsetof(app__mad_t, srq)},
    {ON(REQ), 344, 5, offsetof(app__mad_t, response_timeout)},
    {ON(REQ), 376, 5, offsetof(app__mad_t, response_timeout)},
    {ON(REQ), 408, 4, offsetof(app__mad_t, cm_retries)},
    {ON(REQ), 400, 4, offsetof(app__mad_t, path_mtu)},
    {ON(REQ), 730, 6, offsetof(app__mad_t, path_rate)},
    {ON(REQ), 736, 8, offsetof(app__mad_t, traffic_class)},
    {ON(REQ), 752, 4, offsetof(app__mad_t, service_level)},
    {ON(REQ), 760, 5, offsetof(app__mad_t, ack_timeout)},
    {ON(MRA) | ON(REJ), 64, 2, offsetof(app__mad_t, about)},
    {ON(REJ), 80, 16, offsetof(app__mad_t, reason)},
    {ON(MRA), 72, 5, offsetof(app__mad_t, service_timeout)},
    {ON(SIDR_REP), 32, 8, offsetof(app__mad_t, status)},
};

static const struct {
    uint32_t kinds;
    uint16_t bit;
    uint8_t bits;
    uint16_t value;
} constants[] = {
    {ON(REQ), 384, 16, 0xffff},     // partition
    {ON(SIDR_REQ), 32, 16, 0xffff}, // partition
    {ON(REQ), 416, 16, 0xffff},     // local identifiers: none, the GIDs say it all
    {ON(REQ), 432, 16, 0xffff},     {ON(REQ), 744, 8, 64}, // hops
};

static uint64_t get_bits(const uint8_t *data, uint32_t bit, uint32_t bits)
{
    uint64_t value = 0;
    for (uint32_t i = bit; i < bit + bits; i++) {
        value = value << 1 | ((uint32_t)data[i / 8] >> (7 - i % 8) & 1u);
    }
    return value;
}

static void put_bits(uint8_t *data, uint32_t bit, uint32_t bits, uint64_t value)
{
    for (uint32_t i = 0; i < bits; i++) {
        const uint32_t at = bit + bits - 1 - i;
        data[at / 8] |= (uint8_t)((value >> i & 1) << (7 - at % 8));
    }
}

uint32_t app__mad_room(app__mad_kind_t kind)
{
    return privates[kind - FIRST].bytes;
}

void app__mad_write(const app__mad_t *mad, uint8_t bytes[APP__MAD_BYTES])
{
    // Version 1, class of communication in version 2, method "send".
    static const uint8_t head[] = {1, 7, 2, 3};
    uint8_t *const data = bytes + DATA_AT;
    const uint32_t index = (uint32_t)(mad->kind - FIRST);
    memset(bytes, 0, APP__MAD_BYTES);
    memcpy(bytes, head, sizeof(head));
    put_bits(bytes, 64, 64, mad->transaction);
    put_bits(bytes, 128, 16, (uint64_t)mad->kind);
    for (size_t i = 0; i < SIM_COUNT_OF(fields); i++) {
        if ((fields[i].kinds >> index & 1) != 0) {
            uint64_t value = 0;
            memcpy(&value, (const uint8_t *)mad + fields[i].offset, sizeof(value));
            put_bits(data, fields[i].bit, fields[i].bits, value);
        }
    }
    for (size_t i = 0; i < SIM_COUNT_OF(constants); i++) {
        if ((constants[i].kinds >> index & 1) != 0) {
            put_bits(data, constants[i].bit, constants[i].bits, constants[i].value);
        }
    }
    if (mad->kind == APP__MAD_REQ) {
        memcpy(data + GIDS_AT, mad->own_gid, GID_BYTES);
        memcpy(data + GIDS_AT + GID_BYTES, mad->peer_gid, GID_BYTES);
    }
    memcpy(data + privates[index].at, mad->private_data, privates[index].bytes);
}

bool app__mad_read(const uint8_t bytes[APP__MAD_BYTES], app__mad_t *mad)
{
    const uint8_t *const data = bytes + DATA_AT;
    const uint64_t kind = get_bits(bytes, 128, 16);
    if (bytes[0] != 1 || bytes[1] != 7 || bytes[2] != 2 || bytes[3] != 3 || kind < FIRST ||
        kind > APP__MAD_SIDR_REP) {
        return false;
    }
    const uint32_t index = (uint32_t)kind - FIRST;
    *mad = (app__mad_t){
        .kind = (app__mad_kind_t)kind,
        .transaction = get_bits(bytes, 64, 64),
    };
    for (size_t i = 0; i < SIM_COUNT_OF(fields); i++) {
        if ((fields[i].kinds >> index & 1) != 0) {
            const uint64_t value = get_bits(data, fields[i].bit, fields[i].bits);
            memcpy((uint8_t *)mad + fields[i].offset, &value, sizeof(value));
        }
    }
    if (mad->kind == APP__MAD_REQ) {
        memcpy(mad->own_gid, data + GIDS_AT, GID_BYTES);
        memcpy(mad->peer_gid, data + GIDS_AT + GID_BYTES, GID_BYTES);
    }
    memcpy(mad->private_data, data + privates[index].at, privates[index].bytes);
    return true;
}
