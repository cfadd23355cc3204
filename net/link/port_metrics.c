// SPDX-License-Identifier: Apache-2.0
// net/link/port_metrics.c - the metrics of a port that a series can sample, by name.
#include <string.h>

#include "net/port.h"

uint64_t net_port_queue_bytes(const net_port_t *port)
{
    uint64_t sum = 0;
    for (uint32_t classes = port->waiting; classes != 0; classes &= classes - 1) {
        sum += port->classes[__builtin_ctz(classes)]->bytes;
    }
    return sum;
}

void net__port_several_wait(net_port_t *port)
{
    const uint64_t bytes = net_port_queue_bytes(port);
    const uint64_t most = bytes > port->several_bytes_max ? bytes : port->several_bytes_max;
    port->several_bytes_max = most & NET_SEVERAL_MASK;
}

uint64_t net_port_queue_bytes_max(const net_port_t *port)
{
    uint64_t most = port->several_bytes_max;
    if (net_port_untouched(port)) {
        return most;
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        most = port->classes[p]->bytes_max > most ? port->classes[p]->bytes_max : most;
    }
    return most;
}

static uint64_t read_queue(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    uint64_t sum = 0;
    (void)time_ps;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        sum += classes & (1u << p) ? port->classes[p]->bytes : 0;
    }
    return sum;
}

static uint64_t read_paused(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        sum += classes & (1u << p) ? net_port_paused_ps(port, p, time_ps) : 0;
    }
    return sum;
}

static uint64_t read_is_paused(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    (void)time_ps;
    return (port->paused & classes) != 0;
}

#define READ_SUM(function, expression)                                                    \
    static uint64_t function(const net_port_t *port, uint8_t classes, sim_time_t time_ps) \
    {                                                                                     \
        uint64_t sum = 0;                                                                 \
        (void)time_ps;                                                                    \
        for (uint32_t p = 0; p < NET_PRIORITIES; p++) {                                   \
            sum += classes & (1u << p) ? (expression) : 0;                                \
        }                                                                                 \
        return sum;                                                                       \
    }
READ_SUM(read_tx_bytes, port->classes[p]->tx_bytes)
READ_SUM(read_tx_packets, port->classes[p]->tx_packets)
READ_SUM(read_rx_bytes, port->received[p]->bytes)
READ_SUM(read_rx_packets, port->received[p]->packets)
READ_SUM(read_marked, port->ecn_marked[p])
READ_SUM(read_marked_again, port->rare->ecn_marked_again[p])
READ_SUM(read_rx_pause, port->pauses[p].rx_pause)
READ_SUM(read_tx_pause, port->pauses[p].tx_pause)
#undef READ_SUM

sim_time_t net_port_busy_ps(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    uint64_t bytes = 0;
    uint8_t senders = 0;
    if (net_port_untouched(port)) {
        return 0;
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        const net_class_t *const class = port->classes[p];
        senders |= (uint8_t)((class->tx_packets != 0) << p);
        if (classes & (1u << p)) {
            bytes += class->tx_bytes + class->tx_packets * port->overhead_bytes;
        }
    }
    const sim_time_t busy_ps = (sim_time_t)((sim_wide_t)bytes * 8 * SIM_PS_PER_S / port->rate_bps);
    const bool mine = (senders & ~classes) == 0;
    const sim_time_t rest_ps =
        mine && port->busy_until_ps > time_ps ? port->busy_until_ps - time_ps : 0;
    return busy_ps > rest_ps ? busy_ps - rest_ps : 0;
}

static uint64_t read_discards(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    uint64_t sum = 0;
    (void)classes;
    (void)time_ps;
    for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
        sum += port->drops[r];
    }
    return sum;
}

// clang-format off
#define TX      NET_TRACE_TX
#define RX      NET_TRACE_RX
#define PAUSED  (NET_TRACE_PAUSED | NET_TRACE_RESUMED)
#define SENT    (NET_TRACE_XOFF | NET_TRACE_XON)
const net_port_metric_t net_port_metrics[] = {
    {"queue_bytes", "bytes",   "frame bytes waiting in the port's queue",        true,  NET_TRACE_ENQUEUE | TX, false, read_queue},
    {"tx_bytes",    "bytes",   "frame bytes sent by the port so far",                        true,  TX, false, read_tx_bytes},
    {"tx_packets",  "packets", "frames sent by the port so far",                             true,  TX, false, read_tx_packets},
    {"rx_bytes",    "bytes",   "frame bytes received at the port so far",                    true,  RX, false, read_rx_bytes},
    {"rx_packets",  "packets", "frames received at the port so far",                         true,  RX, false, read_rx_packets},
    {"ecn_marked",  "packets", "packets that the port has marked with CE so far",                       true,  NET_TRACE_MARK, false, read_marked},
    {"ecn_marked_again", "packets", "packets so far that arrived with CE and would have been marked here", true, NET_TRACE_MARK, false, read_marked_again},
    {"paused",      "",        "1 while the peer has stopped the class, else 0", true,  PAUSED, false, read_is_paused},
    {"paused_ps",   "ps",      "time for which the peer has stopped the class so far",                true,  PAUSED, false, read_paused},
    {"rx_pause",    "frames",  "PFC pause frames received so far",               true,  NET_TRACE_PFC, false, read_rx_pause},
    {"tx_pause",    "frames",  "PFC pause frames sent so far",                   true,  SENT, false, read_tx_pause},
    {"discards",    "packets", "packets dropped at the port so far, any reason", false, NET_TRACE_DROP, false, read_discards},
    {"utilisation", "1/1000000", "share of the time since the previous sample in which frames occupied the link, preamble to gap",
     true, 0, true, net_port_busy_ps},
    {NULL, NULL, NULL, false, 0, false, NULL},
};
#undef TX
#undef RX
#undef PAUSED
#undef SENT
// clang-format on

const net_port_metric_t *net_port_metric_find(const char *name)
{
    for (const net_port_metric_t *m = net_port_metrics; m->name != NULL; m++) {
        if (strcmp(m->name, name) == 0) {
            return m;
        }
    }
    return NULL;
}
