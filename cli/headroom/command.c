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
#define LIST_MAX 32u // values of --length or --response
#define RDMA_MTU_MAX 4096u
#define ETHERNET_BYTES 18u // header and FCS, around a packet of the port's MTU

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

// The pool of a switch whose ports share headroom.
typedef struct pool {
    const char *name; // of the switch
    uint64_t given_bytes;
    uint64_t all_bytes;  // that all lossless classes of all ports need together
    uint64_t port_bytes; // that those of the port with the largest need need
    size_t ports;
    size_t held; // number of ports whose needs fit at one time, the largest first
} pool_t;

typedef struct headroom {
    const cli_args_t *args;
    sim_time_t responses_ps[LIST_MAX]; // SIM_AUTO: that of the switch
    size_t response_count;
    double lengths_m[LIST_MAX]; // below 0: that of the link
    size_t length_count;
    uint64_t cell_bytes; // 1: the buffer has bytes
    uint64_t mtu_bytes;  // 0: that of the NICs
    uint64_t burst_bytes;
    kind_t *kinds;
    size_t kind_count;
    size_t kind_capacity;
    unsafe_t *unsafes;
    size_t unsafe_count;
    size_t unsafe_capacity;
    pool_t *pools;
    size_t pool_count;
    size_t pool_capacity;
    size_t unsafe_pool_count;
} headroom_t;

// -- options

static sim_err_t bad_option(const char *option, const char *value, const char *expected,
                            world_error_t *error)
{
    world_shown_t shown;
    return world_fail(error, SIM_ERR_INVALID, NULL, "rocesim headroom: %s is '%s', expected %s",
                      option, world_show(&shown, value), expected);
}

// Takes the values of a list, "5m,40m,300m", by `take`.
static sim_err_t take_list(headroom_t *headroom, const char *list, world_error_t *error,
                           sim_err_t (*take)(headroom_t *headroom, const char *value,
                                             world_error_t *error))
{
    char *const values = sim_strdup(list);
    char *rest = values;
    sim_err_t result = SIM_OK;
    for (char *value = strsep(&rest, ","); value != NULL && result == SIM_OK;
         value = strsep(&rest, ",")) {
        result = take(headroom, value, error);
    }
    sim_free(values);
    return result;
}

static sim_err_t take_response(headroom_t *headroom, const char *value, world_error_t *error)
{
    sim_message_t message;
    sim_time_t *const response_ps = &headroom->responses_ps[headroom->response_count];
    if (headroom->response_count == LIST_MAX ||
        sim_parse_time(value, response_ps, &message) != SIM_OK || *response_ps > SIM_PS_PER_MS) {
        return bad_option("--response", value, "a time up to 1 ms: 4us, or up to 32 of them",
                          error);
    }
    headroom->response_count++;
    return SIM_OK;
}

static sim_err_t take_length(headroom_t *headroom, const char *value, world_error_t *error)
{
    char *end = NULL;
    const double length_m = strtod(value, &end);
    if (headroom->length_count == LIST_MAX || end == value ||
        (strcmp(end, "m") != 0 && *end != '\0') || !(length_m >= 0 && length_m <= 1e6)) {
        return bad_option("--length", value, "metres: 300m, or up to 32 of them", error);
    }
    headroom->lengths_m[headroom->length_count++] = length_m;
    return SIM_OK;
}

