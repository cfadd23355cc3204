// SPDX-License-Identifier: Apache-2.0
// apps/programs/cm_host.c - connection managers of hosts: identifiers, their ports, and QPs 1.
#include "apps/programs/cm_internal.h"
#include "apps/programs/process_verbs.h"

#include <errno.h>
#include <string.h>

#define AREA_AT (UINT64_C(1) << 63) // behind the addresses of all programs
#define FIRST_FREE_PORT 32768u

struct app__cmas {
    net_t *net;
    app__cma_t **managers;
    size_t count;
    size_t capacity;
    sim_map_t manager_of_node; // of node numbers, to index
};

void app__cmas_destroy(app__cmas_t *managers)
{
    for (size_t i = 0; managers != NULL && i < managers->count; i++) {
        app__cma_t *const manager = managers->managers[i];
        for (size_t j = 0; j < manager->id_count; j++) {
            if (manager->ids[j] != NULL) {
                sim_free(manager->ids[j]->events);
                sim_free(manager->ids[j]);
            }
        }
        for (uint32_t j = 0; j < nic_count(manager->node); j++) {
            if (manager->ports[j].opened) {
                app__gsi_close(manager->ports[j].endpoint, &manager->ports[j].listener);
            }
        }
        sim_free((void *)manager->ids);
        sim_free(manager->ports);
        sim_map_fini(&manager->requests);
        sim_free(manager);
    }
    if (managers != NULL) {
        sim_free((void *)managers->managers);
        sim_map_fini(&managers->manager_of_node);
        sim_free(managers);
    }
}

static void add_manager(app__cmas_t *managers, app_runtime_t *runtime, net_node_t *host)
{
    app__cma_t *const manager = sim_alloc(sizeof(*manager));
    const uint64_t seed = sim_options(net_sim(managers->net))->seed;
    *manager = (app__cma_t){
        .net = managers->net,
        .node = host,
        .ports = sim_alloc_array(nic_count(host), sizeof(app__cma_port_t)),
        .first_number = (uint32_t)sim_mix64(seed ^ (uint64_t)host->sim.index << 32) | 1u << 31,
    };
    for (uint32_t i = 0; i < nic_count(host); i++) {
        app__endpoint_t *const endpoint = app__endpoint_of(runtime, nic_interface(nic_at(host, i)));
        endpoint->manager = manager;
        manager->ports[i] = (app__cma_port_t){
            .manager = manager,
            .endpoint = endpoint,
            .address = AREA_AT + i * APP__GSI_BYTES,
        };
    }
    sim_map_add(&managers->manager_of_node, host->sim.index, managers->count);
    SIM_APPEND(managers->managers, managers->count, managers->capacity, manager);
}

app__cmas_t *app__cmas_create(net_t *net, app_runtime_t *runtime)
{
    app__cmas_t *const managers = sim_alloc(sizeof(*managers));
    managers->net = net;
    const net_node_t *last = NULL;
    for (uint32_t i = 0; i < net_interface_count(net); i++) {
        net_node_t *const host = net_interface_node(net, i);
        if (host != last) { // interfaces of a host follow each other
            add_manager(managers, runtime, host);
        }
        last = host;
    }
    return managers;
}

app__cma_t *app__cmas_of(const app__cmas_t *managers, const net_node_t *host)
{
    return managers->managers[sim_map_get(&managers->manager_of_node, host->sim.index)];
}

// -- QPs 1

// Makes the QP 1 of a NIC when it is needed.
static void open_port(app__cma_port_t *port)
{
    if (port->opened) {
        return;
    }
    nic_mr_t *region = NULL;
    const sim_err_t error = nic_mr_register(port->endpoint->pd, port->address, APP__GSI_BYTES,
                                            NIC_ACCESS_LOCAL_WRITE, &region);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    port->opened = true;
    port->listener = (app__gsi_listener_t){.fn = app__cma_take, .ctx = port, .last = true};
    app__gsi_open(port->endpoint, port->address, nic_mr_lkey(region), &port->listener);
}

nic_qp_t *app__cma_qp(app__cma_t *manager, const nic_t *nic)
{
    app__cma_port_t *port = manager->ports;
    while (port->endpoint->nic != nic) {
        port++;
    }
    open_port(port);
    return app__gsi_qp(port->endpoint->gsi);
}

