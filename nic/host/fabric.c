// SPDX-License-Identifier: Apache-2.0
// nic/host/fabric.c - the servers between NICs and memory, and how an ideal NIC keeps to them.
//
// An ideal NIC that sends waits before its next packet while its reads are behind; one that
// receives pauses its link while what it wrote is more than PAUSE_BYTES behind. A detailed NIC adds
// the fabric to its PCIe link: payloads come and land later, and packets wait in its buffer.
#include "nic/fabric.h"

#include <stdio.h>
#include <string.h>

#include "nic/config/layout.h"
#include "nic/config/parts.h"
#include "nic/detail.h"
#include "nic/host/dma.h"
#include "nic/objects/plane_set.h"

#define FRACTION_BITS 20
#define FRACTION_MASK ((UINT64_C(1) << FRACTION_BITS) - 1)
#define SERVERS_OF_A_WAY 8u
#define PAUSE_BYTES 131072u
#define PAUSE_QUANTA 0xffffu

typedef struct server {
    sim_time_t free_ps;
    uint64_t fraction;  // of a picosecond, in units of 2^-20
    uint64_t byte_time; // in the same; 0: no limit
    uint64_t rate_bps;
    uint64_t bytes;
    sim_time_t busy_ps;
    char name[32];
} server_t;

typedef struct range {
    uint64_t first;
    uint64_t last;
    nic_location_t location;
} range_t;

typedef struct direction {
    sim_time_t end_ps;  // of the last transfer
    uint64_t byte_time; // of the server that ended it
} direction_t;

typedef struct bound {
    nic_t *nic;
    direction_t reads;
    direction_t writes;
    uint8_t pausing; // classes
    sim_timer_t pause_timer;
    sim_timer_t read_timer;
} bound_t;

struct nic_fabric {
    nic_host_t *host;
    void (*read_over)(nic_t *nic); // see nic__fabric_build
    nic_layout_t layout;
    bool limits; // any server has a rate, or the socket link a latency
    server_t *servers;
    uint32_t server_count;
    bound_t *nics;
    range_t *ranges;
    size_t range_count;
    size_t range_capacity;
    nic_location_t elsewhere;
};

// -- what there is where

uint64_t nic_host_memory_bytes(const net_node_t *host)
{
    return nic_detail_memory_bytes(nic__host_of(host)->config) * host->port_count;
}

static nic_fabric_t *fabric_create(nic_host_t *host);

// Returns the host's fabric. A fabric without limits is made on first use, at set-up or by the
// host's own thread.
static nic_fabric_t *fabric_of(const nic_host_t *host)
{
    return SIM_LIKELY(host->fabric != NULL) ? host->fabric
                                            : fabric_create((nic_host_t *)(uintptr_t)host);
}

static uint32_t sockets(const nic_host_t *host)
{
    return fabric_of(host)->layout.sockets;
}

static uint32_t switches(const nic_host_t *host)
{
    return fabric_of(host)->layout.switches;
}

static const nic_spot_t *spot_of_nic(const nic_host_t *host, uint32_t nic)
{
    return &fabric_of(host)->layout.nic_spots[nic];
}

static const nic_spot_t *spot_of_gpu(const nic_host_t *host, uint32_t gpu)
{
    return &fabric_of(host)->layout.gpu_spots[gpu];
}

static bool behind_one_switch(const nic_spot_t *a, const nic_spot_t *b)
{
    return a->pcie_switch != NIC_NO_SWITCH && a->pcie_switch == b->pcie_switch;
}

// Servers lie in one array: memory of each socket, socket links from and to each, uplinks up and
// down, NICs up and down, GPUs up and down, and the root of each socket between its ports.
static uint32_t memory_server(uint32_t socket)
{
    return socket;
}

static uint32_t socket_link_server(const nic_host_t *host, uint32_t from, uint32_t to)
{
    return sockets(host) * (1 + from) + to;
}

