// SPDX-License-Identifier: Apache-2.0
// net/link/port_fields.c - the fields of ports, a row each: what a port counts, how it is
// shown, and what fast-forward, ranks and the digest do with it.
#include <string.h>

#include "net/link/layer.h"
#include "net/port_metrics.h"
#include "net/port_pause.h"
#include "net/port_queue.h"

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

static uint64_t read_credits_used(const net_port_t *port, uint8_t classes, sim_time_t time_ps)
{
    uint64_t sum = 0;
    (void)time_ps;
    for (uint32_t p = 0; port->layered && p < NET_PRIORITIES; p++) {
        const net_vc_t *const vc = &port->rare->layer->vcs[p];
        sum += classes & (1u << p) ? vc->sent - vc->returned : 0;
    }
    return sum;
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
// Fields by class: of what a class sent, of what it received, of an array of net_port_rare_t.
// repeat_: how fast-forward repeats a change (SIM_REPEAT_). A span with FIXED ones is not repeated.
#define SENT(field_, repeat_, uses_) \
    .per_priority = true, .field = {SIM_FIELD_OF(net_class_t, field_, repeat_, repeat_, uses_), \
                                    .part = NET_PORT_SENT}
#define RECEIVED(field_, repeat_, uses_) \
    .per_priority = true, .field = {SIM_FIELD_OF(net_received_t, field_, repeat_, repeat_, uses_), \
                                    .part = NET_PORT_RECEIVED}
#define RARE_IN(array_, field_, repeat_, uses_) \
    .per_priority = true, .field = {SIM_FIELD_EACH_IN(net_port_rare_t, array_, field_, repeat_, \
                                                      repeat_, uses_), .part = NET_PORT_RARE}
#define RARE(array_, repeat_, uses_) RARE_IN(array_, array_[0], repeat_, uses_)
// One field of the port, of its rare part, of its meter.
#define ONE(type_, part_, field_, repeat_, uses_) \
    .field = {SIM_FIELD_OF(type_, field_, repeat_, repeat_, uses_), .part = (part_)}
#define OF_PORT(field_, repeat_, uses_) ONE(net_port_t, NET_PORT_ITSELF, field_, repeat_, uses_)
#define OF_RARE(field_, repeat_, uses_) ONE(net_port_rare_t, NET_PORT_RARE, field_, repeat_, uses_)
#define OF_METER(field_, repeat_) ONE(net_meter_t, NET_PORT_METER, field_, repeat_, 0)
#define FIXED_OF_PORT(field_) {OF_PORT(field_, FIXED, 0)}
#define FIXED_OF_RARE(field_) {OF_RARE(field_, FIXED, 0)}
#define BITS(type_, part_, before_, after_) \
    {.field = {SIM_FIELD_BETWEEN(type_, before_, after_, FIXED, 0), .part = (part_)}}
#define REST(type_, part_, last_) {.field = {SIM_FIELD_BEHIND(type_, last_), .part = (part_)}}
#define CARRIED SIM_CARRIED
#define DIGESTED SIM_DIGESTED

// The rows of a group stand together and in the order in which all show them. The digest takes
// fields in this order, too.
const net_port_metric_t net_port_metrics[] = {
    {.name = "queue_bytes", .unit = "bytes", .per_priority = true, .read = read_queue,
     .points = NET_TRACE_ENQUEUE | TX,
     .help = "bytes of the frames that wait in the port's queue"},
    {.name = "tx_packets", .unit = "packets", SENT(tx_packets, COUNT, CARRIED | DIGESTED), .points = TX,
     .help = "number of frames that the port sent, PFC frames too",
     .column = "tx_prio%u_packets", .by_class = "packet_hops", .total = {.group = "traffic"}},
    {.name = "tx_bytes", .unit = "bytes", SENT(tx_bytes, COUNT, CARRIED | DIGESTED), .points = TX,
     .help = "bytes of the frames that the port sent, without preamble, FCS and gap",
     .column = "tx_prio%u_bytes", .by_class = "byte_hops", .hottest = true,
     .total = {.group = "traffic"}},
    {.name = "rx_packets", .unit = "packets", RECEIVED(packets, COUNT, CARRIED), .points = RX,
     .help = "number of frames that the port received, PFC frames too",
     .column = "rx_prio%u_packets", .total = {.group = "traffic"}},
    {.name = "rx_bytes", .unit = "bytes", RECEIVED(bytes, COUNT, CARRIED | DIGESTED), .points = RX,
     .help = "bytes of the frames that the port received, without preamble, FCS and gap",
     .column = "rx_prio%u_bytes", .total = {.group = "traffic"}},
    {.name = "tx_pause", .unit = "frames", RARE_IN(pauses, pauses[0].tx_pause, FIXED, CARRIED), .points = PFC_TX,
     .help = "number of pause frames that the port sent, repetitions of a pause too; a frame that stops "
             "two classes counts twice",
     .column = "tx_prio%u_pause", .by_class = "pause_frames",
     .total = {.group = "pfc", .field = "pfc.pause_frames", .label = "PFC pause frames",
               .line = "PFC", .words = "pause frames", .swept = true}},
    {.name = "rx_pause", .unit = "frames", RARE_IN(pauses, pauses[0].rx_pause, FIXED, CARRIED | DIGESTED), .points = PFC_RX,
     .help = "number of pause frames that the port received, repetitions of a pause too; a frame that "
             "stops two classes counts twice",
     .column = "rx_prio%u_pause", .hottest = true, .total = {.group = "pfc"}},
    {.name = "tx_resume", .unit = "frames", RARE_IN(pauses, pauses[0].tx_resume, FIXED, CARRIED), .points = PFC_TX,
     .help = "number of PFC releases that the port sent; a frame that releases two classes counts "
             "twice",
     .column = "tx_prio%u_resume", .by_class = "resume_frames",
     .total = {.group = "pfc", .field = "pfc.resume_frames", .line = "PFC", .words = "resume frames"}},
    {.name = "rx_resume", .unit = "frames", RARE_IN(pauses, pauses[0].rx_resume, FIXED, CARRIED), .points = PFC_RX,
     .help = "number of PFC releases that the port received; a frame that releases two classes "
             "counts twice",
     .column = "rx_prio%u_resume", .total = {.group = "pfc"}},
    {.name = "pauses", .unit = "pauses", RARE_IN(pauses, pauses[0].pauses, FIXED, CARRIED), .points = PAUSED,
     .help = "number of times that PFC stopped a class of the port; a long pause takes several pause frames, "
             "and a frame that is withdrawn before it leaves stops nobody",
     .column = "pauses_prio%u", .by_class = "pauses",
     .total = {.group = "pfc", .field = "pfc.pauses", .label = "PFC pauses",
               .line = "PFC", .words = "pauses", .swept = true}},
    {.name = "paused", .unit = "", .per_priority = true, .read = read_is_paused, .points = PAUSED,
     .help = "1 while the peer has stopped the class, else 0"},
    {.name = "paused_ps", .unit = "ps", RARE_IN(pauses, pauses[0].paused_ps, FIXED, CARRIED | DIGESTED),
     .read = read_paused, .points = PAUSED,
     .help = "time during which the peer kept the class stopped, summed over classes",
     .column = "paused_prio%u_ns", .by_class = "paused_ps", .hottest = true,
     .total = {.group = "pfc", .field = "pfc.paused_ps", .label = "PFC time stopped, all ports",
               .line = "PFC", .words = "stopped (sum over ports and classes)"}},
    {.name = "ecn_marked", .unit = "packets", RARE(ecn_marked, COUNT, CARRIED | DIGESTED),
     .points = NET_TRACE_MARK, .digested_with_next = true,
     .help = "number of packets that got the ECN mark CE when they left the port's queue",
     .column = "ecn_marked_prio%u", .by_class = "ecn_marked", .hottest = true,
     .total = {.group = "ecn", .field = "ecn_marked", .label = "ECN marks",
               .line = "ECN", .words = "packets marked", .swept = true}},
    {.name = "ecn_marked_again", .unit = "packets", RARE(ecn_marked_again, COUNT, CARRIED | DIGESTED),
     .points = NET_TRACE_MARK,
     .help = "number of packets that the port would have marked CE, but an earlier hop had marked "
             "them",
     .column = "ecn_marked_again_prio%u",
     .total = {.group = "ecn", .field = "ecn_marked_again"}},
    {.name = "pfcwd_detected", .unit = "storms", RARE_IN(watchdog, watchdog[0].detected, FIXED, CARRIED),
     .points = NET_TRACE_WATCHDOG,
     .help = "number of times that the PFC watchdog found a class of the port stopped for too long",
     .column = "pfcwd_detected_prio%u", .total = {.group = "watchdog"}},
    {.name = "pfcwd_restored", .unit = "storms", RARE_IN(watchdog, watchdog[0].restored, FIXED, CARRIED),
     .points = NET_TRACE_WATCHDOG,
     .help = "number of times that a pause ended which the PFC watchdog had detected",
     .column = "pfcwd_restored_prio%u", .total = {.group = "watchdog"}},
    {.name = "pfcwd_dropped", .unit = "packets", RARE_IN(watchdog, watchdog[0].dropped, FIXED, CARRIED),
     .points = NET_TRACE_WATCHDOG | NET_TRACE_DROP,
     .help = "number of packets that the PFC watchdog dropped at the port",
     .column = "pfcwd_dropped_prio%u", .total = {.group = "watchdog"}},
    {.name = "trimmed", .unit = "packets", RARE(trimmed, FIXED, CARRIED), .points = NET_TRACE_TRIM,
     .help = "number of packets that lost their payload at the port, by the class that they had "
             "before"},
    {.name = "credit_waits", .unit = "waits", OF_RARE(credit_waits, FIXED, CARRIED),
     .help = "number of times that a virtual channel of the port had something to send and no "
             "credits for it",
     .total = {.group = "credits", .field = "credits.waits", .line = "credits", .words = "waits",
               .rare = true}},
    {.name = "credit_wait_ps", .unit = "ps", .column = "credit_wait_ns", OF_RARE(credit_wait_ps, FIXED, CARRIED),
     .help = "time during which the port had something to send and no credits for it, summed over "
             "virtual channels", .hottest = true,
     .total = {.group = "credits", .field = "credits.wait_ps",
               .label = "time that ports waited for credits", .line = "credits",
               .words = "waited for (sum over ports)", .rare = true}},
    {.name = "retries", .unit = "packets", OF_RARE(retries, FIXED, CARRIED),
     .help = "number of damaged packets that the port's link sent again",
     .total = {.group = "credits", .field = "retries.packets", .label = "retries of links",
               .line = "retries", .words = "packets sent again by links", .rare = true}},
    {.name = "retry_ps", .unit = "ps", .column = "retry_ns", OF_RARE(retry_ps, FIXED, CARRIED),
     .help = "time that the port's link lost to damaged packets",
     .total = {.group = "credits", .field = "retries.lost_ps", .line = "retries",
               .words = "lost by links", .rare = true}},
    {.name = "credits_used", .unit = "credits", .per_priority = true, .read = read_credits_used,
     .help = "number of CBFC credits of the peer that frames of the port occupy"},
    {.name = "credits_used_max", .unit = "credits", OF_RARE(layer_counters.credits_used_max, FIXED, CARRIED),
     .help = "maximum number of CBFC credits of the peer that frames of the port occupied at one "
             "time"},
    {.name = "credits_recovered", .unit = "credits", OF_RARE(layer_counters.credits_recovered, FIXED, CARRIED),
     .help = "number of CBFC credits that the port gave back after a CC_Update, for frames that "
             "were lost on the way to it",
     .total = {.group = "credits", .field = "credits.recovered", .rare = true}},
    {.name = "cf_tx", .unit = "messages", OF_RARE(layer_counters.cf_tx, FIXED, CARRIED),
     .help = "number of CF_Updates of CBFC that the port sent",
     .total = {.group = "credits", .field = "credits.cf_updates", .rare = true}},
    {.name = "cf_rx", .unit = "messages", OF_RARE(layer_counters.cf_rx, FIXED, CARRIED),
     .help = "number of CF_Updates of CBFC that the port received"},
    {.name = "cc_tx", .unit = "messages", OF_RARE(layer_counters.cc_tx, FIXED, CARRIED),
     .help = "number of CC_Updates of CBFC that the port sent",
     .total = {.group = "credits", .field = "credits.cc_updates", .rare = true}},
    {.name = "cc_rx", .unit = "messages", OF_RARE(layer_counters.cc_rx, FIXED, CARRIED),
     .help = "number of CC_Updates of CBFC that the port received"},
    {.name = "sets_lost", .unit = "messages", OF_RARE(layer_counters.sets_lost, FIXED, CARRIED),
     .help = "number of control ordered sets of the port that the link lost"},
    {.name = "llr_damaged", .unit = "packets", OF_RARE(layer_counters.llr_damaged, FIXED, CARRIED),
     .help = "number of frames of the port that were damaged and repeated by link layer retry"},
    {.name = "llr_replays", .unit = "replays", OF_RARE(layer_counters.llr_replays, FIXED, CARRIED),
     .help = "number of times that link layer retry began to repeat frames of the port",
     .total = {.group = "credits", .field = "retries.replays", .rare = true}},
    {.name = "llr_acks", .unit = "messages", OF_RARE(layer_counters.llr_acks, FIXED, CARRIED),
     .help = "number of acknowledgements of link layer retry that the port sent"},
    {.name = "llr_nacks", .unit = "messages", OF_RARE(layer_counters.llr_nacks, FIXED, CARRIED),
     .help = "number of negative acknowledgements of link layer retry that the port sent"},
    {.name = "discards", .unit = "packets", .read = read_discards,
     .field = {SIM_FIELD_EACH(net_port_rare_t, drops, FIXED, FIXED, CARRIED | DIGESTED), .part = NET_PORT_RARE},
     .points = NET_TRACE_DROP,
     .help = "number of packets dropped at the port, for any reason", .total = {.group = "drops"}},
    {.name = "discarded_bytes", .unit = "bytes", OF_RARE(dropped_bytes, FIXED, CARRIED),
     .points = NET_TRACE_DROP,
     .help = "bytes of the frames dropped at the port, for any reason",
     .total = {.group = "drops"}},
    {.name = "utilisation", .unit = "1/1000000", .per_priority = true, .is_load = true,
     .read = net_port_busy_ps,
     .help = "share of the link's time that frames took, preamble to gap, since the sample before"},

    // Fields that are not shown. Of a class of a sending port:
    {SENT(ring, IGNORE, 0)}, {SENT(head, IGNORE, 0)}, {SENT(tail, IGNORE, 0)},
    {SENT(stop, IGNORE, 0)}, {SENT(end, IGNORE, 0)}, {SENT(bytes, FIXED, CARRIED)},
    {SENT(bytes_max, MOST, CARRIED)}, REST(net_class_t, NET_PORT_SENT, tx_bytes),
    // of a class of a receiving port:
    {RECEIVED(stored_bytes, FIXED, CARRIED)}, {RECEIVED(crowded, FIXED, CARRIED)},
    // of what few ports need; a span with pauses, drops or losses is not repeated:
    {RARE_IN(pauses, pauses[0].paused_since_ps, FIXED, CARRIED)},
    {RARE(paused_until_ps, FIXED, CARRIED)},
    FIXED_OF_RARE(pause_timer), FIXED_OF_RARE(port), {OF_RARE(told_stop, FIXED, CARRIED)},
    {OF_RARE(knows_stop, FIXED, CARRIED)}, {OF_RARE(storms, FIXED, CARRIED)},
    {OF_RARE(stormed, FIXED, CARRIED)}, {OF_RARE(ignores_pauses, FIXED, CARRIED)},
    {OF_RARE(discards_stopped, FIXED, CARRIED)},
    {OF_RARE(stopped, FIXED, CARRIED)},
    BITS(net_port_rare_t, NET_PORT_RARE, stopped, layer_counters),
    {RARE(deficit_bytes, STATE, CARRIED)}, {OF_RARE(degraded_bps, FIXED, CARRIED)},
    {OF_RARE(random, FIXED, CARRIED)}, {OF_RARE(random_seeded, FIXED, CARRIED)},
    BITS(net_port_rare_t, NET_PORT_RARE, random_seeded, int_phase_ps),
    {OF_RARE(int_phase_ps, UNTIL, CARRIED)}, {OF_RARE(draw, NUMBER, CARRIED)},
    {OF_RARE(draw_ps, UNTIL, CARRIED)}, FIXED_OF_RARE(tap), FIXED_OF_RARE(control),
    FIXED_OF_RARE(loss), FIXED_OF_RARE(layer), FIXED_OF_RARE(next_down_ps), FIXED_OF_RARE(is_lost_on_arrival),
    FIXED_OF_RARE(arrival_loss_ctx),
    // of the port itself:
    FIXED_OF_PORT(channel), {OF_PORT(busy_until_ps, UNTIL, CARRIED)},
    FIXED_OF_PORT(delay_less_gap_ps), FIXED_OF_PORT(node), FIXED_OF_PORT(classes),
    FIXED_OF_PORT(received), FIXED_OF_PORT(ps_per_byte), FIXED_OF_PORT(index),
    FIXED_OF_PORT(trace_points), {OF_PORT(paused, FIXED, CARRIED)}, FIXED_OF_PORT(special),
    FIXED_OF_PORT(controlled), FIXED_OF_PORT(overhead_bytes), {OF_PORT(waiting, FIXED, CARRIED)},
    FIXED_OF_PORT(wake_pending), BITS(net_port_t, NET_PORT_ITSELF, wake_pending, turn),
    {OF_PORT(turn, STATE, 0)}, FIXED_OF_PORT(peer), FIXED_OF_PORT(rare), FIXED_OF_PORT(line),
    {OF_PORT(remainder, LAST, 0)}, // of a busy period
    FIXED_OF_PORT(meter),
    {.field = {SIM_FIELD_BETWEEN(net_port_t, meter, uid, MOST_AND_FLAG, CARRIED),
               .part = NET_PORT_ITSELF}}, // several_bytes_max and counted
    FIXED_OF_PORT(uid), FIXED_OF_PORT(interface), FIXED_OF_PORT(link), FIXED_OF_PORT(strict),
    FIXED_OF_PORT(long_queues), {OF_PORT(disturbed, FIXED, CARRIED)},
    REST(net_port_t, NET_PORT_ITSELF, disturbed),
    // of its meter:
    {OF_METER(tx_bytes, COUNT)}, {OF_METER(before_ps, FIXED)}, {OF_METER(utilization, FIXED)},
    {OF_METER(per_byte, FIXED)}, {OF_METER(random, FIXED)}, {OF_METER(pint, FIXED)},
    {OF_METER(multiplier, FIXED)}, {OF_METER(switch_id, FIXED)}, {OF_METER(rate_code, FIXED)},
    {OF_METER(reserved_hops, FIXED)}, {OF_METER(last_bytes, FIXED)},
    REST(net_meter_t, NET_PORT_METER, last_bytes),
};
// clang-format on

#define TABLE(part_, name_, type_)                          \
    [part_] = {.name = (name_),                             \
               .bytes = sizeof(type_),                      \
               .part = (part_),                             \
               .rows = net_port_metrics,                    \
               .row_count = SIM_COUNT_OF(net_port_metrics), \
               .row_bytes = sizeof(net_port_metric_t)}
const sim_fields_t net__port_tables[NET_PORT_PARTS] = {
    TABLE(NET_PORT_ITSELF, "port", net_port_t),
    TABLE(NET_PORT_SENT, "queue of a port", net_class_t),
    TABLE(NET_PORT_RECEIVED, "received class of a port", net_received_t),
    TABLE(NET_PORT_RARE, "pauses or drops at a port", net_port_rare_t),
    TABLE(NET_PORT_METER, "INT of a port", net_meter_t),
};
static_assert(offsetof(net_port_metric_t, field) == 0, "a row begins with the field");

// -- digest

// Zeros that stand for the counters of a port that has none yet.
static const net_port_rare_t no_rare;
static const net_class_t no_sent;
static const net_received_t no_received;

// Returns the value of a counter of one class.
static uint64_t read_field(const net_port_metric_t *metric, const net_class_t *sent,
                           const net_received_t *received, const net_port_rare_t *rare,
                           uint32_t class)
{
    const sim_field_t *const field = &metric->field;
    const char *const base = field->part == NET_PORT_SENT ? (const char *)sent
                             : field->part == NET_PORT_RECEIVED
                                 ? (const char *)received
                                 : (const char *)rare + class * field->stride;
    uint64_t value;
    memcpy(&value, base + field->offset, sizeof(value));
    return value;
}

#define DIGESTED_MAX 16u

// A row of the digest, in few bytes.
typedef struct digested {
    uint32_t part;
    uint32_t offset;
    uint32_t stride; // of the classes
    bool with_next;  // net_port_metric_t.digested_with_next
} digested_t;

static void digest_port(const net_port_t *port, const digested_t *rows, uint32_t row_count,
                        sim_digest_t *digest)
{
    const bool untouched = net_port_untouched(port);
    const net_port_rare_t *const rare = port->counted ? port->rare : &no_rare;
    const char *parts[NET_PORT_PARTS] = {[NET_PORT_RARE] = (const char *)rare};
    for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
        parts[NET_PORT_SENT] = (const char *)(untouched ? &no_sent : port->classes[c]);
        parts[NET_PORT_RECEIVED] = (const char *)(untouched ? &no_received : port->received[c]);
        uint64_t before = 0;
        for (const digested_t *row = rows; row != rows + row_count; row++) {
            uint64_t value;
            memcpy(&value, parts[row->part] + row->offset + c * row->stride, sizeof(value));
            value += before;
            before = row->with_next ? value : 0;
            if (!row->with_next) {
                sim_digest_add(digest, value);
            }
        }
    }
    for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
        if (r < NET_DROP_WATCHDOG || rare->drops[r] > 0) {
            sim_digest_add(digest, rare->drops[r]);
        }
    }
}

