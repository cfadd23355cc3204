// SPDX-License-Identifier: Apache-2.0
// apps/workload/places.c - gives ranks their places: NICs of hosts, or whole hosts.
#include "apps/workload/places.h"
#include "apps/hosts.h"
#include "apps/workload/channels.h"
#include "apps/workload/domains.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"

#include <stdlib.h>
#include <string.h>

// A place is a NIC, or a host with all of its NICs if the schedule needs them.
typedef struct places {
    app__places_t found;
    app__domains_t *domains;
    uint32_t *first; // index into the list of interfaces
    uint32_t *count; // interfaces of the place
    uint32_t *local; // number of the place within its host
    uint32_t places;
} places_t;

static void fini_places(places_t *places)
{
    app__places_fini(&places->found);
    app__domains_destroy(places->domains);
    SIM_FREE_ALL(places->first, places->count, places->local);
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

static void add_places(places_t *places, size_t at, uint32_t nics, bool whole, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        places->first[places->places] = (uint32_t)at + i % nics;
        places->local[places->places] = i;
        places->count[places->places++] = whole ? nics : 1;
    }
}

static uint32_t count_hosts(const app_context_t *context, const app_hosts_t *list)
{
    uint32_t count = 0;
    for (size_t at = 0; at < list->count; at += nics_from(context, list, at)) {
        count++;
    }
    return count;
}

