// SPDX-License-Identifier: Apache-2.0
// nic/device/ideal/closed_form.c - frames back to back along a path of store-and-forward hops.
//
// The transmitter of hop h starts frame i when the frame has arrived and frame i - 1 with its gap
// is out. Frames of one message differ: the first carries a RETH (a READ response's first and last
// an AETH), the last the rest of the payload. So frames are followed from hop to hop, until what
// happens repeats itself.
//
// Repeating: the same thing (a frame, a piece, a message) is sent time after time, and after some
// number of them, the period, each hop's division by its rate has left the same remainder. Let D_h
// be how far hop h has moved on in a period. If D_h is that of the hop before, or is larger while
// hop h never waited for a frame, then the next period is like this one: only a hop's backlog
// grows. All periods that are left are then added at once. Where rates are a whole number of
// picoseconds per byte the period is one frame, else rate / gcd(rate, 8e12 bytes) at most, which is
// found by Brent's cycle search. A rate whose period is longer than PERIOD_MAX is followed so far;
// the rest goes at the pace of the last PERIOD_MAX frames less a picosecond, so that it is at most
// a few parts in 10^9 shorter than the frames would be, and never longer.
#include "nic/ideal.h"

#include <string.h>

#include "net/frame_opcodes.h"
#include "net/paths.h"
#include "nic/extra.h"
#include "nic/host/packets.h"
#include "nic/objects/objects.h"
#include "nic/objects/plane_set.h"
#include "nic/schedule/loopback.h"

#define PERIOD_MAX 16384u

typedef struct hop {
    const net_port_t *port;
    sim_time_t delay_ps;
    uint64_t sum_bps;   // of the links that share the frames; 0: there is one link
    sim_time_t free_ps; // the last frame and its gap are out
    uint64_t remainder; // of the division by the rate
    uint64_t waits;     // frames that it had to wait for; wraps
} hop_t;

typedef struct pipeline {
    uint32_t hop_count;
    bool started;
    bool endless;                  // beyond what simulated time can say
    uint64_t followed;             // frames
    sim_time_t arrived_ps;         // last bit of the last frame at the end of the path
    hop_t hops[NET_PATH_HOPS_MAX]; // those of the path; few of so many
} pipeline_t;

// Returns whether the NIC of an interface spreads the packets of a queue pair over paths.
static bool sender_spreads(const nic_ideal_t *ideal, uint32_t sender)
{
    return ideal->service == NIC_QPT_RC &&
           nic_config_spreads(nic_of_interface(ideal->net, sender)->host->config);
}

// Makes the pipeline of frames from one end to the other. Returns false if there is no path.
static bool pipeline_init(pipeline_t *pipeline, const nic_ideal_t *ideal, bool forth,
                          sim_time_t start_ps)
{
    const net_t *const net = ideal->net;
    const uint32_t from = forth ? ideal->requester : ideal->responder;
    const uint32_t to = forth ? ideal->responder : ideal->requester;
    const uint32_t flow_hash =
        net_flow_hash_with(net, from, to, ideal->udp_source_port, ideal->hashed_port);
    const uint32_t hash = forth ? flow_hash : net_answer_hash(net, flow_hash);
    const nic_t *const nic = nic_of_interface(net, from);
    if (from == to && nic__may_loop(nic)) {
        *pipeline = (pipeline_t){.hop_count = 1};
        pipeline->hops[0] =
            (hop_t){.port = nic->port, .delay_ps = NIC_LOOPBACK_DELAY_PS, .free_ps = start_ps};
        return !nic->detailed; // whose loopback is faster than the link
    }
    net_path_t path;
    if (!net_path_of(net, from, to, hash, &path)) {
        return false;
    }
    net_stage_t stages[NET_PATH_HOPS_MAX];
    const uint32_t count =
        net_stages_of(net, &path, from, to, hash, sender_spreads(ideal, from), stages);
    pipeline->hop_count = count > 0 ? count : path.hop_count;
    pipeline->started = pipeline->endless = false;
    pipeline->followed = 0;
    pipeline->arrived_ps = 0;
    for (uint32_t i = 0; i < pipeline->hop_count; i++) {
        const net_port_t *const port = count > 0 ? stages[i].port : path.ports[i];
        pipeline->hops[i] = (hop_t){
            .port = port,
            .delay_ps = count > 0 ? stages[i].delay_ps : port->line->delay_ps,
            .sum_bps =
                count > 0 && stages[i].rate_bps > port->line->rate_bps ? stages[i].rate_bps : 0};
    }
    pipeline->hops[0].free_ps = start_ps;
    return true;
}

