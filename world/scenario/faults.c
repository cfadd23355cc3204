// SPDX-License-Identifier: Apache-2.0
// world/scenario/faults.c - the section "faults": which part fails, how, when, and when it is
// mended.
//
// A part is a link by the nodes it joins ("leaf0--spine1", one of a bundle "leaf0--spine1#2"), all
// links of a node ("spine1"), or one NIC's link ("host3/nic1"): world/build/links.c. What two
// faults on
// one link have in common in time is one fault: a link is up again when all that held it down is
// over.
#include "world/world_internal.h"

#include <stdlib.h>
#include <string.h>

#include "net/faults.h"

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR("faults.part", STRING, world_fault_config_t, part,
             .default_text = "",
             .help = "part that fails: a link (leaf0--spine1; one of a bundle: leaf0--spine1#2), "
                     "all links of a switch or host (spine1), a NIC's link (host3/nic1)"),
    SIM_ATTR("faults.kind", ENUM, world_fault_config_t, kind,
             .default_text = "down",
             .choices = "down|degraded|bit-errors|slow-receiver|pause-storm",
             .help = "kind of fault; down: no frame passes; degraded: the link has a lower rate; "
                     "bit-errors: it loses frames; slow-receiver: the NIC takes packets slowly; "
                     "pause-storm: the NIC pauses its peer all the time"),
    SIM_ATTR("faults.at", TIME, world_fault_config_t, at_ps,
             .default_text = "0s", .min_text = "0s",
             .help = "time at which the fault begins"),
    SIM_ATTR("faults.until", TIME, world_fault_config_t, until_ps,
             .default_text = "never",
             .help = "time at which the fault ends; never: it lasts to the end of the run"),
    SIM_ATTR("faults.every", TIME, world_fault_config_t, every_ps,
             .default_text = "never", .min_text = "1ns",
             .help = "period after which the fault begins again, for a flap; never: it happens "
                     "once"),
    SIM_ATTR("faults.times", COUNT, world_fault_config_t, times,
             .default_text = "1", .min_text = "1", .max_text = "100000",
             .help = "number of times that the fault happens, with faults.every"),
    SIM_ATTR("faults.rate", RATE, world_fault_config_t, rate_bps,
             .default_text = "10Gbps", .min_text = "1Mbps", .max_text = "100Tbps",
             .help = "rate of a degraded link, or rate at which a slow receiver takes packets"),
    SIM_ATTR("faults.bit-error-rate", RATIO, world_fault_config_t, bit_error_rate,
             .default_text = "1e-9", .min_text = "0", .max_text = "1",
             .help = "probability that a bit is wrong during a fault bit-errors; a frame with a "
                     "wrong bit is lost"),
    SIM_ATTR("faults.loss-rate", RATIO, world_fault_config_t, loss_rate,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "share of frames lost during a fault bit-errors, besides those with wrong "
                     "bits"),
    SIM_ATTR("faults.priorities", PRIORITIES, world_fault_config_t, priorities,
             .default_text = "[3]",
             .help = "classes that a slow receiver or a pause storm stops"),
};
const sim_attr_table_t world_fault_config_attrs = {
    "faults", "simulation", sizeof(world_fault_config_t), attrs, SIM_COUNT_OF(attrs),
};
// clang-format on

// -- reading

static bool is_of_nodes(const world_fault_t *fault)
{
    return strstr(fault->config.part, "--") == NULL;
}

static sim_err_t take_part(world_fault_t *fault, world_error_t *error)
{
    char *const links = sim_format("%s%s", fault->config.part, is_of_nodes(fault) ? "--*" : "");
    sim_message_t message;
    const sim_err_t result =
        world_pair_parse(links, "--", "links, nodes or NICs", &fault->names, &message);
    sim_free(links);
    return result == SIM_OK
               ? SIM_OK
               : world_fail(error, result, &fault->place, "faults: part: %s", message.text);
}

