// SPDX-License-Identifier: Apache-2.0
// apps/flows/poisson.c - flows that arrive at random.
//
// At each source, flows arrive after exponential times, with sizes from an empirical distribution,
// to a host drawn uniformly. The load counts payload: the mean gap at a source is 8 x mean size /
// (load x rate of its link). Each source has its own random stream, so changing the other sources
// does not change its flows. Arrivals of all sources are merged in order of time and made as their
// time comes (apps/flows/blocks.c). docs/models/traffic.md
#include <stdio.h>
#include <string.h>

#include "apps/app_internal.h"
#include "apps/flows/planned.h"
#include "apps/hosts.h"

#define PREFIX "traffic.poisson"
// Number of random draws of a destination before all are tried in order.
#define DRAWS_MAX 64

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
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(poisson_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "from", from, "*", "hosts at which flows start"),
    ATTR(STRING, "to", to, "*", "hosts that flows go to, drawn uniformly among those other than the source"),
    ATTR(STRING, "sizes", sizes, "websearch", "distribution of message sizes: the name of a built-in one, or a file"),
    ATTR(RATIO, "load", load, "0.5", "0.000001", "100", "payload offered at each source, as a share of its link's rate"),
    ATTR(TIME, "start", start_ps, "0s", "0s", "10000s", "time from which flows arrive", .not_above = PREFIX ".stop"),
    ATTR(TIME, "stop", stop_ps, "auto", "0s", NULL, "time from which no flow arrives; auto: the end of the run", .auto_ok = true),
    ATTR(COUNT, "max-flows", max_flows, "auto", "1", "100000000", "number of flows after which arrivals end; auto: no limit", .auto_ok = true),
    APP__SHAPE_ATTRS(PREFIX, poisson_config_t, shape),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", poisson_config_t, attrs);

typedef struct poisson_source {
    sim_random_t random;
    sim_time_t next_ps;
    uint64_t gap_mean_ps;
    uint32_t interface;
} poisson_source_t;

// Data that copies of arrivals share.
typedef struct poisson_shared {
    const net_t *net;
    app__places_t to;
    const sim_cdf_t *sizes;
    sim_cdf_t *sizes_own; // read from a file; NULL: a built-in distribution
    sim_time_t stop_ps;
    bool counted; // all arrivals were drawn once, so later draws repeat them
    bool parted;  // some drawn pair has no path between its hosts
} poisson_shared_t;

typedef struct poisson {
    poisson_shared_t *shared;
    poisson_source_t *heap; // earliest arrival first, for equal times the lowest interface
    size_t count;
    uint64_t flows_left;
    bool owns_shared; // true for the original, false for copies
} poisson_t;

// Inputs that are needed only while the application is created.
typedef struct creation {
    const app_context_t *context;
    const poisson_config_t *config;
    poisson_shared_t *shared;
    app__places_t from;
} creation_t;

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

static uint64_t gap_mean_ps(const creation_t *creation, uint64_t rate_bps)
{
    sim_ratio_t load = creation->config->load;
    while (load.num > UINT32_MAX || load.den > UINT32_MAX) {
        load.num = (load.num >> 1) | 1;
        load.den = (load.den >> 1) | 1;
    }
    const sim_wide_t numerator = (sim_wide_t)sim_cdf_mean_q16(creation->shared->sizes) * 8 *
                                 creation->config->shape.messages * SIM_PS_PER_S;
    const sim_wide_t rate = (sim_wide_t)rate_bps * load.num << 16;
    // Computes numerator * den / rate, rounded to nearest, without a product above 128 bits.
    const sim_wide_t whole = numerator / rate * load.den;
    const sim_wide_t rest = numerator % rate;
    const sim_wide_t mean = whole + (rest * load.den + rate / 2) / rate;
    const sim_wide_t limit = UINT64_C(1) << 56;
    return mean < 1 ? 1 : (uint64_t)SIM_MIN(mean, limit);
}

// Draws the next arrival of the heap's first source, or removes the source if it would be too late.
static void advance(poisson_t *poisson)
{
    SIM_CHECK(poisson->count > 0);
    poisson_source_t *const source = &poisson->heap[0];
    const sim_time_t stop_ps = poisson->shared->stop_ps;
    const uint64_t gap_ps = sim_random_exponential(&source->random, source->gap_mean_ps);
    if (gap_ps < stop_ps && source->next_ps < stop_ps - gap_ps) {
        source->next_ps += gap_ps;
    } else {
        *source = poisson->heap[--poisson->count];
    }
    if (poisson->count > 0) {
        sift_down(poisson, 0);
    }
}

