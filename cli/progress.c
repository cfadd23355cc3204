// SPDX-License-Identifier: Apache-2.0
// cli/progress.c - measures the progress and the load of a running simulation and shows them.
#include "cli/progress.h"

#include "kernel/ranks.h"
#include "net/ports.h"
#include "world/format.h"
#include "world/planned_transfers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_S 0.2

// Returns the seconds of a monotonic clock.
static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double cli_progress_share(sim_time_t now_ps, sim_time_t until_ps, double done, uint64_t planned)
{
    double share = -1;
    if (planned > 0) {
        share = done / (double)planned;
    }
    // A run ends at its time limit or when no flow is left, whichever comes first.
    if (until_ps != SIM_TIME_NEVER && until_ps > 0) {
        const double time_share = (double)now_ps / (double)until_ps;
        share = SIM_MAX(time_share, share);
    }
    return SIM_MIN(1, share);
}

typedef struct moment {
    sim_time_t now_ps;
    uint64_t done;
    uint64_t planned;
    uint64_t events;
    double events_per_s;
    double share;  // of the run that is done, 0 to 1; below 0: unknown
    double left_s; // estimated remaining wall time; below 0: unknown
} moment_t;

static void show_line(const cli_progress_t *progress, const moment_t *moment)
{
    world_text_t time;
    world_text_t speed;
    dprintf(progress->terminal,
            CLI_PROGRESS_CLEAR "%s simulated, %" PRIu64 "/%" PRIu64 " transfers, %s events/s",
            world_format_time(&time, moment->now_ps), moment->done, moment->planned,
            world_format_count(&speed, moment->events_per_s));
    if (moment->left_s >= 0) {
        dprintf(progress->terminal, ", %.0f %%, %.0f s left", moment->share * 100, moment->left_s);
    }
}

static void add_port(cli_load_t *load, const net_port_t *port)
{
    uint64_t queued_bytes = 0;
    for (size_t c = 0; c < NET_PRIORITIES; c++) {
        queued_bytes += port->classes[c]->bytes;
        load->pauses += port->rare->pauses[c].pauses;
        load->sent_bytes += port->node->kind == NET_NODE_HOST ? port->classes[c]->tx_bytes : 0;
    }
    for (size_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
        load->drops += port->rare->drops[r];
    }
    load->paused_ports += port->paused != 0;
    load->queued_bytes += queued_bytes;
    if (queued_bytes > load->longest_bytes) {
        snprintf(load->longest, sizeof(load->longest), "%s", net_port_name(port));
        load->longest_bytes = queued_bytes;
    }
}

static void add_load(cli_load_t *sum, const cli_load_t *load)
{
    sum->sent_bytes += load->sent_bytes;
    sum->queued_bytes += load->queued_bytes;
    sum->drops += load->drops;
    sum->pauses += load->pauses;
    sum->paused_ports += load->paused_ports;
    if (load->longest_bytes > sum->longest_bytes) {
        sum->longest_bytes = load->longest_bytes;
        memcpy(sum->longest, load->longest, sizeof(sum->longest));
    }
}

// Sums over the ports of this rank; after the run rank 0 has the counters of all.
static cli_load_t look(const net_t *net, bool all)
{
    cli_load_t load = {0};
    for (size_t i = 0; i < net_node_count(net); i++) {
        const bool counts = all || sim_is_here(net_sim(net), i);
        const net_node_t *const node = counts ? net_node_look(net, i) : NULL;
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            add_port(&load, &node->ports[p]);
        }
    }
    return load;
}

