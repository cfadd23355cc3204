// SPDX-License-Identifier: Apache-2.0
// apps/channel/gsi.c - the QP 1 of a NIC: a slot of memory for each datagram.
#include "apps/channel/gsi.h"

#include "apps/channel/pair.h"
#include "nic/memory.h"

#include <string.h>

#define QKEY 0x80010000u
#define SLOTS 256u
#define POLL_MAX 16u
#define RECEIVED (UINT64_C(1) << 62) // bit of the wr_id of receives; the rest is the slot

struct app__gsi {
    app__endpoint_t *endpoint;
    nic_qp_t *qp;
    nic_cq_t *cq;
    nic_memory_t *memory;
    uint64_t address; // of its slots: sent, then received
    uint32_t lkey;
    uint32_t next_slot;
    app__gsi_listener_t *listeners;
};

static uint64_t slot_address(const app__gsi_t *gsi, uint64_t slot)
{
    return gsi->address + slot * APP__MAD_BYTES;
}

static void post_receive(const app__gsi_t *gsi, uint64_t slot)
{
    const nic_recv_wr_t wr = {
        .wr_id = RECEIVED | slot,
        .sge = {slot_address(gsi, SLOTS + slot), APP__MAD_BYTES, gsi->lkey},
    };
    app__qp_post_receive(gsi->qp, &wr);
}

static void deliver(const app__gsi_t *gsi, const uint8_t bytes[APP__MAD_BYTES], uint32_t interface)
{
    app__mad_t mad;
    const app__gsi_listener_t *listener = gsi->listeners;
    if (app__mad_read(bytes, &mad)) {
        while (listener != NULL && !listener->fn(listener->ctx, &mad, interface)) {
            listener = listener->next;
        }
    }
}

static void completed(nic_cq_t *cq, void *ctx)
{
    const app__gsi_t *const gsi = ctx;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            if ((wc[i].wr_id & RECEIVED) == 0) {
                continue;
            }
            const uint64_t slot = wc[i].wr_id & UINT32_MAX;
            uint8_t bytes[APP__MAD_BYTES];
            nic_memory_read(gsi->memory, slot_address(gsi, SLOTS + slot), bytes, sizeof(bytes));
            post_receive(gsi, slot);
            if (wc[i].status == NIC_WC_SUCCESS && wc[i].byte_len == APP__MAD_BYTES) {
                deliver(gsi, bytes, wc[i].src_interface);
            }
        }
    }
}

static app__gsi_t *make(app__endpoint_t *endpoint, uint64_t address, uint32_t lkey)
{
    app__gsi_t *const gsi = sim_alloc(sizeof(*gsi));
    *gsi = (app__gsi_t){
        .endpoint = endpoint,
        .memory = nic_host_memory(nic_node(endpoint->nic)),
        .address = address,
        .lkey = lkey,
        .cq = nic_cq_create(endpoint->nic, 1u << 16, completed, gsi),
    };
    gsi->qp = app__qp_create(endpoint, NIC_QPT_UD, ROCE_QPN_GSI, SLOTS, SLOTS,
                             &(app__queues_t){gsi->cq, gsi->cq, NULL, true});
    nic_qp_attr_t attr;
    nic_qp_attr_default(endpoint->nic, &attr);
    attr.qkey = QKEY;
    app__qp_connect(gsi->qp, &attr);
    for (uint64_t slot = 0; slot < SLOTS; slot++) {
        post_receive(gsi, slot);
    }
    return gsi;
}

void app__gsi_open(app__endpoint_t *endpoint, uint64_t address, uint32_t lkey,
                   app__gsi_listener_t *listener)
{
    if (endpoint->gsi == NULL) {
        endpoint->gsi = make(endpoint, address, lkey);
    }
    app__gsi_listener_t **at = &endpoint->gsi->listeners;
    while (listener->last && *at != NULL) {
        at = &(*at)->next;
    }
    listener->next = *at;
    *at = listener;
}

void app__gsi_close(app__endpoint_t *endpoint, const app__gsi_listener_t *listener)
{
    app__gsi_listener_t **at = &endpoint->gsi->listeners;
    while (*at != listener) {
        at = &(*at)->next;
    }
    *at = listener->next;
    if (endpoint->gsi->listeners == NULL) {
        sim_free(endpoint->gsi);
        endpoint->gsi = NULL;
    }
}

nic_qp_t *app__gsi_qp(const app__gsi_t *gsi)
{
    return gsi->qp;
}

void app__gsi_send(app__gsi_t *gsi, uint32_t interface, const uint8_t bytes[APP__MAD_BYTES])
{
    const uint64_t address = slot_address(gsi, gsi->next_slot);
    gsi->next_slot = (gsi->next_slot + 1) % SLOTS;
    nic_memory_write(gsi->memory, address, bytes, APP__MAD_BYTES);
    const nic_send_wr_t wr = {
        .opcode = NIC_WR_SEND,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {address, APP__MAD_BYTES, gsi->lkey},
        .ud = {interface, ROCE_QPN_GSI, QKEY},
    };
    // A full queue loses the message, as the network may: its sender sends it again.
    const sim_err_t error = nic_post_send(gsi->qp, &wr);
    SIM_CHECKF(error == SIM_OK || error == SIM_ERR_FULL, "%s", sim_err_text(error));
}
