// SPDX-License-Identifier: Apache-2.0
// apps/flows/files/import.c - turns the flows of other simulators' files into transfers of a plan.
//
// Host n of the file is the host named host<n>. Where hosts have several NICs, a flow takes the
// pair of NICs with the fewest hops, and among those the fastest; if several pairs are equal, flows
// of the same two hosts take turns. A file that declares more nodes than there are hosts, but no
// more than NICs, means NICs: node n is NIC n, host by host.
#include <string.h>

#include "apps/flow_file.h"
#include "apps/flows/files/import.h"
#include "apps/hosts.h"
#include "kernel/parse.h"

#define HOST_PREFIX "host"
#define PAIRS_MAX 4096u // NIC pairs of two hosts that are compared

typedef struct numbered {
    uint64_t first; // 1 + first interface of the host; 0: no such host
    uint32_t count;
} numbered_t;

typedef struct hosts {
    numbered_t *items;
    size_t count;
} hosts_t;

// Reads the number in "host<number>"; false: the name has another form.
static bool number_of(const char *name, uint64_t *number)
{
    const size_t prefix = strlen(HOST_PREFIX);
    return strncmp(name, HOST_PREFIX, prefix) == 0 && name[prefix] >= '0' && name[prefix] <= '9' &&
           sim_parse_count(name + prefix, number, NULL) == SIM_OK && *number <= UINT32_MAX;
}

static void hosts_init(hosts_t *hosts, const net_t *net)
{
    const uint32_t interfaces = (uint32_t)net_interface_count(net);
    uint64_t highest = 0;
    uint64_t number = 0;
    for (uint32_t i = 0; i < interfaces; i++) {
        if (number_of(app__host_name(net, i), &number) && number > highest) {
            highest = number;
        }
    }
    // A number far above the number of hosts would make a table of mostly unused entries.
    hosts->count = (size_t)(highest < UINT64_C(1) << 24 ? highest + 1 : 0);
    hosts->items = sim_alloc_array(hosts->count + 1, sizeof(*hosts->items));
    for (uint32_t i = 0; i < interfaces; i++) {
        if (number_of(app__host_name(net, i), &number) && number < hosts->count) {
            numbered_t *const host = &hosts->items[number];
            host->first = host->count == 0 ? i + 1 : host->first;
            host->count++;
        }
    }
}

// Lets the numbers mean NICs, host by host.
static void number_nics(hosts_t *hosts)
{
    hosts_t nics = {.count = 0};
    for (size_t i = 0; i < hosts->count; i++) {
        nics.count += hosts->items[i].count;
    }
    nics.items = sim_alloc_array(nics.count + 1, sizeof(*nics.items));
    for (size_t i = 0, at = 0; i < hosts->count; i++) {
        for (uint32_t nic = 0; nic < hosts->items[i].count; nic++) {
            nics.items[at++] = (numbered_t){hosts->items[i].first + nic, 1};
        }
    }
    sim_free(hosts->items);
    *hosts = nics;
}

// Returns whether a path is better: fewer hops, then a faster bottleneck (NVSwitch before the
// fabric).
static bool is_better(const net_path_t *path, const net_path_t *than)
{
    return path->hop_count != than->hop_count ? path->hop_count < than->hop_count
                                              : path->bottleneck_bps > than->bottleneck_bps;
}

// Sets `request` to pair number i of the NICs of two hosts; returns whether it has a path.
static bool pair_at(const net_t *net, const numbered_t *from, const numbered_t *to, uint32_t i,
                    app__request_t *request, net_path_t *path)
{
    request->source = (uint32_t)(from->first - 1) + i / to->count;
    request->destination = (uint32_t)(to->first - 1) + i % to->count;
    return net_path_of(net, request->source, request->destination, 0, path);
}

