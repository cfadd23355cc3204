// SPDX-License-Identifier: Apache-2.0
// apps/workload/application.c - the application `workload`: a schedule of messages and
// computations, read from a file and run by hosts. docs/models/workload.md
#include "apps/workload/internal.h"

#include "kernel/attribute.h"

#define PREFIX "traffic.workload"

typedef enum map { MAP_PACKED, MAP_ROUND_ROBIN, MAP_RANDOM } map_t;

typedef struct workload_config {
    char *file;
    char *hosts;
    map_t map;
    sim_time_t start_ps;
    sim_time_t send_ps;
    sim_time_t recv_ps;
    sim_ratio_t calc_scale;
    uint64_t local_bps;
    sim_time_t local_ps;
} workload_config_t;

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".file", STRING, workload_config_t, file,
             .default_text = "",
             .help = "schedule in the format GOAL, as text or binary"),
    SIM_ATTR(PREFIX ".hosts", STRING, workload_config_t, hosts,
             .default_text = "*",
             .help = "hosts that the ranks of the file run on"),
    SIM_ATTR(PREFIX ".map", ENUM, workload_config_t, map,
             .default_text = "packed", .choices = "packed|round-robin|random",
             .help = "order in which ranks take places: NIC by NIC, host by host, or drawn by "
                     "the seed"),
    SIM_ATTR(PREFIX ".start", TIME, workload_config_t, start_ps,
             .default_text = "0s", .min_text = "0s", .max_text = "10000s",
             .help = "time at which all ranks begin"),
    SIM_ATTR(PREFIX ".send-overhead", TIME, workload_config_t, send_ps,
             .default_text = "0s", .min_text = "0s", .max_text = "1s",
             .help = "time of a processor for each send (o of LogGP)"),
    SIM_ATTR(PREFIX ".recv-overhead", TIME, workload_config_t, recv_ps,
             .default_text = "0s", .min_text = "0s", .max_text = "1s",
             .help = "time of a processor for each message that it receives (o of LogGP)"),
    SIM_ATTR(PREFIX ".calc-scale", RATIO, workload_config_t, calc_scale,
             .default_text = "1", .min_text = "0", .max_text = "1000",
             .help = "factor on the duration of every computation of the file"),
    SIM_ATTR(PREFIX ".local-rate", RATE, workload_config_t, local_bps,
             .default_text = "3600Gbps", .min_text = "1Mbps", .max_text = "1000Tbps",
             .help = "rate of messages between ranks of one host; the default is NVLink of an "
                     "H100"),
    SIM_ATTR(PREFIX ".local-delay", TIME, workload_config_t, local_ps,
             .default_text = "1us", .min_text = "0s", .max_text = "1s",
             .help = "time between the last byte of a message and its arrival within a host"),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX,
                                            "application",
                                            sizeof(workload_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

// -- places: where ranks can run

// A place is a NIC, or a host with all of its NICs if the file names NICs.
typedef struct places {
    app__places_t found;
    uint32_t *first; // index into the list of interfaces
    uint32_t *count; // interfaces of the place
    uint32_t places;
} places_t;

static void fini_places(places_t *places)
{
    app__places_fini(&places->found);
    sim_free(places->first);
    sim_free(places->count);
}

// Returns the number of interfaces of the host that begins at `at` in the list.
static uint32_t nics_from(const app_context_t *context, const app_hosts_t *list, size_t at)
{
    uint32_t count = 1;
    while (at + count < list->count && app__host(context->net, list->interfaces[at + count]) ==
                                           app__host(context->net, list->interfaces[at])) {
        count++;
    }
    return count;
}

static sim_err_t find_places(const app_context_t *context,
                             const workload_config_t *config,
                             bool by_host,
                             places_t *places,
                             sim_message_t *message)
{
    *places = (places_t){.places = 0};
    const sim_err_t error =
        app__places_find(context, "hosts", config->hosts, &places->found, message);
    if (error != SIM_OK) {
        return error;
    }
    const app_hosts_t *const list = &places->found.list;
    places->first = sim_alloc_array(list->count, sizeof(*places->first));
    places->count = sim_alloc_array(list->count, sizeof(*places->count));
    for (size_t at = 0; at < list->count;) {
        const uint32_t nics = nics_from(context, list, at);
        for (uint32_t i = 0; i < (by_host ? 1 : nics); i++) {
            places->first[places->places] = (uint32_t)at + i;
            places->count[places->places++] = by_host ? nics : 1;
        }
        at += nics;
    }
    return SIM_OK;
}

// Orders places so that hosts take turns: the first NIC of each host, then the second ones.
static void order_by_turns(const app_context_t *context, const places_t *places, uint32_t *order)
{
    uint32_t filled = 0;
    for (uint32_t turn = 0; filled < places->places; turn++) {
        uint32_t seen = 0;
        for (uint32_t i = 0; i < places->places; i++) {
            const uint32_t *const list = places->found.list.interfaces;
            const bool same = i > 0 && app__host(context->net, list[places->first[i]]) ==
                                           app__host(context->net, list[places->first[i - 1]]);
            seen = same ? seen + 1 : 0;
            if (seen == turn) {
                order[filled++] = i;
            }
        }
    }
}

// Returns the places in the order in which ranks take them.
static uint32_t *order_of(const app_context_t *context, const places_t *places, map_t map)
{
    uint32_t *const order = sim_alloc_array(places->places, sizeof(*order));
    for (uint32_t i = 0; i < places->places; i++) {
        order[i] = i;
    }
    if (map == MAP_ROUND_ROBIN) {
        order_by_turns(context, places, order);
    } else if (map == MAP_RANDOM) {
        sim_random_t random;
        app__random_init(&random, context, 0, "workload-map");
        for (uint32_t i = 0; i + 1 < places->places; i++) {
            const uint32_t chosen =
                i + (uint32_t)sim_random_below(&random, (uint64_t)places->places - i);
            const uint32_t place = order[i];
            order[i] = order[chosen];
            order[chosen] = place;
        }
    }
    return order;
}

// -- creation

static void message_arrived(app__rank_t *rank, uint32_t source, uint32_t op)
{
    const uint32_t receive = app__match_arrive(rank, source, op);
    if (receive != APP__NO_OP) {
        app__rank_received(rank, receive);
        app__rank_pump(rank);
    }
}

static void make_ranks(app__workload_t *workload, const places_t *places, const uint32_t *order)
{
    const app__schedule_t *const schedule = workload->schedule;
    uint32_t ports = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        ports += places->count[order[r]];
    }
    workload->ports = sim_alloc_array(ports, sizeof(*workload->ports));
    workload->ranks = sim_alloc_array(schedule->rank_count, sizeof(*workload->ranks));
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        app__rank_t *const rank = &workload->ranks[r];
        rank->workload = workload;
        rank->ops = &schedule->ranks[r];
        rank->number = r;
        rank->port_first = workload->port_count;
        rank->port_count = places->count[order[r]];
        for (uint32_t i = 0; i < rank->port_count; i++) {
            const uint32_t interface = places->found.list.interfaces[places->first[order[r]] + i];
            workload->ports[workload->port_count++] = (app__port_t){
                .rank = rank,
                .endpoint = app__endpoint_of(workload->runtime, interface),
            };
        }
        rank->node = workload->ports[rank->port_first].endpoint->node;
    }
}

