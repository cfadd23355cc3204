// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/choose.h - which algorithm and protocol NCCL would take.
#ifndef APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_CHOOSE_H
#define APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_CHOOSE_H

#include "apps/workload/collective/algorithms/program.h"
#include "apps/workload/collective/options.h"

// The GPUs whose constants NCCL knows. ANY: those that rocesim takes without NCCL's latencies.
typedef enum app__gpu {
    APP__GPU_ANY,
    APP__GPU_AMPERE,
    APP__GPU_HOPPER,
    APP__GPU_BLACKWELL,
    APP__GPU_MI300 // with RCCL
} app__gpu_t;

typedef struct app__coll_question {
    app__gpu_t gpu;
    app__processor_t processor; // of the nodes
    uint64_t bytes;
    uint32_t kind; // app__coll_kind_t
    uint32_t ranks;
    uint32_t nodes;
    uint32_t per_node;
    uint32_t channels;
    double inside_gbytes;              // of a rank within its node, in GB/s
    double nvls_gbytes;                // of buffers that its NVSwitches reduce
    double between_gbytes;             // of a node's NICs
    bool nvls;                         // NVSwitches can reduce
    const app__algorithm_t *algorithm; // NULL: any
    app__protocol_t protocol;          // APP__PROTOCOL_AUTO: any
} app__coll_question_t;

typedef struct app__coll_choice {
    const app__algorithm_t *algorithm; // NULL: NCCL has none for this
    app__protocol_t protocol;
    double us; // the time that NCCL expects
} app__coll_choice_t;

// The latencies of a call's software, by NCCL's constants.
typedef struct app__coll_latency {
    sim_time_t call_ps;    // before the first step
    sim_time_t inside_ps;  // of a message within a node
    sim_time_t between_ps; // of a message between nodes
    sim_time_t post_ps;    // of a processor for a message to another node
} app__coll_latency_t;

// Returns the latencies of an algorithm; one that NCCL does not have takes those of a ring.
app__coll_latency_t app__coll_latency(const app__coll_question_t *question,
                                      const app__algorithm_t *algorithm, app__protocol_t protocol);

// `program` is asked what its algorithms can do; it has all that the caller knows.
app__coll_choice_t app__coll_choose(const app__coll_question_t *question,
                                    const app__program_t *program);

#endif // APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_CHOOSE_H