// Finds the places. A schedule that numbers NICs has whole hosts, unless its ranks are more.
static sim_err_t find_places(const app_context_t *context, const app__workload_options_t *options,
                             const app__schedule_counts_t *counts, uint32_t ranks, places_t *places,
                             sim_message_t *message)
{
    *places = (places_t){.places = 0};
    const sim_err_t error =
        app__places_find(context, "hosts", options->hosts, &places->found, message);
    if (error != SIM_OK) {
        return error;
    }
    const app_hosts_t *const list = &places->found.list;
    const bool shares = counts->colls > 0 && options->collective.per_node != SIM_AUTO;
    const uint32_t share = shares ? (uint32_t)options->collective.per_node : 1;
    const bool by_host = counts->nic_max > 0 && count_hosts(context, list) >= ranks;
    places->domains = app__domains_create(context->net);
    places->first = sim_alloc_array(list->count * share, sizeof(*places->first));
    places->count = sim_alloc_array(list->count * share, sizeof(*places->count));
    places->local = sim_alloc_array(list->count * share, sizeof(*places->local));
    for (size_t at = 0; at < list->count;) {
        const uint32_t nics = nics_from(context, list, at);
        const net_node_t *const host = app__host(context->net, list->interfaces[at]);
        app__domain_ports_t ports;
        const bool gpu = app__domain_of(places->domains, host, &ports) != NULL;
        const bool whole = ((gpu || app__is_direct(host)) && nics == nic_count(host)) || by_host;
        add_places(places, at, nics, whole, whole ? 1 : shares ? share : nics);
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
static uint32_t *order_of(const app_context_t *context, const places_t *places, app__map_t map)
{
    uint32_t *const order = sim_alloc_array(places->places, sizeof(*order));
    for (uint32_t i = 0; i < places->places; i++) {
        order[i] = i;
    }
    if (map == APP__MAP_ROUND_ROBIN) {
        order_by_turns(context, places, order);
    } else if (map == APP__MAP_RANDOM) {
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

// Reads the list of places, a number for each rank, into the order.
static sim_err_t read_list(const app__workload_options_t *options, uint32_t ranks, uint32_t places,
                           uint32_t *order, sim_message_t *message)
{
    bool *const taken = sim_alloc_array((size_t)places + 1, sizeof(*taken));
    const char *at = options->places;
    uint32_t count = 0;
    sim_err_t result = SIM_OK;
    while (result == SIM_OK && count < ranks) {
        char *end = NULL;
        at += strspn(at, ", ");
        const unsigned long place = strtoul(at, &end, 10);
        if (end == at || *at == '-' || place >= places || taken[place]) {
            result = sim_fail_about(message, SIM_ERR_INVALID, "places",
                                    ": '%.20s' for rank %u, expected %u different places from 0 to "
                                    "%u",
                                    at, count, ranks, places - 1);
        } else {
            taken[place] = true;
            order[count++] = (uint32_t)place;
            at = end;
        }
    }
    sim_free(taken);
    if (result == SIM_OK && at[strspn(at, ", ")] != '\0') {
        result = sim_fail_about(message, SIM_ERR_INVALID, "places",
                                ": '%.20s' stands behind the place of the last rank, expected %u "
                                "places",
                                at + strspn(at, ", "), ranks);
    }
    return result;
}

// Finds the NVSwitches of a rank that has all NICs of its host. NVLink has no congestion control.
static void set_domain(app__rank_t *rank, const app__domains_t *domains)
{
    const app__port_t *const ports = &rank->workload->ports[rank->port_first];
    const net_node_t *const host = nic_node(ports->endpoint->nic);
    if (rank->port_count == nic_count(host)) {
        rank->domain = app__domain_of(domains, host, &rank->domain_ports);
    }
    for (uint32_t i = 0; i < rank->domain_ports.count; i++) {
        nic_exempt(ports[rank->domain_ports.ports[i]].endpoint->nic);
    }
}

// Fails if a rank's host has accelerators as nodes, but none for the rank.
static sim_err_t check_accelerators(const app_context_t *context, const places_t *places,
                                    const uint32_t *order, uint32_t ranks, sim_message_t *message)
{
    for (uint32_t r = 0; r < ranks; r++) {
        const uint32_t interface = places->found.list.interfaces[places->first[order[r]]];
        const net_node_t *const host = app__host(context->net, interface);
        const uint32_t count = net_accelerator_count(host);
        if (count > 0 && places->local[order[r]] >= count) {
            return sim_fail_about(message, SIM_ERR_RANGE, "hosts",
                                  ": %s has more ranks than its %u accelerators, expected "
                                  "scale-up.accelerators of %u or more",
                                  host->sim.name, count, places->local[order[r]] + 1);
        }
    }
    return SIM_OK;
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
            app__port_t *const port = &workload->ports[workload->port_count - 1];
            net_node_t *const node = nic_node(port->endpoint->nic);
            net_node_t *const host = net_accelerator_count(node) > 0 ? node : NULL;
            app__nvlink_init(&port->nvlink, port->endpoint->node, host, places->local[order[r]]);
            app__nvlink_init(&port->nvlink_in, port->endpoint->node, NULL, 0);
        }
        rank->node = workload->ports[rank->port_first].endpoint->node;
        rank->direct = rank->port_count > 1 &&
                       app__is_direct(nic_node(workload->ports[rank->port_first].endpoint->nic));
        set_domain(rank, places->domains);
    }
}

sim_err_t app__ranks_place(const app_context_t *context, const app__workload_options_t *options,
                           app__workload_t *workload, sim_message_t *message)
{
    places_t places;
    const uint32_t ranks = workload->schedule->rank_count;
    const app__schedule_counts_t *const counts = &workload->schedule->counts;
    sim_err_t error = find_places(context, options, counts, ranks, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    if (ranks > places.places) {
        error =
            sim_fail_about(message, SIM_ERR_RANGE, "hosts",
                           ": %s has %u ranks, but there are %u NICs of hosts; expected at least "
                           "%u NICs, or a schedule of at most %u ranks",
                           options->title, ranks, places.places, ranks, places.places);
    } else {
        workload->place_count = places.places;
        uint32_t *const order = order_of(context, &places, options->map);
        if (options->map == APP__MAP_LIST) {
            error = read_list(options, ranks, places.places, order, message);
        }
        if (error == SIM_OK) {
            error = check_accelerators(context, &places, order, ranks, message);
        }
        if (error == SIM_OK) {
            make_ranks(workload, &places, order);
        }
        sim_free(order);
        if (error == SIM_OK && options->network == APP__NETWORK_PACKETS) {
            error = app__rank_channels_create(workload, message);
        }
    }
    fini_places(&places);
    return error;
}

sim_err_t app__ranks_count(const app_context_t *context, const app__workload_options_t *options,
                           uint32_t *count, sim_message_t *message)
{
    places_t places;
    const app__schedule_counts_t counts = {.colls = 1};
    const sim_err_t error = find_places(context, options, &counts, 0, &places, message);
    if (error == SIM_OK) {
        *count = places.places;
        fini_places(&places);
    }
    return error;
}

void app__workload_places(const app_t *app, app_place_fn fn, void *ctx)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        fn(r, workload->ports[rank->port_first].endpoint->interface, ctx);
    }
}

// -- hosts with links to each other, such as the GPUs of a ring
//
// Each NIC leads to another host, and hosts forward nothing. So a host is one place with all its
// NICs, and two ranks take the NICs that reach each other.

bool app__is_direct(const net_node_t *host)
{
    bool direct = false;
    bool differ = false;
    for (uint32_t i = 0; i < host->port_count; i++) {
        const net_node_t *const neighbour = net_neighbour(host, i);
        direct = direct || neighbour->kind == NET_NODE_HOST;
        differ = differ || neighbour != net_neighbour(host, 0);
    }
    return direct && differ;
}

static uint32_t interface_of(const app__rank_t *rank, uint32_t port)
{
    return rank->workload->ports[rank->port_first + port].endpoint->interface;
}

void app__direct_ports(const app__rank_t *rank, const app__rank_t *peer, uint32_t *own,
                       uint32_t *other)
{
    // Both ends must find the same pair, so the rank with the lower number is first.
    const bool swapped = rank->number > peer->number;
    const app__rank_t *const a = swapped ? peer : rank;
    const app__rank_t *const b = swapped ? rank : peer;
    net_path_t best = {.hop_count = UINT32_MAX};
    uint32_t ports[2] = {0, 0};
    for (uint32_t i = 0; i < a->port_count; i++) {
        for (uint32_t j = 0; j < b->port_count; j++) {
            net_path_t path;
            const bool found = net_path_of(rank->workload->app.net, interface_of(a, i),
                                           interface_of(b, j), 0, &path);
            if (found &&
                (path.hop_count < best.hop_count ||
                 (path.hop_count == best.hop_count && path.bottleneck_bps > best.bottleneck_bps))) {
                best = path;
                ports[0] = i;
                ports[1] = j;
            }
        }
    }
    *own = rank->port_first + ports[swapped];
    *other = peer->port_first + ports[!swapped];
}
