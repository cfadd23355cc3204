// SPDX-License-Identifier: Apache-2.0
// world/inspect/advice.c - looks for traffic that is none, for settings that do nothing, for
// constants of slower links, and for timeouts that are shorter than a round trip.
//
// Round trips of all pairs would cost their square. A bound that no path exceeds comes first, and
// settles it for every network but those with long or slow links; then the pairs of at most
// SAMPLE_MAX interfaces, evenly spaced, are looked at.
#include "world/advice.h"
#include "kernel/digits.h"
#include "world/faults.h"
#include "world/path_classes.h"

#include <inttypes.h>
#include <string.h>

#include "net/frame_opcodes.h"
#include "net/nodes.h"
#include "net/paths.h"
#include "net/ports.h"
#include "nic/extra.h"
#include "nic/transport.h"
#include "world/format.h"
#include "world/inspect/combinations.h"
#include "world/inspect/effects.h"
#include "world/planned_transfers.h"

#define SAMPLE_MAX 256u
#define TIMEOUT_EXPONENT_MAX 31u

// Returns the retransmission timeout of nic.timeout; NEVER if there is none, or if the transport
// has its own, which knows the path.
static sim_time_t timeout_of(const nic_config_t *config)
{
    const void *part = NULL;
    const nic_transport_ops_t *const ops =
        nic_config_find(config, NIC_EXTRA_TRANSPORT, config->transport, &part);
    return config->timeout == 0 || ops->own_timeouts ? SIM_TIME_NEVER
                                                     : UINT64_C(4096000) << config->timeout;
}

static uint32_t data_frame_bytes(const nic_config_t *config)
{
    return net_frame_bytes(ROCE_WRITE_ONLY, (uint32_t)config->mtu_bytes, false, false);
}

// Returns a bound on the round trip of any path, with one data frame there and an ACK back.
static sim_time_t round_trip_bound(const net_t *net)
{
    sim_time_t slowest_ps = 0;
    const net_link_config_t *before = NULL;
    for (size_t i = 0; i < net_link_count(net); i++) {
        const net_link_config_t *const config = net_link_config(net, i);
        if (config == before) {
            continue;
        }
        before = config;
        const net_link_t link = net_link_at(net, i);
        const net_port_t *const port = net_port_at(link.a, link.a_port);
        const sim_time_t hop_ps =
            port->line->delay_ps + net_port_frame_time_ps(port, NET_FRAME_BYTES_QUANTUM);
        slowest_ps = SIM_MAX(hop_ps, slowest_ps);
    }
    const uint64_t hops = 2 * SIM_COUNT_OF(((net_path_t *)0)->ports);
    return slowest_ps > SIM_TIME_NEVER / hops ? SIM_TIME_NEVER : hops * slowest_ps;
}

// Returns the round trip between two interfaces on an idle network; NEVER if there is no path.
static sim_time_t round_trip_ps(const world_t *world, uint32_t from, uint32_t to)
{
    net_path_t there;
    net_path_t back;
    if (!net_path_of(world->net, from, to, 0, &there) ||
        !net_path_of(world->net, to, from, 0, &back)) {
        return SIM_TIME_NEVER;
    }
    const uint32_t data_bytes =
        data_frame_bytes(nic_config_of_interface(world->net, (uint32_t)from));
    const uint32_t ack_bytes = net_frame_bytes(ROCE_ACKNOWLEDGE, 0, false, false);
    return net_path_time_ps(&there, 1, data_bytes, 0) + net_path_time_ps(&back, 1, ack_bytes, 0);
}

typedef struct finding {
    uint32_t from;
    uint32_t to;
    sim_time_t round_trip_ps; // 0: none
} finding_t;

// Finds the pair with the longest round trip of those that exceed their sender's timeout.
static finding_t find_slowest(const world_t *world)
{
    finding_t worst = {0, 0, 0};
    const size_t count = world->nic_count;
    const size_t step = (count + SAMPLE_MAX - 1) / SAMPLE_MAX;
    for (size_t from = 0; from < count; from += step) {
        const sim_time_t timeout_ps =
            timeout_of(nic_config_of_interface(world->net, (uint32_t)from));
        for (size_t to = 0; to < count; to += step) {
            if (world->nics[from].host == world->nics[to].host) {
                continue;
            }
            const sim_time_t trip_ps = round_trip_ps(world, (uint32_t)from, (uint32_t)to);
            if (trip_ps != SIM_TIME_NEVER && trip_ps >= timeout_ps &&
                trip_ps > worst.round_trip_ps) {
                worst = (finding_t){(uint32_t)from, (uint32_t)to, trip_ps};
            }
        }
    }
    return worst;
}

static void advise_traffic(const world_t *world, world_warnings_t *out)
{
    const app_programs_t *const programs = world->scenario->programs;
    if (world->app_count == 0 && (programs == NULL || !programs->anywhere)) {
        world_warn(out, "no-traffic", "no traffic: nothing is sent, expected a section 'traffic'");
    }
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        uint64_t done = 0;
        uint64_t planned = 0;
        app->ops->progress(app, &done, &planned);
        // The transfers of a session come from its client.
        if (app->ops->flows != NULL && planned == 0 && strcmp(app->ops->name, "session") != 0) {
            world_warn(out, "no-transfer",
                       "traffic %zu (%s) plans no transfer: expected a start before its "
                       "stop and the end of the run, and a load or size that makes one",
                       i, app->ops->name);
        }
    }
}

