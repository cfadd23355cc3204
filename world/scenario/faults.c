// SPDX-License-Identifier: Apache-2.0
// world/scenario/faults.c - the section "faults": which part fails, how, when, and when it is
// mended.
//
// A part is a link by the nodes it joins ("leaf0--spine1", one of a bundle "leaf0--spine1#2"), all
// links of a node ("spine1"), or one NIC's link ("host3/nic1"). world/construct/apply_faults.c
// passes the faults to the network.
#include "world/faults.h"
#include "world/bind.h"
#include "world/patterns.h"
#include "world/scenario/choice.h"
#include "world/scenario/fault_section.h"

#include <string.h>

#include "net/faults.h"

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(world_fault_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "faults.part", part, "", "part that fails: a link (leaf0--spine1; one of a bundle: leaf0--spine1#2), all links of a switch or host (spine1), a NIC's link (host3/nic1)"),
    ATTR(ENUM, "faults.kind", kind, "down", "down|degraded|bit-errors|slow-receiver|pause-storm", "kind of fault; down: no frame passes; degraded: the link has a lower rate; bit-errors: it loses frames; slow-receiver: the NIC takes packets slowly; pause-storm: the NIC pauses its peer all the time"),
    ATTR(TIME, "faults.at", at_ps, "0s", "0s", NULL, "time at which the fault begins"),
    ATTR(TIME, "faults.until", until_ps, "never", NULL, NULL, "time at which the fault ends; never: it lasts to the end of the run"),
    ATTR(TIME, "faults.every", every_ps, "never", "1ns", NULL, "period after which the fault begins again, for a flap; never: it happens once"),
    ATTR(COUNT, "faults.times", times, "1", "1", "100000", "number of times that the fault happens, with faults.every"),
    ATTR(RATE, "faults.rate", rate_bps, "10Gbps", "1Mbps", "100Tbps", "rate of a degraded link, or rate at which a slow receiver takes packets"),
    ATTR(RATIO, "faults.bit-error-rate", bit_error_rate, "1e-9", "0", "1", "probability that a bit is wrong during a fault bit-errors; a frame with a wrong bit is lost"),
    ATTR(RATIO, "faults.loss-rate", loss_rate, "0", "0", "1", "share of frames lost during a fault bit-errors, besides those with wrong bits"),
    ATTR(PRIORITIES, "faults.priorities", priorities, "[3]", "classes that a slow receiver or a pause storm stops"),
};
const sim_attr_table_t world_fault_config_attrs = {
    "faults", "simulation", sizeof(world_fault_config_t), attrs, SIM_COUNT_OF(attrs),
};
// clang-format on

// -- reading

bool world__fault_is_of_nodes(const world_fault_t *fault)
{
    return strstr(fault->config.part, "--") == NULL;
}

static sim_err_t take_part(world_fault_t *fault, world_error_t *error)
{
    char *const links =
        sim_format("%s%s", fault->config.part, world__fault_is_of_nodes(fault) ? "--*" : "");
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
    SIM_APPEND(scenario->faults, scenario->fault_count, scenario->fault_capacity, fault);
    return SIM_OK;
}

sim_err_t world__take_faults(world_scenario_t *scenario, const world_tree_t *list,
                             world_error_t *error)
{
    return world__take_list(scenario, list, "faults", "[{part: leaf0--spine1, at: 1ms}]",
                            take_fault, error);
}

void world__drop_fault(world_scenario_t *scenario)
{
    world_fault_t *const last = &scenario->faults[--scenario->fault_count];
    sim_attrs_fini(&world_fault_config_attrs, &last->config);
    world_pair_fini(&last->names);
}

void world__faults_fini(world_scenario_t *scenario)
{
    while (scenario->fault_count > 0) {
        world__drop_fault(scenario);
    }
    sim_free(scenario->faults);
}
