// SPDX-License-Identifier: Apache-2.0
// net/loss/models.c - loss in patterns, reordering and duplication on one direction of a link.
//
// Events. Outside an event each frame starts one with probability rate / m, where m is the mean
// number of frames lost in an event. So the mean rate is rate / (1 + rate (l - 1) / m), where l is
// the mean length of an event. The three mixes and their constants are those of the loss generator
// of the OmniDMA simulator (KaiLv16/OmniDMA_2.0): a burst is 15 +- 3 frames in a row, a dense run 2
// to 14 of 15 frames at random places, the rest are single losses.
//
// Gilbert-Elliott: a frame is lost with link.loss-bad-rate in the bad state and never in the good
// one. The bad state lasts link.loss-burst frames on average; its frequency follows from the rate.
// Source: Gilbert, BSTJ 39 (1960); Elliott, BSTJ 42 (1963).
//
// A reordered frame is held for link.reorder-delay and then follows the frame on the link. A
// duplicate arrives right behind its original and takes no time on the link. Both stand for what
// a network in place of this link does.
#include "net/draws.h"
#include "net/loss/state.h"

#include <string.h>

#include "net/loss/build.h"
#include "net/network_internal.h"
#include "net/ranks.h"

#define MIX_BURST 15u
#define MIX_SPREAD 3u

static const net_loss_mix_t mixes[] = {
    [NET_LOSS_BURSTS] = {100, 0, 0},     [NET_LOSS_HIGH_FREQUENCY] = {0, 100, 0},
    [NET_LOSS_AMAZON] = {35, 12, 53},    [NET_LOSS_GOOGLE] = {12, 51, 37},
    [NET_LOSS_MICROSOFT] = {13, 19, 68}, [NET_LOSS_GILBERT_ELLIOTT] = {0, 0, 0},
};

// -- set-up

static bool is_mix(uint32_t model)
{
    return model >= NET_LOSS_AMAZON && model <= NET_LOSS_MICROSOFT;
}

static uint32_t burst_of(const net_link_config_t *config)
{
    return is_mix(config->loss_model) ? MIX_BURST : (uint32_t)config->loss_burst;
}

// Returns rate x num / den, shifting both right until the denominator fits 63 bits.
static sim_ratio_t scaled(sim_ratio_t rate, uint64_t num, uint64_t den)
{
    sim_wide_t above = (sim_wide_t)rate.num * num;
    sim_wide_t below = (sim_wide_t)rate.den * den;
    while (below >> 63 != 0) {
        above >>= 1;
        below >>= 1;
    }
    return (sim_ratio_t){(uint64_t)above, (uint64_t)below};
}

// Returns the mean number of frames lost in an event, times 100. A dense run of b frames loses 2 to
// b - 1 of them.
static uint64_t mean_lost_percent(const net_link_config_t *config)
{
    const net_loss_mix_t *const mix = &mixes[config->loss_model];
    const uint64_t burst = burst_of(config);
    return mix->burst * burst + mix->dense * (burst + 1) / 2 + mix->single;
}

sim_err_t net_loss_check(const net_link_config_t *config, sim_message_t *message)
{
    if (config->loss_model == NET_LOSS_HIGH_FREQUENCY && config->loss_burst < 3) {
        return sim_fail_about(message, SIM_ERR_RANGE, "link.loss-burst",
                              ": %" PRIu64 ", expected at least 3 with high-frequency",
                              config->loss_burst);
    }
    if (config->loss_model != NET_LOSS_GILBERT_ELLIOTT) {
        return SIM_OK;
    }
    // The bad state's share of time is rate / bad rate; it must leave room for the good state.
    const sim_ratio_t share =
        scaled(config->loss_rate, config->loss_bad_rate.den,
               config->loss_bad_rate.num == 0 ? 1 : config->loss_bad_rate.num);
    if (config->loss_bad_rate.num == 0 || share.num >= share.den) {
        return sim_fail_about(message, SIM_ERR_RANGE, "link.loss-rate",
                              ": as large as link.loss-bad-rate or larger, expected less "
                              "with gilbert-elliott");
    }
    return SIM_OK;
}

