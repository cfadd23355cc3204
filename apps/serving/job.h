// SPDX-License-Identifier: Apache-2.0
// apps/serving/job.h - a request at its prefill node, or at its decode node.
#ifndef APPS_SERVING_JOB_H
#define APPS_SERVING_JOB_H

#include "apps/serving/hosts/part.h"

// The jobs of an attempt, and the messages that have arrived. Each half is its node's own.
struct app__serving_jobs {
    app__serving_job_t *prefill;
    app__serving_job_t *decode;
    uint16_t seen_by_prefill; // bits of APP__SERVING_... kinds: messages may arrive twice
    uint16_t seen_by_decode;
    uint16_t seen_by_router;
};

typedef enum app__serving_phase {
    APP__SERVING_FETCHING,  // waits for KV data of earlier prompts
    APP__SERVING_QUEUED,    // waits for a step
    APP__SERVING_RUNNING,   // in the batch
    APP__SERVING_SENDING,   // computed; its KV data is still here
    APP__SERVING_RESERVING, // waits for memory at its decode node
    APP__SERVING_RECEIVING, // has memory at its decode node; KV data arrives
} app__serving_phase_t;

// A request at one node.
struct app__serving_job {
    sim_link_t link; // in the list of its phase
    app__serving_node_t *node;
    uint32_t number; // of the attempt
    uint32_t peer;   // the other node that serves it; its own node if it does both
    app__serving_phase_t phase;
    bool prefills;      // at its prefill node, and to be sent to another one
    uint64_t target;    // tokens whose KV data is needed before the next token comes out
    uint64_t computed;  // tokens whose KV data is here
    uint64_t generated; // tokens for the user so far
    uint64_t pages;
    uint64_t in_step; // tokens of steps under way; 0: none
    // KV data of earlier prompts
    uint64_t own;        // tokens that its node has
    uint64_t to_fetch;   // further ones that other nodes have
    uint64_t reused;     // tokens that need not be computed
    uint32_t source;     // node to fetch from; node_count: the storage nodes
    bool through_decode; // its decode node fetches for it, and keeps a copy
    bool fetch_failed;
    // of the KV data that is sent
    app__serving_part_t part; // of the node's first host
    uint32_t members_left;    // other hosts that have not sent theirs
    bool members_know;
    uint64_t first_sent; // tokens that the decode node has already
    uint32_t under_way;  // transfers that fetch
    bool dropped;        // its other node is lost: it leaves when nothing of it is under way
};

// Creates a job of an attempt in a phase.
app__serving_job_t *app__serving_job_create(app__serving_node_t *node, uint32_t number,
                                            app__serving_phase_t phase);
// Frees a job with its memory.
void app__serving_job_free(app__serving_job_t *job);
// Moves a job to the list of another phase.
void app__serving_job_move(app__serving_job_t *job, app__serving_phase_t phase);
// Takes what a step has done for a job: its part of the prompt, or a token.
void app__serving_job_stepped(app__serving_job_t *job);
// Counts a token for the user; the request ends with its last one.
void app__serving_job_token(app__serving_job_t *job);
// Ends a request at its decode node: all tokens are out, or its KV data never came.
void app__serving_job_end(app__serving_job_t *job, bool failed);
// Frees a prompt whose KV data is at the decode node, or will never be.
void app__serving_free_if_sent(app__serving_job_t *job);
// Lets go of a dropped job if nothing of it is under way. Returns whether it did.
bool app__serving_free_if_dropped(app__serving_job_t *job);
// Goes on when a transfer of a job's KV data has ended.
void app__serving_job_sent(app__serving_job_t *job);
// Notes that another host of the node has sent its part of a request.
void app__serving_member_sent(app__serving_node_t *node, uint32_t number, bool failed);
// Returns what a job's first host sends.
app__serving_part_t *app__serving_part_of_job(app__serving_job_t *job);
// Frees all jobs of a node.
void app__serving_jobs_free(app__serving_node_t *node);

#endif // APPS_SERVING_JOB_H
