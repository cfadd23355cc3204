// SPDX-License-Identifier: Apache-2.0
// cli/world.c - builds what a scenario describes.
#include "cli/world.h"

#include "pcap-out/pcap_file.h"
#include "topologies/topology_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEMS_MAX 32u
#define INPUT_FILE_BYTES_MAX ((size_t)256 << 20)

// -- what builders ask for

static const net_switch_config_t *plan_switch(const char *name, void *ctx)
{
    const cli_world_t *const world = ctx;
    return cli__variants_switch(world->variants, name);
}

static const nic_config_t *plan_nic(const char *name, void *ctx)
{
    const cli_world_t *const world = ctx;
    return cli__variants_nic(world->variants, name);
}

static void apply_link_map(const cli_tree_t *map, net_link_config_t *config)
{
    static const char *const others[] = {"down", NULL};
    const cli_targets_t targets = cli_targets_one(&net_link_config_attrs, config);
    cli_error_t error;
    const sim_err_t result = cli_bind(map, "link", &targets, others, &error);
    SIM_CHECKF(result == SIM_OK, "%s", error.text);
}

// The builder's choice, then the scenario's word on all links, then on these.
static void plan_link(const char *a, const char *b, net_link_config_t *config, void *ctx)
{
    const cli_world_t *const world = ctx;
    const cli_scenario_t *const scenario = world->scenario;
    if (scenario->topology != NULL && scenario->link_map != NULL) {
        apply_link_map(scenario->link_map, config);
    }
    for (size_t i = 0; i < scenario->link_count; i++) {
        if (cli_link_match(&scenario->links[i].names, a, b)) {
            apply_link_map(scenario->links[i].map, config);
        }
    }
}

// -- what applications ask for

static void add_interfaces(const cli_world_t *world, const char *pattern, bool *chosen)
{
    for (size_t i = 0; i < world->nic_count; i++) {
        const cli_nic_t *const nic = &world->nics[i];
        if (cli_pattern_match(pattern, nic->host->sim.name) ||
            cli_pattern_match(pattern, nic->name)) {
            chosen[i] = true;
        }
    }
}

static sim_err_t no_such_host(const cli_world_t *world, const char *pattern, sim_message_t *message)
{
    cli_error_t error;
    cli_shown_t shown;
    cli_fail(&error, SIM_ERR_UNKNOWN, NULL, "'%s' matches no host", cli_show(&shown, pattern));
    cli_add_nearest_node(&error, world->net, pattern, NET_NODE_HOST);
    return sim_fail(message, SIM_ERR_UNKNOWN, "%.500s", error.text);
}

static sim_err_t app_find_hosts(const char *pattern,
                                app_hosts_t *hosts,
                                sim_message_t *message,
                                void *ctx)
{
    const cli_world_t *const world = ctx;
    cli_pattern_list_t list;
    sim_err_t result = cli_pattern_list_parse(pattern, &list, message);
    if (result != SIM_OK) {
        return result;
    }
    bool *const chosen = sim_alloc_array(world->nic_count + 1, sizeof(bool));
    size_t before = 0;
    for (size_t i = 0; i < list.count && result == SIM_OK; i++) {
        size_t count = 0;
        add_interfaces(world, list.patterns[i], chosen);
        for (size_t n = 0; n < world->nic_count; n++) {
            count += chosen[n];
        }
        if (count == before) {
            // It may have named hosts that others name too.
            bool *const alone = sim_alloc_array(world->nic_count + 1, sizeof(bool));
            add_interfaces(world, list.patterns[i], alone);
            if (memchr(alone, 1, world->nic_count) == NULL) {
                result = no_such_host(world, list.patterns[i], message);
            }
            sim_free(alone);
        }
        before = count;
    }
    cli_pattern_list_fini(&list);
    if (result == SIM_OK) {
        hosts->count = 0;
        hosts->interfaces = sim_alloc_array(before + 1, sizeof(*hosts->interfaces));
        for (size_t n = 0; n < world->nic_count; n++) {
            if (chosen[n]) {
                hosts->interfaces[hosts->count++] = (uint32_t)n;
            }
        }
    }
    sim_free(chosen);
    return result;
}

