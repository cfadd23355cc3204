// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/aicb_program.c - the operations of a rank in one pass over a workload text.
//
// A rank goes forward over the layers and backward from the last one. What it waits for depends on
// the policy of the file; docs/models/aicb.md says how each policy works.
#include "apps/workload/formats/aicb_program.h"

#include <string.h>

#define OPS_MAX (UINT32_C(1) << 22)
#define NO_OP UINT32_MAX
#define UPDATE_CPU 1u // updates delay nothing but what waits for them

typedef struct maker {
    const app__aicb_t *aicb;
    const app__aicb_job_t *job;
    app__aicb_program_t *program;
    uint32_t stage;
    uint32_t last;       // of the chain that the rank goes through
    uint32_t waits_for;  // what the next operation of the chain needs besides; NO_OP: nothing
    uint32_t layer_zero; // DLRM: the forward collective of the first layer
    uint32_t *shared;    // by layer: what shared its gradients in the pass before; NO_OP: nothing
    bool full;           // there is no room: nothing is added any more
} maker_t;

// -- operations

static void add_wait(maker_t *maker, uint32_t after, uint32_t before)
{
    app__aicb_program_t *const program = maker->program;
    if (before != NO_OP) {
        SIM_APPEND(program->list, program->list_count, program->list_capacity,
                   (app__dependency_t){after, before, false});
    }
}

// Adds an operation that waits for another one, beside the chain.
static uint32_t add_beside(maker_t *maker, const app__op_t *op, uint32_t before)
{
    app__aicb_program_t *const program = maker->program;
    if (program->op_count >= OPS_MAX) {
        maker->full = true;
        return before;
    }
    SIM_GROW(program->ops, program->op_count, &program->op_capacity);
    program->ops[program->op_count] = *op;
    add_wait(maker, program->op_count, before);
    if (before == maker->last && maker->waits_for != before) {
        add_wait(maker, program->op_count, maker->waits_for);
    }
    return program->op_count++;
}

// Makes an operation behind the last one of the chain the new last one.
static void go_on(maker_t *maker, uint32_t op)
{
    maker->waits_for = op == maker->last ? maker->waits_for : NO_OP;
    maker->last = op;
}

// Adds an operation to the chain.
static void add_next(maker_t *maker, const app__op_t *op)
{
    go_on(maker, add_beside(maker, op, maker->last));
}

static void compute(maker_t *maker, uint64_t ns)
{
    const app__op_t op = {.type = APP__OP_CALC, .size = ns};
    if (ns > 0) {
        add_next(maker, &op);
    }
}

// -- collectives

static const struct {
    app__coll_kind_t kind;
    const char *name;
} kinds[APP__AICB_UNKNOWN] = {
    [APP__AICB_ALL_REDUCE] = {APP__COLL_ALL_REDUCE, "all-reduce"},
    [APP__AICB_ALL_GATHER] = {APP__COLL_ALL_GATHER, "all-gather"},
    [APP__AICB_REDUCE_SCATTER] = {APP__COLL_REDUCE_SCATTER, "reduce-scatter"},
    [APP__AICB_ALL_TO_ALL] = {APP__COLL_ALL_TO_ALL, "all-to-all"},
    [APP__AICB_ALL_REDUCE_ALL_TO_ALL] = {APP__COLL_ALL_REDUCE, "all-reduce"},
    [APP__AICB_BROADCAST] = {APP__COLL_BROADCAST, "broadcast"},
};

static const char *const phase_names[APP__AICB_PHASES] = {
    [APP__AICB_FORWARD] = "forward",
    [APP__AICB_INPUT_GRADIENT] = "input gradient",
    [APP__AICB_WEIGHT_GRADIENT] = "weight gradient",
};

static const app__dimension_t dimensions[APP__AICB_SETS] = {
    [APP__AICB_TP] = APP__DIM_TP,
    [APP__AICB_DP] = APP__DIM_DP,
    [APP__AICB_EP] = APP__DIM_EP,
    [APP__AICB_DP_EP] = APP__DIM_DP_EP,
};

// Returns whether a policy has a collective in a phase at all.
static bool has_phase(app__aicb_policy_t policy, app__aicb_phase_t phase)
{
    const bool weights_only = policy == APP__AICB_DATA || policy == APP__AICB_MICRO;
    const bool inputs_only = policy == APP__AICB_MODEL || policy == APP__AICB_INFERENCE;
    return phase == APP__AICB_WEIGHT_GRADIENT ? !inputs_only : !weights_only;
}

