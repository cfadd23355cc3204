// SPDX-License-Identifier: Apache-2.0
// net/wire/frame_checksum.c - Internet checksum (RFC 1071) and ICRC (A17.3.3) of a frame.
//
// The ICRC is the CRC-32 of Ethernet over eight bytes of ones (in place of the LRH of native
// InfiniBand), the IP header, UDP, BTH, extension headers, payload and pad. Fields that may change
// on the way count as ones: IPv4 type of service, TTL and header checksum; IPv6 traffic class, flow
// label and hop limit; the UDP checksum; the FECN, BECN and reserved bits of the BTH.
#include <string.h>
#include <zlib.h>

#include "kernel/bytes.h"
#include "net/wire/frame_internal.h"
#include "net/wire/layout.h"

#define ICRC_LRH_BYTES 8

const uint8_t net__frame_pfc_destination[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

uint32_t net__frame_sum(uint32_t sum, const uint8_t *bytes, size_t size_bytes)
{
    SIM_CHECK(size_bytes <= UINT16_MAX);
    size_t i = 0;
    for (; i + 1 < size_bytes; i += 2) {
        sum += sim_get_be16(bytes + i);
    }
    if (i < size_bytes) {
        sum += (uint32_t)bytes[i] << 8;
    }
    return sum;
}

uint16_t net__frame_sum_finish(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

uint16_t net__frame_udp6_checksum(const uint8_t *ip, uint32_t udp_bytes)
{
    uint32_t sum = udp_bytes + NET_IP_PROTOCOL_UDP;
    sum = net__frame_sum(sum, ip + NET_IPV6_AT_SOURCE, 2 * NET_IPV6_ADDRESS_BYTES);
    sum = net__frame_sum(sum, ip + NET_IPV6_BYTES, udp_bytes);
    return net__frame_sum_finish(sum);
}

uint32_t net__frame_icrc_start(const uint8_t *ip, bool ipv6)
{
    uint8_t masked[ICRC_LRH_BYTES + NET_IPV6_BYTES + NET_UDP_BYTES + ROCE_BTH_BYTES];
    const size_t ip_bytes = ipv6 ? NET_IPV6_BYTES : NET_IPV4_BYTES;
    const size_t covered_bytes = ip_bytes + NET_UDP_BYTES + ROCE_BTH_BYTES;

    memset(masked, 0xff, ICRC_LRH_BYTES);
    uint8_t *const header = masked + ICRC_LRH_BYTES;
    memcpy(header, ip, covered_bytes);
    if (ipv6) {
        header[NET_IPV6_AT_VERSION] |= 0x0f;
        memset(header + NET_IPV6_AT_VERSION + 1, 0xff, 3);
        header[NET_IPV6_AT_HOP_LIMIT] = 0xff;
    } else {
        header[NET_IPV4_AT_TOS] = 0xff;
        header[NET_IPV4_AT_TTL] = 0xff;
        sim_put_be16(header + NET_IPV4_AT_CHECKSUM, 0xffff);
    }
    sim_put_be16(header + ip_bytes + NET_UDP_AT_CHECKSUM, 0xffff);
    header[ip_bytes + NET_UDP_BYTES + ROCE_BTH_AT_CONGESTION] = 0xff;
    return (uint32_t)crc32(0, masked, (uInt)(ICRC_LRH_BYTES + covered_bytes));
}
