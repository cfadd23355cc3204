// SPDX-License-Identifier: Apache-2.0
// world/construct/network.c - builds what a scenario describes.
#include "world/bind.h"
#include "world/capture_files.h"
#include "world/construct/applications.h"
#include "world/construct/apply_faults.h"
#include "world/construct/check.h"
#include "world/construct/fast_forward.h"
#include "world/construct/link_patterns.h"
#include "world/construct/output_estimate.h"
#include "world/construct/variants.h"
#include "world/format.h"
#include "world/mooncake_json.h"
#include "world/overlays.h"
#include "world/planned_transfers.h"
#include "world/registry/entries.h"
#include "world/registry/kv_plan_yaml.h"
#include "world/scenario/own_nodes.h"

#include "kernel/ranks.h"
#include "net/message.h"
#include "nic/transport.h"
#include "topologies/scale_up.h"
#include "topologies/topology_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_FILE_BYTES_MAX ((size_t)256 << 20)

// -- what builders ask for

static const net_switch_config_t *plan_switch(const char *name, void *ctx)
{
    const world_t *const world = ctx;
    return world__variants_switch(world->variants, name);
}

static const nic_config_t *plan_nic(const char *name, void *ctx)
{
    const world_t *const world = ctx;
    return world__variants_nic(world->variants, name);
}

static net_node_t *plan_own(const char *name, void *ctx)
{
    world_t *const world = ctx;
    if (world->scenario->network.model == NET_MODEL_MESSAGE) {
        return net_message_hop_create(world->net, name);
    }
    sim_err_t result = SIM_OK;
    world_error_t error;
    net_node_t *const node =
        world__own_node_create(world->scenario, world->net, name, &result, &error);
    if (result != SIM_OK) {
        world__variants_keep_error(world->variants, result, &error);
    }
    return node;
}

static void apply_link_map(const world_tree_t *map, net_link_config_t *config)
{
    static const char *const others[] = {"down", NULL};
    const world_targets_t targets = world_targets_one(&net_link_config_attrs, config);
    world_error_t error;
    const sim_err_t result = world_bind(map, "link", &targets, others, &error);
    SIM_CHECKF(result == SIM_OK, "%s", error.text);
}

// Configures a link: by the builder, then by the scenario's values for all links, then by those for
// links that match a pattern.
static void plan_link(const net_node_t *a, const net_node_t *b, net_link_config_t *config,
                      void *ctx)
{
    const world_t *const world = ctx;
    const world_scenario_t *const scenario = world->scenario;
    if (scenario->topology != NULL && scenario->link_map != NULL && !config->flits) {
        apply_link_map(scenario->link_map, config);
    }
    for (size_t i = 0; i < scenario->link_count; i++) {
        if (world__next_link_meant(world, &scenario->links[i].names, a, b)) {
            apply_link_map(scenario->links[i].map, config);
        }
    }
}

// -- files

// Returns a folder that the attribute `folder` names, of `length` characters, as seen from here. A
// relative one starts in the folder of the scenario.
static char *folder_of(const char *file_name, const char *text, size_t length)
{
    const char *const slash = strrchr(file_name, '/');
    const int own = slash == NULL ? 0 : (int)(slash - file_name) + 1;
    if (length > 0 && text[0] == '/') {
        return sim_format("%.*s", (int)length, text);
    }
    return sim_format("%.*s%s%.*s", own, file_name,
                      length > 0 ? ""
                      : own > 0  ? ""
                                 : ".",
                      (int)length, text);
}

// Returns the length of the first folder of a list, which ':' separates. A folder that exists may
// have ':' in its name.
static size_t first_length(const char *file_name, const char *list)
{
    const size_t length = strcspn(list, ":");
    char *const whole = folder_of(file_name, list, strlen(list));
    const bool is_one = list[length] == ':' && access(whole, F_OK) == 0;
    sim_free(whole);
    return is_one ? strlen(list) : length;
}

