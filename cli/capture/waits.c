// SPDX-License-Identifier: Apache-2.0
// cli/capture/waits.c - learns what happened at each egress port while a packet waited there: other
// frames on the link, and pauses.
#include "cli/capture/follow_internal.h"
#include "net/frame.h"

#include <string.h>

#define LINK_OVERHEAD_BYTES 24u // preamble, FCS and gap
#define QUANTUM_BITS 512u
#define BITS_PER_S_TO_PS (8 * SIM_PS_PER_S)

uint64_t cli__follow_frame_ps(uint32_t bytes, uint64_t rate_bps)
{
    return rate_bps == 0 ? 0
                         : (uint64_t)((__uint128_t)(bytes + LINK_OVERHEAD_BYTES) *
                                      BITS_PER_S_TO_PS / rate_bps);
}

// Adds the part of [begin, end) that lies in the hop's wait and is not counted yet.
static uint64_t overlap(hop_t *hop, sim_time_t to_ps, sim_time_t begin_ps, sim_time_t end_ps)
{
    const sim_time_t from = SIM_MAX(begin_ps, hop->end_ps);
    const sim_time_t to = SIM_MIN(end_ps, to_ps);
    if (to <= from) {
        return 0;
    }
    hop->end_ps = to;
    return to - from;
}

// A stretch of time in which a port's class is stopped is known when it ends; frames are on the
// link at times that are known when they begin. Both come in the order of time at one port, and
// what a frame takes is not counted again as a pause.
static void look_at_wait(follow_t *follow, const pcap_out_read_frame_t *seen,
                         const pcap_out_read_interface_t *interface)
{
    if (seen->way != PCAP_OUT_NG_SENT) {
        return;
    }
    for (size_t i = 0; i < follow->hop_count; i++) {
        hop_t *const hop = &follow->hops[i];
        const sight_t *const to = &follow->sights[hop->to];
        if (hop->is_link || strcmp(to->port, interface->name) != 0 ||
            seen->time_ps >= to->time_ps) {
            continue;
        }
        const uint64_t ps = cli__follow_frame_ps(seen->original_bytes, interface->rate_bps);
        const uint64_t counted = overlap(hop, to->time_ps, seen->time_ps, seen->time_ps + ps);
        hop->behind_ps += counted;
        hop->frames += counted > 0;
    }
}

// A pause of the egress port of a wait.
typedef struct stop {
    sim_time_t until_ps;
    sim_time_t since_ps;
    bool is_stopped;
} stop_t;

// Adds the time of a pause within a wait. Frames of other classes may be on the link meanwhile, so
// at most the rest of the wait is counted.
static void add_stop(follow_t *follow, hop_t *hop, const stop_t *stop, sim_time_t end_ps)
{
    const sim_time_t begin = follow->sights[hop->from].time_ps;
    const sim_time_t last = follow->sights[hop->to].time_ps;
    const sim_time_t from = SIM_MAX(stop->since_ps, begin);
    const sim_time_t until = SIM_MIN(stop->until_ps, end_ps);
    const sim_time_t to = SIM_MIN(until, last);
    hop->paused_ps += to > from ? to - from : 0;
}

typedef struct stops {
    follow_t *follow;
    stop_t *stops; // by hop
} stops_t;

static void take_pause(stops_t *stops, const pcap_out_read_frame_t *seen,
                       const pcap_out_read_interface_t *interface)
{
    follow_t *const follow = stops->follow;
    net_frame_t frame;
    sim_message_t message;
    if (seen->way != PCAP_OUT_NG_RECEIVED || seen->captured_bytes < 14 || seen->bytes[12] != 0x88 ||
        seen->bytes[13] != 0x08 ||
        net_frame_parse(seen->bytes, seen->captured_bytes, &frame, &message) != SIM_OK) {
        return;
    }
    for (size_t i = 0; i < follow->hop_count; i++) {
        hop_t *const hop = &follow->hops[i];
        stop_t *const stop = &stops->stops[i];
        const sight_t *const to = &follow->sights[hop->to];
        const uint32_t class = to->class;
        if (hop->is_link || strcmp(to->port, interface->name) != 0 ||
            ((uint32_t)frame.pfc_classes >> class & 1u) == 0) {
            continue;
        }
        if (stop->is_stopped) {
            add_stop(follow, hop, stop, seen->time_ps);
        }
        const uint64_t rate_bps = interface->rate_bps != 0 ? interface->rate_bps : 1;
        const uint64_t ps = (uint64_t)((__uint128_t)frame.pfc_quanta[class] * QUANTUM_BITS *
                                       SIM_PS_PER_S / rate_bps);
        *stop = (stop_t){.is_stopped = ps > 0,
                         .since_ps = seen->time_ps,
                         .until_ps = seen->time_ps + ps};
    }
}

// Learns which host has the destination's address of a copy: the node that sends the first frame
// from it.
static void look_for_receiver(follow_t *follow, const pcap_out_read_frame_t *seen,
                              const pcap_out_read_interface_t *interface)
{
    bool wanted = false;
    for (size_t i = 0; i < follow->label_count; i++) {
        wanted = wanted || follow->labels[i].receiver == NULL;
    }
    net_frame_t frame;
    sim_message_t message;
    if (!wanted || seen->way != PCAP_OUT_NG_SENT ||
        net_frame_parse(seen->bytes, seen->captured_bytes, &frame, &message) != SIM_OK ||
        net_frame_is_control(&frame)) {
        return;
    }
    for (size_t i = 0; i < follow->label_count; i++) {
        label_t *const label = &follow->labels[i];
        if (label->receiver == NULL && label->is_ipv6 == frame.ipv6 &&
            memcmp(label->destination_ip, frame.source_ip, sizeof(frame.source_ip)) == 0) {
            label->receiver = cli__follow_node_of(interface->name);
        }
    }
}

static void look_at(void *ctx, const pcap_out_read_frame_t *frame,
                    const pcap_out_read_interface_t *interface)
{
    stops_t *const stops = ctx;
    look_for_receiver(stops->follow, frame, interface);
    look_at_wait(stops->follow, frame, interface);
    take_pause(stops, frame, interface);
}

sim_err_t cli__follow_waits(follow_t *follow, world_error_t *error)
{
    stops_t stops = {.follow = follow,
                     .stops = sim_alloc_array(follow->hop_count + 1, sizeof(stop_t))};
    memset(stops.stops, 0, (follow->hop_count + 1) * sizeof(stop_t));
    const sim_err_t result = cli__follow_each_frame(follow->path, look_at, &stops, error);
    for (size_t i = 0; i < follow->hop_count; i++) {
        hop_t *const hop = &follow->hops[i];
        if (stops.stops[i].is_stopped) {
            add_stop(follow, hop, &stops.stops[i], SIM_TIME_NEVER);
        }
        const uint64_t wait_ps =
            follow->sights[hop->to].time_ps - follow->sights[hop->from].time_ps;
        const uint64_t rest_ps = wait_ps - hop->behind_ps;
        hop->paused_ps = SIM_MIN(hop->paused_ps, rest_ps);
    }
    sim_free(stops.stops);
    return result;
}
