// SPDX-License-Identifier: Apache-2.0
// pcap-out/ng_file.c - builds the blocks of a pcapng file and hands them to its sink.
#include "pcap-out/ng_file.h"

#include "kernel/buffer.h"
#include "pcap-out/pcapng/ng_layout.h"
#include "pcap-out/pcapng/sink.h"

#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 18)
// Longer texts are cut: a block's length has 32 bits, an option's 16, and a head is bounded.
#define TEXT_BYTES_MAX 16000u

// Blocks are in the machine's byte order, but the files must be equal on all machines.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "captures are little endian");

typedef struct interface {
    uint32_t snaplen_bytes;
    uint64_t ps_per_unit;
} interface_t;

struct pcap_out_ng {
    pcap_out_sink_t *sink;
    sim_buffer_t buffer; // bytes that are not handed to the sink yet
    uint64_t bytes;      // of the file so far
    char *application;
    interface_t *interfaces;
    uint32_t interface_count;
    size_t interface_capacity;
};

static size_t padded(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

static void put_padded(sim_buffer_t *buffer, const void *bytes, size_t size)
{
    static const char zeros[4];
    sim_buffer_put(buffer, bytes, size);
    sim_buffer_put(buffer, zeros, padded(size) - size);
}

static void put_option(sim_buffer_t *buffer, uint16_t code, const void *bytes, size_t size)
{
    sim_buffer_put_u32(buffer, (uint32_t)size << 16 | code);
    put_padded(buffer, bytes, size);
}

static size_t text_bytes(const char *text)
{
    return strnlen(text, TEXT_BYTES_MAX);
}

static void put_text(sim_buffer_t *buffer, uint16_t code, const char *text)
{
    if (text != NULL) {
        put_option(buffer, code, text, text_bytes(text));
    }
}

static size_t begin_block(sim_buffer_t *buffer, uint32_t type)
{
    const size_t at = buffer->count;
    sim_buffer_put_u32(buffer, type);
    sim_buffer_put_u32(buffer, 0);
    return at;
}

static void end_block(sim_buffer_t *buffer, size_t at)
{
    const uint32_t size = (uint32_t)(buffer->count - at) + 4;
    sim_buffer_put_u32(buffer, size);
    memcpy(buffer->bytes + at + 4, &size, sizeof(size));
}

static void flush(pcap_out_ng_t *ng)
{
    (void)pcap_out_sink_write(ng->sink, ng->buffer.bytes, ng->buffer.count);
    ng->buffer.count = 0;
}

// Hands on what ends at a multiple of BUFFER_BYTES in the file: the kernel is fastest with whole
// pages.
static void written(pcap_out_ng_t *ng, size_t before)
{
    ng->bytes += ng->buffer.count - before;
    if (ng->buffer.count < BUFFER_BYTES) {
        return;
    }
    const size_t rest = (size_t)(ng->bytes % BUFFER_BYTES);
    const size_t whole = ng->buffer.count > rest ? ng->buffer.count - rest : 0;
    (void)pcap_out_sink_write(ng->sink, ng->buffer.bytes, whole);
    memmove(ng->buffer.bytes, ng->buffer.bytes + whole, ng->buffer.count - whole);
    ng->buffer.count -= whole;
}

static void put_section(sim_buffer_t *buffer, const char *application, const char *comment)
{
    const size_t at = begin_block(buffer, NG_BLOCK_SECTION);
    sim_buffer_put_u32(buffer, NG_BYTE_ORDER);
    sim_buffer_put_u32(buffer, 1); // version 1.0
    sim_buffer_put_u64(buffer, UINT64_MAX);
    put_text(buffer, NG_OPTION_COMMENT, comment);
    put_text(buffer, NG_OPTION_SECTION_APPLICATION, application);
    sim_buffer_put_u32(buffer, NG_OPTION_END);
    end_block(buffer, at);
}

sim_err_t pcap_out_ng_open(const char *path, const char *application, const char *comment,
                           pcap_out_ng_t **ng, sim_message_t *message)
{
    *ng = NULL;
    pcap_out_sink_t *sink = NULL;
    const sim_err_t error = pcap_out_sink_open(path, &sink, message);
    if (error != SIM_OK) {
        return error;
    }
    pcap_out_ng_t *const made = sim_alloc(sizeof(*made));
    *made = (pcap_out_ng_t){.sink = sink, .application = sim_strdup(application)};
    put_section(&made->buffer, application, comment);
    made->bytes = made->buffer.count;
    pcap_out_sink_head(sink, made->buffer.bytes, made->buffer.count);
    made->buffer.count = 0;
    *ng = made;
    return SIM_OK;
}

void pcap_out_ng_change_comment(pcap_out_ng_t *ng, const char *comment)
{
    flush(ng);
    put_section(&ng->buffer, ng->application, comment);
    pcap_out_sink_change_head(ng->sink, ng->buffer.bytes, ng->buffer.count);
    ng->buffer.count = 0;
}

uint32_t pcap_out_ng_interface(pcap_out_ng_t *ng, const pcap_out_ng_interface_t *interface)
{
    const size_t before = ng->buffer.count;
    SIM_CHECK(interface->resolution == 6 || interface->resolution == 9 ||
              interface->resolution == 12);
    const size_t at = begin_block(&ng->buffer, NG_BLOCK_INTERFACE);
    sim_buffer_put_u32(&ng->buffer, NG_ETHERNET);
    sim_buffer_put_u32(&ng->buffer, interface->snaplen_bytes);
    put_text(&ng->buffer, NG_OPTION_INTERFACE_NAME, interface->name);
    put_text(&ng->buffer, NG_OPTION_INTERFACE_DESCRIPTION, interface->description);
    if (interface->rate_bps != 0) {
        put_option(&ng->buffer, NG_OPTION_INTERFACE_SPEED, &interface->rate_bps, 8);
    }
    put_option(&ng->buffer, NG_OPTION_INTERFACE_RESOLUTION, &interface->resolution, 1);
    if (interface->origin_s != 0) {
        put_option(&ng->buffer, NG_OPTION_INTERFACE_OFFSET, &interface->origin_s, 8);
    }
    sim_buffer_put_u32(&ng->buffer, NG_OPTION_END);
    end_block(&ng->buffer, at);
    SIM_GROW(ng->interfaces, ng->interface_count, &ng->interface_capacity);
    ng->interfaces[ng->interface_count] = (interface_t){
        .snaplen_bytes = interface->snaplen_bytes != 0 ? interface->snaplen_bytes : UINT32_MAX,
        .ps_per_unit = interface->resolution == 12  ? 1
                       : interface->resolution == 9 ? SIM_PS_PER_NS
                                                    : SIM_PS_PER_US,
    };
    written(ng, before);
    return ng->interface_count++;
}

uint64_t pcap_out_ng_interface_bytes(const char *name, const char *description)
{
    const uint64_t texts = padded(text_bytes(name)) + padded(text_bytes(description));
    const uint64_t interface =
        NG_BLOCK_OVERHEAD_BYTES + 8 + texts + 8 + 4 +
        (uint64_t)NG_OPTION_HEADER_BYTES * 5; // link type, snap length, options
    const uint64_t statistics = NG_BLOCK_OVERHEAD_BYTES + 12 + 8 + 8 +
                                (uint64_t)NG_OPTION_HEADER_BYTES * 3; // interface, time, options
    return interface + statistics;
}

static uint32_t kept_bytes(const pcap_out_ng_t *ng, const pcap_out_ng_packet_t *packet)
{
    const uint32_t most = ng->interfaces[packet->interface].snaplen_bytes;
    return SIM_MIN(packet->captured_bytes, most);
}

// Returns the picoseconds that the interface's resolution cuts off, if it is nanoseconds; else 0.
static uint64_t cut_ps(const pcap_out_ng_t *ng, const pcap_out_ng_packet_t *packet)
{
    const uint64_t unit_ps = ng->interfaces[packet->interface].ps_per_unit;
    return unit_ps == SIM_PS_PER_NS ? packet->time_ps % SIM_PS_PER_NS : 0;
}

static bool has_flags(const pcap_out_ng_packet_t *packet)
{
    return packet->way != PCAP_OUT_NG_UNKNOWN;
}

uint64_t pcap_out_ng_packet_bytes(const pcap_out_ng_t *ng, const pcap_out_ng_packet_t *packet)
{
    SIM_CHECK(packet->interface < ng->interface_count);
    uint64_t options = has_flags(packet) ? NG_OPTION_HEADER_BYTES + 4 : 0;
    options += packet->drop_count != 0 ? NG_OPTION_HEADER_BYTES + 8 : 0;
    options += cut_ps(ng, packet) != 0 ? NG_OPTION_HEADER_BYTES + NG_CUSTOM_BYTES : 0;
    for (uint32_t i = 0; i < packet->comment_count; i++) {
        options += NG_OPTION_HEADER_BYTES + padded(text_bytes(packet->comments[i]));
    }
    options += options > 0 ? NG_OPTION_HEADER_BYTES : 0;
    return NG_BLOCK_OVERHEAD_BYTES + NG_PACKET_HEADER_BYTES + padded(kept_bytes(ng, packet)) +
           options;
}

void pcap_out_ng_packet(pcap_out_ng_t *ng, const pcap_out_ng_packet_t *packet)
{
    sim_buffer_t *const buffer = &ng->buffer;
    const size_t before = buffer->count;
    SIM_CHECK(packet->interface < ng->interface_count);
    SIM_CHECK(packet->comment_count <= PCAP_OUT_NG_COMMENTS_MAX);
    const uint32_t kept = kept_bytes(ng, packet);
    const uint64_t units = packet->time_ps / ng->interfaces[packet->interface].ps_per_unit;
    const size_t at = begin_block(buffer, NG_BLOCK_PACKET);
    sim_buffer_put_u32(buffer, packet->interface);
    sim_buffer_put_u32(buffer, (uint32_t)(units >> 32));
    sim_buffer_put_u32(buffer, (uint32_t)units);
    sim_buffer_put_u32(buffer, kept);
    sim_buffer_put_u32(buffer, packet->original_bytes);
    put_padded(buffer, packet->bytes, kept);
    for (uint32_t i = 0; i < packet->comment_count; i++) {
        put_text(buffer, NG_OPTION_COMMENT, packet->comments[i]);
    }
    if (has_flags(packet)) {
        const uint32_t flags = packet->way;
        put_option(buffer, NG_OPTION_PACKET_FLAGS, &flags, sizeof(flags));
    }
    if (packet->drop_count != 0) {
        put_option(buffer, NG_OPTION_PACKET_DROPS, &packet->drop_count, 8);
    }
    const uint64_t rest_ps = cut_ps(ng, packet);
    if (rest_ps != 0) {
        const uint32_t custom[2] = {NG_ENTERPRISE, (uint32_t)rest_ps << 16 | NG_PICOSECONDS};
        put_option(buffer, NG_OPTION_CUSTOM, custom, sizeof(custom));
    }
    if (packet->comment_count > 0 || has_flags(packet) || packet->drop_count != 0 || rest_ps != 0) {
        sim_buffer_put_u32(buffer, NG_OPTION_END);
    }
    end_block(buffer, at);
    written(ng, before);
}

void pcap_out_ng_statistics(pcap_out_ng_t *ng, uint32_t interface, sim_time_t time_ps,
                            uint64_t received, uint64_t dropped)
{
    const size_t before = ng->buffer.count;
    SIM_CHECK(interface < ng->interface_count);
    const uint64_t units = time_ps / ng->interfaces[interface].ps_per_unit;
    const size_t at = begin_block(&ng->buffer, NG_BLOCK_STATISTICS);
    sim_buffer_put_u32(&ng->buffer, interface);
    sim_buffer_put_u32(&ng->buffer, (uint32_t)(units >> 32));
    sim_buffer_put_u32(&ng->buffer, (uint32_t)units);
    put_option(&ng->buffer, NG_OPTION_STATISTICS_RECEIVED, &received, sizeof(received));
    put_option(&ng->buffer, NG_OPTION_STATISTICS_DROPPED, &dropped, sizeof(dropped));
    sim_buffer_put_u32(&ng->buffer, NG_OPTION_END);
    end_block(&ng->buffer, at);
    written(ng, before);
}

uint64_t pcap_out_ng_bytes(const pcap_out_ng_t *ng)
{
    return ng->bytes;
}

sim_err_t pcap_out_ng_close(pcap_out_ng_t *ng, sim_message_t *message)
{
    flush(ng);
    const sim_err_t error = pcap_out_sink_close(ng->sink, message);
    SIM_FREE_ALL(ng->buffer.bytes, ng->interfaces, ng->application, ng);
    return error;
}