static bool can_send(poisson_shared_t *shared, uint32_t source, uint32_t destination)
{
    const net_t *const net = shared->net;
    if (app__host(net, source) == app__host(net, destination)) {
        return false;
    }
    const bool can =
        (shared->counted && !shared->parted) || net_reachable(net, source, destination);
    if (!shared->counted && !can) {
        shared->parted = true;
    }
    return can;
}

static sim_err_t choose_destination(const poisson_t *poisson, poisson_source_t *source,
                                    uint32_t *destination, sim_message_t *message)
{
    const app_hosts_t *const to = &poisson->shared->to.list;
    size_t drawn = 0;
    for (int i = 0; i < DRAWS_MAX; i++) {
        drawn = (size_t)sim_random_below(&source->random, to->count);
        *destination = to->interfaces[drawn];
        if (can_send(poisson->shared, source->interface, *destination)) {
            return SIM_OK;
        }
    }
    // Only few hosts can be reached: take the next one after the last draw.
    for (size_t i = 0; i < to->count; i++) {
        *destination = to->interfaces[(drawn + i) % to->count];
        if (can_send(poisson->shared, source->interface, *destination)) {
            return SIM_OK;
        }
    }
    return sim_fail_about(
        message, SIM_ERR_INVALID, "to",
        ": none of its hosts can be reached from %s, expected another host with a path to it",
        app__host_name(poisson->shared->net, source->interface));
}

static bool poisson_next(void *arrivals, app__request_t *request, sim_err_t *error,
                         sim_message_t *message)
{
    poisson_t *const poisson = arrivals;
    if (poisson->count == 0 || poisson->flows_left == 0) {
        return false;
    }
    poisson->flows_left--;
    poisson_source_t *const source = &poisson->heap[0];
    *request = (app__request_t){.source = source->interface,
                                .start_ps = source->next_ps,
                                .bytes = sim_cdf_draw(poisson->shared->sizes, &source->random),
                                .priority = SIM_AUTO,
                                .can_talk = true};
    *error = choose_destination(poisson, source, &request->destination, message);
    if (*error != SIM_OK) {
        return false;
    }
    advance(poisson);
    return true;
}

static void *poisson_copy(const void *arrivals)
{
    const poisson_t *const poisson = arrivals;
    poisson_t *const copy = sim_alloc(sizeof(*copy));
    *copy = *poisson;
    copy->heap = sim_alloc_array(poisson->count + 1, sizeof(*copy->heap));
    memcpy(copy->heap, poisson->heap, poisson->count * sizeof(*copy->heap));
    copy->owns_shared = false;
    return copy;
}

static void poisson_destroy(void *arrivals)
{
    poisson_t *const poisson = arrivals;
    if (poisson->owns_shared) {
        sim_cdf_destroy(poisson->shared->sizes_own);
        app__places_fini(&poisson->shared->to);
        sim_free(poisson->shared);
    }
    sim_free(poisson->heap);
    sim_free(poisson);
}

static const app__arrivals_ops_t arrivals_ops = {poisson_next, poisson_copy, poisson_destroy};

// -- creation

// Writes "websearch, fbhadoop, ..." and the name that the given one may have meant.
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

static sim_err_t find_sizes(const creation_t *creation, sim_message_t *message)
{
    const char *const name = creation->config->sizes;
    poisson_shared_t *const shared = creation->shared;
    shared->sizes = sim_cdf_builtin(name);
    if (shared->sizes != NULL) {
        return SIM_OK;
    }
    const app_context_t *const context = creation->context;
    char *text = NULL;
    size_t size_bytes = 0;
    sim_message_t reason = {.text = ""};
    sim_err_t error = context->read_file(name, &text, &size_bytes, &reason, context->ctx);
    if (error != SIM_OK) {
        char builtins[256];
        name_builtins(name, builtins, sizeof(builtins));
        return sim_fail_about(message, error, "sizes", ": %.200s, or one of %s", reason.text,
                              builtins);
    }
    error = sim_cdf_parse(text, size_bytes, &shared->sizes_own, &reason);
    sim_free(text);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, "sizes", ": %.80s: %.300s", name, reason.text);
    }
    shared->sizes = shared->sizes_own;
    return SIM_OK;
}

static sim_err_t check_bounds(const creation_t *creation, sim_message_t *message)
{
    creation->shared->stop_ps = app__plan_stop_ps(creation->context, creation->config->stop_ps);
    if (creation->shared->stop_ps == SIM_TIME_NEVER && creation->config->max_flows == SIM_AUTO) {
        return sim_fail_about(message, SIM_ERR_INVALID, "stop",
                              ": arrivals have no end, expected a time here, max-flows, or an end "
                              "of the run (until)");
    }
    return SIM_OK;
}