static sim_err_t take_options(headroom_t *headroom, world_error_t *error)
{
    const cli_args_t *const args = headroom->args;
    sim_message_t message;
    sim_err_t result =
        args->response == NULL ? SIM_OK : take_list(headroom, args->response, error, take_response);
    if (result == SIM_OK && args->length != NULL) {
        result = take_list(headroom, args->length, error, take_length);
    }
    if (result != SIM_OK) {
        return result;
    }
    if (args->response == NULL) {
        headroom->responses_ps[headroom->response_count++] = SIM_AUTO;
    }
    if (args->length == NULL) {
        headroom->lengths_m[headroom->length_count++] = -1;
    }
    headroom->cell_bytes = 1;
    if (args->cell != NULL &&
        (sim_parse_bytes(args->cell, &headroom->cell_bytes, &message) != SIM_OK ||
         headroom->cell_bytes < 1 || headroom->cell_bytes > 4096)) {
        return bad_option("--cell", args->cell, "bytes from 1 to 4096: 254", error);
    }
    if (args->mtu != NULL &&
        (sim_parse_bytes(args->mtu, &headroom->mtu_bytes, &message) != SIM_OK ||
         headroom->mtu_bytes < 256 || headroom->mtu_bytes > 9216 ||
         (headroom->mtu_bytes <= RDMA_MTU_MAX &&
          (headroom->mtu_bytes & (headroom->mtu_bytes - 1)) != 0))) {
        return bad_option("--mtu", args->mtu,
                          "256, 512, 1024, 2048 or 4096, or that of a port up to 9216: 9100",
                          error);
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

// Returns the kind of a port with a length and a response time of the lists.
static kind_t port_kind(const headroom_t *headroom, const world_t *world, const net_node_t *node,
                        uint32_t p, size_t length, size_t response)
{
    const double given_m = headroom->lengths_m[length];
    const sim_time_t response_ps = headroom->responses_ps[response];
    const net_switch_config_t *const config = net_switch_config(node);
    const net_port_t *const port = net_port_at(node, p);
    const uint32_t mtu =
        (uint32_t)(headroom->mtu_bytes != 0 ? headroom->mtu_bytes
                                            : SIM_MIN(world->scenario->nic_config.mtu_bytes, 4096));
    const uint32_t frame = mtu + (mtu > RDMA_MTU_MAX ? ETHERNET_BYTES : CLI_PROBE_HEADER_BYTES);
    const double length_m = given_m >= 0 ? given_m : (double)port->line->delay_ps / PS_PER_METRE;
    return (kind_t){
        .needs = {.rate_bps = port->line->rate_bps,
                  .delay_ps = given_m >= 0 ? (sim_time_t)(length_m * PS_PER_METRE + 0.5)
                                           : port->line->delay_ps,
                  .response_ps = response_ps != SIM_AUTO
                                     ? response_ps
                                     : net_switch_response_ps(node, port->line->rate_bps),
                  .frame_bytes = frame,
                  .back_bytes = frame,
                  .cell_bytes = (uint32_t)headroom->cell_bytes},
        .length_m = length_m,
        .given_bytes = net_switch_headroom_limit_bytes(node, p),
        .reserve_bytes = config->pfc_reserved_bytes,
    };
}

// Turns measured bytes of frames of one size into the bytes of their cells.
static void count_cells(const cli_port_needs_t *needs, cli_probed_t *probed)
{
    uint64_t *const bytes[] = {&probed->headroom_bytes, &probed->reserve_bytes,
                               &probed->xoff_bytes};
    for (size_t i = 0; i < SIM_COUNT_OF(bytes); i++) {
        *bytes[i] =
            *bytes[i] / needs->frame_bytes * cli_headroom_cells_bytes(needs, needs->frame_bytes);
    }
}

// Measures what a port needs. NICs of the simulation send no frames beyond the largest MTU of RDMA:
// for those the closed forms stand.
static sim_err_t probe(const cli_port_needs_t *needs, uint64_t burst_bytes, cli_probed_t *probed,
                       world_error_t *error)
{
    if (SIM_MAX(needs->frame_bytes, needs->back_bytes) <= RDMA_MTU_MAX + CLI_PROBE_HEADER_BYTES) {
        return cli_probe(needs, burst_bytes, probed, error);
    }
    cli_port_needs_t bytes = *needs;
    bytes.cell_bytes = 1;
    const uint64_t payload = needs->frame_bytes - ETHERNET_BYTES;
    *probed = (cli_probed_t){
        .headroom_bytes = cli_headroom_bytes(&bytes),
        .reserve_bytes = cli_headroom_reserve_bytes(&bytes),
        .xoff_bytes = (burst_bytes + payload - 1) / payload * needs->frame_bytes,
    };
    return SIM_OK;
}

static sim_err_t measure_kind(const headroom_t *headroom, kind_t *kind, world_error_t *error)
{
    cli_port_needs_t odd = kind->needs;
    cli_vendor_switch_t chip = cli_vendor_switch;
    chip.cell_bytes = headroom->cell_bytes > 1 ? headroom->cell_bytes : chip.cell_bytes;
    odd.frame_bytes = cli_headroom_worst_frame(&kind->needs, LEAST_FRAME_BYTES);
    kind->odd_frame = odd.frame_bytes;
    kind->vendor_bytes = cli_headroom_vendor_bytes(&chip, kind->needs.rate_bps, kind->length_m,
                                                   kind->needs.response_ps);
    sim_err_t result = probe(&kind->needs, headroom->burst_bytes, &kind->full, error);
    if (result == SIM_OK) {
        result = probe(&odd, 0, &kind->odd, error);
    }
    count_cells(&kind->needs, &kind->full);
    count_cells(&odd, &kind->odd);
    kind->least_bytes = SIM_MAX(cli_headroom_any_bytes(&kind->needs, LEAST_FRAME_BYTES),
                                SIM_MAX(kind->full.headroom_bytes, kind->odd.headroom_bytes));
    return result;
}

// Adds a port to the kinds that it has with all lengths and response times of the lists.
static void add_port(headroom_t *headroom, const world_t *world, const net_node_t *node, uint32_t p)
{
    for (size_t l = 0; l < headroom->length_count; l++) {
        for (size_t r = 0; r < headroom->response_count; r++) {
            const kind_t kind = port_kind(headroom, world, node, p, l, r);
            const size_t k = kind_of(headroom, &kind);
            headroom->kinds[k].count++;
            SIM_APPEND(headroom->unsafes, headroom->unsafe_count, headroom->unsafe_capacity,
                       (unsafe_t){net_port_name(net_port_at(node, p)), k});
        }
    }
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
            add_port(headroom, world, node, p);
        }
    }
    for (size_t k = 0; k < headroom->kind_count && result == SIM_OK; k++) {
        result = measure_kind(headroom, &headroom->kinds[k], error);
    }
    // The list keeps the unsafe ports, each with the kind in which it lacks the most.
    size_t kept = 0;
    for (size_t i = 0; i < headroom->unsafe_count && result == SIM_OK; i++) {
        const unsafe_t unsafe = headroom->unsafes[i];
        const kind_t *const kind = &headroom->kinds[unsafe.kind];
        if (kind->given_bytes >= kind->least_bytes) {
            continue;
        }
        const bool again = kept > 0 && headroom->unsafes[kept - 1].port == unsafe.port;
        if (!again) {
            headroom->unsafes[kept++] = unsafe;
        } else if (kind->least_bytes >
                   headroom->kinds[headroom->unsafes[kept - 1].kind].least_bytes) {
            headroom->unsafes[kept - 1] = unsafe;
        }
    }
    headroom->unsafe_count = kept;
    return result;
}

