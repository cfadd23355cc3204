// SPDX-License-Identifier: Apache-2.0
// apps/programs/management/servers.c - the servers of ssh.
#include "apps/programs/management/servers.h"

#include "apps/endpoints.h"
#include "apps/processes.h"
#include "apps/programs/guest.h"
#include "kernel/steps.h"

struct app__servers {
    app_t **servers; // by host; NULL: a caller has taken it
    size_t count;
    size_t capacity;
};

app__servers_t *app__servers_create(const app_context_t *context)
{
    app__servers_t *const servers = sim_alloc(sizeof(*servers));
    const net_node_t *last = NULL;
    for (uint32_t i = 0; i < net_interface_count(context->net); i++) {
        net_node_t *const node = net_interface_node(context->net, i);
        if (node != last) { // interfaces of a host follow each other
            app__program_t *const server = app__server_create(context, node);
            app__sockets_serve(server->sockets, node, server);
            SIM_APPEND(servers->servers, servers->count, servers->capacity, &server->app);
        }
        last = node;
    }
    return servers;
}

void app__servers_destroy(app__servers_t *servers)
{
    for (size_t i = 0; servers != NULL && i < servers->count; i++) {
        if (servers->servers[i] != NULL) {
            servers->servers[i]->ops->destroy(servers->servers[i]);
        }
    }
    if (servers != NULL) {
        sim_free((void *)servers->servers);
        sim_free(servers);
    }
}

bool app__server_starts(app__program_t *server)
{
    if (server->state == APP__PR_WAITS_FOR_START && !server->called) {
        server->called = true;
        server->number = app__sockets_number(server->sockets, server->node);
        nic_core_start(server->core, server->node->sim.now_ps);
    }
    return server->state != APP__PR_ENDED;
}

app_t *app_programs_next_server(app_runtime_t *runtime)
{
    app__servers_t *const servers = *app__runtime_servers(runtime);
    for (size_t i = 0; servers != NULL && i < servers->count; i++) {
        app_t *const app = servers->servers[i];
        if (app != NULL && ((const app__program_t *)(const void *)app)->first_process != NULL) {
            servers->servers[i] = NULL;
            return app;
        }
    }
    return NULL;
}
