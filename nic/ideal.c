// SPDX-License-Identifier: Apache-2.0
// nic/ideal.c - frames back to back along a path of store-and-forward hops.
//
// The transmitter of hop h starts frame i when the frame has arrived and frame i - 1 with its gap
// is out. Frames of one message differ: the first carries a RETH (a READ response's first and last
// an AETH), the last the rest of the payload. So each frame is followed from hop to hop, except
// that a run of equal frames is cut short once each hop's spacing has become what it will stay: the
// larger of the hop's own frame time and the spacing of the hop before.
#include "nic/ideal.h"

#include "net/frame.h"
#include "net/models.h"
#include "nic/nic_internal.h"

#define HOPS_MAX SIM_COUNT_OF(((net_path_t *)NULL)->ports)

typedef struct hop {
    const net_port_t *port;
    sim_time_t free_ps;    // the last frame and its gap are out
    sim_time_t spacing_ps; // from the frame before the last one
    uint64_t remainder;    // of the division by the rate
} hop_t;

typedef struct pipeline {
    hop_t hops[HOPS_MAX];
    uint32_t hop_count;
    bool inexact; // a rate whose times carry a remainder from frame to frame
    bool started;
    sim_time_t arrived_ps; // last bit of the last frame at the end of the path
} pipeline_t;

static void pipeline_init(pipeline_t *pipeline, const net_path_t *path, sim_time_t start_ps)
{
    *pipeline = (pipeline_t){.hop_count = path->hop_count};
    for (uint32_t i = 0; i < path->hop_count; i++) {
        pipeline->hops[i].port = path->ports[i];
        pipeline->inexact |=
            path->ports[i]->exact_ps_per_byte == 0 && path->ports[i]->timing == NULL;
    }
    pipeline->hops[0].free_ps = start_ps;
}

static sim_time_t frame_time_ps(hop_t *hop, uint32_t frame_bytes, bool back_to_back)
{
    const uint64_t bytes = frame_bytes + hop->port->overhead_bytes;
    if (hop->port->timing != NULL) {
        return hop->port->timing->time_ps(hop->port, bytes);
    }
    if (hop->port->exact_ps_per_byte != 0) {
        return bytes * hop->port->exact_ps_per_byte;
    }
    const uint64_t carried = back_to_back ? hop->remainder : 0;
    const uint64_t numerator = bytes * (8 * SIM_PS_PER_S) + carried;
    hop->remainder = numerator % hop->port->rate_bps;
    return numerator / hop->port->rate_bps;
}

// Sends one frame. True when every hop is spaced by the larger of its frame time and the spacing of
// the hop before: either it was waiting for itself and will be, or for its input and will be, so
// that more frames like this one come at the same spacings.
static bool send_frame(pipeline_t *pipeline, uint32_t frame_bytes)
{
    bool settled = pipeline->started;
    sim_time_t arrive_ps = pipeline->hops[0].free_ps;
    sim_time_t spacing_before_ps = 0;
    for (uint32_t i = 0; i < pipeline->hop_count; i++) {
        hop_t *const hop = &pipeline->hops[i];
        const bool back_to_back = pipeline->started && hop->free_ps >= arrive_ps;
        const sim_time_t start_ps = hop->free_ps > arrive_ps ? hop->free_ps : arrive_ps;
        const sim_time_t time_ps = frame_time_ps(hop, frame_bytes, back_to_back);
        hop->spacing_ps = start_ps + time_ps - hop->free_ps;
        hop->free_ps = start_ps + time_ps;
        const sim_time_t slower_ps = time_ps > spacing_before_ps ? time_ps : spacing_before_ps;
        settled &= hop->spacing_ps == slower_ps;
        spacing_before_ps = hop->spacing_ps;
        arrive_ps = hop->free_ps - hop->port->gap_ps + hop->port->delay_ps;
    }
    pipeline->arrived_ps = arrive_ps;
    pipeline->started = true;
    return settled && !pipeline->inexact;
}

static void send_frames(pipeline_t *pipeline, uint64_t count, uint32_t frame_bytes)
{
    for (uint64_t i = 0; i < count; i++) {
        if (send_frame(pipeline, frame_bytes)) {
            const uint64_t left = count - 1 - i;
            for (uint32_t h = 0; h < pipeline->hop_count; h++) {
                pipeline->hops[h].free_ps += left * pipeline->hops[h].spacing_ps;
            }
            pipeline->arrived_ps += left * pipeline->hops[pipeline->hop_count - 1].spacing_ps;
            return;
        }
    }
}

// RC opcodes of the frames of one message.
typedef struct operation {
    uint8_t first;
    uint8_t middle;
    uint8_t last;
    uint8_t only;
} operation_t;