// -- pools

static int largest_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

// Returns the bytes that all lossless classes of a port need together.
static uint64_t port_needs_bytes(headroom_t *headroom, const world_t *world, const net_node_t *node,
                                 uint32_t p)
{
    const uint32_t classes = (uint32_t)__builtin_popcount(net_switch_config(node)->pfc_priorities);
    uint64_t most_bytes = 0;
    for (size_t l = 0; l < headroom->length_count; l++) {
        for (size_t r = 0; r < headroom->response_count; r++) {
            const kind_t kind = port_kind(headroom, world, node, p, l, r);
            most_bytes = SIM_MAX(headroom->kinds[kind_of(headroom, &kind)].least_bytes, most_bytes);
        }
    }
    return classes * most_bytes;
}

// Judges the pool of a switch whose ports share headroom.
static void judge_pool(headroom_t *headroom, const world_t *world, const net_node_t *node)
{
    uint64_t *const needs = sim_alloc_array(node->port_count + 1, sizeof(*needs));
    pool_t pool = {.name = node->sim.name,
                   .given_bytes = net_switch_config(node)->headroom_pool_bytes,
                   .ports = node->port_count};
    for (uint32_t p = 0; p < node->port_count; p++) {
        needs[p] = port_needs_bytes(headroom, world, node, p);
        pool.all_bytes += needs[p];
    }
    qsort(needs, node->port_count, sizeof(*needs), largest_first);
    pool.port_bytes = needs[0];
    for (uint64_t sum = needs[0]; pool.held < pool.ports && sum <= pool.given_bytes;
         sum += needs[pool.held]) {
        pool.held++;
    }
    headroom->unsafe_pool_count += pool.held == 0;
    SIM_APPEND(headroom->pools, headroom->pool_count, headroom->pool_capacity, pool);
    sim_free(needs);
}

static void judge_pools(headroom_t *headroom, const world_t *world)
{
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        if (node->kind == NET_NODE_SWITCH && has_lossless_class(net_switch_config(node)) &&
            node->port_count > 0 && net_switch_config(node)->headroom_pool_bytes != SIM_AUTO) {
            judge_pool(headroom, world, node);
        }
    }
}

static const char *pool_word(const pool_t *pool)
{
    return pool->held == 0 ? "unsafe" : pool->held < pool->ports ? "over-subscribed" : "safe";
}

