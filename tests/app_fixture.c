// SPDX-License-Identifier: Apache-2.0
// tests/app_fixture.c - worlds for the tests of topologies/ and apps/.
#include "tests/app_fixture.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "world/mooncake_json.h"

void world_init(world_t *world)
{
    *world = (world_t){
        .options = {.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER},
    };
    sim_attrs_default(&net_config_attrs, &world->net_config);
    sim_attrs_default(&net_switch_config_attrs, &world->switch_config);
    nic_config_init(&world->nic);
}

// -- settings

sim_err_t world_set(const sim_attr_table_t *table, void *config, const char *settings,
                    sim_message_t *message)
{
    char text[4096];
    ck_assert_uint_lt(strlen(settings), sizeof(text));
    memcpy(text, settings, strlen(settings) + 1);
    char *rest = text;
    while (rest != NULL) {
        char *const setting = rest;
        rest = strchr(setting, ';');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        char *const name = setting + strspn(setting, " ");
        char *const equals = strchr(name, '=');
        if (equals == NULL) {
            continue;
        }
        *equals = '\0';
        char path[256];
        snprintf(path, sizeof(path), "%s.%s", table->prefix, name);
        const sim_attr_t *const attr = sim_attr_find(table, path);
        ck_assert_msg(attr != NULL, "no attribute %s", path);
        const sim_err_t error = sim_attr_set(attr, config, equals + 1, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    return SIM_OK;
}

// -- what the builders ask

static const net_switch_config_t *switch_config(const char *name, void *ctx)
{
    (void)name;
    return &((const world_t *)ctx)->switch_config;
}

static const nic_config_t *nic_config(const char *name, void *ctx)
{
    world_t *const world = ctx;
    if (world->tweak_nic == NULL) {
        return &world->nic;
    }
    nic_config_fini(&world->nic_now);
    nic_config_copy(&world->nic_now, &world->nic);
    world->tweak_nic(name, &world->nic_now);
    return &world->nic_now;
}

static void link_config(const net_node_t *a, const net_node_t *b, net_link_config_t *config,
                        void *ctx)
{
    const world_t *const world = ctx;
    if (world->tweak_link != NULL) {
        world->tweak_link(a->sim.name, b->sim.name, config);
    }
}

void world_begin(world_t *world)
{
    nic_config_copy(&world->nic_now, &world->nic);
    world->sim = sim_create(&world->options);
    world->net = net_create(world->sim, &world->net_config);
}

topo_plan_t world_plan(world_t *world)
{
    return (topo_plan_t){
        .net = world->net,
        .switch_config = switch_config,
        .nic_config = nic_config,
        .link_config = link_config,
        .ctx = world,
    };
}

void world_complete(world_t *world)
{
    sim_message_t message = {.text = ""};
    const sim_err_t error = net_build(world->net, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    world->runtime = app_runtime_create(world->net);
}

sim_err_t world_try_build(world_t *world, const char *topology, const char *settings,
                          sim_message_t *message)
{
    const topo_ops_t *const ops = topo_find(topology);
    ck_assert_msg(ops != NULL, "no topology %s", topology);
    void *const config = sim_alloc(ops->attrs->config_bytes);
    sim_attrs_default(ops->attrs, config);
    sim_err_t error = world_set(ops->attrs, config, settings, message);
    if (error == SIM_OK) {
        error = ops->check(config, message);
    }
    if (error == SIM_OK) {
        world_begin(world);
        const topo_plan_t plan = world_plan(world);
        error = ops->build(&plan, config, message);
        if (error == SIM_OK) {
            world_complete(world);
        }
    }
    sim_attrs_fini(ops->attrs, config);
    sim_free(config);
    return error;
}

void world_build(world_t *world, const char *topology, const char *settings)
{
    sim_message_t message = {.text = ""};
    const sim_err_t error = world_try_build(world, topology, settings, &message);
    ck_assert_msg(error == SIM_OK, "%s %s: %s", topology, settings, message.text);
}

// -- what the applications ask

static bool matches(const char *pattern, size_t length, const char *name)
{
    if (length > 0 && pattern[length - 1] == '*') {
        return strncmp(pattern, name, length - 1) == 0;
    }
    return strlen(name) == length && strncmp(pattern, name, length) == 0;
}

static bool matches_any(const char *pattern, const char *name)
{
    while (true) {
        const size_t length = strcspn(pattern, "|");
        if (matches(pattern, length, name)) {
            return true;
        }
        if (pattern[length] == '\0') {
            return false;
        }
        pattern += length + 1;
    }
}

static sim_err_t find_hosts(const char *pattern, app_hosts_t *hosts, sim_message_t *message,
                            void *ctx)
{
    const world_t *const world = ctx;
    const size_t count = net_interface_count(world->net);
    hosts->interfaces = sim_alloc_array(count, sizeof(uint32_t));
    hosts->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (net_interface_of_nic(world->net, i) == i &&
            matches_any(pattern, net_interface_port(world->net, i)->node->sim.name)) {
            hosts->interfaces[hosts->count++] = i;
        }
    }
    if (hosts->count == 0) {
        sim_free(hosts->interfaces);
        return sim_fail(message, SIM_ERR_UNKNOWN, "no host matches \"%s\"", pattern);
    }
    return SIM_OK;
}

static sim_err_t read_file(const char *name, char **text, size_t *size, sim_message_t *message,
                           void *ctx)
{
    const world_t *const world = ctx;
    if (world->file_text == NULL) {
        return sim_fail(message, SIM_ERR_IO, "%s: no such file", name);
    }
    *text = sim_strdup(world->file_text);
    *size = strlen(world->file_text);
    return SIM_OK;
}

static const app_ops_t *find_app(const char *name)
{
    for (size_t i = 0; app_all[i] != NULL; i++) {
        if (strcmp(app_all[i]->name, name) == 0) {
            return app_all[i];
        }
    }
    return NULL;
}

sim_err_t world_try_app(world_t *world, const char *kind, const char *settings, app_t **app,
                        sim_message_t *message)
{
    const app_ops_t *const ops = find_app(kind);
    ck_assert_msg(ops != NULL, "no application %s", kind);
    void *const config = sim_alloc(ops->attrs->config_bytes);
    sim_attrs_default(ops->attrs, config);
    sim_err_t error = world_set(ops->attrs, config, settings, message);
    const app_context_t context = {
        .net = world->net,
        .runtime = world->runtime,
        .index = world->app_count,
        .hosts = find_hosts,
        .read_file = read_file,
        .ctx = world,
        .mooncake_codec = &world_mooncake_codec,
    };
    if (error == SIM_OK) {
        error = ops->create(&context, config, app, message);
    }
    if (error == SIM_OK) {
        ck_assert_uint_lt(world->app_count, WORLD_APPS_MAX);
        ck_assert_ptr_eq((*app)->ops, ops);
        world->apps[world->app_count++] = *app;
    }
    sim_attrs_fini(ops->attrs, config);
    sim_free(config);
    return error;
}

app_t *world_app(world_t *world, const char *kind, const char *settings)
{
    sim_message_t message = {.text = ""};
    app_t *app = NULL;
    const sim_err_t error = world_try_app(world, kind, settings, &app, &message);
    ck_assert_msg(error == SIM_OK, "%s %s: %s", kind, settings, message.text);
    return app;
}

void world_run(world_t *world)
{
    world->ended = sim_run(world->sim);
    world->ran = true;
}

static void keep_flow(const app_flow_result_t *flow, void *ctx)
{
    world_t *const world = ctx;
    SIM_GROW(world->flows, world->flow_count, &world->flow_capacity);
    world->flows[world->flow_count++] = app_flow_timed(flow);
}

void world_flows(world_t *world, const app_t *app)
{
    world->flow_count = 0;
    app->ops->flows(app, keep_flow, world);
}

double world_value(const app_t *app, const char *name)
{
    double value = 0.0;
    ck_assert_msg(app->ops->report != NULL &&
                      sim_report_number(app->ops->report, app, name, &value),
                  "no value %s", name);
    return value;
}

void world_fini(world_t *world)
{
    if (world->ran) {
        sim_message_t message = {.text = ""};
        ck_assert_msg(net_conservation_ok(world->net, &message), "%s", message.text);
    }
    for (uint32_t i = 0; i < world->app_count; i++) {
        world->apps[i]->ops->destroy(world->apps[i]);
    }
    app_runtime_destroy(world->runtime);
    if (world->sim != NULL) {
        sim_destroy(world->sim);
        net_destroy(world->net);
    }
    sim_free(world->flows);
    nic_config_fini(&world->nic);
    nic_config_fini(&world->nic_now);
    sim_attrs_fini(&net_switch_config_attrs, &world->switch_config);
    sim_attrs_fini(&net_config_attrs, &world->net_config);
}

uint32_t world_interface(const world_t *world, const char *host, uint32_t nic)
{
    const net_node_t *const node = net_node_find(world->net, host);
    ck_assert_msg(node != NULL, "no node %s", host);
    ck_assert_uint_lt(nic, node->port_count);
    return net_port_interface(&node->ports[nic]);
}