static void start_gilbert_elliott(struct net_loss *loss, const net_link_config_t *config)
{
    const sim_ratio_t rate = config->loss_rate;
    const sim_ratio_t bad = config->loss_bad_rate;
    // start = share / (1 - share) / burst, with share = rate / bad rate
    const sim_ratio_t share = scaled(rate, bad.den, bad.num);
    loss->start = scaled((sim_ratio_t){share.num, share.den - share.num}, 1, config->loss_burst);
    loss->leave = (sim_ratio_t){1, config->loss_burst};
    loss->behave = bad;
}

static bool wanted(const net_link_config_t *config, bool forward, const net_loss_trace_t *trace)
{
    const bool here = config->loss_direction == NET_LOSS_BOTH ||
                      (config->loss_direction == NET_LOSS_FORWARD) == forward;
    const bool patterned =
        config->loss_rate.num > 0 &&
        (config->loss_model != NET_LOSS_INDEPENDENT || config->loss_packets != NET_LOSS_OF_ALL ||
         config->loss_direction != NET_LOSS_BOTH);
    return trace != NULL ||
           (here && (patterned || config->reorder_rate.num > 0 || config->duplicate_rate.num > 0));
}

static void held_is_due(sim_node_t *node, sim_timer_t *timer);

void net__loss_direct(net_port_t *port, bool forward)
{
    const net_link_config_t *const config = port->line->config;
    const bool here = config->loss_direction == NET_LOSS_BOTH ||
                      (config->loss_direction == NET_LOSS_FORWARD) == forward;
    if (!here) {
        net_link_config_t *const own = net_port_own_config(port);
        own->loss_rate = own->reorder_rate = own->duplicate_rate = (sim_ratio_t){0, 1};
    }
}

static void prepare(net_port_t *port, bool forward, const net_loss_trace_t *trace)
{
    net__loss_direct(port, forward);
    const net_link_config_t *const config = port->line->config;
    if (!wanted(config, forward, trace)) {
        return;
    }
    struct net_loss *const loss = sim_alloc(sizeof(*loss));
    const uint64_t seed = sim_options(port->node->sim.sim)->seed;
    sim_random_init(&loss->random, seed, port->uid, "loss");
    sim_random_init(&loss->reorder, seed, port->uid, "reorder");
    sim_random_init(&loss->duplicate, seed, port->uid, "duplicate");
    loss->model = config->loss_model;
    loss->burst = burst_of(config);
    loss->trace = trace;
    loss->port = port;
    sim_timer_init(&loss->timer, held_is_due);
    if (config->loss_rate.num > 0) {
        if (loss->model == NET_LOSS_GILBERT_ELLIOTT) {
            start_gilbert_elliott(loss, config);
        } else if (loss->model == NET_LOSS_INDEPENDENT) {
            loss->start = config->loss_rate;
        } else {
            loss->start = scaled(config->loss_rate, 100, mean_lost_percent(config));
        }
    }
    port->rare->loss = loss;
    port->loses = true;
}

void net_link_lose(net_t *net, uint32_t link, net_loss_direction_t direction,
                   net_loss_trace_t *trace)
{
    SIM_CHECK(!net->built);
    SIM_CHECK(link < net->link_count);
    SIM_CHECK(direction != NET_LOSS_BOTH);
    SIM_APPEND(net->loss_lists, net->loss_list_count, net->loss_list_capacity,
               (net_loss_list_t){link, direction == NET_LOSS_FORWARD, trace});
}

// Returns the last list set for a direction; NULL: there is none.
static const net_loss_trace_t *list_of(const net_t *net, uint32_t link, bool forward)
{
    const net_loss_trace_t *trace = NULL;
    for (size_t i = 0; i < net->loss_list_count; i++) {
        const net_loss_list_t *const list = &net->loss_lists[i];
        if (list->link == link && list->forward == forward) {
            trace = list->trace;
        }
    }
    return trace;
}

