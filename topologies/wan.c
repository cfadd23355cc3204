// SPDX-License-Identifier: Apache-2.0
// topologies/wan.c - distant sites, each built by another builder, joined by long links.
//
// Each site has a border switch, border<site>. The site's hosts are linked to it, or, if a builder
// makes the site, its topmost switches: spines, cores, or its first switch. Borders are joined
// pairwise (mesh), in a ring or in a chain, in the order of their numbers; the lower number is the
// first end of a long link. A border has the site's ports first, then the long links. Hosts are
// numbered through the whole network, site by site; switches of a site are named site<n>-<name>.
//
// With `direct`, the first site has only hosts, which long links join to the second border, as in
// the OmniDMA simulator.
#include <string.h>

#include "net/loss.h"
#include "net/nodes.h"
#include "topologies/builder_internal.h"

#define PREFIX "topology.wan"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(topo_wan_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "sites", sites, "2", "2", "64", "number of sites that long links join"),
    ATTR(STRING, "site", site, "", "topology of each site: star, leaf-spine, fat-tree, dumbbell or parking-lot; empty: hosts on its border switch"),
    ATTR(STRING, "values", values, "", "attributes of the sites' topology: leaves=2 spines=2 hosts-per-leaf=4"),
    ATTR(COUNT, "hosts", hosts, "1", "1", "65535", "number of hosts of each site if topology.wan.site is empty"),
    ATTR(RATE, "host-rate", host_rate_bps, "100Gbps", "1bps", "100Tbps", "rate of each long link in each direction"),
    ATTR(TIME, "host-delay", host_delay_ps, "1us", "1ps", "1s", "one-way delay of a long link; auto: half of topology.wan.rtt"),
    ATTR(RATE, "rate", rate_bps, "100Gbps", "1bps", "100Tbps", "rate of a long link"),
    ATTR(TIME, "rtt", rtt_ps, "10ms", "2ps", "2s", "round-trip time over a long link"),
    ATTR(TIME, "delay", delay_ps, "auto", "1ps", "1s", "one-way delay of a long link; auto: half of rtt", .auto_ok = true),
    ATTR(COUNT, "links", links, "1", "1", "64", "number of parallel long links between two joined sites"),
    ATTR(ENUM, "shape", shape, "mesh", "mesh|ring|chain", "pairs of borders that are joined; mesh: all; chain: neighbours; ring: neighbours, and the last with the first"),
    ATTR(BOOL, "direct", direct, "off", "on: the hosts of the first of two sites are linked to the second border by the long links, without a border of their own"),
    ATTR(BOOL, "pfc-across", pfc_across, "off", "on: borders take part in PFC, so pauses cross the long links; off: PFC stops at the borders"),
    ATTR(BYTES, "border-buffer", border_buffer_bytes, "auto", "1KB", "64GB", "packet memory of a border; auto: the bytes of one round trip over a long link, at least switch.buffer", .auto_ok = true),
    ATTR(STRING, "loss-file", loss_file, "", "file that lists the data packets that the first long link loses in its forward direction (docs/models/loss.md)"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "simulation", topo_wan_config_t, attrs);

// -- the builder of a site

// Applies "name=value name=value" to a builder's config. A wrong name or value is an error.
static sim_err_t apply_values(const topo_ops_t *ops, const char *values, void *config,
                              sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    char *const copy = sim_strdup(values);
    char *rest = copy;
    while (error == SIM_OK && *(rest += strspn(rest, " ,\t\n")) != '\0') {
        char *const word = rest;
        rest += strcspn(rest, " ,\t\n");
        const bool more = *rest != '\0';
        *rest = '\0';
        rest += more;
        char *const equals = strchr(word, '=');
        if (equals == NULL) {
            error = sim_fail_about(message, SIM_ERR_INVALID, "values",
                                   ": '%s', expected name=value name=value", word);
            break;
        }
        *equals = '\0';
        char *const path = sim_format("%s.%s", ops->attrs->prefix, word);
        const sim_attr_t *const attr = sim_attr_find(ops->attrs, path);
        sim_free(path);
        if (attr == NULL) {
            error = sim_fail_about(message, SIM_ERR_UNKNOWN, "values",
                                   ": %s has no attribute '%s', see rocesim params %s", ops->name,
                                   word, ops->attrs->prefix);
            break;
        }
        sim_message_t reason;
        error = sim_attr_set(attr, config, equals + 1, &reason);
        if (error != SIM_OK) {
            (void)sim_fail_about(message, error, "values", ": %s", reason.text);
        }
    }
    sim_free(copy);
    return error;
}

