// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/files/nvme_cm.c - connections of NVMe over RDMA: messages of the
// communication manager (IBA volume 1, chapter 12) between the QPs 1 of two NICs, with the private
// data of IP and of NVMe; and queue pairs with memory for capsules (docs/models/mooncake.md).
#include "apps/mooncake/engine/files/nvme_cm.h"

#include <string.h>

#include "apps/channel/pair.h"
#include "apps/mooncake/engine/files/nvme.h"
#include "apps/mooncake/engine/transfer_engine.h"

typedef struct app__mc_gsi app__mc_gsi_t;

#define MAD_BYTES 256u
#define DATA_AT 24u // behind the header of a management datagram
#define REQUEST_PRIVATE_AT 140u
#define IP_BYTES 36u // header of the IP CM service in front of a request's private data
#define REPLY_PRIVATE_AT 36u
#define QKEY 0x80010000u
#define SERVICE_ID UINT64_C(0x0000000001060000) // IP CM service, TCP's port space
#define NVME_PORT 4420u
#define GSI_SLOTS 256u
#define POLL_MAX 16u
#define QUEUES_AREA (UINT64_C(1) << 38) // behind the messages that the station sends
#define QUEUE_BYTES (UINT64_C(2) * APP__NVME_DEPTH * APP__NVME_SLOT_BYTES)

// The QP 1 of a NIC, which all clusters on it share.
typedef struct port port_t;
struct port {
    port_t *next;
    app__mc_station_t *station;
    uint32_t nic;
};

struct app__mc_gsi {
    app__endpoint_t *endpoint;
    nic_qp_t *qp;
    nic_cq_t *cq;
    nic_memory_t *memory;
    uint64_t address; // of its slots: sent, then received
    uint32_t lkey;
    uint32_t next_slot;
    port_t *ports;
};

static void put(uint8_t *at, uint64_t value, unsigned bytes) // in network order
{
    for (unsigned i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
    }
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

// -- messages

static void put_ip(uint8_t *at, const net_t *net, uint32_t interface)
{
    uint8_t ip[16];
    net_interface_ip(net, interface, ip);
    memcpy(at + 12, ip, 4);
}

static void put_gid(uint8_t *at, const net_t *net, uint32_t interface)
{
    at[10] = 0xff;
    at[11] = 0xff;
    put_ip(at, net, interface);
}

static void write_request(uint8_t *data, const app__mc_station_t *station, uint32_t own_interface,
                          uint32_t interface, const app__cm_message_t *message)
{
    const net_t *const net = station->cluster->net;
    put(data + 8, SERVICE_ID | (NVME_PORT + station->cluster->index), 8);
    put(data + 32, message->qp_num, 3);
    data[35] = 16;      // responder resources
    data[39] = 16;      // initiator depth
    data[43] = 20 << 3; // remote response timeout; RC
    data[47] = 20 << 3 | 7;
    put(data + 48, 0xffff, 2); // partition
    data[50] = 5 << 4 | 7;     // MTU 4096, RNR retries for ever
    data[51] = 15 << 4;
    put(data + 52, 0xffffffff, 4); // LIDs: none, since the GIDs say it all
    put_gid(data + 56, net, own_interface);
    put_gid(data + 72, net, interface);
    data[93] = 64; // hops
    uint8_t *const private_data = data + REQUEST_PRIVATE_AT;
    private_data[1] = 4 << 4; // IP version
    put(private_data + 2, 49152u + (message->local_id & 0x3fff), 2);
    put_ip(private_data + 4, net, own_interface);
    put_ip(private_data + 20, net, interface);
    uint8_t *const nvme = private_data + IP_BYTES;
    app__nvme_put(nvme + 2, message->queue_id, 2);
    app__nvme_put(nvme + 4, APP__NVME_DEPTH, 2);
    app__nvme_put(nvme + 6, APP__NVME_DEPTH - 1, 2);
}

static void write_data(uint8_t *data, const app__mc_station_t *station, uint32_t own_interface,
                       uint32_t interface, const app__cm_message_t *message)
{
    put(data, message->local_id, 4);
    if (message->attribute == APP__CM_REQUEST) {
        write_request(data, station, own_interface, interface, message);
        return;
    }
    put(data + 4, message->remote_id, 4);
    if (message->attribute == APP__CM_REPLY) {
        put(data + 12, message->qp_num, 3);
        data[24] = 16;
        data[25] = 16;
        data[27] = 7 << 5;
        app__nvme_put(data + REPLY_PRIVATE_AT + 2, APP__NVME_DEPTH, 2);
    } else if (message->attribute == APP__CM_LEAVE) {
        put(data + 8, message->qp_num, 3);
    } else if (message->attribute == APP__CM_REJECT) {
        put(data + 10, 28, 2); // the consumer refuses
    }
}

// -- QP 1

static uint64_t slot_address(const app__mc_gsi_t *gsi, uint64_t slot)
{
    return gsi->address + slot * MAD_BYTES;
}

static void post_receive(const app__mc_gsi_t *gsi, uint64_t slot)
{
    const nic_recv_wr_t wr = {
        .wr_id = APP__NVME_RECEIVED | slot,
        .sge = {slot_address(gsi, GSI_SLOTS + slot), MAD_BYTES, gsi->lkey},
    };
    app__qp_post_receive(gsi->qp, &wr);
}

static void deliver(const app__mc_gsi_t *gsi, uint32_t cluster, app__cm_message_t *message)
{
    for (const port_t *port = gsi->ports; port != NULL; port = port->next) {
        if (port->station->cluster->index == cluster && !port->station->crashed) {
            message->nic = port->nic;
            if (message->attribute == APP__CM_REQUEST || message->attribute == APP__CM_READY ||
                message->attribute == APP__CM_LEAVE) {
                app__nvme_node_received(port->station, message);
            } else {
                app__nvme_host_received(port->station, message);
            }
            return;
        }
    }
}

static void take(const app__mc_gsi_t *gsi, const uint8_t *mad, uint32_t interface)
{
    const uint8_t *const data = mad + DATA_AT;
    app__cm_message_t message = {
        .attribute = (app__cm_attribute_t)get(mad + 16, 2),
        .interface = interface,
        .local_id = (uint32_t)get(data, 4),
    };
    if (message.attribute == APP__CM_REQUEST) {
        message.qp_num = (uint32_t)get(data + 32, 3);
        message.queue_id = (uint16_t)app__nvme_get(data + REQUEST_PRIVATE_AT + IP_BYTES + 2, 2);
        deliver(gsi, (uint32_t)(get(data + 8, 8) & 0xffff) - NVME_PORT, &message);
        return;
    }
    message.remote_id = (uint32_t)get(data + 4, 4);
    message.qp_num = message.attribute == APP__CM_REPLY ? (uint32_t)get(data + 12, 3) : 0;
    deliver(gsi, message.remote_id >> 24, &message);
}

static void completed(nic_cq_t *cq, void *ctx)
{
    const app__mc_gsi_t *const gsi = ctx;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            if ((wc[i].wr_id & APP__NVME_RECEIVED) == 0) {
                continue;
            }
            const uint64_t slot = wc[i].wr_id & UINT32_MAX;
            uint8_t mad[MAD_BYTES];
            nic_memory_read(gsi->memory, slot_address(gsi, GSI_SLOTS + slot), mad, MAD_BYTES);
            post_receive(gsi, slot);
            if (wc[i].status == NIC_WC_SUCCESS && wc[i].byte_len == MAD_BYTES) {
                take(gsi, mad, wc[i].src_interface);
            }
        }
    }
}