void net__loss_build(net_t *net, uint32_t link)
{
    const net_link_ends_t made = net->links[link];
    prepare(net__port_of(net, made.a, made.a_port), true, list_of(net, link, true));
    prepare(net__port_of(net, made.b, made.b_port), false, list_of(net, link, false));
}

void net__loss_lists_free(net_t *net)
{
    for (size_t i = 0; i < net->loss_list_count; i++) {
        net_loss_trace_destroy(net->loss_lists[i].trace);
    }
    sim_free(net->loss_lists);
}

void net__loss_free(net_port_t *port)
{
    if (!port->loses) {
        return;
    }
    struct net_loss *const loss = port->rare->loss;
    net__loss_replay_free(loss->replay);
    sim_free(loss->held);
    sim_free(loss);
    port->loses = false;
}

bool net_loss_get_counters(const net_port_t *port, net_loss_counters_t *counters)
{
    *counters = (net_loss_counters_t){0};
    if (port->loses) {
        *counters = port->rare->loss->counters;
    }
    return port->loses;
}

// -- loss

// Returns whether the next frame of an event is lost. Each set of places is equally likely.
static bool lost_within(struct net_loss *loss)
{
    const bool lost =
        loss->lose_left == loss->left ||
        (loss->lose_left != 0 && sim_random_below(&loss->random, loss->left) < loss->lose_left);
    loss->lose_left -= lost;
    loss->left--;
    return lost;
}

static bool begin_event(struct net_loss *loss)
{
    const net_loss_mix_t *const mix = &mixes[loss->model];
    const uint64_t kind = mix->burst == 100 || mix->dense == 100
                              ? (mix->burst == 100 ? 0 : 99)
                              : sim_random_below(&loss->random, 100);
    if (mix->dense == 100 || (kind >= mix->burst && kind < mix->burst + mix->dense)) {
        loss->left = loss->burst;
        loss->lose_left = 2 + (uint32_t)sim_random_below(&loss->random, loss->burst - 2);
    } else if (kind < mix->burst) {
        const uint32_t spread = is_mix(loss->model) ? MIX_SPREAD : loss->burst / 5;
        loss->left =
            loss->burst - spread + (uint32_t)sim_random_below(&loss->random, 2 * spread + 1);
        loss->lose_left = loss->left;
    } else {
        loss->left = loss->lose_left = 1;
    }
    return lost_within(loss);
}

static bool lost_by_model(struct net_loss *loss, const net_packet_t *packet)
{
    if (loss->port->by_packet && loss->model == NET_LOSS_INDEPENDENT) {
        sim_random_t own = net_draws_of(&loss->random, packet);
        const bool lost = loss->start.num > 0 && sim_random_chance(&own, loss->start);
        loss->counters.events += lost;
        return lost;
    }
    if (loss->left > 0) {
        return lost_within(loss);
    }
    if (loss->start.num == 0) {
        return false;
    }
    if (loss->model == NET_LOSS_GILBERT_ELLIOTT) {
        if (loss->bad) {
            loss->bad = !sim_random_chance(&loss->random, loss->leave);
        } else {
            loss->bad = sim_random_chance(&loss->random, loss->start);
            loss->counters.events += loss->bad;
        }
        return loss->bad && sim_random_chance(&loss->random, loss->behave);
    }
    if (!sim_random_chance(&loss->random, loss->start)) {
        return false;
    }
    loss->counters.events++;
    return loss->model == NET_LOSS_INDEPENDENT || begin_event(loss);
}

bool net__loss_decides(struct net_loss *loss, const net_packet_t *packet)
{
    const bool data = packet->kind == NET_PACKET_ROCE && packet->payload_bytes != 0;
    bool lost = false;
    if (data || loss->port->line->config->loss_packets == NET_LOSS_OF_ALL) {
        loss->counters.frames++;
        lost = lost_by_model(loss, packet);
    }
    if (data && loss->trace != NULL && net__loss_traced(loss, packet)) {
        loss->counters.events += !lost;
        lost = true;
    }
    loss->counters.lost += lost;
    return lost;
}

