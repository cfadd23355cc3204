// SPDX-License-Identifier: Apache-2.0
// cli/headroom/command.c - `rocesim headroom`: the kinds of ports, what each needs, what it has.
#include "cli/headroom/headroom.h"
#include "cli/headroom/probe.h"

#include "cli/command.h"
#include "cli/output.h"
#include "kernel/parse.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "net/switch.h"
#include "world/format.h"
#include "world/world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAMED_MAX 20u // unsafe ports that are named
#define LEAST_FRAME_BYTES 62u
#define PS_PER_METRE 5000u

// Ports whose lossless classes need and have the same.
typedef struct kind {
    cli_port_needs_t needs;
    double length_m;
    uint64_t given_bytes; // headroom of the configuration
    uint64_t reserve_bytes;
    size_t count;         // of ports
    uint64_t least_bytes; // headroom that suffices for frames of any size
    uint64_t vendor_bytes;
    uint32_t odd_frame; // size of equal frames that need the most
    cli_probed_t full;  // measured with frames of the MTU
    cli_probed_t odd;   // measured with frames of odd_frame
} kind_t;

typedef struct unsafe {
    const char *port;
    size_t kind;
} unsafe_t;

typedef struct headroom {
    const cli_args_t *args;
    sim_time_t response_ps; // SIM_AUTO: that of the switch
    double length_m;        // below 0: that of the link
    uint64_t mtu_bytes;     // 0: that of the NICs
    uint64_t burst_bytes;
    kind_t *kinds;
    size_t kind_count;
    size_t kind_capacity;
    unsafe_t *unsafes;
    size_t unsafe_count;
    size_t unsafe_capacity;
} headroom_t;

// -- options

static sim_err_t bad_option(const char *option, const char *value, const char *expected,
                            world_error_t *error)
{
    world_shown_t shown;
    return world_fail(error, SIM_ERR_INVALID, NULL, "rocesim headroom: %s is '%s', expected %s",
                      option, world_show(&shown, value), expected);
}

static sim_err_t take_options(headroom_t *headroom, world_error_t *error)
{
    const cli_args_t *const args = headroom->args;
    sim_message_t message;
    headroom->response_ps = SIM_AUTO;
    headroom->length_m = -1;
    if (args->response != NULL &&
        (sim_parse_time(args->response, &headroom->response_ps, &message) != SIM_OK ||
         headroom->response_ps > SIM_PS_PER_MS)) {
        return bad_option("--response", args->response, "a time up to 1 ms: 4us", error);
    }
    if (args->length != NULL) {
        char *end = NULL;
        headroom->length_m = strtod(args->length, &end);
        if (end == args->length || (strcmp(end, "m") != 0 && *end != '\0') ||
            !(headroom->length_m >= 0 && headroom->length_m <= 1e6)) {
            return bad_option("--length", args->length, "metres: 300m", error);
        }
    }
    if (args->mtu != NULL &&
        (sim_parse_bytes(args->mtu, &headroom->mtu_bytes, &message) != SIM_OK ||
         headroom->mtu_bytes < 256 || headroom->mtu_bytes > 4096 ||
         (headroom->mtu_bytes & (headroom->mtu_bytes - 1)) != 0)) {
        return bad_option("--mtu", args->mtu, "256, 512, 1024, 2048 or 4096", error);
    }
    if (args->burst != NULL &&
        (sim_parse_bytes(args->burst, &headroom->burst_bytes, &message) != SIM_OK ||
         headroom->burst_bytes > UINT64_C(1000000000))) {
        return bad_option("--burst", args->burst, "bytes up to 1 GB: 100KB", error);
    }
    return SIM_OK;
}

// -- kinds of ports

static bool is_same(const kind_t *a, const kind_t *b)
{
    return a->needs.rate_bps == b->needs.rate_bps && a->needs.delay_ps == b->needs.delay_ps &&
           a->needs.response_ps == b->needs.response_ps && a->given_bytes == b->given_bytes &&
           a->reserve_bytes == b->reserve_bytes;
}

// Returns the number of the port's kind, which is added if it is new.
static size_t kind_of(headroom_t *headroom, const kind_t *kind)
{
    size_t k = 0;
    while (k < headroom->kind_count && !is_same(&headroom->kinds[k], kind)) {
        k++;
    }
    if (k == headroom->kind_count) {
        SIM_APPEND(headroom->kinds, headroom->kind_count, headroom->kind_capacity, *kind);
    }
    return k;
}

