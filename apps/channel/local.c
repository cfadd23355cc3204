// SPDX-License-Identifier: Apache-2.0
// apps/channel/local.c - shares the time of a link within a host between streams.
//
// All streams get the same share of the time. The share grows by dt / n while n streams have
// messages, and a message has passed when the share reaches its end: that of the message before it
// plus the time that it takes alone. So a message that comes or passes changes no other's end.
// If accelerators are nodes of the network (net/scale_up.h), messages pass there instead.
#include "apps/channel/local.h"

#include "kernel/base.h"
#include "kernel/event.h"

#define FINE 1024u                    // parts of a ps in which shares are counted
#define SHARE_MAX (UINT64_C(1) << 60) // then shares are counted from 0 again

// Brings the share up to date.
static void advance(app__nvlink_t *link)
{
    const sim_time_t now_ps = link->node->now_ps;
    if (link->count > 0) {
        link->share += (uint64_t)(now_ps - link->since_ps) * FINE / link->count;
    }
    link->since_ps = now_ps;
}

// Arms the timer for the first message that has passed, or lets the link rest.
static void arm(app__nvlink_t *link)
{
    if (link->timer.position != SIM_TIMER_UNARMED) {
        sim_timer_cancel(link->node, &link->timer);
    }
    if (link->first == UINT64_MAX) {
        link->share = 0;
        link->since_ps = 0;
        return;
    }
    if (link->share > SHARE_MAX) {
        for (app__passers_t *stream = link->streams; stream != NULL; stream = stream->next) {
            stream->end -= SIM_MIN(stream->end, link->share);
        }
        link->first -= SIM_MIN(link->first, link->share);
        link->share = 0;
    }
    const uint64_t left = link->first > link->share ? link->first - link->share : 0;
    const uint64_t rest = (left % FINE * link->count + FINE - 1) / FINE;
    sim_timer_arm(link->node, &link->timer,
                  link->since_ps + (sim_time_t)(left / FINE * link->count + rest));
}

static void leave(app__nvlink_t *link, app__passers_t *stream)
{
    *stream->place = stream->next;
    if (stream->next != NULL) {
        stream->next->place = stream->place;
    } else {
        link->end = stream->place;
    }
    *stream = (app__passers_t){.packets = stream->packets};
}

// Takes the messages that have passed from their streams; returns them in order. With ties by rotor
// the next one begins when the link ends one, and not parts of a ps before: what repeats is alike.
static app__passing_t *take(app__nvlink_t *link)
{
    const bool whole = sim_options(link->node->sim)->rotor_ties;
    app__passing_t *taken = NULL;
    app__passing_t **end = &taken;
    link->first = UINT64_MAX;
    for (app__passers_t *stream = link->streams, *next = NULL; stream != NULL; stream = next) {
        next = stream->next;
        while (stream->first != NULL && stream->end <= link->share) {
            app__passing_t *const passing = stream->first;
            stream->first = passing->next;
            passing->next = NULL;
            link->count -= passing->width;
            *end = passing;
            end = &passing->next;
            if (stream->first != NULL) {
                stream->end = whole ? link->share : stream->end;
                stream->end += (uint64_t)stream->first->alone_ps * FINE;
                link->count += stream->first->width;
            }
        }
        if (stream->first == NULL) {
            leave(link, stream);
        } else if (stream->end < link->first) {
            link->first = stream->end;
        }
    }
    return taken;
}

static void pass(sim_node_t *node, sim_timer_t *timer)
{
    app__nvlink_t *const link = SIM_CONTAINER_OF(timer, app__nvlink_t, timer);
    SIM_CHECK(link->node == node && link->count > 0);
    advance(link);
    app__passing_t *passing = take(link);
    arm(link);
    while (passing != NULL) {
        app__passing_t *const next = passing->next;
        passing->passed(passing, node);
        passing = next;
    }
}

void app__nvlink_init(app__nvlink_t *link, sim_node_t *node, net_node_t *packets,
                      uint32_t accelerator)
{
    *link = (app__nvlink_t){.node = node,
                            .packets = packets,
                            .accelerator = accelerator,
                            .first = UINT64_MAX};
    link->end = &link->streams;
    sim_timer_init(&link->timer, pass);
}

