// SPDX-License-Identifier: Apache-2.0
// net/config.c - the attributes of networks, links and switches.
#include "net/switch.h"
#include "net/telemetry.h"

// clang-format off
#define AT(member) offsetof(net_config_t, member)
static const sim_attr_t network_attrs[] = {
    {"network.forwarding", SIM_ATTR_ENUM, false, AT(forwarding), "routed", NULL, NULL,
     "routed|switched", "whether switches decrement TTL and rewrite MACs (routed) or leave frames as they are"},
    {"network.ipv6", SIM_ATTR_BOOL, false, AT(ipv6), "false", NULL, NULL,
     NULL, "RoCEv2 over IPv6 instead of IPv4"},
    {"network.tagged", SIM_ATTR_BOOL, false, AT(tagged), "false", NULL, NULL,
     NULL, "data frames carry an 802.1Q tag with the class as PCP (4 bytes more on the wire)"},
    {"network.vlan", SIM_ATTR_COUNT, false, AT(vlan_id), "1", "0", "4094",
     NULL, "VLAN id of tagged frames"},
    {"network.convergence", SIM_ATTR_TIME, false, AT(convergence_ps), "10ms", "0ps", "10s",
     NULL, "routes follow a link change after this; the ends of the link avoid it at once"},
    {"network.int-multiplier", SIM_ATTR_COUNT, false, AT(int_multiplier), "1", "1", "1024",
     NULL, "INT counts bytes in units of 128 (sent) and 80 (queued) x this"},
    {"network.int-reserved-hops", SIM_ATTR_COUNT, false, AT(int_reserved_hops), "0", "0", "14",
     NULL, "packets that ask for INT have room for so many records from the start; beyond, they grow"},
    {"network.pint-base", SIM_ATTR_RATIO, false, AT(pint_base), "1.05", NET_PINT_BASE_LEAST, "2",
     NULL, "ratio of neighbouring values of a PINT digest; below 1.045 a digest takes two bytes"},
    {"network.pint-rtt", SIM_ATTR_TIME, false, AT(pint_rtt_ps), "13us", "1ns", "10s",
     NULL, "T of PINT's utilization in the switches: the network's round trip without queues"},
    {"network.load-balancer", SIM_ATTR_NAME, false, AT(balance), "ecmp", NULL, NULL,
     NULL, "which of equal paths a packet takes: ecmp, by a hash of its flow that is each switch's own; hpcc: as that simulator; or a program's own"},
    {"network.routes", SIM_ATTR_NAME, false, AT(routes), "shortest", NULL, NULL,
     NULL, "which paths are equal: shortest, in order of their ports; hpcc: shortest in the order of that simulator; or a program's own"},
    {"network.timing", SIM_ATTR_NAME, false, AT(timing), "exact", NULL, NULL,
     NULL, "the time of a frame on a link: exact, to the remainder of the division; hpcc: cut to whole nanoseconds; or a program's own"},
    {"network.framing", SIM_ATTR_NAME, false, AT(framing), "ethernet", NULL, NULL,
     NULL, "what takes time on links besides frames: ethernet, preamble, FCS and gap; bare, nothing; hpcc: nothing, and PFC frames of 43 bytes; or a program's own"},
};
#undef AT

