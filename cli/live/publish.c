// SPDX-License-Identifier: Apache-2.0
// cli/live/publish.c - publishes counters between windows, and slows a run down to a pace.
#include "cli/live/live.h"
#include "cli/live/targets.h"

#include "kernel/parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#define PERIOD_S 0.25
#define WAIT_MAX_S 1e9 // a time that nanosleep takes
#define TARGETS_MAX 16u

typedef struct place {
    const live_target_ops_t *ops;
    void *target;
} place_t;

struct cli_live {
    const world_t *world;
    place_t places[TARGETS_MAX];
    size_t count;
    sim_time_t pace_ps; // simulated time of a second; 0: no limit
    double start_s;
    double shown_s;
    sim_time_t now_ps;
};

// clang-format off
const live_counter_t live__counters[] = {
    {"tx_packets", 1, false, false, "SAI_PORT_STAT_IF_OUT_UCAST_PKTS", "rocesim_port_transmit_packets", "frames that a port sent"},
    {"tx_bytes", 1, false, false, "SAI_PORT_STAT_IF_OUT_OCTETS", "rocesim_port_transmit_bytes", "bytes of frames that a port sent"},
    {"rx_packets", 1, false, false, "SAI_PORT_STAT_IF_IN_UCAST_PKTS", "rocesim_port_receive_packets", "frames that a port received"},
    {"rx_bytes", 1, false, false, "SAI_PORT_STAT_IF_IN_OCTETS", "rocesim_port_receive_bytes", "bytes of frames that a port received"},
    {"discards", 1, false, false, "SAI_PORT_STAT_IF_OUT_DISCARDS", "rocesim_port_discards", "frames that were dropped at a port"},
    {"ecn_marked", 1, false, false, "SAI_PORT_STAT_ECN_MARKED_PACKETS", "rocesim_port_ecn_marked_packets", "packets that a port marked with CE"},
    {"queue_bytes", 1, true, true, NULL, "rocesim_port_queue_bytes", "bytes that wait in a class of a port"},
    {"rx_pause", 1, true, false, "SAI_PORT_STAT_PFC_%u_RX_PKTS", "rocesim_port_rx_pause_packets", "pause frames that a port received"},
    {"tx_pause", 1, true, false, "SAI_PORT_STAT_PFC_%u_TX_PKTS", "rocesim_port_tx_pause_packets", "pause frames that a port sent"},
    {"paused_ps", SIM_PS_PER_US, true, false, "SAI_PORT_STAT_PFC_%u_RX_PAUSE_DURATION_US", "rocesim_port_rx_pause_duration_us", "microseconds for which the peer stopped a class of a port"},
    {.metric = NULL},
};
// clang-format on

uint64_t live__read(const live_counter_t *counter, const net_port_t *port, unsigned class_number,
                    sim_time_t now_ps)
{
    const uint8_t classes = (uint8_t)(counter->by_class ? 1u << class_number : UINT8_MAX);
    return net_port_metric_read(net_port_metric_find(counter->metric), port, classes, now_ps) /
           counter->divisor;
}

void live__put(sim_buffer_t *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = sim_format_list(format, arguments);
    va_end(arguments);
    sim_buffer_put(out, text, strlen(text));
    sim_free(text);
}

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void publish(cli_live_t *live)
{
    for (size_t i = 0; i < live->count; i++) {
        live->places[i].ops->publish(live->places[i].target, live->world, live->now_ps);
    }
}

// Waits until the wall clock has come to the simulated time, at the pace of the run. A signal ends
// the wait, so that an interruption is seen at once.
static void wait_for_wall(const cli_live_t *live)
{
    const double due_s = live->start_s + (double)live->now_ps / (double)live->pace_ps;
    const double wait_s = SIM_MIN(due_s - wall_s(), WAIT_MAX_S);
    if (wait_s > 0) {
        const time_t whole_s = (time_t)wait_s;
        const struct timespec rest = {whole_s, (long)((wait_s - (double)whole_s) * 1e9)};
        (void)nanosleep(&rest, NULL);
    }
}

static void on_window(sim_time_t window_end_ps, void *ctx)
{
    cli_live_t *const live = ctx;
    live->now_ps = window_end_ps;
    if (live->pace_ps > 0) {
        wait_for_wall(live);
    }
    const double now_s = wall_s();
    if (now_s - live->shown_s >= PERIOD_S) {
        live->shown_s = now_s;
        publish(live);
    }
}