char *world_input_path(const char *file_name, const char *run_folder, const char *name)
{
    if (name[0] == '/') {
        return sim_strdup(name);
    }
    for (const char *list = run_folder;; list++) {
        const size_t length = first_length(file_name, list);
        char *const folder = folder_of(file_name, list, length);
        char *const path = sim_format("%s/%s", folder, name);
        sim_free(folder);
        list += length;
        if (*list == '\0' || access(path, F_OK) == 0) {
            return path;
        }
        sim_free(path);
    }
}

char *world_scenario_folder(const world_scenario_t *scenario)
{
    char *folders = sim_strdup("");
    for (const char *list = scenario->run.folder;; list++) {
        const size_t length = first_length(scenario->file_name, list);
        char *const folder = folder_of(scenario->file_name, list, length);
        char *const absolute = realpath(folder, NULL);
        char *const longer = sim_format("%s%s%s", folders, folders[0] == '\0' ? "" : ":",
                                        absolute == NULL ? folder : absolute);
        free(absolute);
        sim_free(folder);
        sim_free(folders);
        folders = longer;
        list += length;
        if (*list == '\0') {
            return folders;
        }
    }
}

static sim_err_t read_file(const char *name, char **text, size_t *size, sim_message_t *message,
                           void *ctx)
{
    world_t *const world = ctx;
    if (world->confined && (name[0] == '/' || strstr(name, "..") != NULL)) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "%.200s: expected the name of a file below the scenario's folder, which is "
                        "all that clients of this server may name",
                        name);
    }
    char *const path =
        world_input_path(world->scenario->file_name, world->scenario->run.folder, name);
    world_error_t error;
    const sim_err_t result = world_read_file(path, INPUT_FILE_BYTES_MAX, text, size, &error);
    sim_free(path);
    SIM_APPEND(world->files, world->file_count, world->file_capacity, sim_strdup(name));
    if (result == SIM_OK) {
        return SIM_OK;
    }
    const bool told = strstr(error.text, "expected ") != NULL;
    return sim_fail(message, result, "%.440s%s", error.text,
                    told ? "" : ", expected a file that can be read");
}

static void keep_note(const char *text, void *ctx)
{
    world_t *const world = ctx;
    SIM_APPEND(world->notes, world->note_count, world->note_capacity, sim_strdup(text));
}

void world_print_notes(const world_t *world, FILE *out)
{
    for (size_t i = 0; i < world->note_count; i++) {
        const bool warns = strncmp(world->notes[i], "warning: ", strlen("warning: ")) == 0;
        fprintf(out, "%s%s\n", warns ? "" : "note: ", world->notes[i]);
    }
}

// -- building

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Returns the place of the first host of the scenario's graph that has no link, or of the topology.
static world_place_t place_of_lonely_host(const world_scenario_t *scenario)
{
    const world_graph_t *const graph = &scenario->graph;
    const char **const ends = sim_alloc_array(2 * graph->link_count + 1, sizeof(*ends));
    for (size_t i = 0; i < graph->link_count; i++) {
        ends[2 * i] = graph->links[i].a;
        ends[2 * i + 1] = graph->links[i].b;
    }
    qsort(ends, 2 * graph->link_count, sizeof(*ends), compare_texts);
    world_place_t place = scenario->topology_place;
    for (size_t i = 0; i < graph->node_count; i++) {
        const world_graph_node_t *const node = &graph->nodes[i];
        if (node->kind == NET_NODE_HOST && bsearch(&node->name, ends, 2 * graph->link_count,
                                                   sizeof(*ends), compare_texts) == NULL) {
            place = node->place;
            break;
        }
    }
    sim_free(ends);
    return place;
}

// Returns the place at which the scenario names a part (switch.mmu) that the network does not know.
static world_place_t place_of_name(const world_scenario_t *scenario, const char *path)
{
    char section[16];
    (void)snprintf(section, sizeof(section), "%.*s", (int)strcspn(path, "."), path);
    const world_tree_entry_t *const entry = world_tree_find(scenario->root, section);
    return entry == NULL ? scenario->topology_place : world_locate(entry->value, section, path);
}

