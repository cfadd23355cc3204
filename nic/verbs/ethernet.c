// SPDX-License-Identifier: Apache-2.0
// nic/verbs/ethernet.c - whole Ethernet frames beside queue pairs (nic/ethernet.h).
#include "nic/ethernet.h"

#include "net/frame.h"
#include "net/packets.h"
#include "net/port_class.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/schedule/eligible.h"

#include <string.h>

sim_err_t nic_on_ethernet(nic_t *nic, nic_ethernet_fn fn, void *ctx, sim_message_t *message)
{
    const char *const why = nic->planes != NULL     ? "has planes, expected nic.planes: off"
                            : nic->detailed         ? "is detailed, expected nic.model: ideal"
                            : nic->loop != NULL     ? "has the scheduler of another simulator"
                            : nic->ethernet != NULL ? "has another program for them"
                                                    : NULL;
    if (why != NULL) {
        return sim_fail(message, SIM_ERR_INVALID, "the NIC, which takes Ethernet frames, %s", why);
    }
    nic->ethernet = fn;
    nic->ethernet_ctx = ctx;
    return SIM_OK;
}

uint32_t nic_ethernet_bytes_max(const nic_t *nic)
{
    // The headroom of switches is computed for frames of the MTU with all headers.
    return (uint32_t)SIM_MIN(nic->host->config->mtu_bytes, (uint64_t)ROCE_MTU_STANDARD_MAX) +
           NET_FRAME_HEADERS_MAX;
}

bool nic_send_ethernet(nic_t *nic, uint32_t destination, const uint8_t *bytes, uint32_t size_bytes,
                       uint64_t waiting_max_bytes)
{
    SIM_CHECK(size_bytes >= NET_ETHERNET_BYTES && size_bytes <= nic_ethernet_bytes_max(nic));
    net_node_t *const node = &nic->host->node;
    const uint32_t frame_bytes = SIM_MAX(size_bytes, (uint32_t)NET_FRAME_BYTES_MIN);
    net_ethernet_t ethernet;
    net_ethernet_look(bytes, size_bytes, &ethernet);
    net_packet_t *const packet = net_packet_new(node, frame_bytes);
    *packet = (net_packet_t){
        .source = nic->interface,
        .destination = destination,
        .flow_hash = net_flow_hash(node->net, nic->interface, destination, ethernet.port),
        .frame_bytes = (uint16_t)frame_bytes,
        .payload_bytes = (uint16_t)frame_bytes,
        .udp_source_port = ethernet.port,
        .kind = NET_PACKET_ROCE,
        .opcode = ROCE_ETHERNET,
        .priority = net_ethernet_class(nic->port, &ethernet),
        .dscp = ethernet.dscp & 63u,
        .ecn = ethernet.ecn & 3u,
        .ttl = SIM_MAX(ethernet.ttl, (uint8_t)1),
        .psn = ethernet.psn,
        .sent_ps = nic__node(nic)->now_ps,
    };
    uint8_t *const contents = net_packet_add_contents(node, packet);
    memcpy(contents, bytes, size_bytes);
    memset(contents + size_bytes, 0, frame_bytes - size_bytes);
    if (nic->port->classes[packet->priority]->bytes > waiting_max_bytes) {
        net_port_drop(nic->port, packet, NET_DROP_HOST);
        return false;
    }
    nic__send(nic, packet);
    return true;
}
