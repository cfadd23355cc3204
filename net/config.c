// SPDX-License-Identifier: Apache-2.0
// net/config.c - the attributes of networks, links and switches.
#include "net/config.h"
#include "net/switch.h"
#include "net/telemetry.h"

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(net_config_t, __VA_ARGS__)
static const sim_attr_t network_attrs[] = {
    ATTR(ENUM, "network.model", model, "packet", "packet|message", "unit that moves through the network; packet: frames with headers through switches with buffers, pauses and marks; message: whole requests and answers of traffic.herd through one queue at each link, nothing else"),
    ATTR(BYTES, "network.message-overhead", message_overhead_bytes, "1", "1", "1KiB", "bytes that a message occupies on links besides its payload, with network.model: message; an answer without payload has these alone"),
    ATTR(ENUM, "network.forwarding", forwarding, "routed", "routed|switched", "routed: each switch decrements the TTL and rewrites MAC addresses; switched: frames stay as they are"),
    ATTR(BOOL, "network.ipv6", ipv6, "false", "true: RoCEv2 runs over IPv6; false: over IPv4"),
    ATTR(BOOL, "network.tagged", tagged, "false", "true: data frames carry an 802.1Q tag with the class as PCP, 4 bytes more on the wire"),
    ATTR(COUNT, "network.vlan", vlan_id, "1", "0", "4094", "VLAN id in the tag of data frames, with network.tagged"),
    ATTR(TIME, "network.convergence", convergence_ps, "10ms", "0ps", "10s", "time from a link change to the new routes; until then only the ends of the link avoid it"),
    ATTR(ENUM, "network.draws", draws, "stream", "stream|packet", "source of random marks and losses; stream: a random stream of the port; packet: a hash of port and packet, so that a collective that repeats after a rest of 10us sees the same ones (docs/models/fast-forward.md)"),
    ATTR(COUNT, "network.trim-dscp", trim_dscp, "48", "0", "63", "DSCP TRIMMED, which a packet gets that is trimmed between switches; its class is DSCP / 8"),
    ATTR(COUNT, "network.trim-last-hop-dscp", trim_last_hop_dscp, "49", "0", "63", "DSCP TRIMMED_LASTHOP, which a packet gets that is trimmed at the port of its destination; its class is DSCP / 8"),
    ATTR(COUNT, "network.int-multiplier", int_multiplier, "1", "1", "1024", "factor of INT's units, 128 bytes (sent) and 80 bytes (queued); larger values let its counters wrap later"),
    ATTR(COUNT, "network.int-reserved-hops", int_reserved_hops, "0", "0", "14", "number of INT records for which packets have room from the start; further records make the frame longer"),
    ATTR(RATIO, "network.pint-base", pint_base, "1.05", NET_PINT_BASE_LEAST, "2", "ratio of neighbouring values of a PINT digest; below 1.045 a digest takes two bytes"),
    ATTR(TIME, "network.pint-rtt", pint_rtt_ps, "13us", "1ns", "10s", "T of PINT's utilization in the switches, about the network's round-trip time without queues; default from the PINT paper"),
    ATTR(NAME, "network.load-balancer", balance, "ecmp", "rule that chooses among equal paths where switch.load-balancing is network; ecmp: by a hash of the flow, different at each switch; hpcc: as the HPCC simulator; others: docs/models/load-balancing.md; or a program's own"),
    ATTR(NAME, "network.routes", routes, "shortest", "rule for equal paths and their order; shortest: in the order of ports; hpcc: shortest, in the HPCC simulator's order; or a program's own"),
    ATTR(NAME, "network.timing", timing, "exact", "rounding of a frame's time on a link; exact: keeps the remainder; hpcc: cut to whole nanoseconds; or a program's own"),
    ATTR(NAME, "network.framing", framing, "ethernet", "bytes around a frame that take time on links; ethernet: preamble, FCS and gap; bare: none; hpcc: none, and PFC frames of 43 bytes; or a program's own"),
};