// Returns whether SimAI leaves a collective out that the file has.
static bool is_left_out(const maker_t *maker, const app__aicb_step_t *step)
{
    return maker->job->simai &&
           (step->kind == APP__AICB_BROADCAST ||
            (maker->job->tp == 1 && (step->set == APP__AICB_EP || step->set == APP__AICB_DP_EP)));
}

uint32_t app__aicb_members(const app__aicb_job_t *job, app__aicb_set_t set)
{
    const uint32_t sizes[APP__AICB_SETS] = {
        [APP__AICB_TP] = job->tp,
        [APP__AICB_DP] = job->dp,
        [APP__AICB_EP] = job->ep,
        [APP__AICB_DP_EP] = job->dp / job->ep,
    };
    return sizes[set];
}

app__aicb_set_t app__aicb_set_of(const app__aicb_job_t *job, const app__aicb_step_t *step)
{
    return job->undivided && step->set == APP__AICB_TP ? APP__AICB_DP : step->set;
}

// Adds the rank's part of a collective behind `before`.
static uint32_t add_call(maker_t *maker, const app__aicb_layer_t *layer, app__aicb_phase_t phase,
                         app__coll_kind_t kind, uint32_t before)
{
    app__aicb_program_t *const program = maker->program;
    const app__aicb_step_t *const step = &layer->steps[phase];
    const bool rounds = maker->job->simai && phase == APP__AICB_FORWARD && step->bytes < 4096;
    const app__op_t op = {
        .type = APP__OP_COLL,
        .peer = (uint32_t)program->call_count,
        .dimension = (uint8_t)dimensions[step->set],
    };
    const uint32_t index = add_beside(maker, &op, before);
    if (maker->full) {
        return index;
    }
    SIM_GROW(program->calls, program->call_count, &program->call_capacity);
    program->calls[program->call_count++] = (app__aicb_call_t){
        .call = {.bytes = rounds ? 4096 : step->bytes,
                 .kind = (uint8_t)kind,
                 .dimension = (uint8_t)dimensions[step->set]},
        .set = app__aicb_set_of(maker->job, step),
        .name = sim_format("%.*s %s", (int)SIM_MIN(layer->name.length, 60), layer->name.text,
                           phase_names[phase]),
    };
    return index;
}

// Adds the collective of a phase behind `before`. Returns its operation, or `before` if there is
// none.
static uint32_t communicate(maker_t *maker, const app__aicb_layer_t *layer, app__aicb_phase_t phase,
                            uint32_t before)
{
    const app__aicb_step_t *const step = &layer->steps[phase];
    const app__aicb_policy_t policy =
        maker->aicb->policy == APP__AICB_CUSTOMIZED ? layer->policy : maker->aicb->policy;
    if (step->kind == APP__AICB_NONE || step->kind == APP__AICB_UNKNOWN || step->bytes == 0 ||
        app__aicb_members(maker->job, app__aicb_set_of(maker->job, step)) < 2 ||
        !has_phase(policy, phase) || is_left_out(maker, step)) {
        return before;
    }
    uint32_t last = add_call(maker, layer, phase, kinds[step->kind].kind, before);
    if (step->kind == APP__AICB_ALL_REDUCE_ALL_TO_ALL && !maker->job->simai) {
        last = add_call(maker, layer, phase, APP__COLL_ALL_TO_ALL, last);
    }
    return last;
}

// Adds a collective that the rank waits for.
static void communicate_now(maker_t *maker, const app__aicb_layer_t *layer, app__aicb_phase_t phase)
{
    const uint32_t before = maker->last;
    const app__op_t update = {.type = APP__OP_CALC, .size = layer->update_ns, .cpu = UPDATE_CPU};
    go_on(maker, communicate(maker, layer, phase, before));
    if (maker->job->simai && maker->last != before && layer->update_ns > 0) {
        add_next(maker, &update);
    }
}

// Adds the collective of the weights' gradients, for which the pass does not wait.
static void share_gradient(maker_t *maker, const app__aicb_layer_t *layer)
{
    const app__op_t update = {.type = APP__OP_CALC, .size = layer->update_ns, .cpu = UPDATE_CPU};
    uint32_t last = communicate(maker, layer, APP__AICB_WEIGHT_GRADIENT, maker->last);
    if (last != maker->last) {
        last = layer->update_ns > 0 ? add_beside(maker, &update, last) : last;
        maker->shared[layer - maker->aicb->layers] = last;
    }
}