void app__cma_send(app__cma_t *manager, uint32_t device, uint32_t interface,
                   const uint8_t bytes[APP__MAD_BYTES])
{
    app__cma_port_t *const port = &manager->ports[device];
    open_port(port);
    app__gsi_send(port->endpoint->gsi, interface, bytes);
}

// -- identifiers

app__cma_id_t *app__cma_new(app__cma_t *manager, app__program_t *program)
{
    app__cma_id_t *const id = sim_alloc(sizeof(*id));
    *id = (app__cma_id_t){
        .manager = manager,
        .program = program,
        .process = program->process,
        .number = manager->first_number + (uint32_t)manager->id_count,
        .device = PROGRAM_NO_DEVICE,
    };
    id->psn = (uint32_t)sim_mix64((uint64_t)manager->node->sim.index << 32 | id->number) & 0xffffff;
    sim_timer_init(&id->timer, app__cma_time_is_over);
    SIM_APPEND(manager->ids, manager->id_count, manager->id_capacity, id);
    return id;
}

app__cma_id_t *app__cma_find(const app__cma_t *manager, uint64_t number)
{
    const uint32_t index = (uint32_t)number - manager->first_number;
    return index < manager->id_count ? manager->ids[index] : NULL;
}

void app__cma_forget_request(const app__cma_id_t *id)
{
    app__cma_t *const manager = id->manager;
    (void)sim_map_remove(&manager->requests, (uint64_t)id->peer_interface << 32 | id->remote_id,
                         id->number - manager->first_number);
}

void app__cma_free(app__cma_id_t *id)
{
    app__cma_t *const manager = id->manager;
    app__cma_forget_request(id);
    sim_timer_cancel(&manager->node->sim, &id->timer);
    manager->ids[id->number - manager->first_number] = NULL;
    sim_free(id->events);
    sim_free(id);
}

// -- addresses and ports

bool app__cma_is_any(const uint8_t address[16])
{
    static const uint8_t any[16];
    return memcmp(address, any, sizeof(any)) == 0;
}

// Returns whether another identifier of the port space keeps this one from a port.
static bool is_taken(const app__cma_id_t *id, const uint8_t address[16], uint16_t port)
{
    const app__cma_t *const manager = id->manager;
    for (size_t i = 0; i < manager->id_count; i++) {
        const app__cma_id_t *const other = manager->ids[i];
        if (other != NULL && other != id && other->bound && other->own.port == port &&
            other->port_space == id->port_space && !(other->reuses && id->reuses) &&
            (app__cma_is_any(address) || app__cma_is_any(other->own.address) ||
             memcmp(other->own.address, address, 16) == 0)) {
            return true;
        }
    }
    return false;
}

static uint16_t free_port(const app__cma_id_t *id, const uint8_t address[16])
{
    app__cma_t *const manager = id->manager;
    for (uint32_t tried = 0; tried < 65536 - FIRST_FREE_PORT; tried++) {
        const uint32_t offset = manager->next_free;
        manager->next_free = (offset + 1) % (65536 - FIRST_FREE_PORT);
        if (!is_taken(id, address, (uint16_t)(FIRST_FREE_PORT + offset))) {
            return (uint16_t)(FIRST_FREE_PORT + offset);
        }
    }
    return 0;
}

void app__cma_set_device(app__cma_id_t *id, uint32_t device)
{
    id->device = device;
    app__gid_of_interface(id->manager->net, id->manager->ports[device].endpoint->interface,
                          id->own.address);
}

int app__cma_bind(app__cma_id_t *id, const program_name_t *own)
{
    const app__cma_t *const manager = id->manager;
    uint32_t device = app__is_loopback(own->address) ? 0 : PROGRAM_NO_DEVICE;
    for (uint32_t i = 0; i < nic_count(manager->node); i++) {
        uint8_t gid[16];
        app__gid_of_interface(manager->net, manager->ports[i].endpoint->interface, gid);
        device = memcmp(gid, own->address, 16) == 0 ? i : device;
    }
    if (device == PROGRAM_NO_DEVICE && !app__cma_is_any(own->address)) {
        return EADDRNOTAVAIL;
    }
    const uint16_t port = own->port == 0 ? free_port(id, own->address) : own->port;
    if (port == 0 || (own->port != 0 && is_taken(id, own->address, port))) {
        return EADDRINUSE;
    }
    id->own = *own;
    id->own.port = port;
    id->bound = true;
    if (device != PROGRAM_NO_DEVICE) {
        app__cma_set_device(id, device);
    }
    return 0;
}
