// SPDX-License-Identifier: Apache-2.0
// net/config.c - the attributes of networks, links and switches.
#include "net/switch.h"
#include "net/telemetry.h"

// clang-format off
static const sim_attr_t network_attrs[] = {
    SIM_ATTR("network.forwarding", ENUM, net_config_t, forwarding,
             .default_text = "routed", .choices = "routed|switched",
             .help = "whether switches decrement TTL and rewrite MACs (routed) or leave frames as "
                     "they are"),
    SIM_ATTR("network.ipv6", BOOL, net_config_t, ipv6,
             .default_text = "false",
             .help = "RoCEv2 over IPv6 instead of IPv4"),
    SIM_ATTR("network.tagged", BOOL, net_config_t, tagged,
             .default_text = "false",
             .help = "data frames carry an 802.1Q tag with the class as PCP (4 bytes more on the "
                     "wire)"),
    SIM_ATTR("network.vlan", COUNT, net_config_t, vlan_id,
             .default_text = "1", .min_text = "0", .max_text = "4094",
             .help = "VLAN id of tagged frames"),
    SIM_ATTR("network.convergence", TIME, net_config_t, convergence_ps,
             .default_text = "10ms", .min_text = "0ps", .max_text = "10s",
             .help = "routes follow a link change after this; the ends of the link avoid it at "
                     "once"),
    SIM_ATTR("network.int-multiplier", COUNT, net_config_t, int_multiplier,
             .default_text = "1", .min_text = "1", .max_text = "1024",
             .help = "INT counts bytes in units of 128 (sent) and 80 (queued) x this"),
    SIM_ATTR("network.int-reserved-hops", COUNT, net_config_t, int_reserved_hops,
             .default_text = "0", .min_text = "0", .max_text = "14",
             .help = "packets that ask for INT have room for so many records from the start; "
                     "beyond, they grow"),
    SIM_ATTR("network.pint-base", RATIO, net_config_t, pint_base,
             .default_text = "1.05", .min_text = NET_PINT_BASE_LEAST, .max_text = "2",
             .help = "ratio of neighbouring values of a PINT digest; below 1.045 a digest takes "
                     "two bytes"),
    SIM_ATTR("network.pint-rtt", TIME, net_config_t, pint_rtt_ps,
             .default_text = "13us", .min_text = "1ns", .max_text = "10s",
             .help = "T of PINT's utilization in the switches: the network's round trip without "
                     "queues"),
    SIM_ATTR("network.load-balancer", NAME, net_config_t, balance,
             .default_text = "ecmp",
             .help = "which of equal paths a packet takes: ecmp, by a hash of its flow that is "
                     "each switch's own; hpcc: as that simulator; or a program's own"),
    SIM_ATTR("network.routes", NAME, net_config_t, routes,
             .default_text = "shortest",
             .help = "which paths are equal: shortest, in order of their ports; hpcc: shortest in "
                     "the order of that simulator; or a program's own"),
    SIM_ATTR("network.timing", NAME, net_config_t, timing,
             .default_text = "exact",
             .help = "the time of a frame on a link: exact, to the remainder of the division; "
                     "hpcc: cut to whole nanoseconds; or a program's own"),
    SIM_ATTR("network.framing", NAME, net_config_t, framing,
             .default_text = "ethernet",
             .help = "what takes time on links besides frames: ethernet, preamble, FCS and gap; "
                     "bare, nothing; hpcc: nothing, and PFC frames of 43 bytes; or a program's "
                     "own"),
};

