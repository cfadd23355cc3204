// SPDX-License-Identifier: Apache-2.0
// apps/hosts.c - resolves the host names and patterns of a scenario to interfaces.
#include <stdio.h>
#include <string.h>

#include "apps/hosts.h"
#include "kernel/parse.h"
#include "nic/ideal.h"

const net_node_t *app__host(const net_t *net, uint32_t interface)
{
    return nic_node(nic_of_interface(net, interface));
}

const char *app__host_name(const net_t *net, uint32_t interface)
{
    return app__host(net, interface)->sim.name;
}

bool app__can_talk(const net_t *net, uint32_t a, uint32_t b)
{
    return app__host(net, a) != app__host(net, b) && net_reachable(net, a, b);
}

bool app__find_talk(const net_t *net, uint32_t *a, uint32_t *b)
{
    if (app__can_talk(net, *a, *b)) {
        return true;
    }
    const net_node_t *const hosts[] = {app__host(net, *a), app__host(net, *b)};
    const uint32_t first[] = {nic_interface(nic_at(hosts[0], 0)),
                              nic_interface(nic_at(hosts[1], 0))};
    if (*a != first[0] || *b != first[1] || hosts[0] == hosts[1]) {
        return false;
    }
    net_path_t best = {.hop_count = UINT32_MAX};
    for (uint32_t i = 0; i < nic_count(hosts[0]); i++) {
        for (uint32_t j = 0; j < nic_count(hosts[1]); j++) {
            net_path_t path;
            if (net_path_of(net, first[0] + i, first[1] + j, 0, &path) &&
                (path.hop_count < best.hop_count ||
                 (path.hop_count == best.hop_count && path.bottleneck_bps > best.bottleneck_bps))) {
                best = path;
                *a = first[0] + i;
                *b = first[1] + j;
            }
        }
    }
    return best.hop_count != UINT32_MAX;
}

sim_time_t app__ack_ps(const net_t *net, uint32_t from, uint32_t to)
{
    nic_ideal_t ideal = {
        .net = net,
        .requester = to,
        .responder = from,
        .opcode = NIC_WR_RDMA_WRITE,
        .mtu_bytes = 4096,
        .message_bytes = 4,
        .messages = 1,
        .piece_bytes = UINT64_C(1) << 30,
        .service = NIC_QPT_RC,
    };
    const sim_time_t both_ps = nic_ideal_ps(&ideal);
    ideal.service = NIC_QPT_UC;
    return both_ps - nic_ideal_ps(&ideal);
}

sim_err_t app__cannot_talk(const net_t *net, uint32_t a, uint32_t b, const char *blame,
                           sim_message_t *message)
{
    if (app__host(net, a) == app__host(net, b)) {
        return sim_fail_about(message, SIM_ERR_INVALID, blame,
                              ": from %s to itself, expected two different hosts",
                              app__host_name(net, a));
    }
    return sim_fail_about(message, SIM_ERR_INVALID, blame,
                          ": there is no path between %s and %s, expected two hosts with a path "
                          "between them",
                          net_port_name(net_interface_port(net, a)),
                          net_port_name(net_interface_port(net, b)));
}

void app__random_init(sim_random_t *random, const app_context_t *context, uint32_t entity,
                      const char *purpose)
{
    sim_random_init(random, sim_options(net_sim(context->net))->seed,
                    (uint64_t)context->index << 32 | entity, purpose);
}

static sim_err_t resolve(const app_context_t *context, const char *attribute, const char *pattern,
                         app_hosts_t *hosts, sim_message_t *message)
{
    *hosts = (app_hosts_t){NULL, 0};
    sim_message_t reason = {.text = ""};
    sim_err_t error = context->hosts(pattern, hosts, &reason, context->ctx);
    if (error == SIM_OK && hosts->count == 0) {
        sim_free(hosts->interfaces);
        error = sim_fail(&reason, SIM_ERR_UNKNOWN,
                         "no host matches \"%.100s\", expected a name or "
                         "pattern of hosts, such as host3 or "
                         "host[0-7]",
                         pattern);
    }
    if (error != SIM_OK) {
        *hosts = (app_hosts_t){NULL, 0};
        return sim_fail_about(message, error, attribute, ": %s", reason.text);
    }
    return SIM_OK;
}

