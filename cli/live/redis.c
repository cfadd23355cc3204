// SPDX-License-Identifier: Apache-2.0
// cli/live/redis.c - SONiC's COUNTERS_DB in a redis server, by its public names.
//
// With a switch behind '@', its ports have SONiC's names: Ethernet0, Ethernet4... Without one, the
// database has the ports of all nodes by the names of the simulation.
#include "cli/live/targets.h"

#include "cli/meta/http.h"
#include "net/nodes.h"
#include "net/ports.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DATABASE "2" // SONiC's number of COUNTERS_DB
#define LANES 4u     // of a port: names of ports count them

typedef struct redis {
    cli_socket_t link;
    const net_node_t *node; // NULL: all
    bool broken;
    bool mapped; // the maps of names are there
} redis_t;

// Appends a command of `count` words that follow by put_word.
static void put_command(sim_buffer_t *out, size_t count)
{
    live__put(out, "*%zu\r\n", count);
}

static void put_word(sim_buffer_t *out, const char *word)
{
    live__put(out, "$%zu\r\n%s\r\n", strlen(word), word);
}

// Sends commands and reads their answers, a line each. A server that goes away is told once.
static void send_commands(redis_t *redis, const sim_buffer_t *out, size_t commands)
{
    world_error_t error;
    const char *line = NULL;
    sim_err_t result = cli_socket_send(&redis->link, (const char *)out->bytes, out->count, &error);
    for (size_t i = 0; i < commands && result == SIM_OK; i++) {
        result = cli_socket_line(&redis->link, &line, &error);
        if (result == SIM_OK && line[0] == '-') {
            result = world_fail(&error, SIM_ERR_IO, NULL, "redis: %s", line + 1);
        }
    }
    if (result != SIM_OK) {
        fprintf(stderr, "warning: --live redis ends: %s\n", error.text);
        redis->broken = true;
    }
}

static char *port_name(const redis_t *redis, const net_port_t *port)
{
    return redis->node != NULL ? sim_format("Ethernet%u", LANES * port->index)
                               : sim_strdup(net_port_name(port));
}

static char *port_key(const net_port_t *port)
{
    return sim_format("oid:0x1000000%06x", port->uid + 1);
}

static char *queue_key(const net_port_t *port, unsigned queue)
{
    return sim_format("oid:0x15%06x%05x", port->uid + 1, queue);
}

// Maps names of ports and queues to the keys of their counters.
static void put_maps(const redis_t *redis, sim_buffer_t *out, const net_port_t *port)
{
    char *const name = port_name(redis, port);
    char *const key = port_key(port);
    put_command(out, 4);
    put_word(out, "HSET");
    put_word(out, "COUNTERS_PORT_NAME_MAP");
    put_word(out, name);
    put_word(out, key);
    for (unsigned q = 0; q < NET_PRIORITIES; q++) {
        char *const queue_name = sim_format("%s:%u", name, q);
        char *const queue = queue_key(port, q);
        put_command(out, 4);
        put_word(out, "HSET");
        put_word(out, "COUNTERS_QUEUE_NAME_MAP");
        put_word(out, queue_name);
        put_word(out, queue);
        sim_free(queue);
        sim_free(queue_name);
    }
    sim_free(key);
    sim_free(name);
}

static void put_field(sim_buffer_t *out, const char *name, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    put_word(out, name);
    put_word(out, text);
}

static void put_port(sim_buffer_t *out, const net_port_t *port, sim_time_t now_ps)
{
    size_t fields = 0;
    for (const live_counter_t *row = live__counters; row->metric != NULL; row++) {
        fields += row->sai == NULL ? 0 : row->by_class ? NET_PRIORITIES : 1;
    }
    char *const oid = port_key(port);
    char *const key = sim_format("COUNTERS:%s", oid);
    put_command(out, 2 + 2 * fields);
    put_word(out, "HSET");
    put_word(out, key);
    for (const live_counter_t *row = live__counters; row->metric != NULL; row++) {
        for (unsigned c = 0; row->sai != NULL && c < (row->by_class ? NET_PRIORITIES : 1); c++) {
            const char *const mark = strstr(row->sai, "%u");
            char *const name =
                mark != NULL ? sim_format("%.*s%u%s", (int)(mark - row->sai), row->sai, c, mark + 2)
                             : sim_strdup(row->sai);
            put_field(out, name, live__read(row, port, c, now_ps));
            sim_free(name);
        }
    }
    sim_free(key);
    sim_free(oid);
}

