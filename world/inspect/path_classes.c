// SPDX-License-Identifier: Apache-2.0
// world/inspect/path_classes.c - the class of packets at each hop of the paths in use, and what
// is odd about it.
//
// Ports are put together by the names of their two ends without numbers ("edge*->agg*"), so that a
// fat-tree has six rows whatever its size. Nodes with more than GROUPS_MAX such names are
// all called "*".
#include <string.h>

#include "net/ports.h"
#include "world/advice.h"
#include "world/format.h"
#include "world/path_classes.h"
#include "world/planned_transfers.h"

#define GROUPS_MAX 64u
#define ROWS_MAX 64u
#define GROUP_BYTES 40u

typedef struct groups {
    char names[GROUPS_MAX][GROUP_BYTES];
    size_t count;
    uint8_t *of; // by node
} groups_t;

// A row: how a node treats the packets of a class that it transmits at a port.
typedef struct hop_row {
    uint8_t from;
    uint8_t to;
    uint8_t class;
    bool by_switch; // else a host's: it sends in that class
    bool lossless;
    bool marked;
    uint8_t protected; // classes that PFC makes lossless there
    uint8_t hop;       // of the first
    uint64_t ports;
    const net_port_t *first;
} hop_row_t;

typedef struct table {
    hop_row_t rows[ROWS_MAX];
    size_t count;
    uint64_t left_out; // ports
} table_t;

static void name_group(const char *name, char *group)
{
    size_t length = 0;
    for (const char *at = name; *at != '\0' && length + 1 < GROUP_BYTES; at++) {
        if (*at < '0' || *at > '9') {
            group[length++] = *at;
        } else if (length == 0 || group[length - 1] != '*') {
            group[length++] = '*';
        }
    }
    group[length] = '\0';
}

static void groups_init(groups_t *groups, const net_t *net)
{
    const size_t nodes = net_node_count(net);
    memset(groups, 0, sizeof(*groups));
    groups->of = sim_alloc(nodes + 1);
    for (size_t i = 0; i < nodes; i++) {
        char name[GROUP_BYTES];
        name_group(net_node_name(net, i), name);
        size_t g = 0;
        while (g < groups->count && strcmp(groups->names[g], name) != 0) {
            g++;
        }
        if (g == GROUPS_MAX) {
            memset(groups->of, 0, nodes);
            memcpy(groups->names[0], "*", 2);
            groups->count = 1;
            return;
        }
        if (g == groups->count) {
            memcpy(groups->names[groups->count++], name, sizeof(name));
        }
        groups->of[i] = (uint8_t)g;
    }
}

static bool same_row(const hop_row_t *a, const hop_row_t *b)
{
    return a->from == b->from && a->to == b->to && a->class == b->class &&
           a->by_switch == b->by_switch && a->lossless == b->lossless && a->marked == b->marked &&
           a->protected == b->protected &&
           a->first->line->config->flow_control == b->first->line->config->flow_control;
}

static void add_port(table_t *table, const hop_row_t *row)
{
    size_t r = 0;
    while (r < table->count && !same_row(&table->rows[r], row)) {
        r++;
    }
    if (r == ROWS_MAX) {
        table->left_out++;
        return;
    }
    if (r == table->count) {
        table->rows[table->count++] = *row;
    }
    table->rows[r].ports++;
    table->rows[r].hop = SIM_MIN(row->hop, table->rows[r].hop);
}

static hop_row_t row_of(const net_port_t *port, uint8_t class)
{
    const net_node_t *const node = port->node;
    hop_row_t row = {.class = class, .by_switch = node->kind == NET_NODE_SWITCH, .first = port};
    if (row.by_switch) {
        const net_switch_config_t *const config = net_switch_config(node);
        row.protected = config->pfc_enabled ? config->pfc_priorities : 0;
        row.lossless = ((uint32_t)row.protected >> class & 1u) != 0;
        row.marked = config->ecn_enabled && (config->ecn_priorities >> class & 1u) != 0;
    }
    return row;
}

