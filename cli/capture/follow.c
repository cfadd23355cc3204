// SPDX-License-Identifier: Apache-2.0
// cli/capture/follow.c - follows one packet through a capture of the fabric, hop by hop.
//
// The first pass finds the frames of the packet and joins them to journeys, one for each time that
// it was sent. The second pass looks at what happened at each egress port while the packet waited
// there: other frames on the link, and pauses. Waiting times are split exactly, in ps.
#include "cli/capture/capture.h"

#include "net/frame.h"
#include "world/shown.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_OVERHEAD_BYTES 24u // preamble, FCS and gap
#define QUANTUM_BITS 512u
#define BITS_PER_S_TO_PS (8 * SIM_PS_PER_S)
#define NONE SIZE_MAX

// What tells a copy of the packet from others of the same queue pair number and PSN: those to other
// hosts, and those that were sent again by another path. Switches leave it as it is.
typedef struct label {
    bool is_ipv6;
    uint8_t source_ip[16]; // of the NIC's plane
    uint8_t destination_ip[16];
    uint16_t udp_source_port;
    char *receiver; // the host of the destination's address; NULL: the file does not show it
} label_t;

// A frame of the packet.
typedef struct sight {
    size_t label; // in follow_t.labels
    sim_time_t time_ps;
    char *port; // name of the interface
    pcap_out_ng_way_t way;
    uint64_t rate_bps;
    uint32_t bytes;
    bool is_used;
    char *comment; // of what happened to it; NULL: nothing
    uint8_t class;
} sight_t;

// The time between two sights of a journey.
typedef struct hop {
    size_t from; // sights
    size_t to;
    bool is_link;
    uint64_t behind_ps; // wait: other frames were on the link
    uint64_t frames;    // and how many these were
    uint64_t paused_ps; // wait: the peer had stopped the class, and no frame was on the link
    uint64_t end_ps;    // up to which behind_ps and paused_ps are counted
} hop_t;

typedef struct journey {
    size_t first; // hops
    size_t count;
    size_t start; // sights
    size_t last;
} journey_t;

typedef struct follow {
    const char *path;
    char *host;
    uint64_t qp;
    uint64_t psn;
    uint64_t time; // 1: the first time that it was sent; 0: all times
    label_t *labels;
    size_t label_count;
    size_t label_capacity;
    const char *kind; // of the packet, for people
    sight_t *sights;
    size_t sight_count;
    size_t sight_capacity;
    hop_t *hops;
    size_t hop_count;
    size_t hop_capacity;
    journey_t *journeys;
    size_t journey_count;
    size_t journey_capacity;
} follow_t;

// -- names of ports

// Returns whether the port belongs to the node: "host3->leaf0", or "host3/nic1->leaf0".
static bool is_of(const char *port, const char *node)
{
    SIM_CHECK(node != NULL);
    const size_t size = strlen(node);
    return strncmp(port, node, size) == 0 &&
           (strncmp(port + size, "->", 2) == 0 || port[size] == '/');
}

// Returns the name of the other end of the port's link; the caller frees it.
static char *peer_of(const char *port)
{
    const char *const arrow = strstr(port, "->");
    if (arrow == NULL) {
        return sim_strdup(port);
    }
    const char *const there = arrow + 2;
    const size_t name = strcspn(there, "#");
    return sim_format("%.*s->%.*s%s", (int)name, there, (int)(arrow - port), port, there + name);
}

// Returns the name of the port's node; the caller frees it.
static char *node_of(const char *port)
{
    const char *const arrow = strstr(port, "->");
    const size_t size = arrow != NULL ? (size_t)(arrow - port) : strlen(port);
    const char *const slash = memchr(port, '/', size);
    return sim_format("%.*s", (int)(slash != NULL ? (size_t)(slash - port) : size), port);
}

static bool same_node(const char *a, const char *b)
{
    char *const node = node_of(a);
    const bool same = is_of(b, node);
    sim_free(node);
    return same;
}

// -- the first pass