#undef ATTR
#define ATTR(...) SIM_ATTR_ROW(net_link_config_t, __VA_ARGS__)
static const sim_attr_t link_attrs[] = {
    ATTR(RATE, "link.rate", rate_bps, "100Gbps", "1Kbps", "100Tbps", "rate of the link in each direction"),
    ATTR(RATE, "link.backward-rate", backward_bps, "auto", "1Kbps", "100Tbps", "rate of the frames that are sent by the node that the link names second; auto: link.rate", .auto_ok = true),
    ATTR(TIME, "link.delay", delay_ps, "1us", "1ps", "1s", "propagation delay of the link, one way"),
    ATTR(RATIO, "link.loss-rate", loss_rate, "0", "0", "1", "share of frames lost, in the pattern of link.loss-model"),
    ATTR(RATIO, "link.bit-error-rate", bit_error_rate, "0", "0", "1", "probability that a bit is wrong; a frame with a wrong bit is lost"),
    ATTR(ENUM, "link.loss-model", loss_model, "independent", "independent|bursts|high-frequency|amazon|google|microsoft|gilbert-elliott", "pattern of the losses of link.loss-rate; independent: each frame by itself; others: in events (docs/models/loss.md)"),
    ATTR(ENUM, "link.loss-packets", loss_packets, "all", "all|data", "frames that are lost, reordered and duplicated; all: every frame; data: frames with a payload"),
    ATTR(ENUM, "link.loss-direction", loss_direction, "both", "both|forward|backward", "direction that loses, reorders and duplicates; forward: frames sent by the node that the link names first"),
    ATTR(COUNT, "link.loss-burst", loss_burst, "15", "1", "100000", "number of frames of a loss event; bursts: a fifth more or less; high-frequency: some of these are lost; gilbert-elliott: mean length of the bad state"),
    ATTR(RATIO, "link.loss-bad-rate", loss_bad_rate, "1", "0", "1", "share of frames lost in the bad state of gilbert-elliott"),
    ATTR(RATIO, "link.reorder-rate", reorder_rate, "0", "0", "1", "share of frames that are held back by link.reorder-delay"),
    ATTR(TIME, "link.reorder-delay", reorder_delay_ps, "5us", "1ns", "1s", "time for which a reordered frame is held back"),
    ATTR(RATIO, "link.duplicate-rate", duplicate_rate, "0", "0", "1", "share of frames that arrive a second time"),
    ATTR(BYTES, "link.headroom", headroom_bytes, "auto", "1", "64GB", "headroom of each lossless class at the switch that the link names second, in place of its switch.pfc.headroom; auto: that one", .auto_ok = true),
    ATTR(BYTES, "link.backward-headroom", backward_headroom_bytes, "auto", "1", "64GB", "headroom of each lossless class at the switch that the link names first, in place of its switch.pfc.headroom; auto: that one", .auto_ok = true),
    ATTR(ENUM, "link.flow-control", flow_control, "pfc", "pfc|cbfc|none", "how a receiver holds back lossless classes; pfc: by pauses; cbfc: by the credits of Ultra Ethernet (docs/models/link-layer.md); none: not at all"),
    ATTR(BYTES, "link.cbfc.credit-size", credit_bytes, "128", "32", "2048", "bytes of the receiver's buffer that a credit stands for, a power of two; a frame takes whole credits for itself and its FCS"),
    ATTR(COUNT, "link.cbfc.credits", credits, "auto", "1", "32767", "number of credits of each class in each direction; auto: as many as the link needs for its full rate", .auto_ok = true),
    ATTR(BYTES, "link.cbfc.update-spacing", cf_spacing_bytes, "6400", "800", "1MB", "minimum link time between two CF_Updates, in bytes"),
    ATTR(BYTES, "link.cbfc.repeat-spacing", cf_repeat_bytes, "256KiB", "16KiB", "1MiB", "link time after which a CF_Update that may have been lost is repeated, in bytes"),
    ATTR(TIME, "link.cbfc.sync-interval", cc_interval_ps, "256us", "1us", "250ms", "time between two CC_Updates while credits are in use, which make good the credits of lost frames"),
    ATTR(BOOL, "link.llr.enabled", llr_enabled, "false", "true: the link repeats damaged frames by itself, by the link layer retry of Ultra Ethernet (docs/models/link-layer.md)"),
    ATTR(BYTES, "link.llr.replay-buffer", llr_buffer_bytes, "auto", "8KB", "64MB", "bytes of frames that wait for an acknowledgement of the link's other end; auto: as many as the link needs for its full rate", .auto_ok = true),
    ATTR(TIME, "link.llr.replay-timer", llr_timer_ps, "auto", "100ns", "10ms", "time without an acknowledgement after which frames are repeated; auto: three round trips of the link and 500 ns", .auto_ok = true),
    ATTR(BYTES, "link.llr.ack-spacing", llr_spacing_bytes, "2048", "400", "16384", "minimum link time between two acknowledgements of link layer retry, in bytes"),
};

