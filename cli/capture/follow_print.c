// SPDX-License-Identifier: Apache-2.0
// cli/capture/follow_print.c - prints the journeys of a packet, for people and as JSON.
#include "cli/capture/follow_print.h"
#include "cli/capture/follow_internal.h"

#include "cli/output.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum fate { FATE_DELIVERED, FATE_DROPPED, FATE_UNKNOWN } fate_t;

static fate_t fate_of(const follow_t *follow, const journey_t *journey)
{
    const sight_t *const last = &follow->sights[journey->last];
    const char *const receiver = follow->labels[last->label].receiver;
    if (cli__follow_is_dropped(last)) {
        return FATE_DROPPED;
    }
    return last->way == PCAP_OUT_NG_RECEIVED && receiver != NULL &&
                   cli__follow_is_of(last->port, receiver)
               ? FATE_DELIVERED
               : FATE_UNKNOWN;
}

// Returns why the packet was dropped, the first part of the comment; the caller frees it.
static char *drop_reason(const sight_t *sight)
{
    const char *const reason = sight->comment + strlen("dropped: ");
    return sim_format("%.*s", (int)strcspn(reason, ","), reason);
}

typedef struct amount {
    char text[40];
} amount_t;

// Writes a time in us to the picosecond.
static const char *us(amount_t *amount, uint64_t ps)
{
    snprintf(amount->text, sizeof(amount->text), "%" PRIu64 ".%06" PRIu64 " us", ps / SIM_PS_PER_US,
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
        const uint64_t serial_ps = cli__follow_frame_ps(from->bytes, from->rate_bps);
        const uint64_t sent_ps = SIM_MIN(serial_ps, took_ps);
        return sim_format("on the link %s: some %s to send %u byte%s, the rest to travel",
                          from->port, us(&a, sent_ps), from->bytes, sim_plural(from->bytes));
    }
    const uint64_t rest_ps = took_ps - hop->behind_ps - hop->paused_ps;
    if (took_ps == 0) {
        return sim_format("leaves at once by %s", to->port);
    }
    if (hop->paused_ps == 0 && rest_ps == 0) {
        return sim_format("waits for %s behind %" PRIu64 " frame%s", to->port, hop->frames,
                          sim_plural(hop->frames));
    }
    if (hop->behind_ps == 0 && rest_ps == 0) {
        return sim_format("waits for %s, which its peer has paused", to->port);
    }
    return sim_format("waits for %s: %s behind %" PRIu64 " frame%s, %s paused by the peer, %s for "
                      "its turn",
                      to->port, us(&a, hop->behind_ps), hop->frames, sim_plural(hop->frames),
                      us(&b, hop->paused_ps), us(&c, rest_ps));
}

static void print_journey(const follow_t *follow, const journey_t *journey)
{
    amount_t time;
    amount_t took;
    const sight_t *const start = &follow->sights[journey->start];
    const sight_t *const last = &follow->sights[journey->last];
    printf("  at %s, %s sends it%s%s\n", us(&time, start->time_ps), follow->host,
           start->comment != NULL ? "; " : "", start->comment != NULL ? start->comment : "");
    for (size_t i = journey->first; i < journey->first + journey->count; i++) {
        const hop_t *const hop = &follow->hops[i];
        const sight_t *const to = &follow->sights[hop->to];
        char *const node =
            cli__follow_node_of(hop->is_link ? to->port : follow->sights[hop->from].port);
        char *const reason = reason_of(follow, hop);
        printf("  %16s  %-10s %s%s%s\n", us(&took, to->time_ps - follow->sights[hop->from].time_ps),
               hop->is_link ? "" : node, reason, to->comment != NULL ? "; " : "",
               to->comment != NULL ? to->comment : "");
        sim_free(reason);
        sim_free(node);
    }
    char *const end = cli__follow_node_of(last->port);
    const fate_t fate = fate_of(follow, journey);
    char *const reason = fate == FATE_DROPPED ? drop_reason(last) : sim_strdup("");
    printf("  %16s  in all, until %s %s%s%s\n", us(&took, last->time_ps - start->time_ps),
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
    char *const node = cli__follow_node_of(hop->is_link ? from->port : to->port);
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
    char *const node = cli__follow_node_of(last->port);
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

void cli__follow_print_json(const follow_t *follow)
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
        json_object_set_new(one, "took_ps",
                            json_integer((json_int_t)(last->time_ps - start->time_ps)));
        add_fate(follow, journey, one);
        json_object_set_new(one, "hops", hops);
        for (size_t i = journey->first; i < journey->first + journey->count; i++) {
            json_array_append_new(hops, hop_json(follow, &follow->hops[i]));
        }
        json_array_append_new(journeys, one);
    }
    cli_print_json(json);
}

void cli__follow_print_text(const follow_t *follow)
{
    SIM_CHECK(follow->journey_count > 0 && follow->sight_count > 0);
    printf("packet of %s to queue pair %" PRIu64 ", PSN %" PRIu64
           ": %s, %u byte%s, sent %zu time%s\n",
           follow->host, follow->qp, follow->psn, follow->kind,
           follow->sights[follow->journeys[0].start].bytes,
           sim_plural(follow->sights[follow->journeys[0].start].bytes), follow->journey_count,
           follow->journey_count == 1 ? "" : "s");
    for (size_t i = 0; i < follow->journey_count; i++) {
        print_journey(follow, &follow->journeys[i]);
    }
}