// Finds the builder of a site and makes its config; *ops NULL: there is none. The caller frees both
// with site_fini.
static sim_err_t site_init(const topo_wan_config_t *wan, const topo_ops_t **ops, void **config,
                           sim_message_t *message)
{
    *ops = NULL;
    *config = NULL;
    if (wan->site[0] == '\0') {
        return wan->values[0] == '\0'
                   ? SIM_OK
                   : sim_fail_about(message, SIM_ERR_INVALID, "values",
                                    ": '%s' without a builder that takes them, expected site: "
                                    "leaf-spine",
                                    wan->values);
    }
    const topo_ops_t *const found = topo_find(wan->site);
    if (found == NULL || found == &topo_wan || found == &topo_pair ||
        strcmp(found->name, "file") == 0) {
        return sim_fail_about(
            message, SIM_ERR_UNKNOWN, "site",
            ": '%s', expected a builder with switches: star, leaf-spine, fat-tree, "
            "dumbbell, parking-lot",
            wan->site);
    }
    void *const made = sim_alloc(found->attrs->config_bytes);
    sim_attrs_default(found->attrs, made);
    sim_err_t error = apply_values(found, wan->values, made, message);
    if (error == SIM_OK) {
        sim_message_t reason;
        error = found->check(made, &reason);
        if (error != SIM_OK) {
            (void)sim_fail_about(message, error, "values", ": %s", reason.text);
        }
    }
    if (error != SIM_OK) {
        sim_attrs_fini(found->attrs, made);
        sim_free(made);
        return error;
    }
    *ops = found;
    *config = made;
    return SIM_OK;
}

static void site_fini(const topo_ops_t *ops, void *config)
{
    if (ops != NULL) {
        sim_attrs_fini(ops->attrs, config);
        sim_free(config);
    }
}

