// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/aicb_read.c - reads workload texts of AICB and SimAI.
//
// A text is a stream of words: a policy, pairs of a key and a number, the number of layers, and 12
// words for each layer. Line ends mean nothing, as to SimAI.
#include "apps/workload/formats/aicb.h"
#include "apps/workload/formats/words.h"

#include <string.h>

#define COUNT_MAX UINT64_C(1000000)
#define BYTES_MAX (UINT64_C(1) << 48)
#define TIME_NS_MAX (UINT64_C(1) << 53)

static const char *const policies[APP__AICB_POLICIES] = {
    [APP__AICB_POLICY_NONE] = "NONE",
    [APP__AICB_DATA] = "DATA",
    [APP__AICB_MODEL] = "MODEL",
    [APP__AICB_TRANSFORMER] = "HYBRID_TRANSFORMER",
    [APP__AICB_TRANSFORMER_AGAIN] = "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    [APP__AICB_DLRM] = "HYBRID_DLRM",
    [APP__AICB_DLRM_ENHANCED] = "HYBRID_DLRM_ENHANCED",
    [APP__AICB_DATA_MODEL] = "HYBRID_DATA_MODEL",
    [APP__AICB_MODEL_DATA] = "HYBRID_MODEL_DATA",
    [APP__AICB_CUSTOMIZED] = "HYBRID_CUSTOMIZED",
    [APP__AICB_MICRO] = "MICRO",
    [APP__AICB_INFERENCE] = "DISTRIBUTED_INFERENCE",
};

const char *app__aicb_policy_name(app__aicb_policy_t policy)
{
    SIM_CHECK(policy < APP__AICB_POLICIES);
    return policies[policy];
}

// Returns the policy that the last word names; APP__AICB_POLICY_NONE: it names none.
static app__aicb_policy_t policy_of(const app__words_t *words)
{
    for (app__aicb_policy_t i = APP__AICB_DATA; i < APP__AICB_POLICIES; i++) {
        if (app__words_is(words, policies[i])) {
            return i;
        }
    }
    return APP__AICB_POLICY_NONE;
}

// Returns whether a policy that is not known stands before what follows it in a workload: the
// number of layers, and a layer with its dependency, a time and a collective; or SimAI's header.
static bool begins_layers(app__words_t words)
{
    static const char *const collectives[] = {"NONE", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER",
                                              "ALLTOALL"};
    uint64_t layers = 0;
    if (!app__words_next(&words)) {
        return false;
    }
    if (app__words_is(&words, "model_parallel_NPU_group:")) {
        return true;
    }
    bool good = app__words_number(&words, UINT32_MAX, &layers);
    for (unsigned i = 0; i < 4; i++) { // name, dependency, time, collective
        good = good && app__words_next(&words);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(collectives) && good; i++) {
        const size_t length = strlen(collectives[i]);
        if (words.length >= length && memcmp(words.word, collectives[i], length) == 0) {
            return true;
        }
    }
    return false;
}

bool app__aicb_recognises(const app__workload_file_t *file)
{
    static const char prefix[] = "HYBRID_"; // of a policy, also of one that is misspelt
    app__words_t words;
    if (file->size_bytes == 0) {
        return false;
    }
    app__words_init(&words, file, NULL);
    return app__words_next(&words) &&
           (policy_of(&words) != APP__AICB_POLICY_NONE ||
            (words.length >= strlen(prefix) && memcmp(words.word, prefix, strlen(prefix)) == 0) ||
            begins_layers(words));
}

// Reads the next word as a number.
static sim_err_t take_number(app__words_t *words, uint64_t most, uint64_t *number, const char *what)
{
    if (!app__words_next(words)) {
        return app__words_fail(words, "the file ends here", what);
    }
    return app__words_number(words, most, number)
               ? SIM_OK
               : app__words_fail(words, "the number is wrong", what);
}

// -- the header

