// SPDX-License-Identifier: Apache-2.0
// apps/flows/incast.c - bursts in which many hosts send to one at the same instant.
//
// The senders of each burst are drawn without repetition from the hosts that are not the target
// (with `fixed` once for all bursts). If the pattern names several targets, each burst takes the
// next one, or a drawn one with `random-target`. With `random-gaps` the bursts are a Poisson
// process. Each of the three uses its own random stream, so switching one on does not change the
// others. With verb read the target reads from the senders: data flows the same way.
// docs/models/traffic.md
#include "apps/app_internal.h"
#include "apps/flows/planned.h"
#include "apps/hosts.h"

#define PREFIX "traffic.incast"
// Largest mean that sim_random_exponential takes: 72,057 s.
#define GAP_MEAN_PS_MAX (UINT64_C(1) << 56)

typedef struct incast_config {
    char *to;
    char *from;
    uint64_t senders; // SIM_AUTO: all
    uint64_t bytes;
    sim_time_t start_ps;
    sim_time_t every_ps; // NEVER: one burst
    sim_time_t stop_ps;  // SIM_AUTO: the end of the run
    bool fixed;
    bool random_target;
    bool random_gaps;
    uint64_t qps; // SIM_AUTO: one, not reported
    app__shape_t shape;
} incast_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(incast_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "to", to, "host0", "host that receives; if a pattern matches several, bursts take turns"),
    ATTR(STRING, "from", from, "*", "hosts that the senders are drawn from"),
    ATTR(COUNT, "senders", senders, "auto", "1", "16000000", "number of senders of each burst; auto: all hosts of `from` except the target", .auto_ok = true),
    ATTR(BYTES, "bytes", bytes, "64KB", "1", "1TB", "size of each message"),
    ATTR(TIME, "start", start_ps, "0s", "0s", "10000s", "time of the first burst", .not_above = PREFIX ".stop"),
    ATTR(TIME, "every", every_ps, "never", "1ns", NULL, "time between the starts of two bursts; never: there is one burst"),
    ATTR(TIME, "stop", stop_ps, "auto", "0s", NULL, "time from which no burst starts; auto: the end of the run", .auto_ok = true),
    ATTR(BOOL, "fixed", fixed, "off", "on: all bursts have the same senders; off: each burst draws its senders"),
    ATTR(BOOL, "random-target", random_target, "off", "on: each burst draws its target from `to`; off: bursts take the targets in turn"),
    ATTR(BOOL, "random-gaps", random_gaps, "off", "on: times before and between bursts are random, exponential with mean `every`; off: they are `every`"),
    APP__QPS_ATTR(PREFIX, incast_config_t, qps),
    APP__SHAPE_ATTRS(PREFIX, incast_config_t, shape),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", incast_config_t, attrs);

typedef struct incast {
    const app_context_t *context;
    const incast_config_t *config;
    app__places_t to;
    app__places_t from;
    uint32_t *order; // indices of `from`, shuffled as far as needed
    sim_random_t random;
    sim_random_t targets;
    sim_random_t gaps;
} incast_t;

// Moves a sender drawn from order[at..] to order[at].
static void draw(incast_t *incast, size_t at)
{
    const size_t chosen =
        at + (size_t)sim_random_below(&incast->random, incast->from.list.count - at);
    const uint32_t index = incast->order[chosen];
    incast->order[chosen] = incast->order[at];
    incast->order[at] = index;
}

// Values that the senders of one burst have in common.
typedef struct burst {
    uint32_t target;
    sim_time_t start_ps;
} burst_t;

static sim_err_t add_sender(const incast_t *incast, app__plan_t *plan, const burst_t *burst,
                            uint32_t sender, sim_message_t *message)
{
    const bool read = incast->config->shape.verb == APP__VERB_READ;
    const app__request_t request = {
        .source = read ? burst->target : sender,
        .destination = read ? sender : burst->target,
        .bytes = incast->config->bytes,
        .start_ps = burst->start_ps,
        .priority = SIM_AUTO,
    };
    return app__plan_add_split(plan, &request, "from", message);
}

static sim_err_t add_burst(incast_t *incast, app__plan_t *plan, const burst_t *burst,
                           sim_message_t *message)
{
    const net_t *const net = incast->context->net;
    const app_hosts_t *const from = &incast->from.list;
    const uint64_t wanted = incast->config->senders;
    uint64_t senders = 0;
    for (size_t i = 0; senders < wanted && i < from->count; i++) {
        draw(incast, i);
        const uint32_t sender = from->interfaces[incast->order[i]];
        // A host with several NICs takes part with those that have a path to the target.
        if (app__host(net, sender) == app__host(net, burst->target) ||
            (nic_count(app__host(net, sender)) > 1 && !app__can_talk(net, sender, burst->target))) {
            continue;
        }
        const sim_err_t error = add_sender(incast, plan, burst, sender, message);
        if (error != SIM_OK) {
            return error;
        }
        senders++;
    }
    if (senders == 0 || (wanted != SIM_AUTO && senders < wanted)) {
        return sim_fail_about(
            message, SIM_ERR_RANGE, "senders",
            ": `from` has %" PRIu64 " hosts besides %s, expected at least %" PRIu64, senders,
            app__host_name(net, burst->target), wanted == SIM_AUTO ? 1 : wanted);
    }
    return SIM_OK;
}