static uint32_t uplink_server(const nic_host_t *host, uint32_t index, bool up)
{
    return sockets(host) * (1 + sockets(host)) + 2 * index + !up;
}

static uint32_t nic_server(const nic_host_t *host, uint32_t index, bool up)
{
    return uplink_server(host, switches(host) + index, up);
}

static uint32_t gpu_server(const nic_host_t *host, uint32_t index, bool up)
{
    return nic_server(host, host->node.port_count + index, up);
}

static uint32_t root_server(const nic_host_t *host, uint32_t socket)
{
    return gpu_server(host, (uint32_t)host->config->host.gpus + socket / 2, socket % 2 == 0);
}

// -- locations

sim_err_t nic_location_parse(const net_node_t *host, const char *text, nic_location_t *location,
                             sim_message_t *message)
{
    return nic__location_of(&nic__host_of(host)->config->host, text, location, message);
}

void nic_memory_place(net_node_t *host, uint64_t address, uint64_t length_bytes,
                      nic_location_t location)
{
    nic_fabric_t *const fabric = fabric_of(nic__host_of(host));
    const nic_host_config_t *const config = &fabric->host->config->host;
    SIM_CHECK(location.index < (location.gpu ? config->gpus : config->sockets));
    SIM_CHECK(length_bytes != 0 && address + (length_bytes - 1) >= address);
    const uint64_t last = address + (length_bytes - 1);
    size_t kept = 0;
    for (size_t i = 0; i < fabric->range_count; i++) {
        const bool covered = fabric->ranges[i].first >= address && fabric->ranges[i].last <= last;
        fabric->ranges[kept] = fabric->ranges[i];
        kept += !covered;
    }
    fabric->range_count = kept;
    SIM_APPEND(fabric->ranges, fabric->range_count, fabric->range_capacity,
               (range_t){address, last, location});
}

static nic_location_t location_at(const nic_fabric_t *fabric, uint64_t address)
{
    for (size_t i = fabric->range_count; i-- > 0;) {
        if (address >= fabric->ranges[i].first && address <= fabric->ranges[i].last) {
            return fabric->ranges[i].location;
        }
    }
    return fabric->elsewhere;
}

nic_location_t nic_memory_location(const net_node_t *host, uint64_t address)
{
    return location_at(fabric_of(nic__host_of(host)), address);
}

nic_distance_t nic_distance(const nic_t *nic, nic_location_t location)
{
    const nic_host_t *const host = nic->host;
    const nic_spot_t *const own = spot_of_nic(host, nic->port->index);
    if (location.gpu && behind_one_switch(own, spot_of_gpu(host, location.index))) {
        return NIC_SAME_SWITCH;
    }
    const uint32_t socket =
        location.gpu ? spot_of_gpu(host, location.index)->socket : location.index;
    return socket == own->socket ? NIC_SAME_SOCKET : NIC_OTHER_SOCKET;
}

void nic__fabric_carry(nic_host_t *host, sim_carry_t *carry)
{
    nic_fabric_t *const fabric = host->fabric;
    for (uint32_t i = 0; fabric != NULL && i < fabric->server_count; i++) {
        SIM_CARRY(carry, fabric->servers[i].bytes);
        SIM_CARRY(carry, fabric->servers[i].busy_ps);
    }
}

bool nic_host_part(const net_node_t *host, uint32_t index, nic_part_t *part)
{
    const nic_fabric_t *const fabric = nic__host_of(host)->fabric;
    for (uint32_t i = 0; fabric != NULL && i < fabric->server_count; i++) {
        const server_t *const server = &fabric->servers[i];
        if (server->byte_time != 0 && index-- == 0) {
            *part = (nic_part_t){.rate_bps = server->rate_bps,
                                 .bytes = server->bytes,
                                 .busy_ps = server->busy_ps};
            snprintf(part->name, sizeof(part->name), "%s", server->name);
            return true;
        }
    }
    return false;
}

// -- life

static void pause_fired(sim_node_t *node, sim_timer_t *timer);
static void read_fired(sim_node_t *node, sim_timer_t *timer);

