// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/algorithms/program_file.h - the steps of collectives, and programs of
// them that were read from files.
//
// A program has blocks, as NCCL and MSCCL have thread blocks. A block takes its steps one after the
// other: it receives, reduces and sends chunks of the buffer. A large buffer is done in loops, each
// of which does all steps. A chunk travels in slices.
#ifndef APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_PROGRAM_FILE_H
#define APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_PROGRAM_FILE_H

#include "apps/workload/call.h"

#define APP__NO_BLOCK UINT32_MAX
#define APP__SIGNAL_BYTES 8u // a semaphore, or a request for data

// The actions of a step, a sum of these bits. MSCCL's names: send "s", receive "r", receive + send
// "rcs" (with store), receive + reduce + store "rrc", receive + reduce + send "rrs", with store
// "rrcs", copy "cpy", reduce "re", none of them "nop".
typedef enum app__step_bits {
    APP__STEP_RECV = 1,   // takes the next message of recv_peer
    APP__STEP_REDUCE = 2, // adds the source chunks to what was received, or to the destination
    APP__STEP_SEND = 4,   // sends what was received (and reduced), else the source chunks
    APP__STEP_STORE = 8,  // writes what was received (and reduced) to the destination chunks
    APP__STEP_COPY = 16,  // copies the source chunks to the destination; no message
    // All-to-all: the chunks are of what rank from_chunk has for rank to_chunk; `count` is the
    // number of the chunk, of which the pair has program->chunks.
    APP__STEP_PAIR = 32,
    APP__STEP_FINAL = 64, // the receiver does not send on what this step sends
    // The NVSwitch spreads the data to all ranks of the node: each receiver's link bounds it.
    APP__STEP_SPREAD = 128,
    APP__STEP_SIGNAL = 256,  // the message has no chunks, and APP__SIGNAL_BYTES
    APP__STEP_PACKETS = 512, // half of the message's bytes are flags: MSCCL++'s packets
    APP__STEP_SUM = 1024     // the NVSwitch adds the message to those of the other ranks
} app__step_bits_t;

typedef enum app__buffer {
    APP__BUFFER_INPUT,
    APP__BUFFER_OUTPUT,
    APP__BUFFER_SCRATCH
} app__buffer_t;

// Where a collective works in place, input and output are one buffer of all chunks: chunk i of an
// all-gather's input is chunk i of rank i's output.
typedef struct app__step {
    uint16_t what;       // sum of app__step_bits_t
    uint8_t from_buffer; // app__buffer_t of the source
    uint8_t to_buffer;   // app__buffer_t of the destination
    uint32_t from_chunk; // first chunk of the source
    uint32_t to_chunk;   // first chunk of the destination
    uint32_t count;      // chunks
    // 0: the chunks follow one another; else each is so many behind the one before, modulo the
    // number of ranks, among those of its channel.
    uint32_t stride;
    uint32_t send_peer; // numbers of ranks within the group
    uint32_t recv_peer;
    uint32_t send_lane;  // added to the block's channel: the connection to send_peer
    uint32_t recv_lane;  // added likewise: the connection from recv_peer
    uint32_t wait_block; // APP__NO_BLOCK: none; else the step begins when that block of the rank
    uint32_t wait_step;  // has finished this step of the same loop
} app__step_t;

typedef struct app__block {
    uint32_t channel;    // connections of different channels are different
    uint32_t step_first; // in the steps of a file's program; 0 for others
    uint32_t steps;      // in each loop
} app__block_t;

// The steps of an algorithm from a file, such as MSCCL's XML. All chunks have the same size.
typedef struct app__program_file {
    char *name; // of the algorithm
    app__coll_kind_t kind;
    uint32_t ranks;
    uint32_t channels;
    uint32_t chunks; // into which a loop's part of the buffer (app__call_t.bytes) is divided
    char *protocol;  // "Simple", "LL", "LL128"; NULL: the file does not say
    bool in_place;
    bool one_sided;     // messages need no clear-to-send, and the buffer is done in one loop
    uint64_t bytes_min; // sizes that the file is for; max 0: any
    uint64_t bytes_max;
    uint32_t *block_first; // per rank: in blocks; ranks + 1 values
    app__block_t *blocks;
    size_t block_count;
    size_t block_capacity;
    app__step_t *steps;
    size_t step_count;
    size_t step_capacity;
} app__program_file_t;

app__program_file_t *app__program_file_create(uint32_t ranks);
void app__program_file_destroy(app__program_file_t *file); // NULL is allowed
// Each appends to the last rank, block: call them rank by rank, block by block, step by step.
void app__program_file_rank(app__program_file_t *file);
void app__program_file_block(app__program_file_t *file, uint32_t channel);
void app__program_file_step(app__program_file_t *file, const app__step_t *step);

#endif // APPS_WORKLOAD_COLLECTIVE_ALGORITHMS_PROGRAM_FILE_H