static void pipeline_copy(pipeline_t *to, const pipeline_t *from)
{
    memcpy(to, from, offsetof(pipeline_t, hops) + from->hop_count * sizeof(*from->hops));
}

static sim_time_t frame_time_ps(hop_t *hop, uint32_t frame_bytes, bool back_to_back)
{
    const uint64_t bytes = frame_bytes + hop->port->line->overhead_bytes;
    if (hop->port->line->timing != NULL) {
        return hop->port->line->timing->time_ps(hop->port, bytes);
    }
    if (hop->port->line->exact_ps_per_byte != 0) {
        return bytes * hop->port->line->exact_ps_per_byte;
    }
    const uint64_t carried = back_to_back ? hop->remainder : 0;
    const uint64_t numerator = bytes * (8 * SIM_PS_PER_S) + carried;
    hop->remainder = numerator % hop->port->line->rate_bps;
    return numerator / hop->port->line->rate_bps;
}

// Sends a frame over a hop of several links. No order of the frames is faster than a link of their
// sum, which free_ps follows, nor than the fastest of them alone. Returns when the frame is out.
static sim_time_t share_frame(hop_t *hop, uint32_t frame_bytes, sim_time_t arrive_ps,
                              bool back_to_back)
{
    const uint64_t bytes = frame_bytes + hop->port->line->overhead_bytes;
    const uint64_t carried = back_to_back ? hop->remainder : 0;
    const uint64_t numerator = bytes * (8 * SIM_PS_PER_S) + carried;
    hop->remainder = numerator % hop->sum_bps;
    hop->free_ps = SIM_MAX(hop->free_ps, arrive_ps) + numerator / hop->sum_bps;
    return SIM_MAX(arrive_ps + net_port_frame_time_ps(hop->port, frame_bytes), hop->free_ps);
}

static void send_frame(pipeline_t *pipeline, uint32_t frame_bytes)
{
    sim_time_t arrive_ps = pipeline->hops[0].free_ps;
    for (uint32_t i = 0; i < pipeline->hop_count; i++) {
        hop_t *const hop = &pipeline->hops[i];
        const bool back_to_back = pipeline->started && hop->free_ps >= arrive_ps;
        hop->waits += !back_to_back;
        sim_time_t out_ps;
        if (SIM_UNLIKELY(hop->sum_bps != 0)) {
            out_ps = share_frame(hop, frame_bytes, arrive_ps, back_to_back);
        } else {
            const sim_time_t start_ps = SIM_MAX(hop->free_ps, arrive_ps);
            out_ps = hop->free_ps = start_ps + frame_time_ps(hop, frame_bytes, back_to_back);
        }
        arrive_ps = out_ps - hop->port->line->gap_ps + hop->delay_ps;
    }
    pipeline->endless |= arrive_ps > SIM_TIME_NEVER / 2;
    pipeline->arrived_ps = SIM_MAX(arrive_ps, pipeline->arrived_ps);
    pipeline->started = true;
    pipeline->followed++;
}

// Returns whether the pipeline has reached a steady state: the change since `before` will repeat.
static bool repeats(const pipeline_t *before, const pipeline_t *now)
{
    uint64_t moved_ps = 0;
    for (uint32_t h = 0; h < now->hop_count; h++) {
        const hop_t *const a = &before->hops[h];
        const hop_t *const b = &now->hops[h];
        const uint64_t own_ps = b->free_ps - a->free_ps;
        const bool backlog_grows = h == 0 || (own_ps > moved_ps && a->waits == b->waits);
        if (a->remainder != b->remainder || (own_ps != moved_ps && !backlog_grows)) {
            return false;
        }
        moved_ps = own_ps;
    }
    return before->started;
}

// Repeats the change from `before` to `now` `times` more times, each shorter by short_ps.
static void repeat(const pipeline_t *before, pipeline_t *now, uint64_t times, sim_time_t short_ps)
{
    uint64_t moved_ps = 0;
    for (uint32_t h = 0; h < now->hop_count; h++) {
        hop_t *const hop = &now->hops[h];
        const uint64_t last_ps = hop->free_ps;
        moved_ps = hop->free_ps - before->hops[h].free_ps;
        moved_ps -= SIM_MIN(moved_ps, short_ps);
        now->endless |= moved_ps != 0 && times > SIM_TIME_NEVER / 4 / moved_ps;
        hop->free_ps += times * moved_ps;
        hop->waits += times * (hop->waits - before->hops[h].waits);
        now->endless |= hop->free_ps < last_ps || hop->free_ps > SIM_TIME_NEVER / 2;
    }
    now->arrived_ps += times * moved_ps;
}