// Returns the number of the frame's label; NONE: the host has sent none with it.
static size_t find_label(const follow_t *follow, const label_t *label)
{
    for (size_t i = 0; i < follow->label_count; i++) {
        const label_t *const one = &follow->labels[i];
        if (one->is_ipv6 == label->is_ipv6 && one->udp_source_port == label->udp_source_port &&
            memcmp(one->source_ip, label->source_ip, sizeof(one->source_ip)) == 0 &&
            memcmp(one->destination_ip, label->destination_ip, sizeof(one->destination_ip)) == 0) {
            return i;
        }
    }
    return NONE;
}

static label_t label_of(const net_frame_t *frame)
{
    label_t label = {.is_ipv6 = frame->ipv6, .udp_source_port = frame->udp_source_port};
    memcpy(label.source_ip, frame->source_ip, sizeof(label.source_ip));
    memcpy(label.destination_ip, frame->destination_ip, sizeof(label.destination_ip));
    return label;
}

static uint8_t class_of(const net_frame_t *frame)
{
    return frame->tagged ? frame->pcp : frame->dscp >> 3;
}

static char *comment_of(const pcap_out_read_frame_t *frame)
{
    static const char *const words[] =
        {"dropped: ", "trimmed: ", "marked: ", "paused for: ", "sent again: "};
    for (size_t w = 0; w < SIM_COUNT_OF(words); w++) {
        for (uint32_t i = 0; i < frame->comment_count; i++) {
            if (strncmp(frame->comments[i], words[w], strlen(words[w])) == 0) {
                return sim_strdup(frame->comments[i]);
            }
        }
    }
    return NULL;
}

// Returns the kind of a request of Ultra Ethernet; NULL: the frame is none.
static const char *uet_request(const net_frame_t *frame)
{
    if (!frame->is_uet) {
        return NULL;
    }
    return frame->uet.type == UET_RUD_REQUEST || frame->uet.type == UET_RUD_CC_REQUEST
               ? "RUD request"
           : frame->uet.type == UET_ROD_REQUEST || frame->uet.type == UET_ROD_CC_REQUEST
               ? "ROD request"
               : NULL;
}

// Returns whether the frame names the packet's queue pair and PSN. Ultra Ethernet's requests carry
// the lower 16 bits of the number as the destination's PDC.
static bool is_asked_for(const follow_t *follow, const net_frame_t *frame)
{
    if (frame->is_uet) {
        return uet_request(frame) != NULL &&
               frame->uet.destination_pdc == (follow->qp & UINT16_MAX) &&
               frame->uet.psn == follow->psn;
    }
    return !frame->is_pfc && frame->destination_qp == follow->qp && frame->psn == follow->psn;
}

static void take_sight(follow_t *follow,
                       const pcap_out_read_frame_t *seen,
                       const pcap_out_read_interface_t *interface)
{
    net_frame_t frame;
    sim_message_t message;
    if (net_frame_parse(seen->bytes, seen->captured_bytes, &frame, &message) != SIM_OK ||
        !is_asked_for(follow, &frame)) {
        return;
    }
    const label_t label = label_of(&frame);
    size_t number = find_label(follow, &label);
    if (number == NONE) {
        if (seen->way == PCAP_OUT_NG_RECEIVED || !is_of(interface->name, follow->host)) {
            return; // another host's packet
        }
        number = follow->label_count;
        if (number == 0) {
            follow->kind = frame.is_uet ? uet_request(&frame) : net_frame_opcode_name(frame.opcode);
        }
        SIM_GROW(follow->labels, follow->label_count, &follow->label_capacity);
        follow->labels[follow->label_count++] = label;
    }
    SIM_GROW(follow->sights, follow->sight_count, &follow->sight_capacity);
    follow->sights[follow->sight_count++] = (sight_t){.label = number,
                                                      .time_ps = seen->time_ps,
                                                      .port = sim_strdup(interface->name),
                                                      .way = seen->way,
                                                      .rate_bps = interface->rate_bps,
                                                      .bytes = seen->original_bytes,
                                                      .comment = comment_of(seen),
                                                      .class = class_of(&frame)};
}

