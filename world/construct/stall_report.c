// SPDX-License-Identifier: Apache-2.0
// world/construct/stall_report.c - the report of a stall.
//
// A port A->B whose class is paused waits for B to drain what came in through it, that is, for
// those output ports of B that hold packets of the class and are paused themselves. A cycle in this
// graph is a PFC deadlock.
#include "world/explain.h"

#include <string.h>

#include "net/ports.h"
#include "world/construct/applications.h"
#include "world/format.h"

#define LINES_MAX 20u

size_t world_find_cycle(size_t count, world_next_fn next, const void *ctx, size_t *cycle)
{
    enum { NEW, OPEN, CLOSED };
    unsigned char *const states = sim_alloc(count + 1);
    size_t *const path = sim_alloc_array(count + 1, sizeof(*path));
    size_t *const steps = sim_alloc_array(count + 1, sizeof(*steps));
    size_t length = 0;
    for (size_t start = 0; start < count && length == 0; start++) {
        if (states[start] != NEW) {
            continue;
        }
        size_t depth = 1;
        path[0] = start;
        steps[0] = 0;
        states[start] = OPEN;
        while (depth > 0 && length == 0) {
            const size_t to = next(path[depth - 1], steps[depth - 1]++, ctx);
            if (to == SIZE_MAX) {
                states[path[--depth]] = CLOSED;
            } else if (states[to] == NEW) {
                states[to] = OPEN;
                path[depth] = to;
                steps[depth++] = 0;
            } else if (states[to] == OPEN) {
                size_t first = depth - 1;
                while (path[first] != to) {
                    first--;
                }
                length = depth - first;
                memcpy(cycle, path + first, length * sizeof(*cycle));
            }
        }
    }
    SIM_FREE_ALL(states, path, steps);
    return length;
}

// -- queue pairs

// A line of the report, about a queue pair of this NIC.
typedef struct stuck_line {
    size_t nic;
    char *text;
} stuck_line_t;

// Reports of other ranks about their queue pairs.
struct world_stuck {
    stuck_line_t *lines;
    size_t count;
    size_t capacity;
    uint64_t more; // queue pairs with unfinished work besides those of the lines
};

typedef struct qp_report {
    const world_t *world;
    size_t nic;
    struct world_stuck stuck;
} qp_report_t;

// Keeps a line, which it owns; beyond LINES_MAX it only counts.
static void add_line(struct world_stuck *stuck, size_t nic, char *text)
{
    if (stuck->count >= LINES_MAX) {
        stuck->more++;
        sim_free(text);
        return;
    }
    SIM_APPEND(stuck->lines, stuck->count, stuck->capacity, (stuck_line_t){nic, text});
}

static void report_qp(const nic_qp_t *qp, void *ctx)
{
    qp_report_t *const report = ctx;
    sim_message_t why;
    if (!nic_qp_explain(qp, &why)) {
        return;
    }
    add_line(&report->stuck, report->nic,
             sim_format("  %s, QP %" PRIu32 ": %s\n", report->world->nics[report->nic].name,
                        nic_qp_num(qp), why.text));
}

// Finds the first lines about queue pairs of this process.
static struct world_stuck find_stuck(const world_t *world)
{
    qp_report_t report = {.world = world};
    for (; report.nic < world->nic_count; report.nic++) {
        if (sim_is_here(world->sim, world->nics[report.nic].host)) {
            nic_for_each_qp(world_nic_of(world, &world->nics[report.nic]), report_qp, &report);
        }
    }
    return report.stuck;
}

static void stuck_fini(struct world_stuck *stuck)
{
    for (size_t i = 0; i < stuck->count; i++) {
        sim_free(stuck->lines[i].text);
    }
    sim_free(stuck->lines);
    *stuck = (struct world_stuck){0};
}

// Adds lines that another rank sent, in the order of NICs.
static void add_elsewhere(struct world_stuck *stuck, const struct world_stuck *elsewhere)
{
    for (size_t i = 0; i < elsewhere->count; i++) {
        SIM_APPEND(stuck->lines, stuck->count, stuck->capacity,
                   (stuck_line_t){elsewhere->lines[i].nic, sim_strdup(elsewhere->lines[i].text)});
    }
    stuck->more += elsewhere->more;
    // Insertion sort: it keeps the order of equal lines, and there are few.
    for (size_t i = 1; i < stuck->count; i++) {
        const stuck_line_t line = stuck->lines[i];
        size_t at = i;
        for (; at > 0 && stuck->lines[at - 1].nic > line.nic; at--) {
            stuck->lines[at] = stuck->lines[at - 1];
        }
        stuck->lines[at] = line;
    }
}

static void report_qps(const world_t *world, FILE *out)
{
    struct world_stuck stuck = find_stuck(world);
    if (world->stuck != NULL) {
        add_elsewhere(&stuck, world->stuck);
    }
    for (size_t i = 0; i < stuck.count && i < LINES_MAX; i++) {
        fputs(stuck.lines[i].text, out);
    }
    const uint64_t count = stuck.count + stuck.more;
    if (count > LINES_MAX) {
        fprintf(out, "  and %" PRIu64 " more QPs\n", count - LINES_MAX);
    }
    if (count == 0) {
        fprintf(out, "  no QP has unfinished work: an application waits\n");
    }
    stuck_fini(&stuck);
}

// -- in ranks

