// SPDX-License-Identifier: Apache-2.0
// net/link/transmit.c - sending on a port whose `special` is set: lossy, down, metered or listened
// to, or at a rate or timing that net__port_send does not handle.
#include "kernel/order/fifo.h"
#include "net/draws.h"
#include "net/link/layer.h"
#include "net/link/port_setup.h"
#include "net/log.h"
#include "net/loss/state.h"
#include "net/meters_internal.h"
#include "net/models.h"
#include "net/telemetry.h"

sim_time_t net_port_frame_time_ps(const net_port_t *port, uint32_t frame_bytes)
{
    const net_line_t *const line = port->line;
    const uint64_t bytes = frame_bytes + line->overhead_bytes;
    return SIM_UNLIKELY(line->timing != NULL) ? line->timing->time_ps(port, bytes)
                                              : bytes * 8 * SIM_PS_PER_S / line->rate_bps;
}

// Returns the port's random stream for link losses, seeding it on first use.
static sim_random_t *random_of(net_port_t *port)
{
    net_port_rare_t *const rare = port->rare;
    if (!rare->random_seeded) {
        rare->random_seeded = true;
        const uint64_t seed = sim_options(port->node->sim.sim)->seed;
        sim_random_init(&rare->random, seed, port->uid, "link-loss");
    }
    return &rare->random;
}

// Returns (1 - rate)^bits as a fraction of 2^64, by repeated squaring: the chance that a frame has
// no wrong bit. Truncation errs by less than 2^-57 for frames of any size.
static uint64_t chance_intact(sim_ratio_t bit_error_rate, uint64_t bits)
{
    if (bit_error_rate.num >= bit_error_rate.den) {
        return 0;
    }
    const sim_wide_t one = (sim_wide_t)1 << 64;
    sim_wide_t base = one - (((sim_wide_t)bit_error_rate.num << 64) / bit_error_rate.den);
    sim_wide_t result = one;
    for (; bits > 0; bits >>= 1) {
        if (bits & 1) {
            result = result == one ? base : (result * (base >> 1)) >> 63;
        }
        base = base == one ? one : (base * base) >> 64;
    }
    return result >= one ? UINT64_MAX : (uint64_t)result;
}

bool net__port_loses(net_port_t *port, const net_packet_t *packet)
{
    const net_link_config_t *const config = port->line->config;
    sim_random_t own;
    sim_random_t *random = NULL;
    if (config->loss_rate.num > 0 || config->bit_error_rate.num > 0) {
        random = random_of(port);
        if (port->by_packet) {
            own = net_draws_of(random, packet);
            random = &own;
        }
    }
    if (SIM_UNLIKELY(port->loses)) {
        if (net__loss_decides(port->rare->loss, packet)) {
            return true;
        }
    } else if (config->loss_rate.num > 0 && !port->loses_arrivals &&
               sim_random_chance(random, config->loss_rate)) {
        return true;
    }
    if (config->bit_error_rate.num > 0) {
        const uint64_t bits = UINT64_C(8) * (packet->frame_bytes + NET_FCS_BYTES);
        return sim_random_u64(random) >= chance_intact(config->bit_error_rate, bits);
    }
    return false;
}

// Returns the time of a frame at an inexact rate. The next frame, if it follows back to back, takes
// over the remainder of the division.
static inline sim_time_t divided_time(net_port_t *port, uint32_t bytes)
{
    const bool back_to_back = port->busy_until_ps == port->node->sim.now_ps;
    const uint64_t carried = back_to_back ? port->remainder : 0;
    const uint64_t numerator = bytes * (8 * SIM_PS_PER_S) + carried;
    port->remainder = numerator % port->line->rate_bps;
    return numerator / port->line->rate_bps;
}

static sim_time_t inexact_time(net_port_t *port, uint32_t bytes)
{
    if (port->rare->degraded_bps != 0) {
        return (bytes * (8 * SIM_PS_PER_S) + port->rare->degraded_bps - 1) /
               port->rare->degraded_bps;
    }
    return port->line->timing != NULL ? port->line->timing->time_ps(port, bytes)
                                      : divided_time(port, bytes);
}