static bool has_lossless_class(const net_switch_config_t *config)
{
    return config->pfc_enabled && config->pfc_priorities != 0;
}

static kind_t port_kind(const headroom_t *headroom, const world_t *world, const net_node_t *node,
                        uint32_t p)
{
    const net_switch_config_t *const config = net_switch_config(node);
    const net_port_t *const port = net_port_at(node, p);
    const uint32_t mtu =
        (uint32_t)(headroom->mtu_bytes != 0 ? headroom->mtu_bytes
                                            : SIM_MIN(world->scenario->nic_config.mtu_bytes, 4096));
    const double length_m =
        headroom->length_m >= 0 ? headroom->length_m : (double)port->line->delay_ps / PS_PER_METRE;
    return (kind_t){
        .needs = {.rate_bps = port->line->rate_bps,
                  .delay_ps = headroom->length_m >= 0 ? (sim_time_t)(length_m * PS_PER_METRE + 0.5)
                                                      : port->line->delay_ps,
                  .response_ps = headroom->response_ps != SIM_AUTO
                                     ? headroom->response_ps
                                     : net_switch_response_ps(node, port->line->rate_bps),
                  .frame_bytes = mtu + CLI_PROBE_HEADER_BYTES,
                  .back_bytes = mtu + CLI_PROBE_HEADER_BYTES},
        .length_m = length_m,
        .given_bytes = net_switch_headroom_limit_bytes(node, p),
        .reserve_bytes = config->pfc_reserved_bytes,
    };
}

// Finds the kinds of all ports with lossless classes, and measures what each kind needs.
static sim_err_t measure(headroom_t *headroom, const world_t *world, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        for (uint32_t p = 0; node->kind == NET_NODE_SWITCH &&
                             has_lossless_class(net_switch_config(node)) && p < node->port_count;
             p++) {
            const kind_t kind = port_kind(headroom, world, node, p);
            const size_t k = kind_of(headroom, &kind);
            headroom->kinds[k].count++;
            SIM_APPEND(headroom->unsafes, headroom->unsafe_count, headroom->unsafe_capacity,
                       (unsafe_t){net_port_name(net_port_at(node, p)), k});
        }
    }
    for (size_t k = 0; k < headroom->kind_count && result == SIM_OK; k++) {
        kind_t *const kind = &headroom->kinds[k];
        cli_port_needs_t odd = kind->needs;
        odd.frame_bytes = cli_headroom_worst_frame(&kind->needs, LEAST_FRAME_BYTES);
        kind->odd_frame = odd.frame_bytes;
        kind->vendor_bytes = cli_headroom_vendor_bytes(&cli_vendor_switch, kind->needs.rate_bps,
                                                       kind->length_m, kind->needs.response_ps);
        result = cli_probe(&kind->needs, headroom->burst_bytes, &kind->full, error);
        if (result == SIM_OK) {
            result = cli_probe(&odd, 0, &kind->odd, error);
        }
        kind->least_bytes = SIM_MAX(cli_headroom_any_bytes(&kind->needs),
                                    SIM_MAX(kind->full.headroom_bytes, kind->odd.headroom_bytes));
    }
    // The list keeps the unsafe ports.
    size_t kept = 0;
    for (size_t i = 0; i < headroom->unsafe_count && result == SIM_OK; i++) {
        const kind_t *const kind = &headroom->kinds[headroom->unsafes[i].kind];
        if (kind->given_bytes < kind->least_bytes) {
            headroom->unsafes[kept++] = headroom->unsafes[i];
        }
    }
    headroom->unsafe_count = kept;
    return result;
}

// -- for people