static void make_heap(poisson_t *poisson, const creation_t *creation)
{
    const app_hosts_t *const from = &creation->from.list;
    const net_t *const net = creation->context->net;
    const sim_time_t stop_ps = poisson->shared->stop_ps;
    poisson->heap = sim_alloc_array(from->count + 1, sizeof(*poisson->heap));
    for (size_t i = 0; i < from->count; i++) {
        poisson_source_t source = {.interface = from->interfaces[i],
                                   .next_ps = creation->config->start_ps};
        app__random_init(&source.random, creation->context, source.interface, "poisson");
        source.gap_mean_ps =
            gap_mean_ps(creation, nic_rate_bps(nic_of_interface(net, source.interface)));
        const uint64_t gap_ps = sim_random_exponential(&source.random, source.gap_mean_ps);
        if (gap_ps < stop_ps && source.next_ps < stop_ps - gap_ps) {
            source.next_ps += gap_ps;
            poisson->heap[poisson->count++] = source;
        }
    }
    for (size_t i = poisson->count; i-- > 0;) {
        sift_down(poisson, i);
    }
}

// Refuses too many arrivals before they are counted, by their expected number. For 10^8 arrivals a
// deviation of 0.1 % cannot be chance.
static sim_err_t check_count(const poisson_t *poisson, sim_message_t *message)
{
    double expected = 0;
    for (size_t i = 0; i < poisson->count; i++) {
        const poisson_source_t *const source = &poisson->heap[i];
        expected +=
            (double)(poisson->shared->stop_ps - source->next_ps) / (double)source->gap_mean_ps;
    }
    return expected > 1.001 * (double)APP__TRANSFERS_MAX && poisson->flows_left > APP__TRANSFERS_MAX
               ? app__too_many("max-flows", message)
               : SIM_OK;
}

static sim_err_t fill(const creation_t *creation, app__plan_t *plan, sim_message_t *message)
{
    poisson_t *const poisson = sim_alloc(sizeof(*poisson));
    poisson->shared = creation->shared;
    poisson->owns_shared = true;
    poisson->flows_left = creation->config->max_flows;
    make_heap(poisson, creation);
    const sim_err_t error = check_count(poisson, message);
    if (error != SIM_OK) {
        poisson_destroy(poisson);
        return error;
    }
    return app__plan_arrive(plan, &arrivals_ops, poisson, "max-flows", message);
}

// Warns of a load above 1, such as 80 where 80 % was meant.
static void warn_of_overload(const creation_t *creation)
{
    const app_context_t *const context = creation->context;
    const double load = (double)creation->config->load.num / (double)creation->config->load.den;
    if (load > 1 && context->note != NULL) {
        char text[160];
        (void)snprintf(text, sizeof(text),
                       "traffic %" PRIu32 ", poisson: a load of %.6g is more than the sources' "
                       "links carry; write 80 per cent as 0.8 or 80%%",
                       context->index, load);
        context->note(text, context->ctx);
    }
}

static sim_err_t create_plan(const creation_t *creation, app_t **app, sim_message_t *message)
{
    const app_context_t *const context = creation->context;
    app__plan_t *const plan = app__plan_create(context, &creation->config->shape, app_poisson.name);
    const sim_err_t error = fill(creation, plan, message);
    if (error == SIM_OK) {
        warn_of_overload(creation);
        *app = app__planned_create(&app_poisson, context, plan);
    } else {
        app__plan_destroy(plan);
    }
    return error;
}

static sim_err_t poisson_create(const app_context_t *context, const void *config_void, app_t **app,
                                sim_message_t *message)
{
    const poisson_config_t *const config = config_void;
    poisson_shared_t *const shared = sim_alloc(sizeof(*shared));
    shared->net = context->net;
    creation_t creation = {.context = context, .config = config, .shared = shared};
    sim_err_t error = check_bounds(&creation, message);
    if (error == SIM_OK) {
        error = find_sizes(&creation, message);
    }
    if (error == SIM_OK) {
        error = app__places_find(context, "from", config->from, &creation.from, message);
    }
    if (error == SIM_OK) {
        error = app__places_find(context, "to", config->to, &shared->to, message);
    }
    if (error == SIM_OK) {
        error = create_plan(&creation, app, message);
        if (error == SIM_OK) {
            shared->counted = true;
        }
    } else {
        sim_cdf_destroy(shared->sizes_own);
        app__places_fini(&shared->to);
        sim_free(shared);
    }
    app__places_fini(&creation.from);
    return error;
}

const app_ops_t app_poisson = {
    .name = "poisson",
    .help = "flows arriving at random with sizes from a distribution, at a given load",
    .attrs = &attr_table,
    .create = poisson_create,
    APP__PLANNED_OPS,
};