// Layers that the header lists before the layers themselves are there.
typedef struct list {
    uint64_t *layers;
    size_t count;
    size_t capacity;
} list_t;

typedef struct header {
    list_t checkpoints;
    list_t initiates;
} header_t;

// Reads "N LAYER LAYER ...".
static sim_err_t take_list(app__words_t *words, list_t *list)
{
    uint64_t count = 0;
    sim_err_t error = take_number(words, COUNT_MAX, &count, "a number of layers");
    for (uint64_t i = 0; i < count && error == SIM_OK; i++) {
        SIM_GROW(list->layers, list->count, &list->capacity);
        error = take_number(words, COUNT_MAX, &list->layers[list->count], "the number of a layer");
        list->count += error == SIM_OK;
    }
    return error;
}

// Returns the place of the number that a key of the header has; NULL: the key is unknown.
static uint64_t *place_of(const app__words_t *words, app__aicb_t *aicb)
{
    const struct {
        const char *key;
        uint64_t *number;
    } keys[] = {
        {"model_parallel_NPU_group:", &aicb->tp},
        {"ep:", &aicb->ep},
        {"pp:", &aicb->pp},
        {"vpp:", &aicb->vpp},
        {"ga:", &aicb->ga},
        {"all_gpus:", &aicb->all_gpus},
        {"DLRM_LAST_BOTTOM_LAYER:", &aicb->bottom_layer},
        {"pp_comm:", &aicb->pp_bytes},
        {"pp_comm", &aicb->pp_bytes},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (app__words_is(words, keys[i].key)) {
            return keys[i].number;
        }
    }
    return NULL;
}

// Reads the bytes of a message between stages. AICB divides them, so it writes 4194304.0, and SimAI
// cuts off the fraction.
static sim_err_t take_stage_bytes(app__words_t *words, uint64_t *number)
{
    static const char what[] = "the bytes of a message between pipeline stages";
    if (!app__words_next(words)) {
        return app__words_fail(words, "the file ends here", what);
    }
    app__words_t whole = *words;
    const char *const point = memchr(words->word, '.', words->length);
    bool good = true;
    if (point != NULL) {
        app__words_t fraction = *words;
        uint64_t ignored = 0;
        whole.length = (size_t)(point - words->word);
        fraction.word = point + 1;
        fraction.length -= whole.length + 1;
        good = app__words_number(&fraction, UINT64_MAX, &ignored);
    }
    return good && app__words_number(&whole, BYTES_MAX, number)
               ? SIM_OK
               : app__words_fail(words, "the number is wrong", what);
}

// Reads the value of the key that the last word is. Keys that nobody knows have a value, too.
static sim_err_t take_key(app__words_t *words, app__aicb_t *aicb, header_t *header)
{
    uint64_t ignored = 0;
    if (app__words_is(words, "checkpoints:")) {
        return take_list(words, &header->checkpoints);
    }
    if (app__words_is(words, "checkpoint_initiates:")) {
        return take_list(words, &header->initiates);
    }
    uint64_t *const place = place_of(words, aicb);
    if (place == &aicb->pp_bytes) {
        aicb->has_pp_bytes = true;
        return take_stage_bytes(words, place);
    }
    return take_number(words, COUNT_MAX, place != NULL ? place : &ignored,
                       "the value of the key before it, up to 1000000");
}

// Reads DLRM's last bottom layer where it stands without its key in the policy's line, as in
// ASTRA-sim's first texts. The number of layers has a line of its own there.
static void take_bottom_layer(app__words_t *words, app__aicb_t *aicb)
{
    const bool is_dlrm = aicb->policy == APP__AICB_DLRM || aicb->policy == APP__AICB_DLRM_ENHANCED;
    app__words_t ahead = *words;
    uint64_t number = 0;
    if (is_dlrm && app__words_next(&ahead) && ahead.line == words->line &&
        app__words_number(&ahead, COUNT_MAX, &number)) {
        *words = ahead;
        aicb->bottom_layer = number;
    }
}