static void fill(table_t *table, const world_t *world, const groups_t *groups,
                 const world_survey_kind_t *kind)
{
    table->count = 0;
    table->left_out = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i); // NULL: no path was asked for
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            if (kind->classes[net_port_uid(node, p)] == 0) {
                continue;
            }
            const net_port_t *const port = net_port_at(node, p);
            for (uint8_t class = 0; kind->classes[port->uid] >> class != 0; class ++) {
                if (((uint32_t)kind->classes[port->uid] >> class & 1u) == 0) {
                    continue;
                }
                hop_row_t row = row_of(port, class);
                row.from = groups->of[i];
                row.to = groups->of[net_neighbour_number(port->node, port->index)];
                row.hop = kind->hops[port->uid];
                SIM_CHECK(row.from < groups->count && row.to < groups->count && row.hop > 0);
                add_port(table, &row);
            }
        }
    }
    for (size_t i = 1; i < table->count; i++) {
        const hop_row_t row = table->rows[i];
        size_t at = i;
        for (; at > 0 && table->rows[at - 1].hop > row.hop; at--) {
            table->rows[at] = table->rows[at - 1];
        }
        table->rows[at] = row;
    }
}

static void print_row(const groups_t *groups, const hop_row_t *row, FILE *out)
{
    char link[2 * GROUP_BYTES + 4];
    (void)snprintf(link, sizeof(link), "%s->%s", groups->names[row->from], groups->names[row->to]);
    fprintf(out, "            %-20s %" PRIu64 " port%s: class %u", link, row->ports,
            row->ports == 1 ? "" : "s", row->class);
    if (!row->by_switch) {
        fprintf(out, ", as sent\n");
        return;
    }
    if (row->lossless) {
        fprintf(out, ", lossless %s", world__held_by(1u << row->first->line->config->flow_control));
    } else if (row->protected == 0) {
        fprintf(out, ", lossy: no PFC");
    } else {
        fprintf(out, ", lossy: PFC is for");
        for (uint32_t c = 0; c < NET_PRIORITIES; c++) {
            if ((row->protected >> c & 1u) != 0) {
                fprintf(out, " %u", c);
            }
        }
    }
    fprintf(out, row->marked ? ", marked by ECN\n" : ", no ECN\n");
}

void world_print_hops(const world_t *world, FILE *out)
{
    const world_survey_t *const survey = world->survey;
    groups_t groups;
    groups_init(&groups, world->net);
    table_t *const table = sim_alloc(sizeof(*table));
    for (size_t k = 0; k < survey->kind_count; k++) {
        const world_survey_kind_t *const kind = &survey->kinds[k];
        fill(table, world, &groups, kind);
        fprintf(out, "  %-8s  %s, priority (PCP) %u, DSCP %u, of %" PRIu64 " transfer%s:\n",
                k == 0 ? "hops" : "", kind->cnp ? "CNPs" : "data and answers", kind->priority,
                kind->dscp, kind->transfers, kind->transfers == 1 ? "" : "s");
        for (size_t r = 0; r < table->count; r++) {
            print_row(&groups, &table->rows[r], out);
        }
        if (table->left_out > 0) {
            fprintf(out, "            and %" PRIu64 " more port%s\n", table->left_out,
                    sim_plural(table->left_out));
        }
    }
    if (survey->kinds_missed > 0) {
        fprintf(out, "            and %" PRIu64 " transfer%s of further priorities and DSCPs\n",
                survey->kinds_missed, sim_plural(survey->kinds_missed));
    }
    sim_free(table);
    sim_free(groups.of);
}

// -- what is odd

typedef struct verdict {
    uint64_t lossless;
    uint64_t lossy;     // while PFC protects other classes there
    uint64_t elsewhere; // take it for another class than it is sent in
    uint64_t marked;
    uint64_t switch_ports;
    const net_port_t *first_lossy; // of lossy, then any that has no PFC
    const net_port_t *first_elsewhere;
    uint64_t unprotected; // no PFC at all
    uint8_t protected;
    uint8_t class; // at first_elsewhere
} verdict_t;