static void print_kind(const headroom_t *headroom, const kind_t *kind)
{
    world_text_t rate;
    world_text_t delay;
    world_text_t response;
    printf("%zu port%s of %s, %s (%.4g m), response %s, frames of %u bytes\n", kind->count,
           sim_plural(kind->count), world_format_rate(&rate, kind->needs.rate_bps),
           world_format_time(&delay, kind->needs.delay_ps), kind->length_m,
           world_format_time(&response, kind->needs.response_ps), kind->needs.frame_bytes);
    printf("  headroom  %10" PRIu64 " measured with these frames (closed form %" PRIu64 ")\n",
           kind->full.headroom_bytes, cli_headroom_bytes(&kind->needs));
    printf("            %10" PRIu64 " measured with frames of %u bytes, the worst of equal size\n",
           kind->odd.headroom_bytes, kind->odd_frame);
    printf("            %10" PRIu64 " least for frames of any sizes up to the MTU\n",
           kind->least_bytes);
    printf("            %10" PRIu64 " by the vendor's formula\n", kind->vendor_bytes);
    printf("            %10" PRIu64 " configured: %s\n", kind->given_bytes,
           kind->given_bytes >= kind->least_bytes           ? "safe"
           : kind->given_bytes >= kind->full.headroom_bytes ? "unsafe for frames of mixed sizes"
                                                            : "unsafe");
    printf("  reserve   %10" PRIu64 " measured (closed form %" PRIu64 "), %" PRIu64 " configured\n",
           kind->full.reserve_bytes, cli_headroom_reserve_bytes(&kind->needs), kind->reserve_bytes);
    if (headroom->burst_bytes > 0) {
        printf("  XOFF      %10" PRIu64 " measured, so that a burst of %" PRIu64
               " bytes causes no pause\n",
               kind->full.xoff_bytes, headroom->burst_bytes);
    }
}

static void print(const headroom_t *headroom)
{
    if (headroom->kind_count == 0) {
        printf("no switch has a lossless class\n");
    }
    for (size_t k = 0; k < headroom->kind_count; k++) {
        print_kind(headroom, &headroom->kinds[k]);
    }
    if (headroom->unsafe_count > 0) {
        printf("%zu port%s unsafe:\n", headroom->unsafe_count,
               headroom->unsafe_count == 1 ? " is" : "s are");
    } else if (headroom->kind_count > 0) {
        printf("all ports are safe\n");
    }
    for (size_t i = 0; i < headroom->unsafe_count && i < NAMED_MAX; i++) {
        const kind_t *const kind = &headroom->kinds[headroom->unsafes[i].kind];
        printf("  %-32s has %" PRIu64 " bytes for each lossless class, lacks %" PRIu64 "\n",
               headroom->unsafes[i].port, kind->given_bytes, kind->least_bytes - kind->given_bytes);
    }
    if (headroom->unsafe_count > NAMED_MAX) {
        printf("  %zu more ports are unsafe; --json prints all\n",
               headroom->unsafe_count - NAMED_MAX);
    }
}

// -- for programs

static json_t *kind_json(const headroom_t *headroom, const kind_t *kind)
{
    json_t *const json = json_object();
    cli_json_set(json, "ports", kind->count);
    cli_json_set(json, "rate_bps", kind->needs.rate_bps);
    cli_json_set(json, "delay_ps", kind->needs.delay_ps);
    json_object_set_new(json, "length_m", json_real(kind->length_m));
    cli_json_set(json, "response_ps", kind->needs.response_ps);
    cli_json_set(json, "frame_bytes", kind->needs.frame_bytes);
    cli_json_set(json, "headroom_bytes", kind->full.headroom_bytes);
    cli_json_set(json, "headroom_closed_form_bytes", cli_headroom_bytes(&kind->needs));
    cli_json_set(json, "worst_frame_bytes", kind->odd_frame);
    cli_json_set(json, "worst_frame_headroom_bytes", kind->odd.headroom_bytes);
    cli_json_set(json, "least_bytes", kind->least_bytes);
    cli_json_set(json, "vendor_bytes", kind->vendor_bytes);
    cli_json_set(json, "configured_bytes", kind->given_bytes);
    cli_json_set(json, "reserve_bytes", kind->full.reserve_bytes);
    cli_json_set(json, "reserve_closed_form_bytes", cli_headroom_reserve_bytes(&kind->needs));
    cli_json_set(json, "configured_reserve_bytes", kind->reserve_bytes);
    if (headroom->burst_bytes > 0) {
        cli_json_set(json, "xoff_bytes", kind->full.xoff_bytes);
    }
    json_object_set_new(json, "safe", json_boolean(kind->given_bytes >= kind->least_bytes));
    return json;
}

static json_t *to_json(const headroom_t *headroom)
{
    json_t *const kinds = json_array();
    json_t *const unsafes = json_array();
    for (size_t k = 0; k < headroom->kind_count; k++) {
        json_array_append_new(kinds, kind_json(headroom, &headroom->kinds[k]));
    }
    for (size_t i = 0; i < headroom->unsafe_count; i++) {
        const kind_t *const kind = &headroom->kinds[headroom->unsafes[i].kind];
        json_t *const json = json_object();
        json_object_set_new(json, "port", json_string(headroom->unsafes[i].port));
        cli_json_set(json, "kind", headroom->unsafes[i].kind);
        cli_json_set(json, "configured_bytes", kind->given_bytes);
        cli_json_set(json, "lacks_bytes", kind->least_bytes - kind->given_bytes);
        json_array_append_new(unsafes, json);
    }
    return json_pack("{s:o, s:o}", "kinds", kinds, "unsafe", unsafes);
}

