// SPDX-License-Identifier: Apache-2.0
// net/wire/frame.c - the builder of net/frame.h: turns fields into bytes, with lengths, checksums,
// pad and ICRC.
//
// A field that does not fit its place on the wire is a bug of the caller and ends the program. The
// ICRC is computed before the UDP checksum of IPv6, which covers it.
#include "net/ethernet.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "net/wire/frame_internal.h"

#include <string.h>
#include <zlib.h>

#include "kernel/bytes.h"
#include "net/wire/layout.h"

// Writes addresses, tag and EtherType, which comes last. Returns where the next header starts.
static uint8_t *build_ethernet(const net_frame_t *frame, uint16_t type, uint8_t *at)
{
    memcpy(at + NET_ETHERNET_AT_DESTINATION, frame->destination_mac, NET_MAC_BYTES);
    memcpy(at + NET_ETHERNET_AT_SOURCE, frame->source_mac, NET_MAC_BYTES);
    at += NET_ETHERNET_AT_TYPE;
    if (frame->tagged) {
        SIM_CHECKF(frame->pcp < NET_PRIORITIES, "PCP %u", frame->pcp);
        SIM_CHECKF(frame->vlan_id <= NET_VLAN_ID_MAX, "VLAN %u", frame->vlan_id);
        sim_put_be16(at, NET_ETHERTYPE_VLAN);
        sim_put_be16(at + NET_VLAN_AT_TCI,
                     (uint16_t)(frame->pcp << NET_VLAN_PCP_SHIFT | frame->vlan_id));
        at += NET_VLAN_BYTES;
    }
    sim_put_be16(at, type);
    return at + 2;
}

static size_t build_pfc(const net_frame_t *frame, uint8_t *bytes)
{
    SIM_CHECK(!frame->tagged);
    SIM_CHECK(memcmp(frame->destination_mac, net__frame_pfc_destination, NET_MAC_BYTES) == 0);
    memset(bytes, 0, NET_FRAME_BYTES_MIN);
    uint8_t *const at = build_ethernet(frame, NET_ETHERTYPE_MAC_CONTROL, bytes);
    sim_put_be16(at + NET_PFC_AT_OPCODE, NET_PFC_OPCODE);
    sim_put_be16(at + NET_PFC_AT_CLASSES, frame->pfc_classes);
    for (size_t i = 0; i < NET_PRIORITIES; i++) {
        sim_put_be16(at + NET_PFC_AT_QUANTA + 2 * i, frame->pfc_quanta[i]);
    }
    return NET_FRAME_BYTES_MIN;
}

static size_t build_cc_update(const net_frame_t *frame, uint8_t *bytes)
{
    SIM_CHECK(!frame->tagged);
    memset(bytes, 0, NET_FRAME_BYTES_MIN);
    uint8_t *const at = build_ethernet(frame, NET_ETHERTYPE_MAC_CONTROL, bytes);
    sim_put_be16(at + NET_PFC_AT_OPCODE, NET_EXTENSION_OPCODE);
    sim_put_be24(at + NET_CC_AT_CID, NET_CC_UEC);
    at[NET_CC_AT_TYPE] = NET_CC_TYPE_LOWER;
    for (uint32_t i = 0; i < NET_VCS; i += 2) { // two counters take five bytes
        const uint64_t two = (uint64_t)frame->cc_consumed[i] << 20 | frame->cc_consumed[i + 1];
        for (uint32_t b = 0; b < 5; b++) {
            at[NET_CC_AT_COUNTERS + i / 2 * 5 + b] = (uint8_t)(two >> (32 - 8 * b));
        }
    }
    return NET_FRAME_BYTES_MIN;
}