// Resets the order and the stream that senders are drawn from, so that the same ones are drawn
// again.
static void begin_draws(incast_t *incast)
{
    app__random_init(&incast->random, incast->context, 0, "incast");
    for (size_t i = 0; i < incast->from.list.count; i++) {
        incast->order[i] = (uint32_t)i;
    }
}

static uint32_t next_target(incast_t *incast, uint64_t index)
{
    const app_hosts_t *const to = &incast->to.list;
    return to
        ->interfaces[incast->config->random_target ? sim_random_below(&incast->targets, to->count)
                                                   : index % to->count];
}

static sim_time_t next_gap_ps(incast_t *incast)
{
    const sim_time_t every_ps = incast->config->every_ps;
    return incast->config->random_gaps ? sim_random_exponential(&incast->gaps, every_ps) : every_ps;
}

// Advances *start_ps by gap_ps. Returns false, and leaves it, if the new time is not before
// stop_ps.
static bool advance(sim_time_t *start_ps, sim_time_t gap_ps, sim_time_t stop_ps)
{
    if (*start_ps >= stop_ps || gap_ps >= stop_ps - *start_ps) {
        return false;
    }
    *start_ps += gap_ps;
    return true;
}

static sim_err_t fill(incast_t *incast, app__plan_t *plan, sim_message_t *message)
{
    const incast_config_t *const config = incast->config;
    const sim_time_t stop_ps = app__plan_stop_ps(incast->context, config->stop_ps);
    if (config->every_ps != SIM_TIME_NEVER && stop_ps == SIM_TIME_NEVER) {
        return sim_fail_about(
            message, SIM_ERR_INVALID, "stop",
            ": bursts repeat without an end, expected a time here, or an end of the run (until)");
    }
    if (config->random_gaps && config->every_ps > GAP_MEAN_PS_MAX) {
        return sim_fail_about(message, SIM_ERR_INVALID, "every",
                              ": random-gaps needs a mean time between bursts, expected a time up "
                              "to 20 hours");
    }
    incast->order = sim_alloc_array(incast->from.list.count, sizeof(*incast->order));
    begin_draws(incast);
    app__random_init(&incast->targets, incast->context, 0, "incast-target");
    app__random_init(&incast->gaps, incast->context, 0, "incast-gap");
    burst_t burst = {0, config->start_ps};
    bool more = burst.start_ps < stop_ps;
    if (config->random_gaps) {
        more = advance(&burst.start_ps, next_gap_ps(incast), stop_ps);
    }
    for (uint64_t i = 0; more; i++) {
        if (config->fixed) {
            begin_draws(incast);
        }
        burst.target = next_target(incast, i);
        const sim_err_t error = add_burst(incast, plan, &burst, message);
        if (error != SIM_OK) {
            return error;
        }
        more = advance(&burst.start_ps, next_gap_ps(incast), stop_ps);
    }
    return SIM_OK;
}

static sim_err_t incast_create(const app_context_t *context, const void *config_void, app_t **app,
                               sim_message_t *message)
{
    const incast_config_t *const config = config_void;
    incast_t incast = {.context = context, .config = config};
    app__plan_t *plan = NULL;
    sim_err_t error = app__places_find(context, "to", config->to, &incast.to, message);
    if (error != SIM_OK) {
        return error;
    }
    error = app__places_find(context, "from", config->from, &incast.from, message);
    if (error != SIM_OK) {
        goto fini_to;
    }
    plan = app__plan_create(context, &config->shape, app_incast.name);
    app__plan_split(plan, config->qps);
    error = fill(&incast, plan, message);
    if (error != SIM_OK) {
        app__plan_destroy(plan);
        goto fini_from;
    }
    *app = app__planned_create(&app_incast, context, plan);
fini_from:
    sim_free(incast.order);
    app__places_fini(&incast.from);
fini_to:
    app__places_fini(&incast.to);
    return error;
}

const app_ops_t app_incast = {
    .name = "incast",
    .help = "bursts in which many hosts send to one",
    .attrs = &attr_table,
    .create = incast_create,
    APP__PLANNED_OPS,
};