#undef ATTR
#define ATTR(...) SIM_ATTR_ROW(net_switch_config_t, __VA_ARGS__)
static const sim_attr_t switch_attrs[] = {
    ATTR(NAME, "switch.mmu", mmu, "standard", "rules of buffer and pauses; standard: docs/models/switch.md; hpcc: those of the HPCC simulator, including turns of classes; virtual-channels: as standard, with a class more at each switch; trimming: as standard, and full queues cut packets to headers (switch.trim); or a program's own"),
    ATTR(COUNT, "switch.virtual-channels", virtual_channels, "4", "1", "6", "maximum number of switches on a path with switch.mmu virtual-channels: packets leave the first one in class 1, the second in class 2 and so on"),
    ATTR(BYTES, "switch.buffer", buffer_bytes, "32MB", "1KB", "64GB", "packet memory of the whole switch: shared, reserved and headroom together"),
    ATTR(BOOL, "switch.pfc.enabled", pfc_enabled, "true", "true: priority flow control (IEEE 802.1Qbb) protects the classes of switch.pfc.priorities"),
    ATTR(PRIORITIES, "switch.pfc.priorities", pfc_priorities, "[3]", "classes that PFC makes lossless"),
    ATTR(RATIO, "switch.pfc.alpha", pfc_alpha, "1/8", "1/1024", "64", "XOFF is sent when an ingress (port, class) uses more shared buffer than alpha x the free part; larger values pause later"),
    ATTR(BYTES, "switch.pfc.threshold", pfc_threshold_bytes, "auto", "0", "64GB", "fixed XOFF threshold in place of switch.pfc.alpha; auto: the dynamic threshold", .auto_ok = true),
    ATTR(BYTES, "switch.pfc.xon-offset", pfc_xon_bytes, "3KiB", "0", "64GB", "XON is sent when use has fallen this far below the XOFF threshold; larger values make pauses longer"),
    ATTR(BYTES, "switch.pfc.reserved", pfc_reserved_bytes, "4KiB", "0", "64GB", "buffer of each lossless (port, class) that is used before the shared part"),
    ATTR(BYTES, "switch.pfc.headroom", pfc_headroom_bytes, "auto", "0", "64GB", "buffer of each lossless (port, class) for packets that arrive after XOFF; auto: computed from rate, delay, MTU and response", .auto_ok = true),
    ATTR(BYTES, "switch.pfc.headroom-pool", headroom_pool_bytes, "auto", "0", "64GB", "bytes that the headroom of all (port, class) of the switch may hold together; auto: each one has its headroom in full", .auto_ok = true),
    ATTR(TIME, "switch.pfc.response", pfc_response_ps, "auto", "0ps", "1ms", "time that the peer may take to obey a pause, for the headroom; auto: the maximum of IEEE 802.3 31B.3.7 at the rate", .auto_ok = true),
    ATTR(COUNT, "switch.pfc.quanta", pfc_quanta, "65535", "1", "65535", "pause time in an XOFF frame, in units of 512 bit times; a pause is repeated after half of it"),
    ATTR(ENUM, "switch.pfc.watchdog", pfc_watchdog, "off", "off|drop|ignore", "reaction to a pause that lasts; drop: the waiting packets are dropped; ignore: the pause has no effect; off: none"),
    ATTR(TIME, "switch.pfc.watchdog-detect", watchdog_detect_ps, "200ms", "1us", "100s", "time after which a pause with packets waiting triggers the PFC watchdog"),
    ATTR(TIME, "switch.pfc.watchdog-restore", watchdog_restore_ps, "200ms", "1us", "100s", "time without a pause frame after which the PFC watchdog restores the class"),
    ATTR(RATIO, "switch.lossy-alpha", lossy_alpha, "1", "1/1024", "64", "a lossy egress queue may use at most alpha x the free shared buffer; larger values allow longer queues"),
    ATTR(BOOL, "switch.trim.enabled", trim_enabled, "true", "true: with switch.mmu trimming, a packet of Ultra Ethernet or MRC that finds its queue full loses its payload; false: it is dropped"),
    ATTR(PRIORITIES, "switch.trim.priorities", trim_priorities, "[1]", "classes whose queues have the limit switch.trim.queue and whose packets are trimmed; none of them may be lossless"),
    ATTR(BYTES, "switch.trim.queue", trim_queue_bytes, "150KB", "1KB", "64GB", "maximum length of a queue of the trimmed classes, about one bandwidth-delay product; of a 100 Gbps port if switch.trim.scale is true"),
    ATTR(BYTES, "switch.trim.headers-queue", trim_headers_bytes, "auto", "1KB", "64GB", "maximum length of a queue of the class of trimmed packets; auto: twice switch.trim.queue", .auto_ok = true),
    ATTR(BOOL, "switch.trim.scale", trim_scale, "true", "true: switch.trim.queue and headers-queue are multiplied by the port's rate / 100 Gbps"),
    ATTR(BYTES, "switch.trim.bytes", trim_bytes, "128", "60", "4096", "length of the frame that is left of a trimmed packet, without FCS; its headers stay whole"),
    ATTR(ENUM, "switch.trim.victim", trim_victim, "arriving", "arriving|either", "packet that is trimmed at a full queue, or dropped without trimming; arriving: the one that arrives; either: that one or the last in the queue, by the toss of a coin"),
    ATTR(NAME, "switch.marking", marking, "red", "rule that decides on ECN marks; red: by the attributes switch.ecn; or a program's own"),
    ATTR(BOOL, "switch.ecn.enabled", ecn_enabled, "true", "true: RED on the egress queue marks packets with CE"),
    ATTR(BOOL, "switch.ecn.last-hop", ecn_last_hop, "true", "true: ports to hosts mark, too; false: they do not, where receivers control these links themselves"),
    ATTR(PRIORITIES, "switch.ecn.priorities", ecn_priorities, "[0, 1, 2, 3, 4, 5, 6, 7]", "classes whose packets are marked with CE"),
    ATTR(ENUM, "switch.ecn.mark-at", ecn_mark_at, "dequeue", "dequeue|enqueue", "queue length that decides on a mark; dequeue: the bytes that a packet leaves behind; enqueue: the bytes that it finds"),
    ATTR(BYTES, "switch.ecn.kmin", ecn_kmin_bytes, "400KB", "0", "4GB", "queue length up to which no packet is marked; of a 100 Gbps port if switch.ecn.scale is true"),
    ATTR(BYTES, "switch.ecn.kmax", ecn_kmax_bytes, "1600KB", "0", "4GB", "queue length above which every packet is marked; of a 100 Gbps port if switch.ecn.scale is true"),
    ATTR(RATIO, "switch.ecn.pmax", ecn_pmax, "0.2", "0", "1", "probability of a mark at a queue of switch.ecn.kmax; it rises linearly from switch.ecn.kmin on"),
    ATTR(BOOL, "switch.ecn.scale", ecn_scale, "true", "true: switch.ecn.kmin and kmax are multiplied by the port's rate / 100 Gbps"),
    ATTR(PROFILES, "switch.ecn.profiles", ecn_profiles, "[]", "kmin, kmax and pmax for ports of given rates, not scaled, in place of switch.ecn.kmin, kmax and pmax: rows of rate kmin kmax pmax"),
    ATTR(ENUM, "switch.trust", trust, "dscp", "dscp|pcp", "field that sets the class of a packet; dscp: DSCP / 8; pcp: the PCP of the 802.1Q tag"),
    ATTR(PRIORITIES, "switch.strict-priorities", strict_priorities, "[6, 7]", "classes that are served before all others, the highest number first"),
    ATTR(WEIGHTS, "switch.weights", weights, "1", "weights of the classes that are not strict in deficit weighted round robin", .min_text = "1", .max_text = "255"),
    ATTR(COUNT, "switch.ecmp-seed", ecmp_seed, "auto", "0", "4294967295", "seed of the ECMP hash; auto: a different one for every switch", .auto_ok = true),
    ATTR(NAME, "switch.load-balancing", balance.name, "network", "rule by which the switch chooses among equal paths; network: that of network.load-balancer; others: docs/models/load-balancing.md, or a program's own"),
    ATTR(ENUM, "switch.ecmp.fields", balance.ecmp_fields, "five-tuple", "five-tuple|addresses|entropy", "header fields in the hash of ecmp and wecmp; five-tuple: addresses and UDP ports; addresses: these alone; entropy: the UDP source port alone"),
    ATTR(BOOL, "switch.ecmp.symmetric", balance.ecmp_symmetric, "false", "true: the hash of ecmp and wecmp ignores the order of the two addresses, so both directions with equal UDP source ports take the same hash"),
    ATTR(BOOL, "switch.ecmp.dscp", balance.ecmp_dscp, "false", "true: the hash of ecmp and wecmp includes the DSCP"),
    ATTR(BOOL, "switch.ecmp.destination-qp", balance.ecmp_destination_qp, "false", "true: the hash of ecmp and wecmp includes the BTH's destination queue pair"),
    ATTR(ENUM, "switch.adaptive.by", balance.adaptive_by, "exact", "exact|grades", "measure of a port with adaptive; exact: its bytes; grades: below 5, 10 or 20 % of switch.adaptive.full, or above"),
    ATTR(BYTES, "switch.adaptive.full", balance.adaptive_full_bytes, "1MB", "1KB", "64GB", "bytes at a port that count as 100 % for the grades of switch.adaptive.by"),
    ATTR(TIME, "switch.adaptive.refresh", balance.adaptive_refresh_ps, "100ns", "0ps", "1s", "shortest time between two readings of all grades of a switch"),
    ATTR(BYTES, "switch.adaptive.hashed-below", balance.adaptive_hashed_bytes, "100", "0", "64KB", "frames below this size, such as ACKs, take the port of their hash with adaptive"),
    ATTR(TIME, "switch.adaptive.gap", balance.adaptive_gap_ps, "0ps", "0ps", "1s", "pause of a flow after which adaptive may move it, by the toss of a coin, to a strictly better port; 0: adaptive chooses for each packet"),
    ATTR(COUNT, "switch.drill.samples", balance.drill_samples, "2", "1", "64", "number of random ports that drill compares for each packet: d of DRILL(d, m)"),
    ATTR(COUNT, "switch.drill.memory", balance.drill_memory, "1", "0", "16", "number of best ports of the decision before that drill compares, too, by destination leaf: m of DRILL(d, m)"),
    ATTR(TIME, "switch.letflow.gap", balance.letflow_gap_ps, "100us", "0ps", "1s", "pause of a flow after which letflow draws a new random port"),
    ATTR(ENUM, "switch.conga.rules", balance.conga_rules, "paper", "paper|conweave-ns3", "paper: all packets carry feedback, about the next path with news; conweave-ns3: as in the simulator of ConWeave, packets with payload alone, about a random path that is known; a flowlet may leave an equal path"),
    ATTR(TIME, "switch.conga.gap", balance.conga_gap_ps, "100us", "0ps", "1s", "pause of a flow after which conga chooses its path anew"),
    ATTR(TIME, "switch.conga.dre-interval", balance.conga_dre_ps, "50us", "100ns", "1s", "time between two decays of conga's estimate of a link's load"),
    ATTR(RATIO, "switch.conga.dre-alpha", balance.conga_alpha, "0.2", "0.001", "1", "share of conga's estimate that each decay takes away"),
    ATTR(COUNT, "switch.conga.bits", balance.conga_bits, "3", "1", "8", "number of bits of a utilisation in conga's header and tables"),
    ATTR(TIME, "switch.conga.ageing", balance.conga_ageing_ps, "500us", "1us", "10s", "time after which conga takes a remote utilisation for zero"),
    ATTR(COUNT, "switch.conga.samples", balance.conga_samples, "0", "0", "254", "number of neighbouring uplinks, beginning at a random one, among which conga chooses; 0: all; 4: as in the simulator of ConWeave"),
    ATTR(BYTES, "switch.conga.header-bytes", balance.conga_header_bytes, "50", "0", "64", "bytes that conga adds to frames between switches; 50: VXLAN over IPv4; 0: none, as in the public simulators"),
    ATTR(TIME, "switch.conweave.reply", balance.conweave_reply_ps, "8us", "1ns", "1s", "time within which conweave expects a reply; later it moves the flow; should be the idle round trip plus 4 us"),
    ATTR(TIME, "switch.conweave.path-busy", balance.conweave_busy_ps, "16us", "0ps", "1s", "time for which conweave avoids a path on which a packet was marked"),
    ATTR(TIME, "switch.conweave.inactive", balance.conweave_inactive_ps, "300us", "1us", "10s", "pause of a flow after which conweave begins a new epoch"),
    ATTR(TIME, "switch.conweave.wait-extra", balance.conweave_extra_ps, "16us", "0ps", "1s", "time that conweave waits for a TAIL beyond its expected arrival"),
    ATTR(TIME, "switch.conweave.wait-default", balance.conweave_wait_ps, "200us", "1us", "10s", "time that conweave waits for a TAIL if no packet of the old path has come"),
    ATTR(ENUM, "switch.conweave.held", balance.conweave_held, "counted", "counted|free", "packets that conweave holds back; counted: they take room in the buffer and may stop a peer; free: only once they are released, as in its simulator"),
    ATTR(BYTES, "switch.conweave.header-bytes", balance.conweave_header_bytes, "6", "0", "64", "bytes that conweave adds to frames between switches; 6: its 47 bits; 0: none, as in the public simulator"),
    ATTR(BOOL, "switch.telemetry", telemetry, "true", "true: the switch writes INT and PINT into packets that ask for it"),
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