static void keep_line(const cli_progress_t *progress, const moment_t *moment, bool ended)
{
    char line[CLI_PROGRESS_FILE_BYTES];
    cli_load_t load = look(progress->world->net, ended);
    if (!ended) {
        add_load(&load, &progress->others);
    }
    memset(line, ' ', sizeof(line));
    const int length = snprintf(
        line, sizeof(line),
        "{\"sim_ns\": %" PRIu64 ", \"done\": %" PRIu64 ", \"planned\": %" PRIu64
        ", \"events\": %" PRIu64 ", \"events_per_s\": %.0f, \"share\": %.4f, "
        "\"left_s\": %.1f, \"sent_bytes\": %" PRIu64 ", \"queued_bytes\": %" PRIu64
        ", \"drops\": %" PRIu64 ", \"pauses\": %" PRIu64 ", \"paused_ports\": %" PRIu64
        ", \"longest\": {\"port\": \"%.200s\", \"bytes\": %" PRIu64 "}}",
        moment->now_ps / SIM_PS_PER_NS, moment->done, moment->planned, moment->events,
        moment->events_per_s, moment->share, moment->left_s, load.sent_bytes, load.queued_bytes,
        load.drops, load.pauses, load.paused_ports, load.longest, load.longest_bytes);
    if (length > 0 && (size_t)length < sizeof(line)) {
        line[length] = ' ';
        line[sizeof(line) - 1] = '\n';
        (void)!pwrite(progress->file, line, sizeof(line), 0); // writing results reports a full disk
    }
}

#define PORT_LINE_BYTES 384u // a name of at most 255, four numbers

static size_t put_port(char *at, const net_port_t *port)
{
    uint64_t queued_bytes = 0;
    uint64_t sent_bytes = 0;
    uint64_t drops = 0;
    for (size_t c = 0; c < NET_PRIORITIES; c++) {
        queued_bytes += port->classes[c]->bytes;
        sent_bytes += port->classes[c]->tx_bytes;
    }
    for (size_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
        drops += port->rare->drops[r];
    }
    const int length =
        snprintf(at, PORT_LINE_BYTES, "%.255s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\n",
                 net_port_name(port), queued_bytes, sent_bytes, drops, port->paused != 0);
    return length > 0 ? (size_t)length : 0;
}

static size_t count_ports(const net_t *net)
{
    size_t count = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        count += net_ports_of(net, i);
    }
    return SIM_MIN(count, CLI_PROGRESS_PORTS_MAX);
}

// Writes the lines of a node's ports, at most `most` of them. Returns their bytes.
static size_t put_node(char *at, const net_node_t *node, size_t most)
{
    size_t size = 0;
    for (uint32_t p = 0; p < node->port_count && p < most; p++) {
        size += put_port(at + size, &node->ports[p]);
    }
    return size;
}

static void keep_ports(const cli_progress_t *progress, sim_time_t now_ps)
{
    const net_t *const net = progress->world->net;
    const size_t most = count_ports(net);
    char *const text = progress->ports;
    const uint64_t now_ns = now_ps / SIM_PS_PER_NS;
    size_t count = 0;
    size_t size = (size_t)snprintf(text, PORT_LINE_BYTES, "ports %" PRIu64 " %zu\n", now_ns, most);
    for (size_t i = 0; i < net_node_count(net) && count < most; i++) {
        const net_node_t *const node = net_node_at(net, i);
        const char *const told = progress->lines == NULL ? NULL : progress->lines[i];
        const size_t told_size = told == NULL ? 0 : strlen(told);
        if (told != NULL) {
            memcpy(text + size, told, told_size);
        }
        size += told != NULL ? told_size : put_node(text + size, node, most - count);
        count += node->port_count;
    }
    size += (size_t)snprintf(text + size, PORT_LINE_BYTES, "end %" PRIu64 "\n", now_ns);
    (void)!pwrite(progress->file, text, size, CLI_PROGRESS_FILE_BYTES);
}

// -- in ranks
//
// Rank 0 asks for the ports of all by the lowest bit of a number that ranks sum up. All see it
// between the same two windows, and give what they have. No rank looks at its clock for that.

