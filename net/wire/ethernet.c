// SPDX-License-Identifier: Apache-2.0
// net/wire/ethernet.c - reads and marks the headers of whole Ethernet frames (net/ethernet.h).
//
// Sources: IEEE 802.3 and 802.1Q, RFC 791, RFC 8200, RFC 3168 (ECN), IBA annex A17 (RoCEv2).
#include "net/ethernet.h"

#include "kernel/bytes.h"
#include "net/port.h"
#include "net/switch_model.h"
#include "net/wire/frame_internal.h"
#include "net/wire/layout.h"
#include "net/wire/roce.h"

#include <string.h>

#define MACS_BYTES 12u
#define PROTOCOL_TCP 6u
#define PROTOCOL_UDP 17u
#define TTL_OF_OTHERS 255u

// Reads the ports of UDP or TCP at `at`, and the BTH of RoCE.
static void look_at_ports(const uint8_t *bytes, uint32_t size_bytes, uint32_t at, uint8_t protocol,
                          net_ethernet_t *ethernet)
{
    if ((protocol != PROTOCOL_TCP && protocol != PROTOCOL_UDP) || at + NET_UDP_BYTES > size_bytes) {
        return;
    }
    const uint16_t source = sim_get_be16(bytes + at);
    const uint16_t destination = sim_get_be16(bytes + at + 2);
    const uint8_t *const bth = bytes + at + NET_UDP_BYTES;
    ethernet->roce = protocol == PROTOCOL_UDP && destination == ROCE_UDP_PORT &&
                     at + NET_UDP_BYTES + ROCE_BTH_BYTES <= size_bytes;
    ethernet->port = ethernet->roce ? source : (uint16_t)(source ^ destination);
    if (ethernet->roce) {
        ethernet->opcode = bth[ROCE_BTH_AT_OPCODE];
        ethernet->psn = sim_get_be24(bth + ROCE_BTH_BYTES - 3);
    }
}

static void look_at_ipv4(const uint8_t *bytes, uint32_t size_bytes, uint32_t at,
                         net_ethernet_t *ethernet)
{
    const uint8_t *const ip = bytes + at;
    const uint32_t header_bytes =
        at + NET_IPV4_BYTES <= size_bytes ? (uint32_t)(ip[0] & 0xf) * 4 : 0;
    if (header_bytes < NET_IPV4_BYTES || at + header_bytes > size_bytes || ip[0] >> 4 != 4) {
        return;
    }
    ethernet->ip_at = at;
    ethernet->dscp = ip[1] >> 2;
    ethernet->ecn = ip[1] & 3;
    ethernet->ttl = ip[8];
    if ((sim_get_be16(ip + 6) & 0x1fff) == 0) { // the first fragment
        look_at_ports(bytes, size_bytes, at + header_bytes, ip[9], ethernet);
    }
}

static void look_at_ipv6(const uint8_t *bytes, uint32_t size_bytes, uint32_t at,
                         net_ethernet_t *ethernet)
{
    const uint8_t *const ip = bytes + at;
    if (at + NET_IPV6_BYTES > size_bytes || ip[0] >> 4 != 6) {
        return;
    }
    const uint8_t traffic_class = (uint8_t)(sim_get_be16(ip) >> 4);
    ethernet->ip_at = at;
    ethernet->ipv6 = true;
    ethernet->dscp = traffic_class >> 2;
    ethernet->ecn = traffic_class & 3;
    ethernet->ttl = ip[7];
    look_at_ports(bytes, size_bytes, at + NET_IPV6_BYTES, ip[6], ethernet);
}

void net_ethernet_look(const uint8_t *bytes, uint32_t size_bytes, net_ethernet_t *ethernet)
{
    *ethernet = (net_ethernet_t){.ttl = TTL_OF_OTHERS};
    uint32_t at = MACS_BYTES;
    uint16_t type = size_bytes >= NET_ETHERNET_BYTES ? sim_get_be16(bytes + at) : 0;
    if (type == NET_ETHERTYPE_VLAN && size_bytes >= NET_ETHERNET_BYTES + NET_VLAN_BYTES) {
        ethernet->tagged = true;
        ethernet->pcp = bytes[at + 2] >> 5;
        ethernet->dscp = (uint8_t)(ethernet->pcp * 8);
        at += NET_VLAN_BYTES;
        type = sim_get_be16(bytes + at);
    }
    if (type == NET_ETHERTYPE_IPV4) {
        look_at_ipv4(bytes, size_bytes, at + 2, ethernet);
    } else if (type == NET_ETHERTYPE_IPV6) {
        look_at_ipv6(bytes, size_bytes, at + 2, ethernet);
    }
}

void net_ethernet_mark(uint8_t *bytes, uint32_t size_bytes, uint8_t ecn, uint8_t ttl)
{
    net_ethernet_t ethernet;
    net_ethernet_look(bytes, size_bytes, &ethernet);
    uint8_t *const ip = bytes + ethernet.ip_at;
    if (ethernet.ip_at == 0 || (ethernet.ecn == ecn && ethernet.ttl == ttl)) {
        return; // a wrong checksum of the program stays wrong
    }
    if (ethernet.ipv6) {
        ip[1] = (uint8_t)((ip[1] & ~0x30) | ecn << 4);
        ip[7] = ttl;
        return;
    }
    const uint8_t before[2][2] = {{ip[0], ip[1]}, {ip[8], ip[9]}};
    ip[1] = (uint8_t)((ip[1] & ~3) | ecn);
    ip[8] = ttl;
    // RFC 1624: the checksum of the changed words alone
    uint32_t sum = (uint16_t)~sim_get_be16(ip + 10);
    sum += (uint16_t)~sim_get_be16(before[0]) + sim_get_be16(ip);
    sum += (uint16_t)~sim_get_be16(before[1]) + sim_get_be16(ip + 8);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sim_put_be16(ip + 10, (uint16_t)~sum);
}

uint8_t net_ethernet_class(const net_port_t *port, const net_ethernet_t *ethernet)
{
    const net_node_t *const peer = port->peer->node;
    const bool by_dscp =
        peer->kind == NET_NODE_SWITCH && net_switch_of(port->peer->node)->trust_dscp;
    return ethernet->tagged && !by_dscp ? ethernet->pcp : ethernet->dscp >> 3;
}