// Puts a message with alone_ps, width and passed at the end of a stream, which belongs to one link.
static void nvlink_put(app__nvlink_t *link, app__passers_t *stream, app__passing_t *passing)
{
    passing->next = NULL;
    if (stream->first != NULL) {
        stream->last->next = passing;
        stream->last = passing;
        return;
    }
    advance(link);
    stream->first = passing;
    stream->last = passing;
    stream->end = link->share + (uint64_t)passing->alone_ps * FINE;
    stream->place = link->end;
    *link->end = stream;
    link->end = &stream->next;
    link->count += passing->width;
    link->first = SIM_MIN(stream->end, link->first);
    arm(link);
}

// -- messages that receivers learn of later

app__coming_t *app__coming_begin(sim_list_t *spare, sim_list_t *list, sim_timer_fn fn)
{
    app__coming_t *coming = SIM_LIST_FIRST(spare, app__coming_t, link);
    if (coming != NULL) {
        sim_list_remove(spare, &coming->link);
    } else {
        coming = sim_alloc(sizeof(*coming));
    }
    *coming = (app__coming_t){.delay_ps = 0};
    sim_timer_init(&coming->timer, fn);
    sim_list_push_first(list, &coming->link);
    return coming;
}

static void coming_passed(app__passing_t *passing, sim_node_t *node)
{
    app__coming_t *const coming = SIM_CONTAINER_OF(passing, app__coming_t, passing);
    const sim_time_t end_ps = SIM_MAX(node->now_ps, coming->block_ps);
    sim_timer_arm(node, &coming->timer, end_ps + coming->delay_ps);
}

static void coming_put(net_put_t *put, sim_node_t *node)
{
    app__coming_t *const coming = SIM_CONTAINER_OF(put, app__coming_t, put);
    const sim_time_t end_ps = SIM_MAX(node->now_ps, coming->block_ps);
    sim_timer_arm(node, &coming->timer, end_ps + coming->delay_ps);
}

// Sends a message over the accelerators of the host.
static void put(app__coming_t *coming, const app__local_t *way, uint64_t bytes)
{
    net_node_t *const host = way->link->packets;
    const sim_time_t latency_ps = net_scale_up_latency_ps(net_scale_up_config(host));
    coming->delay_ps = way->delay_ps - SIM_MIN(latency_ps, way->delay_ps);
    coming->block_ps += way->block_bps > 0 ? SIM_MIN(latency_ps, way->delay_ps) : 0;
    coming->put = (net_put_t){
        .bytes = bytes * way->width,
        .from = (uint16_t)way->link->accelerator,
        .to = (uint16_t)way->to,
        .kind = way->kind,
        .arrived = coming_put,
    };
    if (way->members == 0) {
        net_put_send(host, &way->stream->packets, &coming->put);
    } else {
        // The receivers of what is spread get one such message of each of so many senders.
        coming->put.pace_bps =
            way->kind == NET_PUT_SUM ? way->rate_bps : SIM_MAX(way->rate_bps / way->members, 1);
        net_put_send_in_group(host, &way->stream->packets, &coming->put, way->key, way->members);
    }
}

void app__coming_pass(app__coming_t *coming, const app__local_t *way, uint64_t bytes)
{
    if (way->block_bps > 0) {
        coming->block_ps = way->link->node->now_ps + app__bits_ps(bytes, way->block_bps);
    }
    if (way->link->packets != NULL && way->to != way->link->accelerator) {
        put(coming, way, bytes);
        return;
    }
    coming->delay_ps = way->delay_ps;
    coming->passing = (app__passing_t){
        .alone_ps = app__bits_ps(bytes, way->rate_bps),
        .width = way->width,
        .passed = coming_passed,
    };
    nvlink_put(way->link, way->stream, &coming->passing);
}

void app__coming_end(sim_list_t *spare, sim_list_t *list, app__coming_t *coming)
{
    sim_list_remove(list, &coming->link);
    sim_list_push_first(spare, &coming->link);
}

void app__comings_free(sim_list_t *list)
{
    while (list->first != NULL) {
        app__coming_t *const coming = SIM_LIST_FIRST(list, app__coming_t, link);
        sim_list_remove(list, &coming->link);
        sim_free(coming);
    }
}