static app__mc_gsi_t *make_gsi(app__mc_station_t *station, app__mc_station_nic_t *card)
{
    app__mc_gsi_t *const gsi = sim_alloc(sizeof(*gsi));
    app__endpoint_t *const endpoint = card->endpoint;
    *gsi = (app__mc_gsi_t){
        .endpoint = endpoint,
        .memory = station->memory,
        .address = app__mc_area(station) + QUEUES_AREA * 2 -
                   (card->nic + UINT64_C(1)) * 2 * GSI_SLOTS * MAD_BYTES,
        .lkey = nic_mr_lkey(card->region),
        .cq = nic_cq_create(endpoint->nic, 1u << 16, completed, gsi),
    };
    gsi->qp = app__qp_create(endpoint, NIC_QPT_UD, ROCE_QPN_GSI, GSI_SLOTS, GSI_SLOTS,
                             &(app__queues_t){gsi->cq, gsi->cq, NULL, true});
    nic_qp_attr_t attr;
    nic_qp_attr_default(endpoint->nic, &attr);
    attr.qkey = QKEY;
    app__qp_connect(gsi->qp, &attr);
    for (uint64_t slot = 0; slot < GSI_SLOTS; slot++) {
        post_receive(gsi, slot);
    }
    return gsi;
}

void app__cm_open(app__mc_station_t *station, uint32_t nic)
{
    app__mc_station_nic_t *const card = &station->nics[nic];
    if (card->endpoint->gsi == NULL) {
        card->endpoint->gsi = make_gsi(station, card);
    }
    app__mc_gsi_t *const gsi = card->endpoint->gsi;
    for (const port_t *port = gsi->ports; port != NULL; port = port->next) {
        if (port->station == station) {
            return;
        }
    }
    port_t *const port = sim_alloc(sizeof(*port));
    *port = (port_t){gsi->ports, station, nic};
    gsi->ports = port;
}

void app__cm_close(app__mc_station_t *station)
{
    for (uint32_t nic = 0; station->nics != NULL && nic < station->nic_count; nic++) {
        app__endpoint_t *const endpoint = station->nics[nic].endpoint;
        app__mc_gsi_t *const gsi = endpoint == NULL ? NULL : endpoint->gsi;
        port_t **at = gsi == NULL ? NULL : &gsi->ports;
        while (at != NULL && *at != NULL) {
            port_t *const port = *at;
            if (port->station == station) {
                *at = port->next;
                sim_free(port);
            } else {
                at = &port->next;
            }
        }
        if (gsi != NULL && gsi->ports == NULL) {
            endpoint->gsi = NULL;
            sim_free(gsi);
        }
    }
}

