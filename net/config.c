// SPDX-License-Identifier: Apache-2.0
// net/config.c - the attributes of networks, links and switches.
#include "net/config.h"
#include "net/switch.h"
#include "net/telemetry.h"

// clang-format off
static const sim_attr_t network_attrs[] = {
    SIM_ATTR("network.model", ENUM, net_config_t, model,
             .default_text = "packet", .choices = "packet|message",
             .help = "unit that moves through the network; packet: frames with headers through "
                     "switches with buffers, pauses and marks; message: whole requests and "
                     "answers of traffic.herd through one queue at each link, nothing else"),
    SIM_ATTR("network.message-overhead", BYTES, net_config_t, message_overhead_bytes,
             .default_text = "1", .min_text = "1", .max_text = "1KiB",
             .help = "bytes that a message occupies on links besides its payload, with "
                     "network.model: message; an answer without payload has these alone"),
    SIM_ATTR("network.forwarding", ENUM, net_config_t, forwarding,
             .default_text = "routed", .choices = "routed|switched",
             .help = "routed: each switch decrements the TTL and rewrites MAC addresses; "
                     "switched: frames stay as they are"),
    SIM_ATTR("network.ipv6", BOOL, net_config_t, ipv6,
             .default_text = "false",
             .help = "true: RoCEv2 runs over IPv6; false: over IPv4"),
    SIM_ATTR("network.tagged", BOOL, net_config_t, tagged,
             .default_text = "false",
             .help = "true: data frames carry an 802.1Q tag with the class as PCP, 4 bytes more "
                     "on the wire"),
    SIM_ATTR("network.vlan", COUNT, net_config_t, vlan_id,
             .default_text = "1", .min_text = "0", .max_text = "4094",
             .help = "VLAN id in the tag of data frames, with network.tagged"),
    SIM_ATTR("network.convergence", TIME, net_config_t, convergence_ps,
             .default_text = "10ms", .min_text = "0ps", .max_text = "10s",
             .help = "time from a link change to the new routes; until then only the ends of the "
                     "link avoid it"),
    SIM_ATTR("network.draws", ENUM, net_config_t, draws,
             .default_text = "stream", .choices = "stream|packet",
             .help = "source of random marks and losses; stream: a random stream of the port; "
                     "packet: a hash of port and packet, so that a collective that repeats after a "
                     "rest of 10us sees the same ones (docs/models/fast-forward.md)"),
    SIM_ATTR("network.trim-dscp", COUNT, net_config_t, trim_dscp,
             .default_text = "48", .min_text = "0", .max_text = "63",
             .help = "DSCP TRIMMED, which a packet gets that is trimmed between switches; its class "
                     "is DSCP / 8"),
    SIM_ATTR("network.trim-last-hop-dscp", COUNT, net_config_t, trim_last_hop_dscp,
             .default_text = "49", .min_text = "0", .max_text = "63",
             .help = "DSCP TRIMMED_LASTHOP, which a packet gets that is trimmed at the port of its "
                     "destination; its class is DSCP / 8"),
    SIM_ATTR("network.int-multiplier", COUNT, net_config_t, int_multiplier,
             .default_text = "1", .min_text = "1", .max_text = "1024",
             .help = "factor of INT's units, 128 bytes (sent) and 80 bytes (queued); larger "
                     "values let its counters wrap later"),
    SIM_ATTR("network.int-reserved-hops", COUNT, net_config_t, int_reserved_hops,
             .default_text = "0", .min_text = "0", .max_text = "14",
             .help = "number of INT records for which packets have room from the start; further "
                     "records make the frame longer"),
    SIM_ATTR("network.pint-base", RATIO, net_config_t, pint_base,
             .default_text = "1.05", .min_text = NET_PINT_BASE_LEAST, .max_text = "2",
             .help = "ratio of neighbouring values of a PINT digest; below 1.045 a digest takes "
                     "two bytes"),
    SIM_ATTR("network.pint-rtt", TIME, net_config_t, pint_rtt_ps,
             .default_text = "13us", .min_text = "1ns", .max_text = "10s",
             .help = "T of PINT's utilization in the switches, about the network's round-trip "
                     "time without queues; default from the PINT paper"),
    SIM_ATTR("network.load-balancer", NAME, net_config_t, balance,
             .default_text = "ecmp",
             .help = "rule that chooses among equal paths where switch.load-balancing is network; "
                     "ecmp: by a hash of the flow, different at each switch; hpcc: as the HPCC "
                     "simulator; others: docs/models/load-balancing.md; or a program's own"),
    SIM_ATTR("network.routes", NAME, net_config_t, routes,
             .default_text = "shortest",
             .help = "rule for equal paths and their order; shortest: in the order of ports; "
                     "hpcc: shortest, in the HPCC simulator's order; or a program's own"),
    SIM_ATTR("network.timing", NAME, net_config_t, timing,
             .default_text = "exact",
             .help = "rounding of a frame's time on a link; exact: keeps the remainder; hpcc: cut "
                     "to whole nanoseconds; or a program's own"),
    SIM_ATTR("network.framing", NAME, net_config_t, framing,
             .default_text = "ethernet",
             .help = "bytes around a frame that take time on links; ethernet: preamble, FCS and "
                     "gap; bare: none; hpcc: none, and PFC frames of 43 bytes; or a program's own"),
};

