// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/layers.c - splits a frame into layers and fields, each with its bytes.
//
// net/wire/layout.h says where fields lie, net_frame_extensions which headers an opcode has, and
// net_frame_parse whether the frame and its checksums are valid. A frame cut by a snap length is
// shown as far as it goes. The payload is shown as bytes only.
#include "studio/server/data/packets/packet_file.h"

#include "kernel/bytes.h"
#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/packets.h"
#include "net/wire/layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct walk {
    const uint8_t *bytes;
    size_t size; // captured bytes
    size_t at;
    size_t end; // end of the packet without padding and trailer; at most the frame's size
    json_t *layers;
    json_t *fields; // fields of the layer begun last
    const studio_names_t *names;
    const char *transport;
    bool stopped; // the next header is missing
} walk_t;

static bool begin(walk_t *walk, const char *name, size_t size)
{
    if (walk->stopped || walk->at + size > walk->size) {
        walk->stopped = true;
        return false;
    }
    SIM_CHECK(walk->at <= walk->size);
    walk->fields = json_array();
    json_array_append_new(walk->layers,
                          json_pack("{s:s,s:I,s:I,s:o}", "name", name, "from", (json_int_t)walk->at,
                                    "to", (json_int_t)walk->at + (json_int_t)size, "fields",
                                    walk->fields));
    return true;
}

// Adds a field at an offset from the layer's start. text: the meaning of the value, or NULL.
static void put(walk_t *walk, const char *name, size_t at, size_t size, const char *text, ...)
    SIM_PRINTF(5, 6);

static json_t *text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? json_string(text) : NULL;
}

static void put(walk_t *walk, const char *name, size_t at, size_t size, const char *text, ...)
{
    char value[160];
    va_list arguments;
    va_start(arguments, text);
    (void)vsnprintf(value, sizeof(value), text, arguments);
    va_end(arguments);
    // The text is "value|meaning".
    char *const bar = strchr(value, '|');
    if (bar != NULL) {
        *bar = '\0';
    }
    json_t *const field = json_pack("{s:s,s:s,s:I,s:I}", "name", name, "value", value, "from",
                                    (json_int_t)walk->at + (json_int_t)at, "to",
                                    (json_int_t)walk->at + (json_int_t)at + (json_int_t)size);
    json_t *const meaning = bar != NULL ? text_or_null(bar + 1) : NULL;
    if (meaning != NULL) {
        json_object_set_new(field, "text", meaning);
    }
    json_array_append_new(walk->fields, field);
}

static const char *name_of(const walk_t *walk, const char *address)
{
    const char *const name = walk->names != NULL ? studio_names_of(walk->names, address) : NULL;
    return name != NULL ? name : "";
}

static void put_mac(walk_t *walk, const char *name, size_t at)
{
    const uint8_t *const mac = walk->bytes + walk->at + at;
    char text[24];
    (void)snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                   mac[3], mac[4], mac[5]);
    put(walk, name, at, NET_MAC_BYTES, "%s|%s", text, name_of(walk, text));
}

static void put_ip(walk_t *walk, const char *name, size_t at, bool ipv6)
{
    char text[64];
    studio_packet_address(walk->bytes + walk->at + at, ipv6, text);
    put(walk, name, at, ipv6 ? 16 : 4, "%s|%s", text, name_of(walk, text));
}

static uint16_t walk_ethernet(walk_t *walk)
{
    if (!begin(walk, "Ethernet", NET_ETHERNET_BYTES)) {
        return 0;
    }
    put_mac(walk, "destination", NET_ETHERNET_AT_DESTINATION);
    put_mac(walk, "source", NET_ETHERNET_AT_SOURCE);
    uint16_t type = sim_get_be16(walk->bytes + walk->at + NET_ETHERNET_AT_TYPE);
    put(walk, "type", NET_ETHERNET_AT_TYPE, 2, "0x%04x", type);
    walk->at += NET_ETHERNET_BYTES;
    if (type == NET_ETHERTYPE_VLAN && begin(walk, "802.1Q tag", NET_VLAN_BYTES)) {
        const uint16_t tci = sim_get_be16(walk->bytes + walk->at);
        put(walk, "priority", 0, 1, "%u", tci >> NET_VLAN_PCP_SHIFT);
        put(walk, "VLAN", 0, 2, "%u", tci & NET_VLAN_ID_MASK);
        type = sim_get_be16(walk->bytes + walk->at + 2);
        put(walk, "type", 2, 2, "0x%04x", type);
        walk->at += NET_VLAN_BYTES;
    }
    return type;
}

