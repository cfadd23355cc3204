// SPDX-License-Identifier: Apache-2.0
// nic/schedule/planes.c - which of a NIC's planes a packet takes.
//
// A plane is out for a queue pair while the NIC's port is down there, which the NIC sees at once,
// or while routing does not lead to the peer's port there, network.convergence after a change. A
// transport that watches paths says so itself.
#include "nic/schedule/planes.h"

#include "net/port_queue.h"
#include "nic/schedule/eligible.h"

void nic__planes_create(nic_t *nic)
{
    nic_host_t *const host = nic->host;
    const uint32_t count = host->node.planes;
    const uint32_t first = nic->port->index;
    if (count <= 1 || first + count > host->node.port_count) {
        return;
    }
    nic->planes = sim_alloc(sizeof(*nic->planes));
    *nic->planes = (struct nic_planes){
        .ports = nic->port,
        .count = count,
        .choice = host->config->planes,
    };
    nic->kicked = NIC_HAS_PLANES;
    nic->ring = false; // the ring is called through its table, so that usual NICs pay nothing
}

void nic__planes_destroy(nic_t *nic)
{
    sim_free(nic->planes);
}

void nic__planes_connect(nic_qp_t *qp)
{
    const struct nic_planes *const planes = qp->nic->planes;
    const uint64_t flow = (uint64_t)qp->path.flow_hash << 32 | qp->path.udp_source_port;
    qp->plane = (uint8_t)(sim_mix64(flow) % planes->count);
}

// Returns the plane that stands for the queue pair's own one: the first from it on that is not out.
// If all are out, it is one that the transport can use, else the scheduler would ask for ever; or
// its own one. Flows of a plane that is out spread over the others.
static uint32_t plane_of(const nic_qp_t *qp)
{
    const struct nic_planes *const planes = qp->nic->planes;
    const uint32_t own = qp->plane;
    if (SIM_LIKELY(!nic__plane_is_out(qp, own))) {
        return own;
    }
    const uint32_t step = planes->choice == NIC_PLANES_HASH
                              ? (uint32_t)(sim_mix64(qp->path.flow_hash) % (planes->count - 1))
                              : 0;
    for (uint32_t i = 0; i < planes->count - 1; i++) {
        const uint32_t plane = (own + 1 + (step + i) % (planes->count - 1)) % planes->count;
        if (!nic__plane_is_out(qp, plane)) {
            return plane;
        }
    }
    for (uint32_t i = 0; i < planes->count && qp->ops->plane_out != NULL; i++) {
        const uint32_t plane = (own + i) % planes->count;
        if (!qp->ops->plane_out(qp, plane)) {
            return plane;
        }
    }
    return own;
}

// Returns whether the next packet of a queue pair may leave in a plane.
static SIM_ALWAYS_INLINE bool takes(const nic_qp_t *qp, uint32_t plane)
{
    if (qp->nic->planes->choice == NIC_PLANES_LEAST_QUEUE && !nic__plane_is_out(qp, plane)) {
        return true; // whoever is free has the shortest queue: packets are made for a free port
    }
    return plane_of(qp) == plane;
}

void nic__planes_left(nic_qp_t *qp, uint32_t plane)
{
    const struct nic_planes *const planes = qp->nic->planes;
    if (planes->choice == NIC_PLANES_ROUND_ROBIN) {
        qp->plane = (uint8_t)((plane + 1) % planes->count);
    }
}

static SIM_ALWAYS_INLINE nic_qp_t *next_of(const nic_t *nic, uint32_t class, uint32_t plane)
{
    nic_qp_t *const first = nic->ready[class];
    nic_qp_t *qp = first;
    if (qp == NULL) {
        return NULL;
    }
    do {
        if (takes(qp, plane)) {
            return qp;
        }
        qp = qp->ready_next;
    } while (qp != first);
    return NULL;
}

nic_qp_t *nic__planes_next(const nic_t *nic, uint32_t class, uint32_t plane)
{
    return next_of(nic, class, plane);
}

uint8_t nic__planes_ready(const nic_t *nic, uint32_t plane, uint32_t classes, nic_qp_t **next)
{
    uint32_t ready = 0;
    for (; classes != 0; classes &= classes - 1) {
        const uint32_t class = (uint32_t)__builtin_ctz(classes);
        nic_qp_t *const qp = next_of(nic, class, plane);
        if (qp != NULL) {
            ready |= 1u << class;
            *next = qp;
        }
    }
    return (uint8_t)ready;
}

void nic__planes_address(const nic_t *nic, net_packet_t *packet, uint32_t plane)
{
    const uint32_t source = nic->planes->ports[plane].interface;
    if (packet->source != source) {
        packet->source = source;
        packet->destination =
            net_interface_in_plane(nic->host->node.net, packet->destination, plane);
        packet->route = 0; // that of another plane; switches look the port up by the flow's hash
    }
}

void nic__planes_arrived(nic_t *nic, net_packet_t *packet, uint32_t plane)
{
    const net_t *const net = nic->host->node.net;
    nic->planes->answers = plane;
    packet->source = net_interface_of_nic(net, packet->source);
    packet->destination = nic->interface;
}

void nic__planes_send(nic_t *nic, net_packet_t *packet)
{
    const struct nic_planes *const planes = nic->planes;
    uint32_t plane = planes->answers;
    for (uint32_t i = 0; i < planes->count && planes->ports[plane].down; i++) {
        plane = (plane + 1) % planes->count;
    }
    net_port_t *const port = &planes->ports[plane];
    nic__planes_address(nic, packet, plane);
    if (net_port_idle(port) && port->waiting == 0 && !port->controlled &&
        (port->paused & 1u << packet->priority) == 0) {
        nic->counters.tx_packets++;
        net_port_transmit(port, packet);
    } else {
        net_queue_push(port, packet);
    }
    nic__kick(nic);
}
