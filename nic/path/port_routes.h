// SPDX-License-Identifier: Apache-2.0
// nic/path/port_routes.h - the routes of a queue pair whose packets have a UDP source
// port each, so that switches need not look them up. Results do not depend on it.
#ifndef NIC_PATH_PORT_ROUTES_H
#define NIC_PATH_PORT_ROUTES_H

#include "net/network.h"
#include "net/packets.h"
#include "net/paths.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"
#include "nic/objects/qp.h"

// The route of packets with one UDP source port, and their addresses in the plane that they take.
typedef struct nic_port_route {
    uint64_t route;
    uint32_t source;
    uint32_t destination;
    uint32_t flow_hash;
    uint16_t port;
    bool known;
} nic_port_route_t;

// The routes of a queue pair. Begins with zeros; free `routes` at the end.
typedef struct nic_port_routes {
    nic_port_route_t *routes; // NULL: none yet
    uint32_t dressed;         // packets until then
} nic_port_routes_t;

// The place of a port's route among `count` (0: no routes are kept). Ports of a NIC with planes
// have places in equal blocks, one for each plane. A route costs as much as two or three packets
// that are looked up, so the first packets are: `before` of them, two or three for each port.
typedef struct nic_route_place {
    uint32_t index;
    uint32_t count;
    uint32_t before;
} nic_route_place_t;

// Finds the route of a packet that has its UDP source port and hash, in the plane of its place.
static inline nic_port_route_t nic__route_of(const nic_t *nic, const net_packet_t *packet,
                                             const nic_route_place_t *place)
{
    const net_t *const net = nic->host->node.net;
    nic_port_route_t made = {.source = packet->source,
                             .destination = packet->destination,
                             .flow_hash = packet->flow_hash,
                             .port = packet->udp_source_port,
                             .known = true};
    if (nic->planes != NULL) {
        const uint32_t plane = place->index / (place->count / nic->planes->count);
        made.source = nic->planes->ports[plane].interface;
        made.destination = net_interface_in_plane(net, packet->destination, plane);
    }
    made.route = net_source_route(net, made.source, made.destination, made.flow_hash);
    return made;
}

// Gives a packet its UDP source port, with the hash, the route and the addresses of that. A route
// of 0 lets switches look up the port. A packet that takes another plane after all loses its route
// (nic__planes_address).
static inline void nic__take_route(nic_port_routes_t *kept, const nic_qp_t *qp,
                                   net_packet_t *packet, uint16_t port,
                                   const nic_route_place_t *place)
{
    packet->udp_source_port = port;
    if (SIM_UNLIKELY(kept->routes == NULL) && place->count != 0 &&
        ++kept->dressed > place->before) {
        kept->routes = sim_alloc_array(place->count, sizeof(*kept->routes));
    }
    nic_port_route_t *const own =
        kept->routes != NULL && place->index < place->count ? &kept->routes[place->index] : NULL;
    if (SIM_UNLIKELY(own == NULL || !own->known || own->port != port)) {
        packet->flow_hash =
            net_flow_hash(qp->nic->host->node.net, packet->source, packet->destination, port);
        packet->route = 0;
        if (own == NULL) {
            return;
        }
        *own = nic__route_of(qp->nic, packet, place);
    }
    packet->source = own->source;
    packet->destination = own->destination;
    packet->flow_hash = own->flow_hash;
    packet->route = own->route;
}

#endif // NIC_PATH_PORT_ROUTES_H
