// SPDX-License-Identifier: Apache-2.0
// cli/import/sonic_keys.c - what each table and field of SONiC's config_db.json becomes.
// docs/formats/import.md prints these rows.
#include "cli/import/sonic.h"

#define ROW_BECAME(table, field, text) {table, field, IMPORT_BECAME, text},
#define ROW_ASSUMED(table, field, text) {table, field, IMPORT_ASSUMED, text},
#define ROW_IGNORED(table, field, text) {table, field, IMPORT_IGNORED, text},

// clang-format off
static const import_key_t keys[] = {
    ROW_BECAME("DEVICE_METADATA", "hostname", "the name of the switch")
    ROW_BECAME("PORT", "", "a port of the switch")
    ROW_BECAME("PORT", "speed", "the rate of the port's link")
    ROW_BECAME("PORT", "alias", "another name by which neighbours know the port")
    ROW_BECAME("PORT", "admin_status", "a port that is down has no link")
    ROW_BECAME("CABLE_LENGTH", "", "the delay of the port's link, at 5 ns a metre")
    ROW_BECAME("DEVICE_NEIGHBOR", "name", "the node at the other end of the port's link")
    ROW_BECAME("DEVICE_NEIGHBOR", "port", "the port at the other end of the link")
    ROW_BECAME("DEVICE_NEIGHBOR_METADATA", "type", "a switch (Router, Switch, Leaf, Spine, ToR) or a host")
    ROW_BECAME("BUFFER_POOL", "size", "switch.buffer: the size of the lossless ingress pool plus the reserved bytes of all lossless classes of all ports and their headroom, or the xoff of the pool")
    ROW_BECAME("BUFFER_POOL", "xoff", "switch.pfc.headroom-pool: the bytes that the headroom of all ports may hold together")
    ROW_IGNORED("BUFFER_POOL", "mode", "all pools are dynamic")
    ROW_IGNORED("BUFFER_POOL", "type", "the name of the pool says it")
    ROW_BECAME("BUFFER_PROFILE", "xoff", "link.headroom or switch.pfc.headroom of the ports that use the profile")
    ROW_BECAME("BUFFER_PROFILE", "size", "switch.pfc.reserved; without the headroom where the size contains it")
    ROW_BECAME("BUFFER_PROFILE", "dynamic_th", "switch.pfc.alpha = 2^dynamic_th, and switch.lossy-alpha in a profile of BUFFER_QUEUE")
    ROW_BECAME("BUFFER_PROFILE", "static_th", "switch.pfc.threshold")
    ROW_BECAME("BUFFER_PROFILE", "xon_offset", "switch.pfc.xon-offset")
    ROW_IGNORED("BUFFER_PROFILE", "xon", "the peer continues xon_offset below the threshold")
    ROW_BECAME("BUFFER_PROFILE", "pool", "whether the profile is one of lossless classes")
    ROW_BECAME("BUFFER_PG", "profile", "the headroom and the threshold of these classes of the port")
    ROW_BECAME("BUFFER_QUEUE", "profile", "switch.lossy-alpha, where the name of the profile does not say lossless")
    ROW_IGNORED("BUFFER_PORT_INGRESS_PROFILE_LIST", "", "a port has no limit over all its classes")
    ROW_IGNORED("BUFFER_PORT_EGRESS_PROFILE_LIST", "", "a port has no limit over all its classes")
    ROW_BECAME("WRED_PROFILE", "green_min_threshold", "switch.ecn.kmin of the ports whose queues use the profile")
    ROW_BECAME("WRED_PROFILE", "green_max_threshold", "switch.ecn.kmax")
    ROW_BECAME("WRED_PROFILE", "green_drop_probability", "switch.ecn.pmax")
    ROW_BECAME("WRED_PROFILE", "ecn", "whether these queues mark packets: all, or those of green packets")
    ROW_IGNORED("WRED_PROFILE", "wred_green_enable", "packets that can be marked are marked, not dropped")
    ROW_IGNORED("WRED_PROFILE", "yellow_min_threshold", "all packets are green")
    ROW_IGNORED("WRED_PROFILE", "yellow_max_threshold", "all packets are green")
    ROW_IGNORED("WRED_PROFILE", "yellow_drop_probability", "all packets are green")
    ROW_IGNORED("WRED_PROFILE", "wred_yellow_enable", "all packets are green")
    ROW_IGNORED("WRED_PROFILE", "red_min_threshold", "all packets are green")
    ROW_IGNORED("WRED_PROFILE", "red_max_threshold", "all packets are green")
    ROW_IGNORED("WRED_PROFILE", "red_drop_probability", "all packets are green")
    ROW_IGNORED("WRED_PROFILE", "wred_red_enable", "all packets are green")
    ROW_BECAME("QUEUE", "wred_profile", "switch.ecn.priorities: the classes whose queues mark")
    ROW_BECAME("QUEUE", "scheduler", "switch.weights and switch.strict-priorities")
    ROW_BECAME("SCHEDULER", "type", "STRICT: switch.strict-priorities; DWRR and WRR: switch.weights")
    ROW_BECAME("SCHEDULER", "weight", "switch.weights")
    ROW_BECAME("PORT_QOS_MAP", "pfc_enable", "switch.pfc.priorities")
    ROW_BECAME("PORT_QOS_MAP", "dscp_to_tc_map", "which DSCPs reach the lossless classes: a comment of switch.pfc.priorities")
    ROW_BECAME("PORT_QOS_MAP", "tc_to_queue_map", "a class of the scenario is a traffic class; the map finds its queue and with it ECN, weight and PFC")
    ROW_BECAME("PORT_QOS_MAP", "tc_to_pg_map", "whether each lossless class has a priority group with headroom")
    ROW_BECAME("PORT_QOS_MAP", "pfc_to_queue_map", "the queues, and with them the traffic classes, that a pause stops")
    ROW_BECAME("PFC_WD", "action", "switch.pfc.watchdog: drop, forward as ignore, alert as off")
    ROW_BECAME("PFC_WD", "detection_time", "switch.pfc.watchdog-detect, in milliseconds")
    ROW_BECAME("PFC_WD", "restoration_time", "switch.pfc.watchdog-restore, in milliseconds")
    ROW_IGNORED("PORT_QOS_MAP", "pfcwd_sw_enable", "PFC_WD says which ports have a watchdog")
    ROW_BECAME("DSCP_TO_TC_MAP", "", "see PORT_QOS_MAP dscp_to_tc_map")
    ROW_BECAME("TC_TO_QUEUE_MAP", "", "see PORT_QOS_MAP tc_to_queue_map")
    ROW_BECAME("TC_TO_PRIORITY_GROUP_MAP", "", "see PORT_QOS_MAP tc_to_pg_map")
    ROW_BECAME("MAP_PFC_PRIORITY_TO_QUEUE", "", "see PORT_QOS_MAP pfc_to_queue_map")
    ROW_ASSUMED("MAP_PFC_PRIORITY_TO_PRIORITY_GROUP", "", "the priority group has the number of the PFC priority")
    ROW_ASSUMED("LOSSLESS_TRAFFIC_PATTERN", "", "headroom that no profile gives is computed for full-sized frames")
    ROW_ASSUMED("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "", "headroom that no profile gives is computed from rate, length and MTU")
    ROW_IGNORED("PORTCHANNEL", "", "the links of a port channel are equal paths")
    ROW_IGNORED("PORTCHANNEL_MEMBER", "", "the links of a port channel are equal paths")
    ROW_IGNORED("BGP_NEIGHBOR", "", "packets take all shortest paths, whatever routes are configured")
    ROW_IGNORED("INTERFACE", "", "hosts have addresses of the simulation")
    ROW_IGNORED("LOOPBACK_INTERFACE", "", "hosts have addresses of the simulation")
    ROW_IGNORED("VLAN", "", "all hosts can reach each other")
    ROW_IGNORED("VLAN_MEMBER", "", "all hosts can reach each other")
    ROW_IGNORED("VLAN_INTERFACE", "", "hosts have addresses of the simulation")
};
// clang-format on

const import_format_t import_sonic = {
    .name = "SONiC config_db.json",
    .is = import_sonic_is,
    .read = import_sonic_read,
    .keys = keys,
    .key_count = SIM_COUNT_OF(keys),
};
