// SPDX-License-Identifier: Apache-2.0
// net/wire/frame_parse.c - the parser of net/frame.h: turns untrusted bytes into fields, up to the
// UDP header. frame_parse_roce.c parses the rest.
//
// The parser is strict: from its result the builder makes the same bytes, except for a wrong ICRC.
// So reserved bits and pad bytes must be zero, lengths must agree with each other and with the
// frame, and checksums must be right. IP options, fragments, IPv6 extension headers, a second tag,
// a drop-eligible tag and a trailer that is no telemetry have no field in net_frame_t; they are
// refused with a message that names them.
#include <string.h>
#include <zlib.h>

#include "kernel/bytes.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "net/wire/frame_internal.h"
#include "net/wire/frame_reader.h"
#include "net/wire/layout.h"

static sim_err_t parse_tag(net__frame_reader_t *reader)
{
    const uint8_t *const tag = reader->bytes + reader->offset;
    sim_err_t error = net__frame_require(reader, "802.1Q tag", NET_VLAN_BYTES + 2);
    if (error != SIM_OK) {
        return error;
    }
    const uint16_t tci = sim_get_be16(tag + NET_VLAN_AT_TCI);
    if ((tci & NET_VLAN_DEI) != 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "802.1Q tag 0x%04x: drop eligible frames are not supported", tci);
    }
    reader->frame->tagged = true;
    reader->frame->pcp = (uint8_t)(tci >> NET_VLAN_PCP_SHIFT);
    reader->frame->vlan_id = tci & NET_VLAN_ID_MASK;
    if (reader->frame->vlan_id > NET_VLAN_ID_MAX) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "802.1Q tag: VLAN 4095 is reserved");
    }
    reader->offset += NET_VLAN_BYTES;
    return SIM_OK;
}

// Parses addresses, tag and EtherType; leaves offset behind the EtherType.
static sim_err_t parse_ethernet(net__frame_reader_t *reader, uint16_t *type)
{
    const uint8_t *const bytes = reader->bytes;
    if (reader->end < NET_FRAME_BYTES_MIN) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "frame of %zu bytes, Ethernet's least is %d", reader->end,
                        NET_FRAME_BYTES_MIN);
    }
    memcpy(reader->frame->destination_mac, bytes + NET_ETHERNET_AT_DESTINATION, NET_MAC_BYTES);
    memcpy(reader->frame->source_mac, bytes + NET_ETHERNET_AT_SOURCE, NET_MAC_BYTES);
    reader->offset = NET_ETHERNET_AT_TYPE;
    if (sim_get_be16(bytes + reader->offset) == NET_ETHERTYPE_VLAN) {
        const sim_err_t error = parse_tag(reader);
        if (error != SIM_OK) {
            return error;
        }
    }
    *type = sim_get_be16(bytes + reader->offset);
    reader->offset += 2;
    return SIM_OK;
}

static sim_err_t parse_cc_update(net__frame_reader_t *reader)
{
    const uint8_t *const at = reader->bytes + reader->offset;
    net_frame_t *const frame = reader->frame;
    if (reader->end != NET_FRAME_BYTES_MIN) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "CC_Update of %zu bytes, must be %d",
                        reader->end, NET_FRAME_BYTES_MIN);
    }
    const uint32_t company = sim_get_be24(at + NET_CC_AT_CID);
    if (company != NET_CC_UEC || at[NET_CC_AT_TYPE] != NET_CC_TYPE_LOWER) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "MAC control message %u of company %06x, only CC_Update (%u) of the "
                        "virtual channels 0 to 15 (%06x) is known",
                        at[NET_CC_AT_TYPE], company, NET_CC_TYPE_LOWER, NET_CC_UEC);
    }
    frame->is_cc_update = true;
    for (uint32_t i = 0; i < NET_VCS; i++) {
        const uint8_t *const pair = at + NET_CC_AT_COUNTERS + i / 2 * 5;
        frame->cc_consumed[i] =
            i % 2 == 0 ? sim_get_be24(pair) >> 4 : sim_get_be24(pair + 2) & 0xfffff;
    }
    reader->offset += NET_CC_BYTES;
    return SIM_OK;
}