// Returns the kind of target that an option names, and its place; NULL: it names none.
static const live_target_ops_t *find_target(const char *option, const char **where)
{
    static const live_target_ops_t *const all[] = {&live__sysfs, &live__http, &live__redis,
                                                   &live__extcap};
    const size_t size = strcspn(option, ":");
    for (size_t i = 0; i < SIM_COUNT_OF(all); i++) {
        if (strlen(all[i]->name) == size && strncmp(all[i]->name, option, size) == 0 &&
            option[size] == ':' && option[size + 1] != '\0') {
            *where = option + size + 1;
            return all[i];
        }
    }
    return NULL;
}

sim_err_t live__check_port(const char *text, size_t size, const char *kind, uint64_t least,
                           world_error_t *error)
{
    uint64_t number = 0;
    sim_message_t message;
    world_shown_t shown;
    char *const port = sim_format("%.*s", (int)size, text);
    sim_err_t result = SIM_OK;
    if (sim_parse_count(port, &number, &message) != SIM_OK || number < least ||
        number > UINT16_MAX) {
        result =
            world_fail(error, SIM_ERR_INVALID, NULL,
                       "rocesim run: --live %s: the port is '%s', expected %" PRIu64 " to 65535",
                       kind, world_show(&shown, port), least);
    }
    sim_free(port);
    return result;
}

static sim_err_t check_pace(const char *pace, world_error_t *error)
{
    sim_time_t pace_ps = 0;
    sim_message_t message;
    world_shown_t shown;
    return pace == NULL || (sim_parse_time(pace, &pace_ps, &message) == SIM_OK && pace_ps > 0)
               ? SIM_OK
               : world_fail(error, SIM_ERR_INVALID, NULL,
                            "rocesim run: --pace is '%s', expected the simulated time of a "
                            "second: 1ms",
                            world_show(&shown, pace));
}

sim_err_t cli_live_check(const cli_args_t *args, const world_t *world, world_error_t *error)
{
    sim_err_t result = check_pace(args->pace, error);
    if (args->live_count > TARGETS_MAX) {
        result = world_fail(error, SIM_ERR_RANGE, NULL,
                            "rocesim run: --live is given %zu times, expected at most %u",
                            args->live_count, TARGETS_MAX);
    }
    for (size_t i = 0; i < args->live_count && result == SIM_OK; i++) {
        const char *where = NULL;
        const live_target_ops_t *const ops = find_target(args->live[i], &where);
        if (ops == NULL) {
            world_shown_t shown;
            result = world_fail(error, SIM_ERR_INVALID, NULL,
                                "rocesim run: --live is '%s', expected sysfs:DIR, http:PORT, "
                                "redis:PORT[@SWITCH] or extcap:DIR[@now]",
                                world_show(&shown, args->live[i]));
        } else if (ops->check != NULL) {
            result = ops->check(world, where, error);
        }
    }
    return result;
}

sim_err_t cli_live_begin(const cli_args_t *args, const world_t *world, cli_live_t **live,
                         world_error_t *error)
{
    *live = NULL;
    if (args->live_count == 0 && args->pace == NULL) {
        return SIM_OK;
    }
    cli_live_t *const made = sim_alloc(sizeof(*made));
    *made = (cli_live_t){.world = world, .start_s = wall_s()};
    sim_err_t result = SIM_OK;
    sim_message_t message;
    if (args->pace != NULL) {
        SIM_CHECK(sim_parse_time(args->pace, &made->pace_ps, &message) == SIM_OK);
    }
    for (size_t i = 0; i < args->live_count && result == SIM_OK; i++) {
        const char *where = NULL;
        place_t *const place = &made->places[made->count];
        place->ops = find_target(args->live[i], &where);
        SIM_CHECK(place->ops != NULL); // cli_live_check has found it
        result = place->ops->open(world, where, &place->target, error);
        made->count += result == SIM_OK;
    }
    if (result != SIM_OK) {
        cli_live_end(made);
        return result;
    }
    publish(made);
    sim_on_window(world->sim, on_window, made);
    *live = made;
    return SIM_OK;
}

void cli_live_end(cli_live_t *live)
{
    if (live == NULL) {
        return;
    }
    for (size_t i = 0; i < live->count; i++) {
        live->places[i].ops->close(live->places[i].target, live->world, live->now_ps);
    }
    sim_free(live);
}
