// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/iteration.h - what one iteration of a training job does, as a schedule of
// computations and collectives. docs/models/training.md
//
// Ranks are numbered as Megatron-LM does: tensor parallelism first, then context, data and pipeline
// parallelism: rank = tp + TP (cp + CP (dp + DP stage)). Experts are spread over the ranks of
// context and data parallelism.
#ifndef APPS_WORKLOAD_TRAINING_ITERATION_H
#define APPS_WORKLOAD_TRAINING_ITERATION_H

#include "apps/workload/schedule.h"
#include "apps/workload/training/model.h"
#include "kernel/random.h"

typedef enum app__recompute {
    APP__RECOMPUTE_NONE,
    APP__RECOMPUTE_SELECTIVE, // the products of queries, keys and values
    APP__RECOMPUTE_FULL       // the whole forward pass of a layer, with its collectives
} app__recompute_t;

typedef enum app__overlap {
    APP__OVERLAP_NONE,
    APP__OVERLAP_GRADIENTS, // buckets of gradients are reduced under the backward pass
    APP__OVERLAP_ALL        // parameters are also gathered under the forward pass
} app__overlap_t;

// The numbers of processors (app__op_t.cpu): what runs on one of them runs one at a time.
typedef enum app__stream {
    APP__STREAM_COMPUTE,
    APP__STREAM_PIPELINE, // messages between stages
    APP__STREAM_BLOCKING, // collectives that the computation waits for
    APP__STREAM_DATA,     // collectives of gradients and parameters
} app__stream_t;

typedef struct app__iteration {
    app__model_t model;
    uint32_t tp;
    uint32_t cp;
    uint32_t dp;
    uint32_t pp;
    uint32_t vpp; // chunks of layers of a stage
    uint32_t ep;  // divides cp x dp
    uint32_t iterations;
    uint32_t microbatches; // of a pipeline in an iteration
    uint64_t microbatch;   // sequences of one
    uint64_t sequence;     // tokens of one
    bool sequence_parallel;
    bool count_attention; // the products of queries, keys and values cost time
    app__recompute_t recompute;
    app__overlap_t overlap;
    uint32_t tensor_pieces;    // of a matrix product, whose collectives overlap; 0, 1: none do
    uint32_t expert_pieces;    // likewise, of the tokens of a layer's experts
    uint32_t zero;             // stage of ZeRO, 0 to 3
    uint64_t bucket_bytes;     // gradients of a collective at least; 0: all of a stage
    uint64_t activation_bytes; // of an element
    uint64_t gradient_bytes;   // of a parameter
    uint64_t parameter_bytes;  // of a parameter
    double flops;              // a GPU computes in a second: its peak times the share it reaches
    uint64_t update_ns;        // of the optimizer
    sim_ratio_t jitter;        // standard deviation of computations, as a share of them
    sim_ratio_t slow_factor;   // of computations of slow ranks
    bool *slow;                // by rank; NULL: none
    double *load;              // expert load by column, see app__routing_make; NULL: uniform
    uint64_t seed;             // of jitter and of the order of hot experts
    const uint64_t *const *matrices; // by layer and direction (2 layer + back); NULL: uniform
} app__iteration_t;

// Returns tp x cp x dp x pp.
uint32_t app__iteration_ranks(const app__iteration_t *plan);
// Returns the tokens of a microbatch that a rank works on.
uint64_t app__iteration_tokens(const app__iteration_t *plan);
// Returns the first layer of chunk `chunk` of a stage; chunk `vpp` x `pp` is behind the last layer.
// The chunks are numbered in the order in which a token passes them: chunk c of stage s is
// c pp + s.
uint64_t app__iteration_first_layer(const app__iteration_t *plan, uint64_t chunk);

// -- order.c: the order of the passes of a stage

typedef struct app__pass {
    uint32_t microbatch;
    uint32_t chunk; // of the stage: 0 .. vpp - 1
    bool backward;
} app__pass_t;

// Returns the passes of a stage in their order: 1F1B, or Megatron-LM's interleaved schedule if vpp
// is above 1 (microbatches is then a multiple of pp). *count is 2 x microbatches x vpp. Free the
// list with sim_free.
app__pass_t *app__passes(const app__iteration_t *plan, uint32_t stage, size_t *count);

// -- generate.c

// Makes the schedule of a plan.
app__schedule_t *app__iteration_schedule(const app__iteration_t *plan);

#endif // APPS_WORKLOAD_TRAINING_ITERATION_H
