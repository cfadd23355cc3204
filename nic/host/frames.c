// SPDX-License-Identifier: Apache-2.0
// nic/host/frames.c - how long the frames of a NIC's packets are. Page: docs/models/nic-ideal.md.
#include "nic/frames.h"

#include "nic/config/parts.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"

const nic_frames_ops_t nic_frames_standard = {.name = "standard"};

// Frames of InfiniBand within a subnet: a local route header and a variant CRC replace Ethernet, IP
// and UDP (IBA vol. 1, 5.2), and frames are not padded.
#define LRH_BYTES 8u
#define VCRC_BYTES 2u

static void infiniband_sizes(const void *config, nic_frame_sizes_t *sizes)
{
    (void)config;
    sizes->header_bytes = LRH_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES + VCRC_BYTES;
    sizes->least_bytes = 0;
}

const nic_frames_ops_t nic_frames_infiniband = {.name = "infiniband", .sizes = infiniband_sizes};

// With network.model: message, a message has its payload and the network's overhead.
static uint32_t message_body_bytes(uint32_t extension_bytes, uint32_t payload_bytes)
{
    (void)extension_bytes;
    return payload_bytes;
}

static void message_sizes(const net_config_t *network, nic_frame_sizes_t *sizes)
{
    sizes->header_bytes = (uint32_t)network->message_overhead_bytes;
    sizes->least_bytes = 0;
    sizes->answer_bytes = 0;
}

const nic_frames_ops_t *const nic_frames_all[] = {
    &nic_frames_standard,
    &nic_frames_infiniband,
    NULL,
};

void nic__frames_create(nic_t *nic)
{
    const net_config_t *const network = net_get_config(nic->host->node.net);
    const void *config;
    const nic_frames_ops_t *const ops = nic__config_frames(nic->host->config, &config);
    SIM_CHECKF(ops != NULL, "no frames \"%s\"", nic->host->config->frames);
    nic_frame_sizes_t sizes = {
        .header_bytes = (uint32_t)(NET_ETHERNET_BYTES + (network->tagged ? NET_VLAN_BYTES : 0) +
                                   (network->ipv6 ? NET_IPV6_BYTES : NET_IPV4_BYTES) +
                                   NET_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES),
        .least_bytes = NET_FRAME_BYTES_MIN,
    };
    const bool messages = network->model == NET_MODEL_MESSAGE;
    if (messages) {
        message_sizes(network, &sizes);
    } else if (ops->sizes != NULL) {
        ops->sizes(config, &sizes);
    }
    SIM_CHECK(sizes.header_bytes > 0 && sizes.header_bytes <= UINT16_MAX / 2);
    nic->header_bytes = (uint16_t)sizes.header_bytes;
    nic->frame_bytes_min = (uint16_t)sizes.least_bytes;
    nic->ack_bytes = (uint16_t)sizes.answer_bytes;
    nic->body_bytes = messages ? message_body_bytes : ops->body_bytes;
    nic->any_mtu = ops->any_mtu;
}
