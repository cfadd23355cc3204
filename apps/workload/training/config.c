// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/config.c - the attributes of the application `training`.
#include "apps/workload/training/config.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "traffic.training"
#define TYPE app__training_config_t
#define PARAMETERS_MAX 1e17
#define ACTIVATIONS_MAX 1e15 // bytes of a microbatch
#define COMPUTES_S_MAX 1e6   // of all iterations

// clang-format off
#define MODEL_SIZE(path, member, least, most, help_)                                               \
    SIM_ATTR_ROW(TYPE, COUNT, PREFIX "." path, member, "auto", least, most, help_ "; auto: the model's", .auto_ok = true)

#define ATTR(type_, path_, ...) SIM_ATTR_ROW(TYPE, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "model", model, "gpt-13b", APP__MODEL_NAMES, "language model; the attributes from layers to expert-ffn change it"),
    MODEL_SIZE("layers", layers, "1", "10000", "layers of the model"),
    MODEL_SIZE("hidden", hidden, "1", "1000000", "width of the model"),
    MODEL_SIZE("heads", heads, "1", "10000", "heads of attention"),
    MODEL_SIZE("kv-heads", kv_heads, "1", "10000", "heads of keys and values"),
    MODEL_SIZE("ffn", ffn, "1", "10000000", "inner width of a dense layer's MLP"),
    MODEL_SIZE("vocab", vocab, "1", "10000000", "entries of the vocabulary"),
    MODEL_SIZE("experts", experts, "0", "4096", "experts of a layer; 0: dense layers"),
    MODEL_SIZE("top-k", top_k, "1", "4096", "experts that a token uses"),
    MODEL_SIZE("expert-ffn", expert_ffn, "1", "10000000", "inner width of an expert"),
    ATTR(COUNT, "tp", tp, "1", "1", "1024", "tensor parallelism: number of GPUs that share each layer"),
    ATTR(COUNT, "cp", cp, "1", "1", "1024", "context parallelism: number of GPUs that share each sequence"),
    ATTR(COUNT, "dp", dp, "auto", "1", "1000000", "data parallelism: number of replicas of the model; auto: as many as the hosts' NICs have room for", .auto_ok = true),
    ATTR(COUNT, "pp", pp, "1", "1", "1024", "pipeline parallelism: number of stages of the model"),
    ATTR(COUNT, "vpp", vpp, "1", "1", "1024", "number of chunks of layers of a stage; above 1: the interleaved schedule"),
    ATTR(COUNT, "ep", ep, "1", "1", "4096", "expert parallelism: number of ranks of cp x dp over which the experts are spread"),
    ATTR(COUNT, "iterations", iterations, "1", "1", "10000", "number of iterations of the training, each with one update of the parameters"),
    ATTR(COUNT, "microbatches", microbatches, "8", "1", "100000", "number of microbatches that a replica of the model works on in an iteration"),
    ATTR(COUNT, "microbatch", microbatch, "1", "1", "100000", "number of sequences of a microbatch"),
    ATTR(COUNT, "sequence", sequence, "2048", "1", "100000000", "number of tokens of a sequence"),
    ATTR(BOOL, "sequence-parallel", sequence_parallel, "false", "whether the ranks of a tensor-parallel group share the activations between layers: all-gathers and reduce-scatters instead of all-reduces, and shorter messages between stages"),
    ATTR(BOOL, "attention", attention, "false", "whether the products of queries, keys and values, which grow with the square of the sequence, cost time beside the model's parameters"),
    ATTR(ENUM, "recompute", recompute, "none", "none|selective|full", "results of the forward pass that the backward pass computes again: none, the products of queries, keys and values, or all of each layer"),
    ATTR(ENUM, "overlap", overlap, "gradients", "none|gradients|all", "collectives of data parallelism that run beside computation: none; those of gradients under the backward pass; all: those of parameters, too, under the forward pass"),
    ATTR(COUNT, "tensor-overlap", tensor_overlap, "1", "1", "64", "number of pieces of a matrix product, whose tensor-parallel collectives run beside the computation of other pieces, as with tp-comm-overlap of Megatron; 1: they block"),
    ATTR(COUNT, "expert-overlap", expert_overlap, "1", "1", "64", "number of pieces into which the tokens of a layer's experts are divided: while one is computed, others are sent to experts and back; 1: experts wait for all tokens"),
    ATTR(COUNT, "zero", zero, "1", "0", "3", "stage of ZeRO: 0 all-reduces gradients, 1 reduce-scatters them and gathers parameters, 2 reduce-scatters them in each microbatch, 3 gathers parameters layer by layer"),
    ATTR(BYTES, "bucket", bucket_bytes, "160MB", "0", "1TB", "bytes of gradients in one collective; with overlap, a collective takes whole layers until it has this size; without it, pieces of this size; 0: all gradients of a stage in one"),
    ATTR(COUNT, "activation-bytes", activation_bytes, "2", "1", "8", "size of an activation"),
    ATTR(COUNT, "gradient-bytes", gradient_bytes, "4", "1", "8", "size of a gradient when it is reduced"),
    ATTR(COUNT, "parameter-bytes", parameter_bytes, "2", "1", "8", "size of a parameter when it is gathered"),
    ATTR(RATIO, "tflops", tflops, "989", "1/1000", "1000000", "peak of a GPU in 10^12 floating-point operations a second; the default is an H100 with 16-bit numbers"),
    ATTR(RATIO, "mfu", mfu, "0.4", "1/1000", "1", "share of the peak that a GPU reaches while it computes"),
    ATTR(TIME, "update", update_ps, "0s", "0s", "1000s", "time of the optimizer in an iteration"),
    ATTR(RATIO, "jitter", jitter, "0", "0", "1", "standard deviation of the time of each computation, as a share of it"),
    ATTR(STRING, "slow-ranks", slow_ranks, "", "ranks that compute slowly: numbers and ranges such as [3, 8-15]"),
    ATTR(RATIO, "slow-factor", slow_factor, "2", "1", "1000", "factor on the computations of slow ranks"),
    ATTR(RATIO, "skew", skew, "0", "0", "4", "exponent of Zipf's law by which tokens choose experts, each layer with hot experts of its own; 0: all experts get the same number"),
    ATTR(STRING, "routing", routing, "", "file with a matrix of weights: a row for each rank of an expert group, or one for all; a column for each expert, or each rank of the group"),
    APP__WORKLOAD_ATTRS(PREFIX, TYPE, options),
};
// clang-format on