char *cli_scenario_folder(const cli_scenario_t *scenario)
{
    const char *const slash = strrchr(scenario->file_name, '/');
    char *const own =
        slash == NULL
            ? sim_strdup(".")
            : sim_format("%.*s", (int)(slash - scenario->file_name) + 1, scenario->file_name);
    char *folder = NULL;
    if (scenario->run.folder[0] == '/') {
        folder = sim_strdup(scenario->run.folder);
    } else if (scenario->run.folder[0] != '\0') {
        folder = sim_format("%s/%s", own, scenario->run.folder);
    } else {
        folder = sim_strdup(own);
    }
    sim_free(own);
    char *const absolute = realpath(folder, NULL);
    if (absolute != NULL) {
        sim_free(folder);
        folder = sim_strdup(absolute);
        free(absolute);
    }
    return folder;
}

static sim_err_t read_file(const char *name,
                           char **text,
                           size_t *size,
                           sim_message_t *message,
                           void *ctx)
{
    cli_world_t *const world = ctx;
    char *path = NULL;
    if (name[0] == '/') {
        path = sim_strdup(name);
    } else {
        char *const folder = cli_scenario_folder(world->scenario);
        path = sim_format("%s/%s", folder, name);
        sim_free(folder);
    }
    cli_error_t error;
    const sim_err_t result = cli_read_file(path, INPUT_FILE_BYTES_MAX, text, size, &error);
    sim_free(path);
    SIM_GROW(world->files, world->file_count, &world->file_capacity);
    world->files[world->file_count++] = sim_strdup(name);
    return result == SIM_OK
               ? SIM_OK
               : sim_fail(message, result, "%.440s, expected a file that can be read", error.text);
}

static void keep_note(const char *text, void *ctx)
{
    cli_world_t *const world = ctx;
    SIM_GROW(world->notes, world->note_count, &world->note_capacity);
    world->notes[world->note_count++] = sim_strdup(text);
}

void cli_world_print_notes(const cli_world_t *world, FILE *out)
{
    for (size_t i = 0; i < world->note_count; i++) {
        fprintf(out, "note: %s\n", world->notes[i]);
    }
}

// Whether a message begins with "NAME:LINE:" of a file that was read: it says itself where.
static bool names_file(const cli_world_t *world, const char *text)
{
    for (size_t i = 0; i < world->file_count; i++) {
        const size_t size = strlen(world->files[i]);
        const char *const after = text + size;
        if (strncmp(text, world->files[i], size) == 0 && after[0] == ':') {
            const size_t digits = strspn(after + 1, "0123456789");
            if (digits > 0 && after[1 + digits] == ':') {
                return true;
            }
        }
    }
    return false;
}

// -- names

// What patterns look like: "host*" for host0, host1... Returns the count, at most stems_max.
static size_t collect_stems(const net_t *net, int kind, char **stems, size_t stems_max)
{
    size_t count = 0;
    for (size_t i = 0; i < net_node_count(net) && count < stems_max; i++) {
        const net_node_t *const node = net_node_at(net, i);
        const char *const name = node->sim.name;
        size_t size = strlen(name);
        while (size > 0 && name[size - 1] >= '0' && name[size - 1] <= '9') {
            size--;
        }
        if ((kind >= 0 && (int)node->kind != kind) || size == strlen(name)) {
            continue;
        }
        size_t s = 0;
        while (s < count && (strncmp(stems[s], name, size) != 0 || strlen(stems[s]) != size + 1)) {
            s++;
        }
        if (s == count) {
            stems[count++] = sim_format("%.*s*", (int)size, name);
        }
    }
    return count;
}

void cli_add_nearest_node(cli_error_t *error, const net_t *net, const char *pattern, int kind)
{
    char *stems[STEMS_MAX];
    const size_t stem_count = collect_stems(net, kind, stems, STEMS_MAX);
    const size_t count = net_node_count(net);
    const char **const names = sim_alloc_array(count + stem_count + 1, sizeof(*names));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const net_node_t *const node = net_node_at(net, i);
        if (kind < 0 || (int)node->kind == kind) {
            names[used++] = node->sim.name;
        }
    }
    const size_t node_count = used;
    // A bracket means any number, as far as spelling goes.
    char *const spelling = sim_strdup(pattern);
    char *const bracket = strchr(spelling, '[');
    if (bracket != NULL) {
        memcpy(bracket, "*", 2);
    }
    if (!cli_pattern_is_literal(pattern)) {
        memcpy(names + used, stems, stem_count * sizeof(*names));
        used += stem_count;
    }
    if (!cli_error_add_nearest(error, spelling, names, used) && node_count > 0) {
        cli_error_add(error, ", expected a name such as %s", names[0]);
        if (node_count > 1) {
            cli_error_add(error, " or %s", names[node_count - 1]);
        }
    }
    for (size_t i = 0; i < stem_count; i++) {
        sim_free(stems[i]);
    }
    sim_free(spelling);
    sim_free(names);
}