static void set_server(nic_fabric_t *fabric, uint32_t index, uint64_t rate_bps)
{
    server_t *const server = &fabric->servers[index];
    server->rate_bps = rate_bps;
    if (rate_bps != SIM_AUTO) {
        const sim_wide_t work = (sim_wide_t)8 * SIM_PS_PER_S << FRACTION_BITS;
        server->byte_time = (uint64_t)((work + rate_bps - 1) / rate_bps);
        fabric->limits = true;
    }
}

static void set_pair(nic_fabric_t *fabric, const char *what, uint32_t index, uint32_t server,
                     uint64_t rate_bps)
{
    for (uint32_t down = 0; down < 2; down++) {
        set_server(fabric, server + down, rate_bps);
        snprintf(fabric->servers[server + down].name, sizeof(fabric->servers->name), "%s:%u %s",
                 what, index, down == 0 ? "up" : "down");
    }
}

// Returns the rate of a NIC's own link. A detailed NIC models its PCIe lanes itself.
static uint64_t link_bps(const nic_host_t *host, uint32_t nic)
{
    const uint64_t rate_bps = host->config->host.nic_bps;
    const uint32_t lanes = spot_of_nic(host, nic)->lanes;
    const void *part;
    if (lanes == 0 || nic__config_device(host->config, &part) == &nic_device_rnic) {
        return rate_bps;
    }
    nic_detail_t detail;
    nic_detail_resolve(host->config, &detail);
    const uint64_t lanes_bps = lanes * detail.lane_rate_bps;
    return SIM_MIN(rate_bps, lanes_bps);
}

static void set_servers(nic_fabric_t *fabric)
{
    const nic_host_t *const host = fabric->host;
    const nic_host_config_t *const config = &host->config->host;
    for (uint32_t s = 0; s < sockets(host); s++) {
        set_server(fabric, memory_server(s), config->memory_bps);
        snprintf(fabric->servers[s].name, sizeof(fabric->servers->name), "cpu:%u", s);
        for (uint32_t to = 0; to < sockets(host); to++) {
            const uint32_t link = socket_link_server(host, s, to);
            set_server(fabric, link, config->socket_link_bps);
            snprintf(fabric->servers[link].name, sizeof(fabric->servers->name), "cpu:%u->%u", s,
                     to);
        }
    }
    for (uint32_t i = 0; i < switches(host); i++) {
        set_pair(fabric, "switch", i, uplink_server(host, i, true), config->uplink_bps);
    }
    for (uint32_t i = 0; i < host->node.port_count; i++) {
        set_pair(fabric, "nic", i, nic_server(host, i, true), link_bps(host, i));
    }
    for (uint32_t i = 0; i < config->gpus; i++) {
        set_pair(fabric, "cuda", i, gpu_server(host, i, true), config->gpu_bps);
    }
    for (uint32_t s = 0; s < sockets(host); s++) {
        set_server(fabric, root_server(host, s), config->peer_bps);
        snprintf(fabric->servers[root_server(host, s)].name, sizeof(fabric->servers->name),
                 "root:%u", s);
    }
}

// Refuses parts that serve one port only, on a host whose NICs have a port in each of several
// planes.
static sim_err_t check_planes(const net_node_t *node, sim_message_t *message)
{
    const nic_config_t *const config = nic__host_of(node)->config;
    const struct {
        const char *attribute;
        const char *value;
        bool fits;
        const char *expected;
        const char *reason;
    } rules[] = {
        {"nic.model",
         config->custom_device != NULL ? config->custom_device->name : config->model.text,
         config->custom_device == NULL, "ideal or detailed", "it may feed one port only"},
        {"nic.scheduler",
         config->custom_scheduler != NULL ? config->custom_scheduler->name : config->scheduler,
         config->custom_scheduler == NULL && strcmp(config->scheduler, "ring") == 0, "ring",
         "the scheduler asks for one port"},
    };
    for (size_t i = 0; node->planes > 1 && i < SIM_COUNT_OF(rules); i++) {
        if (!rules[i].fits) {
            return sim_fail_about(message, SIM_ERR_RANGE, rules[i].attribute,
                                  ": \"%s\" on a NIC with ports in %u planes, expected %s, or "
                                  "nic.planes: off: %s",
                                  rules[i].value, node->planes, rules[i].expected, rules[i].reason);
        }
    }
    return SIM_OK;
}