const sim_attr_table_t app__training_attrs =
    SIM_ATTR_TABLE(PREFIX, "application", app__training_config_t, attrs);

// -- the plan

static uint64_t given(uint64_t value, uint64_t otherwise)
{
    return value == SIM_AUTO ? otherwise : value;
}

static app__model_t model_of(const app__training_config_t *config)
{
    app__model_t model = app__models[config->model];
    // Attributes that a preset sets for its whole shape do not fit another shape.
    const bool other_shape = config->layers != SIM_AUTO || config->hidden != SIM_AUTO;
    model.layers = given(config->layers, model.layers);
    model.hidden = given(config->hidden, model.hidden);
    model.heads = given(config->heads, model.heads);
    model.kv_heads =
        given(config->kv_heads, config->heads != SIM_AUTO ? model.heads : model.kv_heads);
    model.ffn = given(config->ffn, model.ffn);
    model.vocab = given(config->vocab, model.vocab);
    model.experts = given(config->experts, model.experts);
    model.top_k = given(config->top_k, model.top_k > 0 ? model.top_k : 2);
    model.expert_ffn =
        given(config->expert_ffn, model.expert_ffn > 0 ? model.expert_ffn : model.ffn);
    if (other_shape) {
        model.attention = config->hidden != SIM_AUTO ? 0 : model.attention;
        model.other = 0;
    }
    return model;
}

static sim_err_t check_model(const app__model_t *model, sim_message_t *message)
{
    if (model->hidden % model->heads != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "heads",
                              ": %" PRIu64 " heads do not divide a width of %" PRIu64
                              ", expected a divisor",
                              model->heads, model->hidden);
    }
    if (model->heads % model->kv_heads != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "kv-heads",
                              ": %" PRIu64 " heads of keys and values beside %" PRIu64
                              " heads, expected a divisor",
                              model->kv_heads, model->heads);
    }
    if (model->experts > 0 && model->top_k > model->experts) {
        return sim_fail_about(message, SIM_ERR_INVALID, "top-k",
                              ": a token uses %" PRIu64 " of %" PRIu64
                              " experts, expected at most all",
                              model->top_k, model->experts);
    }
    return SIM_OK;
}

// Sets the degrees of parallelism; dp: auto takes all places.
static sim_err_t set_degrees(const app__training_config_t *config, uint64_t places,
                             app__iteration_t *plan, sim_message_t *message)
{
    const uint64_t replica = config->tp * config->cp * config->pp;
    if (config->dp == SIM_AUTO && (places < replica || places % replica != 0)) {
        return sim_fail_about(message, SIM_ERR_INVALID, "dp",
                              ": %" PRIu64 " NICs of hosts are no whole number of replicas of "
                              "tp x cp x pp = %" PRIu64 ", expected a multiple, or dp as a number",
                              places, replica);
    }
    const uint64_t dp = config->dp == SIM_AUTO ? places / replica : config->dp;
    if (dp * replica > APP__RANKS_MAX) {
        return sim_fail_about(message, SIM_ERR_RANGE, "dp",
                              ": %" PRIu64 " ranks, expected at most %u", dp * replica,
                              APP__RANKS_MAX);
    }
    plan->tp = (uint32_t)config->tp;
    plan->cp = (uint32_t)config->cp;
    plan->dp = (uint32_t)dp;
    plan->pp = (uint32_t)config->pp;
    plan->vpp = (uint32_t)config->vpp;
    plan->ep = (uint32_t)config->ep;
    return SIM_OK;
}

