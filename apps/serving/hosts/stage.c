// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/stage.c - steps at the hosts of an instance (docs/models/serving.md).
//
// A host computes its layers of one step after the other, in groups of layers. After each group it
// reduces with the other hosts of its stage, and exchanges with the experts of other nodes. When
// its layers are done, it passes the activations to the next stage, and goes on with the next step.
// The last stage informs the leader, which ends the step.
#include "apps/serving/hosts/stage.h"

#include "apps/serving/hosts/members.h"
#include "apps/serving/hosts/part.h"
#include "apps/serving/node.h"
#include "apps/serving/transfers/kv_transfer.h"

void app__serving_step_free(app__serving_step_t *step)
{
    sim_free(step->shares);
    sim_free(step);
}

static bool leads(const app__serving_node_t *node)
{
    return node->place.number == 0;
}

// -- the layers of one host

static void arm(app__serving_node_t *node)
{
    const sim_time_t part_ps = (sim_time_t)((sim_wide_t)node->stage.step_ps *
                                            (node->stage.group + 1) / node->stage.groups);
    sim_timer_arm(node->node, &node->stage.timer,
                  node->stage.began_ps + part_ps + node->stage.waited_ps);
}

static bool sends(const app__serving_step_t *step)
{
    for (size_t i = 0; i < step->share_count; i++) {
        if (step->shares[i].sends) {
            return true;
        }
    }
    return false;
}

static void begin(app__serving_node_t *node, app__serving_step_t *step)
{
    const app__serving_t *const serving = node->serving;
    const app__serving_place_t *const place = &node->place;
    const uint64_t layers = serving->served.sizes.layers;
    node->stage.now = step;
    node->stage.began_ps = node->node->now_ps;
    node->stage.step_ps = (sim_time_t)((sim_wide_t)step->step_ps * place->layers / layers);
    node->stage.by_layer = serving->config.kv == APP__SERVING_LAYER && sends(step);
    const bool grouped = node->stage.by_layer || app__serving_spreads(node) || place->tp_hosts > 1;
    const uint64_t groups = (serving->layer_groups * place->layers + layers - 1) / layers;
    node->stage.groups = grouped ? groups : 1;
    node->stage.group = 0;
    node->stage.waited_ps = 0;
    arm(node);
}

// Begins the next step if the host is free and the activations of the stage before are there.
static void begin_next(app__serving_node_t *node)
{
    app__serving_place_t *const place = &node->place;
    app__serving_step_t *const step = SIM_LIST_FIRST(&node->stage.steps, app__serving_step_t, link);
    if (node->stage.now != NULL || step == NULL || node->lost || leads(node)) {
        return;
    }
    for (uint32_t g = 0; g < place->gpus && place->stage > 0; g++) {
        if (node->stage.came[APP__SERVING_PASSED][g] <= node->stage.taken[APP__SERVING_PASSED]) {
            return;
        }
    }
    node->stage.taken[APP__SERVING_PASSED]++;
    begin(node, step);
}

static void fired(sim_node_t *sim_node, sim_timer_t *timer)
{
    app__serving_node_t *const node = SIM_CONTAINER_OF(timer, app__serving_node_t, stage.timer);
    sim_progress(sim_node);
    node->stage.group++;
    if (node->place.tp_hosts > 1) {
        app__serving_reduce(node);
    } else {
        app__serving_reduced(node);
    }
}

void app__serving_reduced(app__serving_node_t *node)
{
    if (app__serving_spreads(node)) {
        app__serving_exchange(node);
    } else {
        app__serving_exchanged(node);
    }
}

// -- the end of a stage

typedef struct passing {
    sim_link_t link;
    app__serving_node_t *node;
    uint32_t peer;
    sim_time_t began_ps;
} passing_t;

static void passed(void *ctx, uint64_t bytes, bool good)
{
    passing_t *const passing = ctx;
    app__serving_node_t *const node = passing->node;
    node->counters.pp_bytes += bytes;
    if (good) {
        node->counters.pp_ps += node->node->now_ps - passing->began_ps;
        app__serving_note_operation(node, APP__SERVING_DID_PASS, passing->began_ps, passing->peer,
                                    bytes);
    } else {
        app__serving_break(node);
    }
    sim_list_remove(&node->stage.passing, &passing->link);
    sim_free(passing);
}

