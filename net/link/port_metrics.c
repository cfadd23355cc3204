// SPDX-License-Identifier: Apache-2.0
// net/link/port_metrics.c - the numbers of a port, a row each: what it counts and can be asked.
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
    const uint64_t most = SIM_MAX(bytes, port->several_bytes_max);
    port->several_bytes_max = most & NET_SEVERAL_MASK;
}

uint64_t net_port_queue_bytes_max(const net_port_t *port)
{
    uint64_t most = port->several_bytes_max;
    if (net_port_untouched(port)) {
        return most;
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        most = SIM_MAX(port->classes[p]->bytes_max, most);
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
    for (uint32_t left = classes; left != 0; left &= left - 1) {
        sum += net_port_paused_ps(port, (uint32_t)__builtin_ctz(left), time_ps);
    }
    return sum;
}

static uint64_t read_is_paused(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    (void)time_ps;
    return (port->paused & classes) != 0;
}

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
            bytes += class->tx_bytes + class->tx_packets * port->line->overhead_bytes;
        }
    }
    const sim_time_t busy_ps =
        (sim_time_t)((sim_wide_t)bytes * 8 * SIM_PS_PER_S / port->line->rate_bps);
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
        sum += port->rare->drops[r];
    }
    return sum;
}

// clang-format off
#define TX      NET_TRACE_TX
#define RX      NET_TRACE_RX
#define PAUSED  (NET_TRACE_PAUSED | NET_TRACE_RESUMED)
#define PFC_RX  NET_TRACE_PFC
#define PFC_TX  (NET_TRACE_XOFF | NET_TRACE_XON)
// A field by class: of what a class sent, of what it received, of an array of net_port_rare_t.
#define SENT(field_) \
    .per_priority = true, .place = NET_COUNTER_SENT, .offset = offsetof(net_class_t, field_)
#define RECEIVED(field_) \
    .per_priority = true, .place = NET_COUNTER_RECEIVED, .offset = offsetof(net_received_t, field_)
#define RARE(array_, field_)                                                                       \
    .per_priority = true, .place = NET_COUNTER_RARE, .offset = offsetof(net_port_rare_t, field_),  \
    .stride = sizeof(((net_port_rare_t *)NULL)->array_[0])
// One field of the port.
#define RARE_OF_PORT(field_) .place = NET_COUNTER_RARE, .offset = offsetof(net_port_rare_t, field_)