// Refuses tensor parallelism that would cut heads.
static sim_err_t check_heads(const app__iteration_t *plan, sim_message_t *message)
{
    const app__model_t *const model = &plan->model;
    if (model->heads % plan->tp != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "tp",
                              ": %u GPUs share %" PRIu64 " heads, expected a divisor of the heads",
                              plan->tp, model->heads);
    }
    if (model->kv_heads % plan->tp != 0 && plan->tp % model->kv_heads != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "tp",
                              ": %u GPUs share %" PRIu64 " heads of keys and values, expected a "
                              "divisor or a multiple",
                              plan->tp, model->kv_heads);
    }
    return SIM_OK;
}

static sim_err_t check_degrees(const app__iteration_t *plan, sim_message_t *message)
{
    const app__model_t *const model = &plan->model;
    const uint32_t replicas = plan->cp * plan->dp;
    if ((uint64_t)plan->pp * plan->vpp > model->layers) {
        return sim_fail_about(message, SIM_ERR_INVALID, "pp",
                              ": pp x vpp = %u chunks for %" PRIu64
                              " layer%s, expected a layer for each",
                              plan->pp * plan->vpp, model->layers, sim_plural(model->layers));
    }
    if (plan->vpp > 1 && (plan->pp == 1 || plan->microbatches % plan->pp != 0)) {
        return sim_fail_about(message, SIM_ERR_INVALID, "vpp",
                              ": the interleaved schedule takes microbatches in groups of pp = %u, "
                              "expected pp above 1 and a multiple of it, not %u microbatches",
                              plan->pp, plan->microbatches);
    }
    if (plan->ep > 1 && model->experts == 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "ep",
                              ": %u ranks for experts, which the model does not have, expected 1",
                              plan->ep);
    }
    if (plan->ep > 1 && model->experts % plan->ep != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "ep",
                              ": %" PRIu64 " experts for %u ranks, expected a multiple of them",
                              model->experts, plan->ep);
    }
    if (replicas % plan->ep != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "ep",
                              ": %u does not divide cp x dp = %u, expected a divisor", plan->ep,
                              replicas);
    }
    if (plan->sequence % ((uint64_t)plan->cp * plan->tp) != 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "sequence",
                              ": %" PRIu64 " tokens for cp x tp = %u ranks, expected a multiple",
                              plan->sequence, plan->cp * plan->tp);
    }
    const uint64_t tags =
        2 * (uint64_t)plan->iterations * plan->microbatches * plan->pp * plan->vpp;
    if (tags >= APP__ANY) {
        return sim_fail_about(message, SIM_ERR_RANGE, "microbatches",
                              ": %" PRIu64 " messages between stages, expected fewer than 2^32",
                              tags);
    }
    return SIM_OK;
}

// Refuses models, sequences and speeds whose bytes or times do not fit 64 bits.
static sim_err_t check_sizes(const app__iteration_t *plan, sim_message_t *message)
{
    const app__model_t *const model = &plan->model;
    const double width = (double)model->hidden;
    const double expert = model->experts == 0 ? 0 : 3 * width * (double)model->expert_ffn;
    const double used = expert * (double)(model->top_k + model->shared_experts);
    const double rest = 4 * width * width + 3 * width * (double)model->ffn;
    const double layers = (double)model->layers;
    const double embedding = 2 * width * (double)model->vocab;
    const double parameters =
        layers * (rest + expert * (double)(model->experts + model->shared_experts)) + embedding;
    const double tokens = (double)plan->microbatch * (double)plan->sequence / plan->cp;
    const double bytes = tokens * width * (double)plan->activation_bytes *
                         (model->experts == 0 ? 1 : (double)model->top_k);
    const double products = plan->count_attention ? 4 * width * (double)plan->sequence : 0;
    const double passes = (double)plan->microbatches * plan->iterations * tokens / plan->tp;
    const double slowest = (double)plan->slow_factor.num / (double)plan->slow_factor.den *
                           (1 + 6 * (double)plan->jitter.num / (double)plan->jitter.den);
    const double flops = 8 * passes * (layers * (rest + used + products) + embedding);
    if (parameters > PARAMETERS_MAX) {
        return sim_fail_about(message, SIM_ERR_RANGE, "hidden",
                              ": the model has about %.3g parameters, expected at most %.3g",
                              parameters, PARAMETERS_MAX);
    }
    if (bytes > ACTIVATIONS_MAX) {
        return sim_fail_about(
            message, SIM_ERR_RANGE, "microbatch",
            ": a layer has %.3g bytes of activations, expected at most %.3g bytes", bytes,
            ACTIVATIONS_MAX);
    }
    if (flops * slowest / plan->flops > COMPUTES_S_MAX) {
        return sim_fail_about(message, SIM_ERR_RANGE, "tflops",
                              ": a rank computes for up to %.3g s, expected at most %.3g s",
                              flops * slowest / plan->flops, COMPUTES_S_MAX);
    }
    return SIM_OK;
}