typedef void (*frame_fn)(follow_t *follow,
                         const pcap_out_read_frame_t *frame,
                         const pcap_out_read_interface_t *interface);

static sim_err_t each_frame(follow_t *follow, frame_fn fn, world_error_t *error)
{
    pcap_out_reader_t *reader = NULL;
    sim_message_t message;
    sim_err_t result = pcap_out_reader_open(follow->path, &reader, &message);
    bool end = false;
    while (result == SIM_OK && !end) {
        pcap_out_read_frame_t frame;
        result = pcap_out_reader_next(reader, &frame, &end, &message);
        if (result == SIM_OK && !end) {
            fn(follow, &frame, pcap_out_reader_interface(reader, frame.interface));
        }
    }
    pcap_out_reader_close(reader);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
}

// -- journeys

static bool is_dropped(const sight_t *sight)
{
    return sight->comment != NULL && strncmp(sight->comment, "dropped: ", 9) == 0;
}

// Returns the first unused sight of the same copy after `after` whose port is `port`, or one of its
// node if `sent`.
static size_t next_sight(const follow_t *follow, size_t after, const char *port, bool sent)
{
    for (size_t i = after + 1; i < follow->sight_count; i++) {
        const sight_t *const sight = &follow->sights[i];
        const bool there =
            sent ? sight->way != PCAP_OUT_NG_RECEIVED && same_node(port, sight->port)
                 : sight->way == PCAP_OUT_NG_RECEIVED && strcmp(port, sight->port) == 0;
        if (!sight->is_used && sight->label == follow->sights[after].label && there) {
            return i;
        }
    }
    return NONE;
}

static void add_hop(follow_t *follow, size_t from, size_t to, bool is_link)
{
    SIM_GROW(follow->hops, follow->hop_count, &follow->hop_capacity);
    follow->hops[follow->hop_count++] =
        (hop_t){.from = from, .to = to, .is_link = is_link, .end_ps = follow->sights[from].time_ps};
}

static void add_journey(follow_t *follow, size_t start)
{
    journey_t journey = {.first = follow->hop_count, .start = start, .last = start};
    size_t at = start;
    follow->sights[at].is_used = true;
    while (at != NONE) {
        const sight_t *const sight = &follow->sights[at];
        const bool sent = sight->way == PCAP_OUT_NG_SENT;
        if (sight->way == PCAP_OUT_NG_UNKNOWN) {
            break; // dropped after waiting
        }
        char *const port = sent ? peer_of(sight->port) : sim_strdup(sight->port);
        const size_t next = is_dropped(sight) ? NONE : next_sight(follow, at, port, !sent);
        sim_free(port);
        if (next != NONE) {
            follow->sights[next].is_used = true;
            add_hop(follow, at, next, sent);
            journey.last = next;
        }
        at = next;
    }
    journey.count = follow->hop_count - journey.first;
    SIM_GROW(follow->journeys, follow->journey_count, &follow->journey_capacity);
    follow->journeys[follow->journey_count++] = journey;
}

static void join(follow_t *follow)
{
    for (size_t i = 0; i < follow->sight_count; i++) {
        const sight_t *const sight = &follow->sights[i];
        if (!sight->is_used && sight->way != PCAP_OUT_NG_RECEIVED &&
            is_of(sight->port, follow->host)) {
            add_journey(follow, i);
        }
    }
}

// -- the second pass

// Returns the time of a frame on a link, rounded down.
static uint64_t frame_ps(uint32_t bytes, uint64_t rate_bps)
{
    return rate_bps == 0 ? 0
                         : (uint64_t)((__uint128_t)(bytes + LINK_OVERHEAD_BYTES) *
                                      BITS_PER_S_TO_PS / rate_bps);
}

// Adds the part of [begin, end) that lies in the hop's wait and is not counted yet.
static uint64_t overlap(hop_t *hop, sim_time_t to_ps, sim_time_t begin_ps, sim_time_t end_ps)
{
    const sim_time_t from = begin_ps > hop->end_ps ? begin_ps : hop->end_ps;
    const sim_time_t to = end_ps < to_ps ? end_ps : to_ps;
    if (to <= from) {
        return 0;
    }
    hop->end_ps = to;
    return to - from;
}