// Waits until the gradients of a layer are shared, which the pass before began.
static void await_gradient(maker_t *maker, size_t at)
{
    const app__op_t join = {.type = APP__OP_CALC};
    const uint32_t shared = maker->shared[at];
    maker->shared[at] = NO_OP;
    if (shared != NO_OP) {
        add_next(maker, &join);
        if (!maker->full) {
            add_wait(maker, maker->last, shared);
        }
    }
}

// -- passes over one layer

static void forward(maker_t *maker, size_t at)
{
    const app__aicb_layer_t *const layer = &maker->aicb->layers[at];
    await_gradient(maker, at);
    compute(maker, layer->steps[APP__AICB_FORWARD].compute_ns);
    if (maker->aicb->policy == APP__AICB_DLRM || maker->aicb->policy == APP__AICB_DLRM_ENHANCED) {
        if (layer->steps[APP__AICB_FORWARD].kind == APP__AICB_ALL_TO_ALL) {
            const uint32_t call = communicate(maker, layer, APP__AICB_FORWARD, maker->last);
            maker->layer_zero = at == 0 && call != maker->last ? call : maker->layer_zero;
        } else if (at == maker->aicb->bottom_layer) {
            maker->waits_for = maker->layer_zero;
        }
    } else {
        communicate_now(maker, layer, APP__AICB_FORWARD);
    }
}

// Computes activations again, from the last checkpoint up to a layer that needs them.
static void forward_again(maker_t *maker, size_t at)
{
    size_t from = at;
    while (from > 0 && !maker->aicb->layers[from].checkpoint) {
        from--;
    }
    for (; from < at && !maker->full; from++) {
        forward(maker, from);
    }
}

// Policies whose backward pass waits for each collective of the inputs' gradients.
static void backward_waiting(maker_t *maker, size_t at)
{
    const app__aicb_layer_t *const layer = &maker->aicb->layers[at];
    if (layer->initiates && maker->aicb->policy == APP__AICB_TRANSFORMER_AGAIN &&
        !maker->job->simai) {
        forward_again(maker, at);
    }
    compute(maker, layer->steps[APP__AICB_INPUT_GRADIENT].compute_ns);
    communicate_now(maker, layer, APP__AICB_INPUT_GRADIENT);
    compute(maker, layer->steps[APP__AICB_WEIGHT_GRADIENT].compute_ns);
    share_gradient(maker, layer);
}

// Policies that compute the weights' gradients while the inputs' gradients travel.
static void backward_beside(maker_t *maker, size_t at)
{
    const app__aicb_layer_t *const layer = &maker->aicb->layers[at];
    compute(maker, layer->steps[APP__AICB_INPUT_GRADIENT].compute_ns);
    const uint32_t before = maker->last;
    const uint32_t call =
        at == 0 ? before : communicate(maker, layer, APP__AICB_INPUT_GRADIENT, before);
    compute(maker, layer->steps[APP__AICB_WEIGHT_GRADIENT].compute_ns);
    share_gradient(maker, layer);
    if (call != before && maker->last == before) {
        go_on(maker, call);
    } else if (call != before) {
        maker->waits_for = call;
    }
}

static void backward_data(maker_t *maker, size_t at)
{
    const app__aicb_layer_t *const layer = &maker->aicb->layers[at];
    compute(maker, layer->steps[APP__AICB_WEIGHT_GRADIENT].compute_ns);
    share_gradient(maker, layer);
    if (at > 0) {
        compute(maker, layer->steps[APP__AICB_INPUT_GRADIENT].compute_ns);
    }
    if (at > 0 && at == maker->aicb->bottom_layer + 1 && maker->aicb->policy != APP__AICB_DATA) {
        // DLRM: the first layer's gradients leave when the top layers are done.
        const app__aicb_layer_t *const zero = &maker->aicb->layers[0];
        const uint32_t call = communicate(maker, zero, APP__AICB_INPUT_GRADIENT, maker->last);
        const bool waits = maker->aicb->policy == APP__AICB_DLRM && call != maker->last;
        maker->layer_zero = waits ? call : NO_OP;
    }
    if (at == 0 && maker->aicb->policy == APP__AICB_DLRM) {
        maker->waits_for = maker->layer_zero;
    }
}

// The benchmark of collectives: one after the other.
static void benchmark(maker_t *maker, size_t at)
{
    const app__aicb_layer_t *const layer = &maker->aicb->layers[at];
    if (!maker->job->simai) {
        compute(maker, layer->steps[APP__AICB_WEIGHT_GRADIENT].compute_ns);
        communicate_now(maker, layer, APP__AICB_WEIGHT_GRADIENT);
    } else if (at == 0) {
        communicate_now(maker, layer, APP__AICB_WEIGHT_GRADIENT);
    }
}