static const sim_attr_t link_attrs[] = {
    SIM_ATTR("link.rate", RATE, net_link_config_t, rate_bps,
             .default_text = "100Gbps", .min_text = "1Kbps", .max_text = "100Tbps",
             .help = "rate of both directions"),
    SIM_ATTR("link.delay", TIME, net_link_config_t, delay_ps,
             .default_text = "1us", .min_text = "1ps", .max_text = "1s",
             .help = "one-way propagation delay"),
    SIM_ATTR("link.loss-rate", RATIO, net_link_config_t, loss_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "share of frames lost at random"),
    SIM_ATTR("link.bit-error-rate", RATIO, net_link_config_t, bit_error_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "chance of each bit to be wrong; a frame with a wrong bit is lost"),
    SIM_ATTR("link.loss-model", ENUM, net_link_config_t, loss_model,
             .default_text = "independent",
             .choices = "independent|bursts|high-frequency|amazon|google|microsoft|gilbert-elliott",
             .help = "how the losses of link.loss-rate come: each frame by itself, or in events "
                     "(docs/models/loss.md)"),
    SIM_ATTR("link.loss-packets", ENUM, net_link_config_t, loss_packets,
             .default_text = "all", .choices = "all|data",
             .help = "which frames are lost, reordered and doubled: all, or those with a payload"),
    SIM_ATTR("link.loss-direction", ENUM, net_link_config_t, loss_direction,
             .default_text = "both", .choices = "both|forward|backward",
             .help = "which way; forward: what the node sends that the link names first"),
    SIM_ATTR("link.loss-burst", COUNT, net_link_config_t, loss_burst,
             .default_text = "15", .min_text = "1", .max_text = "100000",
             .help = "frames of an event: bursts a fifth more or less, high-frequency some of "
                     "these, gilbert-elliott the bad state on average"),
    SIM_ATTR("link.loss-bad-rate", RATIO, net_link_config_t, loss_bad_rate,
             .default_text = "1", .min_text = "0", .max_text = "1",
             .help = "gilbert-elliott: share of frames lost in the bad state"),
    SIM_ATTR("link.reorder-rate", RATIO, net_link_config_t, reorder_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "share of frames that are held back for link.reorder-delay"),
    SIM_ATTR("link.reorder-delay", TIME, net_link_config_t, reorder_delay_ps,
             .default_text = "5us", .min_text = "1ns", .max_text = "1s",
             .help = "how long a reordered frame is held back"),
    SIM_ATTR("link.duplicate-rate", RATIO, net_link_config_t, duplicate_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "share of frames that arrive twice"),
};

