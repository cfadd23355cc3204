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
    SIM_ATTR(PREFIX "." path, COUNT, TYPE, member,                                                 \
             .auto_ok = true, .default_text = "auto", .min_text = least, .max_text = most,         \
             .help = help_ "; auto: the model's")

static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".model", ENUM, TYPE, model,
             .default_text = "gpt-13b", .choices = APP__MODEL_NAMES,
             .help = "language model; the attributes from layers to expert-ffn change it"),
    MODEL_SIZE("layers", layers, "1", "10000", "layers of the model"),
    MODEL_SIZE("hidden", hidden, "1", "1000000", "width of the model"),
    MODEL_SIZE("heads", heads, "1", "10000", "heads of attention"),
    MODEL_SIZE("kv-heads", kv_heads, "1", "10000", "heads of keys and values"),
    MODEL_SIZE("ffn", ffn, "1", "10000000", "inner width of a dense layer's MLP"),
    MODEL_SIZE("vocab", vocab, "1", "10000000", "entries of the vocabulary"),
    MODEL_SIZE("experts", experts, "0", "4096", "experts of a layer; 0: dense layers"),
    MODEL_SIZE("top-k", top_k, "1", "4096", "experts that a token uses"),
    MODEL_SIZE("expert-ffn", expert_ffn, "1", "10000000", "inner width of an expert"),
    SIM_ATTR(PREFIX ".tp", COUNT, TYPE, tp,
             .default_text = "1", .min_text = "1", .max_text = "1024",
             .help = "tensor parallelism: number of GPUs that share each layer"),
    SIM_ATTR(PREFIX ".cp", COUNT, TYPE, cp,
             .default_text = "1", .min_text = "1", .max_text = "1024",
             .help = "context parallelism: number of GPUs that share each sequence"),
    SIM_ATTR(PREFIX ".dp", COUNT, TYPE, dp,
             .auto_ok = true, .default_text = "auto", .min_text = "1", .max_text = "1000000",
             .help = "data parallelism: number of replicas of the model; auto: as many as the "
                     "hosts' NICs have room for"),
    SIM_ATTR(PREFIX ".pp", COUNT, TYPE, pp,
             .default_text = "1", .min_text = "1", .max_text = "1024",
             .help = "pipeline parallelism: number of stages of the model"),
    SIM_ATTR(PREFIX ".vpp", COUNT, TYPE, vpp,
             .default_text = "1", .min_text = "1", .max_text = "1024",
             .help = "number of chunks of layers of a stage; above 1: the interleaved schedule"),
    SIM_ATTR(PREFIX ".ep", COUNT, TYPE, ep,
             .default_text = "1", .min_text = "1", .max_text = "4096",
             .help = "expert parallelism: number of ranks of cp x dp over which the experts are "
                     "spread"),
    SIM_ATTR(PREFIX ".iterations", COUNT, TYPE, iterations,
             .default_text = "1", .min_text = "1", .max_text = "10000",
             .help = "number of iterations of the training, each with one update of the "
                     "parameters"),
    SIM_ATTR(PREFIX ".microbatches", COUNT, TYPE, microbatches,
             .default_text = "8", .min_text = "1", .max_text = "100000",
             .help = "number of microbatches that a replica of the model works on in an iteration"),
    SIM_ATTR(PREFIX ".microbatch", COUNT, TYPE, microbatch,
             .default_text = "1", .min_text = "1", .max_text = "100000",
             .help = "number of sequences of a microbatch"),
    SIM_ATTR(PREFIX ".sequence", COUNT, TYPE, sequence,
             .default_text = "2048", .min_text = "1", .max_text = "100000000",
             .help = "number of tokens of a sequence"),
    SIM_ATTR(PREFIX ".sequence-parallel", BOOL, TYPE, sequence_parallel,
             .default_text = "false",
             .help = "whether the ranks of a tensor-parallel group share the activations between "
                     "layers: all-gathers and reduce-scatters instead of all-reduces, and shorter "
                     "messages between stages"),
    SIM_ATTR(PREFIX ".attention", BOOL, TYPE, attention,
             .default_text = "false",
             .help = "whether the products of queries, keys and values, which grow with the square "
                     "of the sequence, cost time beside the model's parameters"),
    SIM_ATTR(PREFIX ".recompute", ENUM, TYPE, recompute,
             .default_text = "none", .choices = "none|selective|full",
             .help = "results of the forward pass that the backward pass computes again: none, the "
                     "products of queries, keys and values, or all of each layer"),
    SIM_ATTR(PREFIX ".overlap", ENUM, TYPE, overlap,
             .default_text = "gradients", .choices = "none|gradients|all",
             .help = "collectives of data parallelism that run beside computation: none; those of "
                     "gradients under the backward pass; all: those of parameters, too, under the "
                     "forward pass"),
    SIM_ATTR(PREFIX ".tensor-overlap", COUNT, TYPE, tensor_overlap,
             .default_text = "1", .min_text = "1", .max_text = "64",
             .help = "number of pieces of a matrix product, whose tensor-parallel collectives run "
                     "beside the computation of other pieces, as with tp-comm-overlap of Megatron; "
                     "1: they block"),
    SIM_ATTR(PREFIX ".expert-overlap", COUNT, TYPE, expert_overlap,
             .default_text = "1", .min_text = "1", .max_text = "64",
             .help = "number of pieces into which the tokens of a layer's experts are divided: "
                     "while one is computed, others are sent to experts and back; 1: experts wait "
                     "for all tokens"),
    SIM_ATTR(PREFIX ".zero", COUNT, TYPE, zero,
             .default_text = "1", .min_text = "0", .max_text = "3",
             .help = "stage of ZeRO: 0 all-reduces gradients, 1 reduce-scatters them and gathers "
                     "parameters, 2 reduce-scatters them in each microbatch, 3 gathers parameters "
                     "layer by layer"),
    SIM_ATTR(PREFIX ".bucket", BYTES, TYPE, bucket_bytes,
             .default_text = "160MB", .min_text = "0", .max_text = "1TB",
             .help = "bytes of gradients in one collective; with overlap, a collective takes whole "
                     "layers until it has this size; without it, pieces of this size; 0: all "
                     "gradients of a stage in one"),
    SIM_ATTR(PREFIX ".activation-bytes", COUNT, TYPE, activation_bytes,
             .default_text = "2", .min_text = "1", .max_text = "8",
             .help = "size of an activation"),
    SIM_ATTR(PREFIX ".gradient-bytes", COUNT, TYPE, gradient_bytes,
             .default_text = "4", .min_text = "1", .max_text = "8",
             .help = "size of a gradient when it is reduced"),
    SIM_ATTR(PREFIX ".parameter-bytes", COUNT, TYPE, parameter_bytes,
             .default_text = "2", .min_text = "1", .max_text = "8",
             .help = "size of a parameter when it is gathered"),
    SIM_ATTR(PREFIX ".tflops", RATIO, TYPE, tflops,
             .default_text = "989", .min_text = "1/1000", .max_text = "1000000",
             .help = "peak of a GPU in 10^12 floating-point operations a second; the default is an "
                     "H100 with 16-bit numbers"),
    SIM_ATTR(PREFIX ".mfu", RATIO, TYPE, mfu,
             .default_text = "0.4", .min_text = "1/1000", .max_text = "1",
             .help = "share of the peak that a GPU reaches while it computes"),
    SIM_ATTR(PREFIX ".update", TIME, TYPE, update_ps,
             .default_text = "0s", .min_text = "0s", .max_text = "1000s",
             .help = "time of the optimizer in an iteration"),
    SIM_ATTR(PREFIX ".jitter", RATIO, TYPE, jitter,
             .default_text = "0", .min_text = "0", .max_text = "1",
             .help = "standard deviation of the time of each computation, as a share of it"),
    SIM_ATTR(PREFIX ".slow-ranks", STRING, TYPE, slow_ranks,
             .default_text = "",
             .help = "ranks that compute slowly: numbers and ranges such as [3, 8-15]"),
    SIM_ATTR(PREFIX ".slow-factor", RATIO, TYPE, slow_factor,
             .default_text = "2", .min_text = "1", .max_text = "1000",
             .help = "factor on the computations of slow ranks"),
    SIM_ATTR(PREFIX ".skew", RATIO, TYPE, skew,
             .default_text = "0", .min_text = "0", .max_text = "4",
             .help = "exponent of Zipf's law by which tokens choose experts, each layer with hot "
                     "experts of its own; 0: all experts get the same number"),
    SIM_ATTR(PREFIX ".routing", STRING, TYPE, routing,
             .default_text = "",
             .help = "file with a matrix of weights: a row for each rank of an expert group, or one "
                     "for all; a column for each expert, or each rank of the group"),
    APP__WORKLOAD_ATTRS(PREFIX, TYPE, options),
};
// clang-format on

const sim_attr_table_t app__training_attrs = {PREFIX, "application", sizeof(app__training_config_t),
                                              attrs, SIM_COUNT_OF(attrs)};

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