static void walk_pfc(walk_t *walk)
{
    if (!begin(walk, "PFC", NET_PFC_BYTES)) {
        return;
    }
    const uint8_t *const pfc = walk->bytes + walk->at;
    put(walk, "opcode", 0, 2, "0x%04x|%s", sim_get_be16(pfc), "priority flow control");
    const uint8_t classes = pfc[NET_PFC_AT_CLASSES + 1];
    put(walk, "classes", NET_PFC_AT_CLASSES, 2, "0x%04x", sim_get_be16(pfc + NET_PFC_AT_CLASSES));
    for (unsigned i = 0; i < NET_PRIORITIES; i++) {
        const unsigned quanta = sim_get_be16(pfc + NET_PFC_AT_QUANTA + 2 * (size_t)i);
        char name[24];
        (void)snprintf(name, sizeof(name), "time of class %u", i);
        const char *const meaning = (classes >> i & 1) == 0 ? ""
                                    : quanta > 0            ? "stopped"
                                                            : "released";
        put(walk, name, NET_PFC_AT_QUANTA + 2 * (size_t)i, 2, "%u|%s", quanta, meaning);
    }
    walk->at += NET_PFC_BYTES;
    walk->end = walk->at;
}

static const char *ecn_name(unsigned ecn)
{
    static const char *const names[] = {"not ECN capable", "ECT(1)", "ECT(0)", "CE: marked"};
    return names[ecn & 3];
}

static uint8_t walk_ipv4(walk_t *walk)
{
    if (!begin(walk, "IPv4", NET_IPV4_BYTES)) {
        return 0;
    }
    const uint8_t *const ip = walk->bytes + walk->at;
    const unsigned length = sim_get_be16(ip + NET_IPV4_AT_LENGTH);
    put(walk, "version, words", NET_IPV4_AT_VERSION, 1, "0x%02x", ip[0]);
    put(walk, "DSCP", NET_IPV4_AT_TOS, 1, "%u", ip[NET_IPV4_AT_TOS] >> 2);
    put(walk, "ECN", NET_IPV4_AT_TOS, 1, "%u|%s", ip[NET_IPV4_AT_TOS] & 3u,
        ecn_name(ip[NET_IPV4_AT_TOS]));
    put(walk, "length", NET_IPV4_AT_LENGTH, 2, "%u", length);
    put(walk, "identification", NET_IPV4_AT_ID, 2, "%u", sim_get_be16(ip + NET_IPV4_AT_ID));
    put(walk, "flags, fragment", NET_IPV4_AT_FRAGMENT, 2, "0x%04x",
        sim_get_be16(ip + NET_IPV4_AT_FRAGMENT));
    put(walk, "TTL", NET_IPV4_AT_TTL, 1, "%u", ip[NET_IPV4_AT_TTL]);
    put(walk, "protocol", NET_IPV4_AT_PROTOCOL, 1, "%u", ip[NET_IPV4_AT_PROTOCOL]);
    put(walk, "checksum", NET_IPV4_AT_CHECKSUM, 2, "0x%04x",
        sim_get_be16(ip + NET_IPV4_AT_CHECKSUM));
    put_ip(walk, "source", NET_IPV4_AT_SOURCE, false);
    put_ip(walk, "destination", NET_IPV4_AT_DESTINATION, false);
    if (length >= NET_IPV4_BYTES && walk->at + length < walk->end) {
        walk->end = walk->at + length;
    }
    walk->at += NET_IPV4_BYTES;
    return ip[0] == NET_IPV4_VERSION_5_WORDS ? ip[NET_IPV4_AT_PROTOCOL] : 0;
}