// Measured on fat-trees of 8192 to 1,024,000 hosts and a star of 20,000 before anything is sent:
// they took about a tenth less. Ports that send, mark or are stopped take more.
#define HOST_BYTES UINT64_C(1500)
#define LINK_BYTES UINT64_C(640)

// Nodes that other ranks run take a tenth to a sixth of the memory of a rank's own once they are
// built, and more before they are let go (docs/performance.md).
#define ELSEWHERE 5u

// Refuses a network that needs more memory than memory-max, before it is built.
static sim_err_t fits(const topo_size_t *size, sim_message_t *message, void *ctx)
{
    const world_t *const world = ctx;
    const uint64_t allowed_bytes = world->scenario->run.memory_max_bytes;
    const sim_ranks_t *const ranks = sim_ranks(world->sim);
    const uint64_t all_bytes = size->hosts * HOST_BYTES + size->links * LINK_BYTES;
    const uint64_t own_bytes = ranks == NULL ? all_bytes : all_bytes / ranks->count;
    const uint64_t bytes = own_bytes + (all_bytes - own_bytes) / ELSEWHERE;
    if (bytes <= allowed_bytes) {
        return SIM_OK;
    }
    world_text_t needed;
    world_text_t allowed;
    return sim_fail(message, SIM_ERR_RANGE,
                    "%" PRIu64 " host%s, %" PRIu64 " switch%s and %" PRIu64
                    " link%s take some %s of memory, expected at most %s: fewer of them, a higher "
                    "memory-max, or --yes",
                    size->hosts, sim_plural(size->hosts), size->switches,
                    size->switches == 1 ? "" : "es", size->links, sim_plural(size->links),
                    world_format_bytes(&needed, bytes),
                    world_format_bytes(&allowed, allowed_bytes));
}

static sim_err_t check_size(world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    if (scenario->topology == NULL || scenario->topology->size == NULL) {
        return SIM_OK;
    }
    topo_size_t size;
    sim_message_t message;
    scenario->topology->size(scenario->topology_config, &size);
    const sim_err_t result = fits(&size, &message, world);
    return result == SIM_OK ? SIM_OK
                            : world_fail(error, result, &scenario->topology_map->place,
                                         "topology.%s: %s", scenario->topology->name, message.text);
}

// Behind the links of the network come those between hosts and their accelerators, by the number of
// the accelerator's node. At the numbers of other nodes is the first link again.
static void get_link(const void *ctx, size_t i, sim_network_link_t *at)
{
    const net_t *const net = ctx;
    const size_t links = net_link_count(net);
    const net_node_t *const node = i < links ? NULL : net_node_look(net, i - links);
    const net_node_t *const host = node != NULL ? net_accelerator_host(node) : NULL;
    if (host != NULL) {
        *at = (sim_network_link_t){host->sim.index, node->sim.index,
                                   net_scale_up_config(host)->memory_ps};
        return;
    }
    const size_t number = i < links ? i : 0;
    const net_link_ends_t link = net_link_ends(net, number);
    *at = (sim_network_link_t){link.a, link.b, net_link_config(net, number)->delay_ps};
}

// Divides the network among the ranks, when it has all nodes and links.
static void seat(world_t *world)
{
    const sim_ranks_t *const ranks = sim_ranks(world->sim);
    if (ranks == NULL) {
        return;
    }
    const topo_ops_t *const topology = world->scenario->topology;
    const bool joined = world->scenario->scale_up.model == NET_SCALE_UP_PACKETS;
    const size_t joins = joined ? net_node_count(world->net) : 0;
    sim_set_links(world->sim, net_link_count(world->net) + joins, get_link, world->net);
    world->parts =
        world_parts_create(world->net, ranks->count, topology == NULL || topology == &topo_file);
    sim_seat(world->sim, world->parts->rank_of);
    net_let_go(world->net);
}

static topo_plan_t plan_of(world_t *world)
{
    return (topo_plan_t){
        .net = world->net,
        .switch_config = plan_switch,
        .own_switch = plan_own,
        .nic_config = plan_nic,
        .nic_configs_stay = true,
        .link_config = plan_link,
        .read_file = read_file,
        .note = keep_note,
        .fits = fits,
        .ctx = world,
    };
}

