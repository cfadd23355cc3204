// SPDX-License-Identifier: Apache-2.0
// world/construct/apply_faults.c - passes faults and links that go down to the network. What two
// faults on one link have in common in time is one fault: a link is up again when all that held it
// down is over.
#include "world/construct/apply_faults.h"
#include "net/faults.h"
#include "net/link_state.h"
#include "world/construct/link_patterns.h"
#include "world/faults.h"
#include "world/names.h"
#include "world/overlays.h"
#include "world/patterns.h"
#include "world/scenario/fault_section.h"
#include "world/yaml_tree.h"

#include <stdlib.h>
#include <string.h>

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
    SIM_APPEND(list->spans, list->count, list->capacity, (span_t){at_ps, until_ps});
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
            until_ps = SIM_MAX(list->spans[i].until_ps, until_ps);
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

// Returns whether a text is A--B but for the characters between the two names: A-B, A->B, A/B.
static bool is_nearly(const char *text, const char *a, const char *b)
{
    const size_t a_size = strlen(a);
    if (strncmp(text, a, a_size) != 0) {
        return false;
    }
    const char *const rest = text + a_size;
    const size_t between = strspn(rest, "-><:,/_ ");
    return between > 0 && strcmp(rest + between, b) == 0;
}

// Adds the link that a text nearly names. Returns whether there is one.
static bool add_nearest_link(world_error_t *error, const net_t *net, const char *text)
{
    for (size_t l = 0; l < net_link_count(net); l++) {
        const net_link_t link = net_link_at(net, l);
        const char *const a = link.a->sim.name;
        const char *const b = link.b->sim.name;
        if (is_nearly(text, a, b) || is_nearly(text, b, a)) {
            world_error_add(error, ", did you mean %s--%s?", a, b);
            return true;
        }
    }
    return false;
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
    if (links == 0 && !add_nearest_link(error, world->net, config->part) &&
        world__fault_is_of_nodes(fault)) {
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

// -- during a run by steps

// Returns whether a link is down at some time from at_ps to until_ps by what the scenario says, but
// for its last fault.
static bool is_held_down(const world_t *world, size_t link, sim_time_t at_ps, sim_time_t until_ps)
{
    const world_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; i + 1 < scenario->fault_count; i++) {
        const world_fault_config_t *const config = &scenario->faults[i].config;
        const sim_time_t end_ps = config->times > 1 ? SIM_TIME_NEVER : config->until_ps;
        if (config->kind == WORLD_FAULT_DOWN && config->at_ps < until_ps && at_ps < end_ps &&
            world__link_meant(world, &scenario->faults[i].names, link)) {
            return true;
        }
    }
    for (size_t i = 0; i < scenario->link_count; i++) {
        const world_link_overlay_t *const overlay = &scenario->links[i];
        for (size_t d = 0; d < overlay->down_count; d++) {
            const world_down_config_t *const down = &overlay->downs[d].config;
            if (down->at_ps < until_ps && at_ps < down->until_ps &&
                world__link_meant(world, &overlay->names, link)) {
                return true;
            }
        }
    }
    return false;
}

// Begins the last fault of the scenario, which is checked but for links that are down already.
static sim_err_t begin_fault(const world_t *world, world_fault_t *fault, world_error_t *error)
{
    world_fault_config_t *const config = &fault->config;
    const bool down = config->kind == WORLD_FAULT_DOWN;
    sim_time_t at_ps = config->at_ps;
    for (uint32_t l = 0; down && l < net_link_count(world->net); l++) {
        if (world__link_meant(world, &fault->names, l)) {
            at_ps = SIM_MAX(net_link_quiet_ps(world->net, l, config->at_ps), at_ps);
        }
    }
    config->until_ps += config->until_ps == SIM_TIME_NEVER ? 0 : at_ps - config->at_ps;
    config->at_ps = at_ps;
    for (uint32_t l = 0; down && l < net_link_count(world->net); l++) {
        if (world__link_meant(world, &fault->names, l) &&
            is_held_down(world, l, at_ps, config->until_ps)) {
            return world_fail(error, SIM_ERR_RANGE, &fault->place,
                              "faults: a link of '%s' is down, or goes down, at that time already",
                              config->part);
        }
    }
    for (uint32_t l = 0; l < net_link_count(world->net); l++) {
        if (!world__link_meant(world, &fault->names, l)) {
            continue;
        }
        if (!down) {
            add_fault(world, fault, l, at_ps, config->until_ps);
            continue;
        }
        net_link_change_at(world->net, l, at_ps, false);
        if (config->until_ps != SIM_TIME_NEVER) {
            net_link_change_at(world->net, l, config->until_ps, true);
        }
    }
    return SIM_OK;
}

static void add_word(world_document_t *document, world_tree_t *map, const char *key,
                     const char *value)
{
    world_tree_add(map, world_tree_new_scalar(document, map->place, key),
                   world_tree_new_scalar(document, map->place, value));
}

sim_err_t world_add_fault(const world_t *world, world_scenario_t *scenario,
                          const world_place_t *place, const char *const *words, sim_time_t now_ps,
                          sim_time_t for_ps, sim_time_t *at_ps, world_error_t *error)
{
    SIM_CHECK(world->scenario == scenario && scenario->steps);
    world_document_t *const document = world_document_create();
    world_tree_t *const list = world_tree_new(document, WORLD_TREE_LIST, *place);
    world_tree_t *const map = world_tree_new(document, WORLD_TREE_MAP, *place);
    char *const at = sim_format("%" PRIu64 "ps", now_ps);
    add_word(document, map, "at", at);
    sim_free(at);
    if (for_ps != SIM_TIME_NEVER) {
        char *const until = sim_format("%" PRIu64 "ps", now_ps + for_ps);
        add_word(document, map, "until", until);
        sim_free(until);
    }
    for (size_t i = 0; words[i] != NULL; i += 2) {
        add_word(document, map, words[i], words[i + 1]);
    }
    world_tree_add(list, NULL, map);
    const size_t before = scenario->fault_count;
    sim_err_t result = world__take_faults(scenario, list, error);
    world_document_destroy(document);
    if (result != SIM_OK) {
        return result;
    }
    world_fault_t *const fault = &scenario->faults[before];
    fault->place.origin = world_document_text(scenario->document, place->origin);
    if (fault->config.times > 1) {
        result = world_fail(error, SIM_ERR_INVALID, place, "faults: times: expected one time");
    } else if (fault->config.at_ps < now_ps) {
        result = world_fail(error, SIM_ERR_RANGE, place, "faults: at: this time has passed");
    }
    result = result == SIM_OK ? check_fault(world, fault, error) : result;
    result = result == SIM_OK ? check_overlaps(world, error) : result;
    result = result == SIM_OK ? begin_fault(world, fault, error) : result;
    *at_ps = fault->config.at_ps;
    if (result != SIM_OK) {
        world__drop_fault(scenario);
    }
    return result;
}

sim_err_t world_end_fault(const world_t *world, world_scenario_t *scenario,
                          const world_place_t *place, const char *part, sim_time_t now_ps,
                          sim_time_t *at_ps, world_error_t *error)
{
    SIM_CHECK(world->scenario == scenario && scenario->steps);
    for (size_t i = 0; i < scenario->fault_count; i++) {
        world_fault_t *const fault = &scenario->faults[i];
        world_fault_config_t *const config = &fault->config;
        if (config->kind != WORLD_FAULT_DOWN || config->until_ps != SIM_TIME_NEVER ||
            config->times > 1 || strcmp(config->part, part) != 0) {
            continue;
        }
        config->until_ps = SIM_MAX(config->at_ps + 1, now_ps);
        for (uint32_t l = 0; l < net_link_count(world->net); l++) {
            if (world__link_meant(world, &fault->names, l)) {
                net_link_change_at(world->net, l, config->until_ps, true);
            }
        }
        *at_ps = config->until_ps;
        return SIM_OK;
    }
    world_shown_t shown;
    return world_fail(error, SIM_ERR_UNKNOWN, place,
                      "faults: nothing has taken '%s' down for ever, expected the part of a fault "
                      "that has no end",
                      world_show(&shown, part));
}
