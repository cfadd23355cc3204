// SPDX-License-Identifier: Apache-2.0
// net/wire/telemetry.c - writes telemetry into packets when a switch port starts to send them.
#include "net/telemetry.h"
#include "net/draws.h"

#include "net/extensions.h"
#include "net/frame.h"
#include "net/meters_internal.h"
#include "net/network_internal.h"
#include "net/nodes.h"

static_assert(NET_FRAME_BYTES_MAX <= NET_FRAME_BYTES_QUANTUM,
              "no frame with telemetry exceeds the frame size of quanta and headroom");

// -- INT

#define GBPS UINT64_C(1000000000)

const uint64_t net__int_rates_bps[NET_INT_RATE_CODES] = {
    0,          1 * GBPS,   2 * GBPS + GBPS / 2, 5 * GBPS,    10 * GBPS,  20 * GBPS,
    25 * GBPS,  40 * GBPS,  50 * GBPS,           56 * GBPS,   100 * GBPS, 200 * GBPS,
    400 * GBPS, 800 * GBPS, 1600 * GBPS,         3200 * GBPS,
};

uint8_t net_int_rate_code(uint64_t rate_bps)
{
    for (uint32_t code = 1; code < NET_INT_RATE_CODES; code++) {
        if (net__int_rates_bps[code] == rate_bps) {
            return (uint8_t)code;
        }
    }
    return 0;
}

// Returns the code of a rate, or that of the next higher one: of NVLink, which check_rates allows.
static uint8_t code_near(uint64_t rate_bps)
{
    uint8_t code = net_int_rate_code(rate_bps);
    if (code == 0) {
        code = 1;
        while (code < NET_INT_RATE_CODES - 1 && net__int_rates_bps[code] < rate_bps) {
            code++;
        }
    }
    return code;
}

// -- PINT

void net_pint_init(net_pint_t *pint, sim_ratio_t base, sim_time_t rtt_ps)
{
    SIM_CHECK(base.num > base.den && base.den > 0 && rtt_ps > 0);
    const double step = (double)base.num / (double)base.den;
    double value = NET_PINT_LEAST;
    uint32_t needed = 2;
    pint->rtt_ps = (double)rtt_ps;
    pint->values[0] = 0.0;
    pint->values[1] = value;
    while (value < NET_PINT_MOST) {
        SIM_CHECKF(needed < NET_PINT_DIGESTS_MAX, "a base of %f needs too many digests", step);
        value *= step;
        pint->values[needed++] = value;
    }
    pint->digest_bytes = needed <= 256 ? 1 : 2;
    pint->digest_count = pint->digest_bytes == 1 ? 256 : needed;
    for (uint32_t i = needed; i < pint->digest_count; i++) {
        value *= step;
        pint->values[i] = value;
    }
}

uint16_t net_pint_encode(const net_pint_t *pint, double utilization, sim_random_t *random)
{
    uint32_t below = 0;
    uint32_t above = pint->digest_count;
    while (above - below > 1) {
        const uint32_t middle = (below + above) / 2;
        if (pint->values[middle] <= utilization) {
            below = middle;
        } else {
            above = middle;
        }
    }
    if (above == pint->digest_count) {
        return (uint16_t)below;
    }
    const double low = pint->values[below];
    const double share = (utilization - low) / (pint->values[above] - low); // [0, 1)
    const uint64_t chance = (uint64_t)(share * 0x1p53);
    return (uint16_t)(sim_random_u64(random) >> 11 < chance ? above : below);
}

// Updates the estimate U when a frame starts, by the time since the previous frame.
static void update_utilization(net_meter_t *meter, sim_time_t now_ps, uint32_t bytes,
                               uint64_t queue_bytes)
{
    const double rtt_ps = meter->pint->rtt_ps;
    const double since_ps = (double)(now_ps - meter->before_ps);
    const double share = since_ps < rtt_ps ? since_ps / rtt_ps : 1.0;
    meter->utilization = (1.0 - share) * meter->utilization +
                         (share * (double)queue_bytes + (double)bytes) * meter->per_byte;
    meter->before_ps = now_ps;
}