static sim_err_t take_fault(world_scenario_t *scenario, const world_tree_t *map,
                            world_error_t *error)
{
    world_fault_t fault = {.place = map->place};
    sim_attrs_default(&world_fault_config_attrs, &fault.config);
    const world_targets_t targets = world_targets_one(&world_fault_config_attrs, &fault.config);
    sim_err_t result = world_bind(map, "faults", &targets, NULL, error);
    const world_fault_config_t *const config = &fault.config;
    const char *wrong = NULL;
    if (result == SIM_OK && config->part[0] == '\0') {
        wrong = "no part, expected one such as 'part: leaf0--spine1'";
    } else if (config->until_ps <= config->at_ps) {
        wrong = "the fault ends before it begins, expected 'until' after 'at'";
    } else if (config->every_ps != SIM_TIME_NEVER &&
               (config->until_ps == SIM_TIME_NEVER ||
                config->every_ps <= config->until_ps - config->at_ps)) {
        wrong =
            "the fault comes again before it ends, expected 'every' longer than 'until' less 'at'";
    } else if (config->every_ps == SIM_TIME_NEVER && config->times > 1) {
        wrong = "the fault comes several times, expected 'every', the time from one to the next";
    }
    if (result == SIM_OK && wrong != NULL) {
        result = world_fail(error, SIM_ERR_RANGE, &map->place, "faults: %s", wrong);
    }
    if (result == SIM_OK) {
        result = take_part(&fault, error);
    }
    if (result != SIM_OK) {
        sim_attrs_fini(&world_fault_config_attrs, &fault.config);
        return result;
    }
    SIM_GROW(scenario->faults, scenario->fault_count, &scenario->fault_capacity);
    scenario->faults[scenario->fault_count++] = fault;
    return SIM_OK;
}

sim_err_t world__take_faults(world_scenario_t *scenario, const world_tree_t *list,
                             world_error_t *error)
{
    if (list->is_null) {
        return SIM_OK;
    }
    if (list->kind != WORLD_TREE_LIST) {
        return world_fail(error, SIM_ERR_INVALID, &list->place,
                          "faults is %s, expected a list: [{part: leaf0--spine1, at: 1ms}]",
                          world_tree_kind_text(list));
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < list->count && result == SIM_OK; i++) {
        result = take_fault(scenario, list->entries[i].value, error);
    }
    return result;
}

void world__faults_fini(world_scenario_t *scenario)
{
    for (size_t i = 0; i < scenario->fault_count; i++) {
        sim_attrs_fini(&world_fault_config_attrs, &scenario->faults[i].config);
        world_pair_fini(&scenario->faults[i].names);
    }
    sim_free(scenario->faults);
}

// -- when: times that a link is down, put together

typedef struct span {
    sim_time_t at_ps;
    sim_time_t until_ps;
} span_t;

typedef struct span_list {
    span_t *spans;
    size_t count;
    size_t capacity;
} span_list_t;

static void add_span(span_list_t *list, sim_time_t at_ps, sim_time_t until_ps)
{
    SIM_GROW(list->spans, list->count, &list->capacity);
    list->spans[list->count++] = (span_t){at_ps, until_ps};
}

static int compare_spans(const void *a, const void *b)
{
    const span_t *const x = a;
    const span_t *const y = b;
    return (x->at_ps > y->at_ps) - (x->at_ps < y->at_ps);
}

static void take_down(const world_t *world, uint32_t link, span_list_t *list)
{
    if (list->count > 0) {
        qsort(list->spans, list->count, sizeof(*list->spans), compare_spans);
    }
    for (size_t i = 0; i < list->count;) {
        const sim_time_t at_ps = list->spans[i].at_ps;
        sim_time_t until_ps = list->spans[i].until_ps;
        for (i++; i < list->count && list->spans[i].at_ps <= until_ps; i++) {
            until_ps = list->spans[i].until_ps > until_ps ? list->spans[i].until_ps : until_ps;
        }
        net_link_change_at(world->net, link, at_ps, false);
        if (until_ps != SIM_TIME_NEVER) {
            net_link_change_at(world->net, link, until_ps, true);
        }
    }
    sim_free(list->spans);
}

// Returns the host's end of a link, which slow receivers and storms need; of two hosts the one
// named first; NULL if there is none.
static const net_node_t *host_end(net_link_t link, const world_pair_t *names)
{
    const bool a = link.a->kind == NET_NODE_HOST;
    const bool b = link.b->kind == NET_NODE_HOST;
    if (a && b) {
        return world__end_meant(names, link.a, link.a_port) ? link.a : link.b;
    }
    return a ? link.a : b ? link.b : NULL;
}

static void add_fault(const world_t *world, const world_fault_t *meant, uint32_t link,
                      sim_time_t at_ps, sim_time_t until_ps)
{
    const world_fault_config_t *const config = &meant->config;
    const net_fault_t fault = {
        .kind = (net_fault_kind_t)(config->kind - 1),
        .link = link,
        .node = host_end(net_link_at(world->net, link), &meant->names),
        .at_ps = at_ps,
        .until_ps = until_ps,
        .rate_bps = config->rate_bps,
        .bit_error_rate = config->bit_error_rate,
        .loss_rate = config->loss_rate,
        .priorities = config->priorities,
    };
    net_fault_at(world->net, &fault);
}