void world_explain_leave(const world_t *world, sim_buffer_t *bytes)
{
    struct world_stuck stuck = find_stuck(world);
    sim_buffer_put_u64(bytes, stuck.more);
    sim_buffer_put_u64(bytes, stuck.count);
    for (size_t i = 0; i < stuck.count; i++) {
        const uint32_t size = (uint32_t)strlen(stuck.lines[i].text) + 1;
        sim_buffer_put_u64(bytes, stuck.lines[i].nic);
        sim_buffer_put_u32(bytes, size);
        sim_buffer_put(bytes, stuck.lines[i].text, size);
    }
    stuck_fini(&stuck);
}

void world_explain_take(world_t *world, sim_reader_t *bytes)
{
    if (world->stuck == NULL) {
        world->stuck = sim_alloc(sizeof(*world->stuck));
    }
    struct world_stuck *const stuck = world->stuck;
    stuck->more += sim_reader_u64(bytes);
    for (uint64_t left = sim_reader_u64(bytes); left > 0; left--) {
        const size_t nic = (size_t)sim_reader_u64(bytes);
        const uint32_t size = sim_reader_u32(bytes);
        char *const text = sim_alloc(size);
        sim_reader_get(bytes, text, size);
        SIM_APPEND(stuck->lines, stuck->count, stuck->capacity, (stuck_line_t){nic, text});
    }
}

void world__stuck_free(struct world_stuck *stuck)
{
    if (stuck != NULL) {
        stuck_fini(stuck);
        sim_free(stuck);
    }
}

// -- ports

typedef struct stopped {
    const net_port_t **ports; // that are paused and have something to send, or are not drained
    size_t count;
    size_t capacity;
    size_t *by_uid; // index in ports; SIZE_MAX: not stopped
} stopped_t;

static bool is_stopped(const net_port_t *port)
{
    return (port->paused & port->waiting) != 0;
}

static void find_stopped(const net_t *net, stopped_t *stopped)
{
    size_t uids = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        uids += net_ports_of(net, i);
    }
    stopped->by_uid = sim_alloc_array(uids + 1, sizeof(*stopped->by_uid));
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_at(net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const uint32_t uid = net_port_uid(node, p);
            SIM_CHECK(uid < uids);
            stopped->by_uid[uid] = SIZE_MAX;
            if (!net_port_exists(node, p)) {
                continue;
            }
            const net_port_t *const port = net_port_at(node, p);
            if (is_stopped(port) || (node->kind == NET_NODE_HOST && port->paused != 0)) {
                stopped->by_uid[port->uid] = stopped->count;
                SIM_APPEND(stopped->ports, stopped->count, stopped->capacity, port);
            }
        }
    }
}

static size_t next_stopped(size_t vertex, size_t index, const void *ctx)
{
    const stopped_t *const stopped = ctx;
    const net_port_t *const port = stopped->ports[vertex];
    const net_node_t *const peer = net_neighbour(port->node, port->index);
    for (uint32_t p = 0; p < peer->port_count; p++) {
        const net_port_t *const out = net_port_exists(peer, p) ? net_port_at(peer, p) : NULL;
        if (out != NULL && stopped->by_uid[out->uid] != SIZE_MAX &&
            (out->paused & out->waiting & port->paused) != 0 && index-- == 0) {
            return stopped->by_uid[out->uid];
        }
    }
    return SIZE_MAX;
}

static void report_ports(const world_t *world, FILE *out)
{
    stopped_t stopped = {0};
    find_stopped(world->net, &stopped);
    for (size_t i = 0; i < stopped.count && i < LINES_MAX; i++) {
        const net_port_t *const port = stopped.ports[i];
        fprintf(out, "  %s is stopped by %s, class", net_port_name(port),
                net_neighbour(port->node, port->index)->sim.name);
        for (unsigned p = 0; p < NET_PRIORITIES; p++) {
            if ((port->paused >> p & 1u) != 0) {
                fprintf(out, " %u", p);
            }
            if ((port->paused & port->waiting) >> p & 1u) {
                fprintf(out, " (%" PRIu64 " bytes wait)", port->classes[p]->bytes);
            }
        }
        fputc('\n', out);
    }
    if (stopped.count > LINES_MAX) {
        fprintf(out, "  and %zu more port%s\n", stopped.count - LINES_MAX,
                sim_plural(stopped.count - LINES_MAX));
    }
    size_t *const cycle = sim_alloc_array(stopped.count + 1, sizeof(*cycle));
    const size_t length = world_find_cycle(stopped.count, next_stopped, &stopped, cycle);
    if (length > 0) {
        fprintf(out, "  PFC deadlock, each waits for the next: ");
        for (size_t i = 0; i <= length; i++) {
            fprintf(out, "%s%s", i > 0 ? ", " : "",
                    net_port_name(stopped.ports[cycle[i % length]]));
        }
        fputc('\n', out);
    }
    SIM_FREE_ALL(cycle, stopped.ports, stopped.by_uid);
}

void world_explain(const world_t *world, FILE *out)
{
    const sim_time_t stall_ps = sim_options(world->sim)->stall_ps;
    const uint64_t left = sim_work_outstanding(world->sim);
    char *const what =
        left == 0 ? sim_strdup("no work is left, but pauses hold packets back for good")
                  : sim_format("%" PRIu64 " pieces of work are left and nothing moves", left);
    world_text_t stall;
    fprintf(out, "stalled: %s%s%s\n", what, stall_ps > 0 ? "; stall-after is " : "",
            stall_ps > 0 ? world_format_time(&stall, stall_ps) : "");
    sim_free(what);
    if (left > 0) {
        report_qps(world, out);
    }
    report_ports(world, out);
}