// Adds the accelerators of hosts and their switches, if they are to be nodes.
static sim_err_t build_scale_up(world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    if (scenario->scale_up.model != NET_SCALE_UP_PACKETS) {
        return SIM_OK;
    }
    const world_tree_t *const map = world_tree_value(scenario->root, "scale-up");
    const world_place_t place = world_locate(map, "scale-up", "model");
    const char *const refusal = scenario->network.model == NET_MODEL_MESSAGE
                                    ? "network.model: packet"
                                : world__has_programs(scenario) ? "traffic without programs"
                                                                : NULL;
    if (refusal != NULL) {
        return world_fail(error, SIM_ERR_INVALID, &place, "scale-up.model: packets, expected %s",
                          refusal);
    }
    const topo_plan_t plan = plan_of(world);
    sim_message_t message;
    const sim_err_t result = topo_scale_up_build(&plan, &scenario->scale_up, &message);
    return result == SIM_OK ? SIM_OK
                            : world_fail(error, result, &place, "scale-up.%s", message.text);
}

// Builds the nodes and links of the scenario's topology.
static sim_err_t build_topology(world_t *world, sim_message_t *message)
{
    const world_scenario_t *const scenario = world->scenario;
    const topo_plan_t plan = plan_of(world);
    return scenario->topology != NULL
               ? scenario->topology->build(&plan, scenario->topology_config, message)
               : topo_graph_build(scenario->graph.topo, &plan, message);
}

// Fails with the place of what a topology could not build.
static sim_err_t topology_failed(const world_t *world, sim_err_t result,
                                 const sim_message_t *message, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    if (message->placed) {
        return world_fail(error, result, NULL, "%s", message->text);
    }
    if (scenario->topology == &topo_file) {
        const char *const prefix = scenario->topology->attrs->prefix;
        const world_place_t place = world_locate(scenario->topology_map, prefix, message->about);
        return world_fail(error, result, &place, "%s.%s", prefix, message->text);
    }
    const world_place_t place = place_of_lonely_host(scenario);
    return world_fail(error, result, &place, "topology: %s", message->text);
}

// Checks what the scenario says of single links and hosts, and applies its faults.
static sim_err_t check_parts(world_t *world, world_error_t *error)
{
    sim_err_t result = world__variants_check(world->variants, error);
    if (result == SIM_OK) {
        result = world__check_links(world, error);
    }
    if (result == SIM_OK) {
        result = world__check_hosts(world, error);
    }
    return result == SIM_OK ? world__apply_faults(world, error) : result;
}

// Computes routes and finishes the network, whose nodes and links are there.
static sim_err_t finish_network(world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    sim_message_t message;
    const sim_err_t result = net_build(world->net, &message);
    if (result == SIM_OK) {
        return SIM_OK;
    }
    if (result == SIM_ERR_UNKNOWN) {
        const world_place_t place = place_of_name(scenario, message.about);
        return world_fail(error, result, &place, "%s", message.text);
    }
    const bool routes = scenario->topology == &topo_file && strcmp(message.about, "routes") == 0;
    const world_place_t place =
        routes ? world_locate(scenario->topology_map, "topology.file", "routes")
               : place_of_lonely_host(scenario);
    return world_fail(error, result, &place, "topology: %s", message.text);
}

