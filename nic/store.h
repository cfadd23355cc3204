// SPDX-License-Identifier: Apache-2.0
// nic/store.h - the store in which a detailed NIC keeps the objects that its work needs: contexts
// of queue pairs and completion queues, memory keys, page translations, WQEs.
//
// A store answers a lookup of (kind, key): how long the lookup occupies its side of the NIC, and
// when the object is there. The store alone decides what a miss costs, where the object comes from,
// and which other object is evicted. "flat" is the store of an ordinary NIC: a set-associative
// cache per kind in front of host memory (nic.detailed.context.* and so on). "tiered" is described
// in docs/models/tiered-cache.md. A program brings its own in nic_config_t.custom_store; kinds that
// it does not answer for stay with the flat caches.
//
// All calls of one store happen in events of its host, in the order of time.
#ifndef NIC_STORE_H
#define NIC_STORE_H

#include "nic/verbs.h"

SIM_C_BEGIN

typedef enum nic_store_kind {
    NIC_STORE_CONTEXT,     // context of a queue pair; key: its number
    NIC_STORE_TRANSLATION, // translation of a page; key: address / page size
    NIC_STORE_WQE,         // key: queue pair number << 32 | index
    NIC_STORE_CQ,          // key: a CQ's number; a shared receive queue's number << 32
    NIC_STORE_KEY,         // key: lkey or rkey of a memory region
    NIC_STORE_PD,          // key: number of a protection domain
    NIC_STORE_KIND_COUNT
} nic_store_kind_t;

// A lookup, and its answer.
typedef struct nic_store_lookup {
    nic_store_kind_t kind;
    uint8_t side;  // side of the NIC: 0 sending, 1 receiving
    bool begins;   // an operation begins with it; false: the operation has begun already
    bool urgent;   // the queue pair can do nothing else before the object is there
    bool can_wait; // the store may set waits: a unit serves nothing else before the object is there
    uint64_t key;
    sim_time_t at_ps;
    // The answer. The store adds to stall_ps and moves ready_ps to a later time, or sets waits.
    sim_time_t stall_ps; // time that the side of the NIC is occupied
    sim_time_t ready_ps; // when the object is there
    bool waits;          // ready_ps is not known yet: nic_store_ops_t.wait reports it
} nic_store_lookup_t;

typedef struct nic_store nic_store_t;
struct nic_pcie;
struct nic_config;

// The surroundings of a store, given when it is created. All of them outlive the store.
typedef struct nic_store_place {
    nic_t *nic;
    sim_node_t *node;      // the NIC's host: timers of the store fire there
    struct nic_pcie *pcie; // between the two (nic/pcie.h)
    uint64_t page_bytes;   // page size of registered memory, in translations
    // Lets the NIC process what has arrived by now. A timer of the store's own calls it first.
    void (*begin)(nic_t *nic);
    uint64_t seed;
    const void *config; // nic_config_t.custom_store_config; of stores by name their own
    const struct nic_store_ops *ops; // of the store that is created
} nic_store_place_t;

typedef struct nic_store_ops {
    const char *name;
    const char *help;
    uint32_t kinds; // 1 << nic_store_kind_t: those it answers for
    nic_store_t *(*create)(const nic_store_place_t *place);
    void (*destroy)(nic_store_t *store);
    // Answers a lookup. It may set waits only where `can_wait` is true.
    void (*look_up)(nic_store_t *store, nic_store_lookup_t *lookup);
    // Called once after the lookups of a unit, if some of them wait. Arms timer at least_ps or when
    // all those objects are there, whichever is later. NULL: lookups never wait.
    void (*wait)(nic_store_t *store, sim_timer_t *timer, sim_time_t least_ps);
    // Called when an object is created, changes in a way that the host must see at once (rights,
    // state), or is destroyed. Each may be NULL.
    void (*add)(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
    void (*change)(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
    void (*remove)(nic_store_t *store, nic_store_kind_t kind, uint64_t key);
    // Called before (over: false) and after the protocol works on a packet for a queue pair, which
    // moves its positions (nic_device_context_t.send_psn and receive_psn), and after it moved them
    // otherwise. May be NULL.
    void (*moved)(nic_store_t *store, uint32_t number, bool over);
    // Fetches an object that a flat cache has missed, of a kind that the store does not answer for.
    // Returns when it is there; SIM_TIME_NEVER: the host has it. May be NULL. The key of a
    // translation is the number of its page.
    sim_time_t (*fetch)(nic_store_t *store, nic_store_kind_t kind, uint64_t key, sim_time_t at_ps);
    // Holds a Doorbell that has arrived, until its WQEs are there at done_ps. Returns how much
    // longer that takes because no place was free. May be NULL.
    sim_time_t (*hold_doorbell)(nic_store_t *store, sim_time_t at_ps, sim_time_t done_ps);
    // Returns true if a context that is missing keeps only its own queue pair waiting, and not the
    // unit that sends. NULL: the unit waits.
    bool (*asynchronous)(const nic_store_t *store);
    // Returns when an object that was looked up without urgency is there, as far as the store knows
    // at at_ps: the NIC asks again at that time. A time that has passed: it is there. NULL: what
    // look_up gave holds.
    sim_time_t (*here)(nic_store_t *store, nic_store_kind_t kind, uint64_t key, sim_time_t at_ps);
    // Checks invariants, at the end of a run, and in builds with dear checks after lookups. Returns
    // false and says why if one does not hold. May be NULL.
    bool (*check)(const nic_store_t *store, sim_message_t *message);
} nic_store_ops_t;

// The first member of every store.
struct nic_store {
    const nic_store_ops_t *ops;
    nic_t *nic;
    uint32_t more_kinds; // 1 << nic_store_kind_t: those beside ops->kinds that it answers for;
                         // create sets them
    uint32_t user;       // number of the queue pair whose work looks objects up; the NIC sets it
};

// Stores by name; ends with NULL.
extern const nic_store_ops_t *const nic_store_all[];
// Returns the store of a detailed NIC, or NULL if the NIC is an ideal one.
nic_store_t *nic_store_of(const nic_t *nic);
// Returns the store that a configuration chooses, and that store's own configuration, or NULL if
// the configuration knows no store of that name.
const nic_store_ops_t *nic_config_store(const struct nic_config *config, const void **store_config);

SIM_C_END

#endif // NIC_STORE_H
