// SPDX-License-Identifier: Apache-2.0
// world/inspect/classes.c - which classes the NICs' packets are in, and what switches make of
// them.
//
// A NIC sends in a class of its own (nic.priority), which is what a pause stops; a switch goes by
// the DSCP or by the tag. Where the two disagree, a switch stops a class that the NIC does not send
// in.
#include <string.h>

#include "nic/extra.h"
#include "nic/transport.h"
#include "world/advice.h"
#include "world/format.h"

#define KINDS_MAX 8u

// A class and DSCP that the NICs of one configuration send in.
typedef struct kind {
    uint8_t priority;
    uint8_t dscp;
    uint8_t cnp_priority;
    uint8_t cnp_dscp;
    bool trimmable; // its packets are trimmed instead of dropped, so they need no lossless class
    size_t count;
    const char *first; // name of a NIC
} kind_t;

#define KIND_BYTES (offsetof(kind_t, trimmable) + sizeof(bool)) // of those that distinguish kinds

static kind_t kind_of(const nic_config_t *config)
{
    const uint64_t dscp = config->dscp == SIM_AUTO ? config->priority * 8 : config->dscp;
    const uint64_t cnp = config->cnp_dscp == SIM_AUTO ? config->cnp_priority * 8 : config->cnp_dscp;
    const void *part;
    const nic_transport_ops_t *const transport =
        nic_config_find(config, NIC_EXTRA_TRANSPORT, config->transport, &part);
    return (kind_t){
        .trimmable = transport != NULL && transport->wire != 0,
        .priority = (uint8_t)config->priority,
        .dscp = (uint8_t)dscp,
        .cnp_priority = (uint8_t)config->cnp_priority,
        .cnp_dscp = (uint8_t)cnp,
    };
}

static size_t collect(const world_t *world, kind_t *kinds)
{
    size_t count = 0;
    size_t counted = 0;
    for (size_t i = 0; i < world->nic_count; i++) {
        const kind_t kind = kind_of(nic_config_of_interface(world->net, (uint32_t)i));
        size_t k = 0;
        while (k < count && memcmp(&kinds[k], &kind, KIND_BYTES) != 0) {
            k++;
        }
        if (k == count && count < KINDS_MAX) {
            kinds[count] = kind;
            kinds[count++].first = world->nics[i].name;
        }
        kinds[k < KINDS_MAX ? k : 0].count++;
    }
    for (size_t k = 0; k < count; k++) {
        counted += kinds[k].count;
    }
    SIM_CHECKF(counted == world->nic_count, "%zu of %zu NICs", counted, world->nic_count);
    return count;
}

const char *world__held_by(uint32_t controls)
{
    static const char *const names[] = {
        [0] = "by PFC",
        [1u << NET_FLOW_CONTROL_PFC] = "by PFC",
        [1u << NET_FLOW_CONTROL_CBFC] = "by credits",
        [1u << NET_FLOW_CONTROL_PFC | 1u << NET_FLOW_CONTROL_CBFC] = "by PFC or credits",
    };
    return (controls >> NET_FLOW_CONTROL_NONE & 1u) != 0 ? "but without flow control"
                                                         : names[controls];
}

// How the switches treat a class: how many there are, and how many treat it in which way.
typedef struct treatment {
    size_t switches;
    size_t lossless;
    size_t marked;
    uint32_t controls;                // a bit for each net_flow_control_t of their links
    size_t elsewhere;                 // go by the DSCP, which says another class
    const net_switch_config_t *lossy; // one of those with PFC for other classes only
} treatment_t;

static treatment_t treat(const world_t *world, uint8_t priority, uint8_t dscp)
{
    treatment_t treatment = {0};
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i);
        if (node == NULL || node->kind != NET_NODE_SWITCH) {
            continue;
        }
        const net_switch_config_t *const config = net_switch_config(node);
        const uint32_t class = config->trust == NET_TRUST_DSCP ? dscp >> 3 : priority;
        const bool lossless = config->pfc_enabled && (config->pfc_priorities >> class & 1u) != 0;
        const bool pfc = config->pfc_enabled && config->pfc_priorities != 0;
        for (uint32_t p = 0; p < node->port_count; p++) {
            const net_line_t *const line = node->ports[p].line;
            treatment.controls |= line != NULL ? 1u << line->config->flow_control : 0;
        }
        treatment.switches++;
        treatment.lossless += lossless;
        treatment.marked += config->ecn_enabled && (config->ecn_priorities >> class & 1u) != 0;
        treatment.elsewhere += class != priority;
        treatment.lossy = pfc && !lossless ? config : treatment.lossy;
    }
    return treatment;
}