void app__cm_send(app__mc_station_t *station, uint32_t nic, uint32_t interface,
                  const app__cm_message_t *message)
{
    app__mc_gsi_t *const gsi = station->nics[nic].endpoint->gsi;
    uint8_t mad[MAD_BYTES] = {1, 7, 2, 3}; // version, class, version of the class, "send"
    put(mad + 12, message->local_id, 4);   // transaction
    put(mad + 16, (uint64_t)message->attribute, 2);
    write_data(mad + DATA_AT, station, gsi->endpoint->interface, interface, message);
    const uint64_t address = slot_address(gsi, gsi->next_slot);
    gsi->next_slot = (gsi->next_slot + 1) % GSI_SLOTS;
    nic_memory_write(gsi->memory, address, mad, MAD_BYTES);
    const nic_send_wr_t wr = {
        .opcode = NIC_WR_SEND,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {address, MAD_BYTES, gsi->lkey},
        .ud = {interface, ROCE_QPN_GSI, QKEY},
    };
    // A full queue loses the message, as the network may: the sender asks again.
    const sim_err_t error = nic_post_send(gsi->qp, &wr);
    SIM_CHECKF(error == SIM_OK || error == SIM_ERR_FULL, "%s", sim_err_text(error));
}

uint32_t app__cm_new_id(app__mc_station_t *station)
{
    station->cm_serial++;
    return station->cluster->index << 24 | (station->cm_serial & 0xffffff);
}

// -- queue pairs of queues

static uint64_t sent_address(const app__nvme_pair_t *pair, uint64_t slot)
{
    return pair->address + slot * APP__NVME_SLOT_BYTES;
}

static uint64_t received_address(const app__nvme_pair_t *pair, uint64_t slot)
{
    return sent_address(pair, APP__NVME_DEPTH + slot);
}

static uint32_t key_of(const app__nvme_pair_t *pair)
{
    const app__mc_context_t *const context = pair->context;
    return nic_mr_lkey(context->engine->station->nics[context->nic_index].region);
}

void app__nvme_pair_make(app__nvme_pair_t *pair, app__mc_context_t *context, nic_cq_fn fn,
                         void *ctx)
{
    app__mc_station_t *const station = context->engine->station;
    pair->context = context;
    if (pair->cq == NULL) {
        pair->cq = nic_cq_create(context->endpoint->nic, 1u << 16, fn, ctx);
        pair->address =
            app__mc_area(station) + QUEUES_AREA + station->nvme_queues++ % 500000u * QUEUE_BYTES;
    }
    pair->qp = app__qp_create(context->endpoint, NIC_QPT_RC, app__mc_next_qp_number(context),
                              4 * APP__NVME_DEPTH, APP__NVME_DEPTH,
                              &(app__queues_t){pair->cq, pair->cq, NULL, true});
}

static void receive(const app__nvme_pair_t *pair, uint64_t slot)
{
    const nic_recv_wr_t wr = {
        .wr_id = APP__NVME_RECEIVED | slot,
        .sge = {received_address(pair, slot), APP__NVME_SLOT_BYTES, key_of(pair)},
    };
    app__qp_post_receive(pair->qp, &wr);
}

bool app__nvme_pair_connect(app__nvme_pair_t *pair, uint32_t interface, uint32_t qp_num)
{
    nic_qp_attr_t attr;
    app__mc_qp_attr(pair->context, interface, qp_num, &attr);
    sim_message_t message;
    if (nic_qp_connect(pair->qp, &attr, &message) != SIM_OK) {
        return false;
    }
    for (uint64_t slot = 0; slot < APP__NVME_DEPTH; slot++) {
        receive(pair, slot);
    }
    return true;
}

void app__nvme_pair_bury(app__nvme_pair_t *pair)
{
    if (pair->qp != NULL) {
        app__mc_bury(pair->context->engine->station, pair->qp);
        pair->qp = NULL;
    }
}

void app__nvme_pair_send(app__nvme_pair_t *pair, uint32_t slot, const void *bytes, uint64_t size)
{
    nic_memory_write(pair->context->engine->station->memory, sent_address(pair, slot), bytes,
                     (size_t)size);
    const nic_send_wr_t wr = {
        .wr_id = APP__NVME_SENT | slot,
        .opcode = NIC_WR_SEND,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {sent_address(pair, slot), size, key_of(pair)},
    };
    app__qp_post(pair->qp, &wr);
}

void app__nvme_pair_take(app__nvme_pair_t *pair, uint64_t slot, void *bytes, uint64_t size)
{
    nic_memory_read(pair->context->engine->station->memory, received_address(pair, slot), bytes,
                    (size_t)size);
    if (nic_qp_state(pair->qp) == NIC_QPS_RTS) {
        receive(pair, slot);
    }
}