sim_err_t nic_host_check(const net_node_t *node, sim_message_t *message)
{
    nic_layout_t layout;
    const nic_host_config_t *const config = &nic__host_of(node)->config->host;
    sim_err_t result = check_planes(node, message);
    if (result != SIM_OK) {
        return result;
    }
    result = nic__layout_create(config, node->port_count, &layout, message);
    if (result == SIM_OK) {
        nic__layout_destroy(&layout);
    }
    return result;
}

static nic_fabric_t *fabric_create(nic_host_t *host)
{
    const nic_host_config_t *const config = &host->config->host;
    sim_message_t message = {.text = ""};
    nic_fabric_t *const fabric = sim_alloc(sizeof(*fabric));
    host->fabric = fabric;
    fabric->host = host;
    const uint32_t nics = host->node.port_count;
    SIM_CHECKF(nic__layout_create(config, nics, &fabric->layout, &message) == SIM_OK, "%s",
               message.text);
    fabric->server_count = root_server(host, fabric->layout.sockets);
    fabric->servers = sim_alloc_array(fabric->server_count, sizeof(*fabric->servers));
    fabric->limits = config->socket_link_ps != 0;
    set_servers(fabric);
    SIM_CHECKF(nic__location_of(config, config->location, &fabric->elsewhere, &message) == SIM_OK,
               "%s", message.text);
    fabric->nics = sim_alloc_array(nics, sizeof(*fabric->nics));
    for (uint32_t i = 0; i < nics; i++) {
        bound_t *const bound = &fabric->nics[i];
        bound->nic = &host->nics[nic__index_of_port(host, i)];
        sim_timer_init(&bound->pause_timer, pause_fired);
        sim_timer_init(&bound->read_timer, read_fired);
        bound->nic->bound = fabric->limits;
    }
    return fabric;
}

void nic__fabric_build(nic_host_t *host, void (*read_over)(nic_t *nic))
{
    const nic_host_config_t *const config = &host->config->host;
    const uint64_t rates[] = {config->memory_bps, config->socket_link_bps, config->uplink_bps,
                              config->nic_bps,    config->gpu_bps,         config->peer_bps};
    bool may_limit = config->socket_link_ps != 0 || strcmp(config->nic_places, "even") != 0;
    for (size_t i = 0; i < SIM_COUNT_OF(rates); i++) {
        may_limit = may_limit || rates[i] != SIM_AUTO;
    }
    if (may_limit) {
        (void)fabric_create(host);
    }
    if (host->fabric != NULL) {
        host->fabric->read_over = read_over;
    }
}

uint32_t nic_device_lanes(const nic_t *nic)
{
    return spot_of_nic(nic->host, nic->port->index)->lanes;
}

void nic__fabric_destroy(nic_host_t *host)
{
    nic_fabric_t *const fabric = host->fabric;
    if (fabric != NULL) {
        nic__layout_destroy(&fabric->layout);
        SIM_FREE_ALL(fabric->servers, fabric->nics, fabric->ranges, fabric);
    }
}

// -- transfers

static sim_time_t book(server_t *server, sim_time_t now_ps, uint64_t bytes)
{
    server->bytes += bytes;
    if (server->free_ps < now_ps) {
        server->free_ps = now_ps;
        server->fraction = 0;
    }
    const uint64_t work = bytes * server->byte_time + server->fraction;
    server->fraction = work & FRACTION_MASK;
    server->free_ps += work >> FRACTION_BITS;
    server->busy_ps += work >> FRACTION_BITS;
    return server->free_ps;
}