// Sends one unit of repeated work, such as one message, into the pipeline.
typedef void (*send_fn)(pipeline_t *pipeline, const void *what);

static void send_many(pipeline_t *pipeline, uint64_t count, send_fn send, const void *what)
{
    if (count == 1) {
        send(pipeline, what);
        return;
    }
    pipeline_t mark;
    pipeline_copy(&mark, pipeline);
    uint64_t since_mark = 0;
    uint64_t next_mark = 1;
    for (uint64_t done = 0; done < count && !pipeline->endless; done++) {
        if (since_mark > 0 && repeats(&mark, pipeline)) {
            const uint64_t times = (count - done) / since_mark;
            repeat(&mark, pipeline, times, 0);
            done += times * since_mark;
            if (done == count) {
                return;
            }
        } else if (since_mark > 0 && mark.started &&
                   pipeline->followed - mark.followed >= PERIOD_MAX) {
            const uint64_t times = (count - done) / since_mark;
            repeat(&mark, pipeline, times, 1);
            done += times * since_mark;
            if (done == count) {
                return;
            }
        }
        if (since_mark == next_mark) {
            pipeline_copy(&mark, pipeline);
            since_mark = 0;
            next_mark *= 2;
        }
        send(pipeline, what);
        since_mark++;
    }
}

typedef struct frame_what {
    uint32_t bytes;
} frame_what_t;

static void send_one_frame(pipeline_t *pipeline, const void *what)
{
    send_frame(pipeline, ((const frame_what_t *)what)->bytes);
}

// The RC opcodes of the frames of one message.
typedef struct operation {
    uint8_t first;
    uint8_t middle;
    uint8_t last;
    uint8_t only;
} operation_t;

static const operation_t operations[] = {
    [NIC_WR_SEND] = {ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST, ROCE_SEND_ONLY},
    [NIC_WR_SEND_WITH_IMM] = {ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST_IMM,
                              ROCE_SEND_ONLY_IMM},
    [NIC_WR_RDMA_WRITE] = {ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST, ROCE_WRITE_ONLY},
    [NIC_WR_RDMA_WRITE_WITH_IMM] = {ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST_IMM,
                                    ROCE_WRITE_ONLY_IMM},
    [NIC_WR_RDMA_READ] = {ROCE_READ_RESPONSE_FIRST, ROCE_READ_RESPONSE_MIDDLE,
                          ROCE_READ_RESPONSE_LAST, ROCE_READ_RESPONSE_ONLY},
};

// Returns the bytes of a frame that the NIC of interface `sender` sends, with its kind of frames
// (nic/frames.h) and without telemetry.
static uint32_t frame_bytes_of(const nic_ideal_t *ideal, uint32_t sender, uint8_t opcode,
                               uint64_t payload_bytes)
{
    const nic_t *const nic = nic_of_interface(ideal->net, sender);
    const uint32_t payload = (uint32_t)payload_bytes;
    const uint32_t extensions = net_frame_extension_bytes(opcode);
    const bool request_data = (opcode & ROCE_OPERATION_MASK) < ROCE_READ_REQUEST;
    if (opcode == ROCE_ACKNOWLEDGE && nic->ack_bytes != 0) {
        return nic__frame_bytes(nic, nic->ack_bytes - nic->header_bytes);
    }
    return nic__frame_bytes(nic, request_data ? nic__body_bytes(nic, extensions, payload)
                                              : extensions + ((payload + 3) & ~3u));
}

// Returns the interface that sends the data.
static uint32_t data_sender(const nic_ideal_t *ideal)
{
    return ideal->opcode == NIC_WR_RDMA_READ ? ideal->responder : ideal->requester;
}

static uint8_t service_bits(const nic_ideal_t *ideal)
{
    return ideal->service == NIC_QPT_UC   ? ROCE_UC
           : ideal->service == NIC_QPT_UD ? ROCE_UD
                                          : ROCE_RC;
}

// A piece of a message: the frames of one work request.
typedef struct piece_what {
    const nic_ideal_t *ideal;
    uint64_t bytes;
} piece_what_t;