const net_pint_t *net_pint_of(const net_t *net)
{
    return net->pint;
}

void net__meter_pint(net_port_t *port, net_packet_t *packet)
{
    net_meter_t *const meter = port->meter;
    const net_pint_ops_t *const ops = meter->pint->ops;
    const sim_time_t now_ps = port->node->sim.now_ps;
    const uint64_t queue_bytes = net__queue_bytes_of(port);
    const bool asks = net__asks_for(packet, NET_TELEMETRY_PINT);
    if (ops != NULL) {
        ops->frame(ops->ctx, meter, now_ps, packet, queue_bytes, asks);
        return;
    }
    update_utilization(meter, now_ps, packet->frame_bytes + port->line->overhead_bytes,
                       queue_bytes);
    // The digest is the largest of the hops: a smaller value cannot raise it.
    if (asks && meter->utilization > meter->pint->values[packet->digest]) {
        sim_random_t own;
        sim_random_t *random = &meter->random;
        if (port->by_packet) {
            own = net_draws_of(random, packet);
            random = &own;
        }
        packet->digest = net_pint_encode(meter->pint, meter->utilization, random);
    }
}

// -- both

// Resets the phases of INT's counters if the port has rested: its clock and its bytes are at whole
// units then. Else a collective that repeats would read records that are rounded in another way.
// Times between records from before and after a rest do not depend on absolute time either.
static SIM_NOINLINE void reset_phases(const net_port_t *port, net_meter_t *meter)
{
    const sim_time_t now_ps = port->node->sim.now_ps;
    if (now_ps >= port->busy_until_ps + SIM_REST_PS || meter->tx_bytes == 0) {
        const uint64_t unit_bytes = (uint64_t)NET_INT_SENT_UNIT_BYTES * meter->multiplier;
        port->rare->int_phase_ps += (now_ps - port->rare->int_phase_ps) % SIM_PS_PER_NS;
        meter->tx_bytes = (meter->tx_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
    }
}

void net__port_meter(net_port_t *port, net_packet_t *packet)
{
    if (SIM_UNLIKELY(port->by_packet)) {
        reset_phases(port, port->meter);
        net__meter_int(port, packet, port->rare->int_phase_ps);
    } else {
        net__meter_int(port, packet, 0);
    }
    if (port->meter->pint != NULL) {
        net__meter_pint(port, packet);
    }
}

uint32_t net_packet_telemetry_bytes(const net_t *net, const net_packet_t *packet)
{
    switch ((net_telemetry_t)packet->telemetry) {
    case NET_TELEMETRY_NONE:
        break;
    case NET_TELEMETRY_INT:
        return net_int_bytes(packet->hop_count, (uint32_t)net->config.int_reserved_hops);
    case NET_TELEMETRY_PINT:
        return net->pint->digest_bytes;
    }
    return 0;
}

// -- set-up

void net_want_telemetry(net_t *net, net_telemetry_t kind)
{
    SIM_CHECK(!net->built);
    net->telemetry |= 1u << kind;
}

// For each node: a switch's links to other switches, a host's slowest link.
typedef struct around {
    uint32_t trunks;
    uint64_t slowest_bps;
} around_t;

static around_t *look_around(const net_t *net)
{
    around_t *const around = sim_alloc_array(net->node_count + 1, sizeof(*around));
    for (size_t i = 0; i < net->link_count; i++) {
        const net_link_ends_t link = net->links[i];
        const uint64_t rate_bps = net__link_config(net, (uint32_t)i)->rate_bps;
        const bool trunk =
            net_kind_of(net, link.a) != NET_NODE_HOST && net_kind_of(net, link.b) != NET_NODE_HOST;
        const uint32_t ends[] = {link.a, link.b};
        for (size_t end = 0; end < SIM_COUNT_OF(ends); end++) {
            around_t *const at = &around[ends[end]];
            at->trunks += trunk;
            if (at->slowest_bps == 0 || rate_bps < at->slowest_bps) {
                at->slowest_bps = rate_bps;
            }
        }
    }
    return around;
}

// Returns whether a link joins a GPU to an NVSwitch: the switch joins hosts only, and the host has
// a slower link to the network. NICs there have no congestion control (nic_exempt).
static bool is_nvlink(const net_t *net, uint32_t link, const around_t *around)
{
    const net_link_ends_t ends = net->links[link];
    const bool first = net_kind_of(net, ends.a) == NET_NODE_HOST;
    const uint32_t host = first ? ends.a : ends.b;
    const uint32_t other = first ? ends.b : ends.a;
    return net_kind_of(net, host) == NET_NODE_HOST && around[other].trunks == 0 &&
           around[host].slowest_bps < net__link_config(net, link)->rate_bps;
}

static sim_err_t check_rates(const net_t *net, const around_t *around, sim_message_t *message)
{
    for (uint32_t i = 0; i < net->link_count; i++) {
        const net_link_ends_t link = net->links[i];
        const uint64_t rate_bps = net__link_config(net, i)->rate_bps;
        const bool written = net_kind_of(net, link.a) == NET_NODE_SWITCH ||
                             net_kind_of(net, link.b) == NET_NODE_SWITCH;
        if (written && net_int_rate_code(rate_bps) == 0 && !is_nvlink(net, i, around)) {
            return sim_fail(
                message, SIM_ERR_RANGE,
                "link of %s and %s: INT has no code for a rate of %" PRIu64
                " bit/s, expected 1, 2.5, 5, 10, 20, 25, 40, 50, 56, 100, 200, 400, 800, "
                "1600 or 3200 Gbps where a NIC's congestion control reads INT",
                net_node_name(net, link.a), net_node_name(net, link.b), rate_bps);
        }
    }
    return SIM_OK;
}

sim_err_t net__telemetry_build(net_t *net, sim_message_t *message)
{
    if (net->telemetry & 1u << NET_TELEMETRY_INT) {
        SIM_CHECK(net->config.int_multiplier > 0);
        sim_pool_widen(net->packets, NET_PACKET_TELEMETRY_BYTES);
        around_t *const around = look_around(net);
        const sim_err_t error = check_rates(net, around, message);
        sim_free(around);
        if (error != SIM_OK) {
            return error;
        }
    }
    if (net->telemetry & 1u << NET_TELEMETRY_PINT) {
        net->pint = sim_alloc(sizeof(*net->pint));
        net_pint_init(net->pint, net->config.pint_base, net->config.pint_rtt_ps);
        if (net->pint_ops.init != NULL) {
            net->pint->ops = &net->pint_ops;
            net->pint_ops.init(net->pint_ops.ctx, net->pint, net->config.pint_base,
                               net->config.pint_rtt_ps);
        }
    }
    return SIM_OK;
}

void net__port_start_meter(net_port_t *port)
{
    const net_t *const net = port->node->net;
    if (net->telemetry == 0) {
        return;
    }
    net_meter_t *const meter = port->meter;
    const uint64_t node = port->node->sim.index;
    meter->rate_code = code_near(port->line->rate_bps);
    meter->multiplier = (uint16_t)net->config.int_multiplier;
    meter->reserved_hops = (uint8_t)net->config.int_reserved_hops;
    meter->switch_id = (uint16_t)(sim_mix64(node + 1) & NET_INT_MASK(NET_INT_PATH_BITS));
    if (net->pint != NULL) {
        meter->pint = net->pint;
        meter->per_byte =
            net->pint->ops != NULL
                ? net->pint->ops->per_byte(port->line->rate_bps)
                : 8.0 * (double)SIM_PS_PER_S / ((double)port->line->rate_bps * net->pint->rtt_ps);
    }
    sim_random_init(&meter->random, sim_options(net->sim)->seed, port->uid, "telemetry");
    port->metered = true;
    net__port_update_special(port);
}