// Chooses pair number `turn`, modulo their number, of the best pairs. False: no pair can talk.
static bool choose_pair(const net_t *net, const numbered_t *from, const numbered_t *to,
                        uint32_t turn, app__request_t *request)
{
    const uint32_t all = from->count * to->count;
    const uint32_t count = SIM_MIN(all, PAIRS_MAX);
    net_path_t best = {.hop_count = UINT32_MAX};
    net_path_t path;
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!pair_at(net, from, to, i, request, &path)) {
            continue;
        }
        pairs = is_better(&path, &best) ? 0 : pairs;
        best = pairs == 0 && is_better(&path, &best) ? path : best;
        pairs += !is_better(&best, &path);
    }
    for (uint32_t i = 0, seen = 0; i < count && pairs > 0; i++) {
        if (pair_at(net, from, to, i, request, &path) && !is_better(&best, &path) &&
            seen++ == turn % pairs) {
            request->can_talk = true;
            return true;
        }
    }
    return false;
}

static bool is_host(const hosts_t *hosts, uint32_t number)
{
    return number < hosts->count && hosts->items[number].count > 0;
}

static sim_err_t fail_host(const char *name, uint32_t line, uint32_t column, uint32_t host,
                           const hosts_t *hosts, sim_message_t *message)
{
    return sim_fail_in(message, SIM_ERR_UNKNOWN, name, line, column,
                       "the network has no host " HOST_PREFIX "%u, expected hosts " HOST_PREFIX
                       "0 to " HOST_PREFIX "%zu",
                       host, hosts->count == 0 ? 0 : hosts->count - 1);
}

static sim_err_t add_row(const app_context_t *context, app__plan_t *plan, const hosts_t *hosts,
                         const char *name, const app_flow_row_t *row, sim_message_t *message)
{
    if (!is_host(hosts, row->source)) {
        return fail_host(name, row->line, row->column, row->source, hosts, message);
    }
    if (!is_host(hosts, row->destination)) {
        return fail_host(name, row->destination_line, row->destination_column, row->destination,
                         hosts, message);
    }
    app__request_t request = {
        .bytes = row->bytes,
        .start_ps = row->start_ps,
        .priority = row->priority == APP_FLOW_AS_THE_NIC ? SIM_AUTO : row->priority,
        .source_port = row->source_port,
        .service_port = row->destination_port,
        .chain = row->chain,
    };
    if (!choose_pair(context->net, &hosts->items[row->source], &hosts->items[row->destination],
                     row->repeat, &request)) {
        return sim_fail_in(message, SIM_ERR_INVALID, name, row->line, row->column,
                           "there is no path between host %u and host %u, expected hosts with a "
                           "path between them",
                           row->source, row->destination);
    }
    sim_message_t reason = {.text = ""};
    const sim_err_t error = app__plan_add(plan, &request, "flow", &reason);
    return error == SIM_OK
               ? SIM_OK
               : sim_fail_in(message, error, name, row->line, row->column, "%.400s", reason.text);
}

// -- triggers
//
// Hosts learn of each other only by packets, so a trigger belongs to one host: the one that sends
// what the trigger starts. If the other end of a connection activates it, that happens when this
// host knows.

#define NO_HOST UINT32_MAX

static sim_err_t fail_trigger(const app_flow_file_t *file, const app_flow_row_t *row,
                              const char *name, uint32_t number, uint32_t host,
                              sim_message_t *message)
{
    return sim_fail_in(message, SIM_ERR_INVALID, name, row->line, row->column,
                       "trigger %" PRIu64
                       " starts connections of host %u and has to do with %u->%u, expected one "
                       "host that sends what it starts, and sends or receives what activates it",
                       file->triggers[number - 1].id, host, row->source, row->destination);
}

// Assigns a trigger that one end of a connection activates to the host that the trigger belongs to:
// that end, or the other end if it has no trigger yet (then *moved). False: neither is possible.
static bool place_end(uint32_t *own, uint32_t own_host, uint32_t *other, uint32_t other_host,
                      const uint32_t *hosts, bool *moved)
{
    const uint32_t host = hosts[*own];
    if (*own == 0 || host == NO_HOST || host == own_host) {
        return true;
    }
    if (host != other_host || *other != 0) {
        return false;
    }
    *other = *own;
    *own = 0;
    *moved = true;
    return true;
}