static uint8_t walk_ipv6(walk_t *walk)
{
    if (!begin(walk, "IPv6", NET_IPV6_BYTES)) {
        return 0;
    }
    const uint8_t *const ip = walk->bytes + walk->at;
    const uint32_t first = sim_get_be32(ip);
    const unsigned length = sim_get_be16(ip + NET_IPV6_AT_LENGTH);
    put(walk, "DSCP", 0, 2, "%u", first >> 22 & 0x3f);
    put(walk, "ECN", 1, 1, "%u|%s", first >> 20 & 3u, ecn_name(first >> 20));
    put(walk, "flow label", 1, 3, "0x%05x", first & NET_IPV6_FLOW_LABEL_MASK);
    put(walk, "length", NET_IPV6_AT_LENGTH, 2, "%u", length);
    put(walk, "next header", NET_IPV6_AT_NEXT_HEADER, 1, "%u", ip[NET_IPV6_AT_NEXT_HEADER]);
    put(walk, "hop limit", NET_IPV6_AT_HOP_LIMIT, 1, "%u", ip[NET_IPV6_AT_HOP_LIMIT]);
    put_ip(walk, "source", NET_IPV6_AT_SOURCE, true);
    put_ip(walk, "destination", NET_IPV6_AT_DESTINATION, true);
    walk->at += NET_IPV6_BYTES;
    if (walk->at + length < walk->end) {
        walk->end = walk->at + length;
    }
    return ip[NET_IPV6_AT_NEXT_HEADER];
}

static bool walk_udp(walk_t *walk)
{
    if (!begin(walk, "UDP", NET_UDP_BYTES)) {
        return false;
    }
    const uint8_t *const udp = walk->bytes + walk->at;
    const unsigned port = sim_get_be16(udp + NET_UDP_AT_DESTINATION_PORT);
    put(walk, "source port", 0, 2, "%u", sim_get_be16(udp));
    put(walk, "destination port", 2, 2, "%u|%s", port, port == ROCE_UDP_PORT ? "RoCEv2" : "");
    put(walk, "length", NET_UDP_AT_LENGTH, 2, "%u", sim_get_be16(udp + NET_UDP_AT_LENGTH));
    put(walk, "checksum", NET_UDP_AT_CHECKSUM, 2, "0x%04x",
        sim_get_be16(udp + NET_UDP_AT_CHECKSUM));
    walk->at += NET_UDP_BYTES;
    return port == ROCE_UDP_PORT;
}

static bool walk_bth(walk_t *walk, uint8_t *opcode, unsigned *pad)
{
    if (!begin(walk, "BTH", ROCE_BTH_BYTES)) {
        return false;
    }
    const uint8_t *const bth = walk->bytes + walk->at;
    const unsigned flags = bth[ROCE_BTH_AT_FLAGS];
    const unsigned congestion = bth[ROCE_BTH_AT_CONGESTION];
    *opcode = bth[ROCE_BTH_AT_OPCODE];
    *pad = flags >> ROCE_BTH_PAD_SHIFT & ROCE_BTH_PAD_MASK;
    put(walk, "opcode", 0, 1, "0x%02x|%s", *opcode, net_frame_opcode_name(*opcode));
    put(walk, "solicited", 1, 1, "%u", (flags & ROCE_BTH_SOLICITED) != 0);
    put(walk, "migration", 1, 1, "%u", (flags & ROCE_BTH_MIGRATION) != 0);
    put(walk, "pad", 1, 1, "%u", *pad);
    put(walk, "P_Key", ROCE_BTH_AT_PKEY, 2, "0x%04x", sim_get_be16(bth + ROCE_BTH_AT_PKEY));
    put(walk, "FECN", ROCE_BTH_AT_CONGESTION, 1, "%u", (congestion & ROCE_BTH_FECN) != 0);
    put(walk, "BECN", ROCE_BTH_AT_CONGESTION, 1, "%u", (congestion & ROCE_BTH_BECN) != 0);
    put(walk, "destination queue pair", ROCE_BTH_AT_DESTINATION_QP, 3, "%u",
        sim_get_be24(bth + ROCE_BTH_AT_DESTINATION_QP));
    put(walk, "ack request", ROCE_BTH_AT_ACK_REQUEST, 1, "%u",
        (bth[ROCE_BTH_AT_ACK_REQUEST] & ROCE_BTH_ACK_REQUEST) != 0);
    put(walk, "PSN", ROCE_BTH_AT_PSN, 3, "%u", sim_get_be24(bth + ROCE_BTH_AT_PSN));
    walk->at += ROCE_BTH_BYTES;
    return true;
}