// A stretch of time in which a port's class is stopped is known when it ends; frames are on the
// link at times that are known when they begin. Both come in the order of time at one port, and
// what a frame takes is not counted again as a pause.
static void look_at_wait(follow_t *follow,
                         const pcap_out_read_frame_t *seen,
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
        const uint64_t ps = frame_ps(seen->original_bytes, interface->rate_bps);
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
    const sim_time_t from = stop->since_ps > begin ? stop->since_ps : begin;
    const sim_time_t until = stop->until_ps < end_ps ? stop->until_ps : end_ps;
    const sim_time_t to = until < last ? until : last;
    hop->paused_ps += to > from ? to - from : 0;
}

typedef struct stops {
    follow_t *follow;
    stop_t *stops; // by hop
} stops_t;

static void take_pause(stops_t *stops,
                       const pcap_out_read_frame_t *seen,
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
static void look_for_receiver(follow_t *follow,
                              const pcap_out_read_frame_t *seen,
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
        frame.is_pfc) {
        return;
    }
    for (size_t i = 0; i < follow->label_count; i++) {
        label_t *const label = &follow->labels[i];
        if (label->receiver == NULL && label->is_ipv6 == frame.ipv6 &&
            memcmp(label->destination_ip, frame.source_ip, sizeof(frame.source_ip)) == 0) {
            label->receiver = node_of(interface->name);
        }
    }
}

static sim_err_t find_reasons(follow_t *follow, world_error_t *error)
{
    pcap_out_reader_t *reader = NULL;
    sim_message_t message;
    stops_t stops = {.follow = follow,
                     .stops = sim_alloc_array(follow->hop_count + 1, sizeof(stop_t))};
    memset(stops.stops, 0, (follow->hop_count + 1) * sizeof(stop_t));
    sim_err_t result = pcap_out_reader_open(follow->path, &reader, &message);
    bool end = false;
    while (result == SIM_OK && !end) {
        pcap_out_read_frame_t frame;
        result = pcap_out_reader_next(reader, &frame, &end, &message);
        if (result == SIM_OK && !end) {
            const pcap_out_read_interface_t *const interface =
                pcap_out_reader_interface(reader, frame.interface);
            look_for_receiver(follow, &frame, interface);
            look_at_wait(follow, &frame, interface);
            take_pause(&stops, &frame, interface);
        }
    }
    for (size_t i = 0; i < follow->hop_count; i++) {
        hop_t *const hop = &follow->hops[i];
        if (stops.stops[i].is_stopped) {
            add_stop(follow, hop, &stops.stops[i], SIM_TIME_NEVER);
        }
        const uint64_t wait_ps =
            follow->sights[hop->to].time_ps - follow->sights[hop->from].time_ps;
        const uint64_t rest_ps = wait_ps - hop->behind_ps;
        hop->paused_ps = hop->paused_ps < rest_ps ? hop->paused_ps : rest_ps;
    }
    pcap_out_reader_close(reader);
    sim_free(stops.stops);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
}

// -- the end of a journey

typedef enum fate { FATE_DELIVERED, FATE_DROPPED, FATE_UNKNOWN } fate_t;

static fate_t fate_of(const follow_t *follow, const journey_t *journey)
{
    const sight_t *const last = &follow->sights[journey->last];
    const char *const receiver = follow->labels[last->label].receiver;
    if (is_dropped(last)) {
        return FATE_DROPPED;
    }
    return last->way == PCAP_OUT_NG_RECEIVED && receiver != NULL && is_of(last->port, receiver)
               ? FATE_DELIVERED
               : FATE_UNKNOWN;
}

// Returns why the packet was dropped, the first part of the comment; the caller frees it.
static char *drop_reason(const sight_t *sight)
{
    const char *const reason = sight->comment + strlen("dropped: ");
    return sim_format("%.*s", (int)strcspn(reason, ","), reason);
}

// -- printing

typedef struct amount {
    char text[40];
} amount_t;