const char *cli_interface_name(const cli_world_t *world, uint32_t interface)
{
    SIM_CHECK(interface < world->nic_count);
    return world->nics[interface].name;
}

static void name_nics(cli_world_t *world)
{
    world->nic_count = net_interface_count(world->net);
    world->nics = sim_alloc_array(world->nic_count + 1, sizeof(*world->nics));
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const host = net_node_at(world->net, i);
        if (host->kind != NET_NODE_HOST) {
            continue;
        }
        const uint32_t count = nic_count(host);
        for (uint32_t n = 0; n < count; n++) {
            nic_t *const nic = nic_at(host, n);
            char *const name =
                count == 1 ? sim_strdup(host->sim.name) : sim_format("%s/nic%u", host->sim.name, n);
            world->nics[nic_interface(nic)] = (cli_nic_t){nic, host, name};
        }
    }
}

// The name of the NIC whose port it is; NULL: it is no host's.
static const char *nic_name(const cli_world_t *world, const net_port_t *port)
{
    const uint32_t interface = net_port_interface(port);
    return interface < world->nic_count ? world->nics[interface].name : NULL;
}

// By the names of nodes, or of NICs at either end: host2/nic0->*, leaf0->host2/nic0.
static bool is_meant(const cli_world_t *world, const cli_pair_t *pair, const net_port_t *port)
{
    const char *const node = port->node->sim.name;
    const char *const name = net_port_name(port);
    const char *const from = nic_name(world, port);
    const char *const to = nic_name(world, port->peer);
    if (cli_port_match(pair, node, name) || (from != NULL && cli_port_match(pair, from, name))) {
        return true;
    }
    return to != NULL && cli_pattern_match(pair->right, to) &&
           (cli_pattern_match(pair->left, node) ||
            (from != NULL && cli_pattern_match(pair->left, from)));
}

sim_err_t cli_find_ports(const cli_world_t *world,
                         const cli_pair_t *pair,
                         const char *pattern,
                         const cli_place_t *place,
                         net_port_t ***ports,
                         size_t *count,
                         cli_error_t *error)
{
    net_port_t **found = NULL;
    size_t found_count = 0;
    size_t capacity = 0;
    bool left_found = false;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        left_found = left_found || cli_pattern_match(pair->left, node->sim.name);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const char *const nic = nic_name(world, &node->ports[p]);
            left_found = left_found || (nic != NULL && cli_pattern_match(pair->left, nic));
            if (is_meant(world, pair, &node->ports[p])) {
                SIM_GROW(found, found_count, &capacity);
                found[found_count++] = &node->ports[p];
            }
        }
    }
    *ports = found;
    *count = found_count;
    if (found_count > 0) {
        return SIM_OK;
    }
    cli_shown_t shown;
    cli_fail(error, SIM_ERR_UNKNOWN, place, "'%s' matches no port", cli_show(&shown, pattern));
    if (!left_found) {
        cli_error_add(error, ": no node '%s'", cli_show(&shown, pair->left));
        cli_add_nearest_node(error, world->net, pair->left, -1);
        return SIM_ERR_UNKNOWN;
    }
    bool right_found = false;
    for (size_t i = 0; i < net_node_count(world->net) && !right_found; i++) {
        right_found = cli_pattern_match(pair->right, net_node_at(world->net, i)->sim.name);
    }
    if (right_found) {
        cli_error_add(error, ": there is no link between them, expected neighbours");
    } else {
        cli_error_add(error, ": no node '%s'", cli_show(&shown, pair->right));
        cli_add_nearest_node(error, world->net, pair->right, -1);
    }
    return SIM_ERR_UNKNOWN;
}

// -- checks of what was built