static sim_err_t place_triggers(const app_context_t *context, app_flow_file_t *file,
                                const char *name, bool acknowledged, sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    const app_flow_row_t *moved_row = NULL;
    uint32_t *const hosts = sim_alloc_array(file->trigger_count + 1, sizeof(*hosts));
    memset(hosts, 0xff, (file->trigger_count + 1) * sizeof(*hosts));
    for (size_t i = 0; i < file->count && error == SIM_OK; i++) {
        const app_flow_row_t *const row = &file->rows[i];
        const uint32_t by = row->chain.started_by;
        if (by != 0 && hosts[by] != NO_HOST && hosts[by] != row->source) {
            error = fail_trigger(file, row, name, by, hosts[by], message);
        }
        hosts[by] = by != 0 ? row->source : NO_HOST;
    }
    for (size_t i = 0; i < file->count && error == SIM_OK; i++) {
        app_flow_row_t *const row = &file->rows[i];
        app_flow_chain_t *const chain = &row->chain;
        const app_flow_chain_t before = *chain;
        bool moved = false;
        if (!place_end(&chain->sent, row->source, &chain->received, row->destination, hosts,
                       &moved)) {
            error = fail_trigger(file, row, name, before.sent, hosts[before.sent], message);
        } else if (!moved && !place_end(&chain->received, row->destination, &chain->sent,
                                        row->source, hosts, &moved)) {
            error = fail_trigger(file, row, name, before.received, hosts[before.received], message);
        }
        chain->acknowledged = acknowledged && moved && chain->received == before.sent;
        moved = moved && !chain->acknowledged;
        moved_row = moved && moved_row == NULL ? row : moved_row;
    }
    sim_free(hosts);
    if (error == SIM_OK && moved_row != NULL && context->note != NULL) {
        char *const text =
            sim_format("%s:%u:%u: one end of a connection activates a trigger of the other end's "
                       "host: it takes effect when that host knows, one ACK's travel time earlier "
                       "or later",
                       name, moved_row->line, moved_row->column);
        context->note(text, context->ctx);
        sim_free(text);
    }
    return error;
}

static sim_err_t take_triggers(const app_context_t *context, app__plan_t *plan,
                               app_flow_file_t *file, const char *name, bool acknowledged,
                               sim_message_t *message)
{
    if (file->trigger_count == 0) {
        return SIM_OK;
    }
    if (app__plan_verb(plan) == APP__VERB_READ) {
        return sim_fail_about(message, SIM_ERR_INVALID, "verb",
                              ": read cannot be used with the triggers of %s, expected write or "
                              "send",
                              name);
    }
    const sim_err_t error = place_triggers(context, file, name, acknowledged, message);
    if (error == SIM_OK) {
        app__plan_triggers(plan, file->triggers, file->trigger_count);
    }
    return error;
}

// Lets the file's nodes be hosts, or NICs if hosts are too few. Refuses a file that declares more
// nodes than there are NICs: it is meant for another network.
static sim_err_t match_nodes(const app_flow_file_t *file, hosts_t *hosts, const char *name,
                             sim_message_t *message)
{
    const size_t host_count = hosts->count;
    if (file->nodes <= host_count) {
        return SIM_OK;
    }
    number_nics(hosts);
    if (file->nodes <= hosts->count) {
        return SIM_OK;
    }
    return sim_fail_in(message, SIM_ERR_RANGE, name, file->nodes_line, file->nodes_column,
                       "the file has %" PRIu64 " nodes and the network %zu hosts with %zu NICs, "
                       "expected at least as many hosts or NICs as nodes",
                       file->nodes, host_count, hosts->count);
}

sim_err_t app__flows_add_file(const app_context_t *context, app__plan_t *plan,
                              app_flow_format_t format, const char *name, const char *text,
                              size_t size_bytes, bool acknowledged, sim_message_t *message)
{
    app_flow_file_t file;
    hosts_t hosts = {0};
    sim_err_t error = app_flow_file_parse(format, name, text, size_bytes, context->note,
                                          context->ctx, &file, message);
    if (error == SIM_OK) {
        error = take_triggers(context, plan, &file, name, acknowledged, message);
    }
    if (error == SIM_OK) {
        hosts_init(&hosts, context->net);
        error = match_nodes(&file, &hosts, name, message);
    }
    for (size_t i = 0; i < file.count && error == SIM_OK; i++) {
        error = add_row(context, plan, &hosts, name, &file.rows[i], message);
    }
    app_flow_file_fini(&file);
    sim_free(hosts.items);
    return error;
}