sim_err_t app__places_find(const app_context_t *context, const char *attribute, const char *pattern,
                           app__places_t *places, sim_message_t *message)
{
    const sim_err_t error = resolve(context, attribute, pattern, &places->list, message);
    if (error != SIM_OK) {
        return error;
    }
    places->host_count = 1;
    for (size_t i = 1; i < places->list.count; i++) {
        places->host_count += app__host(context->net, places->list.interfaces[i]) !=
                              app__host(context->net, places->list.interfaces[i - 1]);
    }
    return SIM_OK;
}

void app__places_fini(app__places_t *places)
{
    sim_free(places->list.interfaces);
    *places = (app__places_t){{NULL, 0}, 0};
}

sim_err_t app__places_grid(const app_context_t *context, const char *attribute,
                           const app__places_t *places, uint32_t *nics, sim_message_t *message)
{
    if (places->host_count < 2) {
        return sim_fail_about(message, SIM_ERR_RANGE, attribute,
                              " names %u host, expected at least 2", places->host_count);
    }
    *nics = (uint32_t)(places->list.count / places->host_count);
    for (size_t i = 0; i < places->list.count; i++) {
        const uint32_t interface = places->list.interfaces[i];
        const net_node_t *const host = app__host(context->net, interface);
        const size_t first = i / *nics * *nics;
        if (nic_count(host) != *nics ||
            host != app__host(context->net, places->list.interfaces[first])) {
            return sim_fail_about(
                message, SIM_ERR_INVALID, attribute,
                ": %s has %u NICs, expected hosts with the same number of NICs, and all NICs of "
                "each host",
                host->sim.name, nic_count(host));
        }
    }
    return SIM_OK;
}

// Splits "host3:1" into the host's name and the NIC's number. Returns false if `name` has another
// form.
static bool split_nic(const char *name, char *host, size_t host_bytes, uint64_t *nic)
{
    const char *const colon = strrchr(name, ':');
    if (colon == NULL || colon == name || (size_t)(colon - name) >= host_bytes) {
        return false;
    }
    snprintf(host, host_bytes, "%.*s", (int)(colon - name), name);
    return sim_parse_count(colon + 1, nic, NULL) == SIM_OK;
}

sim_err_t app__interface_find(const app_context_t *context, const char *attribute, const char *name,
                              uint32_t *interface, sim_message_t *message)
{
    char host[512];
    uint64_t nic = 0;
    app_hosts_t hosts;
    const bool has_nic = split_nic(name, host, sizeof(host), &nic);
    sim_err_t error = resolve(context, attribute, name, &hosts, message);
    if (error == SIM_OK) {
        nic = 0;
    } else if (has_nic) {
        error = resolve(context, attribute, host, &hosts, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    SIM_CHECK(hosts.interfaces != NULL && hosts.count > 0);
    if (app__host(context->net, hosts.interfaces[0]) !=
        app__host(context->net, hosts.interfaces[hosts.count - 1])) {
        error = sim_fail_about(message, SIM_ERR_INVALID, attribute,
                               ": \"%.100s\" names several hosts, expected the name of one", name);
    } else if (nic >= hosts.count) {
        error = sim_fail_about(message, SIM_ERR_RANGE, attribute,
                               ": \"%.100s\" names a NIC that the host does not have, expected a "
                               "NIC number below %zu",
                               name, hosts.count);
    } else {
        *interface = hosts.interfaces[nic];
    }
    sim_free(hosts.interfaces);
    return error;
}