static sim_err_t build_network(world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    sim_err_t result = check_size(world, error);
    if (result != SIM_OK) {
        return result;
    }
    sim_message_t message;
    result = build_topology(world, &message);
    if (result != SIM_OK) {
        return topology_failed(world, result, &message, error);
    }
    result = build_scale_up(world, error);
    if (result == SIM_OK) {
        result = check_parts(world, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    seat(world);
    result = finish_network(world, error);
    if (result != SIM_OK) {
        return result;
    }
    if (scenario->network.model == NET_MODEL_MESSAGE &&
        world_tree_find(scenario->root, "switch") != NULL) {
        keep_note("network.model: message has no switches: the section `switch` has no effect",
                  world);
    }
    world__name_nics(world);
    result = world__check_node_overlays(world, error);
    if (result == SIM_OK) {
        result = world__check_repath(world, error);
    }
    return result == SIM_OK ? world__check_lint(world, error) : result;
}

sim_err_t world__create_app(world_t *world, const world_traffic_t *traffic, uint32_t index,
                            bool program, world_error_t *error)
{
    const app_context_t context = {
        .net = world->net,
        .runtime = world->runtime,
        .index = index,
        .memory_max_bytes = world->scenario->run.memory_max_bytes,
        .program = program,
        .hosts = world__find_hosts,
        .read_file = read_file,
        .note = keep_note,
        .ctx = world,
        .mooncake_codec = &world_mooncake_codec,
        .read_kv_plan = world_kv_plan_read,
        .programs = world->scenario->programs,
        .programs_config = &world->scenario->programs_config,
        .skips = program || world->skips.exact == false ? NULL : &world->skips,
    };
    app_t *app = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t result = traffic->ops->create(&context, traffic->config, &app, &message);
    if (result == SIM_OK && (app == NULL || app->ops == NULL || app->net != context.net)) {
        sim_give_up("plug-in %s: the operation create of '%s' made no app_t with ops and net",
                    world_registry_plugin_of(world->scenario->registry, traffic->ops),
                    traffic->ops->name);
    }
    if (result != SIM_OK && message.placed) {
        return world_fail(error, result, NULL, "%s", message.text);
    }
    if (result != SIM_OK) {
        world_place_t place = traffic->place;
        if (!traffic->map->is_null) {
            const world_place_t at =
                world_locate(traffic->map, traffic->ops->attrs->prefix, message.about);
            place = at.line == traffic->map->place.line && at.column == traffic->map->place.column
                        ? place
                        : at;
        }
        return world_fail(error, result, &place, "traffic.%s: %s", traffic->ops->name,
                          message.text);
    }
    SIM_APPEND(world->apps, world->app_count, world->app_capacity, app);
    return SIM_OK;
}

// Refuses applications whose operations no NIC's transport has.
static sim_err_t check_operations(const world_t *world, world_error_t *error)
{
    const char *name = NULL;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        if (net_kind_of(world->net, i) == NET_NODE_HOST) {
            const char *const host = net_node_name(world->net, i);
            const nic_config_t *const config = world__variants_nic(world->variants, host);
            name = nic_transport_refuses(config, NIC_WR_RDMA_READ);
            if (name == NULL) {
                return SIM_OK;
            }
        }
    }
    const world_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; name != NULL && i < scenario->traffic_count; i++) {
        const world_traffic_t *const traffic = &scenario->traffic[i];
        if (traffic->ops->posts != NULL) {
            return world_fail(error, SIM_ERR_INVALID, &traffic->place,
                              "traffic.%s: it posts %s, and nic.transport %s has WRITE alone, "
                              "expected another transport, or nic.%s.operations: all",
                              traffic->ops->name, traffic->ops->posts, name, name);
        }
    }
    return SIM_OK;
}

static sim_err_t create_apps(world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    sim_err_t result = SIM_OK;
    world__skips_begin(world);
    world->runtime = app_runtime_create(world->net);
    if (scenario->programs != NULL && scenario->programs->anywhere) {
        app_programs_open(world->runtime, world->net, &scenario->programs_config);
    }
    for (size_t i = 0; i < scenario->traffic_count && result == SIM_OK; i++) {
        result = world__create_app(world, &scenario->traffic[i], (uint32_t)i, false, error);
    }
    if (world->skips.exact && !world->skips.taken) {
        app_skips_refuse(&world->skips, "no collectives");
    } else if (world->skips.exact && world->skips.barred != NULL) {
        app_skips_refuse(&world->skips, world->skips.barred);
    }
    if (sim_options(world->sim)->splits) {
        world->periods = app_periods_create(world->net, &world->skips);
    }
    if (result == SIM_OK && sim_options(world->sim)->splits && world__skips_rails(scenario)) {
        world->rails = nic_rails_create(world->net);
    }
    return result;
}