// Writes a time in us to the picosecond.
static const char *us(amount_t *amount, uint64_t ps)
{
    snprintf(amount->text,
             sizeof(amount->text),
             "%" PRIu64 ".%06" PRIu64 " us",
             ps / SIM_PS_PER_US,
             ps % SIM_PS_PER_US);
    return amount->text;
}

static char *reason_of(const follow_t *follow, const hop_t *hop)
{
    const sight_t *const from = &follow->sights[hop->from];
    const sight_t *const to = &follow->sights[hop->to];
    const uint64_t took_ps = to->time_ps - from->time_ps;
    amount_t a;
    amount_t b;
    amount_t c;
    if (hop->is_link) {
        const uint64_t serial_ps = frame_ps(from->bytes, from->rate_bps);
        const uint64_t sent_ps = serial_ps < took_ps ? serial_ps : took_ps;
        return sim_format("on the link %s: some %s to send %u byte%s, the rest to travel",
                          from->port,
                          us(&a, sent_ps),
                          from->bytes,
                          sim_plural(from->bytes));
    }
    const uint64_t rest_ps = took_ps - hop->behind_ps - hop->paused_ps;
    if (took_ps == 0) {
        return sim_format("leaves at once by %s", to->port);
    }
    if (hop->paused_ps == 0 && rest_ps == 0) {
        return sim_format("waits for %s behind %" PRIu64 " frame%s",
                          to->port,
                          hop->frames,
                          sim_plural(hop->frames));
    }
    if (hop->behind_ps == 0 && rest_ps == 0) {
        return sim_format("waits for %s, which its peer has paused", to->port);
    }
    return sim_format("waits for %s: %s behind %" PRIu64 " frame%s, %s paused by the peer, %s for "
                      "its turn",
                      to->port,
                      us(&a, hop->behind_ps),
                      hop->frames,
                      sim_plural(hop->frames),
                      us(&b, hop->paused_ps),
                      us(&c, rest_ps));
}

static void print_journey(const follow_t *follow, const journey_t *journey)
{
    amount_t time;
    amount_t took;
    const sight_t *const start = &follow->sights[journey->start];
    const sight_t *const last = &follow->sights[journey->last];
    printf("  at %s, %s sends it%s%s\n",
           us(&time, start->time_ps),
           follow->host,
           start->comment != NULL ? "; " : "",
           start->comment != NULL ? start->comment : "");
    for (size_t i = journey->first; i < journey->first + journey->count; i++) {
        const hop_t *const hop = &follow->hops[i];
        const sight_t *const to = &follow->sights[hop->to];
        char *const node = node_of(hop->is_link ? to->port : follow->sights[hop->from].port);
        char *const reason = reason_of(follow, hop);
        printf("  %16s  %-10s %s%s%s\n",
               us(&took, to->time_ps - follow->sights[hop->from].time_ps),
               hop->is_link ? "" : node,
               reason,
               to->comment != NULL ? "; " : "",
               to->comment != NULL ? to->comment : "");
        sim_free(reason);
        sim_free(node);
    }
    char *const end = node_of(last->port);
    const fate_t fate = fate_of(follow, journey);
    char *const reason = fate == FATE_DROPPED ? drop_reason(last) : sim_strdup("");
    printf("  %16s  in all, until %s %s%s%s\n",
           us(&took, last->time_ps - start->time_ps),
           fate == FATE_DROPPED                ? "the packet is dropped at"
           : last->way == PCAP_OUT_NG_RECEIVED ? "the last bit is received by"
                                               : "the first bit is sent by",
           end,
           fate == FATE_DROPPED   ? ": "
           : fate == FATE_UNKNOWN ? "; the file does not show what follows"
                                  : "",
           reason);
    sim_free(reason);
    sim_free(end);
}