static sim_err_t check_node_overlays(const cli_world_t *world, cli_error_t *error)
{
    const cli_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; i < scenario->node_count; i++) {
        const cli_node_overlay_t *const overlay = &scenario->nodes[i];
        bool switches = false;
        bool hosts = false;
        for (size_t n = 0; n < net_node_count(world->net); n++) {
            const net_node_t *const node = net_node_at(world->net, n);
            if (cli_pattern_match(overlay->pattern, node->sim.name)) {
                switches = switches || node->kind == NET_NODE_SWITCH;
                hosts = hosts || node->kind == NET_NODE_HOST;
            }
        }
        const bool any = switches || hosts;
        const bool wants_switch = overlay->switch_map != NULL && !switches;
        const bool wants_host = overlay->nic_map != NULL && !hosts;
        if (any && !wants_switch && !wants_host) {
            continue;
        }
        const char *const what = !any ? "node" : wants_switch ? "switch" : "host";
        const int kind = !any ? -1 : wants_switch ? NET_NODE_SWITCH : NET_NODE_HOST;
        cli_shown_t shown;
        cli_fail(error,
                 SIM_ERR_UNKNOWN,
                 &overlay->place,
                 "'%s' matches no %s",
                 cli_show(&shown, overlay->pattern),
                 what);
        cli_add_nearest_node(error, world->net, overlay->pattern, kind);
        return SIM_ERR_UNKNOWN;
    }
    return SIM_OK;
}

// Before net_build: link ends are known, ports not yet.
static sim_err_t apply_link_downs(const cli_world_t *world, cli_error_t *error)
{
    const cli_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; i < scenario->link_count; i++) {
        const cli_link_overlay_t *const overlay = &scenario->links[i];
        bool any = false;
        for (size_t l = 0; l < net_link_count(world->net); l++) {
            const net_link_t *const link = net_link_at(world->net, l);
            if (!cli_link_match(&overlay->names, link->a->sim.name, link->b->sim.name)) {
                continue;
            }
            any = true;
            for (size_t d = 0; d < overlay->down_count; d++) {
                const cli_down_config_t *const down = &overlay->downs[d].config;
                net_link_change_at(world->net, (uint32_t)l, down->at_ps, false);
                if (down->until_ps != SIM_TIME_NEVER) {
                    net_link_change_at(world->net, (uint32_t)l, down->until_ps, true);
                }
            }
        }
        if (!any) {
            cli_shown_t shown;
            cli_fail(error,
                     SIM_ERR_UNKNOWN,
                     &overlay->place,
                     "'%s' matches no link",
                     cli_show(&shown, overlay->pattern));
            cli_add_nearest_node(error, world->net, overlay->names.left, -1);
            return SIM_ERR_UNKNOWN;
        }
    }
    return SIM_OK;
}

typedef struct finding {
    cli_error_t *error;
    cli_place_t place;
    sim_err_t result;
} finding_t;

static void keep_finding(topo_severity_t severity, const char *text, void *ctx)
{
    finding_t *const finding = ctx;
    if (severity == TOPO_ERROR && finding->result == SIM_OK) {
        finding->result = cli_fail(finding->error,
                                   SIM_ERR_RANGE,
                                   &finding->place,
                                   "%s, expected a larger switch.buffer (of 64GB at most) or "
                                   "switch.pfc.enabled: false",
                                   text);
    }
}

// A lossless class that may drop is no lossless class.
static sim_err_t check_lint(const cli_world_t *world, cli_error_t *error)
{
    const cli_tree_t *const root = world->scenario->root;
    finding_t finding = {error, cli_locate(root, "", "switch.buffer"), SIM_OK};
    if (cli_tree_find(root, "switch") == NULL) {
        finding.place = world->scenario->topology_place;
    }
    topo_lint(world->net, keep_finding, &finding);
    return finding.result;
}

static sim_err_t check_captures(const cli_world_t *world, cli_error_t *error)
{
    for (size_t i = 0; i < world->scenario->capture_count; i++) {
        const cli_capture_t *const capture = &world->scenario->captures[i];
        net_port_t **ports = NULL;
        size_t count = 0;
        sim_err_t result = cli_find_ports(world,
                                          &capture->ports,
                                          capture->config.ports,
                                          &capture->place,
                                          &ports,
                                          &count,
                                          error);
        sim_free(ports);
        if (result != SIM_OK) {
            return result;
        }
        sim_message_t message;
        result = pcap_out_filter_check(capture->config.filter, &message);
        if (result != SIM_OK) {
            return cli_fail(error,
                            result,
                            &capture->filter_place,
                            "captures.filter: %s, expected a pcap filter such as 'udp port 4791'",
                            message.text);
        }
    }
    return SIM_OK;
}