// -- reordering and duplication

static void hold(struct net_loss *loss, net_packet_t *packet)
{
    sim_node_t *const node = &loss->port->node->sim;
    if (loss->held_first == loss->held_end) {
        loss->held_first = loss->held_end = 0;
    }
    SIM_GROW(loss->held, loss->held_end, &loss->held_capacity);
    const sim_time_t due_ps = node->now_ps + loss->port->line->config->reorder_delay_ps;
    loss->held[loss->held_end++] = (net_loss_held_t){packet, due_ps};
    if (!sim_timer_armed(&loss->timer)) {
        sim_timer_arm(node, &loss->timer, due_ps);
    }
    loss->counters.reordered++;
}

// Sends the held packets that are due behind the frame on the link, before the next one.
static void held_is_due(sim_node_t *node, sim_timer_t *timer)
{
    struct net_loss *const loss = SIM_CONTAINER_OF(timer, struct net_loss, timer);
    const net_port_t *const port = loss->port;
    while (loss->held_first < loss->held_end &&
           loss->held[loss->held_first].due_ps <= node->now_ps) {
        net_packet_t *const packet = loss->held[loss->held_first++].packet;
        const sim_time_t behind_ps = port->busy_until_ps + port->delay_less_gap_ps + 1;
        const sim_time_t least_ps = node->now_ps + port->line->delay_ps;
        sim_send(node, port->channel, SIM_MAX(behind_ps, least_ps), packet);
    }
    if (loss->held_first < loss->held_end) {
        sim_timer_arm(node, timer, loss->held[loss->held_first].due_ps);
    }
}

static net_packet_t *double_of(net_port_t *port, const net_packet_t *packet)
{
    net_packet_t *const twin = net_packet_new(port->node, packet->frame_bytes);
    *twin = *packet;
    memcpy(net_packet_aside(twin), net_packet_aside(packet), sizeof(net_packet_aside_t));
    if (packet->contents) {
        twin->contents = false;
        memcpy(net_packet_add_contents(port->node, twin), net_packet_contents(packet),
               packet->payload_bytes);
    }
    if (packet->telemetry == NET_TELEMETRY_INT) {
        memcpy(net_packet_telemetry(twin), net_packet_telemetry(packet),
               packet->hop_count * sizeof(uint64_t));
    }
    return twin;
}

// Draws for a packet: from the stream, or with network.draws: packet from the packet's own numbers.
static bool chance(const struct net_loss *loss, sim_random_t *stream, const net_packet_t *packet,
                   sim_ratio_t ratio)
{
    if (loss->port->by_packet) {
        sim_random_t own = net_draws_of(stream, packet);
        return sim_random_chance(&own, ratio);
    }
    return sim_random_chance(stream, ratio);
}

void net__loss_send(struct net_loss *loss, net_packet_t *packet, sim_time_t arrive_ps)
{
    net_port_t *const port = loss->port;
    sim_node_t *const node = &port->node->sim;
    const bool ours =
        packet->kind == NET_PACKET_ROCE &&
        (packet->payload_bytes != 0 || port->line->config->loss_packets == NET_LOSS_OF_ALL);
    if (ours && port->line->config->reorder_rate.num > 0 &&
        chance(loss, &loss->reorder, packet, port->line->config->reorder_rate)) {
        hold(loss, packet);
        return;
    }
    net_packet_t *twin = NULL;
    if (ours && port->line->config->duplicate_rate.num > 0 &&
        chance(loss, &loss->duplicate, packet, port->line->config->duplicate_rate)) {
        twin = double_of(port, packet);
        loss->counters.duplicated++;
    }
    sim_send(node, port->channel, arrive_ps, packet);
    if (twin != NULL) {
        sim_send(node, port->channel, arrive_ps + 1, twin);
    }
}