// -- for people

static void print_pool(const pool_t *pool)
{
    printf("pool of headroom of %s: %" PRIu64 " bytes, %s: all ports at one time need %" PRIu64,
           pool->name, pool->given_bytes, pool_word(pool), pool->all_bytes);
    if (pool->held == 0) {
        printf("; one port needs %" PRIu64 ", so it lacks %" PRIu64 "\n", pool->port_bytes,
               pool->port_bytes - pool->given_bytes);
    } else if (pool->held < pool->ports) {
        printf(" (it lacks %" PRIu64 "); it holds %zu of %zu ports at one time\n",
               pool->all_bytes - pool->given_bytes, pool->held, pool->ports);
    } else {
        printf("\n");
    }
}

static void print_kind(const headroom_t *headroom, const kind_t *kind)
{
    world_text_t rate;
    world_text_t delay;
    world_text_t response;
    char cells[48] = "";
    if (kind->needs.cell_bytes > 1) {
        (void)snprintf(cells, sizeof(cells), ", in cells of %u bytes", kind->needs.cell_bytes);
    }
    printf("%zu port%s of %s, %s (%.4g m), response %s, frames of %u bytes%s\n", kind->count,
           sim_plural(kind->count), world_format_rate(&rate, kind->needs.rate_bps),
           world_format_time(&delay, kind->needs.delay_ps), kind->length_m,
           world_format_time(&response, kind->needs.response_ps), kind->needs.frame_bytes, cells);
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
    for (size_t i = 0; i < headroom->pool_count; i++) {
        print_pool(&headroom->pools[i]);
    }
    if (headroom->unsafe_count > 0) {
        printf("%zu port%s unsafe:\n", headroom->unsafe_count,
               headroom->unsafe_count == 1 ? " is" : "s are");
    } else if (headroom->kind_count > 0) {
        printf("all ports are safe%s\n",
               headroom->unsafe_pool_count > 0 ? ", but for the pools" : "");
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
    cli_json_set(json, "cell_bytes", kind->needs.cell_bytes);
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
    json_t *const pools = json_array();
    for (size_t i = 0; i < headroom->pool_count; i++) {
        const pool_t *const pool = &headroom->pools[i];
        json_t *const json = json_object();
        json_object_set_new(json, "switch", json_string(pool->name));
        json_object_set_new(json, "verdict", json_string(pool_word(pool)));
        cli_json_set(json, "configured_bytes", pool->given_bytes);
        cli_json_set(json, "port_bytes", pool->port_bytes);
        cli_json_set(json, "all_ports_bytes", pool->all_bytes);
        cli_json_set(json, "ports", pool->ports);
        cli_json_set(json, "ports_at_one_time", pool->held);
        json_array_append_new(pools, json);
    }
    return json_pack("{s:o, s:o, s:o}", "kinds", kinds, "unsafe", unsafes, "pools", pools);
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

// Adds the profile of a port with one of the lengths, and the response time that needs the most.
static void add_profile(headroom_t *headroom, const world_t *world, const net_node_t *node,
                        uint32_t p, size_t length, json_t *profiles)
{
    const kind_t first = port_kind(headroom, world, node, p, length, 0);
    size_t worst_k = kind_of(headroom, &first);
    for (size_t r = 1; r < headroom->response_count; r++) {
        const kind_t kind = port_kind(headroom, world, node, p, length, r);
        const size_t k = kind_of(headroom, &kind);
        if (headroom->kinds[k].least_bytes > headroom->kinds[worst_k].least_bytes) {
            worst_k = k;
        }
    }
    const kind_t *const worst = &headroom->kinds[worst_k];
    char *const name = sim_format("pg_lossless_%" PRIu64 "_%.4gm_profile",
                                  worst->needs.rate_bps / 1000000, worst->length_m);
    json_object_set_new(profiles, name, profile_of(worst, net_switch_config(node)));
    sim_free(name);
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
            for (size_t l = 0; l < headroom->length_count; l++) {
                add_profile(headroom, world, node, p, l, profiles);
            }
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
    if (result == SIM_OK) {
        judge_pools(&headroom, world);
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
    if (result == SIM_OK && headroom.unsafe_count + headroom.unsafe_pool_count > 0) {
        status = CLI_EXIT_FAILED;
    }
    world_destroy(world);
    world_scenario_destroy(scenario);
    SIM_FREE_ALL(headroom.kinds, headroom.unsafes, headroom.pools);
    return cli_finish_output(status);
}