static sim_err_t check_series_nodes(const cli_world_t *world,
                                    const cli_place_t *place,
                                    const char *pattern,
                                    net_node_kind_t kind,
                                    cli_error_t *error)
{
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        if (node->kind == kind && cli_pattern_match(pattern, node->sim.name)) {
            return SIM_OK;
        }
    }
    for (size_t i = 0; kind == NET_NODE_HOST && i < world->nic_count; i++) {
        if (cli_pattern_match(pattern, world->nics[i].name)) {
            return SIM_OK;
        }
    }
    cli_shown_t shown;
    cli_fail(error,
             SIM_ERR_UNKNOWN,
             place,
             "'%s' matches no %s",
             cli_show(&shown, pattern),
             kind == NET_NODE_HOST ? "host" : "switch");
    cli_add_nearest_node(error, world->net, pattern, (int)kind);
    return SIM_ERR_UNKNOWN;
}

static sim_err_t check_one_series(const cli_world_t *world,
                                  const cli_series_t *series,
                                  cli_error_t *error)
{
    if (series->kind == CLI_SERIES_PORT) {
        net_port_t **ports = NULL;
        size_t count = 0;
        const sim_err_t result = cli_find_ports(world,
                                                &series->ports,
                                                series->config.series,
                                                &series->place,
                                                &ports,
                                                &count,
                                                error);
        sim_free(ports);
        return result;
    }
    const net_node_kind_t kind =
        series->kind == CLI_SERIES_SWITCH ? NET_NODE_SWITCH : NET_NODE_HOST;
    const sim_err_t result = check_series_nodes(world, &series->place, series->nodes, kind, error);
    return result != SIM_OK || series->peers == NULL
               ? result
               : check_series_nodes(world, &series->place, series->peers, kind, error);
}

static sim_err_t check_series(const cli_world_t *world, cli_error_t *error)
{
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < world->scenario->series_count && result == SIM_OK; i++) {
        result = check_one_series(world, &world->scenario->series[i], error);
    }
    return result;
}

// -- building

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Where the scenario's graph names a host that no link joins; else the topology.
static cli_place_t place_of_lonely_host(const cli_scenario_t *scenario)
{
    const cli_graph_t *const graph = &scenario->graph;
    const char **const ends = sim_alloc_array(2 * graph->link_count + 1, sizeof(*ends));
    for (size_t i = 0; i < graph->link_count; i++) {
        ends[2 * i] = graph->links[i].a;
        ends[2 * i + 1] = graph->links[i].b;
    }
    qsort(ends, 2 * graph->link_count, sizeof(*ends), compare_texts);
    cli_place_t place = scenario->topology_place;
    for (size_t i = 0; i < graph->node_count; i++) {
        const cli_graph_node_t *const node = &graph->nodes[i];
        if (node->kind == NET_NODE_HOST &&
            bsearch(&node->name, ends, 2 * graph->link_count, sizeof(*ends), compare_texts) ==
                NULL) {
            place = node->place;
            break;
        }
    }
    sim_free(ends);
    return place;
}

static sim_err_t build_network(cli_world_t *world, cli_error_t *error)
{
    const cli_scenario_t *const scenario = world->scenario;
    const topo_plan_t plan = {
        .net = world->net,
        .switch_config = plan_switch,
        .nic_config = plan_nic,
        .link_config = plan_link,
        .read_file = read_file,
        .note = keep_note,
        .ctx = world,
    };
    sim_message_t message;
    sim_err_t result = scenario->topology != NULL
                           ? scenario->topology->build(&plan, scenario->topology_config, &message)
                           : topo_graph_build(scenario->graph.topo, &plan, &message);
    if (result == SIM_OK) {
        result = cli__variants_check(world->variants, error);
        if (result == SIM_OK) {
            result = apply_link_downs(world, error);
        }
        if (result != SIM_OK) {
            return result;
        }
        result = net_build(world->net, &message);
        if (result != SIM_OK) {
            const bool routes =
                scenario->topology == &topo_file && strncmp(message.text, "routes ", 7) == 0;
            const cli_place_t place =
                routes ? cli_locate(scenario->topology_map, "topology.file", "routes")
                       : place_of_lonely_host(scenario);
            return cli_fail(error, result, &place, "topology: %s", message.text);
        }
    }
    if (result != SIM_OK && names_file(world, message.text)) {
        return cli_fail(error, result, NULL, "%s", message.text);
    }
    if (result != SIM_OK && scenario->topology == &topo_file) {
        const char *const prefix = scenario->topology->attrs->prefix;
        const cli_place_t place = cli_locate(scenario->topology_map, prefix, message.text);
        return cli_fail(error, result, &place, "%s.%s", prefix, message.text);
    }
    if (result != SIM_OK) {
        const cli_place_t place = place_of_lonely_host(scenario);
        const bool says = strstr(message.text, "expected") != NULL;
        return cli_fail(error,
                        result,
                        &place,
                        "topology: %s%s",
                        message.text,
                        says ? "" : ", expected hosts that are joined by links");
    }
    name_nics(world);
    result = check_node_overlays(world, error);
    return result == SIM_OK ? check_lint(world, error) : result;
}

