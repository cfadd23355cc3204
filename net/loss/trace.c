// SPDX-License-Identifier: Apache-2.0
// net/loss/trace.c - losses by a list, of arrivals or of packets and how often each is lost.
//
// A packet in a list of the second kind is known by its place among the packets that pass for the
// first time. A packet passes for the first time if its PSN is beyond its flow's highest PSN so
// far, because flows first send packets in the order of their PSNs.
#include <stdlib.h>
#include <string.h>

#include "net/loss/state.h"

typedef struct flow {
    uint32_t source;
    uint32_t destination;
    uint32_t destination_qp;
    uint32_t next_psn; // first PSN that did not pass yet, 24 bits
} flow_t;

typedef struct victim {
    uint32_t flow;
    uint32_t psn;
    uint32_t left; // how often it is still to be lost
} victim_t;

struct net_loss_replay {
    flow_t *flows;
    size_t flow_count;
    size_t flow_capacity;
    uint64_t passed; // packets that passed for the first time
    victim_t *victims;
    size_t victim_count;
    size_t victim_capacity;
};

void net__loss_replay_free(struct net_loss_replay *replay)
{
    if (replay != NULL) {
        SIM_FREE_ALL(replay->flows, replay->victims, replay);
    }
}

void net_loss_trace_destroy(net_loss_trace_t *trace)
{
    if (trace != NULL) {
        SIM_FREE_ALL(trace->positions, trace->times, trace);
    }
}

// -- reading

static bool take_number(const char **at, uint64_t *number)
{
    if (**at < '0' || **at > '9') {
        return false;
    }
    char *end = NULL;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return *number <= UINT64_C(1000000000000);
}

static void add_row(net_loss_trace_t *trace, uint64_t position, uint64_t times)
{
    if (trace->count == trace->capacity) {
        trace->capacity = trace->capacity == 0 ? 64 : trace->capacity * 2;
        trace->positions =
            sim_realloc_array(trace->positions, trace->capacity, sizeof(*trace->positions));
        trace->times = sim_realloc_array(trace->times, trace->capacity, sizeof(*trace->times));
    }
    trace->positions[trace->count] = position;
    trace->times[trace->count++] = (uint32_t)times;
}

// Reads one line up to `end`. Returns false if it is not a valid row.
static bool take_row(const char *at, const char *end, net_loss_trace_t *trace, bool *pairs)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    if (at == end || *at == '#') {
        return true;
    }
    uint64_t position = 0;
    uint64_t times = 0;
    bool good = take_number(&at, &position);
    const bool pair = good && *at == ',';
    if (pair) {
        at++;
        good = take_number(&at, &times) && times >= 1 && times <= UINT32_MAX;
    }
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    // A first row larger than the next one says up to where the list is complete.
    if (good && !pair && trace->count == 1 && !*pairs && trace->complete == 0 &&
        position < trace->positions[0]) {
        trace->complete = trace->positions[0];
        trace->count = 0;
    }
    if (!good || (at != end && *at != '#') || (trace->count != 0 && pair != *pairs) ||
        (!pair && position == 0) || (trace->complete != 0 && position > trace->complete) ||
        (trace->count != 0 && position <= trace->positions[trace->count - 1])) {
        return false;
    }
    *pairs = pair;
    add_row(trace, position, times);
    return true;
}

sim_err_t net_loss_trace_parse(const char *text, size_t size_bytes, net_loss_trace_t **trace,
                               sim_message_t *message)
{
    net_loss_trace_t *const made = sim_alloc(sizeof(*made));
    const char *const all_end = text + size_bytes;
    uint64_t line = 1;
    bool pairs = false;
    for (const char *at = text; at < all_end; line++) {
        const char *end = memchr(at, '\n', (size_t)(all_end - at));
        end = end == NULL ? all_end : end;
        // strtoull needs an end: the line is copied so that it ends in a zero.
        char row[64] = "";
        const size_t length = (size_t)(end - at);
        const bool fits = length < sizeof(row);
        memcpy(row, at, fits ? length : 0);
        if (!fits || memchr(row, '\0', length) != NULL ||
            !take_row(row, row + length, made, &pairs)) {
            net_loss_trace_destroy(made);
            return sim_fail_about(message, SIM_ERR_INVALID, "line",
                                  " %" PRIu64 ": expected 'n' (from 1) or 'packet,times' (from 0), "
                                  "ascending, all rows alike",
                                  line);
        }
        at = end + (end != all_end);
    }
    if (made->count != 0 && !pairs) {
        sim_free(made->times);
        made->times = NULL;
    }
    *trace = made;
    return SIM_OK;
}

// -- replaying

static uint32_t find_flow(struct net_loss_replay *replay, const net_packet_t *packet)
{
    for (size_t i = 0; i < replay->flow_count; i++) {
        const flow_t *const flow = &replay->flows[i];
        if (flow->destination_qp == packet->destination_qp && flow->source == packet->source &&
            flow->destination == packet->destination) {
            return (uint32_t)i;
        }
    }
    SIM_GROW(replay->flows, replay->flow_count, &replay->flow_capacity);
    replay->flows[replay->flow_count] = (flow_t){
        packet->source,
        packet->destination,
        packet->destination_qp,
        packet->psn,
    };
    return (uint32_t)replay->flow_count++;
}

static bool lose_known(struct net_loss_replay *replay, uint32_t flow, uint32_t psn)
{
    for (size_t i = 0; i < replay->victim_count; i++) {
        victim_t *const victim = &replay->victims[i];
        if (victim->flow == flow && victim->psn == psn) {
            SIM_CHECK(victim->left > 0);
            if (--victim->left == 0) {
                *victim = replay->victims[--replay->victim_count];
            }
            return true;
        }
    }
    return false;
}

static bool lose_packet(struct net_loss *loss, const net_packet_t *packet)
{
    const net_loss_trace_t *const trace = loss->trace;
    if (loss->replay == NULL) {
        loss->replay = sim_alloc(sizeof(*loss->replay));
    }
    struct net_loss_replay *const replay = loss->replay;
    const uint32_t flow = find_flow(replay, packet);
    const int32_t ahead = (int32_t)((packet->psn - replay->flows[flow].next_psn) << 8) >> 8;
    if (ahead < 0) {
        return lose_known(replay, flow, packet->psn);
    }
    replay->flows[flow].next_psn = (packet->psn + 1) & ROCE_PSN_MASK;
    const uint64_t place = replay->passed++;
    if (loss->next == trace->count || trace->positions[loss->next] != place) {
        return false;
    }
    const uint32_t times = trace->times[loss->next++];
    if (times > 1) {
        SIM_APPEND(replay->victims, replay->victim_count, replay->victim_capacity,
                   (victim_t){flow, packet->psn, times - 1});
    }
    return true;
}

bool net__loss_traced(struct net_loss *loss, const net_packet_t *packet)
{
    const net_loss_trace_t *const trace = loss->trace;
    if (trace->times != NULL) {
        return lose_packet(loss, packet);
    }
    loss->position++;
    if (loss->next == trace->count || trace->positions[loss->next] != loss->position) {
        return false;
    }
    loss->next++;
    return true;
}