void net_node_digest(const net_node_t *node, sim_digest_t *digest)
{
    digested_t rows[DIGESTED_MAX];
    uint32_t count = 0;
    for (size_t r = 0; r < SIM_COUNT_OF(net_port_metrics); r++) {
        const net_port_metric_t *const metric = &net_port_metrics[r];
        if (metric->per_priority && (metric->field.uses & SIM_DIGESTED) != 0) {
            SIM_CHECK(count < DIGESTED_MAX);
            rows[count++] = (digested_t){
                .part = metric->field.part,
                .offset = metric->field.offset,
                .stride = metric->field.part == NET_PORT_RARE ? metric->field.stride : 0,
                .with_next = metric->digested_with_next,
            };
        }
    }
    for (uint32_t p = 0; p < node->port_count; p++) {
        digest_port(&node->ports[p], rows, count, digest);
    }
}

// -- metrics

static uint64_t read_metric(const net_port_metric_t *metric, const net_port_t *port, uint32_t class)
{
    return read_field(metric, port->classes[class], port->received[class], port->rare, class);
}

uint64_t net_port_metric_read(const net_port_metric_t *metric, const net_port_t *port,
                              uint8_t classes, sim_time_t time_ps)
{
    if (metric->read != NULL) {
        return metric->read(port, classes, time_ps);
    }
    if (!metric->per_priority) {
        return read_metric(metric, port, 0);
    }
    uint64_t sum = 0;
    for (uint32_t left = classes; left != 0; left &= left - 1) {
        sum += read_metric(metric, port, (uint32_t)__builtin_ctz(left));
    }
    return sum;
}

bool net_port_metric_read_classes(const net_port_metric_t *metric, const net_port_t *port,
                                  sim_time_t time_ps, uint64_t values[NET_PRIORITIES])
{
    SIM_CHECKF(metric->per_priority, "%s", metric->name);
    const bool often =
        metric->field.part == NET_PORT_SENT || metric->field.part == NET_PORT_RECEIVED;
    if (!often && !port->counted) {
        return false;
    }
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        values[p] = metric->read != NULL ? metric->read(port, (uint8_t)(1u << p), time_ps)
                                         : read_metric(metric, port, p);
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
