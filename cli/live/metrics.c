// SPDX-License-Identifier: Apache-2.0
// cli/live/metrics.c - OpenMetrics text over HTTP, on the loopback interface.
//
// The run writes the text between windows; a thread of its own answers requests with the last one,
// so a slow reader does not slow the run down.
#include "cli/live/targets.h"

#include "kernel/parse.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "nic/host.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS 200
#define REQUEST_BYTES 4096u

typedef struct metrics {
    int listener;
    pthread_t thread;
    pthread_mutex_t lock; // of text
    char *text;
    atomic_bool ends;
} metrics_t;

// -- text

static void put_ports(sim_buffer_t *out, const net_t *net, const live_counter_t *counter,
                      sim_time_t now_ps)
{
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            const net_port_t *const port = net_port_at(node, p);
            for (unsigned c = 0; c < (counter->by_class ? NET_PRIORITIES : 1); c++) {
                const uint64_t value = live__read(counter, port, c, now_ps);
                if (counter->by_class && value == 0) {
                    continue; // most classes carry nothing
                }
                live__put(out, "%s%s{node=\"%s\",port=\"%s\"", counter->name,
                          counter->is_gauge ? "" : "_total", node->sim.name, net_port_name(port));
                if (counter->by_class) {
                    live__put(out, ",priority=\"%u\"", c);
                }
                live__put(out, "} %" PRIu64 "\n", value);
            }
        }
    }
}

static void put_nics(sim_buffer_t *out, const world_t *world)
{
    for (const nic_counter_info_t *row = nic_counter_infos; row->name != NULL; row++) {
        live__put(out, "# TYPE rocesim_nic_%s gauge\n# HELP rocesim_nic_%s %s\n", row->name,
                  row->name, row->help);
        for (size_t i = 0; i < world->nic_count; i++) {
            uint64_t value = 0;
            if (world_nic_exists(world, &world->nics[i])) {
                const char *const held =
                    (const char *)nic_get_counters(world_nic_of(world, &world->nics[i]));
                memcpy(&value, held + row->field.offset, sizeof(value));
            }
            live__put(out, "rocesim_nic_%s{nic=\"%s\"} %" PRIu64 "\n", row->name,
                      world->nics[i].name, value);
        }
    }
}

static char *text_of(const world_t *world, sim_time_t now_ps)
{
    sim_buffer_t out = {0};
    live__put(&out,
              "# TYPE rocesim_time_seconds gauge\n# HELP rocesim_time_seconds simulated time\n"
              "rocesim_time_seconds %.12f\n",
              (double)now_ps / SIM_PS_PER_S);
    for (const live_counter_t *counter = live__counters; counter->metric != NULL; counter++) {
        live__put(&out, "# TYPE %s %s\n# HELP %s %s\n", counter->name,
                  counter->is_gauge ? "gauge" : "counter", counter->name, counter->help);
        put_ports(&out, world->net, counter, now_ps);
    }
    put_nics(&out, world);
    live__put(&out, "# EOF\n");
    sim_buffer_put(&out, "", 1);
    return (char *)out.bytes;
}

// -- HTTP

static void send_all(int to, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(to, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        bytes += sent;
        size -= (size_t)sent;
    }
}

static void answer(metrics_t *metrics, int client)
{
    static const char kind[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    const struct timeval patience = {2, 0};
    char request[REQUEST_BYTES] = "";
    (void)setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    (void)setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    const ssize_t size = recv(client, request, sizeof(request) - 1, 0);
    const bool known = size > 0 && (strncmp(request, "GET / ", 6) == 0 ||
                                    strncmp(request, "GET /metrics", 12) == 0);
    pthread_mutex_lock(&metrics->lock);
    char *const text = known && metrics->text != NULL ? sim_strdup(metrics->text) : sim_strdup("");
    pthread_mutex_unlock(&metrics->lock);
    char *const head = sim_format("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                                  "Connection: close\r\n\r\n",
                                  known ? "200 OK" : "404 Not Found", kind, strlen(text));
    send_all(client, head, strlen(head));
    send_all(client, text, strlen(text));
    sim_free(head);
    sim_free(text);
}

static void *serve(void *ctx)
{
    metrics_t *const metrics = ctx;
    while (!atomic_load(&metrics->ends)) {
        struct pollfd waits = {.fd = metrics->listener, .events = POLLIN};
        if (poll(&waits, 1, WAIT_MS) <= 0) {
            continue;
        }
        const int client = accept(metrics->listener, NULL, NULL);
        if (client >= 0) {
            answer(metrics, client);
            (void)close(client);
        }
    }
    return NULL;
}

static sim_err_t check_server(const world_t *world, const char *where, world_error_t *error)
{
    (void)world;
    return live__check_port(where, strlen(where), "http", 0, error);
}

static sim_err_t open_server(const world_t *world, const char *where, void **target,
                             world_error_t *error)
{
    uint64_t number = 0;
    sim_message_t message;
    (void)world;
    SIM_CHECK(sim_parse_count(where, &number, &message) == SIM_OK);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)number),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    const int one = 1;
    metrics_t *const metrics = sim_alloc(sizeof(*metrics));
    *metrics = (metrics_t){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    (void)setsockopt(metrics->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    pthread_mutex_init(&metrics->lock, NULL);
    if (metrics->listener < 0 ||
        bind(metrics->listener, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(metrics->listener, 16) != 0 ||
        getsockname(metrics->listener, (struct sockaddr *)&address, &size) != 0 ||
        pthread_create(&metrics->thread, NULL, serve, metrics) != 0) {
        const int reason = errno;
        if (metrics->listener >= 0) {
            (void)close(metrics->listener);
        }
        pthread_mutex_destroy(&metrics->lock);
        sim_free(metrics);
        return world_fail(error, SIM_ERR_IO, NULL,
                          "rocesim run: --live http:%s: cannot listen on 127.0.0.1: %s", where,
                          strerror(reason));
    }
    fprintf(stderr, "live: http://127.0.0.1:%u/metrics\n", (unsigned)ntohs(address.sin_port));
    *target = metrics;
    return SIM_OK;
}

static void publish_text(void *target, const world_t *world, sim_time_t now_ps)
{
    metrics_t *const metrics = target;
    char *const text = text_of(world, now_ps);
    pthread_mutex_lock(&metrics->lock);
    char *const before = metrics->text;
    metrics->text = text;
    pthread_mutex_unlock(&metrics->lock);
    sim_free(before);
}

static void close_server(void *target, const world_t *world, sim_time_t now_ps)
{
    metrics_t *const metrics = target;
    (void)world;
    (void)now_ps;
    atomic_store(&metrics->ends, true);
    (void)pthread_join(metrics->thread, NULL);
    pthread_mutex_destroy(&metrics->lock);
    (void)close(metrics->listener);
    sim_free(metrics->text);
    sim_free(metrics);
}

const live_target_ops_t live__http = {"http", check_server, open_server, publish_text,
                                      close_server};