static const sim_attr_t link_attrs[] = {
    SIM_ATTR("link.rate", RATE, net_link_config_t, rate_bps,
             .default_text = "100Gbps", .min_text = "1Kbps", .max_text = "100Tbps",
             .help = "rate of the link in each direction"),
    SIM_ATTR("link.backward-rate", RATE, net_link_config_t, backward_bps,
             .auto_ok = true, .default_text = "auto", .min_text = "1Kbps", .max_text = "100Tbps",
             .help = "rate of the frames that are sent by the node that the link names second; "
                     "auto: link.rate"),
    SIM_ATTR("link.delay", TIME, net_link_config_t, delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "propagation delay of the link, one way"),
    SIM_ATTR("link.loss-rate", RATIO, net_link_config_t, loss_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "share of frames lost, in the pattern of link.loss-model"),
    SIM_ATTR("link.bit-error-rate", RATIO, net_link_config_t, bit_error_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "probability that a bit is wrong; a frame with a wrong bit is lost"),
    SIM_ATTR("link.loss-model", ENUM, net_link_config_t, loss_model,
             .default_text = "independent",
             .choices = "independent|bursts|high-frequency|amazon|google|microsoft|gilbert-elliott",
             .help = "pattern of the losses of link.loss-rate; independent: each frame by itself; "
                     "others: in events (docs/models/loss.md)"),
    SIM_ATTR("link.loss-packets", ENUM, net_link_config_t, loss_packets,
             .default_text = "all", .choices = "all|data",
             .help = "frames that are lost, reordered and duplicated; all: every frame; data: "
                     "frames with a payload"),
    SIM_ATTR("link.loss-direction", ENUM, net_link_config_t, loss_direction,
             .default_text = "both", .choices = "both|forward|backward",
             .help = "direction that loses, reorders and duplicates; forward: frames sent by the "
                     "node that the link names first"),
    SIM_ATTR("link.loss-burst", COUNT, net_link_config_t, loss_burst,
             .default_text = "15", .min_text = "1", .max_text = "100000",
             .help = "number of frames of a loss event; bursts: a fifth more or less; "
                     "high-frequency: some of these are lost; gilbert-elliott: mean length of the "
                     "bad state"),
    SIM_ATTR("link.loss-bad-rate", RATIO, net_link_config_t, loss_bad_rate,
             .default_text = "1", .min_text = "0", .max_text = "1",
             .help = "share of frames lost in the bad state of gilbert-elliott"),
    SIM_ATTR("link.reorder-rate", RATIO, net_link_config_t, reorder_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "share of frames that are held back by link.reorder-delay"),
    SIM_ATTR("link.reorder-delay", TIME, net_link_config_t, reorder_delay_ps,
             .default_text = "5us", .min_text = "1ns", .max_text = "1s",
             .help = "time for which a reordered frame is held back"),
    SIM_ATTR("link.duplicate-rate", RATIO, net_link_config_t, duplicate_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "share of frames that arrive a second time"),
    SIM_ATTR("link.headroom", BYTES, net_link_config_t, headroom_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "1", .max_text = "64GB",
             .help = "headroom of each lossless class at the switch that the link names second, in "
                     "place of its switch.pfc.headroom; auto: that one"),
    SIM_ATTR("link.backward-headroom", BYTES, net_link_config_t, backward_headroom_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "1", .max_text = "64GB",
             .help = "headroom of each lossless class at the switch that the link names first, in "
                     "place of its switch.pfc.headroom; auto: that one"),
    SIM_ATTR("link.flow-control", ENUM, net_link_config_t, flow_control,
             .default_text = "pfc", .choices = "pfc|cbfc|none",
             .help = "how a receiver holds back lossless classes; pfc: by pauses; "
                     "cbfc: by the credits of Ultra Ethernet (docs/models/link-layer.md); none: not at all"),
    SIM_ATTR("link.cbfc.credit-size", BYTES, net_link_config_t, credit_bytes,
             .default_text = "128", .min_text = "32", .max_text = "2048",
             .help = "bytes of the receiver's buffer that a credit stands for, a power of two; a "
                     "frame takes whole credits for itself and its FCS"),
    SIM_ATTR("link.cbfc.credits", COUNT, net_link_config_t, credits,
             .auto_ok = true, .default_text = "auto", .min_text = "1", .max_text = "32767",
             .help = "number of credits of each class in each direction; auto: as many as the link "
                     "needs for its full rate"),
    SIM_ATTR("link.cbfc.update-spacing", BYTES, net_link_config_t, cf_spacing_bytes,
             .default_text = "6400", .min_text = "800", .max_text = "1MB",
             .help = "minimum link time between two CF_Updates, in bytes"),
    SIM_ATTR("link.cbfc.repeat-spacing", BYTES, net_link_config_t, cf_repeat_bytes,
             .default_text = "256KiB", .min_text = "16KiB", .max_text = "1MiB",
             .help = "link time after which a CF_Update that may have been lost is repeated, in "
                     "bytes"),
    SIM_ATTR("link.cbfc.sync-interval", TIME, net_link_config_t, cc_interval_ps,
             .default_text = "256us", .min_text = "1us", .max_text = "250ms",
             .help = "time between two CC_Updates while credits are in use, which make good the "
                     "credits of lost frames"),
    SIM_ATTR("link.llr.enabled", BOOL, net_link_config_t, llr_enabled,
             .default_text = "false",
             .help = "true: the link repeats damaged frames by itself, by the link layer retry of "
                     "Ultra Ethernet (docs/models/link-layer.md)"),
    SIM_ATTR("link.llr.replay-buffer", BYTES, net_link_config_t, llr_buffer_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "8KB", .max_text = "64MB",
             .help = "bytes of frames that wait for an acknowledgement of the link's other end; "
                     "auto: as many as the link needs for its full rate"),
    SIM_ATTR("link.llr.replay-timer", TIME, net_link_config_t, llr_timer_ps,
             .auto_ok = true, .default_text = "auto", .min_text = "100ns", .max_text = "10ms",
             .help = "time without an acknowledgement after which frames are repeated; auto: three "
                     "round trips of the link and 500 ns"),
    SIM_ATTR("link.llr.ack-spacing", BYTES, net_link_config_t, llr_spacing_bytes,
             .default_text = "2048", .min_text = "400", .max_text = "16384",
             .help = "minimum link time between two acknowledgements of link layer retry, in bytes"),
};