static SIM_NOINLINE void transmit_otherwise(net_port_t *port, net_packet_t *packet)
{
    sim_node_t *const node = &port->node->sim;
    if (port->layered && !net__layer_takes(port, packet)) {
        return;
    }
    if (SIM_UNLIKELY(port->by_packet)) {
        net__draws_stamp(port, packet);
    }
    if (port->metered && !(port->layered && net__layer_repeats(port, packet))) {
        net__port_meter(port, packet); // the frame may grow
    }
    const uint32_t inserted = port->layered ? net__layer_sends(port, packet) : 0;
    const uint32_t bytes = packet->frame_bytes + port->line->overhead_bytes + inserted;
    SIM_ASSERT(node->now_ps >= port->busy_until_ps);
    const bool exact = port->ps_per_byte != 0 && port->line->timing == NULL;
    port->busy_until_ps =
        node->now_ps + (exact && port->rare->degraded_bps == 0 ? (uint64_t)bytes * port->ps_per_byte
                                                               : inexact_time(port, bytes));
    if (port->down) { // the frame is never on the link, so it is not counted as sent or captured
        net_port_drop(port, packet, NET_DROP_LINK_DOWN);
        return;
    }
    net_class_t *const class = port->classes[packet->priority];
    class->tx_packets++;
    class->tx_bytes += packet->frame_bytes;
    const bool shown = packet->kind == NET_PACKET_ROCE || packet->control != NET_CONTROL_LLR_AGAIN;
    if (shown) {
        net_port_trace(port, NET_TRACE_TX, packet, 0);
    }
    if (port->node->log != NULL && shown) {
        port->node->log->sent(port->node->log, port, packet);
    }
    const sim_time_t arrive_ps = port->busy_until_ps + port->delay_less_gap_ps;
    if (SIM_UNLIKELY(port->layered)) {
        net__layer_send(port, packet, arrive_ps);
    } else if (arrive_ps + port->down_first > net__port_next_down(port)) {
        net_port_drop(port, packet, NET_DROP_LINK_DOWN);
    } else if (net__port_loses(port, packet)) {
        net_port_drop(port, packet, NET_DROP_LINK_LOSS);
    } else if (SIM_UNLIKELY(port->loses)) {
        net__loss_send(port->rare->loss, packet, arrive_ps);
    } else {
        sim_send(node, port->channel, arrive_ps, packet);
    }
}

// Occupies the link for `ps` with a frame that needs no further test. Returns when it arrives.
static SIM_ALWAYS_INLINE sim_time_t occupy(net_port_t *port, const net_packet_t *packet,
                                           sim_time_t ps)
{
    const sim_time_t end_ps = port->node->sim.now_ps + ps;
    SIM_ASSERT(port->node->sim.now_ps >= port->busy_until_ps);
    port->busy_until_ps = end_ps;
    net_class_t *const class = port->classes[packet->priority];
    class->tx_packets++;
    class->tx_bytes += packet->frame_bytes;
    return end_ps + port->delay_less_gap_ps;
}

// Returns the frame's time cut to whole ns (net_timing_ops_t.cuts_to_ns); 0: call time_ps instead.
static SIM_ALWAYS_INLINE sim_time_t cut_time(const net_port_t *port, uint32_t bytes)
{
    const uint64_t exact_ps = (uint64_t)bytes * port->ps_per_byte;
    const uint64_t cut_ps = exact_ps % SIM_PS_PER_NS;
    return SIM_LIKELY(cut_ps != 0) ? exact_ps - cut_ps : 0;
}

// Sends with ties by insertion, for which sim__send_slow is the only way.
static SIM_ALWAYS_INLINE void send_in_order(net_port_t *port, net_packet_t *packet, sim_time_t ps)
{
    const sim_time_t arrive_ps = occupy(port, packet, ps);
    sim__send_slow(&port->node->sim, port->channel, arrive_ps, packet);
}

static void transmit_rounded(net_port_t *port, net_packet_t *packet)
{
    send_in_order(port, packet, port->line->timing->time_ps(port, packet->frame_bytes));
}

static SIM_ALWAYS_INLINE void transmit_cut(net_port_t *port, net_packet_t *packet)
{
    const sim_time_t ps = cut_time(port, packet->frame_bytes);
    if (SIM_UNLIKELY(ps == 0)) {
        transmit_rounded(port, packet);
    } else {
        send_in_order(port, packet, ps);
    }
}