static sim_err_t wan_check(const void *config, sim_message_t *message)
{
    const topo_wan_config_t *const wan = config;
    if (wan->direct && (wan->sites != 2 || wan->site[0] != '\0')) {
        return sim_fail_about(message, SIM_ERR_RANGE, "direct",
                              ": on, expected two sites without a builder of their own");
    }
    const sim_err_t error =
        topo__check_ports("hosts", wan->hosts, wan->hosts + wan->sites * wan->links, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo_ops_t *ops = NULL;
    void *site = NULL;
    const sim_err_t result = site_init(wan, &ops, &site, message);
    site_fini(ops, site);
    return result;
}

// -- building

static net_node_t *make_border(const topo_plan_t *plan, const topo_wan_config_t *wan, uint64_t site,
                               sim_time_t delay_ps)
{
    char *const name = sim_format("border%" PRIu64, site);
    net_switch_config_t config;
    sim_attrs_copy(&net_switch_config_attrs, &config, plan->switch_config(name, plan->ctx));
    if (!wan->pfc_across) {
        config.pfc_enabled = false;
    }
    const sim_wide_t product = (sim_wide_t)wan->rate_bps * 2 * delay_ps / 8 / SIM_PS_PER_S;
    const uint64_t most = UINT64_C(64000000000);
    const uint64_t trip_bytes = product > most ? most : (uint64_t)product;
    if (wan->border_buffer_bytes != SIM_AUTO) {
        config.buffer_bytes = wan->border_buffer_bytes;
    } else if (trip_bytes > config.buffer_bytes) {
        config.buffer_bytes = trip_bytes;
    }
    net_node_t *border = topo__own_switch(plan, name);
    if (border == NULL) {
        border = net_switch_create(plan->net, name, &config);
    }
    sim_attrs_fini(&net_switch_config_attrs, &config);
    sim_free(name);
    return border;
}

// Links a site's border to all its spines or cores, or else to its first switch. The site's nodes
// are those from `first` on.
static void connect_site(const topo_plan_t *plan, net_node_t *border, size_t first,
                         const topo__cable_t *cable)
{
    static const char *const tops[] = {"spine", "core"};
    bool connected = false;
    const size_t end = net_node_count(plan->net);
    for (size_t i = first; i < end; i++) {
        net_node_t *const node = net_node_at(plan->net, i);
        const char *const dash = strchr(node->sim.name, '-');
        for (size_t t = 0; dash != NULL && t < SIM_COUNT_OF(tops); t++) {
            if (strncmp(dash + 1, tops[t], strlen(tops[t])) == 0) {
                topo__connect(plan, border, node, cable);
                connected = true;
            }
        }
    }
    for (size_t i = first; i < end && !connected; i++) {
        net_node_t *const node = net_node_at(plan->net, i);
        if (node->kind != NET_NODE_HOST && node != border) {
            topo__connect(plan, border, node, cable);
            connected = true;
        }
    }
}

static uint64_t count_hosts(const net_t *net)
{
    uint64_t count = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        count += net_kind_of(net, i) == NET_NODE_HOST;
    }
    return count;
}

static sim_err_t build_site(const topo_plan_t *plan, const topo_wan_config_t *wan,
                            const topo_ops_t *ops, const void *config, uint64_t site,
                            net_node_t *border, sim_message_t *message)
{
    const topo__cable_t cable = topo__cable(wan->host_rate_bps, wan->host_delay_ps, 1);
    if (ops == NULL) {
        topo__hosts(plan, border, site * wan->hosts, wan->hosts, &cable);
        return SIM_OK;
    }
    const size_t first = net_node_count(plan->net);
    char *const prefix = sim_format("site%" PRIu64 "-", site);
    topo_plan_t inner = *plan;
    inner.switch_prefix = prefix;
    inner.first_host = count_hosts(plan->net);
    const sim_err_t error = ops->build(&inner, config, message);
    sim_free(prefix);
    if (error == SIM_OK) {
        connect_site(plan, border, first, &cable);
    }
    return error;
}

static sim_err_t read_losses(const topo_plan_t *plan, const char *file, sim_message_t *message)
{
    char *text = NULL;
    size_t size_bytes = 0;
    sim_message_t reason = {.text = ""};
    if (plan->read_file == NULL) {
        return sim_fail_about(message, SIM_ERR_INVALID, "loss-file", ": there are no files here");
    }
    sim_err_t error = plan->read_file(file, &text, &size_bytes, &reason, plan->ctx);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, "loss-file", ": %.400s", reason.text);
    }
    net_loss_trace_t *trace = NULL;
    error = net_loss_trace_parse(text, size_bytes, &trace, &reason);
    sim_free(text);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, "loss-file", ": %s: %.300s", file, reason.text);
    }
    net_link_lose(plan->net, (uint32_t)net_link_count(plan->net) - 1, NET_LOSS_FORWARD, trace);
    return SIM_OK;
}

// Adds the long links between two nodes. A list of losses applies to the first link of all.
static sim_err_t connect_far(const topo_plan_t *plan, const topo_wan_config_t *wan, net_node_t *a,
                             net_node_t *b, bool *first, sim_message_t *message)
{
    const topo__cable_t cable =
        topo__cable(wan->rate_bps, wan->delay_ps == SIM_AUTO ? wan->rtt_ps / 2 : wan->delay_ps, 1);
    for (uint64_t i = 0; i < wan->links; i++) {
        topo__connect(plan, a, b, &cable);
        if (*first && wan->loss_file[0] != '\0') {
            const sim_err_t error = read_losses(plan, wan->loss_file, message);
            if (error != SIM_OK) {
                return error;
            }
        }
        *first = false;
    }
    return SIM_OK;
}