static void backward(maker_t *maker, size_t at)
{
    static void (*const passes[APP__AICB_POLICIES])(maker_t *, size_t) = {
        [APP__AICB_DATA] = backward_data,
        [APP__AICB_MODEL] = backward_beside,
        [APP__AICB_TRANSFORMER] = backward_waiting,
        [APP__AICB_TRANSFORMER_AGAIN] = backward_waiting,
        [APP__AICB_DLRM] = backward_data,
        [APP__AICB_DLRM_ENHANCED] = backward_data,
        [APP__AICB_DATA_MODEL] = backward_beside,
        [APP__AICB_MODEL_DATA] = backward_beside,
        [APP__AICB_CUSTOMIZED] = backward_beside,
    };
    passes[maker->aicb->policy](maker, at);
}

// -- pipelines

// The layers of the file as a pipeline stage takes them: layers before and behind the microbatches,
// and microbatches of `vpp` parts each.
typedef struct parts {
    size_t *starts; // first layer of each microbatch, and the end of the last one
    size_t count;   // of microbatches
    size_t vpp;
} parts_t;

// Returns whether the stages exchange messages.
static bool exchanges(const maker_t *maker)
{
    return maker->job->pp > 1 && !maker->job->simai && maker->aicb->pp_bytes > 0;
}

static bool begins_with(const app__aicb_word_t *word, const char *prefix)
{
    return word->length >= strlen(prefix) && memcmp(word->text, prefix, strlen(prefix)) == 0;
}

static bool begins_microbatch(const app__aicb_layer_t *layer)
{
    return begins_with(&layer->name, "embedding") &&
           !begins_with(&layer->name, "embedding_grads") &&
           !begins_with(&layer->name, "embedding_norm");
}

static bool ends_microbatches(const app__aicb_layer_t *layer)
{
    return begins_with(&layer->name, "cross_entropy") || begins_with(&layer->name, "optimizer");
}

// Finds the microbatches: each begins with its embedding. A file that does not show as many as its
// header says is one microbatch.
static void find_parts(const app__aicb_t *aicb, bool has_parts, parts_t *parts)
{
    const size_t layers = aicb->layer_count;
    size_t end = layers;
    *parts = (parts_t){
        .starts = sim_alloc_array(layers + 2, sizeof(*parts->starts)),
        .vpp = has_parts && aicb->vpp > 1 ? (size_t)aicb->vpp : 1,
    };
    while (end > 0 && ends_microbatches(&aicb->layers[end - 1])) {
        end--;
    }
    for (size_t i = 0; i < end; i++) {
        if (begins_microbatch(&aicb->layers[i])) {
            parts->starts[parts->count++] = i;
        }
    }
    if (parts->count == 0 || parts->count != aicb->ga) {
        parts->starts[0] = 0;
        parts->count = 1;
        end = layers;
    }
    parts->starts[parts->count] = end;
}

// A part of a microbatch and the stages before and behind it.
typedef struct part {
    size_t microbatch;
    size_t chunk;
} part_t;

static size_t part_start(const parts_t *parts, const part_t *part)
{
    const size_t first = parts->starts[part->microbatch];
    const size_t layers = parts->starts[part->microbatch + 1] - first;
    return first + layers * part->chunk / parts->vpp;
}

static uint32_t tag_of(const parts_t *parts, const part_t *part, bool backward_pass)
{
    return (uint32_t)((part->microbatch * parts->vpp + part->chunk) * 2 + backward_pass);
}

// Finds the neighbour from which a part gets its input in the forward pass; returns false if it is
// the first one. `from` is the part that the neighbour runs.
static bool part_before(const maker_t *maker, const part_t *part, uint32_t *stage, part_t *from)
{
    *from = *part;
    if (maker->stage > 0) {
        *stage = maker->stage - 1;
        return true;
    }
    *stage = maker->job->pp - 1;
    from->chunk--;
    return part->chunk > 0;
}

static bool part_behind(const maker_t *maker, const parts_t *parts, const part_t *part,
                        uint32_t *stage, part_t *to)
{
    *to = *part;
    if (maker->stage + 1 < maker->job->pp) {
        *stage = maker->stage + 1;
        return true;
    }
    *stage = 0;
    to->chunk++;
    return part->chunk + 1 < parts->vpp;
}

static app__op_t message(const maker_t *maker, app__op_type_t type, uint32_t stage, uint32_t tag)
{
    return (app__op_t){
        .type = (uint8_t)type,
        .size = maker->aicb->pp_bytes,
        .peer = stage,
        .tag = tag,
        .dimension = APP__DIM_PP,
    };
}