static sim_err_t create_apps(cli_world_t *world, cli_error_t *error)
{
    const cli_scenario_t *const scenario = world->scenario;
    world->runtime = app_runtime_create(world->net);
    world->apps = sim_alloc_array(scenario->traffic_count + 1, sizeof(*world->apps));
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        const cli_traffic_t *const traffic = &scenario->traffic[i];
        const app_context_t context = {
            .net = world->net,
            .runtime = world->runtime,
            .index = (uint32_t)i,
            .hosts = app_find_hosts,
            .read_file = read_file,
            .note = keep_note,
            .ctx = world,
        };
        sim_message_t message;
        const sim_err_t result =
            traffic->ops->create(&context, traffic->config, &world->apps[i], &message);
        if (result != SIM_OK && names_file(world, message.text)) {
            return cli_fail(error, result, NULL, "%s", message.text);
        }
        if (result != SIM_OK) {
            cli_place_t place = traffic->place;
            if (!traffic->map->is_null) {
                const cli_place_t at =
                    cli_locate(traffic->map, traffic->ops->attrs->prefix, message.text);
                place =
                    at.line == traffic->map->place.line && at.column == traffic->map->place.column
                        ? place
                        : at;
            }
            return cli_fail(error,
                            result,
                            &place,
                            "traffic.%s: %s",
                            traffic->ops->name,
                            message.text);
        }
        world->app_count++;
    }
    return SIM_OK;
}

sim_err_t cli_world_create(const cli_scenario_t *scenario,
                           cli_build_t build,
                           cli_world_t **world,
                           cli_error_t *error)
{
    cli_world_t *const made = sim_alloc(sizeof(*made));
    made->scenario = scenario;
    made->variants = cli__variants_create(scenario);
    const sim_options_t options = {
        .seed = scenario->run.seed,
        .tie_seed = scenario->run.tie_seed,
        .fifo_ties = scenario->run.ties != CLI_TIES_HASH,
        .one_list = scenario->run.ties == CLI_TIES_LIST,
        .threads = (unsigned)scenario->run.threads,
        .until_ps = scenario->run.until_ps,
        .stall_ps = scenario->run.stall_ps,
    };
    made->sim = sim_create(&options);
    made->net = net_create(made->sim, &scenario->network);
    sim_err_t result = build_network(made, error);
    if (result == SIM_OK && build == CLI_BUILD_ALL) {
        result = check_series(made, error);
        if (result == SIM_OK) {
            result = check_captures(made, error);
        }
        if (result == SIM_OK) {
            result = create_apps(made, error);
        }
    }
    if (result != SIM_OK) {
        cli_world_destroy(made);
        return result;
    }
    *world = made;
    return SIM_OK;
}

void cli_world_destroy(cli_world_t *world)
{
    if (world == NULL) {
        return;
    }
    for (size_t i = 0; i < world->app_count; i++) {
        world->apps[i]->ops->destroy(world->apps[i]);
    }
    sim_free(world->apps);
    if (world->runtime != NULL) {
        app_runtime_destroy(world->runtime);
    }
    for (size_t i = 0; i < world->nic_count; i++) {
        sim_free(world->nics[i].name);
    }
    sim_free(world->nics);
    for (size_t i = 0; i < world->file_count; i++) {
        sim_free(world->files[i]);
    }
    sim_free(world->files);
    for (size_t i = 0; i < world->note_count; i++) {
        sim_free(world->notes[i]);
    }
    sim_free(world->notes);
    cli__variants_destroy(world->variants);
    sim_destroy(world->sim);
    net_destroy(world->net);
    sim_free(world);
}