static const operation_t operations[] = {
    [NIC_WR_SEND] = {ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST, ROCE_SEND_ONLY},
    [NIC_WR_SEND_WITH_IMM] = {ROCE_SEND_FIRST,
                              ROCE_SEND_MIDDLE,
                              ROCE_SEND_LAST_IMM,
                              ROCE_SEND_ONLY_IMM},
    [NIC_WR_RDMA_WRITE] = {ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST, ROCE_WRITE_ONLY},
    [NIC_WR_RDMA_WRITE_WITH_IMM] = {ROCE_WRITE_FIRST,
                                    ROCE_WRITE_MIDDLE,
                                    ROCE_WRITE_LAST_IMM,
                                    ROCE_WRITE_ONLY_IMM},
    [NIC_WR_RDMA_READ] = {ROCE_READ_RESPONSE_FIRST,
                          ROCE_READ_RESPONSE_MIDDLE,
                          ROCE_READ_RESPONSE_LAST,
                          ROCE_READ_RESPONSE_ONLY},
};

// A NIC with a frame size of its own (nic.frame-header) sends requests as payload and that header;
// its other frames have it in place of the standard's, and are not padded.
static uint32_t bare_frame_bytes(const nic_t *nic, uint8_t opcode, uint64_t payload_bytes)
{
    const uint32_t payload = (uint32_t)payload_bytes;
    const bool request_data = opcode < ROCE_READ_REQUEST;
    return nic->header_bytes +
           (request_data ? payload : net_frame_extension_bytes(opcode) + ((payload + 3) & ~3u));
}

// Of a frame that the NIC of interface `sender` sends; telemetry is left out.
static uint32_t frame_bytes_of(const nic_ideal_t *ideal,
                               uint32_t sender,
                               uint8_t opcode,
                               uint64_t payload_bytes)
{
    const net_config_t *const config = net_get_config(ideal->net);
    const nic_t *const nic = nic_of_interface(ideal->net, sender);
    if (opcode == ROCE_ACKNOWLEDGE && nic->ack_bytes != 0) {
        return nic->ack_bytes > nic->frame_bytes_min ? nic->ack_bytes : nic->frame_bytes_min;
    }
    return nic->bare
               ? bare_frame_bytes(nic, opcode, payload_bytes)
               : net_frame_bytes(opcode, (uint32_t)payload_bytes, config->tagged, config->ipv6);
}

// Who sends the data.
static uint32_t data_sender(const nic_ideal_t *ideal)
{
    return ideal->opcode == NIC_WR_RDMA_READ ? ideal->responder : ideal->requester;
}

static void send_piece(pipeline_t *pipeline, const nic_ideal_t *ideal, uint64_t bytes)
{
    const operation_t *const operation = &operations[ideal->opcode];
    const uint32_t sender = data_sender(ideal);
    const uint64_t mtu = ideal->mtu_bytes;
    if (bytes <= mtu) {
        send_frame(pipeline, frame_bytes_of(ideal, sender, operation->only, bytes));
        return;
    }
    const uint64_t frames = (bytes + mtu - 1) / mtu;
    send_frame(pipeline, frame_bytes_of(ideal, sender, operation->first, mtu));
    send_frames(pipeline, frames - 2, frame_bytes_of(ideal, sender, operation->middle, mtu));
    send_frame(pipeline,
               frame_bytes_of(ideal, sender, operation->last, bytes - (frames - 1) * mtu));
}

static void send_messages(pipeline_t *pipeline, const nic_ideal_t *ideal)
{
    for (uint64_t i = 0; i < ideal->messages; i++) {
        uint64_t left = ideal->message_bytes;
        while (left > ideal->piece_bytes) {
            send_piece(pipeline, ideal, ideal->piece_bytes);
            left -= ideal->piece_bytes;
        }
        send_piece(pipeline, ideal, left);
    }
}

sim_time_t nic_ideal_ps(const nic_ideal_t *ideal)
{
    const uint32_t forth_hash =
        net_flow_hash(ideal->net, ideal->requester, ideal->responder, ideal->udp_source_port);
    const uint32_t back_hash =
        net_flow_hash(ideal->net, ideal->responder, ideal->requester, ideal->udp_source_port);
    net_path_t forth;
    net_path_t back;
    if (!net_path_of(ideal->net, ideal->requester, ideal->responder, forth_hash, &forth) ||
        !net_path_of(ideal->net, ideal->responder, ideal->requester, back_hash, &back)) {
        return SIM_TIME_NEVER;
    }
    pipeline_t there;
    pipeline_init(&there, &forth, 0);
    pipeline_t return_trip;
    if (ideal->opcode == NIC_WR_RDMA_READ) {
        send_frame(&there, frame_bytes_of(ideal, ideal->requester, ROCE_READ_REQUEST, 0));
        pipeline_init(&return_trip, &back, there.arrived_ps);
        send_messages(&return_trip, ideal);
    } else {
        send_messages(&there, ideal);
        pipeline_init(&return_trip, &back, there.arrived_ps);
        send_frame(&return_trip, frame_bytes_of(ideal, ideal->responder, ROCE_ACKNOWLEDGE, 0));
    }
    return return_trip.arrived_ps;
}