static void walk_reth(walk_t *walk, const char *name)
{
    if (!begin(walk, name, ROCE_RETH_BYTES)) {
        return;
    }
    const uint8_t *const at = walk->bytes + walk->at;
    put(walk, "address", ROCE_RETH_AT_ADDRESS, 8, "0x%016" PRIx64, sim_get_be64(at));
    put(walk, "R_Key", ROCE_RETH_AT_RKEY, 4, "0x%08x", sim_get_be32(at + ROCE_RETH_AT_RKEY));
    put(walk, "length", ROCE_RETH_AT_LENGTH, 4, "%u", sim_get_be32(at + ROCE_RETH_AT_LENGTH));
    walk->at += ROCE_RETH_BYTES;
}

static void syndrome_text(unsigned syndrome, char *text, size_t size)
{
    static const char *const naks[] = {"PSN sequence error", "invalid request",
                                       "remote access error", "remote operation error"};
    const unsigned type = syndrome & 0x60u;
    const unsigned code = syndrome & 0x1fu;
    if (type == ROCE_SYNDROME_ACK) {
        (void)snprintf(text, size, "%s", "ACK");
    } else if (type == ROCE_SYNDROME_RNR_NAK) {
        (void)snprintf(text, size, "RNR NAK, timer %u", code);
    } else {
        (void)snprintf(text, size, "NAK: %s", code < 4 ? naks[code] : "reserved");
    }
}

static void walk_aeth(walk_t *walk)
{
    if (!begin(walk, "AETH", ROCE_AETH_BYTES)) {
        return;
    }
    const uint8_t *const at = walk->bytes + walk->at;
    char text[48];
    syndrome_text(at[ROCE_AETH_AT_SYNDROME], text, sizeof(text));
    put(walk, "syndrome", ROCE_AETH_AT_SYNDROME, 1, "0x%02x|%s", at[0], text);
    put(walk, "MSN", ROCE_AETH_AT_MSN, 3, "%u", sim_get_be24(at + ROCE_AETH_AT_MSN));
    walk->at += ROCE_AETH_BYTES;
}

static void walk_deth(walk_t *walk)
{
    if (!begin(walk, "DETH", ROCE_DETH_BYTES)) {
        return;
    }
    const uint8_t *const at = walk->bytes + walk->at;
    put(walk, "Q_Key", ROCE_DETH_AT_QKEY, 4, "0x%08x", sim_get_be32(at));
    put(walk, "source queue pair", ROCE_DETH_AT_SOURCE_QP, 3, "%u",
        sim_get_be24(at + ROCE_DETH_AT_SOURCE_QP));
    walk->at += ROCE_DETH_BYTES;
}

static void walk_atomic(walk_t *walk)
{
    if (!begin(walk, "AtomicETH", ROCE_ATOMIC_ETH_BYTES)) {
        return;
    }
    const uint8_t *const at = walk->bytes + walk->at;
    put(walk, "address", 0, 8, "0x%016" PRIx64, sim_get_be64(at));
    put(walk, "R_Key", ROCE_ATOMIC_ETH_AT_RKEY, 4, "0x%08x", sim_get_be32(at + 8));
    put(walk, "swap or add", ROCE_ATOMIC_ETH_AT_SWAP_ADD, 8, "%" PRIu64,
        sim_get_be64(at + ROCE_ATOMIC_ETH_AT_SWAP_ADD));
    put(walk, "compare", ROCE_ATOMIC_ETH_AT_COMPARE, 8, "%" PRIu64,
        sim_get_be64(at + ROCE_ATOMIC_ETH_AT_COMPARE));
    walk->at += ROCE_ATOMIC_ETH_BYTES;
}

static void walk_number(walk_t *walk, const char *layer, const char *name, size_t size)
{
    if (begin(walk, layer, size)) {
        const uint8_t *const at = walk->bytes + walk->at;
        put(walk, name, 0, size, "0x%0*" PRIx64, (int)(2 * size),
            size == 8 ? sim_get_be64(at) : sim_get_be32(at));
        walk->at += size;
    }
}

