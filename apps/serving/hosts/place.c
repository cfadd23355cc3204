// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/place.c - the hosts of an instance: which layers and heads each one has
// (docs/models/serving.md).
//
// Stage s of an instance has tp_hosts hosts, which share its layers by heads. The first layers %
// stages stages have one layer more than the others.
#include "apps/serving/hosts/place.h"

#include "apps/serving/node.h"

typedef struct shape {
    uint64_t tp;
    uint64_t stages;
    uint64_t tp_hosts;
} shape_t;

static shape_t shape_of(const app__serving_config_t *config, bool decodes)
{
    const shape_t own = {config->tp, config->pp, config->tp_hosts};
    return (shape_t){
        decodes && config->decode_tp != SIM_AUTO ? config->decode_tp : own.tp,
        decodes && config->decode_pp != SIM_AUTO ? config->decode_pp : own.stages,
        decodes && config->decode_tp_hosts != SIM_AUTO ? config->decode_tp_hosts : own.tp_hosts,
    };
}

uint32_t app__serving_member_count(const app__serving_t *serving)
{
    const shape_t shapes[2] = {shape_of(&serving->config, false), shape_of(&serving->config, true)};
    const uint64_t counts[2] = {serving->prefill_count,
                                serving->node_count - serving->prefill_count};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 2; i++) {
        sum += counts[i] * (shapes[i].stages * shapes[i].tp_hosts - 1);
    }
    return (uint32_t)sum;
}

uint64_t app__serving_first_layer(uint64_t layers, uint64_t stages, uint64_t stage)
{
    const uint64_t more = layers % stages;
    return stage * (layers / stages) + SIM_MIN(stage, more);
}

static void set_place(app__serving_t *serving, uint32_t leader, uint32_t number, uint32_t next)
{
    app__serving_node_t *const node = &serving->nodes[number == 0 ? leader : next + number - 1];
    const bool decodes = leader >= serving->prefill_count;
    const shape_t shape = shape_of(&serving->config, decodes);
    const uint64_t layers = serving->served.sizes.layers;
    app__serving_place_t *const place = &node->place;
    node->decodes = decodes;
    *place = (app__serving_place_t){
        .leader = leader,
        .number = number,
        .first_member = next,
        .host_count = (uint32_t)(shape.stages * shape.tp_hosts),
        .stages = (uint32_t)shape.stages,
        .tp_hosts = (uint32_t)shape.tp_hosts,
        .stage = (uint32_t)(number / shape.tp_hosts),
        .rank = (uint32_t)(number % shape.tp_hosts),
        .gpus = (uint32_t)(shape.tp / shape.tp_hosts),
    };
    place->first_layer = app__serving_first_layer(layers, shape.stages, place->stage);
    place->layers =
        app__serving_first_layer(layers, shape.stages, place->stage + 1) - place->first_layer;
    app__serving_gpus(&serving->config, &serving->served,
                      &(app__serving_shape_t){shape.tp, shape.tp_hosts, shape.stages},
                      decodes ? serving->config.decode : serving->config.prefill, &node->gpus);
    const app__step_times_t *const times = &serving->times[decodes ? 1 : 0];
    node->gpus.times = times->token_count > 0 ? times : NULL;
}

void app__serving_set_places(app__serving_t *serving)
{
    uint32_t next = serving->node_count + serving->storage_count;
    for (uint32_t n = 0; n < serving->node_count; n++) {
        set_place(serving, n, 0, next);
        const uint32_t hosts = serving->nodes[n].place.host_count;
        for (uint32_t i = 1; i < hosts; i++) {
            set_place(serving, n, i, next);
        }
        next += hosts - 1;
    }
    SIM_CHECK(next == serving->all_count);
}

uint32_t app__serving_host_of(const app__serving_t *serving, uint32_t leader, uint32_t number)
{
    const app__serving_place_t *const place = &serving->nodes[leader].place;
    SIM_CHECK(number < place->host_count || number == 0);
    return number == 0 ? leader : place->first_member + number - 1;
}

bool app__serving_same_instance(const app__serving_node_t *a, const app__serving_node_t *b)
{
    const uint32_t count = a->serving->node_count;
    const uint32_t stored = count + a->serving->storage_count;
    return (a->index < count || a->index >= stored) && (b->index < count || b->index >= stored) &&
           a->place.leader == b->place.leader && a->place.host_count > 1;
}

uint64_t app__serving_steps_max(const app__serving_node_t *node)
{
    return node->place.stages == 1                           ? 1
           : node->serving->config.micro_batches == SIM_AUTO ? node->place.stages
                                                             : node->serving->config.micro_batches;
}

// -- checks

static sim_err_t check_shape(const app__serving_t *serving, bool decodes, sim_message_t *message)
{
    const shape_t shape = shape_of(&serving->config, decodes);
    const uint64_t layers = serving->served.sizes.layers;
    if (shape.tp % shape.tp_hosts != 0) {
        return sim_fail_about(
            message, SIM_ERR_RANGE,
            decodes && serving->config.decode_tp_hosts != SIM_AUTO ? "decode-tp-hosts" : "tp-hosts",
            " is %" PRIu64 ", expected a divisor of %s: %" PRIu64, shape.tp_hosts,
            decodes ? "decode-tp" : "tp", shape.tp);
    }
    if (shape.stages > layers) {
        return sim_fail_about(message, SIM_ERR_RANGE,
                              decodes && serving->config.decode_pp != SIM_AUTO ? "decode-pp" : "pp",
                              " is %" PRIu64 ", and the model has %" PRIu64
                              " layers; expected at most one stage for each",
                              shape.stages, layers);
    }
    return SIM_OK;
}

sim_err_t app__serving_check_shapes(const app__serving_t *serving, sim_message_t *message)
{
    sim_err_t error = check_shape(serving, false, message);
    if (error == SIM_OK && serving->config.decode > 0) {
        error = check_shape(serving, true, message);
    }
    if (error == SIM_OK && serving->config.storage_path != APP__SERVING_DIRECT &&
        app__serving_member_count(serving) > 0) {
        error = sim_fail_about(message, SIM_ERR_INVALID, "storage-path",
                               ": the way by the decode node exists for nodes of one host only, "
                               "expected `direct`, or pp and tp-hosts of 1");
    }
    return error;
}