static uint8_t *build_ipv4(const net_frame_t *frame, uint32_t udp_bytes, uint8_t *at)
{
    at[NET_IPV4_AT_VERSION] = NET_IPV4_VERSION_5_WORDS;
    at[NET_IPV4_AT_TOS] = (uint8_t)(frame->dscp << 2 | frame->ecn);
    sim_put_be16(at + NET_IPV4_AT_LENGTH, (uint16_t)(NET_IPV4_BYTES + udp_bytes));
    sim_put_be16(at + NET_IPV4_AT_ID, frame->ip_id);
    sim_put_be16(at + NET_IPV4_AT_FRAGMENT, NET_IPV4_DONT_FRAGMENT);
    at[NET_IPV4_AT_TTL] = frame->ttl;
    at[NET_IPV4_AT_PROTOCOL] = NET_IP_PROTOCOL_UDP;
    sim_put_be16(at + NET_IPV4_AT_CHECKSUM, 0);
    memcpy(at + NET_IPV4_AT_SOURCE, frame->source_ip, NET_IPV4_ADDRESS_BYTES);
    memcpy(at + NET_IPV4_AT_DESTINATION, frame->destination_ip, NET_IPV4_ADDRESS_BYTES);
    sim_put_be16(at + NET_IPV4_AT_CHECKSUM,
                 net__frame_sum_finish(net__frame_sum(0, at, NET_IPV4_BYTES)));
    return at + NET_IPV4_BYTES;
}

static uint8_t *build_ipv6(const net_frame_t *frame, uint32_t udp_bytes, uint8_t *at)
{
    SIM_CHECKF(frame->flow_label <= NET_IPV6_FLOW_LABEL_MASK, "0x%" PRIx32, frame->flow_label);
    const uint32_t traffic_class = (uint32_t)frame->dscp << 2 | frame->ecn;
    sim_put_be32(at + NET_IPV6_AT_VERSION,
                 (uint32_t)NET_IPV6_VERSION << 28 | traffic_class << 20 | frame->flow_label);
    sim_put_be16(at + NET_IPV6_AT_LENGTH, (uint16_t)udp_bytes);
    at[NET_IPV6_AT_NEXT_HEADER] = NET_IP_PROTOCOL_UDP;
    at[NET_IPV6_AT_HOP_LIMIT] = frame->ttl;
    memcpy(at + NET_IPV6_AT_SOURCE, frame->source_ip, NET_IPV6_ADDRESS_BYTES);
    memcpy(at + NET_IPV6_AT_DESTINATION, frame->destination_ip, NET_IPV6_ADDRESS_BYTES);
    return at + NET_IPV6_BYTES;
}

static uint8_t *build_udp(const net_frame_t *frame, uint32_t udp_bytes, uint8_t *at)
{
    sim_put_be16(at + NET_UDP_AT_SOURCE_PORT, frame->udp_source_port);
    sim_put_be16(at + NET_UDP_AT_DESTINATION_PORT, frame->is_uet ? UET_UDP_PORT : ROCE_UDP_PORT);
    sim_put_be16(at + NET_UDP_AT_LENGTH, (uint16_t)udp_bytes);
    sim_put_be16(at + NET_UDP_AT_CHECKSUM, 0);
    return at + NET_UDP_BYTES;
}

// Returns the further bits of the byte of ACK requests: those of MRC, or the reserved ones that
// announce the bytes of a selective transport.
static uint8_t extra_bits(const net_frame_t *frame)
{
    if (frame->is_mrc) {
        return (uint8_t)((frame->mrc.again ? MRC_BTH_AGAIN : 0) |
                         (frame->mrc.stamped ? MRC_BTH_STAMPED : 0));
    }
    if (frame->opcode == ROCE_ACKNOWLEDGE) {
        return frame->extra_bytes != 0 ? ROCE_BTH_SELECTIVE : 0;
    }
    return (uint8_t)((frame->extra_bytes >= ROCE_RETH_BYTES ? ROCE_BTH_ADDRESSED : 0) |
                     (frame->extra_bytes % ROCE_RETH_BYTES != 0 ? ROCE_BTH_SELECTIVE : 0));
}

