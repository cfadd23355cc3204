// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_frame.c - fuzzes the frame parser, and the builder with what was parsed.
//
// The input is a frame from the Ethernet header on, taken twice: as it is, and with its Internet
// checksums made right, because few changed frames would get past those otherwise. A frame that is
// accepted must be made again byte for byte, the ICRC excepted if it was wrong.
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "kernel/bytes.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "net/wire/frame_internal.h"
#include "net/wire/layout.h"

static void check_fields(const uint8_t *bytes, size_t size_bytes, const net_frame_t *frame)
{
    SIM_CHECK(frame->payload >= bytes);
    if (frame->is_uet || frame->mrc.cut) {
        SIM_CHECK(frame->payload + frame->payload_bytes <= bytes + size_bytes);
    } else {
        SIM_CHECK(frame->payload + frame->payload_bytes + frame->pad_bytes + ROCE_ICRC_BYTES <=
                  bytes + size_bytes);
        SIM_CHECK(frame->pad_bytes == net__frame_pad_bytes(frame->payload_bytes));
    }
    SIM_CHECK(size_bytes == net_frame_size_bytes(frame));
}

static void check_frame(const uint8_t *bytes, size_t size_bytes)
{
    net_frame_t frame;
    sim_message_t message = {.text = ""};
    if (net_frame_parse(bytes, size_bytes, &frame, &message) != SIM_OK) {
        SIM_CHECK(message.text[0] != 0);
        return;
    }
    if (!net_frame_is_control(&frame)) {
        check_fields(bytes, size_bytes, &frame);
    }
    uint8_t again[NET_FRAME_BYTES_MAX];
    const size_t again_bytes = net_frame_build(&frame, again, sizeof(again));
    SIM_CHECK(again_bytes == size_bytes);
    if (net_frame_icrc_ok(bytes, size_bytes, &frame)) {
        SIM_CHECK(memcmp(again, bytes, size_bytes) == 0);
        return;
    }
    // The one field that was wrong is right now, and the UDP checksum of IPv6 with it.
    net_frame_t parsed;
    SIM_CHECK(net_frame_parse(again, again_bytes, &parsed, NULL) == SIM_OK);
    SIM_CHECK(net_frame_icrc_ok(again, again_bytes, &parsed));
    SIM_CHECK(parsed.icrc != frame.icrc);
    const size_t icrc_at = (size_t)(frame.payload - bytes) + frame.payload_bytes + frame.pad_bytes;
    sim_put_le32(again + icrc_at, frame.icrc);
    if (frame.ipv6) {
        const size_t udp_at = NET_ETHERNET_BYTES + (frame.tagged ? NET_VLAN_BYTES : 0u) +
                              NET_IPV6_BYTES + NET_UDP_AT_CHECKSUM;
        memcpy(again + udp_at, bytes + udp_at, 2);
    }
    SIM_CHECK(memcmp(again, bytes, size_bytes) == 0);
}

static void repair_ipv4(uint8_t *ip)
{
    sim_put_be16(ip + NET_IPV4_AT_CHECKSUM, 0);
    sim_put_be16(ip + NET_IPV4_AT_CHECKSUM,
                 net__frame_sum_finish(net__frame_sum(0, ip, NET_IPV4_BYTES)));
}

static void repair_ipv6(uint8_t *ip, size_t size_bytes)
{
    uint8_t *const udp = ip + NET_IPV6_BYTES;
    const uint16_t udp_bytes = sim_get_be16(udp + NET_UDP_AT_LENGTH);
    if (udp_bytes < NET_UDP_BYTES || udp_bytes > size_bytes - NET_IPV6_BYTES) {
        return;
    }
    sim_put_be16(udp + NET_UDP_AT_CHECKSUM, 0);
    const uint16_t checksum = net__frame_udp6_checksum(ip, udp_bytes);
    sim_put_be16(udp + NET_UDP_AT_CHECKSUM, checksum != 0 ? checksum : 0xffff);
}

static void repair(uint8_t *bytes, size_t size_bytes)
{
    if (size_bytes < NET_FRAME_BYTES_MIN) {
        return;
    }
    const bool tagged = sim_get_be16(bytes + NET_ETHERNET_AT_TYPE) == NET_ETHERTYPE_VLAN;
    const size_t ip_at = NET_ETHERNET_BYTES + (tagged ? NET_VLAN_BYTES : 0u);
    const uint16_t type = sim_get_be16(bytes + ip_at - 2);
    if (type == NET_ETHERTYPE_IPV4) {
        repair_ipv4(bytes + ip_at);
    } else if (type == NET_ETHERTYPE_IPV6 && size_bytes >= ip_at + NET_IPV6_BYTES + NET_UDP_BYTES) {
        repair_ipv6(bytes + ip_at, size_bytes - ip_at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_frame(data, size);
    if (size == 0) {
        return 0;
    }
    uint8_t *const repaired = sim_alloc(size);
    memcpy(repaired, data, size);
    repair(repaired, size);
    check_frame(repaired, size);
    sim_free(repaired);
    return 0;
}
