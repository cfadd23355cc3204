// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/aicb.h - a workload text of AICB or SimAI as it stands in its file.
//
// aicb_read.c reads the text, aicb_counts.c counts what it holds, and aicb_schedule.c makes a
// schedule of it. What the words mean: docs/models/aicb.md
#ifndef APPS_WORKLOAD_FORMATS_AICB_H
#define APPS_WORKLOAD_FORMATS_AICB_H

#include "apps/workload/formats/format.h"

// The kind that the word of a collective names, without the suffix of its group.
typedef enum app__aicb_kind {
    APP__AICB_NONE,
    APP__AICB_ALL_REDUCE,
    APP__AICB_ALL_GATHER,
    APP__AICB_REDUCE_SCATTER,
    APP__AICB_ALL_TO_ALL,
    APP__AICB_ALL_REDUCE_ALL_TO_ALL,
    APP__AICB_BROADCAST, // AICB writes it, SimAI ignores it
    APP__AICB_UNKNOWN
} app__aicb_kind_t;

typedef enum app__aicb_phase {
    APP__AICB_FORWARD,
    APP__AICB_INPUT_GRADIENT,
    APP__AICB_WEIGHT_GRADIENT,
    APP__AICB_PHASES
} app__aicb_phase_t;

// The ranks that a collective is for, by the word's suffix and the phase.
typedef enum app__aicb_set {
    APP__AICB_TP,
    APP__AICB_DP,
    APP__AICB_EP,
    APP__AICB_DP_EP,
    APP__AICB_SETS
} app__aicb_set_t;

typedef enum app__aicb_policy {
    APP__AICB_POLICY_NONE,
    APP__AICB_DATA,
    APP__AICB_MODEL,
    APP__AICB_TRANSFORMER,
    APP__AICB_TRANSFORMER_AGAIN, // forward within backward: activations are computed again
    APP__AICB_DLRM,
    APP__AICB_DLRM_ENHANCED,
    APP__AICB_DATA_MODEL,
    APP__AICB_MODEL_DATA,
    APP__AICB_CUSTOMIZED, // each layer has its own policy
    APP__AICB_MICRO,
    APP__AICB_INFERENCE,
    APP__AICB_POLICIES
} app__aicb_policy_t;

typedef struct app__aicb_word {
    const char *text; // in the file's text
    uint32_t length;
} app__aicb_word_t;

// The work of a layer in one phase.
typedef struct app__aicb_step {
    uint64_t compute_ns;
    uint64_t bytes;
    app__aicb_word_t word; // of the collective
    uint8_t kind;          // app__aicb_kind_t
    uint8_t set;           // app__aicb_set_t
} app__aicb_step_t;

typedef struct app__aicb_layer {
    app__aicb_word_t name;
    app__aicb_step_t steps[APP__AICB_PHASES];
    uint64_t update_ns;
    uint64_t line;
    uint8_t policy; // its own, in files of the policy HYBRID_CUSTOMIZED
    bool checkpoint;
    bool initiates; // before its backward pass, layers since the checkpoint run forward again
} app__aicb_layer_t;

typedef struct app__aicb {
    const char *name;
    app__aicb_policy_t policy;
    uint64_t tp; // these are 0 where the header does not say
    uint64_t ep;
    uint64_t pp;
    uint64_t vpp;
    uint64_t ga;
    uint64_t all_gpus;
    uint64_t pp_bytes;
    uint64_t bottom_layer; // DLRM's last bottom layer
    bool has_pp_bytes;
    uint64_t declared; // layers, as the second line says
    app__aicb_layer_t *layers;
    size_t layer_count;
    size_t layer_capacity;
    uint64_t words_left; // behind the declared layers
} app__aicb_t;

// -- aicb_read.c

// Reads a text. Layers and words point into the text. Call app__aicb_fini afterwards, also after an
// error.
SIM_MUST_CHECK sim_err_t app__aicb_read(const app__workload_file_t *file, app__aicb_t *aicb,
                                        sim_message_t *message);
void app__aicb_fini(app__aicb_t *aicb);
bool app__aicb_recognises(const app__workload_file_t *file);
const char *app__aicb_policy_name(app__aicb_policy_t policy);

#endif // APPS_WORKLOAD_FORMATS_AICB_H
