// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/files/nvme_cm.c - connections of NVMe over RDMA: messages of the
// communication manager (IBA volume 1, chapter 12) between the QPs 1 of two NICs, with the private
// data of IP and of NVMe; and queue pairs with memory for capsules (docs/models/mooncake.md).
#include "apps/mooncake/engine/files/nvme_cm.h"

#include <string.h>

#include "apps/channel/gsi.h"
#include "apps/channel/pair.h"
#include "apps/mooncake/engine/files/nvme.h"
#include "apps/mooncake/engine/transfer_engine.h"

#define SERVICE_ID UINT64_C(0x0000000001060000) // IP CM service, TCP's port space
#define NVME_PORT 4420u
#define QUEUES_AREA (UINT64_C(1) << 38) // behind the messages that the station sends
#define QUEUE_BYTES (UINT64_C(2) * APP__NVME_DEPTH * APP__NVME_SLOT_BYTES)

// A station that listens at the QP 1 of one of its NICs.
struct app__cm_port {
    app__gsi_listener_t listener;
    app__mc_station_t *station;
    uint32_t nic;
    app__cm_port_t *next; // of the station
};

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

static void fill_request(app__mad_t *mad, const app__mc_station_t *station, uint32_t own_interface,
                         uint32_t interface, const app__cm_message_t *message)
{
    const net_t *const net = station->cluster->net;
    const uint32_t port = 49152u + (message->local_id & 0x3fff);
    mad->service_id = SERVICE_ID | (NVME_PORT + station->cluster->index);
    mad->responder_resources = mad->initiator_depth = 16;
    mad->response_timeout = 20;
    mad->retry_count = 7;
    mad->path_mtu = 5;        // 4096 bytes
    mad->rnr_retry_count = 7; // for ever
    mad->cm_retries = 15;
    put_gid(mad->own_gid, net, own_interface);
    put_gid(mad->peer_gid, net, interface);
    uint8_t *const header = mad->private_data;
    header[1] = 4 << 4; // IP version
    header[2] = (uint8_t)(port >> 8);
    header[3] = (uint8_t)port;
    put_ip(header + 4, net, own_interface);
    put_ip(header + 20, net, interface);
    uint8_t *const nvme = header + APP__MAD_IP_BYTES;
    sim_put_le(nvme + 2, message->queue_id, 2);
    sim_put_le(nvme + 4, APP__NVME_DEPTH, 2);
    sim_put_le(nvme + 6, APP__NVME_DEPTH - 1, 2);
}

void app__cm_send(app__mc_station_t *station, uint32_t nic, uint32_t interface,
                  const app__cm_message_t *message)
{
    const app__endpoint_t *const endpoint = station->nics[nic].endpoint;
    app__mad_t mad = {
        .kind = (app__mad_kind_t)message->attribute,
        .transaction = message->local_id,
        .local_id = message->local_id,
        .remote_id = message->remote_id,
        .qp_num = message->qp_num,
    };
    if (message->attribute == APP__CM_REQUEST) {
        fill_request(&mad, station, endpoint->interface, interface, message);
    } else if (message->attribute == APP__CM_REPLY) {
        mad.responder_resources = mad.initiator_depth = 16;
        mad.rnr_retry_count = 7;
        sim_put_le(mad.private_data + 2, APP__NVME_DEPTH, 2);
    } else if (message->attribute == APP__CM_REJECT) {
        mad.reason = APP__REJ_CONSUMER;
    }
    uint8_t bytes[APP__MAD_BYTES];
    app__mad_write(&mad, bytes);
    app__gsi_send(endpoint->gsi, interface, bytes);
}

// -- QP 1

static bool take(void *ctx, const app__mad_t *mad, uint32_t interface)
{
    const app__cm_port_t *const port = ctx;
    const bool request = mad->kind == APP__MAD_REQ;
    const uint64_t cluster =
        request ? mad->service_id - SERVICE_ID - NVME_PORT : mad->remote_id >> 24;
    if (cluster != port->station->cluster->index || port->station->crashed) {
        return false;
    }
    app__cm_message_t message = {
        .attribute = (app__cm_attribute_t)mad->kind,
        .nic = port->nic,
        .interface = interface,
        .local_id = (uint32_t)mad->local_id,
        .remote_id = (uint32_t)mad->remote_id,
        .qp_num = request || mad->kind == APP__MAD_REP ? (uint32_t)mad->qp_num : 0,
    };
    if (request) {
        message.queue_id = (uint16_t)sim_get_le(mad->private_data + APP__MAD_IP_BYTES + 2, 2);
    }
    if (request || mad->kind == APP__MAD_RTU || mad->kind == APP__MAD_DREQ) {
        app__nvme_node_received(port->station, &message);
    } else {
        app__nvme_host_received(port->station, &message);
    }
    return true;
}

void app__cm_open(app__mc_station_t *station, uint32_t nic)
{
    for (const app__cm_port_t *port = station->cm_ports; port != NULL; port = port->next) {
        if (port->nic == nic) {
            return;
        }
    }
    const app__mc_station_nic_t *const card = &station->nics[nic];
    const uint64_t address =
        app__mc_area(station) + QUEUES_AREA * 2 - (card->nic + UINT64_C(1)) * APP__GSI_BYTES;
    app__cm_port_t *const port = sim_alloc(sizeof(*port));
    *port = (app__cm_port_t){
        .listener = {.fn = take, .ctx = port},
        .station = station,
        .nic = nic,
        .next = station->cm_ports,
    };
    station->cm_ports = port;
    app__gsi_open(card->endpoint, address, nic_mr_lkey(card->region), &port->listener);
}

void app__cm_close(app__mc_station_t *station)
{
    while (station->cm_ports != NULL) {
        app__cm_port_t *const port = station->cm_ports;
        station->cm_ports = port->next;
        app__gsi_close(station->nics[port->nic].endpoint, &port->listener);
        sim_free(port);
    }
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