// -- profiles of SONiC

static void set_number(json_t *object, const char *name, uint64_t value)
{
    char *const text = sim_format("%" PRIu64, value);
    json_object_set_new(object, name, json_string(text)); // SONiC's numbers are texts
    sim_free(text);
}

// Returns the profile of a kind of ports of a switch.
static json_t *profile_of(const kind_t *kind, const net_switch_config_t *config)
{
    json_t *const profile = json_object();
    const uint64_t reserve = SIM_MAX(kind->reserve_bytes, kind->full.reserve_bytes);
    json_object_set_new(profile, "pool", json_string("ingress_lossless_pool"));
    set_number(profile, "xon", reserve);
    set_number(profile, "xoff", kind->least_bytes);
    set_number(profile, "size", reserve + kind->least_bytes);
    if (config->pfc_threshold_bytes != SIM_AUTO) {
        set_number(profile, "static_th", config->pfc_threshold_bytes);
    } else {
        int exponent = 0;
        for (uint64_t num = config->pfc_alpha.num; num >= 2 * config->pfc_alpha.den; num /= 2) {
            exponent++;
        }
        for (uint64_t num = config->pfc_alpha.num; num < config->pfc_alpha.den && exponent > -20;
             num *= 2) {
            exponent--;
        }
        char *const text = sim_format("%d", exponent);
        json_object_set_new(profile, "dynamic_th", json_string(text));
        sim_free(text);
    }
    set_number(profile, "xon_offset", config->pfc_xon_bytes);
    return profile;
}

// Writes DIR/SWITCH.json with a profile for each kind of ports that the switch has.
static sim_err_t write_profiles(headroom_t *headroom, const world_t *world, const char *folder,
                                world_error_t *error)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(folder), "cannot make the folder: %s",
                          strerror(errno));
    }
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < net_node_count(world->net) && result == SIM_OK; i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        if (node->kind != NET_NODE_SWITCH || !has_lossless_class(net_switch_config(node))) {
            continue;
        }
        json_t *const profiles = json_object();
        for (uint32_t p = 0; p < node->port_count; p++) {
            kind_t kind = port_kind(headroom, world, node, p);
            const size_t k = kind_of(headroom, &kind);
            kind = headroom->kinds[k];
            char *const name = sim_format("pg_lossless_%" PRIu64 "_%.4gm_profile",
                                          kind.needs.rate_bps / 1000000, kind.length_m);
            json_object_set_new(profiles, name, profile_of(&kind, net_switch_config(node)));
            sim_free(name);
        }
        json_t *const json = json_pack("{s:o}", "BUFFER_PROFILE", profiles);
        char *const path = sim_format("%s/%s.json", folder, node->sim.name);
        if (json_dump_file(json, path, JSON_INDENT(4)) != 0) {
            result = world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot be written: %s",
                                strerror(errno));
        }
        sim_free(path);
        json_decref(json);
    }
    return result;
}

int cli_command_headroom(const cli_args_t *args)
{
    world_error_t error;
    headroom_t headroom = {.args = args};
    world_scenario_t *scenario = NULL;
    world_t *world = NULL;
    int status = CLI_EXIT_DONE;
    sim_err_t result = take_options(&headroom, &error);
    if (result == SIM_OK) {
        result = world_scenario_load(NULL, args->operands[0], args->overrides, args->override_count,
                                     &scenario, &error);
    }
    if (result == SIM_OK) {
        result = world_create(scenario, WORLD_BUILD_NETWORK, &world, &error);
    }
    if (result == SIM_OK) {
        result = measure(&headroom, world, &error);
    }
    if (result == SIM_OK && args->folder != NULL) {
        result = write_profiles(&headroom, world, args->folder, &error);
    }
    if (result != SIM_OK) {
        status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    } else if (args->json) {
        cli_print_json(to_json(&headroom));
    } else {
        print(&headroom);
    }
    if (result == SIM_OK && headroom.unsafe_count > 0) {
        status = CLI_EXIT_FAILED;
    }
    world_destroy(world);
    world_scenario_destroy(scenario);
    sim_free(headroom.kinds);
    sim_free(headroom.unsafes);
    return cli_finish_output(status);
}
