// SPDX-License-Identifier: Apache-2.0
// apps/simbricks/application.c - the application `simbricks`: a process of SimBricks at a host, and
// how the processes and the network agree on the time.
//
// Between two steps of the simulation, each process is told the present time, and has told up to
// which time nothing more comes from it. The next step ends at the earliest of these times. So no
// frame comes for a time that has passed, and results do not depend on which process is faster.
// docs/models/simbricks.md
#include "apps/simbricks.h"

#include "apps/endpoints.h"
#include "apps/hosts.h"
#include "apps/report_rows.h"
#include "apps/simbricks/peers.h"
#include "kernel/attribute.h"
#include "kernel/steps.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PREFIX "traffic.simbricks"
#define SPINS 256u // looks at a queue before it waits, and between two looks at the other side
#define YIELDS 16u // such waits that only let other processes run, before it sleeps
#define NS_PER_S UINT64_C(1000000000)

typedef struct simbricks_config {
    char *host;
    char *listen;
    char *connect;
    sim_time_t latency_ps;
    sim_time_t sync_ps;
    uint64_t waiting_max_bytes;
} simbricks_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(simbricks_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "host", host, "host0", "host, or one of its NICs (host0:1), in the place of which the process stands"),
    ATTR(STRING, "listen", listen, "", "Unix socket that rocesim makes, to which the process connects; empty: `connect` is given"),
    ATTR(STRING, "connect", connect, "", "Unix socket on which the process listens; empty: `listen` is given"),
    ATTR(TIME, "latency", latency_ps, "500ns", "1ns", "1s", "delay of the link from the host to the process; that of the other direction is the process's own"),
    ATTR(TIME, "sync-interval", sync_ps, "auto", "1ns", "1s", "longest simulated time without a message to the process, at most the latency; auto: the latency", .auto_ok = true),
    ATTR(BYTES, "queue", waiting_max_bytes, "1MiB", "0", "1TB", "bytes that wait for the host's link in a class before a frame of the process is dropped"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", simbricks_config_t, attrs);

// -- waiting in real time

// How long a peer has been silent.
typedef struct waiting {
    uint64_t looks;
    uint64_t looked_ns; // clock of the last sleep; 0: none yet
    uint64_t waited_ns;
} waiting_t;

static uint64_t clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

// Waits a little for a peer. Returns false, and says why, if waiting is over. A single sleep counts
// for at most a second: all processes of a simulation may have been stopped meanwhile.
static bool wait_for(app__peer_t *peer, waiting_t *waiting, const char *what)
{
    app__link_t *const link = &peer->link;
    const app_programs_t *const permission = peer->peers->permission;
    if (++waiting->looks % SPINS != 0) {
        return true;
    }
    if (waiting->looks < SPINS * YIELDS) {
        (void)sched_yield();
        return true;
    }
    const struct timespec pause = {.tv_nsec = 50000};
    const uint64_t from_ns = waiting->looked_ns != 0 ? waiting->looked_ns : clock_ns();
    (void)nanosleep(&pause, NULL);
    waiting->looked_ns = clock_ns();
    waiting->waited_ns += SIM_MIN(waiting->looked_ns - from_ns, NS_PER_S);
    if (permission->ends != NULL && permission->ends(&peer->app, permission->ctx) != NULL) {
        (void)snprintf(link->error, sizeof(link->error), "the run was interrupted");
    } else if (waiting->waited_ns / (NS_PER_S / 1000) >= peer->peers->patience_ms) {
        (void)snprintf(link->error, sizeof(link->error),
                       "the process %s for %" PRIu64 " s of real time (programs.patience)", what,
                       peer->peers->patience_ms / 1000);
    }
    return link->error[0] == '\0';
}

bool app__peer_wait_for_room(app__peer_t *peer)
{
    waiting_t waiting = {.looks = 0};
    while (!app__link_has_room(&peer->link)) {
        if (peer->link.error[0] != '\0' || app__link_is_dead(&peer->link) ||
            !wait_for(peer, &waiting, "took no message")) {
            return false; // if it is dead, its own queue says how it ended
        }
    }
    return true;
}

// -- time

// Takes all messages that have come, and waits until nothing more can come before the time after
// now_ps. Returns false if the peer has failed.
static bool hear(app__peer_t *peer, sim_time_t now_ps)
{
    app__link_t *const link = &peer->link;
    waiting_t waiting = {.looks = 0};
    bool dead = false;
    while (link->state == APP__LINK_OPEN) {
        app__link_frame_t frame;
        const app__link_got_t got = app__link_take(link, &frame);
        if (got == APP__LINK_FAILED) {
            return false;
        }
        if (got != APP__LINK_NOTHING) {
            if (got == APP__LINK_FRAME) {
                app__peer_take(peer, link->heard_ps, frame.bytes, frame.size_bytes);
            }
            app__link_done(link);
            waiting = (waiting_t){.looks = 0};
        } else if (link->heard_ps > now_ps) {
            return true;
        } else if (dead) {
            (void)snprintf(link->error, sizeof(link->error),
                           "the process ended without a message that says so, at %" PRIu64 " ps",
                           link->heard_ps);
            return false;
        } else {
            // Messages of a process that has ended are still in the queue.
            dead = waiting.looks % SPINS == SPINS - 1 && app__link_is_dead(link);
            if (!dead && !wait_for(peer, &waiting, "sent no message")) {
                return false;
            }
        }
    }
    return true;
}

// Tells the peer the time, if that is due.
static bool tell(app__peer_t *peer, sim_time_t now_ps)
{
    app__link_t *const link = &peer->link;
    if (link->state != APP__LINK_OPEN || !app__link_sync_is_due(link, now_ps)) {
        return true;
    }
    if (!app__peer_wait_for_room(peer)) {
        return link->error[0] == '\0'; // hear() says how it ended
    }
    app__link_sync(link, now_ps);
    return true;
}

// Returns the end of the next step, up to which nothing more comes from any peer; SIM_TIME_END: all
// have ended.
// *fine becomes false if one has failed.
static sim_time_t agree(app__peers_t *peers, sim_time_t now_ps, bool *fine)
{
    sim_time_t until_ps = SIM_TIME_END;
    for (size_t i = 0; i < peers->count && *fine; i++) {
        *fine = tell(peers->list[i], now_ps);
    }
    for (size_t i = 0; i < peers->count && *fine; i++) {
        app__peer_t *const peer = peers->list[i];
        *fine = hear(peer, now_ps);
        if (peer->link.state == APP__LINK_OPEN) {
            // No step is longer than a sync interval: peers go on in small steps, too.
            const sim_time_t due_ps = peer->link.sent_ps + peer->config.sync_ps;
            until_ps = SIM_MIN(until_ps, peer->link.heard_ps);
            until_ps = SIM_MIN(until_ps, SIM_MAX(due_ps, now_ps + 1));
        }
    }
    return until_ps;
}

// Connects all peers at the same time: a process may wait for one link before another.
static bool connect_all(app__peers_t *peers)
{
    for (size_t i = 0; i < peers->count; i++) {
        peers->list[i]->begun = true;
        if (!app__link_begin(&peers->list[i]->link, &peers->list[i]->config)) {
            return false;
        }
    }
    waiting_t waiting = {.looks = (uint64_t)SPINS * YIELDS};
    for (size_t open = 0; open < peers->count;) {
        open = 0;
        app__peer_t *late = NULL;
        for (size_t i = 0; i < peers->count; i++) {
            app__peer_t *const peer = peers->list[i];
            if (!app__link_greet(&peer->link)) {
                return false;
            }
            open += peer->link.state == APP__LINK_OPEN;
            late = peer->link.state == APP__LINK_OPEN ? late : peer;
        }
        waiting.looks += SPINS - 1;
        if (late != NULL && !wait_for(late, &waiting, "did not connect")) {
            return false;
        }
    }
    return true;
}

bool app_simbricks_drives(const app_runtime_t *runtime)
{
    return runtime != NULL && *app__runtime_peers((app_runtime_t *)(uintptr_t)runtime) != NULL;
}

sim_ended_t app_simbricks_run(app_runtime_t *runtime)
{
    app__peers_t *const peers = *app__runtime_peers(runtime);
    sim_t *const sim = net_sim(peers->net);
    const sim_time_t until_ps = SIM_MIN(sim_options(sim)->until_ps, SIM_TIME_END);
    bool fine = connect_all(peers);
    sim_ended_t ended = sim_step(sim, 0);
    sim_time_t now_ps = 0;
    while (fine && now_ps < until_ps && (ended == SIM_ENDED_UNTIL || ended == SIM_ENDED_DONE)) {
        const sim_time_t next_ps = agree(peers, now_ps, &fine);
        if (fine) {
            ended = sim_step(sim, next_ps);
            now_ps = next_ps;
        }
    }
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->list[i]->begun) {
            app__link_end(&peers->list[i]->link);
        }
    }
    return sim_last_step(sim);
}