static void put_queue(sim_buffer_t *out, const net_port_t *port, unsigned queue, sim_time_t now_ps)
{
    static const struct {
        const char *sai;
        const char *metric;
    } rows[] = {{"SAI_QUEUE_STAT_PACKETS", "tx_packets"},
                {"SAI_QUEUE_STAT_BYTES", "tx_bytes"},
                {"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", "queue_bytes"}};
    char *const oid = queue_key(port, queue);
    char *const key = sim_format("COUNTERS:%s", oid);
    put_command(out, 2 + 2 * SIM_COUNT_OF(rows));
    put_word(out, "HSET");
    put_word(out, key);
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        put_field(out, rows[i].sai,
                  net_port_metric_read(net_port_metric_find(rows[i].metric), port,
                                       (uint8_t)(1u << queue), now_ps));
    }
    sim_free(key);
    sim_free(oid);
}

static void publish_database(void *target, const world_t *world, sim_time_t now_ps)
{
    redis_t *const redis = target;
    sim_buffer_t out = {0};
    size_t commands = 0;
    for (size_t i = 0; i < net_node_count(world->net) && !redis->broken; i++) {
        const net_node_t *const node = net_node_look(world->net, i);
        if (node == NULL || (redis->node != NULL && node != redis->node)) {
            continue;
        }
        for (uint32_t p = 0; p < node->port_count; p++) {
            const net_port_t *const port = net_port_at(node, p);
            if (!redis->mapped) {
                put_maps(redis, &out, port);
                commands += 1 + NET_PRIORITIES;
            }
            put_port(&out, port, now_ps);
            for (unsigned q = 0; q < NET_PRIORITIES; q++) {
                put_queue(&out, port, q, now_ps);
            }
            commands += 1 + NET_PRIORITIES;
        }
        send_commands(redis, &out, commands);
        out.count = 0;
        commands = 0;
    }
    redis->mapped = true;
    sim_free(out.bytes);
}

static sim_err_t check_database(const world_t *world, const char *where, world_error_t *error)
{
    const size_t size = strcspn(where, "@");
    const char *const colon = memchr(where, ':', size);
    const char *const port = colon != NULL ? colon + 1 : where;
    const char *const name = where[size] == '@' ? where + size + 1 : NULL;
    const net_node_t *const node = name != NULL ? net_node_find(world->net, name) : NULL;
    if (name != NULL && (node == NULL || node->kind != NET_NODE_SWITCH)) {
        world_shown_t shown;
        return world_fail(error, SIM_ERR_UNKNOWN, NULL,
                          "rocesim run: --live redis: there is no switch '%s'",
                          world_show(&shown, name));
    }
    return live__check_port(port, (size_t)(where + size - port), "redis", 1, error);
}

static sim_err_t open_database(const world_t *world, const char *where, void **target,
                               world_error_t *error)
{
    const char *const at = strchr(where, '@');
    redis_t *const redis = sim_alloc(sizeof(*redis));
    *redis = (redis_t){.node = at != NULL ? net_node_find(world->net, at + 1) : NULL};
    const size_t size = at != NULL ? (size_t)(at - where) : strlen(where);
    char *const address = memchr(where, ':', size) != NULL
                              ? sim_format("%.*s", (int)size, where)
                              : sim_format("127.0.0.1:%.*s", (int)size, where);
    const sim_err_t result = cli_socket_open(address, "6379", &redis->link, error);
    sim_free(address);
    if (result != SIM_OK) {
        sim_free(redis);
        return result;
    }
    sim_buffer_t out = {0};
    put_command(&out, 2);
    put_word(&out, "SELECT");
    put_word(&out, DATABASE);
    send_commands(redis, &out, 1);
    sim_free(out.bytes);
    *target = redis;
    return SIM_OK;
}

static void close_database(void *target, const world_t *world, sim_time_t now_ps)
{
    redis_t *const redis = target;
    publish_database(redis, world, now_ps);
    cli_socket_close(&redis->link);
    sim_free(redis);
}

const live_target_ops_t live__redis = {"redis", check_database, open_database, publish_database,
                                       close_database};