// The headers come in the order in which the codec reads them.
static void walk_extensions(walk_t *walk, uint32_t extensions)
{
    if ((extensions & NET_EXT_CNP) != 0 && begin(walk, "CNP", ROCE_CNP_RESERVED_BYTES)) {
        put(walk, "reserved", 0, ROCE_CNP_RESERVED_BYTES, "%u bytes", ROCE_CNP_RESERVED_BYTES);
        walk->at += ROCE_CNP_RESERVED_BYTES;
    }
    if ((extensions & NET_EXT_DETH) != 0) {
        walk_deth(walk);
    }
    if ((extensions & NET_EXT_RETH) != 0) {
        walk_reth(walk, "RETH");
    }
    if ((extensions & NET_EXT_ATOMIC) != 0) {
        walk_atomic(walk);
    }
    if ((extensions & NET_EXT_AETH) != 0) {
        walk_aeth(walk);
    }
    if ((extensions & NET_EXT_ATOMIC_ACK) != 0) {
        walk_number(walk, "AtomicAckETH", "original value", ROCE_ATOMIC_ACK_ETH_BYTES);
    }
    if ((extensions & NET_EXT_IMMDT) != 0) {
        walk_number(walk, "ImmDt", "immediate data", ROCE_IMMDT_BYTES);
    }
    if ((extensions & NET_EXT_IETH) != 0) {
        walk_number(walk, "IETH", "invalidated R_Key", ROCE_IETH_BYTES);
    }
}

static bool is_selective(const walk_t *walk)
{
    return walk->transport != NULL &&
           (strcmp(walk->transport, "adamap") == 0 || strcmp(walk->transport, "sdr") == 0 ||
            strcmp(walk->transport, "irn") == 0);
}

// Shows the headers that a selective transport adds behind the standard ones
// (net/wire/packet_frame.c). In data packets they are shown only for a WRITE without its own RETH:
// the bytes of others do not show where the headers end.
static void walk_selective(walk_t *walk, uint8_t opcode)
{
    const size_t packet_end = walk->end < ROCE_ICRC_BYTES ? 0 : walk->end - ROCE_ICRC_BYTES;
    if (!is_selective(walk) || walk->stopped || packet_end <= walk->at) {
        return;
    }
    const size_t left = packet_end - walk->at;
    if (opcode == ROCE_ACKNOWLEDGE && left >= 12 && begin(walk, "Map of packets", left)) {
        const uint8_t *const at = walk->bytes + walk->at;
        put(walk, "first PSN", 0, 4, "%u", sim_get_be32(at));
        put(walk, "length", 4, 4, "%u|packets", sim_get_be32(at + 4));
        put(walk, "round", 8, 1, "%u|%s", at[8], "0: sent for the first time");
        put(walk, "index", 9, 3, "%u", sim_get_be24(at + 9));
        if (left > 12) {
            put(walk, "bitmap", 12, left - 12, "%zu bytes|a bit for each packet", left - 12);
        }
        walk->at += left;
    } else if (strcmp(walk->transport, "adamap") == 0 && left >= ROCE_RETH_BYTES &&
               (opcode == ROCE_WRITE_MIDDLE || opcode == ROCE_WRITE_LAST)) {
        walk_reth(walk, "RETH of the packet");
    }
}

static void walk_rest(walk_t *walk, unsigned pad, size_t frame_size)
{
    const size_t icrc_at = walk->end < ROCE_ICRC_BYTES ? 0 : walk->end - ROCE_ICRC_BYTES;
    if (walk->stopped || icrc_at < walk->at) {
        return;
    }
    const size_t payload = icrc_at - walk->at - (pad < icrc_at - walk->at ? pad : 0);
    const size_t there = walk->size > walk->at ? walk->size - walk->at : 0;
    if (payload > 0 && begin(walk, "Payload", SIM_MIN(payload, there))) {
        put(walk, "data", 0, SIM_MIN(payload, there), "%zu bytes", payload);
    }
    walk->at += payload;
    if (icrc_at > walk->at && begin(walk, "Pad", icrc_at - walk->at)) {
        put(walk, "zeros", 0, icrc_at - walk->at, "%zu", icrc_at - walk->at);
    }
    walk->at = icrc_at;
    if (begin(walk, "ICRC", ROCE_ICRC_BYTES)) {
        put(walk, "ICRC", 0, 4, "0x%08x", sim_get_le32(walk->bytes + walk->at));
        walk->at += ROCE_ICRC_BYTES;
    }
    if (walk->at < NET_FRAME_BYTES_MIN && frame_size >= NET_FRAME_BYTES_MIN &&
        begin(walk, "Padding", NET_FRAME_BYTES_MIN - walk->at)) {
        walk->at = NET_FRAME_BYTES_MIN;
    }
}