// Collects the servers between a NIC and its socket: the NIC's link and the uplink of its switch.
static uint32_t to_socket(const nic_host_t *host, uint32_t nic, bool up, bool uplink,
                          uint32_t way[SERVERS_OF_A_WAY])
{
    const nic_spot_t *const own = spot_of_nic(host, nic);
    uint32_t count = 0;
    way[count++] = nic_server(host, nic, up);
    if (uplink && own->pcie_switch != NIC_NO_SWITCH) {
        way[count++] = uplink_server(host, own->pcie_switch, up);
    }
    return count;
}

// Collects the servers between a NIC and memory, for data towards memory or from it.
static uint32_t find_way(const nic_host_t *host, uint32_t nic, nic_location_t location,
                         bool to_memory, uint32_t way[SERVERS_OF_A_WAY])
{
    const nic_spot_t *const own = spot_of_nic(host, nic);
    const nic_spot_t *const gpu = location.gpu ? spot_of_gpu(host, location.index) : NULL;
    const bool straight =
        gpu != NULL && behind_one_switch(own, gpu) && host->config->host.peer == NIC_PEER_SWITCH;
    uint32_t count = to_socket(host, nic, to_memory, !straight, way);
    const uint32_t near = own->socket;
    const uint32_t far = gpu != NULL ? gpu->socket : location.index;
    if (near != far) {
        way[count++] = socket_link_server(host, to_memory ? near : far, to_memory ? far : near);
    }
    if (gpu == NULL) {
        way[count++] = memory_server(location.index);
        return count;
    }
    if (!straight) {
        way[count++] = root_server(host, far);
    }
    if (!straight && gpu->pcie_switch != NIC_NO_SWITCH) {
        way[count++] = uplink_server(host, gpu->pcie_switch, !to_memory);
    }
    way[count++] = gpu_server(host, location.index, !to_memory);
    return count;
}

// Occupies all servers of a way from now_ps on; says when the last is through, and whose time of a
// byte that was.
static sim_time_t occupy(nic_fabric_t *fabric, const uint32_t *way, uint32_t count,
                         sim_time_t now_ps, uint64_t bytes, uint64_t *byte_time)
{
    sim_time_t end_ps = now_ps;
    *byte_time = 0;
    for (uint32_t i = 0; i < count; i++) {
        server_t *const server = &fabric->servers[way[i]];
        if (server->byte_time != 0) {
            const sim_time_t server_ps = book(server, now_ps, bytes);
            *byte_time = server_ps > end_ps ? server->byte_time : *byte_time;
            end_ps = SIM_MAX(server_ps, end_ps);
        }
    }
    return end_ps;
}

static sim_time_t transfer(nic_t *nic, nic_location_t location, sim_time_t now_ps, uint64_t bytes,
                           bool to_memory)
{
    nic_host_t *const host = nic->host;
    nic_fabric_t *const fabric = host->fabric;
    bound_t *const bound = &fabric->nics[nic->port->index];
    direction_t *const direction = to_memory ? &bound->writes : &bound->reads;
    uint32_t way[SERVERS_OF_A_WAY];
    const uint32_t count = find_way(host, nic->port->index, location, to_memory, way);
    uint64_t byte_time;
    const sim_time_t end_ps = occupy(fabric, way, count, now_ps, bytes, &byte_time);
    if (end_ps > direction->end_ps) {
        direction->end_ps = end_ps;
        direction->byte_time = byte_time;
    }
    const bool far = nic_distance(nic, location) == NIC_OTHER_SOCKET;
    return end_ps + (far ? host->config->host.socket_link_ps : 0);
}

sim_time_t nic_device_dma(nic_t *nic, uint64_t address, uint64_t bytes, bool to_memory)
{
    const nic_location_t location = location_at(nic->host->fabric, address);
    return transfer(nic, location, nic__node(nic)->now_ps, bytes, to_memory);
}

