// SPDX-License-Identifier: Apache-2.0
// cli/serve/snapshot.h - states of a session that a client can come back to.
#ifndef CLI_SERVE_SNAPSHOT_H
#define CLI_SERVE_SNAPSHOT_H

#include "cli/serve/serve.h"

// Keeps the present state. Returns in the process that goes on from here, and again, later and in
// another process, when the client comes back; *back says which. False: the system gives no
// process.
bool serve_mark(serve_conversation_t *conversation, bool *back);
// Comes back to the latest state that was kept. Does not return.
void serve_back(serve_conversation_t *conversation);
// Drops the latest state that was kept.
void serve_drop(serve_conversation_t *conversation);
// Runs fn on a copy of the present state and reads `size` bytes of its result. False: the copy came
// to no end.
bool serve_try(serve_conversation_t *conversation,
               void (*fn)(serve_conversation_t *conversation, const void *ctx, void *result),
               const void *ctx, void *result, size_t size);

#endif // CLI_SERVE_SNAPSHOT_H