// Shows the in-band telemetry behind the packet, as the codec read it.
static void walk_telemetry(walk_t *walk, const net_frame_t *frame, size_t frame_size)
{
    if (walk->stopped || walk->at >= frame_size || frame->telemetry == NET_TELEMETRY_NONE ||
        !begin(walk, "Telemetry", frame_size - walk->at)) {
        return;
    }
    if (frame->telemetry == NET_TELEMETRY_PINT) {
        put(walk, "PINT digest", 0, frame->digest_bytes, "%u", frame->digest);
        return;
    }
    put(walk, "hops", 0, 1, "%u", frame->hop_count);
    put(walk, "path", 0, 2, "0x%03x", frame->path_id);
    for (size_t i = 0; i < frame->hop_count && i < NET_INT_HOPS_MAX; i++) {
        char name[24];
        (void)snprintf(name, sizeof(name), "hop %zu", i + 1);
        put(walk, name, NET_INT_HEADER_BYTES + NET_INT_HOP_BYTES * i, NET_INT_HOP_BYTES,
            "0x%016" PRIx64 "|%u ns, queue of %u units of 80 bytes", frame->hops[i],
            (unsigned)(frame->hops[i] >> NET_INT_TIME_SHIFT & NET_INT_MASK(NET_INT_TIME_BITS)),
            (unsigned)(frame->hops[i] & NET_INT_MASK(NET_INT_QUEUE_BITS)));
    }
}

json_t *studio_packet_layers(const uint8_t *bytes, size_t captured, size_t size,
                             const char *transport, const studio_names_t *names,
                             sim_message_t *message)
{
    walk_t walk = {.bytes = bytes,
                   .size = captured,
                   .end = size,
                   .layers = json_array(),
                   .names = names,
                   .transport = transport};
    net_frame_t frame;
    message->text[0] = '\0';
    frame.telemetry = NET_TELEMETRY_NONE;
    const bool good =
        captured == size && net_frame_parse(bytes, captured, &frame, message) == SIM_OK;
    if (good && !net_frame_is_control(&frame) && !net_frame_icrc_ok(bytes, captured, &frame)) {
        (void)sim_fail(message, SIM_ERR_INVALID, "the ICRC does not match the packet");
    }
    const uint16_t type = walk_ethernet(&walk);
    if (type == NET_ETHERTYPE_MAC_CONTROL) {
        walk_pfc(&walk);
        return walk.layers;
    }
    uint8_t protocol = 0;
    if (type == NET_ETHERTYPE_IPV4) {
        protocol = walk_ipv4(&walk);
    } else if (type == NET_ETHERTYPE_IPV6) {
        protocol = walk_ipv6(&walk);
    }
    uint8_t opcode = 0;
    unsigned pad = 0;
    if (protocol == NET_IP_PROTOCOL_UDP && walk_udp(&walk) && walk_bth(&walk, &opcode, &pad)) {
        walk_extensions(&walk, net_frame_extensions(opcode));
        walk_selective(&walk, opcode);
        walk_rest(&walk, pad, size);
        if (good) {
            walk_telemetry(&walk, &frame, size);
        }
    }
    return walk.layers;
}

void studio_packet_info(const uint8_t *bytes, size_t size, char *text, size_t text_size)
{
    studio_brief_t brief;
    studio_packet_brief(bytes, size, &brief);
    text[0] = '\0';
    if (brief.has_aeth) {
        syndrome_text(brief.syndrome, text, text_size);
    } else if (brief.has_bth) {
        const size_t head = brief.ipv6 ? NET_IPV6_BYTES : NET_IPV4_BYTES;
        const bool tagged = sim_get_be16(bytes + NET_ETHERNET_AT_TYPE) == NET_ETHERTYPE_VLAN;
        const size_t at = NET_ETHERNET_BYTES + (tagged ? NET_VLAN_BYTES : 0u) + head +
                          NET_UDP_BYTES + ROCE_BTH_BYTES;
        if ((net_frame_extensions(brief.opcode) & NET_EXT_RETH) != 0 &&
            size >= at + ROCE_RETH_BYTES) {
            (void)snprintf(text, text_size, "%u bytes at 0x%" PRIx64,
                           sim_get_be32(bytes + at + ROCE_RETH_AT_LENGTH),
                           sim_get_be64(bytes + at));
        }
    } else if (strncmp(brief.kind, "PFC", 3) == 0 && size >= NET_ETHERNET_BYTES + NET_PFC_BYTES) {
        (void)snprintf(text, text_size, "classes 0x%02x",
                       bytes[NET_ETHERNET_BYTES + NET_PFC_AT_CLASSES + 1]);
    }
}