static void send_piece(pipeline_t *pipeline, const void *what)
{
    const piece_what_t *const piece = what;
    const nic_ideal_t *const ideal = piece->ideal;
    const operation_t *const operation = &operations[ideal->opcode];
    const uint32_t sender = data_sender(ideal);
    const uint64_t mtu = ideal->mtu_bytes;
    const uint8_t service = service_bits(ideal);
    if (piece->bytes <= mtu) {
        const uint8_t only = operation->only | service;
        send_frame(pipeline, frame_bytes_of(ideal, sender, only, piece->bytes));
        return;
    }
    const uint64_t frames = (piece->bytes + mtu - 1) / mtu;
    const frame_what_t middle = {frame_bytes_of(ideal, sender, operation->middle | service, mtu)};
    const uint64_t last_bytes = piece->bytes - (frames - 1) * mtu;
    send_frame(pipeline, frame_bytes_of(ideal, sender, operation->first | service, mtu));
    send_many(pipeline, frames - 2, send_one_frame, &middle);
    send_frame(pipeline, frame_bytes_of(ideal, sender, operation->last | service, last_bytes));
}

static void send_message(pipeline_t *pipeline, const void *what)
{
    const nic_ideal_t *const ideal = what;
    const uint64_t bytes = ideal->message_bytes;
    const uint64_t full = bytes <= ideal->piece_bytes ? 0 : (bytes - 1) / ideal->piece_bytes;
    const piece_what_t piece = {ideal, ideal->piece_bytes};
    const piece_what_t last = {ideal, bytes - full * ideal->piece_bytes};
    send_many(pipeline, full, send_piece, &piece);
    send_piece(pipeline, &last);
}

static void send_messages(pipeline_t *pipeline, const nic_ideal_t *ideal)
{
    send_many(pipeline, ideal->messages, send_message, ideal);
}

// Returns the messages of one plane if a queue pair's packets take all planes of its NIC in turn:
// the plane of the first packet, which has the most of them.
static nic_ideal_t in_one_plane(const nic_ideal_t *ideal)
{
    nic_ideal_t part = *ideal;
    const struct nic_planes *const planes =
        nic_of_interface(ideal->net, data_sender(ideal))->planes;
    if (planes == NULL || planes->choice == NIC_PLANES_HASH) {
        return part;
    }
    if (ideal->messages > 1) {
        // Messages begin in whichever plane is next: the bytes of all are shared evenly.
        const uint64_t all = ideal->messages * ideal->message_bytes;
        part.messages = 1;
        part.message_bytes = all / planes->count + (all % planes->count != 0);
        return part;
    }
    const uint64_t mtu = ideal->mtu_bytes;
    const uint64_t frames = ideal->message_bytes == 0 ? 1 : (ideal->message_bytes - 1) / mtu + 1;
    if (frames >= planes->count) {
        const uint64_t most = (frames - 1) / planes->count + 1;
        const bool has_last = (frames - 1) % planes->count == 0;
        part.message_bytes = has_last ? ideal->message_bytes - (frames - most) * mtu : most * mtu;
    } else if (frames > 1) {
        part.message_bytes = mtu;
    }
    return part;
}

sim_time_t nic_ideal_ps(const nic_ideal_t *whole)
{
    const nic_ideal_t part = in_one_plane(whole);
    const nic_ideal_t *const ideal = &part;
    pipeline_t there;
    pipeline_t return_trip;
    if (!pipeline_init(&there, ideal, true, 0)) {
        return SIM_TIME_NEVER;
    }
    const bool reads = ideal->opcode == NIC_WR_RDMA_READ;
    if (reads) {
        send_frame(&there, frame_bytes_of(ideal, ideal->requester, ROCE_READ_REQUEST, 0));
    } else {
        send_messages(&there, ideal);
    }
    if (!pipeline_init(&return_trip, ideal, false, there.arrived_ps)) {
        return SIM_TIME_NEVER;
    }
    if (reads) {
        send_messages(&return_trip, ideal);
    } else if (ideal->service == NIC_QPT_RC) {
        send_frame(&return_trip, frame_bytes_of(ideal, ideal->responder, ROCE_ACKNOWLEDGE, 0));
    } else {
        pipeline_copy(&return_trip, &there);
    }
    return there.endless || return_trip.endless ? SIM_TIME_NEVER : return_trip.arrived_ps;
}
