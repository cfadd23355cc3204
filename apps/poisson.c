// SPDX-License-Identifier: Apache-2.0
// apps/poisson.c - flows that arrive at random: at each source, after exponential times, with sizes
// from an empirical distribution, to a host drawn uniformly.
//
// The load is payload: the mean gap at a source is 8 x mean size / (load x rate of its link). Each
// source has a stream of its own, so that changing who else sends changes nothing for it. Arrivals
// of all sources are merged in order of time while the plan is made. docs/models/traffic.md
#include <stdio.h>
#include <string.h>

#include "apps/transfer.h"

#define PREFIX "traffic.poisson"
// Draws of a destination before looking for any possible one.
#define DRAWS_MAX 64
__extension__ typedef unsigned __int128 uint128_t;

typedef struct poisson_config {
    char *from;
    char *to;
    char *sizes;
    sim_ratio_t load;
    sim_time_t start_ps;
    sim_time_t stop_ps; // SIM_AUTO: the end of the run
    uint64_t max_flows; // SIM_AUTO: no limit
    app__shape_t shape;
} poisson_config_t;

// clang-format off
static const sim_attr_t attrs[] = {
    {PREFIX ".from", SIM_ATTR_STRING, false, offsetof(poisson_config_t, from), "*", NULL, NULL,
     NULL, "hosts at which flows arrive"},
    {PREFIX ".to", SIM_ATTR_STRING, false, offsetof(poisson_config_t, to), "*", NULL, NULL,
     NULL, "hosts they go to, drawn uniformly among those that are not the source"},
    {PREFIX ".sizes", SIM_ATTR_STRING, false, offsetof(poisson_config_t, sizes), "websearch", NULL,
     NULL, NULL, "distribution of message sizes: a built-in name or a file"},
    {PREFIX ".load", SIM_ATTR_RATIO, false, offsetof(poisson_config_t, load), "0.5", "0.000001",
     "100", NULL, "payload offered at each source, of its link's rate"},
    {PREFIX ".start", SIM_ATTR_TIME, false, offsetof(poisson_config_t, start_ps), "0s", "0s",
     "10000s", NULL, "arrivals begin"},
    {PREFIX ".stop", SIM_ATTR_TIME, true, offsetof(poisson_config_t, stop_ps), "auto", "0s", NULL,
     NULL, "arrivals end; auto: with the run"},
    {PREFIX ".max-flows", SIM_ATTR_COUNT, true, offsetof(poisson_config_t, max_flows), "auto",
     "1", "100000000", NULL, "arrivals end after so many; auto: no limit"},
    APP__SHAPE_ATTRS(PREFIX, poisson_config_t, shape),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX,
                                            "application",
                                            sizeof(poisson_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

typedef struct poisson_source {
    sim_random_t random;
    sim_time_t next_ps;
    uint64_t gap_mean_ps;
    uint32_t interface;
} poisson_source_t;

typedef struct poisson {
    const app_context_t *context;
    const poisson_config_t *config;
    app__places_t from;
    app__places_t to;
    const sim_cdf_t *sizes;
    sim_cdf_t *sizes_own; // of a file; NULL: built in
    sim_time_t stop_ps;
    poisson_source_t *heap; // the earliest first, among equals the lowest interface
    size_t count;
} poisson_t;

// -- a heap of sources

static bool earlier(const poisson_source_t *a, const poisson_source_t *b)
{
    return a->next_ps != b->next_ps ? a->next_ps < b->next_ps : a->interface < b->interface;
}

static void sift_down(poisson_t *poisson, size_t at)
{
    poisson_source_t *const heap = poisson->heap;
    const poisson_source_t source = heap[at];
    while (2 * at + 1 < poisson->count) {
        size_t child = 2 * at + 1;
        if (child + 1 < poisson->count && earlier(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!earlier(&heap[child], &source)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = source;
}

// -- arrivals

static uint64_t gap_mean_ps(const poisson_t *poisson, uint64_t rate_bps)
{
    sim_ratio_t load = poisson->config->load;
    while (load.num > UINT32_MAX || load.den > UINT32_MAX) {
        load.num = (load.num >> 1) | 1;
        load.den = (load.den >> 1) | 1;
    }
    const uint128_t numerator = (uint128_t)sim_cdf_mean_q16(poisson->sizes) * 8 *
                                poisson->config->shape.messages * SIM_PS_PER_S;
    const uint128_t rate = (uint128_t)rate_bps * load.num << 16;
    // numerator * den / rate to the nearest, without a product beyond 128 bits.
    const uint128_t whole = numerator / rate * load.den;
    const uint128_t rest = numerator % rate;
    const uint128_t mean = whole + (rest * load.den + rate / 2) / rate;
    const uint128_t limit = UINT64_C(1) << 56;
    return mean < 1 ? 1 : (uint64_t)(mean < limit ? mean : limit);
}

// The next arrival of the heap's first source; it leaves the heap when that is too late.
static void advance(poisson_t *poisson)
{
    poisson_source_t *const source = &poisson->heap[0];
    const uint64_t gap_ps = sim_random_exponential(&source->random, source->gap_mean_ps);
    if (gap_ps < poisson->stop_ps && source->next_ps < poisson->stop_ps - gap_ps) {
        source->next_ps += gap_ps;
    } else {
        *source = poisson->heap[--poisson->count];
    }
    if (poisson->count > 0) {
        sift_down(poisson, 0);
    }
}

static void make_heap(poisson_t *poisson)
{
    const app_hosts_t *const from = &poisson->from.list;
    poisson->heap = sim_alloc_array(from->count, sizeof(*poisson->heap));
    for (size_t i = 0; i < from->count; i++) {
        poisson_source_t source = {.interface = from->interfaces[i],
                                   .next_ps = poisson->config->start_ps};
        app__random_init(&source.random, poisson->context, source.interface, "poisson");
        source.gap_mean_ps =
            gap_mean_ps(poisson,
                        nic_rate_bps(nic_of_interface(poisson->context->net, source.interface)));
        const uint64_t gap_ps = sim_random_exponential(&source.random, source.gap_mean_ps);
        if (gap_ps < poisson->stop_ps && source.next_ps < poisson->stop_ps - gap_ps) {
            source.next_ps += gap_ps;
            poisson->heap[poisson->count++] = source;
        }
    }
    for (size_t i = poisson->count; i-- > 0;) {
        sift_down(poisson, i);
    }
}

static sim_err_t choose_destination(const poisson_t *poisson,
                                    poisson_source_t *source,
                                    uint32_t *destination,
                                    sim_message_t *message)
{
    const net_t *const net = poisson->context->net;
    const app_hosts_t *const to = &poisson->to.list;
    size_t drawn = 0;
    for (int i = 0; i < DRAWS_MAX; i++) {
        drawn = (size_t)sim_random_below(&source->random, to->count);
        *destination = to->interfaces[drawn];
        if (app__can_talk(net, source->interface, *destination)) {
            return SIM_OK;
        }
    }
    // Few of many can be reached: the next one after the last drawn.
    for (size_t i = 0; i < to->count; i++) {
        *destination = to->interfaces[(drawn + i) % to->count];
        if (app__can_talk(net, source->interface, *destination)) {
            return SIM_OK;
        }
    }
    return sim_fail_about(
        message,
        SIM_ERR_INVALID,
        "to",
        ": none of its hosts can be reached from %s, expected another host with a "
        "path",
        app__host_name(net, source->interface));
}

static sim_err_t fill(poisson_t *poisson, app__plan_t *plan, sim_message_t *message)
{
    make_heap(poisson);
    const uint64_t max_flows = poisson->config->max_flows;
    while (poisson->count > 0 && app__plan_count(plan) < max_flows) {
        poisson_source_t *const source = &poisson->heap[0];
        app__request_t request = {.source = source->interface,
                                  .start_ps = source->next_ps,
                                  .bytes = sim_cdf_draw(poisson->sizes, &source->random),
                                  .priority = SIM_AUTO,
                                  .can_talk = true};
        sim_err_t error = choose_destination(poisson, source, &request.destination, message);
        if (error == SIM_OK) {
            error = app__plan_add(plan, &request, "max-flows", message);
        }
        if (error != SIM_OK) {
            return error;
        }
        advance(poisson);
    }
    return SIM_OK;
}

// -- creation

// "websearch, fbhadoop, ..." and which of them may have been meant.
static void name_builtins(const char *given, char *text, size_t text_bytes)
{
    const char *names[32];
    size_t count = 0;
    text[0] = '\0';
    for (; count < SIM_COUNT_OF(names) && sim_cdf_builtin_name(count) != NULL; count++) {
        names[count] = sim_cdf_builtin_name(count);
        const size_t length = strlen(text);
        snprintf(text + length, text_bytes - length, "%s%s", count == 0 ? "" : ", ", names[count]);
    }
    const char *const nearest = sim_nearest_name(given, names, count);
    if (nearest != NULL) {
        const size_t length = strlen(text);
        snprintf(text + length, text_bytes - length, "; did you mean %s?", nearest);
    }
}

static sim_err_t find_sizes(poisson_t *poisson, sim_message_t *message)
{
    const char *const name = poisson->config->sizes;
    poisson->sizes = sim_cdf_builtin(name);
    if (poisson->sizes != NULL) {
        return SIM_OK;
    }
    const app_context_t *const context = poisson->context;
    char *text = NULL;
    size_t size_bytes = 0;
    sim_message_t reason = {.text = ""};
    sim_err_t error = context->read_file(name, &text, &size_bytes, &reason, context->ctx);
    if (error != SIM_OK) {
        char builtins[256];
        name_builtins(name, builtins, sizeof(builtins));
        return sim_fail_about(message,
                              error,
                              "sizes",
                              ": %.200s (expected a file or one of %s)",
                              reason.text,
                              builtins);
    }
    error = sim_cdf_parse(text, size_bytes, &poisson->sizes_own, &reason);
    sim_free(text);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, "sizes", ": %.80s: %.300s", name, reason.text);
    }
    poisson->sizes = poisson->sizes_own;
    return SIM_OK;
}

static sim_err_t check_bounds(poisson_t *poisson, sim_message_t *message)
{
    poisson->stop_ps = app__plan_stop_ps(poisson->context, poisson->config->stop_ps);
    if (poisson->stop_ps == SIM_TIME_NEVER && poisson->config->max_flows == SIM_AUTO) {
        return sim_fail_about(message,
                              SIM_ERR_INVALID,
                              "stop",
                              ": arrivals without an end, expected a time, max-flows, or an end of "
                              "the run (until)");
    }
    return SIM_OK;
}

static void poisson_fini(poisson_t *poisson)
{
    sim_cdf_destroy(poisson->sizes_own);
    sim_free(poisson->heap);
    app__places_fini(&poisson->from);
    app__places_fini(&poisson->to);
}

static sim_err_t poisson_create(const app_context_t *context,
                                const void *config_void,
                                app_t **app,
                                sim_message_t *message)
{
    const poisson_config_t *const config = config_void;
    poisson_t poisson = {.context = context, .config = config};
    sim_err_t error = check_bounds(&poisson, message);
    if (error == SIM_OK) {
        error = find_sizes(&poisson, message);
    }
    if (error == SIM_OK) {
        error = app__places_find(context, "from", config->from, &poisson.from, message);
    }
    if (error == SIM_OK) {
        error = app__places_find(context, "to", config->to, &poisson.to, message);
    }
    if (error == SIM_OK) {
        app__plan_t *const plan = app__plan_create(context, &config->shape, app_poisson.name);
        error = fill(&poisson, plan, message);
        if (error == SIM_OK) {
            *app = app__planned_create(&app_poisson, context, plan);
        } else {
            app__plan_destroy(plan);
        }
    }
    poisson_fini(&poisson);
    return error;
}

const app_ops_t app_poisson = {
    .name = "poisson",
    .help = "flows arriving at random with sizes from a distribution, at a given load",
    .attrs = &attr_table,
    .create = poisson_create,
    APP__PLANNED_OPS,
};