// Reads the attribute's number from the struct of a part of the NIC. Returns false if the part has
// no such attribute.
static bool part_number(const sim_attr_table_t *table, const void *part, const char *path,
                        uint64_t *number)
{
    const sim_attr_t *const attr = table == NULL ? NULL : sim_attr_find(table, path);
    if (attr == NULL || part == NULL) {
        return false;
    }
    memcpy(number, (const char *)part + attr->offset, sizeof(*number));
    return true;
}

static bool transport_number(const nic_config_t *config, const char *path, uint64_t *number)
{
    const void *part = NULL;
    const nic_transport_ops_t *const ops =
        nic_config_find(config, NIC_EXTRA_TRANSPORT, config->transport, &part);
    return part_number(ops == NULL ? NULL : ops->attrs, part, path, number);
}

// Warns of the first NIC whose watermark has the effect of a smaller one; others are set alike.
static void advise_watermark(const world_t *world, world_warnings_t *out)
{
    for (size_t i = 0; i < world->nic_count; i++) {
        const nic_config_t *const config = nic_config_of_interface(world->net, (uint32_t)i);
        uint64_t watermark = 0;
        uint64_t cached = 0;
        if (transport_number(config, "nic.adamap.watermark", &watermark) &&
            transport_number(config, "nic.adamap.cached", &cached) && watermark >= cached) {
            world_warn(out, "watermark",
                       "nic.adamap.watermark of %s is %" PRIu64
                       ", not less than nic.adamap.cached, %" PRIu64
                       ": maps are read whenever there is room for one, as with %" PRIu64 "",
                       world->nics[i].name, watermark, cached, cached - 1);
            return;
        }
    }
}

// Returns how many increases bring a rate that was cut back to the link's, where the NIC's
// congestion control adds a constant per round trip; 0 where it does not.
static uint64_t increases_of(const nic_t *nic, world_text_t *path, uint64_t *step_bps)
{
    const nic_config_t *const config = nic_get_config(nic);
    const void *part = NULL;
    const nic_cc_ops_t *const ops =
        nic_config_find(config, NIC_EXTRA_CC, config->congestion_control, &part);
    if (config->custom_cc != NULL || ops == NULL || ops->increase == NULL) {
        return 0;
    }
    snprintf(path->text, sizeof(path->text), "%s.%s", ops->attrs->prefix, ops->increase);
    const bool adds = part_number(ops->attrs, part, path->text, step_bps) && *step_bps != 0;
    return adds ? nic_rate_bps(nic) / *step_bps : 0;
}

#define INCREASES_USUAL 1000u // the published constants: 10 Mbps, at 10 Gbps
#define INCREASES_MANY 2500u

// Returns whether a NIC has the configuration and the link of the one before.
static bool is_like_before(const world_t *world, size_t i)
{
    if (i == 0 || net_planes_of(world->net, world->nics[i].host) > 1 ||
        net_planes_of(world->net, world->nics[i - 1].host) > 1) {
        return false;
    }
    const net_t *const net = world->net;
    const uint32_t own = net_interface_link(net, (uint32_t)i);
    const uint32_t before = net_interface_link(net, (uint32_t)i - 1);
    return nic_config_of_interface(net, (uint32_t)i) ==
               nic_config_of_interface(net, (uint32_t)i - 1) &&
           net_link_config(net, own) == net_link_config(net, before);
}

// Warns of the first NIC for which these constants are too small; others are set alike.
static void advise_increase(const world_t *world, world_warnings_t *out)
{
    for (size_t i = 0; i < world->nic_count; i++) {
        if (is_like_before(world, i)) {
            continue;
        }
        const nic_t *const nic = world_nic_of(world, &world->nics[i]);
        world_text_t path;
        uint64_t step_bps = 0;
        const uint64_t increases = increases_of(nic, &path, &step_bps);
        if (increases > INCREASES_MANY) {
            world_text_t step;
            world_text_t rate;
            world_text_t enough;
            world_warn(out, "rate-increase",
                       "%s of %s is %s, and its link has %s: a rate that was cut takes "
                       "%" PRIu64 " increases to come back, expected about %u, as with %s",
                       path.text, world->nics[i].name, world_format_rate(&step, step_bps),
                       world_format_rate(&rate, nic_rate_bps(nic)), increases, INCREASES_USUAL,
                       world_format_rate(&enough, nic_rate_bps(nic) / INCREASES_USUAL));
            return;
        }
    }
}

#define LOSSES_FEW 0.1

