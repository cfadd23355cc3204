// SPDX-License-Identifier: Apache-2.0
// pcap-out/capture.c - captures frames at trace points of ports and writes them to a file.
//
// Nodes run in parallel, so a frame takes two steps. The node's thread puts the frame's fields into
// a stream (kernel/record.h). Between windows the stream hands on the records of all nodes in the
// order of time, and they are built into bytes and written. A record is twenty times smaller than a
// full frame, which matters in long windows; in return, a filter has to build the bytes as well.
#include "pcap-out/capture.h"
#include "net/port.h"

#include <stddef.h>
#include <string.h>

#include "kernel/record.h"
#include "net/frame.h"
#include "net/frame_opcodes.h"
#include "net/trace.h"
#include "pcap-out/pcap_file.h"

// Sizes in the pcap format: header of the file, header of each frame.
#define FILE_HEADER_BYTES 24u
#define RECORD_HEADER_BYTES 16u

struct pcap_out_capture {
    pcap_out_file_t *file;
    sim_stream_t *stream;
    uint32_t points;     // net_trace_point_t
    uint64_t bytes_left; // bytes that the file may still grow by
    uint64_t left_out;   // frames that were not written because the file is full
    uint32_t snaplen_bytes;
    bool has_filter;
    bool without_telemetry;
};

// Returns the size of the fields that a frame uses: hops are last in the struct.
static size_t note_bytes(const net_frame_t *frame)
{
    return offsetof(net_frame_t, hops) + frame->hop_count * sizeof(frame->hops[0]);
}

// Returns the size of a frame's contents, which follow its fields in the record.
static size_t contents_bytes(const net_frame_t *frame)
{
    return frame->payload != NULL ? frame->payload_bytes : 0;
}

// Records a frame. Called in the thread of the port's node.
static void on_packet(const net_trace_t *trace, void *ctx)
{
    pcap_out_capture_t *const capture = ctx;
    // The bytes on the wire are those that the sender made.
    const net_port_t *const sender = trace->point == NET_TRACE_TX ? trace->port : trace->port->peer;
    net_frame_t frame;
    net_packet_frame(sender, trace->packet, &frame);
    // The file must show the bytes that took time on the link.
    SIM_CHECK(trace->packet->frame_bytes == net_frame_size_bytes(&frame));
    if (capture->without_telemetry) {
        frame.telemetry = NET_TELEMETRY_NONE;
        frame.hop_count = 0;
        frame.overlay_bytes = 0;
    }
    if (capture->has_filter) {
        uint8_t bytes[NET_FRAME_BYTES_MAX];
        const uint32_t size_bytes = (uint32_t)net_frame_build(&frame, bytes, sizeof(bytes));
        if (!pcap_out_file_matches(capture->file, bytes, size_bytes, size_bytes)) {
            return;
        }
    }
    const size_t bytes = note_bytes(&frame);
    char *const note = sim_stream_put(capture->stream, &trace->port->node->sim, trace->time_ps,
                                      bytes + contents_bytes(&frame));
    memcpy(note, &frame, bytes);
    if (frame.payload != NULL) {
        memcpy(note + bytes, frame.payload, frame.payload_bytes);
    }
}

static void write_frame(sim_time_t time_ps, uint32_t node_index, const void *record,
                        size_t record_bytes, void *ctx)
{
    (void)node_index;
    pcap_out_capture_t *const capture = ctx;
    if (capture->left_out > 0) {
        capture->left_out++;
        return;
    }
    net_frame_t frame;
    memcpy(&frame, record, SIM_MIN(record_bytes, sizeof(frame)));
    SIM_CHECK(record_bytes == note_bytes(&frame) + contents_bytes(&frame));
    if (frame.payload != NULL) {
        frame.payload = (const uint8_t *)record + note_bytes(&frame);
    }
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    const uint32_t size_bytes = (uint32_t)net_frame_build(&frame, bytes, sizeof(bytes));
    const uint32_t kept_bytes = SIM_MIN(size_bytes, capture->snaplen_bytes);
    if (RECORD_HEADER_BYTES + kept_bytes > capture->bytes_left) {
        capture->left_out = 1;
        return;
    }
    capture->bytes_left -= RECORD_HEADER_BYTES + kept_bytes;
    pcap_out_file_append(capture->file, time_ps, bytes, size_bytes, size_bytes);
}

sim_err_t pcap_out_capture_open(sim_t *sim, const pcap_out_config_t *config,
                                pcap_out_capture_t **capture, sim_message_t *message)
{
    *capture = NULL;
    pcap_out_file_t *file = NULL;
    const sim_err_t error =
        pcap_out_file_open(config->path, config->snaplen_bytes, config->filter, &file, message);
    if (error != SIM_OK) {
        return error;
    }
    pcap_out_capture_t *const made = sim_alloc(sizeof(*made));
    made->file = file;
    pcap_out_file_set_origin(file, config->origin_s);
    made->stream = sim_stream_create(sim, write_frame, made);
    made->has_filter = config->filter != NULL && config->filter[0] != '\0';
    made->without_telemetry = config->without_telemetry;
    made->snaplen_bytes = config->snaplen_bytes == 0 ? UINT32_MAX : config->snaplen_bytes;
    made->bytes_left = config->bytes_max == 0 ? UINT64_MAX
                       : config->bytes_max > FILE_HEADER_BYTES
                           ? config->bytes_max - FILE_HEADER_BYTES
                           : 0;
    switch (config->direction) {
    case PCAP_OUT_BOTH:
        made->points = NET_TRACE_TX | NET_TRACE_RX;
        break;
    case PCAP_OUT_TX:
        made->points = NET_TRACE_TX;
        break;
    case PCAP_OUT_RX:
        made->points = NET_TRACE_RX;
        break;
    }
    *capture = made;
    return SIM_OK;
}

void pcap_out_capture_port(pcap_out_capture_t *capture, net_port_t *port)
{
    net_port_listen(port, capture->points, on_packet, capture);
}

uint64_t pcap_out_capture_frames(const pcap_out_capture_t *capture)
{
    return pcap_out_file_frames(capture->file);
}

uint64_t pcap_out_capture_left_out(const pcap_out_capture_t *capture)
{
    return capture->left_out;
}

sim_err_t pcap_out_capture_close(pcap_out_capture_t *capture, sim_message_t *message)
{
    const sim_err_t error = pcap_out_file_close(capture->file, message);
    sim_free(capture);
    return error;
}