#define AT(member) offsetof(net_link_config_t, member)
static const sim_attr_t link_attrs[] = {
    {"link.rate", SIM_ATTR_RATE, false, AT(rate_bps), "100Gbps", "1Kbps", "100Tbps",
     NULL, "rate of both directions"},
    {"link.delay", SIM_ATTR_TIME, false, AT(delay_ps), "1us", "1ps", "1s",
     NULL, "one-way propagation delay"},
    {"link.loss-rate", SIM_ATTR_RATIO, false, AT(loss_rate), "0", "0", "1",
     NULL, "share of frames lost at random"},
    {"link.bit-error-rate", SIM_ATTR_RATIO, false, AT(bit_error_rate), "0", "0", "1",
     NULL, "chance of each bit to be wrong; a frame with a wrong bit is lost"},
    {"link.loss-model", SIM_ATTR_ENUM, false, AT(loss_model), "independent", NULL, NULL,
     "independent|bursts|high-frequency|amazon|google|microsoft|gilbert-elliott",
     "how the losses of link.loss-rate come: each frame by itself, or in events (docs/models/loss.md)"},
    {"link.loss-packets", SIM_ATTR_ENUM, false, AT(loss_packets), "all", NULL, NULL,
     "all|data", "which frames are lost, reordered and doubled: all, or those with a payload"},
    {"link.loss-direction", SIM_ATTR_ENUM, false, AT(loss_direction), "both", NULL, NULL,
     "both|forward|backward", "which way; forward: what the node sends that the link names first"},
    {"link.loss-burst", SIM_ATTR_COUNT, false, AT(loss_burst), "15", "1", "100000",
     NULL, "frames of an event: bursts a fifth more or less, high-frequency some of these, gilbert-elliott the bad state on average"},
    {"link.loss-bad-rate", SIM_ATTR_RATIO, false, AT(loss_bad_rate), "1", "0", "1",
     NULL, "gilbert-elliott: share of frames lost in the bad state"},
    {"link.reorder-rate", SIM_ATTR_RATIO, false, AT(reorder_rate), "0", "0", "1",
     NULL, "share of frames that are held back for link.reorder-delay"},
    {"link.reorder-delay", SIM_ATTR_TIME, false, AT(reorder_delay_ps), "5us", "1ns", "1s",
     NULL, "how long a reordered frame is held back"},
    {"link.duplicate-rate", SIM_ATTR_RATIO, false, AT(duplicate_rate), "0", "0", "1",
     NULL, "share of frames that arrive twice"},
};
#undef AT