static bool joined(const topo_wan_config_t *wan, uint64_t a, uint64_t b)
{
    return wan->shape == TOPO_WAN_MESH || b == a + 1 ||
           (wan->shape == TOPO_WAN_RING && a == 0 && b == wan->sites - 1 && wan->sites > 2);
}

static sim_err_t connect_all(const topo_plan_t *plan, const topo_wan_config_t *wan,
                             net_node_t **borders, sim_message_t *message)
{
    bool first = true;
    sim_err_t error = SIM_OK;
    for (uint64_t h = 0; wan->direct && h < wan->hosts && error == SIM_OK; h++) {
        error = connect_far(plan, wan, topo__host(plan, h), borders[1], &first, message);
    }
    for (uint64_t a = 0; a < wan->sites && !wan->direct; a++) {
        for (uint64_t b = a + 1; b < wan->sites && error == SIM_OK; b++) {
            if (joined(wan, a, b)) {
                error = connect_far(plan, wan, borders[a], borders[b], &first, message);
            }
        }
    }
    return error;
}

static void wan_size(const void *config, topo_size_t *size)
{
    const topo_wan_config_t *const wan = config;
    const topo_ops_t *ops = NULL;
    void *site = NULL;
    sim_message_t message;
    topo_size_t inner = {wan->hosts, 0, wan->hosts};
    if (site_init(wan, &ops, &site, &message) == SIM_OK && ops != NULL) {
        ops->size(site, &inner);
        inner.links += inner.switches; // at most one link of each switch to the border
    }
    site_fini(ops, site);
    uint64_t pairs = 0;
    for (uint64_t a = 0; a < wan->sites; a++) {
        for (uint64_t b = a + 1; b < wan->sites; b++) {
            pairs += joined(wan, a, b);
        }
    }
    *size = (topo_size_t){wan->sites * inner.hosts, wan->sites * (inner.switches + 1),
                          wan->sites * inner.links + pairs * wan->links};
}

static sim_err_t wan_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    const topo_wan_config_t *const wan = config;
    sim_err_t error = wan_check(wan, message);
    if (error != SIM_OK) {
        return error;
    }
    const topo__start_t start = topo__start(plan);
    const sim_time_t delay_ps = wan->delay_ps == SIM_AUTO ? wan->rtt_ps / 2 : wan->delay_ps;
    const topo_ops_t *ops = NULL;
    void *site_config = NULL;
    error = site_init(wan, &ops, &site_config, message);
    net_node_t **const borders = sim_alloc_array(wan->sites, sizeof(net_node_t *));
    for (uint64_t site = 0; site < wan->sites && error == SIM_OK; site++) {
        if (site == 0 && wan->direct) {
            continue;
        }
        borders[site] = make_border(plan, wan, site, delay_ps);
        error = build_site(plan, wan, ops, site_config, site, borders[site], message);
    }
    if (error == SIM_OK) {
        error = connect_all(plan, wan, borders, message);
    }
    if (error == SIM_OK) {
        topo_size_t size;
        wan_size(config,
                 &size); // an upper limit: some switches of a site have no link to its border
        SIM_CHECK(net_node_count(plan->net) - start.nodes <= size.hosts + size.switches);
        SIM_CHECK(net_link_count(plan->net) - start.links <= size.links);
    }
    sim_free(borders);
    site_fini(ops, site_config);
    return error;
}

const topo_ops_t topo_wan = {
    "wan",       "sites far apart, each a network of its own, joined by long links",
    &attr_table, wan_check,
    wan_build,   wan_size};