static app__workload_t *make(const app_context_t *context,
                             const workload_config_t *config,
                             app__schedule_t *schedule)
{
    app__workload_t *const workload = sim_alloc(sizeof(*workload));
    *workload = (app__workload_t){
        .app = {&app_workload, context->net, context->index},
        .schedule = schedule,
        .runtime = context->runtime,
        .arrived = message_arrived,
        .first_flow_id = app__reserve_flow_ids(context->runtime, schedule->counts.sends),
        .start_ps = config->start_ps,
        .send_ps = config->send_ps,
        .recv_ps = config->recv_ps,
        .local_bps = config->local_bps,
        .local_ps = config->local_ps,
        .calc_scale = config->calc_scale,
    };
    return workload;
}

static void workload_destroy(app_t *app)
{
    app__workload_t *const workload = (app__workload_t *)app;
    for (uint32_t r = 0; workload->ranks != NULL && r < workload->schedule->rank_count; r++) {
        sim_free(workload->ranks[r].states);
        sim_free(workload->ranks[r].cpus);
        sim_free(workload->ranks[r].unexpected);
    }
    sim_free(workload->ranks);
    sim_free(workload->ports);
    sim_free(workload->links);
    sim_free(workload->incoming);
    app__schedule_destroy(workload->schedule);
    sim_free(workload);
}