static uint8_t *build_bth(const net_frame_t *frame, uint8_t *at)
{
    SIM_CHECKF(frame->destination_qp <= ROCE_QPN_MASK, "QP 0x%" PRIx32, frame->destination_qp);
    SIM_CHECKF(frame->psn <= ROCE_PSN_MASK, "PSN 0x%" PRIx32, frame->psn);
    const uint32_t pad_bytes = frame->mrc.cut ? 0 : net__frame_pad_bytes(frame->payload_bytes);
    at[ROCE_BTH_AT_OPCODE] = frame->opcode;
    at[ROCE_BTH_AT_FLAGS] =
        (uint8_t)((frame->solicited ? ROCE_BTH_SOLICITED : 0u) |
                  (frame->migration ? ROCE_BTH_MIGRATION : 0u) | pad_bytes << ROCE_BTH_PAD_SHIFT);
    sim_put_be16(at + ROCE_BTH_AT_PKEY, frame->pkey);
    at[ROCE_BTH_AT_CONGESTION] =
        (uint8_t)((frame->fecn ? ROCE_BTH_FECN : 0) | (frame->becn ? ROCE_BTH_BECN : 0));
    sim_put_be24(at + ROCE_BTH_AT_DESTINATION_QP, frame->destination_qp);
    at[ROCE_BTH_AT_ACK_REQUEST] =
        (uint8_t)((frame->ack_request ? ROCE_BTH_ACK_REQUEST : 0) | extra_bits(frame));
    sim_put_be24(at + ROCE_BTH_AT_PSN, frame->psn);
    return at + ROCE_BTH_BYTES;
}

static uint8_t *build_atomic(const net_frame_t *frame, uint8_t *at)
{
    sim_put_be64(at + ROCE_ATOMIC_ETH_AT_ADDRESS, frame->atomic.address);
    sim_put_be32(at + ROCE_ATOMIC_ETH_AT_RKEY, frame->atomic.rkey);
    sim_put_be64(at + ROCE_ATOMIC_ETH_AT_SWAP_ADD, frame->atomic.swap_add);
    sim_put_be64(at + ROCE_ATOMIC_ETH_AT_COMPARE, frame->atomic.compare);
    return at + ROCE_ATOMIC_ETH_BYTES;
}

// Writes extension headers in the order of IBA table 38; no opcode has two of them the other way.
static uint8_t *build_extensions(const net_frame_t *frame, uint8_t *at)
{
    const uint32_t extensions = net_frame_extensions(frame->opcode);
    if ((extensions & NET_EXT_DETH) != 0) {
        SIM_CHECKF(frame->deth.source_qp <= ROCE_QPN_MASK, "QP 0x%" PRIx32, frame->deth.source_qp);
        sim_put_be32(at + ROCE_DETH_AT_QKEY, frame->deth.qkey);
        at[ROCE_DETH_AT_RESERVED] = 0;
        sim_put_be24(at + ROCE_DETH_AT_SOURCE_QP, frame->deth.source_qp);
        at += ROCE_DETH_BYTES;
    }
    if ((extensions & NET_EXT_RETH) != 0) {
        sim_put_be64(at + ROCE_RETH_AT_ADDRESS, frame->reth.address);
        sim_put_be32(at + ROCE_RETH_AT_RKEY, frame->reth.rkey);
        sim_put_be32(at + ROCE_RETH_AT_LENGTH, frame->reth.length);
        at += ROCE_RETH_BYTES;
    }
    if ((extensions & NET_EXT_ATOMIC) != 0) {
        at = build_atomic(frame, at);
    }
    if ((extensions & NET_EXT_AETH) != 0) {
        SIM_CHECKF(frame->aeth.msn <= ROCE_PSN_MASK, "MSN 0x%" PRIx32, frame->aeth.msn);
        at[ROCE_AETH_AT_SYNDROME] = frame->aeth.syndrome;
        sim_put_be24(at + ROCE_AETH_AT_MSN, frame->aeth.msn);
        at += ROCE_AETH_BYTES;
    }
    if ((extensions & NET_EXT_ATOMIC_ACK) != 0) {
        sim_put_be64(at, frame->atomic_original);
        at += ROCE_ATOMIC_ACK_ETH_BYTES;
    }
    if ((extensions & NET_EXT_IMMDT) != 0) {
        sim_put_be32(at, frame->immediate);
        at += ROCE_IMMDT_BYTES;
    }
    if ((extensions & NET_EXT_IETH) != 0) {
        sim_put_be32(at, frame->invalidate_rkey);
        at += ROCE_IETH_BYTES;
    }
    if ((extensions & NET_EXT_CNP) != 0) {
        memset(at, 0, ROCE_CNP_RESERVED_BYTES);
        at += ROCE_CNP_RESERVED_BYTES;
    }
    return at;
}

// Returns the CRC after size_bytes more zero bytes, without reading them. Zeros multiply the CRC
// register by a power of x, and zlib's combination of two CRCs computes that product.
static uint32_t crc32_of_zeros(uint32_t crc, uint32_t size_bytes)
{
    const uLong power = crc32_combine_gen((z_off_t)size_bytes);
    return ~(uint32_t)crc32_combine_op(~crc, 0, power);
}

