// SPDX-License-Identifier: Apache-2.0
// cli/capture/journeys.c - finds the frames of one packet in a capture, and joins them to journeys.
#include "cli/capture/follow_internal.h"
#include "net/frame.h"

#include <string.h>

#define NONE SIZE_MAX

bool cli__follow_is_of(const char *port, const char *node)
{
    SIM_CHECK(node != NULL);
    const size_t size = strlen(node);
    return strncmp(port, node, size) == 0 &&
           (strncmp(port + size, "->", 2) == 0 || port[size] == '/');
}

char *cli__follow_node_of(const char *port)
{
    const char *const arrow = strstr(port, "->");
    const size_t size = arrow != NULL ? (size_t)(arrow - port) : strlen(port);
    const char *const slash = memchr(port, '/', size);
    return sim_format("%.*s", (int)(slash != NULL ? (size_t)(slash - port) : size), port);
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

static bool same_node(const char *a, const char *b)
{
    char *const node = cli__follow_node_of(a);
    const bool same = cli__follow_is_of(b, node);
    sim_free(node);
    return same;
}

bool cli__follow_is_dropped(const sight_t *sight)
{
    return sight->comment != NULL && strncmp(sight->comment, "dropped: ", 9) == 0;
}

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
    static const char *const words[] = {
        "dropped: ", "trimmed: ", "marked: ", "paused for: ", "sent again: "};
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
    return !net_frame_is_control(frame) && frame->destination_qp == follow->qp &&
           frame->psn == follow->psn;
}

static void take_sight(void *ctx, const pcap_out_read_frame_t *seen,
                       const pcap_out_read_interface_t *interface)
{
    follow_t *const follow = ctx;
    net_frame_t frame;
    sim_message_t message;
    if (net_frame_parse(seen->bytes, seen->captured_bytes, &frame, &message) != SIM_OK ||
        !is_asked_for(follow, &frame)) {
        return;
    }
    const label_t label = label_of(&frame);
    size_t number = find_label(follow, &label);
    if (number == NONE) {
        if (seen->way == PCAP_OUT_NG_RECEIVED ||
            !cli__follow_is_of(interface->name, follow->host)) {
            return; // another host's packet
        }
        number = follow->label_count;
        if (number == 0) {
            follow->kind = frame.is_uet ? uet_request(&frame) : net_frame_opcode_name(frame.opcode);
        }
        SIM_APPEND(follow->labels, follow->label_count, follow->label_capacity, label);
    }
    SIM_APPEND(follow->sights, follow->sight_count, follow->sight_capacity,
               (sight_t){.label = number,
                         .time_ps = seen->time_ps,
                         .port = sim_strdup(interface->name),
                         .way = seen->way,
                         .rate_bps = interface->rate_bps,
                         .bytes = seen->original_bytes,
                         .comment = comment_of(seen),
                         .class = class_of(&frame)});
}

sim_err_t cli__follow_each_frame(const char *path, cli__follow_frame_fn fn, void *ctx,
                                 world_error_t *error)
{
    pcap_out_reader_t *reader = NULL;
    sim_message_t message;
    sim_err_t result = pcap_out_reader_open(path, &reader, &message);
    bool end = false;
    while (result == SIM_OK && !end) {
        pcap_out_read_frame_t frame;
        result = pcap_out_reader_next(reader, &frame, &end, &message);
        if (result == SIM_OK && !end) {
            fn(ctx, &frame, pcap_out_reader_interface(reader, frame.interface));
        }
    }
    pcap_out_reader_close(reader);
    return result == SIM_OK ? SIM_OK : world_fail(error, result, NULL, "%s", message.text);
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
    SIM_APPEND(follow->hops, follow->hop_count, follow->hop_capacity,
               (hop_t){.from = from,
                       .to = to,
                       .is_link = is_link,
                       .end_ps = follow->sights[from].time_ps});
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
        const size_t next =
            cli__follow_is_dropped(sight) ? NONE : next_sight(follow, at, port, !sent);
        sim_free(port);
        if (next != NONE) {
            follow->sights[next].is_used = true;
            add_hop(follow, at, next, sent);
            journey.last = next;
        }
        at = next;
    }
    journey.count = follow->hop_count - journey.first;
    SIM_APPEND(follow->journeys, follow->journey_count, follow->journey_capacity, journey);
}

static void join(follow_t *follow)
{
    for (size_t i = 0; i < follow->sight_count; i++) {
        const sight_t *const sight = &follow->sights[i];
        if (!sight->is_used && sight->way != PCAP_OUT_NG_RECEIVED &&
            cli__follow_is_of(sight->port, follow->host)) {
            add_journey(follow, i);
        }
    }
}

sim_err_t cli__follow_journeys(follow_t *follow, world_error_t *error)
{
    const sim_err_t result = cli__follow_each_frame(follow->path, take_sight, follow, error);
    if (result == SIM_OK) {
        join(follow);
    }
    return result;
}