static sim_err_t parse_mac_control(net__frame_reader_t *reader)
{
    const uint8_t *const pfc = reader->bytes + reader->offset;
    net_frame_t *const frame = reader->frame;
    if (frame->tagged) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "MAC control frame with an 802.1Q tag");
    }
    const uint16_t opcode = sim_get_be16(pfc + NET_PFC_AT_OPCODE);
    if (opcode != NET_PFC_OPCODE) {
        return opcode == NET_EXTENSION_OPCODE
                   ? parse_cc_update(reader)
                   : sim_fail(reader->message, SIM_ERR_INVALID,
                              "MAC control opcode 0x%04x, only PFC (0x%04x) and CC_Update "
                              "(0x%04x) are known",
                              opcode, NET_PFC_OPCODE, NET_EXTENSION_OPCODE);
    }
    if (memcmp(frame->destination_mac, net__frame_pfc_destination, NET_MAC_BYTES) != 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "PFC frame not sent to 01-80-C2-00-00-01");
    }
    if (reader->end != NET_FRAME_BYTES_MIN) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "PFC frame of %zu bytes, must be %d",
                        reader->end, NET_FRAME_BYTES_MIN);
    }
    const uint16_t classes = sim_get_be16(pfc + NET_PFC_AT_CLASSES);
    if (classes > UINT8_MAX) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "PFC class-enable vector 0x%04x: the upper byte is reserved", classes);
    }
    frame->is_pfc = true;
    frame->pfc_classes = (uint8_t)classes;
    for (size_t i = 0; i < NET_PRIORITIES; i++) {
        frame->pfc_quanta[i] = sim_get_be16(pfc + NET_PFC_AT_QUANTA + 2 * i);
    }
    reader->offset += NET_PFC_BYTES;
    return net__frame_require_zeros(reader, "padding of a PFC frame", reader->end);
}

// Sets the reader's end to the packet's end and checks that zeros pad it to Ethernet's minimum.
// Bytes behind that are left to parse_telemetry.
static sim_err_t end_at_packet(net__frame_reader_t *reader, size_t packet_end)
{
    const size_t frame_end = reader->end;
    if (packet_end > frame_end) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "IP packet ends at byte %zu of a frame of %zu", packet_end, frame_end);
    }
    net__frame_reader_t padding = *reader;
    padding.offset = packet_end;
    reader->end = packet_end;
    reader->trailer = SIM_MAX(NET_FRAME_BYTES_MIN, packet_end);
    return net__frame_require_zeros(&padding, "Ethernet padding", reader->trailer);
}

// Parses INT: records, and zeros reserved for more. Returns false if it is anything else.
static bool parse_hops(net_frame_t *frame, const uint8_t *at, size_t bytes)
{
    const uint32_t hop_count = sim_get_be16(at) >> NET_INT_PATH_BITS;
    const uint32_t used = net_int_bytes(hop_count, 0);
    if (bytes > NET_INT_BYTES_MAX || bytes < used || (bytes - used) % NET_INT_HOP_BYTES != 0 ||
        net__frame_first_nonzero(at + used, bytes - used) != bytes - used) {
        return false;
    }
    frame->telemetry = NET_TELEMETRY_INT;
    frame->hop_count = (uint8_t)hop_count;
    frame->reserved_hops = (uint8_t)((bytes - NET_INT_HEADER_BYTES) / NET_INT_HOP_BYTES);
    frame->path_id = sim_get_be16(at) & NET_INT_MASK(NET_INT_PATH_BITS);
    for (uint32_t i = 0; i < hop_count; i++) {
        frame->hops[i] = sim_get_be64(at + NET_INT_HEADER_BYTES + i * NET_INT_HOP_BYTES);
    }
    return true;
}