static void run_part(maker_t *maker, const parts_t *parts, const part_t *part, bool backward_pass)
{
    const part_t next = {part->microbatch, part->chunk + 1};
    const size_t first = part_start(parts, part);
    const size_t end = part_start(parts, &next);
    uint32_t stages[2] = {0, 0};
    part_t others[2];
    const bool has_before = part_before(maker, part, &stages[0], &others[0]);
    const bool has_behind = part_behind(maker, parts, part, &stages[1], &others[1]);
    if (exchanges(maker) && (backward_pass ? has_behind : has_before)) {
        const app__op_t receive =
            message(maker, APP__OP_RECV, stages[backward_pass], tag_of(parts, part, backward_pass));
        add_next(maker, &receive);
    }
    for (size_t i = first; i < end && !maker->full; i++) {
        if (backward_pass) {
            backward(maker, first + end - 1 - i);
        } else {
            forward(maker, i);
        }
    }
    if (exchanges(maker) && (backward_pass ? has_before : has_behind)) {
        const app__op_t send = message(maker, APP__OP_SEND, stages[!backward_pass],
                                       tag_of(parts, &others[!backward_pass], backward_pass));
        (void)add_beside(maker, &send, maker->last);
    }
}

// Returns the part that a stage runs as number `at`: as many microbatches as there are stages go
// through a chunk before the next chunk begins.
static part_t part_at(const maker_t *maker, const parts_t *parts, size_t at)
{
    const size_t stages = maker->job->pp;
    const size_t round = at / (stages * parts->vpp);
    const size_t first = round * stages; // microbatch
    const size_t many = SIM_MIN(parts->count - first, stages);
    const size_t within = at - round * stages * parts->vpp;
    return (part_t){first + within % many, within / many};
}

static void run_pass(maker_t *maker)
{
    const size_t layers = maker->aicb->layer_count;
    parts_t parts;
    find_parts(maker->aicb, exchanges(maker), &parts);
    const size_t count = parts.count * parts.vpp;
    for (size_t i = 0; i < parts.starts[0]; i++) {
        forward(maker, i);
    }
    for (size_t i = 0; i < count && !maker->full; i++) {
        const part_t part = part_at(maker, &parts, i);
        run_part(maker, &parts, &part, false);
    }
    for (size_t i = parts.starts[parts.count]; i < layers; i++) {
        forward(maker, i);
    }
    if (maker->aicb->policy != APP__AICB_INFERENCE) {
        for (size_t i = layers; i > parts.starts[parts.count]; i--) {
            backward(maker, i - 1);
        }
        for (size_t i = count; i > 0 && !maker->full; i--) {
            const part_t part = part_at(maker, &parts, i - 1);
            run_part(maker, &parts, &part, true);
        }
        for (size_t i = parts.starts[0]; i > 0; i--) {
            backward(maker, i - 1);
        }
    }
    sim_free(parts.starts);
}

sim_err_t app__aicb_program_make(const app__aicb_t *aicb, const app__aicb_job_t *job,
                                 uint32_t stage, app__aicb_program_t *program,
                                 sim_message_t *message)
{
    maker_t maker = {
        .aicb = aicb,
        .job = job,
        .program = program,
        .stage = stage,
        .last = NO_OP,
        .waits_for = NO_OP,
        .layer_zero = NO_OP,
    };
    *program = (app__aicb_program_t){.op_count = 0};
    maker.shared = sim_alloc_array(aicb->layer_count + 1, sizeof(*maker.shared));
    for (size_t i = 0; i < aicb->layer_count; i++) {
        maker.shared[i] = NO_OP;
    }
    for (uint32_t pass = 0; pass < job->iterations && !maker.full; pass++) {
        if (aicb->policy == APP__AICB_MICRO) {
            for (size_t i = 0; i < aicb->layer_count; i++) {
                benchmark(&maker, i);
            }
        } else {
            run_pass(&maker);
        }
    }
    sim_free(maker.shared);
    return maker.full ? sim_fail(message, SIM_ERR_RANGE,
                                 "%s: the file makes more than %u operations for a rank, expected "
                                 "fewer layers, checkpoints or iterations",
                                 aicb->name, OPS_MAX)
                      : SIM_OK;
}

void app__aicb_program_fini(app__aicb_program_t *program)
{
    for (size_t i = 0; i < program->call_count; i++) {
        sim_free(program->calls[i].name);
    }
    SIM_FREE_ALL(program->ops, program->list, program->calls);
    *program = (app__aicb_program_t){.op_count = 0};
}