static void give_ports(const net_t *net, sim_buffer_t *bytes)
{
    const cli_load_t load = look(net, false);
    sim_buffer_put(bytes, &load, sizeof(load));
    size_t count = 0;
    for (size_t i = 0; i < net_node_count(net) && count < CLI_PROGRESS_PORTS_MAX; i++) {
        if (sim_is_here(net_sim(net), i)) {
            const net_node_t *const node = net_node_at(net, i);
            const size_t most = CLI_PROGRESS_PORTS_MAX - count;
            char *const text = sim_alloc_array(node->port_count + 1, PORT_LINE_BYTES);
            const size_t size = put_node(text, node, most);
            sim_buffer_put_u32(bytes, (uint32_t)i);
            sim_buffer_put_u32(bytes, (uint32_t)size);
            sim_buffer_put(bytes, text, size);
            sim_free(text);
        }
        count += net_ports_of(net, i);
    }
}

static void take_ports(unsigned rank, const void *bytes, size_t size, void *ctx)
{
    cli_progress_t *const progress = ctx;
    if (rank == 0) {
        return;
    }
    sim_reader_t reader = {bytes, size};
    cli_load_t load;
    sim_reader_get(&reader, &load, sizeof(load));
    add_load(&progress->others, &load);
    while (reader.left > 0) {
        const uint32_t node = sim_reader_u32(&reader);
        const uint32_t length = sim_reader_u32(&reader);
        SIM_CHECK(node < net_node_count(progress->world->net));
        sim_free(progress->lines[node]);
        progress->lines[node] = sim_alloc(length + 1);
        sim_reader_get(&reader, progress->lines[node], length);
    }
}

static bool is_asked(const sim_t *sim)
{
    return sim_ranks(sim) != NULL && (sim_ranks_told(sim, 1) & 1) != 0;
}

// Gives rank 0 the state of this rank's ports. All ranks call it.
static void answer(cli_progress_t *progress)
{
    const world_t *const world = progress->world;
    const sim_ranks_t *const ranks = sim_ranks(world->sim);
    sim_buffer_t bytes = {0};
    if (ranks->rank > 0) {
        give_ports(world->net, &bytes);
    }
    progress->others = (cli_load_t){0};
    progress->asks = false;
    ranks->ops->collect(ranks->ctx, bytes.bytes, bytes.count, take_ports, progress);
    sim_ranks_tell(world->sim, 1, sim_events(world->sim) * 2);
    sim_free(bytes.bytes);
}

#define PART 1000.0 // ranks report thousandths of transfers

// Replaces the numbers of this rank by those of all, as of the last window. After the run rank 0
// has all numbers itself.
static void sum_ranks(const cli_progress_t *progress, double *done, uint64_t *events)
{
    sim_t *const sim = progress->world->sim;
    sim_ranks_tell(sim, 0, (uint64_t)(*done * PART));
    sim_ranks_tell(sim, 1, *events * 2 + progress->asks);
    *done = (double)sim_ranks_told(sim, 0) / PART;
    *events = sim_ranks_told(sim, 1) / 2;
}

// Returns the share of the planned payload that NICs have accepted; 1 where plans do not say all.
// Transfers differ in size, so their number alone would promise an end that is far away.
static double payload_share(const world_t *world)
{
    const world_survey_t *const survey = world->survey;
    if (survey == NULL || survey->untold > 0 || !(survey->bytes > 0)) {
        return 1;
    }
    double accepted = 0;
    for (size_t i = 0; i < world->nic_count; i++) {
        if (world_nic_exists(world, &world->nics[i])) {
            const nic_t *const nic = world_nic_of(world, &world->nics[i]);
            accepted += (double)nic_get_counters(nic)->rx_data_bytes;
        }
    }
    return SIM_MIN(1, accepted / survey->bytes);
}