sim_err_t world_create(const world_scenario_t *scenario, world_build_t build, world_t **world,
                       world_error_t *error)
{
    return world_create_part(scenario, build, NULL, world, error);
}

sim_err_t world_create_part(const world_scenario_t *scenario, world_build_t build,
                            const sim_ranks_t *ranks, world_t **world, world_error_t *error)
{
    world_t *const made = sim_alloc(sizeof(*made));
    made->scenario = scenario;
    made->variants = world__variants_create(scenario);
    bool steps = scenario->steps;
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        steps = steps || scenario->traffic[i].ops->by_steps;
    }
    const sim_options_t options = {
        .seed = scenario->run.seed,
        .tie_seed = scenario->run.tie_seed,
        .fifo_ties = scenario->run.ties == WORLD_TIES_INSERTION,
        .rotor_ties = scenario->run.ties == WORLD_TIES_ROTOR,
        .threads = steps ? 1 : (unsigned)scenario->run.threads,
        .steps = steps,
        .splits = ranks == NULL && world__skips_periods(scenario),
        .until_ps = scenario->run.until_ps,
        .stall_ps = scenario->run.stall_ps,
    };
    made->sim = sim_create(&options);
    made->net = net_create(made->sim, &scenario->network);
    if (ranks != NULL) {
        made->skips.barred = "ranks";
        sim_use_ranks(made->sim, ranks);
    }
    compat_hpcc_register(made->net, &scenario->hpcc);
    world__registry_use(scenario->registry, scenario, made->net);
    sim_err_t result = build_network(made, error);
    if (result == SIM_OK && build != WORLD_BUILD_NETWORK) {
        result = world__check_messages(made, error);
        if (result == SIM_OK) {
            result = world__check_series(made, error);
        }
        if (result == SIM_OK) {
            result = world__check_captures(made, error);
        }
        if (result == SIM_OK) {
            result = check_operations(made, error);
        }
        if (result == SIM_OK) {
            result = create_apps(made, error);
        }
        if (result == SIM_OK && build == WORLD_BUILD_ALL) {
            made->survey = world_survey_create(made);
            world__observed_estimate(made, &made->survey->observed);
        }
    }
    if (result != SIM_OK) {
        if (made->file_count > 0) {
            const char *const name = made->files[made->file_count - 1];
            char *const path = world_input_path(scenario->file_name, scenario->run.folder, name);
            world_error_about(error, name, path);
            sim_free(path);
        }
        world_destroy(made);
        return result;
    }
    *world = made;
    return SIM_OK;
}

void world_add_servers(world_t *world)
{
    app_t *app = NULL;
    while (world->runtime != NULL && (app = app_programs_next_server(world->runtime)) != NULL) {
        SIM_APPEND(world->apps, world->app_count, world->app_capacity, app);
    }
}

void world_destroy(world_t *world)
{
    if (world == NULL) {
        return;
    }
    world_survey_destroy(world->survey);
    app_periods_destroy(world->periods);
    nic_rails_destroy(world->rails);
    for (size_t i = 0; i < world->app_count; i++) {
        world->apps[i]->ops->destroy(world->apps[i]);
    }
    sim_free(world->apps);
    if (world->runtime != NULL) {
        app_runtime_destroy(world->runtime);
    }
    for (size_t i = 0; i < world->nic_count; i++) {
        if (world->nics[i].name != net_node_name(world->net, world->nics[i].host)) {
            sim_free((char *)(uintptr_t)world->nics[i].name);
        }
    }
    sim_free(world->nics);
    sim_free_each(world->files, world->file_count);
    sim_free(world->files);
    sim_free_each(world->notes, world->note_count);
    sim_free(world->notes);
    world__stuck_free(world->stuck);
    world_parts_destroy(world->parts);
    world__variants_destroy(world->variants);
    sim_destroy(world->sim);
    net_destroy(world->net);
    sim_free(world);
}