static const sim_attr_t switch_attrs[] = {
    SIM_ATTR("switch.mmu", NAME, net_switch_config_t, mmu,
             .default_text = "standard",
             .help = "rules of the buffer and of pauses: standard; hpcc: those of the HPCC "
                     "project's simulator, turns of classes included; or a program's own"),
    SIM_ATTR("switch.buffer", BYTES, net_switch_config_t, buffer_bytes,
             .default_text = "32MB", .min_text = "1KB", .max_text = "64GB",
             .help = "packet memory of the whole switch: shared, reserved and headroom together"),
    SIM_ATTR("switch.pfc.enabled", BOOL, net_switch_config_t, pfc_enabled,
             .default_text = "true",
             .help = "priority flow control (IEEE 802.1Qbb) for the classes of "
                     "switch.pfc.priorities"),
    SIM_ATTR("switch.pfc.priorities", PRIORITIES, net_switch_config_t, pfc_priorities,
             .default_text = "[3]",
             .help = "the lossless classes"),
    SIM_ATTR("switch.pfc.alpha", RATIO, net_switch_config_t, pfc_alpha,
             .default_text = "1/8", .min_text = "1/1024", .max_text = "64",
             .help = "XOFF when an ingress (port, class) uses more shared buffer than alpha x what "
                     "is free"),
    SIM_ATTR("switch.pfc.threshold", BYTES, net_switch_config_t, pfc_threshold_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "64GB",
             .help = "fixed XOFF threshold instead of alpha; auto: dynamic"),
    SIM_ATTR("switch.pfc.xon-offset", BYTES, net_switch_config_t, pfc_xon_bytes,
             .default_text = "3KiB", .min_text = "0", .max_text = "64GB",
             .help = "XON when use has fallen this far below the threshold"),
    SIM_ATTR("switch.pfc.reserved", BYTES, net_switch_config_t, pfc_reserved_bytes,
             .default_text = "4KiB", .min_text = "0", .max_text = "64GB",
             .help = "buffer of each lossless (port, class) before it draws on the shared part"),
    SIM_ATTR("switch.pfc.headroom", BYTES, net_switch_config_t, pfc_headroom_bytes,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "64GB",
             .help = "buffer of each lossless (port, class) for what arrives after XOFF; auto: "
                     "from rate, delay, MTU and response"),
    SIM_ATTR("switch.pfc.response", TIME, net_switch_config_t, pfc_response_ps,
             .auto_ok = true, .default_text = "auto", .min_text = "0ps", .max_text = "1ms",
             .help = "time the peer may take to obey, for the headroom; auto: IEEE 802.3 31B.3.7 "
                     "by rate"),
    SIM_ATTR("switch.pfc.quanta", COUNT, net_switch_config_t, pfc_quanta,
             .default_text = "65535", .min_text = "1", .max_text = "65535",
             .help = "pause time in an XOFF, in units of 512 bit times; refreshed at half of it"),
    SIM_ATTR("switch.pfc.watchdog", ENUM, net_switch_config_t, pfc_watchdog,
             .default_text = "off", .choices = "off|drop|ignore",
             .help = "what breaks a pause that lasts: the packets that wait for it are dropped, or "
                     "it is ignored; off: nothing does"),
    SIM_ATTR("switch.pfc.watchdog-detect", TIME, net_switch_config_t, watchdog_detect_ps,
             .default_text = "200ms", .min_text = "1us", .max_text = "100s",
             .help = "a pause with packets waiting that holds so long is broken"),
    SIM_ATTR("switch.pfc.watchdog-restore", TIME, net_switch_config_t, watchdog_restore_ps,
             .default_text = "200ms", .min_text = "1us", .max_text = "100s",
             .help = "after so long without a pause frame the class is as it was"),
    SIM_ATTR("switch.lossy-alpha", RATIO, net_switch_config_t, lossy_alpha,
             .default_text = "1", .min_text = "1/1024", .max_text = "64",
             .help = "a lossy egress queue may use alpha x free shared buffer"),
    SIM_ATTR("switch.marking", NAME, net_switch_config_t, marking,
             .default_text = "red",
             .help = "who decides on marks: red, by switch.ecn; or a program's own"),
    SIM_ATTR("switch.ecn.enabled", BOOL, net_switch_config_t, ecn_enabled,
             .default_text = "true",
             .help = "mark CE by RED on the egress queue"),
    SIM_ATTR("switch.ecn.priorities", PRIORITIES, net_switch_config_t, ecn_priorities,
             .default_text = "[0, 1, 2, 3, 4, 5, 6, 7]",
             .help = "classes that are marked"),
    SIM_ATTR("switch.ecn.mark-at", ENUM, net_switch_config_t, ecn_mark_at,
             .default_text = "dequeue", .choices = "dequeue|enqueue",
             .help = "the queue that decides on a mark: what a packet leaves behind, or what it "
                     "finds ahead of it"),
    SIM_ATTR("switch.ecn.kmin", BYTES, net_switch_config_t, ecn_kmin_bytes,
             .default_text = "400KB", .min_text = "0", .max_text = "4GB",
             .help = "no marks up to this queue (of a 100 Gbps port where switch.ecn.scale is on)"),
    SIM_ATTR("switch.ecn.kmax", BYTES, net_switch_config_t, ecn_kmax_bytes,
             .default_text = "1600KB", .min_text = "0", .max_text = "4GB",
             .help = "every packet is marked above this queue"),
    SIM_ATTR("switch.ecn.pmax", RATIO, net_switch_config_t, ecn_pmax,
             .default_text = "0.2", .min_text = "0", .max_text = "1",
             .help = "mark probability at kmax"),
    SIM_ATTR("switch.ecn.scale", BOOL, net_switch_config_t, ecn_scale,
             .default_text = "true",
             .help = "kmin and kmax in proportion to the port's rate / 100 Gbps"),
    SIM_ATTR("switch.ecn.profiles", PROFILES, net_switch_config_t, ecn_profiles,
             .default_text = "[]",
             .help = "kmin, kmax and pmax of ports of a rate, in the place of the three above and "
                     "not scaled: rows of rate kmin kmax pmax"),
    SIM_ATTR("switch.trust", ENUM, net_switch_config_t, trust,
             .default_text = "dscp", .choices = "dscp|pcp",
             .help = "the class of a packet: its DSCP / 8, or the 802.1Q PCP"),
    SIM_ATTR("switch.strict-priorities", PRIORITIES, net_switch_config_t, strict_priorities,
             .default_text = "[6, 7]",
             .help = "classes served before the others, the highest first"),
    SIM_ATTR("switch.weights", WEIGHTS, net_switch_config_t, weights,
             .default_text = "1", .min_text = "1", .max_text = "255",
             .help = "weights of the other classes in deficit weighted round robin"),
    SIM_ATTR("switch.ecmp-seed", COUNT, net_switch_config_t, ecmp_seed,
             .auto_ok = true, .default_text = "auto", .min_text = "0", .max_text = "4294967295",
             .help = "seed of the ECMP hash; auto: its own for every switch"),
    SIM_ATTR("switch.telemetry", BOOL, net_switch_config_t, telemetry,
             .default_text = "true",
             .help = "writes INT and PINT into packets that ask for it"),
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