static json_t *hop_json(const follow_t *follow, const hop_t *hop)
{
    const sight_t *const from = &follow->sights[hop->from];
    const sight_t *const to = &follow->sights[hop->to];
    const uint64_t took_ps = to->time_ps - from->time_ps;
    json_t *const json = json_object();
    char *const node = node_of(hop->is_link ? from->port : to->port);
    char *const reason = reason_of(follow, hop);
    json_object_set_new(json, "kind", json_string(hop->is_link ? "link" : "node"));
    json_object_set_new(json, "node", json_string(node));
    json_object_set_new(json, "port", json_string(hop->is_link ? from->port : to->port));
    json_object_set_new(json, "from_ps", json_integer((json_int_t)from->time_ps));
    json_object_set_new(json, "took_ps", json_integer((json_int_t)took_ps));
    if (!hop->is_link) {
        const uint64_t rest_ps = took_ps - hop->behind_ps - hop->paused_ps;
        json_object_set_new(json, "behind_ps", json_integer((json_int_t)hop->behind_ps));
        json_object_set_new(json, "behind_frames", json_integer((json_int_t)hop->frames));
        json_object_set_new(json, "paused_ps", json_integer((json_int_t)hop->paused_ps));
        json_object_set_new(json, "turn_ps", json_integer((json_int_t)rest_ps));
    }
    json_object_set_new(json, "reason", json_string(reason));
    if (to->comment != NULL) {
        json_object_set_new(json, "comment", json_string(to->comment));
    }
    sim_free(reason);
    sim_free(node);
    return json;
}

// Adds how and where the journey ended.
static void add_fate(const follow_t *follow, const journey_t *journey, json_t *json)
{
    static const char *const words[] =
        {[FATE_DELIVERED] = "delivered", [FATE_DROPPED] = "dropped", [FATE_UNKNOWN] = "unknown"};
    const sight_t *const last = &follow->sights[journey->last];
    const fate_t fate = fate_of(follow, journey);
    char *const node = node_of(last->port);
    json_object_set_new(json, "received", json_boolean(fate == FATE_DELIVERED));
    json_object_set_new(json, "end", json_string(words[fate]));
    json_object_set_new(json, "end_node", json_string(node));
    if (fate == FATE_DROPPED) {
        char *const reason = drop_reason(last);
        json_object_set_new(json, "drop_reason", json_string(reason));
        sim_free(reason);
    }
    if (last->comment != NULL) {
        json_object_set_new(json, "comment", json_string(last->comment));
    }
    sim_free(node);
}

static void print_json(const follow_t *follow)
{
    json_t *const json = json_object();
    json_t *const journeys = json_array();
    json_object_set_new(json, "host", json_string(follow->host));
    json_object_set_new(json, "qp", json_integer((json_int_t)follow->qp));
    json_object_set_new(json, "psn", json_integer((json_int_t)follow->psn));
    json_object_set_new(json, "opcode", json_string(follow->kind));
    json_object_set_new(json, "journeys", journeys);
    for (size_t j = 0; j < follow->journey_count; j++) {
        const journey_t *const journey = &follow->journeys[j];
        const sight_t *const start = &follow->sights[journey->start];
        const sight_t *const last = &follow->sights[journey->last];
        json_t *const one = json_object();
        json_t *const hops = json_array();
        json_object_set_new(one, "sent_ps", json_integer((json_int_t)start->time_ps));
        json_object_set_new(one,
                            "took_ps",
                            json_integer((json_int_t)(last->time_ps - start->time_ps)));
        add_fate(follow, journey, one);
        json_object_set_new(one, "hops", hops);
        for (size_t i = journey->first; i < journey->first + journey->count; i++) {
            json_array_append_new(hops, hop_json(follow, &follow->hops[i]));
        }
        json_array_append_new(journeys, one);
    }
    char *const text = json_dumps(json, JSON_INDENT(1));
    puts(text);
    free(text);
    json_decref(json);
}

static void print_text(const follow_t *follow)
{
    SIM_CHECK(follow->journey_count > 0 && follow->sight_count > 0);
    printf("packet of %s to queue pair %" PRIu64 ", PSN %" PRIu64
           ": %s, %u byte%s, sent %zu time%s\n",
           follow->host,
           follow->qp,
           follow->psn,
           follow->kind,
           follow->sights[follow->journeys[0].start].bytes,
           sim_plural(follow->sights[follow->journeys[0].start].bytes),
           follow->journey_count,
           follow->journey_count == 1 ? "" : "s");
    for (size_t i = 0; i < follow->journey_count; i++) {
        print_journey(follow, &follow->journeys[i]);
    }
}