// Sends the activations of a step to the host of the next stage that has the same heads.
static void pass_on(app__serving_node_t *node, const app__serving_step_t *step)
{
    app__serving_place_t *const place = &node->place;
    passing_t *const passing = sim_alloc(sizeof(*passing));
    const uint32_t peer =
        app__serving_host_of(node->serving, place->leader, place->number + place->tp_hosts);
    *passing = (passing_t){.node = node, .peer = peer, .began_ps = node->node->now_ps};
    sim_list_push_last(&node->stage.passing, &passing->link);
    const app__serving_transfer_t transfer = {
        .node = node,
        .peer = peer,
        .unlisted = true,
        .notice = APP__SERVING_PASSED + 1,
        .offset = node->serving->exchange_at,
        .bytes = app__serving_pass_bytes(node, step->tokens),
        .fn = passed,
        .ctx = passing,
    };
    app__serving_move(&transfer);
}

static void end_stage(app__serving_node_t *node)
{
    app__serving_step_t *const step = node->stage.now;
    const app__serving_place_t *const place = &node->place;
    const bool last = place->stage + 1 == place->stages;
    node->counters.busy_ps += node->node->now_ps - node->stage.began_ps;
    node->counters.tp_ps += node->stage.reduce.waited_ps;
    node->stage.reduce.waited_ps = 0;
    app__serving_note_operation(node, (app__serving_operation_kind_t)step->kind,
                                node->stage.began_ps, UINT32_MAX, 0);
    node->stage.now = NULL;
    // Where the step ends here, too, requests send when they are informed of that.
    const bool ends = last && leads(node);
    for (size_t i = 0; i < step->share_count; i++) {
        if (step->shares[i].sends) {
            app__serving_part_stepped(node, &step->shares[i], !ends);
        }
    }
    if (!last) {
        pass_on(node, step);
    }
    if (ends) {
        app__serving_step_end(node, step);
        return;
    }
    if (last && place->rank == 0) {
        app__serving_send_to_host(node, place->leader, APP__SERVING_STEP_DONE, step->id, 0);
    }
    if (leads(node)) {
        app__serving_next_step(node);
        return;
    }
    sim_list_remove(&node->stage.steps, &step->link);
    app__serving_step_free(step);
    begin_next(node);
}

// Sends the KV data of the layers that are computed by now.
static void send_layers(app__serving_node_t *node)
{
    const app__serving_step_t *const step = node->stage.now;
    const uint64_t done = node->place.layers * node->stage.group / node->stage.groups;
    for (size_t i = 0; i < step->share_count; i++) {
        if (step->shares[i].sends) {
            app__serving_part_layers(node, &step->shares[i], done);
        }
    }
}

void app__serving_exchanged(app__serving_node_t *node)
{
    if (node->stage.group == node->stage.groups) {
        end_stage(node);
        return;
    }
    if (node->stage.by_layer) {
        send_layers(node);
    }
    arm(node);
}

// -- messages of other hosts

void app__serving_step_begin(app__serving_node_t *node, app__serving_step_t *step)
{
    if (node->place.host_count > 1) {
        app__serving_send_step(node, step);
    }
    begin(node, step);
}

void app__serving_step_arrived(app__serving_node_t *node, app__serving_step_t *step)
{
    sim_list_push_last(&node->stage.steps, &step->link);
    app__serving_parts_prepare(node, step);
    begin_next(node);
}

void app__serving_noticed(app__serving_node_t *node, uint32_t what)
{
    const uint32_t kind = what >> 8;
    SIM_CHECK(kind < APP__SERVING_NOTICES && (what & 255u) < node->place.gpus);
    node->stage.came[kind][what & 255u]++;
    if (node->lost) {
        return;
    }
    sim_progress(node->node);
    if (kind == APP__SERVING_PASSED) {
        begin_next(node);
    } else if (node->stage.reduce.left > 0) {
        app__serving_reduce_on(node);
    }
}

void app__serving_stage_init(app__serving_node_t *node)
{
    sim_timer_init(&node->stage.timer, fired);
}

void app__serving_stage_fini(app__serving_node_t *node)
{
    passing_t *passing = NULL;
    while ((passing = SIM_LIST_POP(&node->stage.passing, passing_t, link)) != NULL) {
        sim_free(passing); // the end of the run has cut it short
    }
    app__serving_step_t *step = NULL;
    while ((step = SIM_LIST_POP(&node->stage.steps, app__serving_step_t, link)) != NULL) {
        app__serving_step_free(step);
    }
    node->stage.now = NULL;
}