static const sim_attr_t switch_attrs[] = {
    SIM_ATTR("switch.mmu", NAME, net_switch_config_t, mmu,
             .default_text = "standard",
             .help = "rules of buffer and pauses; standard: docs/models/switch.md; hpcc: those of "
                     "the HPCC simulator, including turns of classes; virtual-channels: as "
                     "standard, with a class more at each switch; trimming: as standard, and full "
                     "queues cut packets to headers (switch.trim); or a program's own"),
    SIM_ATTR("switch.virtual-channels", COUNT, net_switch_config_t, virtual_channels,
             .default_text = "4", .min_text = "1", .max_text = "6",
             .help = "maximum number of switches on a path with switch.mmu virtual-channels: "
                     "packets leave the first one in class 1, the second in class 2 and so on"),
    SIM_ATTR("switch.buffer", BYTES, net_switch_config_t, buffer_bytes,
             .default_text = "32MB", .min_text = "1KB", .max_text = "64GB",
             .help = "packet memory of the whole switch: shared, reserved and headroom together"),
    SIM_ATTR("switch.pfc.enabled", BOOL, net_switch_config_t, pfc_enabled,
             .default_text = "true",
             .help = "true: priority flow control (IEEE 802.1Qbb) protects the classes of "
                     "switch.pfc.priorities"),
    SIM_ATTR("switch.pfc.priorities", PRIORITIES, net_switch_config_t, pfc_priorities,
             .default_text = "[3]",
             .help = "classes that PFC makes lossless"),
    SIM_ATTR("switch.pfc.alpha", RATIO, net_switch_config_t, pfc_alpha,
             .default_text = "1/8", .min_text = "1/1024", .max_text = "64",
             .help = "XOFF is sent when an ingress (port, class) uses more shared buffer than "
                     "alpha x the free part; larger values pause later"),
    SIM_ATTR("switch.pfc.threshold", BYTES, net_switch_config_t, pfc_threshold_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "64GB",
             .help = "fixed XOFF threshold in place of switch.pfc.alpha; auto: the dynamic "
                     "threshold"),
    SIM_ATTR("switch.pfc.xon-offset", BYTES, net_switch_config_t, pfc_xon_bytes,
             .default_text = "3KiB", .min_text = "0", .max_text = "64GB",
             .help = "XON is sent when use has fallen this far below the XOFF threshold; larger "
                     "values make pauses longer"),
    SIM_ATTR("switch.pfc.reserved", BYTES, net_switch_config_t, pfc_reserved_bytes,
             .default_text = "4KiB", .min_text = "0", .max_text = "64GB",
             .help = "buffer of each lossless (port, class) that is used before the shared part"),
    SIM_ATTR("switch.pfc.headroom", BYTES, net_switch_config_t, pfc_headroom_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "64GB",
             .help = "buffer of each lossless (port, class) for packets that arrive after XOFF; "
                     "auto: computed from rate, delay, MTU and response"),
    SIM_ATTR("switch.pfc.headroom-pool", BYTES, net_switch_config_t, headroom_pool_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "64GB",
             .help = "bytes that the headroom of all (port, class) of the switch may hold together; "
                     "auto: each one has its headroom in full"),
    SIM_ATTR("switch.pfc.response", TIME, net_switch_config_t, pfc_response_ps,
             .auto_ok = true, .default_text = "auto", .min_text = "0ps", .max_text = "1ms",
             .help = "time that the peer may take to obey a pause, for the headroom; auto: the "
                     "maximum of IEEE 802.3 31B.3.7 at the rate"),
    SIM_ATTR("switch.pfc.quanta", COUNT, net_switch_config_t, pfc_quanta,
             .default_text = "65535", .min_text = "1", .max_text = "65535",
             .help = "pause time in an XOFF frame, in units of 512 bit times; a pause is repeated "
                     "after half of it"),
    SIM_ATTR("switch.pfc.watchdog", ENUM, net_switch_config_t, pfc_watchdog,
             .default_text = "off", .choices = "off|drop|ignore",
             .help = "reaction to a pause that lasts; drop: the waiting packets are dropped; "
                     "ignore: the pause has no effect; off: none"),
    SIM_ATTR("switch.pfc.watchdog-detect", TIME, net_switch_config_t, watchdog_detect_ps,
             .default_text = "200ms", .min_text = "1us", .max_text = "100s",
             .help = "time after which a pause with packets waiting triggers the PFC watchdog"),
    SIM_ATTR("switch.pfc.watchdog-restore", TIME, net_switch_config_t, watchdog_restore_ps,
             .default_text = "200ms", .min_text = "1us", .max_text = "100s",
             .help = "time without a pause frame after which the PFC watchdog restores the class"),
    SIM_ATTR("switch.lossy-alpha", RATIO, net_switch_config_t, lossy_alpha,
             .default_text = "1", .min_text = "1/1024", .max_text = "64",
             .help = "a lossy egress queue may use at most alpha x the free shared buffer; larger "
                     "values allow longer queues"),
    SIM_ATTR("switch.trim.enabled", BOOL, net_switch_config_t, trim_enabled,
             .default_text = "true",
             .help = "true: with switch.mmu trimming, a packet of Ultra Ethernet or MRC that finds "
                     "its queue full loses its payload; false: it is dropped"),
    SIM_ATTR("switch.trim.priorities", PRIORITIES, net_switch_config_t, trim_priorities,
             .default_text = "[1]",
             .help = "classes whose queues have the limit switch.trim.queue and whose packets are "
                     "trimmed; none of them may be lossless"),
    SIM_ATTR("switch.trim.queue", BYTES, net_switch_config_t, trim_queue_bytes,
             .default_text = "150KB", .min_text = "1KB", .max_text = "64GB",
             .help = "maximum length of a queue of the trimmed classes, about one bandwidth-delay "
                     "product; of a 100 Gbps port if switch.trim.scale is true"),
    SIM_ATTR("switch.trim.headers-queue", BYTES, net_switch_config_t, trim_headers_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "1KB", .max_text = "64GB",
             .help = "maximum length of a queue of the class of trimmed packets; auto: twice "
                     "switch.trim.queue"),
    SIM_ATTR("switch.trim.scale", BOOL, net_switch_config_t, trim_scale,
             .default_text = "true",
             .help = "true: switch.trim.queue and headers-queue are multiplied by the port's rate "
                     "/ 100 Gbps"),
    SIM_ATTR("switch.trim.bytes", BYTES, net_switch_config_t, trim_bytes,
             .default_text = "128", .min_text = "60", .max_text = "4096",
             .help = "length of the frame that is left of a trimmed packet, without FCS; its headers "
                     "stay whole"),
    SIM_ATTR("switch.trim.victim", ENUM, net_switch_config_t, trim_victim,
             .default_text = "arriving", .choices = "arriving|either",
             .help = "packet that is trimmed at a full queue, or dropped without trimming; "
                     "arriving: the one that arrives; either: that one or the last in the queue, "
                     "by the toss of a coin"),
    SIM_ATTR("switch.marking", NAME, net_switch_config_t, marking,
             .default_text = "red",
             .help = "rule that decides on ECN marks; red: by the attributes switch.ecn; or a "
                     "program's own"),
    SIM_ATTR("switch.ecn.enabled", BOOL, net_switch_config_t, ecn_enabled,
             .default_text = "true",
             .help = "true: RED on the egress queue marks packets with CE"),
    SIM_ATTR("switch.ecn.last-hop", BOOL, net_switch_config_t, ecn_last_hop,
             .default_text = "true",
             .help = "true: ports to hosts mark, too; false: they do not, where receivers "
                     "control these links themselves"),
    SIM_ATTR("switch.ecn.priorities", PRIORITIES, net_switch_config_t, ecn_priorities,
             .default_text = "[0, 1, 2, 3, 4, 5, 6, 7]",
             .help = "classes whose packets are marked with CE"),
    SIM_ATTR("switch.ecn.mark-at", ENUM, net_switch_config_t, ecn_mark_at,
             .default_text = "dequeue", .choices = "dequeue|enqueue",
             .help = "queue length that decides on a mark; dequeue: the bytes that a packet "
                     "leaves behind; enqueue: the bytes that it finds"),
    SIM_ATTR("switch.ecn.kmin", BYTES, net_switch_config_t, ecn_kmin_bytes,
             .default_text = "400KB", .min_text = "0", .max_text = "4GB",
             .help = "queue length up to which no packet is marked; of a 100 Gbps port if "
                     "switch.ecn.scale is true"),
    SIM_ATTR("switch.ecn.kmax", BYTES, net_switch_config_t, ecn_kmax_bytes,
             .default_text = "1600KB", .min_text = "0", .max_text = "4GB",
             .help = "queue length above which every packet is marked; of a 100 Gbps port if "
                     "switch.ecn.scale is true"),
    SIM_ATTR("switch.ecn.pmax", RATIO, net_switch_config_t, ecn_pmax,
             .default_text = "0.2", .min_text = "0", .max_text = "1",
             .help = "probability of a mark at a queue of switch.ecn.kmax; it rises linearly from "
                     "switch.ecn.kmin on"),
    SIM_ATTR("switch.ecn.scale", BOOL, net_switch_config_t, ecn_scale,
             .default_text = "true",
             .help = "true: switch.ecn.kmin and kmax are multiplied by the port's rate / 100 Gbps"),
    SIM_ATTR("switch.ecn.profiles", PROFILES, net_switch_config_t, ecn_profiles,
             .default_text = "[]",
             .help = "kmin, kmax and pmax for ports of given rates, not scaled, in place of "
                     "switch.ecn.kmin, kmax and pmax: rows of rate kmin kmax pmax"),
    SIM_ATTR("switch.trust", ENUM, net_switch_config_t, trust,
             .default_text = "dscp", .choices = "dscp|pcp",
             .help = "field that sets the class of a packet; dscp: DSCP / 8; pcp: the PCP of the "
                     "802.1Q tag"),
    SIM_ATTR("switch.strict-priorities", PRIORITIES, net_switch_config_t, strict_priorities,
             .default_text = "[6, 7]",
             .help = "classes that are served before all others, the highest number first"),
    SIM_ATTR("switch.weights", WEIGHTS, net_switch_config_t, weights,
             .default_text = "1", .min_text = "1", .max_text = "255",
             .help = "weights of the classes that are not strict in deficit weighted round robin"),
    SIM_ATTR("switch.ecmp-seed", COUNT, net_switch_config_t, ecmp_seed,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "4294967295",
             .help = "seed of the ECMP hash; auto: a different one for every switch"),
    SIM_ATTR("switch.load-balancing", NAME, net_switch_config_t, balance.name,
             .default_text = "network",
             .help = "rule by which the switch chooses among equal paths; network: that of "
                     "network.load-balancer; others: docs/models/load-balancing.md, or a "
                     "program's own"),
    SIM_ATTR("switch.ecmp.fields", ENUM, net_switch_config_t, balance.ecmp_fields,
             .default_text = "five-tuple", .choices = "five-tuple|addresses|entropy",
             .help = "header fields in the hash of ecmp and wecmp; five-tuple: addresses and UDP "
                     "ports; addresses: these alone; entropy: the UDP source port alone"),
    SIM_ATTR("switch.ecmp.symmetric", BOOL, net_switch_config_t, balance.ecmp_symmetric,
             .default_text = "false",
             .help = "true: the hash of ecmp and wecmp ignores the order of the two addresses, so "
                     "both directions with equal UDP source ports take the same hash"),
    SIM_ATTR("switch.ecmp.dscp", BOOL, net_switch_config_t, balance.ecmp_dscp,
             .default_text = "false",
             .help = "true: the hash of ecmp and wecmp includes the DSCP"),
    SIM_ATTR("switch.ecmp.destination-qp", BOOL, net_switch_config_t, balance.ecmp_destination_qp,
             .default_text = "false",
             .help = "true: the hash of ecmp and wecmp includes the BTH's destination queue pair"),
    SIM_ATTR("switch.adaptive.by", ENUM, net_switch_config_t, balance.adaptive_by,
             .default_text = "exact", .choices = "exact|grades",
             .help = "measure of a port with adaptive; exact: its bytes; grades: below 5, 10 or 20 "
                     "% of switch.adaptive.full, or above"),
    SIM_ATTR("switch.adaptive.full", BYTES, net_switch_config_t, balance.adaptive_full_bytes,
             .default_text = "1MB", .min_text = "1KB", .max_text = "64GB",
             .help = "bytes at a port that count as 100 % for the grades of switch.adaptive.by"),
    SIM_ATTR("switch.adaptive.refresh", TIME, net_switch_config_t, balance.adaptive_refresh_ps,
             .default_text = "100ns", .min_text = "0ps", .max_text = "1s",
             .help = "shortest time between two readings of all grades of a switch"),
    SIM_ATTR("switch.adaptive.hashed-below", BYTES, net_switch_config_t,
             balance.adaptive_hashed_bytes,
             .default_text = "100", .min_text = "0", .max_text = "64KB",
             .help = "frames below this size, such as ACKs, take the port of their hash with "
                     "adaptive"),
    SIM_ATTR("switch.adaptive.gap", TIME, net_switch_config_t, balance.adaptive_gap_ps,
             .default_text = "0ps", .min_text = "0ps", .max_text = "1s",
             .help = "pause of a flow after which adaptive may move it, by the toss of a coin, to "
                     "a strictly better port; 0: adaptive chooses for each packet"),
    SIM_ATTR("switch.drill.samples", COUNT, net_switch_config_t, balance.drill_samples,
             .default_text = "2", .min_text = "1", .max_text = "64",
             .help = "number of random ports that drill compares for each packet: d of DRILL(d, "
                     "m)"),
    SIM_ATTR("switch.drill.memory", COUNT, net_switch_config_t, balance.drill_memory,
             .default_text = "1", .min_text = "0", .max_text = "16",
             .help = "number of best ports of the decision before that drill compares, too, by "
                     "destination leaf: m of DRILL(d, m)"),
    SIM_ATTR("switch.letflow.gap", TIME, net_switch_config_t, balance.letflow_gap_ps,
             .default_text = "100us", .min_text = "0ps", .max_text = "1s",
             .help = "pause of a flow after which letflow draws a new random port"),
    SIM_ATTR("switch.conga.rules", ENUM, net_switch_config_t, balance.conga_rules,
             .default_text = "paper", .choices = "paper|conweave-ns3",
             .help = "paper: all packets carry feedback, about the next path with news; "
                     "conweave-ns3: as in the simulator of ConWeave, packets with payload alone, "
                     "about a random path that is known; a flowlet may leave an equal path"),
    SIM_ATTR("switch.conga.gap", TIME, net_switch_config_t, balance.conga_gap_ps,
             .default_text = "100us", .min_text = "0ps", .max_text = "1s",
             .help = "pause of a flow after which conga chooses its path anew"),
    SIM_ATTR("switch.conga.dre-interval", TIME, net_switch_config_t, balance.conga_dre_ps,
             .default_text = "50us", .min_text = "100ns", .max_text = "1s",
             .help = "time between two decays of conga's estimate of a link's load"),
    SIM_ATTR("switch.conga.dre-alpha", RATIO, net_switch_config_t, balance.conga_alpha,
             .default_text = "0.2", .min_text = "0.001", .max_text = "1",
             .help = "share of conga's estimate that each decay takes away"),
    SIM_ATTR("switch.conga.bits", COUNT, net_switch_config_t, balance.conga_bits,
             .default_text = "3", .min_text = "1", .max_text = "8",
             .help = "number of bits of a utilisation in conga's header and tables"),
    SIM_ATTR("switch.conga.ageing", TIME, net_switch_config_t, balance.conga_ageing_ps,
             .default_text = "500us", .min_text = "1us", .max_text = "10s",
             .help = "time after which conga takes a remote utilisation for zero"),
    SIM_ATTR("switch.conga.samples", COUNT, net_switch_config_t, balance.conga_samples,
             .default_text = "0", .min_text = "0", .max_text = "254",
             .help = "number of neighbouring uplinks, beginning at a random one, among which conga "
                     "chooses; 0: all; 4: as in the simulator of ConWeave"),
    SIM_ATTR("switch.conga.header-bytes", BYTES, net_switch_config_t, balance.conga_header_bytes,
             .default_text = "50", .min_text = "0", .max_text = "64",
             .help = "bytes that conga adds to frames between switches; 50: VXLAN over IPv4; 0: "
                     "none, as in the public simulators"),
    SIM_ATTR("switch.conweave.reply", TIME, net_switch_config_t, balance.conweave_reply_ps,
             .default_text = "8us", .min_text = "1ns", .max_text = "1s",
             .help = "time within which conweave expects a reply; later it moves the flow; should "
                     "be the idle round trip plus 4 us"),
    SIM_ATTR("switch.conweave.path-busy", TIME, net_switch_config_t, balance.conweave_busy_ps,
             .default_text = "16us", .min_text = "0ps", .max_text = "1s",
             .help = "time for which conweave avoids a path on which a packet was marked"),
    SIM_ATTR("switch.conweave.inactive", TIME, net_switch_config_t, balance.conweave_inactive_ps,
             .default_text = "300us", .min_text = "1us", .max_text = "10s",
             .help = "pause of a flow after which conweave begins a new epoch"),
    SIM_ATTR("switch.conweave.wait-extra", TIME, net_switch_config_t, balance.conweave_extra_ps,
             .default_text = "16us", .min_text = "0ps", .max_text = "1s",
             .help = "time that conweave waits for a TAIL beyond its expected arrival"),
    SIM_ATTR("switch.conweave.wait-default", TIME, net_switch_config_t, balance.conweave_wait_ps,
             .default_text = "200us", .min_text = "1us", .max_text = "10s",
             .help = "time that conweave waits for a TAIL if no packet of the old path has come"),
    SIM_ATTR("switch.conweave.held", ENUM, net_switch_config_t, balance.conweave_held,
             .default_text = "counted", .choices = "counted|free",
             .help = "packets that conweave holds back; counted: they take room in the buffer and "
                     "may stop a peer; free: only once they are released, as in its simulator"),
    SIM_ATTR("switch.conweave.header-bytes", BYTES, net_switch_config_t,
             balance.conweave_header_bytes,
             .default_text = "6", .min_text = "0", .max_text = "64",
             .help = "bytes that conweave adds to frames between switches; 6: its 47 bits; 0: "
                     "none, as in the public simulator"),
    SIM_ATTR("switch.telemetry", BOOL, net_switch_config_t, telemetry,
             .default_text = "true",
             .help = "true: the switch writes INT and PINT into packets that ask for it"),
};

const sim_attr_table_t net_config_attrs = {
    "network", "simulation", sizeof(net_config_t), network_attrs, SIM_COUNT_OF(network_attrs),
};
const sim_attr_table_t net_link_config_attrs = {
    "link", "link", sizeof(net_link_config_t), link_attrs, SIM_COUNT_OF(link_attrs),
};
const sim_attr_table_t net_switch_config_attrs = {
    "switch", "node", sizeof(net_switch_config_t), switch_attrs, SIM_COUNT_OF(switch_attrs),
};
// clang-format on
