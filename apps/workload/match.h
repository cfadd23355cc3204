// SPDX-License-Identifier: Apache-2.0
// apps/workload/match.h - pairs messages with receives by source and tag.
//
// A message takes the earliest posted receive that allows its source and its tag; a receive takes
// the earliest message that it allows. Only events of the rank's host touch it.
#ifndef APPS_WORKLOAD_MATCH_H
#define APPS_WORKLOAD_MATCH_H

#include "apps/workload/op_queue.h"

typedef struct app__rank app__rank_t;

// A message that has arrived before its receive.
typedef struct app__unexpected {
    uint32_t source;
    uint32_t op;   // of the source
    uint32_t next; // index among the rank's, or APP__NO_OP
} app__unexpected_t;

// The receives and the messages of a rank that wait for each other.
typedef struct app__match {
    app__op_queue_t posted; // receives without a message, in the order in which they were posted
    app__unexpected_t *unexpected; // messages without a receive; in order of arrival by `next`
    size_t count;
    size_t capacity;
    uint32_t head; // of `unexpected`
    uint32_t tail;
    uint32_t free;
    uint64_t now; // number of messages that wait
    uint64_t peak;
} app__match_t;

void app__match_init(app__rank_t *rank);
// Posts a receive; returns whether a message was waiting for it, which is then in *message.
bool app__match_post(app__rank_t *rank, uint32_t op, app__unexpected_t *message);
// Takes a message that has arrived whole: operation `op` of rank `source`. Returns the receive that
// gets it; APP__NO_OP: the message waits for one.
uint32_t app__match_arrive(app__rank_t *rank, uint32_t source, uint32_t op);

#endif // APPS_WORKLOAD_MATCH_H
