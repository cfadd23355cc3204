// SPDX-License-Identifier: Apache-2.0
// cli/check.c - `rocesim check` and `rocesim topo`: describe a scenario without running it.
#include "cli/check.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/ranks/balance.h"
#include "cli/ranks/ranks.h"
#include "cli/ranks/slurm.h"
#include "cli/workload/workload.h"
#include "kernel/ranks.h"
#include "net/ports.h"
#include "nic/extra.h"
#include "topologies/inspect.h"
#include "world/advice.h"
#include "world/format.h"
#include "world/names.h"
#include "world/parameters.h"
#include "world/path_classes.h"
#include "world/planned_transfers.h"
#include "world/ranks.h"
#include "world/world.h"

#include <stdio.h>

#define KINDS_MAX 16u
#define PLACES_MAX 64u // ranks that are shown

static void print_finding(topo_severity_t severity, const char *text, void *ctx)
{
    static const char *const words[] =
        {[TOPO_NOTE] = "note", [TOPO_WARNING] = "warning", [TOPO_ERROR] = "error"};
    fprintf(ctx, "%s: %s\n", words[severity], text);
}

// A kind of switch port: ports of one kind need the same headroom for lossless classes.
typedef struct port_kind {
    uint64_t rate_bps;
    sim_time_t delay_ps;
    uint64_t headroom_bytes;
    uint64_t count;
} port_kind_t;

static bool has_lossless_class(const net_switch_config_t *config)
{
    return config->pfc_enabled && config->pfc_priorities != 0;
}

static size_t collect_port_kinds(const net_t *net, port_kind_t *kinds)
{
    size_t count = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = sim_is_here(net_sim(net), i) ? net_node_at(net, i) : NULL;
        if (node == NULL || node->kind != NET_NODE_SWITCH ||
            !has_lossless_class(net_switch_config(node))) {
            continue;
        }
        for (uint32_t p = 0; p < node->port_count; p++) {
            const net_port_t *const port = net_port_at(node, p);
            const port_kind_t kind = {port->line->rate_bps, port->line->delay_ps,
                                      net_switch_headroom_limit_bytes(node, p), 1};
            size_t k = 0;
            while (k < count &&
                   (kinds[k].rate_bps != kind.rate_bps || kinds[k].delay_ps != kind.delay_ps ||
                    kinds[k].headroom_bytes != kind.headroom_bytes)) {
                k++;
            }
            if (k < count) {
                kinds[k].count++;
            } else if (count < KINDS_MAX) {
                kinds[count++] = kind;
            }
        }
    }
    return count;
}

static void print_headroom(const net_t *net)
{
    port_kind_t kinds[KINDS_MAX];
    const size_t count = collect_port_kinds(net, kinds);
    for (size_t k = 0; k < count; k++) {
        world_text_t rate;
        world_text_t delay;
        world_text_t headroom;
        printf("  headroom  %s for each lossless class of %" PRIu64 " switch port%s (%s, %s)\n",
               world_format_bytes(&headroom, kinds[k].headroom_bytes), kinds[k].count,
               sim_plural(kinds[k].count), world_format_rate(&rate, kinds[k].rate_bps),
               world_format_time(&delay, kinds[k].delay_ps));
    }
}

// The places of ranks, several on a line.
typedef struct places {
    const world_t *world;
    const char *word; // of the application for a rank
    uint32_t ranks;
} places_t;

static void print_place(uint32_t rank, uint32_t interface, void *ctx)
{
    places_t *const places = ctx;
    if (places->ranks++ < PLACES_MAX) {
        printf("%s%s%s%" PRIu32 " %s", rank % 8 == 0 ? "\n            " : ", ",
               rank % 8 == 0 ? places->word : "", rank % 8 == 0 ? " " : "", rank,
               world_interface_name(places->world, interface));
    }
}

// Prints a line below that of an application.
static void print_detail(const char *text, void *ctx)
{
    (void)ctx;
    printf("            %s", text);
}

static void print_places(const world_t *world, const app_t *app)
{
    const char *const word = app->ops->place_word != NULL ? app->ops->place_word : "rank";
    places_t places = {world, word, 0};
    printf("            %ss and their hosts:", word);
    app->ops->places(app, print_place, &places);
    if (places.ranks > PLACES_MAX) {
        printf(" and %" PRIu32 " more", places.ranks - PLACES_MAX);
    }
    printf("\n");
}