static verdict_t judge(const table_t *table, uint8_t priority)
{
    verdict_t verdict = {0};
    for (size_t r = 0; r < table->count; r++) {
        const hop_row_t *const row = &table->rows[r];
        if (!row->by_switch) {
            continue;
        }
        verdict.switch_ports += row->ports;
        verdict.lossless += row->lossless ? row->ports : 0;
        verdict.marked += row->marked ? row->ports : 0;
        if (row->class != priority) {
            verdict.elsewhere += row->ports;
            verdict.first_elsewhere = row->first;
            verdict.class = row->class;
        }
        if (!row->lossless && row->protected != 0) {
            verdict.lossy += row->ports;
            verdict.protected = row->protected;
            verdict.first_lossy = row->first;
        } else if (!row->lossless) {
            verdict.unprotected += row->ports;
            verdict.first_lossy = verdict.first_lossy == NULL ? row->first : verdict.first_lossy;
        }
    }
    return verdict;
}

// Returns whether the class of this kind is a NIC's own, which classes.c has judged already.
static bool of_a_nic(const world_t *world, const world_survey_kind_t *kind)
{
    for (size_t i = 0; i < world->nic_count; i++) {
        const nic_config_t *const config = nic_config_of_interface(world->net, (uint32_t)i);
        const uint64_t dscp = config->dscp == SIM_AUTO ? config->priority * 8 : config->dscp;
        if (config->priority == kind->priority && dscp == kind->dscp) {
            return true;
        }
    }
    return false;
}

static void advise_kind(const world_t *world, const world_survey_kind_t *kind,
                        const verdict_t *verdict, world_warnings_t *out)
{
    world_text_t classes;
    if (verdict->elsewhere > 0 && !of_a_nic(world, kind)) {
        world_warn(
            out, "class-elsewhere",
            "transfers (%" PRIu64 ") are sent in class %u with DSCP %u, which %s takes "
            "for class %u: pauses stop another class than the data's; set their dscp to %u, or "
            "their priority to %u",
            kind->transfers, kind->priority, kind->dscp, verdict->first_elsewhere->node->sim.name,
            verdict->class, kind->priority * 8u, kind->dscp >> 3);
    } else if (verdict->lossless > 0 && verdict->lossy + verdict->unprotected > 0) {
        world_warn(out, "class-partly-lossless",
                   "data of priority %u, DSCP %u is lossless at %" PRIu64 " of the switch "
                   "ports on its paths and lossy at %" PRIu64
                   ", such as %s: set switch.pfc alike at "
                   "all of them",
                   kind->priority, kind->dscp, verdict->lossless,
                   verdict->lossy + verdict->unprotected, net_port_name(verdict->first_lossy));
    } else if (verdict->lossy > 0 && !of_a_nic(world, kind)) {
        world_warn(
            out, "class-lossy",
            "data of transfers (%" PRIu64 ") is in class %u, which is lossy: "
            "switch.pfc.priorities does not name it; set it to [%s], or their priority to %d",
            kind->transfers, kind->priority,
            world_format_classes(&classes, verdict->protected | 1u << kind->priority),
            __builtin_ctz(verdict->protected));
    }
}

void world__advise_hops(const world_t *world, world_warnings_t *out)
{
    const world_survey_t *const survey = world->survey;
    groups_t groups;
    groups_init(&groups, world->net);
    table_t *const table = sim_alloc(sizeof(*table));
    for (size_t k = 0; k < survey->kind_count; k++) {
        const world_survey_kind_t *const kind = &survey->kinds[k];
        if (kind->cnp) {
            continue;
        }
        fill(table, world, &groups, kind);
        const verdict_t verdict = judge(table, kind->priority);
        advise_kind(world, kind, &verdict, out);
    }
    sim_free(table);
    sim_free(groups.of);
}