static SIM_NOINLINE void transmit_metered(net_port_t *port, net_packet_t *packet)
{
    net__port_meter(port, packet); // the frame may grow
    transmit_cut(port, packet);
}

void net__port_transmit_int(net_port_t *port, net_packet_t *packet)
{
    net_meter_t *const meter = port->meter;
    if (net__asks_for(packet, NET_TELEMETRY_INT)) {
        if (SIM_UNLIKELY(packet->hop_count >= meter->reserved_hops)) {
            transmit_metered(port, packet);
            return;
        }
        net__push_record(port, meter, packet, 0);
    }
    meter->tx_bytes += (uint32_t)packet->frame_bytes + port->overhead_bytes;
    transmit_cut(port, packet);
}

// Sends at an exact rate on a port that is usual but for its telemetry.
static SIM_NOINLINE void transmit_exact_metered(net_port_t *port, net_packet_t *packet)
{
    net__meter_int(port, packet, 0);
    if (SIM_UNLIKELY(port->meter->pint != NULL)) {
        net__meter_pint(port, packet);
    }
    sim_node_t *const node = &port->node->sim;
    net_class_t *const class = port->classes[packet->priority];
    net__port_send(port, node, node->now_ps, class, packet, packet->frame_bytes);
}

// Sends with ties by hash.
static SIM_NOINLINE void transmit_cut_apart(net_port_t *port, net_packet_t *packet)
{
    if (port->metered) {
        net__port_meter(port, packet); // the frame may grow
    }
    const sim_time_t ps = cut_time(port, packet->frame_bytes);
    const sim_time_t arrive_ps =
        occupy(port, packet, ps != 0 ? ps : port->line->timing->time_ps(port, packet->frame_bytes));
    sim_send(&port->node->sim, port->channel, arrive_ps, packet);
}

// Sends on a port that is usual otherwise, and notes the frame.
static SIM_NOINLINE void transmit_logged(net_port_t *port, net_packet_t *packet)
{
    net_log_t *const log = port->node->log;
    const sim_time_t now_ps = port->node->sim.now_ps;
    const bool takes = packet->kind == NET_PACKET_ROCE && net_log_takes(packet->marks);
    net_log_sent(log, port, now_ps, packet, packet->frame_bytes, takes, 0);
    if (SIM_UNLIKELY(log->again != NULL) && takes && packet->retransmission) {
        log->again(log, port, packet);
    }
    const uint32_t bytes = packet->frame_bytes + port->line->overhead_bytes;
    const sim_time_t ps =
        port->ps_per_byte != 0 ? (sim_time_t)bytes * port->ps_per_byte : divided_time(port, bytes);
    const sim_time_t arrive_ps = occupy(port, packet, ps);
    sim_send(&port->node->sim, port->channel, arrive_ps, packet);
}

// Sends as port->special says. Every branch ends in a call, so the compiler makes no stack frame
// for inexact rates and times in whole ns, all that links of, say, 112 Gbps need.
void net__port_transmit_special(net_port_t *port, net_packet_t *packet)
{
    const net_special_t special = port->special;
    if (special == NET_SPECIAL_METERED) {
        transmit_exact_metered(port, packet);
    } else if (special == NET_SPECIAL_RATE) {
        const uint32_t bytes = packet->frame_bytes + port->line->overhead_bytes;
        const sim_time_t arrive_ps = occupy(port, packet, divided_time(port, bytes));
        sim_send(&port->node->sim, port->channel, arrive_ps, packet);
    } else if (special == NET_SPECIAL_LOGGED || special == NET_SPECIAL_LOGGED_ODD) {
        transmit_logged(port, packet);
    } else if (special == NET_SPECIAL_CUT) {
        transmit_cut(port, packet);
    } else if (special == NET_SPECIAL_CUT_INT) {
        net__port_transmit_int(port, packet);
    } else if (special == NET_SPECIAL_CUT_METERED) {
        transmit_metered(port, packet);
    } else if (special == NET_SPECIAL_CUT_BY_HASH) {
        transmit_cut_apart(port, packet);
    } else {
        transmit_otherwise(port, packet);
    }
}