static sim_err_t wrong_ranks(const char *text, uint32_t ranks, sim_message_t *message)
{
    return sim_fail_about(message, SIM_ERR_INVALID, "slow-ranks",
                          ": \"%.60s\" is no list of ranks, expected numbers below %u and ranges "
                          "such as [3, 8-15]",
                          text, ranks);
}

// Reads "[3, 8-15]", with or without the brackets.
static sim_err_t read_slow(const char *text, uint32_t ranks, bool **slow, sim_message_t *message)
{
    *slow = NULL;
    const char *at = text;
    bool *const made = sim_alloc_array(ranks, sizeof(*made));
    bool good = true;
    while (good && *(at += strspn(at, " [],")) != '\0') {
        char *end;
        const unsigned long first = strtoul(at, &end, 10);
        unsigned long last = first;
        good = *at >= '0' && *at <= '9';
        if (good && *end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            good = *at >= '0' && *at <= '9';
        }
        good = good && first <= last && last < ranks && strchr(" ],", *end) != NULL;
        for (unsigned long i = first; good && i <= last; i++) {
            made[i] = true;
        }
        at = end;
    }
    if (!good) {
        sim_free(made);
        return wrong_ranks(text, ranks, message);
    }
    *slow = made;
    return SIM_OK;
}

sim_err_t app__training_plan(const app__training_config_t *config, uint64_t places,
                             app__iteration_t *plan, sim_message_t *message)
{
    *plan = (app__iteration_t){
        .model = model_of(config),
        .iterations = (uint32_t)config->iterations,
        .microbatches = (uint32_t)config->microbatches,
        .microbatch = config->microbatch,
        .sequence = config->sequence,
        .sequence_parallel = config->sequence_parallel && config->tp > 1,
        .count_attention = config->attention,
        .recompute = (app__recompute_t)config->recompute,
        .overlap = (app__overlap_t)config->overlap,
        .tensor_pieces = (uint32_t)config->tensor_overlap,
        .expert_pieces = (uint32_t)config->expert_overlap,
        .zero = (uint32_t)config->zero,
        .bucket_bytes = config->bucket_bytes,
        .activation_bytes = config->activation_bytes,
        .gradient_bytes = config->gradient_bytes,
        .parameter_bytes = config->parameter_bytes,
        .flops = (double)config->tflops.num / (double)config->tflops.den * 1e12 *
                 (double)config->mfu.num / (double)config->mfu.den,
        .update_ns = config->update_ps / SIM_PS_PER_NS,
        .jitter = config->jitter,
        .slow_factor = config->slow_factor,
    };
    sim_err_t error = check_model(&plan->model, message);
    if (error == SIM_OK) {
        error = set_degrees(config, places, plan, message);
    }
    if (error == SIM_OK) {
        error = check_heads(plan, message);
    }
    if (error == SIM_OK) {
        error = check_degrees(plan, message);
    }
    if (error == SIM_OK) {
        error = check_sizes(plan, message);
    }
    if (error == SIM_OK && config->slow_ranks[0] != '\0') {
        error = read_slow(config->slow_ranks, app__iteration_ranks(plan), &plan->slow, message);
    }
    return error;
}

double app__training_operations(const app__iteration_t *plan)
{
    const double layers = (double)plan->model.layers / plan->pp;
    const double whole = plan->tp == 1 ? 1 : plan->tensor_pieces;
    const double pieces = SIM_MAX(whole, plan->expert_pieces);
    const double tensor = plan->tp == 1 ? 0 : plan->sequence_parallel ? 4 : 2;
    const double experts = plan->ep > 1 ? 2 : 0;
    const double context = plan->cp > 1 ? 1 : 0;
    const double forward = (2 + tensor + experts) * pieces + context;
    const double passes = plan->recompute == APP__RECOMPUTE_FULL ? 3 : 2;
    const double parameters = plan->zero == 3 ? 4 : 0;
    return (passes * forward + context + parameters) * layers * plan->microbatches *
           plan->iterations * (double)app__iteration_ranks(plan);
}