// -- the application

static sim_err_t refuse(const app_context_t *context, const simbricks_config_t *config,
                        sim_message_t *message)
{
    const sim_options_t *const options = sim_options(net_sim(context->net));
    if (context->programs == NULL || context->program) {
        return sim_fail(
            message, SIM_ERR_INVALID,
            "the scenario would exchange frames with a process of this machine in the "
            "place of %s; that needs `--programs` with `rocesim run`, `sweep` or `expect`",
            config->host);
    }
    if (options->fifo_ties || options->rotor_ties) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "simbricks goes by steps, which needs ties: hash");
    }
    if ((config->listen[0] == '\0') == (config->connect[0] == '\0')) {
        return sim_fail_about(message, SIM_ERR_INVALID, "listen",
                              ": expected a socket for either listen or connect");
    }
    if (config->sync_ps != SIM_AUTO && config->sync_ps > config->latency_ps) {
        return sim_fail_about(message, SIM_ERR_RANGE, "sync-interval",
                              ": is longer than the latency, expected at most %" PRIu64 " ps",
                              config->latency_ps);
    }
    return SIM_OK;
}

static app__peers_t *peers_of(const app_context_t *context)
{
    app__peers_t **const peers = app__runtime_peers(context->runtime);
    if (*peers == NULL) {
        *peers = sim_alloc(sizeof(**peers));
        (*peers)->net = context->net;
        (*peers)->permission = context->programs;
        (*peers)->patience_ms = context->programs_config->patience_ps / (SIM_PS_PER_S / 1000);
    }
    return *peers;
}