static bool parse_digest(net_frame_t *frame, const uint8_t *at, size_t bytes)
{
    const uint32_t wide = bytes == NET_PINT_BYTES_MAX ? sim_get_be16(at) : 0;
    if (bytes != 1 && wide < NET_PINT_WIDE_MARK) {
        return false;
    }
    frame->telemetry = NET_TELEMETRY_PINT;
    frame->digest_bytes = (uint8_t)bytes;
    frame->digest = bytes == 1 ? at[0] : wide & NET_INT_MASK(NET_PINT_DIGEST_BITS_MAX);
    return true;
}

// Parses the bytes behind the packet and its padding: none, or in-band telemetry.
static sim_err_t parse_telemetry(net__frame_reader_t *reader, size_t frame_end)
{
    net_frame_t *const frame = reader->frame;
    const uint8_t *const at = reader->bytes + reader->trailer;
    const size_t bytes = frame_end - reader->trailer;
    if (bytes == 0) {
        return SIM_OK;
    }
    if (!frame->is_uet && !frame->is_mrc && net_frame_may_have_telemetry(frame->opcode) &&
        (parse_digest(frame, at, bytes) || parse_hops(frame, at, bytes))) {
        return SIM_OK;
    }
    return sim_fail(reader->message, SIM_ERR_INVALID,
                    "%zu bytes follow the IP packet and are no telemetry", bytes);
}

static sim_err_t check_ip_common(const net__frame_reader_t *reader, uint8_t protocol)
{
    if (protocol != NET_IP_PROTOCOL_UDP) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "IP protocol %u, expected UDP (17)",
                        protocol);
    }
    if (reader->frame->ttl == 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "IP time to live (hop limit) 0 on a link");
    }
    return SIM_OK;
}

static uint16_t ipv4_checksum(const uint8_t *ip)
{
    uint32_t sum = net__frame_sum(0, ip, NET_IPV4_AT_CHECKSUM);
    sum = net__frame_sum(sum, ip + NET_IPV4_AT_SOURCE, 2 * NET_IPV4_ADDRESS_BYTES);
    return net__frame_sum_finish(sum);
}

static sim_err_t check_ipv4(const net__frame_reader_t *reader, const uint8_t *ip)
{
    if (ip[NET_IPV4_AT_VERSION] != NET_IPV4_VERSION_5_WORDS) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "IPv4 version and header length 0x%02x, must be 0x%02x (no options)",
                        ip[NET_IPV4_AT_VERSION], NET_IPV4_VERSION_5_WORDS);
    }
    const uint16_t checksum = sim_get_be16(ip + NET_IPV4_AT_CHECKSUM);
    const uint16_t expected = ipv4_checksum(ip);
    if (checksum != expected) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "IPv4 header checksum 0x%04x, must be 0x%04x", checksum, expected);
    }
    const uint16_t fragment = sim_get_be16(ip + NET_IPV4_AT_FRAGMENT);
    if (fragment != NET_IPV4_DONT_FRAGMENT) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "IPv4 flags and fragment offset 0x%04x, must be 0x%04x (don't fragment)",
                        fragment, NET_IPV4_DONT_FRAGMENT);
    }
    return SIM_OK;
}

static sim_err_t parse_ipv4(net__frame_reader_t *reader)
{
    sim_err_t error = net__frame_require(reader, "IPv4 header", NET_IPV4_BYTES);
    if (error != SIM_OK) {
        return error;
    }
    const uint8_t *const ip = reader->bytes + reader->offset;
    net_frame_t *const frame = reader->frame;
    error = check_ipv4(reader, ip);
    if (error != SIM_OK) {
        return error;
    }
    frame->dscp = ip[NET_IPV4_AT_TOS] >> 2;
    frame->ecn = ip[NET_IPV4_AT_TOS] & NET_ECN_CE;
    frame->ip_id = sim_get_be16(ip + NET_IPV4_AT_ID);
    frame->ttl = ip[NET_IPV4_AT_TTL];
    memcpy(frame->source_ip, ip + NET_IPV4_AT_SOURCE, NET_IPV4_ADDRESS_BYTES);
    memcpy(frame->destination_ip, ip + NET_IPV4_AT_DESTINATION, NET_IPV4_ADDRESS_BYTES);

    const size_t total_bytes = sim_get_be16(ip + NET_IPV4_AT_LENGTH);
    if (total_bytes < NET_IPV4_BYTES) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "IPv4 total length %zu is below its header's", total_bytes);
    }
    error = end_at_packet(reader, reader->offset + total_bytes);
    reader->offset += NET_IPV4_BYTES;
    return error != SIM_OK ? error : check_ip_common(reader, ip[NET_IPV4_AT_PROTOCOL]);
}