static sim_err_t check_fault(const world_t *world, const world_fault_t *fault, world_error_t *error)
{
    const world_fault_config_t *const config = &fault->config;
    const bool of_nic = config->kind >= WORLD_FAULT_SLOW_RECEIVER;
    size_t links = 0;
    size_t hosts = 0;
    for (size_t l = 0; l < net_link_count(world->net); l++) {
        if (world__link_meant(world, &fault->names, l)) {
            links++;
            hosts += host_end(net_link_at(world->net, l), &fault->names) != NULL;
        }
    }
    world_shown_t shown;
    if (links > 0 && (!of_nic || hosts == links)) {
        return SIM_OK;
    }
    world_fail(error, SIM_ERR_UNKNOWN, &fault->place,
               links == 0 ? "faults: '%s' matches no link, node or NIC"
                          : "faults: '%s' is more than links of hosts, expected a host or its NIC",
               world_show(&shown, config->part));
    if (links == 0 && is_of_nodes(fault)) {
        world_add_nearest_node(error, world->net, config->part, -1);
    }
    return SIM_ERR_UNKNOWN;
}

// Refuses faults of one kind that overlap on a link: the end of one would end the other.
static sim_err_t check_overlaps(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; i < scenario->fault_count; i++) {
        for (size_t j = 0; j < i; j++) {
            const world_fault_t *const later = &scenario->faults[i];
            const world_fault_t *const earlier = &scenario->faults[j];
            const world_fault_config_t *const x = &later->config;
            const world_fault_config_t *const y = &earlier->config;
            const bool apart = x->until_ps <= y->at_ps || y->until_ps <= x->at_ps;
            if (x->kind != y->kind || x->kind == WORLD_FAULT_DOWN ||
                (apart && x->times == 1 && y->times == 1)) {
                continue;
            }
            for (size_t l = 0; l < net_link_count(world->net); l++) {
                if (world__link_meant(world, &later->names, l) &&
                    world__link_meant(world, &earlier->names, l)) {
                    return world_fail(error, SIM_ERR_RANGE, &later->place,
                                      "faults: the link already has a fault of this kind at that "
                                      "time, expected one at a time");
                }
            }
        }
    }
    return SIM_OK;
}

sim_err_t world__apply_faults(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; i < scenario->fault_count; i++) {
        const sim_err_t result = check_fault(world, &scenario->faults[i], error);
        if (result != SIM_OK) {
            return result;
        }
    }
    const sim_err_t result = check_overlaps(world, error);
    for (size_t l = 0; l < net_link_count(world->net) && result == SIM_OK; l++) {
        span_list_t downs = {0};
        for (size_t i = 0; i < scenario->link_count; i++) {
            const world_link_overlay_t *const overlay = &scenario->links[i];
            const bool meant = world__link_meant(world, &overlay->names, l);
            for (size_t d = 0; meant && d < overlay->down_count; d++) {
                add_span(&downs, overlay->downs[d].config.at_ps, overlay->downs[d].config.until_ps);
            }
        }
        for (size_t i = 0; i < scenario->fault_count; i++) {
            const world_fault_t *const fault = &scenario->faults[i];
            const world_fault_config_t *const config = &fault->config;
            const bool meant = world__link_meant(world, &fault->names, l);
            SIM_CHECK(config->at_ps < config->until_ps);
            for (uint64_t t = 0; meant && t < config->times; t++) {
                if (t > 0 && (config->at_ps >= SIM_TIME_END ||
                              config->every_ps > (SIM_TIME_END - config->at_ps) / t)) {
                    break; // every run has ended by then
                }
                const sim_time_t later_ps = t == 0 ? 0 : t * config->every_ps;
                const sim_time_t until_ps = config->until_ps == SIM_TIME_NEVER
                                                ? SIM_TIME_NEVER
                                                : config->until_ps + later_ps;
                if (config->kind == WORLD_FAULT_DOWN) {
                    add_span(&downs, config->at_ps + later_ps, until_ps);
                } else {
                    add_fault(world, fault, (uint32_t)l, config->at_ps + later_ps, until_ps);
                }
            }
        }
        take_down(world, (uint32_t)l, &downs);
    }
    return result;
}
