// SPDX-License-Identifier: Apache-2.0
// apps/simbricks/forward.c - frames between processes of SimBricks and the network: to which hosts
// they go.
//
// A frame goes to the host whose process was the first to send from its destination's MAC address,
// or whose own address it is; else to the host with the IP address; else, as in a switch, to all.
// The table of addresses has times, since hosts do not run in the order of time: a frame is looked
// up as of the moment at which it enters the network.
#include "apps/simbricks/peers.h"

#include "kernel/bytes.h"
#include "kernel/steps.h"

#include <string.h>

#define MAC_BYTES 6u
#define GROUP_BIT 0x01u // of a MAC address's first byte
#define STATIONS_MAX 65536u

static uint64_t mac_at(const uint8_t *bytes)
{
    return (uint64_t)sim_get_be16(bytes) << 32 | sim_get_be32(bytes + 2);
}

// -- where frames go

static void learn(app__peers_t *peers, app__peer_t *peer, uint64_t mac, sim_time_t time_ps)
{
    SIM_MAP_EACH (index, &peers->by_mac, mac) {
        if (peers->stations[index].peer == peer) {
            return;
        }
    }
    if (peers->station_count < STATIONS_MAX) {
        sim_map_add(&peers->by_mac, mac, peers->station_count);
        const app__station_t station = {peer, time_ps};
        SIM_APPEND(peers->stations, peers->station_count, peers->station_capacity, station);
    }
}

// Returns the peer that was the first to send from an address, up to time_ps; NULL: none was.
static app__peer_t *find_station(const app__peers_t *peers, uint64_t mac, sim_time_t time_ps)
{
    const app__station_t *found = NULL;
    SIM_MAP_EACH (index, &peers->by_mac, mac) {
        const app__station_t *const at = &peers->stations[index];
        if (at->since_ps <= time_ps &&
            (found == NULL || at->since_ps < found->since_ps ||
             (at->since_ps == found->since_ps && at->peer->interface < found->peer->interface))) {
            found = at;
        }
    }
    return found == NULL ? NULL : found->peer;
}

// Finds the peer at a host that has an address of rocesim: a MAC, or the destination's IP.
static app__peer_t *find_host(const app__peers_t *peers, const uint8_t *frame,
                              const net_ethernet_t *ethernet)
{
    const size_t length = ethernet->ipv6 ? 16 : 4;
    const uint8_t *const ip = frame + ethernet->ip_at + (ethernet->ipv6 ? 24 : 16);
    app__peer_t *by_ip = NULL;
    for (size_t i = 0; i < peers->count; i++) {
        app__peer_t *const peer = peers->list[i];
        uint8_t mac[MAC_BYTES];
        uint8_t own[16];
        net_port_mac(net_interface_port(peers->net, peer->interface), mac);
        net_interface_ip(peers->net, peer->interface, own);
        if (memcmp(frame, mac, MAC_BYTES) == 0) {
            return peer;
        }
        if (ethernet->ip_at != 0 && ethernet->ipv6 == net_get_config(peers->net)->ipv6 &&
            memcmp(ip, own, length) == 0) {
            by_ip = peer;
        }
    }
    return by_ip;
}

static void send_to(app__peer_t *peer, const app__peer_t *to, const app__arrival_t *arrival)
{
    if (!nic_send_ethernet(peer->nic, to->interface, arrival->bytes, arrival->size_bytes,
                           peer->waiting_max_bytes)) {
        peer->dropped++;
    }
}

static void enter(app__peer_t *peer, const app__arrival_t *arrival)
{
    const app__peers_t *const peers = peer->peers;
    net_ethernet_t ethernet;
    net_ethernet_look(arrival->bytes, arrival->size_bytes, &ethernet);
    peer->frames_in++;
    peer->bytes_in += arrival->size_bytes;
    peer->roce_in += ethernet.roce;
    peer->cnps_in += ethernet.roce && ethernet.opcode == ROCE_CNP;
    const app__peer_t *to = NULL;
    if ((arrival->bytes[0] & GROUP_BIT) == 0) {
        to = find_station(peers, mac_at(arrival->bytes), arrival->time_ps);
        to = to == NULL ? find_host(peers, arrival->bytes, &ethernet) : to;
    }
    if (arrival->size_bytes > nic_ethernet_bytes_max(peer->nic)) {
        peer->dropped++;
    } else if (to == NULL) {
        peer->flooded++;
        for (size_t i = 0; i < peers->count; i++) {
            if (peers->list[i] != peer) {
                send_to(peer, peers->list[i], arrival);
            }
        }
    } else if (to != peer) { // a frame to itself stays there, as at a switch
        send_to(peer, to, arrival);
    }
}

// -- from a process to the network

static void arm(app__peer_t *peer)
{
    if (peer->arrival_first == peer->arrival_count) {
        peer->arrival_first = peer->arrival_count = 0;
    } else {
        sim_timer_arm(peer->node, &peer->timer, peer->arrivals[peer->arrival_first].time_ps);
    }
}

static void arrivals_due(sim_node_t *node, sim_timer_t *timer)
{
    app__peer_t *const peer = SIM_CONTAINER_OF(timer, app__peer_t, timer);
    while (peer->arrival_first < peer->arrival_count &&
           peer->arrivals[peer->arrival_first].time_ps <= node->now_ps) {
        const app__arrival_t arrival = peer->arrivals[peer->arrival_first++];
        enter(peer, &arrival);
        sim_free(arrival.bytes);
    }
    arm(peer);
}

void app__peer_take(app__peer_t *peer, sim_time_t time_ps, const uint8_t *bytes,
                    uint32_t size_bytes)
{
    const app__arrival_t arrival = {time_ps, size_bytes, sim_alloc(size_bytes)};
    memcpy(arrival.bytes, bytes, size_bytes);
    if ((arrival.bytes[MAC_BYTES] & GROUP_BIT) == 0) {
        learn(peer->peers, peer, mac_at(arrival.bytes + MAC_BYTES), time_ps);
    }
    const bool first = peer->arrival_first == peer->arrival_count;
    SIM_APPEND(peer->arrivals, peer->arrival_count, peer->arrival_capacity, arrival);
    if (first) {
        arm(peer);
        sim_touch(peer->node);
    }
}

// -- from the network to a process

static void leave(nic_t *nic, const uint8_t *bytes, uint32_t size_bytes, void *ctx)
{
    (void)nic;
    app__peer_t *const peer = ctx;
    if (peer->link.state != APP__LINK_OPEN || size_bytes > app__link_frame_max(&peer->link)) {
        peer->dropped++;
        return;
    }
    if (app__peer_wait_for_room(peer)) {
        net_ethernet_t ethernet;
        net_ethernet_look(bytes, size_bytes, &ethernet);
        peer->frames_out++;
        peer->bytes_out += size_bytes;
        peer->marked_out += ethernet.ecn == NET_ECN_CE;
        app__link_send(&peer->link, peer->node->now_ps, bytes, size_bytes);
    }
}

sim_err_t app__peer_join(app__peer_t *peer, sim_message_t *message)
{
    net_t *const net = peer->peers->net;
    peer->nic = nic_of_interface(net, peer->interface);
    peer->node = &nic_node(peer->nic)->sim;
    sim_timer_init(&peer->timer, arrivals_due);
    return nic_on_ethernet(peer->nic, leave, peer, message);
}