// Reads the policy, the keys and the number of layers.
static sim_err_t take_header(app__words_t *words, app__aicb_t *aicb, header_t *header)
{
    sim_err_t error = SIM_OK;
    if (!app__words_next(words) || policy_of(words) == APP__AICB_POLICY_NONE) {
        return app__words_fail(words, "the policy is unknown",
                               "DATA, MODEL, MICRO, DISTRIBUTED_INFERENCE, HYBRID_TRANSFORMER, "
                               "HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_DLRM, "
                               "HYBRID_DLRM_ENHANCED, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA or "
                               "HYBRID_CUSTOMIZED");
    }
    aicb->policy = policy_of(words);
    take_bottom_layer(words, aicb);
    while (error == SIM_OK) {
        if (!app__words_next(words)) {
            return app__words_fail(words, "the file ends in its header", "the number of layers");
        }
        const bool is_key =
            words->word[words->length - 1] == ':' || app__words_is(words, "pp_comm");
        if (!is_key) {
            break;
        }
        error = take_key(words, aicb, header);
    }
    if (error == SIM_OK &&
        (!app__words_number(words, COUNT_MAX, &aicb->declared) || aicb->declared == 0)) {
        return app__words_fail(words, "the number of layers is wrong",
                               "a key that ends with ':', or a number of layers up to 1000000");
    }
    return error;
}

// -- layers

static const struct {
    const char *word;
    app__aicb_kind_t kind;
} kinds[] = {
    {"NONE", APP__AICB_NONE},
    {"ALLREDUCE", APP__AICB_ALL_REDUCE},
    {"ALLGATHER", APP__AICB_ALL_GATHER},
    {"REDUCESCATTER", APP__AICB_REDUCE_SCATTER},
    {"ALLTOALL", APP__AICB_ALL_TO_ALL},
    {"ALLREDUCEALLTOALL", APP__AICB_ALL_REDUCE_ALL_TO_ALL},
    {"BROADCAST", APP__AICB_BROADCAST},
};

static bool ends_with(const app__aicb_word_t *word, const char *suffix)
{
    const size_t length = strlen(suffix);
    return word->length > length && memcmp(word->text + word->length - length, suffix, length) == 0;
}

// Splits a collective's word into the collective and its group.
static void decode(app__aicb_step_t *step, app__aicb_phase_t phase)
{
    size_t length = step->word.length;
    step->kind = APP__AICB_UNKNOWN;
    step->set = phase == APP__AICB_WEIGHT_GRADIENT ? APP__AICB_DP : APP__AICB_TP;
    if (ends_with(&step->word, "_DP_EP")) {
        step->set = APP__AICB_DP_EP;
        length -= strlen("_DP_EP");
    } else if (ends_with(&step->word, "_EP")) {
        step->set = APP__AICB_EP;
        length -= strlen("_EP");
    }
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        if (length == strlen(kinds[i].word) &&
            memcmp(step->word.text, kinds[i].word, length) == 0) {
            step->kind = (uint8_t)kinds[i].kind;
        }
    }
}

// Reads the computation, the collective and the bytes of one phase.
static sim_err_t take_step(app__words_t *words, app__aicb_layer_t *layer, app__aicb_phase_t phase)
{
    app__aicb_step_t *const step = &layer->steps[phase];
    sim_err_t error =
        take_number(words, TIME_NS_MAX, &step->compute_ns, "the time of a computation in ns");
    if (error != SIM_OK) {
        return error;
    }
    if (!app__words_next(words)) {
        return app__words_fail(words, "the file ends within a layer", "a collective or NONE");
    }
    if (words->word[0] < 'A' || words->word[0] > 'Z') {
        return app__words_fail(words, "this is no collective",
                               "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, "
                               "ALLREDUCEALLTOALL or BROADCAST, perhaps with _EP or _DP_EP");
    }
    step->word = (app__aicb_word_t){words->word, (uint32_t)words->length};
    decode(step, phase);
    return take_number(words, BYTES_MAX, &step->bytes, "the bytes of a collective, up to 2^48");
}

