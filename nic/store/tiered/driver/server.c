// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/driver/server.c - a server with two classes, non-preemptive
// (docs/models/tiered-cache.md).
//
// Waiting times of Poisson arrivals are those of Cobham, "Priority assignment in waiting line
// problems", Operations Research 2(1), 1954; tests/nic/store/test_cache_driver.c compares.
#include "nic/store/tiered/driver/server.h"

static nic_server_request_t *at(const nic_server_t *server, size_t place)
{
    return &server->queue[(server->first + place) % server->capacity];
}

static void note(nic_server_t *server, nic_server_class_t class, sim_time_t wait_ps,
                 sim_time_t work_ps)
{
    server->requests[class]++;
    server->busy_ps[class] += work_ps;
    server->waited_ps[class] += wait_ps;
    nic_histogram_add(&server->waits[class], wait_ps);
}

void nic_server_fini(nic_server_t *server)
{
    sim_free(server->queue);
    for (uint32_t class = 0; class < NIC_SERVER_CLASS_COUNT; class ++) {
        nic_histogram_fini(&server->waits[class]);
    }
}

void nic_server_clear_statistics(nic_server_t *server)
{
    for (uint32_t class = 0; class < NIC_SERVER_CLASS_COUNT; class ++) {
        server->requests[class] = 0;
        server->busy_ps[class] = 0;
        server->waited_ps[class] = 0;
        nic_histogram_clear(&server->waits[class]);
    }
    server->waiting_max = server->waiting;
}

sim_time_t nic_server_urgent(nic_server_t *server, sim_time_t now_ps, sim_time_t work_ps)
{
    const sim_time_t wait_ps = server->free_ps > now_ps ? server->free_ps - now_ps : 0;
    server->free_ps = now_ps + wait_ps + work_ps;
    note(server, NIC_SERVER_URGENT, wait_ps, work_ps);
    return wait_ps;
}

void nic_server_put(nic_server_t *server, sim_time_t now_ps, sim_time_t work_ps, uint32_t tag)
{
    if (server->count == server->capacity) {
        const size_t capacity = server->capacity == 0 ? 16 : 2 * server->capacity;
        nic_server_request_t *const queue = sim_alloc_array(capacity, sizeof(*queue));
        for (size_t i = 0; i < server->count; i++) {
            queue[i] = *at(server, i);
        }
        sim_free(server->queue);
        server->queue = queue;
        server->first = 0;
        server->capacity = capacity;
    }
    server->count++;
    *at(server, server->count - 1) = (nic_server_request_t){now_ps, work_ps, tag, false};
    server->waiting++;
    server->waiting_max = SIM_MAX(server->waiting, server->waiting_max);
}

sim_time_t nic_server_next_ps(const nic_server_t *server)
{
    if (server->count == 0) {
        return SIM_TIME_NEVER;
    }
    const sim_time_t arrives_ps = at(server, 0)->arrives_ps; // the first one is never gone
    return SIM_MAX(arrives_ps, server->free_ps);
}

// Removes the requests at the head of the queue that were taken out.
static void drop_gone(nic_server_t *server)
{
    while (server->count != 0 && at(server, 0)->gone) {
        server->first = (server->first + 1) % server->capacity;
        server->count--;
    }
}

uint32_t nic_server_next(nic_server_t *server)
{
    const sim_time_t start_ps = nic_server_next_ps(server);
    SIM_CHECK(start_ps != SIM_TIME_NEVER);
    const nic_server_request_t request = *at(server, 0);
    server->free_ps = start_ps + request.work_ps;
    note(server, NIC_SERVER_BACKGROUND, start_ps - request.arrives_ps, request.work_ps);
    server->first = (server->first + 1) % server->capacity;
    server->count--;
    server->waiting--;
    drop_gone(server);
    return request.tag;
}

bool nic_server_take(nic_server_t *server, uint32_t tag)
{
    for (size_t i = 0; i < server->count; i++) {
        nic_server_request_t *const request = at(server, i);
        if (!request->gone && request->tag == tag) {
            request->gone = true;
            server->waiting--;
            drop_gone(server);
            return true;
        }
    }
    return false;
}

sim_time_t nic_server_least_end_ps(const nic_server_t *server, uint32_t tag)
{
    sim_time_t end_ps = server->free_ps;
    for (size_t i = 0; i < server->count; i++) {
        const nic_server_request_t *const request = at(server, i);
        if (request->gone) {
            continue;
        }
        end_ps = SIM_MAX(request->arrives_ps, end_ps) + request->work_ps;
        if (request->tag == tag) {
            return end_ps;
        }
    }
    SIM_CHECK(false);
    return end_ps;
}