static sim_err_t simbricks_create(const app_context_t *context, const void *config_void,
                                  app_t **app, sim_message_t *message)
{
    const simbricks_config_t *const config = config_void;
    uint32_t interface = 0;
    sim_err_t error = refuse(context, config, message);
    if (error == SIM_OK) {
        error = app__interface_find(context, "host", config->host, &interface, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    const bool listens = config->listen[0] != '\0';
    app__peer_t *const peer = sim_alloc(sizeof(*peer));
    *peer = (app__peer_t){
        .app = {&app_simbricks, context->net, context->index},
        .peers = peers_of(context),
        .interface = interface,
        .waiting_max_bytes = config->waiting_max_bytes,
        .config =
            {
                .path = sim_strdup(listens ? config->listen : config->connect),
                .listens = listens,
                .latency_ps = config->latency_ps,
                .sync_ps = config->sync_ps == SIM_AUTO ? config->latency_ps : config->sync_ps,
            },
    };
    error = app__peer_join(peer, message);
    if (error != SIM_OK) {
        sim_free((char *)(uintptr_t)peer->config.path);
        sim_free(peer);
        return error;
    }
    SIM_APPEND(peer->peers->list, peer->peers->count, peer->peers->capacity, peer);
    *app = &peer->app;
    return SIM_OK;
}

static void simbricks_destroy(app_t *app)
{
    app__peer_t *const peer = (app__peer_t *)app;
    for (size_t i = peer->arrival_first; i < peer->arrival_count; i++) {
        sim_free(peer->arrivals[i].bytes);
    }
    sim_free(peer->arrivals);
    sim_free(peer->failure);
    sim_free((char *)(uintptr_t)peer->config.path);
    sim_free(peer);
}

void app__peers_destroy(app__peers_t *peers)
{
    if (peers != NULL) {
        sim_map_fini(&peers->by_mac);
        SIM_FREE_ALL(peers->stations, peers->list, peers);
    }
}

static void simbricks_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    (void)app;
    *done = *planned = 0;
}

static void simbricks_describe(const app_t *app, void (*write)(const char *text, void *ctx),
                               void *ctx)
{
    const app__peer_t *const peer = (const app__peer_t *)app;
    char *const text =
        sim_format("%s %s %s\n", app__host_name(app->net, peer->interface),
                   peer->config.listens ? "listens on" : "connects to", peer->config.path);
    write(text, ctx);
    sim_free(text);
}

static const char *simbricks_failure(const app_t *app)
{
    app__peer_t *const peer = (app__peer_t *)(uintptr_t)app;
    if (peer->link.error[0] == '\0') {
        return NULL;
    }
    if (peer->failure == NULL) {
        peer->failure =
            sim_format("the process at %s (%s): %s", app__host_name(app->net, peer->interface),
                       peer->config.path, peer->link.error);
    }
    return peer->failure;
}

// clang-format off
#define ROWS(X) \
    X(frames_in, U64, "", true, "number of frames that the process has sent") \
    X(bytes_in, U64, "bytes", false, "bytes of these frames") \
    X(roce_in, U64, "", false, "number of these frames that are RoCEv2") \
    X(cnps_in, U64, "", false, "number of these frames that are CNPs") \
    X(late_in, U64, "", false, "number of messages with an earlier timestamp than one before them; their frames count as of that one") \
    X(flooded, U64, "", false, "number of these frames that went to all other processes") \
    X(dropped, U64, "", true, "number of frames that found no room in the host's queue, were too long or came after the process's end") \
    X(frames_out, U64, "", true, "number of frames that the process was given") \
    X(bytes_out, U64, "bytes", false, "bytes of these frames") \
    X(marked_out, U64, "", true, "number of these frames with the ECN mark CE")
// clang-format on
typedef struct report {
    ROWS(APP__MEMBER)
} report_t;

static void fill_report(const void *object, void *result)
{
    const app__peer_t *const peer = object;
    *(report_t *)result = (report_t){
        .frames_in = peer->frames_in,
        .bytes_in = peer->bytes_in,
        .roce_in = peer->roce_in,
        .cnps_in = peer->cnps_in,
        .late_in = peer->link.late,
        .flooded = peer->flooded,
        .dropped = peer->dropped,
        .frames_out = peer->frames_out,
        .bytes_out = peer->bytes_out,
        .marked_out = peer->marked_out,
    };
}

#define ROW(...) APP__ROW(report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {ROWS(ROW)};
static const sim_report_table_t simbricks_report = APP__FILLED(report_rows, report_t, fill_report);

const app_ops_t app_simbricks = {
    .name = "simbricks",
    .help = "a process of SimBricks at a host: its Ethernet frames cross the network",
    .attrs = &attr_table,
    .create = simbricks_create,
    .destroy = simbricks_destroy,
    .progress = simbricks_progress,
    .describe = simbricks_describe,
    .report = &simbricks_report,
    .failure = simbricks_failure,
    .by_steps = true,
    .machine_command = "rocesim run",
};