// -- the command

// Reads "HOST QP NUMBER PSN NUMBER", and " TIME NUMBER" if it follows; numbers are decimal, or
// hexadecimal after 0x.
static bool read_packet(const char *text, follow_t *follow)
{
    static const char *const words[] = {" QP ", " PSN ", " TIME "};
    const char *const qp = strstr(text, words[0]);
    const char *const psn = qp != NULL ? strstr(qp, words[1]) : NULL;
    if (qp == NULL || psn == NULL || qp == text) {
        return false;
    }
    char *end = NULL;
    char *last = NULL;
    follow->qp = strtoull(qp + strlen(words[0]), &end, 0);
    follow->psn = strtoull(psn + strlen(words[1]), &last, 0);
    follow->host = sim_format("%.*s", (int)(qp - text), text);
    const bool has_psn = end == psn && last > psn + strlen(words[1]);
    if (strncmp(last, words[2], strlen(words[2])) == 0) {
        const char *const time = last + strlen(words[2]);
        follow->time = strtoull(time, &last, 0);
        return has_psn && last > time && *last == '\0' && follow->time > 0;
    }
    return has_psn && *last == '\0';
}

static void fini(follow_t *follow)
{
    for (size_t i = 0; i < follow->sight_count; i++) {
        sim_free(follow->sights[i].port);
        sim_free(follow->sights[i].comment);
    }
    for (size_t i = 0; i < follow->label_count; i++) {
        sim_free(follow->labels[i].receiver);
    }
    sim_free(follow->labels);
    sim_free(follow->sights);
    sim_free(follow->hops);
    sim_free(follow->journeys);
    sim_free(follow->host);
}

// Keeps only the journey that was asked for.
static sim_err_t choose(follow_t *follow, world_error_t *error)
{
    if (follow->time > follow->journey_count) {
        return world_fail(error,
                          SIM_ERR_RANGE,
                          NULL,
                          "%s: the packet was sent %zu time%s, expected TIME 1%s%zu",
                          follow->path,
                          follow->journey_count,
                          sim_plural(follow->journey_count),
                          follow->journey_count > 1 ? " to " : ", not more than ",
                          follow->journey_count);
    }
    follow->journeys[0] = follow->journeys[follow->time - 1];
    follow->journey_count = 1;
    return SIM_OK;
}

sim_err_t cli_capture_follow(const char *path, const char *packet, bool json, world_error_t *error)
{
    world_shown_t shown;
    follow_t follow = {.path = path};
    sim_err_t result = SIM_OK;
    if (!read_packet(packet, &follow)) {
        result = world_fail(error,
                            SIM_ERR_INVALID,
                            NULL,
                            "rocesim capture follow --packet \"%s\": expected a packet such as "
                            "\"host3 QP 2 PSN 17\", with \"TIME 2\" behind it for the second time "
                            "that it was sent",
                            world_show(&shown, packet));
    }
    if (result == SIM_OK) {
        result = each_frame(&follow, take_sight, error);
    }
    if (result == SIM_OK) {
        join(&follow);
    }
    if (result == SIM_OK && follow.journey_count == 0) {
        result = world_fail(error,
                            SIM_ERR_INVALID,
                            NULL,
                            "%s: no frame that %s sends to queue pair %" PRIu64 " with PSN %" PRIu64
                            ", expected a file of captures.fabric with that packet",
                            path,
                            world_show(&shown, follow.host),
                            follow.qp,
                            follow.psn);
    }
    if (result == SIM_OK && follow.time > 0) {
        result = choose(&follow, error);
    }
    if (result == SIM_OK) {
        result = find_reasons(&follow, error);
    }
    if (result == SIM_OK) {
        (json ? print_json : print_text)(&follow);
    }
    fini(&follow);
    return result;
}