#define AT(member) offsetof(net_switch_config_t, member)
static const sim_attr_t switch_attrs[] = {
    {"switch.mmu", SIM_ATTR_NAME, false, AT(mmu), "standard", NULL, NULL,
     NULL, "rules of the buffer and of pauses: standard; hpcc: those of the HPCC project's simulator, turns of classes included; or a program's own"},
    {"switch.buffer", SIM_ATTR_BYTES, false, AT(buffer_bytes), "32MB", "1KB", "64GB",
     NULL, "packet memory of the whole switch: shared, reserved and headroom together"},
    {"switch.pfc.enabled", SIM_ATTR_BOOL, false, AT(pfc_enabled), "true", NULL, NULL,
     NULL, "priority flow control (IEEE 802.1Qbb) for the classes of switch.pfc.priorities"},
    {"switch.pfc.priorities", SIM_ATTR_PRIORITIES, false, AT(pfc_priorities), "[3]", NULL, NULL,
     NULL, "the lossless classes"},
    {"switch.pfc.alpha", SIM_ATTR_RATIO, false, AT(pfc_alpha), "1/8", "1/1024", "64",
     NULL, "XOFF when an ingress (port, class) uses more shared buffer than alpha x what is free"},
    {"switch.pfc.threshold", SIM_ATTR_BYTES, true, AT(pfc_threshold_bytes), "auto", "0", "64GB",
     NULL, "fixed XOFF threshold instead of alpha; auto: dynamic"},
    {"switch.pfc.xon-offset", SIM_ATTR_BYTES, false, AT(pfc_xon_bytes), "3KiB", "0", "64GB",
     NULL, "XON when use has fallen this far below the threshold"},
    {"switch.pfc.reserved", SIM_ATTR_BYTES, false, AT(pfc_reserved_bytes), "4KiB", "0", "64GB",
     NULL, "buffer of each lossless (port, class) before it draws on the shared part"},
    {"switch.pfc.headroom", SIM_ATTR_BYTES, true, AT(pfc_headroom_bytes), "auto", "0", "64GB",
     NULL, "buffer of each lossless (port, class) for what arrives after XOFF; auto: from rate, delay, MTU and response"},
    {"switch.pfc.response", SIM_ATTR_TIME, true, AT(pfc_response_ps), "auto", "0ps", "1ms",
     NULL, "time the peer may take to obey, for the headroom; auto: IEEE 802.3 31B.3.7 by rate"},
    {"switch.pfc.quanta", SIM_ATTR_COUNT, false, AT(pfc_quanta), "65535", "1", "65535",
     NULL, "pause time in an XOFF, in units of 512 bit times; refreshed at half of it"},
    {"switch.pfc.watchdog", SIM_ATTR_ENUM, false, AT(pfc_watchdog), "off", NULL, NULL,
     "off|drop|ignore", "what breaks a pause that lasts: the packets that wait for it are dropped, or it is ignored; off: nothing does"},
    {"switch.pfc.watchdog-detect", SIM_ATTR_TIME, false, AT(watchdog_detect_ps), "200ms", "1us", "100s",
     NULL, "a pause with packets waiting that holds so long is broken"},
    {"switch.pfc.watchdog-restore", SIM_ATTR_TIME, false, AT(watchdog_restore_ps), "200ms", "1us", "100s",
     NULL, "after so long without a pause frame the class is as it was"},
    {"switch.lossy-alpha", SIM_ATTR_RATIO, false, AT(lossy_alpha), "1", "1/1024", "64",
     NULL, "a lossy egress queue may use alpha x free shared buffer"},
    {"switch.marking", SIM_ATTR_NAME, false, AT(marking), "red", NULL, NULL,
     NULL, "who decides on marks: red, by switch.ecn; or a program's own"},
    {"switch.ecn.enabled", SIM_ATTR_BOOL, false, AT(ecn_enabled), "true", NULL, NULL,
     NULL, "mark CE by RED on the egress queue"},
    {"switch.ecn.priorities", SIM_ATTR_PRIORITIES, false, AT(ecn_priorities), "[0, 1, 2, 3, 4, 5, 6, 7]", NULL, NULL,
     NULL, "classes that are marked"},
    {"switch.ecn.mark-at", SIM_ATTR_ENUM, false, AT(ecn_mark_at), "dequeue", NULL, NULL,
     "dequeue|enqueue", "the queue that decides on a mark: what a packet leaves behind, or what it finds ahead of it"},
    {"switch.ecn.kmin", SIM_ATTR_BYTES, false, AT(ecn_kmin_bytes), "400KB", "0", "4GB",
     NULL, "no marks up to this queue (of a 100 Gbps port where switch.ecn.scale is on)"},
    {"switch.ecn.kmax", SIM_ATTR_BYTES, false, AT(ecn_kmax_bytes), "1600KB", "0", "4GB",
     NULL, "every packet is marked above this queue"},
    {"switch.ecn.pmax", SIM_ATTR_RATIO, false, AT(ecn_pmax), "0.2", "0", "1",
     NULL, "mark probability at kmax"},
    {"switch.ecn.scale", SIM_ATTR_BOOL, false, AT(ecn_scale), "true", NULL, NULL,
     NULL, "kmin and kmax in proportion to the port's rate / 100 Gbps"},
    {"switch.ecn.profiles", SIM_ATTR_PROFILES, false, AT(ecn_profiles), "[]", NULL, NULL,
     NULL, "kmin, kmax and pmax of ports of a rate, in the place of the three above and not scaled: rows of rate kmin kmax pmax"},
    {"switch.trust", SIM_ATTR_ENUM, false, AT(trust), "dscp", NULL, NULL,
     "dscp|pcp", "the class of a packet: its DSCP / 8, or the 802.1Q PCP"},
    {"switch.strict-priorities", SIM_ATTR_PRIORITIES, false, AT(strict_priorities), "[6, 7]", NULL, NULL,
     NULL, "classes served before the others, the highest first"},
    {"switch.weights", SIM_ATTR_WEIGHTS, false, AT(weights), "1", "1", "255",
     NULL, "weights of the other classes in deficit weighted round robin"},
    {"switch.ecmp-seed", SIM_ATTR_COUNT, true, AT(ecmp_seed), "auto", "0", "4294967295",
     NULL, "seed of the ECMP hash; auto: its own for every switch"},
    {"switch.telemetry", SIM_ATTR_BOOL, false, AT(telemetry), "true", NULL, NULL,
     NULL, "writes INT and PINT into packets that ask for it"},
};
#undef AT

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