static sim_err_t read_schedule(const app_context_t *context,
                               const workload_config_t *config,
                               app__schedule_t **schedule,
                               sim_message_t *message)
{
    char *text = NULL;
    size_t size_bytes = 0;
    if (config->file[0] == '\0') {
        return sim_fail_about(message,
                              SIM_ERR_INVALID,
                              "file",
                              ": the file is missing, expected the name of a schedule (GOAL)");
    }
    sim_err_t error = context->read_file(config->file, &text, &size_bytes, message, context->ctx);
    if (error == SIM_OK) {
        error = app__goal_read(config->file, text, size_bytes, schedule, message);
        sim_free(text);
    }
    return error;
}

// Gives ranks their places and makes what they need.
static sim_err_t place_ranks(const app_context_t *context,
                             const workload_config_t *config,
                             app__workload_t *workload,
                             sim_message_t *message)
{
    places_t places;
    const uint32_t ranks = workload->schedule->rank_count;
    const bool by_host = workload->schedule->counts.nic_max > 0;
    sim_err_t error = find_places(context, config, by_host, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    if (ranks > places.places) {
        error = sim_fail_about(message,
                               SIM_ERR_RANGE,
                               "hosts",
                               ": %s has %u ranks, but there are %u %s; expected at least %u",
                               config->file,
                               ranks,
                               places.places,
                               by_host ? "hosts" : "NICs of hosts",
                               ranks);
    } else {
        uint32_t *const order = order_of(context, &places, config->map);
        make_ranks(workload, &places, order);
        sim_free(order);
        error = app__links_create(workload, message);
    }
    fini_places(&places);
    return error;
}

// Says what of the schedule cannot come to an end: a run shows where it stops.
static void tell_unmatched(const app_context_t *context, const app__workload_t *workload)
{
    const app__schedule_counts_t *const counts = &workload->schedule->counts;
    const uint64_t wrong = counts->unmatched_sends + counts->unmatched_recvs + counts->stuck;
    if (context->note == NULL || wrong == 0) {
        return;
    }
    char *const text = sim_format("warning: traffic[%u].workload: the schedule may not come to an "
                                  "end: %" PRIu64 " sends have no receive, %" PRIu64
                                  " receives have no send, and %" PRIu64
                                  " operations wait for each other in a circle",
                                  context->index,
                                  counts->unmatched_sends,
                                  counts->unmatched_recvs,
                                  counts->stuck);
    context->note(text, context->ctx);
    sim_free(text);
}

static sim_err_t workload_create(const app_context_t *context,
                                 const void *config_void,
                                 app_t **app,
                                 sim_message_t *message)
{
    const workload_config_t *const config = config_void;
    app__schedule_t *schedule = NULL;
    sim_err_t error = read_schedule(context, config, &schedule, message);
    if (error != SIM_OK) {
        return error;
    }
    SIM_CHECK(schedule != NULL);
    app__workload_t *const workload = make(context, config, schedule);
    error = place_ranks(context, config, workload, message);
    if (error != SIM_OK) {
        workload_destroy(&workload->app);
        return error;
    }
    tell_unmatched(context, workload);
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        app__rank_begin(&workload->ranks[r], config->start_ps);
    }
    *app = &workload->app;
    return SIM_OK;
}

static void workload_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    *done = 0;
    *planned = 0;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        *planned += workload->ranks[r].ops->count;
        *done += workload->ranks[r].ops->count - workload->ranks[r].left;
    }
}

const app_ops_t app_workload = {
    .name = "workload",
    .help = "a schedule of messages and computations from a file (GOAL)",
    .attrs = &attr_table,
    .create = workload_create,
    .destroy = workload_destroy,
    .flows = app__workload_flows,
    .progress = workload_progress,
    .report = &app__workload_report,
    .warn = app__workload_warn,
};