static sim_err_t parse_ipv6(net__frame_reader_t *reader)
{
    sim_err_t error = net__frame_require(reader, "IPv6 header", NET_IPV6_BYTES);
    if (error != SIM_OK) {
        return error;
    }
    const uint8_t *const ip = reader->bytes + reader->offset;
    net_frame_t *const frame = reader->frame;
    const uint32_t word = sim_get_be32(ip + NET_IPV6_AT_VERSION);
    if (word >> 28 != NET_IPV6_VERSION) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "IP version %" PRIu32 " under the EtherType of IPv6", word >> 28);
    }
    frame->ipv6 = true;
    frame->dscp = (uint8_t)(word >> 22 & 0x3f);
    frame->ecn = (uint8_t)(word >> 20 & NET_ECN_CE);
    frame->flow_label = word & NET_IPV6_FLOW_LABEL_MASK;
    frame->ttl = ip[NET_IPV6_AT_HOP_LIMIT];
    memcpy(frame->source_ip, ip + NET_IPV6_AT_SOURCE, NET_IPV6_ADDRESS_BYTES);
    memcpy(frame->destination_ip, ip + NET_IPV6_AT_DESTINATION, NET_IPV6_ADDRESS_BYTES);

    reader->offset += NET_IPV6_BYTES;
    error = end_at_packet(reader, reader->offset + sim_get_be16(ip + NET_IPV6_AT_LENGTH));
    return error != SIM_OK ? error : check_ip_common(reader, ip[NET_IPV6_AT_NEXT_HEADER]);
}

static sim_err_t check_udp_checksum(const net__frame_reader_t *reader, const uint8_t *udp,
                                    uint16_t udp_bytes)
{
    const uint16_t checksum = sim_get_be16(udp + NET_UDP_AT_CHECKSUM);
    if (!reader->frame->ipv6) {
        if (checksum == 0) {
            return SIM_OK;
        }
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "UDP checksum 0x%04x, RoCEv2 over IPv4 sends 0", checksum);
    }
    if (checksum == 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "UDP checksum is missing over IPv6");
    }
    if (net__frame_udp6_checksum(udp - NET_IPV6_BYTES, udp_bytes) != 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "UDP checksum 0x%04x is wrong", checksum);
    }
    return SIM_OK;
}

static sim_err_t parse_udp(net__frame_reader_t *reader)
{
    const sim_err_t error = net__frame_require(reader, "UDP header", NET_UDP_BYTES);
    if (error != SIM_OK) {
        return error;
    }
    const uint8_t *const udp = reader->bytes + reader->offset;
    const uint16_t port = sim_get_be16(udp + NET_UDP_AT_DESTINATION_PORT);
    if (port != ROCE_UDP_PORT && port != UET_UDP_PORT) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "UDP destination port %u, RoCEv2 is %d and Ultra Ethernet %d", port,
                        ROCE_UDP_PORT, UET_UDP_PORT);
    }
    reader->frame->is_uet = port == UET_UDP_PORT;
    const uint16_t udp_bytes = sim_get_be16(udp + NET_UDP_AT_LENGTH);
    if (udp_bytes != reader->end - reader->offset) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "UDP length %u in an IP packet that has %zu bytes for it", udp_bytes,
                        reader->end - reader->offset);
    }
    reader->frame->udp_source_port = sim_get_be16(udp + NET_UDP_AT_SOURCE_PORT);
    reader->offset += NET_UDP_BYTES;
    return check_udp_checksum(reader, udp, udp_bytes);
}