sim_time_t nic_device_dma_own(nic_t *nic, sim_time_t now_ps, uint64_t bytes, bool to_memory)
{
    const nic_location_t own = {.index = spot_of_nic(nic->host, nic->port->index)->socket};
    return transfer(nic, own, now_ps, bytes, to_memory);
}

sim_time_t nic_device_dma_default(nic_t *nic, sim_time_t now_ps, uint64_t bytes, bool to_memory)
{
    return transfer(nic, nic->host->fabric->elsewhere, now_ps, bytes, to_memory);
}

sim_time_t nic_device_dma_from_core(nic_t *nic, sim_time_t now_ps, uint64_t bytes)
{
    uint32_t way[SERVERS_OF_A_WAY];
    uint64_t byte_time;
    const uint32_t count = to_socket(nic->host, nic->port->index, false, true, way);
    return occupy(nic->host->fabric, way, count, now_ps, bytes, &byte_time);
}

sim_time_t nic_device_dma_room_ps(const nic_t *nic, uint64_t waiting_bytes)
{
    const direction_t *const writes = &nic->host->fabric->nics[nic->port->index].writes;
    const sim_time_t allowed_ps = waiting_bytes * writes->byte_time >> FRACTION_BITS;
    return writes->end_ps > allowed_ps ? writes->end_ps - allowed_ps : 0;
}

// -- an ideal NIC

bool nic__dma_holds_back(nic_t *nic)
{
    sim_node_t *const node = nic__node(nic);
    bound_t *const bound = &nic->host->fabric->nics[nic->port->index];
    if (nic->detailed || bound->reads.end_ps <= node->now_ps) {
        return false;
    }
    if (!sim_timer_armed(&bound->read_timer)) {
        sim_timer_arm(node, &bound->read_timer, bound->reads.end_ps);
    }
    return true;
}

static void read_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    nic_t *const nic = SIM_CONTAINER_OF(timer, bound_t, read_timer)->nic;
    nic->host->fabric->read_over(nic);
}

// Arms the timer for the earlier of two times: less than half of the limit waits, or the pause must
// be renewed.
static void arm_pause(bound_t *bound)
{
    nic_t *const nic = bound->nic;
    sim_node_t *const node = nic__node(nic);
    const sim_time_t resume_ps = nic_device_dma_room_ps(nic, PAUSE_BYTES / 2);
    const sim_time_t renew_ps = node->now_ps + nic__ports_pause_ps(nic, PAUSE_QUANTA) / 2;
    const sim_time_t at_ps = SIM_MIN(resume_ps, renew_ps);
    sim_timer_arm(node, &bound->pause_timer, at_ps > node->now_ps ? at_ps : node->now_ps + 1);
}

static void pause_fired(sim_node_t *node, sim_timer_t *timer)
{
    bound_t *const bound = SIM_CONTAINER_OF(timer, bound_t, pause_timer);
    nic_t *const nic = bound->nic;
    if (nic_device_dma_room_ps(nic, PAUSE_BYTES / 2) <= node->now_ps) {
        nic__ports_pause(nic, bound->pausing, 0);
        bound->pausing = 0;
        return;
    }
    nic__ports_pause(nic, bound->pausing, PAUSE_QUANTA);
    arm_pause(bound);
}

void nic__dma_write_ideal(nic_t *nic, uint64_t address, uint64_t bytes, uint8_t priority)
{
    bound_t *const bound = &nic->host->fabric->nics[nic->port->index];
    const uint8_t class = (uint8_t)(1u << priority);
    (void)nic_device_dma(nic, address, bytes, true);
    if ((bound->pausing & class) == 0 &&
        nic_device_dma_room_ps(nic, PAUSE_BYTES) > nic__node(nic)->now_ps) {
        bound->pausing |= class;
        nic__ports_pause(nic, class, PAUSE_QUANTA);
        if (!sim_timer_armed(&bound->pause_timer)) {
            arm_pause(bound);
        }
    }
}
