// SPDX-License-Identifier: Apache-2.0
// programs/verbs/objects.h - the objects of libibverbs with what the library keeps of them.
//
// Each begins with the public struct, which programs get. Handles are the simulator's.
#ifndef PROGRAMS_VERBS_OBJECTS_H
#define PROGRAMS_VERBS_OBJECTS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "programs/turn.h"

#define VERBS_MAX_QP_WR 32768
#define VERBS_MAX_CQE 4194303
#define VERBS_MAX_SRQ_WR 32767
#define VERBS_MAX_MESSAGE_BYTES (UINT32_C(1) << 31)
#define VERBS_ACCESS_KNOWN                                                       \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
     IBV_ACCESS_REMOTE_ATOMIC)

typedef enum verbs_kind { VERBS_CQ = 1, VERBS_QP, VERBS_SRQ, VERBS_CM_ID } verbs_kind_t;

typedef struct verbs_device {
    struct ibv_device base;
    uint32_t index;
} verbs_device_t;

// The public struct is the last field of struct verbs_context, and that is the last field here.
typedef struct verbs_open {
    uint32_t device;
    int owner;     // number of the process that opened it: a process that it forks has a copy
    int events_fd; // the end of the pipe into which asynchronous events are written
    struct verbs_open *next;
    struct verbs_context verbs;
} verbs_open_t;

typedef struct verbs_channel {
    struct ibv_comp_channel base;
    int events_fd; // the end of the pipe into which completion events are written
} verbs_channel_t;

typedef struct verbs_cq {
    union {
        struct ibv_cq base;
        struct ibv_cq_ex ex;
    };
    program_completion_t cache[PROGRAM_POLL_MAX]; // completions that the program has not taken
    uint32_t first;
    uint32_t count;
    program_completion_t current; // of ibv_start_poll
    turn_idle_t idle;
    uint32_t polls_in_a_row; // empty ones, while other queues had completions in their caches
    uint64_t sends;          // posted and not retired
    uint64_t sends_before;   // those before the first post since the last answer
    uint64_t answers;        // number of answers at that post
    bool receives;           // receives were posted that complete here
} verbs_cq_t;

typedef struct verbs_srq {
    struct ibv_srq base;
    struct ibv_srq_attr attr;
    uint32_t waiting; // receives that were posted and are not completed
} verbs_srq_t;

// A work request that ibv_wr_* builds.
typedef struct verbs_builder {
    uint8_t *records;
    size_t bytes;
    size_t capacity;
    uint32_t count;
    int error;
    bool open; // the last record may still get places or an address
    program_post_t last;
    program_sge_t sges[PROGRAM_SGES_MAX];
    uint8_t payload[PROGRAM_INLINE_MAX];
} verbs_builder_t;

typedef struct verbs_qp {
    union {
        struct ibv_qp base;
        struct ibv_qp_ex ex;
    };
    struct ibv_qp_cap cap;
    bool signal_all;
    struct ibv_qp_attr attr; // what the program set
    // Numbers of send work requests: posted, and retired by completions. `signaled` is a ring of
    // the numbers of those that will complete, in a power of two.
    uint64_t posted;
    uint64_t retired;
    uint64_t *signaled;
    uint32_t signaled_mask;
    uint32_t signaled_first;
    uint32_t signaled_count;
    uint32_t receives; // posted and not completed
    verbs_builder_t *builder;
} verbs_qp_t;

typedef struct verbs_pd {
    struct ibv_pd base;
    uint32_t address_handles;
} verbs_pd_t;

typedef struct verbs_ah {
    struct ibv_ah base;
    struct ibv_ah_attr attr;
    uint8_t gid[16]; // of the peer
} verbs_ah_t;

// What lies in the pipes of events.
typedef struct verbs_event {
    uint32_t kind; // as in program_event_t
    uint32_t handle;
} verbs_event_t;

static inline verbs_open_t *verbs_open_of(struct ibv_context *context)
{
    return (verbs_open_t *)(void *)((char *)context - offsetof(verbs_open_t, verbs.context));
}

static inline uint32_t verbs_device_of(struct ibv_context *context)
{
    return verbs_open_of(context)->device;
}

// -- the table of objects by handle

// Adds an object. Returns 0 or ENOMEM.
int verbs_add(verbs_kind_t kind, uint32_t handle, void *object);

// Returns an object, or NULL. May be called in a handler of a signal.
void *verbs_find(verbs_kind_t kind, uint32_t handle);

void verbs_remove(verbs_kind_t kind, uint32_t handle);

// -- pipes of events

// Creates a pipe. Its second end gets a number that programs do not use. Returns 0 or an errno.
int verbs_create_pipe(int ends[2]);

// Takes an event from the pipe, or waits for one. Returns 0, or -1 with errno.
int verbs_take_event(int descriptor, turn_idle_t *idle, verbs_event_t *event);

// -- queues

// Sets the operations of a device, one file each.
void verbs_set_device_ops(struct verbs_context *verbs);
void verbs_set_cq_ops(struct verbs_context *verbs);
void verbs_set_post_ops(struct verbs_context *verbs);

// Sets the operations ibv_wr_* of a queue pair. Returns 0 or an errno.
int verbs_set_wr_ops(verbs_qp_t *qp, enum ibv_qp_type type);

// Releases room in the queue of a completion that the program takes.
void verbs_retire(const program_completion_t *completion);

// Removes the completions of a queue pair that were not taken.
void verbs_forget_completions(struct ibv_cq *cq, uint32_t qp_num);

// Empties the work queues of a queue pair.
void verbs_reset_queues(verbs_qp_t *qp);

// Creates a queue pair for ibv_create_qp and ibv_create_qp_ex.
struct ibv_qp *verbs_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

// Writes a record and what follows it into the ring of posts. Sets its `bytes` and `lead_ps`.
void verbs_put_record(const program_post_t *record, const void *rest, size_t rest_bytes);

// The number of answers at the latest post of a send or a receive.
extern uint64_t verbs_post_answers;

// Writes a record of a poll that finds nothing.
void verbs_put_empty_poll(uint32_t cq);

// Notes that the next poll may find completions of sends of this queue pair that are posted now.
void verbs_expect_completions(const struct ibv_qp *qp);

// Counts a send work request. Returns false if the queue is full.
bool verbs_count_send(verbs_qp_t *qp, bool signaled);

// Puts the address of the peer that an address vector names into `gid`: that of its GRH or, on
// InfiniBand, that of its LID. Returns EINVAL if the device cannot use the vector.
int verbs_resolve_peer(const struct ibv_ah_attr *attr, uint8_t gid[16]);

// Returns EINVAL for a payload that an operation cannot have: an atomic brings 8 bytes, a datagram
// is one packet, and only what is sent can be inline.
int verbs_check_payload(const verbs_qp_t *qp, uint32_t opcode, uint32_t flags, uint64_t bytes);

// Copies the address of a peer into a record for UD. Returns EINVAL without an address handle.
int verbs_put_peer(program_post_t *record, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey);

#endif // PROGRAMS_VERBS_OBJECTS_H