// Parses the headers of Ultra Ethernet; the payload follows them.
static sim_err_t parse_uet(net__frame_reader_t *reader)
{
    const char *why = NULL;
    net_frame_t *const frame = reader->frame;
    const uint8_t *const at = reader->bytes + reader->offset;
    const size_t left = reader->end - reader->offset;
    const size_t bytes = net_uet_parse(at, left, &frame->uet, &why);
    if (bytes == 0) {
        return sim_fail(reader->message, SIM_ERR_INVALID, "frame byte %zu: Ultra Ethernet: %s",
                        reader->offset, why);
    }
    if (left - bytes > ROCE_MTU_STANDARD_MAX) {
        return sim_fail(reader->message, SIM_ERR_INVALID,
                        "payload of %zu bytes, expected at most %d", left - bytes,
                        ROCE_MTU_STANDARD_MAX);
    }
    frame->payload = at + bytes;
    frame->payload_bytes = (uint32_t)(left - bytes);
    reader->offset = reader->end;
    return SIM_OK;
}

static sim_err_t parse_roce(net__frame_reader_t *reader, uint16_t type)
{
    const size_t frame_end = reader->end;
    sim_err_t error;
    if (type == NET_ETHERTYPE_IPV4) {
        error = parse_ipv4(reader);
    } else if (type == NET_ETHERTYPE_IPV6) {
        error = parse_ipv6(reader);
    } else {
        error = sim_fail(reader->message, SIM_ERR_INVALID,
                         "EtherType 0x%04x is not IPv4, IPv6 or MAC control", type);
    }
    if (error == SIM_OK) {
        error = parse_udp(reader);
    }
    if (error == SIM_OK) {
        error = reader->frame->is_uet ? parse_uet(reader) : net__frame_parse_roce(reader);
    }
    if (error == SIM_OK) {
        error = parse_telemetry(reader, frame_end);
    }
    return error;
}

sim_err_t net_frame_parse(const uint8_t *bytes, size_t size_bytes, net_frame_t *frame,
                          sim_message_t *message)
{
    memset(frame, 0, sizeof(*frame));
    net__frame_reader_t reader = {
        .bytes = bytes,
        .offset = 0,
        .end = size_bytes,
        .frame = frame,
        .message = message,
    };
    uint16_t type = 0;
    const sim_err_t error = parse_ethernet(&reader, &type);
    if (error != SIM_OK) {
        return error;
    }
    return type == NET_ETHERTYPE_MAC_CONTROL ? parse_mac_control(&reader)
                                             : parse_roce(&reader, type);
}

bool net_frame_icrc_ok(const uint8_t *bytes, size_t size_bytes, const net_frame_t *frame)
{
    if (net_frame_is_control(frame) || frame->is_uet || frame->mrc.cut) {
        return true; // they have no ICRC
    }
    const size_t ip_at = NET_ETHERNET_BYTES + (frame->tagged ? NET_VLAN_BYTES : 0u);
    const size_t bth_at = ip_at + (frame->ipv6 ? NET_IPV6_BYTES : NET_IPV4_BYTES) + NET_UDP_BYTES;
    SIM_CHECK(bth_at <= size_bytes);
    const size_t udp_bytes = sim_get_be16(bytes + bth_at - NET_UDP_BYTES + NET_UDP_AT_LENGTH);
    SIM_CHECK(udp_bytes >= NET_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES);
    const size_t icrc_at = bth_at - NET_UDP_BYTES + udp_bytes - ROCE_ICRC_BYTES;
    SIM_CHECK(icrc_at + ROCE_ICRC_BYTES <= size_bytes);

    const size_t rest_at = bth_at + ROCE_BTH_BYTES;
    const uint32_t start = net__frame_icrc_start(bytes + ip_at, frame->ipv6);
    const uint32_t icrc = (uint32_t)crc32(start, bytes + rest_at, (uInt)(icrc_at - rest_at));
    return icrc == sim_get_le32(bytes + icrc_at);
}