// Reads the words of a layer behind its name.
static sim_err_t take_layer(app__words_t *words, app__aicb_policy_t policy,
                            app__aicb_layer_t *layer)
{
    *layer = (app__aicb_layer_t){
        .name = {words->word, (uint32_t)words->length},
        .line = words->line,
    };
    if (!app__words_next(words)) {
        return app__words_fail(words, "the file ends within a layer", "12 words for each layer");
    }
    const bool negative = words->word[0] == '-' && words->length > 1;
    app__words_t digits = *words;
    uint64_t ignored = 0;
    digits.word += negative;
    digits.length -= negative;
    if (!app__words_number(&digits, COUNT_MAX, &ignored)) {
        return app__words_fail(words, "the dependency is wrong", "-1 or the number of a layer");
    }
    sim_err_t error = SIM_OK;
    for (app__aicb_phase_t i = APP__AICB_FORWARD; i < APP__AICB_PHASES && error == SIM_OK; i++) {
        error = take_step(words, layer, i);
    }
    if (error == SIM_OK) {
        error = take_number(words, TIME_NS_MAX, &layer->update_ns, "the time of the update in ns");
    }
    if (error == SIM_OK && policy == APP__AICB_CUSTOMIZED) {
        if (!app__words_next(words) || policy_of(words) == APP__AICB_POLICY_NONE) {
            return app__words_fail(words, "the layer's policy is unknown", "such as DATA or MODEL");
        }
        layer->policy = (uint8_t)policy_of(words);
    }
    return error;
}

static void mark_layers(app__aicb_t *aicb, const header_t *header)
{
    for (size_t i = 0; i < header->checkpoints.count; i++) {
        if (header->checkpoints.layers[i] < aicb->layer_count) {
            aicb->layers[header->checkpoints.layers[i]].checkpoint = true;
        }
    }
    for (size_t i = 0; i < header->initiates.count; i++) {
        if (header->initiates.layers[i] < aicb->layer_count) {
            aicb->layers[header->initiates.layers[i]].initiates = true;
        }
    }
}

static sim_err_t take_layers(app__words_t *words, app__aicb_t *aicb)
{
    sim_err_t error = SIM_OK;
    while (error == SIM_OK && aicb->layer_count < aicb->declared && app__words_next(words)) {
        SIM_GROW(aicb->layers, aicb->layer_count, &aicb->layer_capacity);
        error = take_layer(words, aicb->policy, &aicb->layers[aicb->layer_count]);
        aicb->layer_count += error == SIM_OK;
    }
    if (error == SIM_OK && aicb->layer_count == 0) {
        return app__words_fail(words, "the file has no layer", "12 words for each layer");
    }
    while (error == SIM_OK && app__words_next(words)) {
        aicb->words_left++;
    }
    return error;
}

sim_err_t app__aicb_read(const app__workload_file_t *file, app__aicb_t *aicb,
                         sim_message_t *message)
{
    app__words_t words;
    header_t header = {.checkpoints = {.count = 0}};
    *aicb = (app__aicb_t){.name = file->name};
    app__words_init(&words, file, message);
    sim_err_t error = take_header(&words, aicb, &header);
    if (error == SIM_OK) {
        error = take_layers(&words, aicb);
    }
    if (error == SIM_OK) {
        mark_layers(aicb, &header);
    }
    sim_free(header.checkpoints.layers);
    sim_free(header.initiates.layers);
    return error;
}

void app__aicb_fini(app__aicb_t *aicb)
{
    sim_free(aicb->layers);
    aicb->layers = NULL;
    aicb->layer_count = 0;
}