// Writes payload, pad and ICRC. icrc covers everything before them.
static uint8_t *build_payload(const net_frame_t *frame, uint32_t icrc, uint8_t *at)
{
    const uint32_t pad_bytes = frame->mrc.cut ? 0 : net__frame_pad_bytes(frame->payload_bytes);
    const uint32_t size_bytes = frame->payload_bytes + pad_bytes;
    if (size_bytes != 0 && frame->payload == NULL) {
        memset(at, 0, size_bytes);
        icrc = frame->without_icrc ? 0 : crc32_of_zeros(icrc, size_bytes);
    } else if (size_bytes != 0) {
        memcpy(at, frame->payload, frame->payload_bytes);
        memset(at + frame->payload_bytes, 0, pad_bytes);
        icrc = frame->without_icrc ? 0 : (uint32_t)crc32(icrc, at, size_bytes);
    }
    if (frame->mrc.cut) {
        return at + size_bytes;
    }
    sim_put_le32(at + size_bytes, icrc);
    return at + size_bytes + ROCE_ICRC_BYTES;
}

// RFC 768: a sum of zero is sent as ones, which are equal to it in one's complement.
static void finish_udp6(const uint8_t *ip, uint32_t udp_bytes, uint8_t *udp)
{
    const uint16_t checksum = net__frame_udp6_checksum(ip, udp_bytes);
    sim_put_be16(udp + NET_UDP_AT_CHECKSUM, checksum != 0 ? checksum : 0xffff);
}

static size_t build_uet(const net_frame_t *frame, uint8_t *bytes)
{
    SIM_CHECKF(frame->dscp < 64, "DSCP %u", frame->dscp);
    SIM_CHECKF(frame->ecn <= NET_ECN_CE, "ECN %u", frame->ecn);
    SIM_CHECK(frame->ttl > 0);
    const uint32_t udp_bytes = NET_UDP_BYTES + net_uet_bytes(&frame->uet) + frame->payload_bytes;
    const uint16_t type = frame->ipv6 ? NET_ETHERTYPE_IPV6 : NET_ETHERTYPE_IPV4;
    uint8_t *const ip = build_ethernet(frame, type, bytes);
    uint8_t *const udp =
        frame->ipv6 ? build_ipv6(frame, udp_bytes, ip) : build_ipv4(frame, udp_bytes, ip);
    uint8_t *const payload = net_uet_build(&frame->uet, build_udp(frame, udp_bytes, udp));
    if (frame->payload == NULL) {
        memset(payload, 0, frame->payload_bytes);
    } else {
        memcpy(payload, frame->payload, frame->payload_bytes);
    }
    if (frame->ipv6) {
        finish_udp6(ip, udp_bytes, udp);
    }
    return (size_t)(payload + frame->payload_bytes - bytes);
}

static size_t build_roce(const net_frame_t *frame, uint8_t *bytes)
{
    SIM_CHECKF(frame->dscp < 64, "DSCP %u", frame->dscp);
    SIM_CHECKF(frame->ecn <= NET_ECN_CE, "ECN %u", frame->ecn);
    SIM_CHECK(frame->ttl > 0);
    const uint32_t udp_bytes = NET_UDP_BYTES + net__frame_size_from_bth(frame);
    const uint16_t type = frame->ipv6 ? NET_ETHERTYPE_IPV6 : NET_ETHERTYPE_IPV4;

    uint8_t *const ip = build_ethernet(frame, type, bytes);
    uint8_t *const udp =
        frame->ipv6 ? build_ipv6(frame, udp_bytes, ip) : build_ipv4(frame, udp_bytes, ip);
    uint8_t *const bth = build_udp(frame, udp_bytes, udp);
    uint8_t *const extensions = build_bth(frame, bth);
    uint8_t *const extra = frame->is_mrc ? net_mrc_build(frame->opcode, &frame->mrc, extensions)
                                         : build_extensions(frame, extensions);
    SIM_CHECK(frame->extra_bytes <= sizeof(frame->extra) && frame->extra_bytes % 4 == 0);
    memcpy(extra, frame->extra, frame->extra_bytes);
    uint8_t *const payload = extra + frame->extra_bytes;

    uint32_t icrc = 0;
    if (!frame->without_icrc) {
        icrc = net__frame_icrc_start(ip, frame->ipv6);
        icrc = (uint32_t)crc32(icrc, extensions, (uInt)(payload - extensions));
    }
    const uint8_t *const end = build_payload(frame, icrc, payload);
    SIM_CHECK(end == udp + udp_bytes);
    if (frame->ipv6) {
        finish_udp6(ip, udp_bytes, udp);
    }
    return (size_t)(end - bytes);
}

