// SPDX-License-Identifier: Apache-2.0
// net/switch/watchdog.c - a PFC watchdog: breaks pauses that last too long.
//
// A queue is in a storm when its peer has kept its class stopped for the detection time while
// packets wait. Then either its packets are dropped while it stays stopped (drop), or the peer's
// pauses have no effect (ignore), until no pause frame has come for the restoration time. The
// watchdog polls at an eighth of the shorter of the two times, as switches do.
// Behaviour: SONiC's PFC watchdog. Page: docs/models/pfc.md.
#include "net/switch/watchdog.h"
#include "net/port_pause.h"
#include "net/port_queue.h"

#define LOOKS 8u

typedef struct watch {
    uint64_t rx_pause; // count at the last poll
    sim_time_t quiet_since_ps;
    bool storm;
} watch_t;

struct net_watchdog {
    sim_timer_t timer;
    net_switch_t *sw;
    sim_time_t every_ps;
    watch_t *watches; // by port and class
};

void net__watchdog_drop(net_switch_t *sw, net_port_t *egress, uint32_t priority)
{
    while (((uint32_t)egress->waiting >> priority & 1u) != 0) {
        const net_queued_t queued = net_queue_take(egress, priority);
        egress->rare->watchdog[priority].dropped++;
        net_port_drop(egress, queued.packet, NET_DROP_WATCHDOG);
        SIM_CHECK(sw->held_bytes >= queued.frame_bytes);
        sw->held_bytes -= queued.frame_bytes;
        sw->buffer->release(sw, queued.ingress_port, priority, queued.frame_bytes);
    }
}

static void tell(const net_port_t *port, uint32_t priority, bool over)
{
    net_port_trace(port, NET_TRACE_WATCHDOG, NULL, priority | (uint32_t)over << 8);
}

static void begin(net_switch_t *sw, net_port_t *port, uint32_t priority)
{
    const uint8_t bit = (uint8_t)(1u << priority);
    port->rare->watchdog[priority].detected++;
    tell(port, priority, false);
    if (sw->config.pfc_watchdog == NET_WATCHDOG_DROP) {
        port->rare->discards_stopped |= bit;
        net__watchdog_drop(sw, port, priority);
    } else {
        net_port_ignore_pauses(port, bit, true);
    }
}

static void end(net_switch_t *sw, net_port_t *port, uint32_t priority)
{
    const uint8_t bit = (uint8_t)(1u << priority);
    (void)sw;
    port->rare->watchdog[priority].restored++;
    port->rare->discards_stopped &= (uint8_t)~bit;
    net_port_ignore_pauses(port, bit, false);
    tell(port, priority, true);
}

static void look(net_switch_t *sw, net_port_t *port, uint32_t priority, watch_t *watch)
{
    const sim_time_t now_ps = sw->node.sim.now_ps;
    const net_pause_counters_t *const pauses = &port->rare->pauses[priority];
    if (pauses->rx_pause != watch->rx_pause) {
        watch->rx_pause = pauses->rx_pause;
        watch->quiet_since_ps = now_ps;
    }
    if (watch->storm) {
        if (now_ps - watch->quiet_since_ps >= sw->config.watchdog_restore_ps) {
            watch->storm = false;
            end(sw, port, priority);
        }
        return;
    }
    const bool stopped = ((uint32_t)port->paused >> priority & 1u) != 0 && !port->layered;
    if (stopped && ((uint32_t)port->waiting >> priority & 1u) != 0 &&
        now_ps - pauses->paused_since_ps >= sw->config.watchdog_detect_ps) {
        watch->storm = true;
        watch->quiet_since_ps = now_ps;
        begin(sw, port, priority);
    }
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    struct net_watchdog *const dog = SIM_CONTAINER_OF(timer, struct net_watchdog, timer);
    net_switch_t *const sw = dog->sw;
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            look(sw, &sw->node.ports[p], c, &dog->watches[p * NET_PRIORITIES + c]);
        }
    }
    sim_timer_arm(node, timer, node->now_ps + dog->every_ps);
}

void net__watchdog_start(net_switch_t *sw)
{
    if (sw->config.pfc_watchdog == NET_WATCHDOG_OFF || sw->lossless == 0 ||
        sw->buffer->loop != NULL) {
        return;
    }
    struct net_watchdog *const dog = sim_alloc(sizeof(*dog));
    const sim_time_t detect_ps = sw->config.watchdog_detect_ps;
    const sim_time_t restore_ps = sw->config.watchdog_restore_ps;
    dog->sw = sw;
    dog->every_ps = SIM_MIN(detect_ps, restore_ps) / LOOKS;
    dog->watches =
        sim_alloc_array((size_t)sw->node.port_count * NET_PRIORITIES + 1, sizeof(watch_t));
    for (uint32_t p = 0; p < sw->node.port_count; p++) {
        sw->node.ports[p].lossless_guaranteed = false;
    }
    sw->node.one_by_one = true;
    sim_timer_init_background(&dog->timer, fired);
    sim_timer_arm(&sw->node.sim, &dog->timer, dog->every_ps);
    sw->watchdog = dog;
}

void net__watchdog_free(net_switch_t *sw)
{
    if (sw->watchdog != NULL) {
        sim_free(sw->watchdog->watches);
        sim_free(sw->watchdog);
    }
}