static const char *share(size_t part, size_t all)
{
    return part == 0 ? "nowhere" : part == all ? "at all switches" : "at some switches";
}

void world_print_classes(const world_t *world, FILE *out)
{
    kind_t kinds[KINDS_MAX];
    const size_t count = collect(world, kinds);
    for (size_t k = 0; k < count; k++) {
        const struct {
            const char *what;
            uint8_t priority;
            uint8_t dscp;
        } rows[] = {
            {"data", kinds[k].priority, kinds[k].dscp},
            {"CNPs", kinds[k].cnp_priority, kinds[k].cnp_dscp},
        };
        for (size_t r = 0; r < SIM_COUNT_OF(rows); r++) {
            const treatment_t at = treat(world, rows[r].priority, rows[r].dscp);
            if (at.switches == 0) {
                continue;
            }
            fprintf(out,
                    "  %-8s  %s of %zu NICs: priority (PCP) %u, DSCP %u; lossless %s %s, "
                    "marked by ECN %s\n",
                    k + r == 0 ? "classes" : "", rows[r].what, kinds[k].count, rows[r].priority,
                    rows[r].dscp, world__held_by(at.controls), share(at.lossless, at.switches),
                    share(at.marked, at.switches));
        }
    }
}

// Returns whether a switch trims a class, which therefore is to be lossy.
static bool trims(const net_switch_config_t *config, uint32_t class)
{
    return strcmp(config->mmu.text, "trimming") == 0 &&
           (config->trim_priorities >> class & 1u) != 0;
}

void world__advise_classes(const world_t *world, world_warnings_t *out)
{
    kind_t kinds[KINDS_MAX];
    world_text_t classes;
    const size_t count = collect(world, kinds);
    for (size_t k = 0; k < count; k++) {
        const kind_t *const kind = &kinds[k];
        const treatment_t at = treat(world, kind->priority, kind->dscp);
        if (at.elsewhere > 0) {
            world_warn(
                out, "class-elsewhere",
                "%s sends data in class %u with DSCP %u, which %zu switch%s for "
                "class %u: pauses stop another class than the data's; set nic.dscp to %u, or "
                "nic.priority to %u",
                kind->first, kind->priority, kind->dscp, at.elsewhere,
                at.elsewhere == 1 ? " takes" : "es take", kind->dscp >> 3, kind->priority * 8u,
                kind->dscp >> 3);
        } else if (at.lossy != NULL && kind->trimmable) {
            if (!trims(at.lossy, kind->priority)) {
                world_warn(out, "class-not-trimmed",
                           "data of %s is in class %u, which is lossy, and no switch trims it: its "
                           "transport learns of lost packets later than from trimmed ones; set "
                           "switch.mmu to trimming, and nic.priority to a class of "
                           "switch.trim.priorities",
                           kind->first, kind->priority);
            }
        } else if (at.lossy != NULL) {
            world_warn(
                out, "class-lossy",
                "data of %s is in class %u, which is lossy: switch.pfc.priorities does "
                "not name it; set it to [%s], or nic.priority to %d",
                kind->first, kind->priority,
                world_format_classes(&classes, at.lossy->pfc_priorities | 1u << kind->priority),
                __builtin_ctz(at.lossy->pfc_priorities));
        } else if (kind->trimmable && at.lossless > 0) {
            world_warn(out, "class-not-trimmed",
                       "data of %s is in class %u, which is lossless %s: its transport takes "
                       "packets that wait for long for lost ones, and sends them again; set "
                       "switch.mmu to trimming, and nic.priority to a class of "
                       "switch.trim.priorities",
                       kind->first, kind->priority, world__held_by(at.controls));
        }
    }
}