// The rows of a group stand together and in the order in which all files list them.
const net_port_metric_t net_port_metrics[] = {
    {.name = "queue_bytes", .unit = "bytes", .per_priority = true, .read = read_queue,
     .points = NET_TRACE_ENQUEUE | TX,
     .help = "bytes of the frames that wait in the port's queue"},
    {.name = "tx_packets", .unit = "packets", SENT(tx_packets), .points = TX,
     .help = "number of frames that the port sent, PFC frames too",
     .column = "tx_prio%u_packets", .by_class = "packet_hops", .total = {.group = "traffic"}},
    {.name = "tx_bytes", .unit = "bytes", SENT(tx_bytes), .points = TX,
     .help = "bytes of the frames that the port sent, without preamble, FCS and gap",
     .column = "tx_prio%u_bytes", .by_class = "byte_hops", .hottest = true,
     .total = {.group = "traffic"}},
    {.name = "rx_packets", .unit = "packets", RECEIVED(packets), .points = RX,
     .help = "number of frames that the port received, PFC frames too",
     .column = "rx_prio%u_packets", .total = {.group = "traffic"}},
    {.name = "rx_bytes", .unit = "bytes", RECEIVED(bytes), .points = RX,
     .help = "bytes of the frames that the port received, without preamble, FCS and gap",
     .column = "rx_prio%u_bytes", .total = {.group = "traffic"}},
    {.name = "tx_pause", .unit = "frames", RARE(pauses, pauses[0].tx_pause), .points = PFC_TX,
     .help = "number of PFC pauses that the port sent; a frame that stops two classes counts twice",
     .column = "tx_prio%u_pause", .by_class = "pause_frames",
     .total = {.group = "pfc", .field = "pfc.pause_frames", .label = "PFC pause frames",
               .line = "PFC", .words = "pauses", .swept = true}},
    {.name = "rx_pause", .unit = "frames", RARE(pauses, pauses[0].rx_pause), .points = PFC_RX,
     .help = "number of PFC pauses that the port received; a frame that stops two classes counts "
             "twice",
     .column = "rx_prio%u_pause", .hottest = true, .total = {.group = "pfc"}},
    {.name = "tx_resume", .unit = "frames", RARE(pauses, pauses[0].tx_resume), .points = PFC_TX,
     .help = "number of PFC releases that the port sent; a frame that releases two classes counts "
             "twice",
     .column = "tx_prio%u_resume", .by_class = "resume_frames",
     .total = {.group = "pfc", .field = "pfc.resume_frames", .line = "PFC", .words = "releases"}},
    {.name = "rx_resume", .unit = "frames", RARE(pauses, pauses[0].rx_resume), .points = PFC_RX,
     .help = "number of PFC releases that the port received; a frame that releases two classes "
             "counts twice",
     .column = "rx_prio%u_resume", .total = {.group = "pfc"}},
    {.name = "paused", .unit = "", .per_priority = true, .read = read_is_paused, .points = PAUSED,
     .help = "1 while the peer has stopped the class, else 0"},
    {.name = "paused_ps", .unit = "ps", .per_priority = true, .read = read_paused,
     .points = PAUSED,
     .help = "time during which the peer kept the class stopped, summed over classes",
     .column = "paused_prio%u_ns", .by_class = "paused_ps", .hottest = true,
     .total = {.group = "pfc", .field = "pfc.paused_ps", .label = "PFC time stopped, all ports",
               .line = "PFC", .words = "stopped (sum over ports and classes)"}},
    {.name = "ecn_marked", .unit = "packets", RARE(ecn_marked, ecn_marked[0]),
     .points = NET_TRACE_MARK,
     .help = "number of packets that got the ECN mark CE when they left the port's queue",
     .column = "ecn_marked_prio%u", .by_class = "ecn_marked", .hottest = true,
     .total = {.group = "ecn", .field = "ecn_marked", .label = "ECN marks",
               .line = "ECN", .words = "packets marked", .swept = true}},
    {.name = "ecn_marked_again", .unit = "packets", RARE(ecn_marked_again, ecn_marked_again[0]),
     .points = NET_TRACE_MARK,
     .help = "number of packets that the port would have marked CE, but an earlier hop had marked "
             "them",
     .column = "ecn_marked_again_prio%u",
     .total = {.group = "ecn", .field = "ecn_marked_again"}},
    {.name = "pfcwd_detected", .unit = "storms", RARE(watchdog, watchdog[0].detected),
     .points = NET_TRACE_WATCHDOG,
     .help = "number of times that the PFC watchdog found a class of the port stopped for too long",
     .column = "pfcwd_detected_prio%u", .total = {.group = "watchdog"}},
    {.name = "pfcwd_restored", .unit = "storms", RARE(watchdog, watchdog[0].restored),
     .points = NET_TRACE_WATCHDOG,
     .help = "number of times that a pause ended which the PFC watchdog had detected",
     .column = "pfcwd_restored_prio%u", .total = {.group = "watchdog"}},
    {.name = "pfcwd_dropped", .unit = "packets", RARE(watchdog, watchdog[0].dropped),
     .points = NET_TRACE_WATCHDOG | NET_TRACE_DROP,
     .help = "number of packets that the PFC watchdog dropped at the port",
     .column = "pfcwd_dropped_prio%u", .total = {.group = "watchdog"}},
    {.name = "trimmed", .unit = "packets", RARE(trimmed, trimmed[0]), .points = NET_TRACE_TRIM,
     .help = "number of packets that lost their payload at the port, by the class that they had "
             "before"},
    {.name = "discards", .unit = "packets", .read = read_discards, .points = NET_TRACE_DROP,
     .help = "number of packets dropped at the port, for any reason", .total = {.group = "drops"}},
    {.name = "discarded_bytes", .unit = "bytes", RARE_OF_PORT(dropped_bytes),
     .points = NET_TRACE_DROP,
     .help = "bytes of the frames dropped at the port, for any reason",
     .total = {.group = "drops"}},
    {.name = "utilisation", .unit = "1/1000000", .per_priority = true, .is_load = true,
     .read = net_port_busy_ps,
     .help = "share of the link's time that frames took, preamble to gap, since the sample before"},
    {.name = NULL},
};
#undef TX
#undef RX
#undef PAUSED
#undef PFC_RX
#undef PFC_TX
#undef SENT
#undef RECEIVED
#undef RARE
#undef RARE_OF_PORT
// clang-format on

static_assert(SIM_COUNT_OF(net_port_metrics) <= NET_PORT_METRICS_MAX, "rows");

static uint64_t read_field(const net_port_metric_t *metric, const net_port_t *port, uint32_t class)
{
    const char *base = (const char *)port->rare + class * metric->stride;
    if (metric->place == NET_COUNTER_SENT) {
        base = (const char *)port->classes[class];
    } else if (metric->place == NET_COUNTER_RECEIVED) {
        base = (const char *)port->received[class];
    }
    uint64_t value;
    memcpy(&value, base + metric->offset, sizeof(value));
    return value;
}

uint64_t net_port_metric_read(const net_port_metric_t *metric, const net_port_t *port,
                              uint8_t classes, sim_time_t time_ps)
{
    if (metric->read != NULL) {
        return metric->read(port, classes, time_ps);
    }
    if (!metric->per_priority) {
        return read_field(metric, port, 0);
    }
    uint64_t sum = 0;
    for (uint32_t left = classes; left != 0; left &= left - 1) {
        sum += read_field(metric, port, (uint32_t)__builtin_ctz(left));
    }
    return sum;
}

bool net_port_metric_read_classes(const net_port_metric_t *metric, const net_port_t *port,
                                  sim_time_t time_ps, uint64_t values[NET_PRIORITIES])
{
    SIM_CHECKF(metric->per_priority, "%s", metric->name);
    const bool often = metric->place == NET_COUNTER_SENT || metric->place == NET_COUNTER_RECEIVED;
    if (!often && !port->counted) {
        return false;
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        values[p] = metric->read != NULL ? metric->read(port, (uint8_t)(1u << p), time_ps)
                                         : read_field(metric, port, p);
    }
    return true;
}

const net_port_metric_t *net_port_metric_find(const char *name)
{
    for (const net_port_metric_t *m = net_port_metrics; m->name != NULL; m++) {
        if (strcmp(m->name, name) == 0) {
            return m;
        }
    }
    return NULL;
}