static void print_world(const world_t *world)
{
    const world_scenario_t *const scenario = world->scenario;
    const net_node_counts_t nodes = net_count_nodes(world->net);
    world_text_t until;
    printf("%s: ok\n", scenario->run.name);
    printf("  network   %zu host%s with %zu interface%s, ", nodes.hosts, sim_plural(nodes.hosts),
           world->nic_count, sim_plural(world->nic_count));
    if (nodes.accelerators > 0) {
        printf("%zu accelerators, ", nodes.accelerators);
    }
    printf("%zu switch%s, %zu link%s\n", nodes.switches, nodes.switches == 1 ? "" : "es",
           net_link_count(world->net), sim_plural(net_link_count(world->net)));
    printf("  until     %s; seed %" PRIu64 "; congestion control %s\n",
           world_format_time(&until, scenario->run.until_ps), scenario->run.seed,
           nic_config_control(&scenario->nic_config));
    world_parameters_print(scenario->root, stdout);
    print_headroom(world->net);
    world_print_classes(world, stdout);
    world_print_hops(world, stdout);
    for (size_t i = 0; i < world->app_count; i++) {
        uint64_t done = 0;
        uint64_t planned = 0;
        world->apps[i]->ops->progress(world->apps[i], &done, &planned);
        printf("  traffic   %s: %" PRIu64 " transfer%s planned\n", world->apps[i]->ops->name,
               planned, sim_plural(planned));
        if (world->apps[i]->ops->places != NULL) {
            print_places(world, world->apps[i]);
        }
        if (world->apps[i]->ops->describe != NULL) {
            world->apps[i]->ops->describe(world->apps[i], print_detail, NULL);
        }
    }
    world_survey_print(world, stdout);
    world_observed_print(world, stdout);
}

// Prints how the ranks share the network. Only the part of rank 0 was built.
static void print_parts(const world_t *world)
{
    size_t hosts = 0;
    const sim_ranks_t *const ranks = sim_ranks(world->sim);
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        hosts += net_kind_of(world->net, i) == NET_NODE_HOST && world->parts->rank_of[i] == 0;
    }
    world_text_t memory;
    printf("  ranks     %u; the first has %zu host%s and takes %s of memory when built\n",
           ranks->count, hosts, sim_plural(hosts),
           world_format_bytes(&memory, (uint64_t)cli_ranks_resident_bytes()));
    cli_ranks_print_parts(world, stdout);
}

// Reads the number of ranks; without --ranks it is 0.
static sim_err_t read_ranks(const cli_args_t *args, const world_scenario_t *scenario,
                            unsigned *count, world_error_t *error)
{
    *count = 0;
    if (args->ranks == NULL) {
        return SIM_OK;
    }
    const sim_err_t result = cli_ranks_wanted(args, count, error);
    return result == SIM_OK ? world_ranks_check(scenario, error) : result;
}

static sim_err_t build(const cli_args_t *args, world_build_t what, sim_ranks_t *ranks,
                       world_scenario_t **scenario, world_t **world, world_error_t *error)
{
    sim_err_t result = world_scenario_load(NULL, args->operands[0], args->overrides,
                                           args->override_count, scenario, error);
    if (result == SIM_OK) {
        result = read_ranks(args, *scenario, &ranks->count, error);
    }
    if (result == SIM_OK) {
        static const app_programs_t looked_at = {.start = false};
        (*scenario)->programs = &looked_at;
        result = world_create_part(*scenario, what, ranks->count > 0 ? ranks : NULL, world, error);
    }
    return result;
}

static int finish(world_scenario_t *scenario, world_t *world, int status)
{
    world_destroy(world);
    world_scenario_destroy(scenario);
    return status == CLI_EXIT_DONE ? cli_finish_output(status) : status;
}

int cli_command_check(const cli_args_t *args)
{
    int described = CLI_EXIT_DONE;
    if (cli_workload_check(args, &described)) {
        return described;
    }
    if (args->json) {
        fprintf(stderr,
                "rocesim check: --json describes a file of a workload, but %s is in none "
                "of their formats\n",
                args->operands[0]);
        return CLI_EXIT_BAD_INPUT;
    }
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    world_error_t error;
    int status = CLI_EXIT_DONE;
    sim_ranks_t ranks = {.rank = 0};
    if (build(args, WORLD_BUILD_ALL, &ranks, &scenario, &world, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else {
        print_world(world);
        if (ranks.count > 0) {
            print_parts(world);
        }
        world_print_notes(world, stdout);
        topo_lint(world->net, print_finding, stdout);
        world_warnings_t warnings = {0};
        world_survey_warn(world, &warnings);
        world_warnings_print(&warnings, stdout); // beside the estimate, which it explains
        world_warnings_fini(&warnings);
        world_advise(world, &warnings);
        world_warnings_print(&warnings, stderr);
        world_warnings_fini(&warnings);
        if (world_survey_check(world, &error) != SIM_OK) {
            status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
        }
    }
    return finish(scenario, world, status);
}

static void write_dot(const char *text, void *ctx)
{
    fputs(text, ctx);
}

int cli_command_topo(const cli_args_t *args)
{
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    world_error_t error;
    int status = CLI_EXIT_DONE;
    sim_ranks_t ranks = {.rank = 0};
    if (build(args, WORLD_BUILD_NETWORK, &ranks, &scenario, &world, &error) != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else {
        topo_write_dot(world->net, write_dot, stdout);
        world_print_notes(world, stderr);
        topo_lint(world->net, print_finding, stderr);
    }
    return finish(scenario, world, status);
}