// Warns where a rate of loss is set, and no planned packet will probably be lost.
static void advise_losses(const world_t *world, world_warnings_t *out)
{
    const world_survey_t *const survey = world->survey;
    if (survey == NULL || !survey->lossy || survey->untold > 0 || survey->losses >= LOSSES_FEW) {
        return;
    }
    world_warn(out, "no-loss",
               "links lose packets, but of the %s planned ones %s are lost on average: no loss "
               "is to be expected in this run, expected a higher link.loss-rate or "
               "bit-error-rate, or more traffic",
               SIM_DIGITS(survey->packets, 3), SIM_DIGITS(survey->losses, 2));
}

#define ATTEMPTS_MANY 100.0
#define ATTEMPTS_TOLD_MAX 1e12 // a number beyond says no more, and may be infinite

static void advise_attempts(const world_t *world, world_warnings_t *out)
{
    const double attempts = world->survey != NULL ? world->survey->attempts : 0;
    if (attempts > ATTEMPTS_MANY) {
        world_warn(
            out, "attempts",
            "with nic.retransmission: go-back-0 each loss starts a message over, and on "
            "its lossy path one takes %s %s attempts on average: expected go-back-n, smaller "
            "messages, nic.retransmission-chunk, or an end of the run (until)",
            attempts > ATTEMPTS_TOLD_MAX ? "more than" : "about",
            SIM_DIGITS(SIM_MIN(ATTEMPTS_TOLD_MAX, attempts), 2));
    }
}

// Returns the first value given to a fault that its kind does not use; NULL if there is none.
static const char *unused_value(const world_fault_config_t *config,
                                const world_fault_config_t *defaults)
{
    const uint32_t kind = config->kind;
    if (config->rate_bps != defaults->rate_bps && kind != WORLD_FAULT_DEGRADED &&
        kind != WORLD_FAULT_SLOW_RECEIVER) {
        return "'rate', which is of degraded and slow-receiver";
    }
    const bool errors = !sim_ratio_same(config->bit_error_rate, defaults->bit_error_rate);
    const bool losses = !sim_ratio_same(config->loss_rate, defaults->loss_rate);
    if ((errors || losses) && kind != WORLD_FAULT_ERRORS) {
        return errors ? "'bit-error-rate', which is of bit-errors"
                      : "'loss-rate', which is of bit-errors";
    }
    if (config->priorities != defaults->priorities && kind < WORLD_FAULT_SLOW_RECEIVER) {
        return "'priorities', which is of slow-receiver and pause-storm";
    }
    return NULL;
}

static void advise_faults(const world_t *world, world_warnings_t *out)
{
    world_fault_config_t defaults;
    sim_attrs_default(&world_fault_config_attrs, &defaults);
    world_shown_t shown;
    for (size_t i = 0; i < world->scenario->fault_count; i++) {
        const world_fault_config_t *const config = &world->scenario->faults[i].config;
        const char *const unused = unused_value(config, &defaults);
        if (unused != NULL) {
            world_warn(out, "unused-fault-value",
                       "the kind of the fault of '%s' does not use %s: is its 'kind' "
                       "right?",
                       world_show(&shown, config->part), unused);
        }
    }
    sim_attrs_fini(&world_fault_config_attrs, &defaults);
}

static void advise_timeout(const world_t *world, world_warnings_t *out)
{
    sim_time_t shortest_ps = SIM_TIME_NEVER;
    for (size_t i = 0; i < world->nic_count; i++) {
        const sim_time_t timeout_ps = timeout_of(nic_config_of_interface(world->net, (uint32_t)i));
        shortest_ps = SIM_MIN(timeout_ps, shortest_ps);
    }
    if (round_trip_bound(world->net) < shortest_ps) {
        return;
    }
    const finding_t worst = find_slowest(world);
    if (worst.round_trip_ps == 0) {
        return;
    }
    const nic_config_t *const config = nic_config_of_interface(world->net, worst.from);
    uint32_t enough = (uint32_t)config->timeout;
    while (enough < TIMEOUT_EXPONENT_MAX &&
           (UINT64_C(4096000) << enough) < 2 * worst.round_trip_ps) {
        enough++;
    }
    world_text_t trip;
    world_text_t timeout;
    char setting[64];
    if (enough > config->timeout) {
        snprintf(setting, sizeof(setting), "set nic.timeout to %u instead of %" PRIu64, enough,
                 config->timeout);
    } else {
        snprintf(setting, sizeof(setting), "expected a shorter round trip");
    }
    world_warn(out, "timeout",
               "the round trip from %s to %s takes %s, longer than the retransmission "
               "timeout of %s: everything is sent again; %s",
               world->nics[worst.from].name, world->nics[worst.to].name,
               world_format_time(&trip, worst.round_trip_ps),
               world_format_time(&timeout, timeout_of(config)), setting);
}

void world_advise(const world_t *world, world_warnings_t *out)
{
    advise_traffic(world, out);
    advise_faults(world, out);
    advise_attempts(world, out);
    advise_losses(world, out);
    world__advise_effects(world, out);
    advise_watermark(world, out);
    advise_increase(world, out);
    world__advise_classes(world, out);
    world__advise_hops(world, out);
    world__advise_combinations(world, out);
    advise_timeout(world, out);
}