static uint8_t *build_telemetry(const net_frame_t *frame, uint8_t *at)
{
    if (frame->telemetry == NET_TELEMETRY_PINT && frame->digest_bytes == 1) {
        SIM_CHECKF(frame->digest <= UINT8_MAX, "digest %u in one byte", frame->digest);
        *at++ = (uint8_t)frame->digest;
    } else if (frame->telemetry == NET_TELEMETRY_PINT) {
        SIM_CHECK(frame->digest_bytes == 2 &&
                  frame->digest <= NET_INT_MASK(NET_PINT_DIGEST_BITS_MAX));
        sim_put_be16(at, (uint16_t)(NET_PINT_WIDE_MARK | frame->digest));
        at += 2;
    } else if (frame->telemetry == NET_TELEMETRY_INT) {
        SIM_CHECKF(frame->hop_count <= NET_INT_HOPS_MAX, "%u hops", frame->hop_count);
        SIM_CHECKF(frame->path_id <= NET_INT_MASK(NET_INT_PATH_BITS), "path %u", frame->path_id);
        sim_put_be16(at, (uint16_t)(frame->hop_count << NET_INT_PATH_BITS | frame->path_id));
        at += NET_INT_HEADER_BYTES;
        for (uint32_t i = 0; i < frame->hop_count; i++) {
            sim_put_be64(at, frame->hops[i]);
            at += NET_INT_HOP_BYTES;
        }
        for (uint32_t i = frame->hop_count; i < frame->reserved_hops; i++) {
            sim_put_be64(at, 0);
            at += NET_INT_HOP_BYTES;
        }
    }
    return at;
}

static void build_overlay(const net_frame_t *frame, uint8_t *at)
{
    for (uint32_t i = 0; i < frame->overlay_bytes; i++) {
        at[i] = (uint8_t)(i < 8 ? frame->overlay >> (56 - 8 * i) : 0);
    }
}

size_t net_frame_build(const net_frame_t *frame, uint8_t *bytes, size_t capacity_bytes)
{
    const uint32_t size_bytes = net_frame_size_bytes(frame);
    SIM_CHECKF(size_bytes <= capacity_bytes, "frame of %" PRIu32 " bytes into %zu", size_bytes,
               capacity_bytes);
    if (net_frame_is_control(frame)) {
        return (frame->is_pfc ? build_pfc : build_cc_update)(frame, bytes);
    }
    if (frame->is_ethernet) {
        memcpy(bytes, frame->payload, frame->payload_bytes);
        net_ethernet_mark(bytes, frame->payload_bytes, frame->ecn, frame->ttl);
        build_overlay(frame, bytes + frame->payload_bytes);
        return size_bytes;
    }
    SIM_CHECKF(frame->payload_bytes <= ROCE_MTU_STANDARD_MAX, "payload of %" PRIu32 " bytes",
               frame->payload_bytes);
    SIM_CHECK(frame->telemetry == NET_TELEMETRY_NONE ||
              (!frame->is_uet && !frame->is_mrc && net_frame_may_have_telemetry(frame->opcode)));
    const size_t packet_bytes = (frame->is_uet ? build_uet : build_roce)(frame, bytes);
    const size_t padded_bytes =
        size_bytes - net__frame_telemetry_bytes(frame) - frame->overlay_bytes;
    SIM_CHECK(packet_bytes <= padded_bytes);
    // Pad with zeros to Ethernet's minimum.
    memset(bytes + packet_bytes, 0, padded_bytes - packet_bytes);
    uint8_t *const overlay = build_telemetry(frame, bytes + padded_bytes);
    SIM_CHECK(overlay + frame->overlay_bytes == bytes + size_bytes);
    build_overlay(frame, overlay);
    return size_bytes;
}