static moment_t look_at(const cli_progress_t *progress, sim_time_t now_ps, double now_s,
                        bool running)
{
    const world_t *const world = progress->world;
    moment_t moment = {.now_ps = now_ps, .left_s = -1};
    double under_way = 0;
    for (size_t i = 0; i < world->app_count; i++) {
        uint64_t app_done = 0;
        uint64_t app_planned = 0;
        const app_ops_t *const ops = world->apps[i]->ops;
        ops->progress(world->apps[i], &app_done, &app_planned);
        under_way += ops->under_way == NULL ? 0 : ops->under_way(world->apps[i]);
        moment.done += app_done;
        moment.planned += app_planned;
    }
    double done = (double)moment.done + under_way;
    moment.events = sim_events(world->sim);
    if (running && sim_ranks(world->sim) != NULL) {
        sum_ranks(progress, &done, &moment.events);
        moment.done = (uint64_t)done;
    } else if (running) {
        done = SIM_MIN(done, (double)moment.planned * payload_share(world));
    }
    const uint64_t events = moment.events - progress->shown_events;
    const double since_s = now_s - progress->shown_s;
    moment.events_per_s = since_s > 0 ? (double)events / since_s : 0;
    moment.share = cli_progress_share(now_ps, world->scenario->run.until_ps, done, moment.planned);
    if (moment.share > 0.001) {
        moment.left_s = (now_s - progress->start_s) * (1 - moment.share) / moment.share;
    }
    return moment;
}

static void show(sim_time_t window_end_ps, void *ctx)
{
    cli_progress_t *const progress = ctx;
    const double now_s = wall_s();
    const bool answered = is_asked(progress->world->sim);
    if (answered) {
        answer(progress);
    }
    const bool due = now_s - progress->shown_s >= PERIOD_S;
    const bool waits = progress->lines != NULL && !answered; // for the other ranks
    if (!due && (progress->lines == NULL || waits)) {
        return;
    }
    progress->asks = waits;
    const moment_t moment = look_at(progress, window_end_ps, now_s, true);
    if (waits) {
        return;
    }
    if (progress->terminal >= 0) {
        show_line(progress, &moment);
    }
    if (progress->file >= 0) {
        keep_line(progress, &moment, false);
        keep_ports(progress, window_end_ps);
    }
    progress->shown = true;
    progress->shown_s = now_s;
    progress->shown_events = moment.events;
}

static void forget_others(cli_progress_t *progress)
{
    const size_t count = net_node_count(progress->world->net);
    sim_free_each(progress->lines, count);
    sim_free(progress->lines);
    progress->lines = NULL;
}

sim_err_t cli_progress_open(const char *name, int *file, world_error_t *error)
{
    *file = -1;
    if (name == NULL) {
        return SIM_OK;
    }
    // Not blocking: a named pipe without a reader must not hang the program.
    *file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (*file >= 0 && lseek(*file, 0, SEEK_CUR) >= 0) {
        return SIM_OK;
    }
    const int reason = errno;
    if (*file >= 0) {
        (void)close(*file);
        *file = -1;
    }
    return world_fail(error, SIM_ERR_IO, WORLD_FILE(name),
                      "cannot write the progress: %s, expected a file for --progress",
                      strerror(reason));
}

void cli_progress_begin(cli_progress_t *progress, const world_t *world, int terminal, int file)
{
    const double now_s = wall_s();
    *progress = (cli_progress_t){
        .world = world,
        .terminal = terminal,
        .file = file,
        .start_s = now_s,
        .shown_s = now_s,
    };
    if (progress->file >= 0) {
        progress->ports = sim_alloc_array(count_ports(world->net) + 2, PORT_LINE_BYTES);
    }
    if (progress->file >= 0 && sim_ranks(world->sim) != NULL) {
        progress->lines = sim_alloc_array(net_node_count(world->net), sizeof(*progress->lines));
    }
    sim_on_window(world->sim, show, progress);
}

void cli_progress_end(cli_progress_t *progress)
{
    if (progress->shown && progress->terminal >= 0) {
        dprintf(progress->terminal, CLI_PROGRESS_CLEAR);
    }
    forget_others(progress);
    if (progress->file >= 0) {
        const sim_time_t now_ps = sim_end_time_ps(progress->world->sim);
        const moment_t moment = look_at(progress, now_ps, wall_s(), false);
        keep_line(progress, &moment, true);
        keep_ports(progress, now_ps);
        (void)close(progress->file);
    }
    sim_free(progress->ports);
}
