// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/answers.c - checks answers of devices, stores and policies of plug-ins.
//
// These parts have states of their own, so the NIC meets only what they answer. An answer that is
// impossible ends the run with the name of the plug-in, before the NIC goes wrong by it. A device
// also has a zone behind its state of a queue pair.
#include "world/registry/plugins/zones.h"

#include <stdio.h>
#include <string.h>

#define DELAY_PS_MAX (1000 * SIM_PS_PER_S) // of one step of a part

static const char no_answer[] = "returned no state";

static _Noreturn void refuse(const world__zone_t *zone, const char *operation, const char *what)
{
    sim_give_up("plug-in %s: the operation %s of '%s' %s", zone->plugin, operation, zone->name,
                what);
}

// Ends the run if a time has passed or is too far away.
static sim_time_t check_time(const world__zone_t *zone, const char *operation, sim_time_t now_ps,
                             sim_time_t answer_ps)
{
    if (answer_ps < now_ps || answer_ps - now_ps > DELAY_PS_MAX) {
        char text[160];
        (void)snprintf(text, sizeof(text),
                       "answers the time %" PRIu64 " ps at %" PRIu64
                       " ps, expected a time from then on, and at most 1000 s later",
                       answer_ps, now_ps);
        refuse(zone, operation, text);
    }
    return answer_ps;
}

// -- devices

static const world__zone_t *zone_of_nic(const nic_t *nic)
{
    return (const world__zone_t *)(const void *)nic_device_of(nic);
}

static const nic_device_ops_t *own_device(const nic_t *nic)
{
    return zone_of_nic(nic)->own;
}

static void check_qp(const nic_qp_t *qp, const char *operation)
{
    const world__zone_t *const zone = zone_of_nic(nic_qp_nic(qp));
    const nic_device_ops_t *const own = zone->own;
    if (own->qp_state_bytes > 0) {
        world__zone_check(zone, nic_device_qp_state(qp), own->qp_state_bytes, operation);
    }
}

// Defines a checked operation whose first argument is a queue pair.
#define OF_QP(operation_, parameters_, arguments_)         \
    static void device_##operation_ parameters_            \
    {                                                      \
        own_device(nic_qp_nic(qp))->operation_ arguments_; \
        check_qp(qp, #operation_);                         \
    }

OF_QP(qp_created, (nic_qp_t * qp), (qp))
OF_QP(qp_connected, (nic_qp_t * qp), (qp))
OF_QP(qp_changed, (nic_qp_t * qp), (qp))
OF_QP(post, (nic_qp_t * qp, uint32_t count, bool doorbell), (qp, count, doorbell))
OF_QP(moved, (nic_qp_t * qp), (qp))
OF_QP(rewound, (nic_qp_t * qp), (qp))
OF_QP(done, (nic_qp_t * qp), (qp))
OF_QP(respond, (nic_qp_t * qp, uint64_t address, uint32_t bytes, bool atomic),
      (qp, address, bytes, atomic))
OF_QP(answer, (nic_qp_t * qp, net_packet_t *packet), (qp, packet))
OF_QP(wrote, (nic_qp_t * qp, uint64_t address, uint32_t bytes), (qp, address, bytes))
OF_QP(completion, (nic_qp_t * qp, nic_cq_t *cq, const nic_wc_t *wc), (qp, cq, wc))

static void device_sent(nic_t *nic, nic_qp_t *qp, bool response)
{
    own_device(nic)->sent(nic, qp, response);
    check_qp(qp, "sent");
}

static sim_time_t device_host_read_ps(nic_t *nic, uint64_t address, uint32_t bytes)
{
    return check_time(zone_of_nic(nic), "host_read_ps", nic_device_node(nic)->now_ps,
                      own_device(nic)->host_read_ps(nic, address, bytes));
}

static sim_time_t device_host_write_ps(nic_t *nic, uint64_t address, uint32_t bytes)
{
    return check_time(zone_of_nic(nic), "host_write_ps", nic_device_node(nic)->now_ps,
                      own_device(nic)->host_write_ps(nic, address, bytes));
}

void world__zone_device(nic_device_ops_t *ops)
{
    ops->qp_state_bytes = world__with_zone(ops->qp_state_bytes);
    WORLD__INSTEAD(*ops, device, qp_created);
    WORLD__INSTEAD(*ops, device, qp_connected);
    WORLD__INSTEAD(*ops, device, qp_changed);
    WORLD__INSTEAD(*ops, device, post);
    WORLD__INSTEAD(*ops, device, moved);
    WORLD__INSTEAD(*ops, device, rewound);
    WORLD__INSTEAD(*ops, device, done);
    WORLD__INSTEAD(*ops, device, respond);
    WORLD__INSTEAD(*ops, device, answer);
    WORLD__INSTEAD(*ops, device, wrote);
    WORLD__INSTEAD(*ops, device, completion);
    WORLD__INSTEAD(*ops, device, sent);
    WORLD__INSTEAD(*ops, device, host_read_ps);
    WORLD__INSTEAD(*ops, device, host_write_ps);
}

// -- stores

static const world__zone_t *zone_of_store(const nic_store_t *store)
{
    return (const world__zone_t *)(const void *)store->ops;
}

// Checks the members of nic_store_t, which the NIC sets.
static void check_store(const world__zone_t *zone, const nic_store_t *store, const nic_t *nic,
                        const char *operation)
{
    if ((const void *)store->ops != (const void *)zone || store->nic != nic) {
        refuse(zone, operation, "overwrote fields of nic_store_t that only the NIC sets");
    }
}

static nic_store_t *store_create(const nic_store_place_t *place)
{
    const world__zone_t *const zone = (const world__zone_t *)(const void *)place->ops;
    nic_store_t *const store = ((const nic_store_ops_t *)zone->own)->create(place);
    if (store == NULL) {
        refuse(zone, "create", no_answer);
    }
    return store;
}

static void store_look_up(nic_store_t *store, nic_store_lookup_t *lookup)
{
    const world__zone_t *const zone = zone_of_store(store);
    const nic_t *const nic = store->nic;
    const nic_store_lookup_t before = *lookup;
    const nic_store_ops_t *const own = zone->own;
    own->look_up(store, lookup);
    check_store(zone, store, nic, "look_up");
    if (lookup->stall_ps < before.stall_ps || lookup->stall_ps - before.stall_ps > DELAY_PS_MAX) {
        refuse(zone, "look_up",
               "takes time away from stall_ps or adds more than 1000 s, expected that it adds the "
               "time for which the NIC is occupied");
    }
    (void)check_time(zone, "look_up", before.ready_ps, lookup->ready_ps);
    if (lookup->waits && (!before.can_wait || own->wait == NULL)) {
        refuse(zone, "look_up", "sets waits where can_wait is false, or without an operation wait");
    }
}

static sim_time_t store_fetch(nic_store_t *store, nic_store_kind_t kind, uint64_t key,
                              sim_time_t at_ps)
{
    const world__zone_t *const zone = zone_of_store(store);
    const sim_time_t there_ps =
        ((const nic_store_ops_t *)zone->own)->fetch(store, kind, key, at_ps);
    return there_ps == SIM_TIME_NEVER ? there_ps : check_time(zone, "fetch", at_ps, there_ps);
}

static sim_time_t store_hold_doorbell(nic_store_t *store, sim_time_t at_ps, sim_time_t done_ps)
{
    const world__zone_t *const zone = zone_of_store(store);
    return check_time(zone, "hold_doorbell", 0,
                      ((const nic_store_ops_t *)zone->own)->hold_doorbell(store, at_ps, done_ps));
}

void world__zone_store(nic_store_ops_t *ops)
{
    WORLD__INSTEAD(*ops, store, create);
    WORLD__INSTEAD(*ops, store, look_up);
    WORLD__INSTEAD(*ops, store, fetch);
    WORLD__INSTEAD(*ops, store, hold_doorbell);
}

// -- policies: the NIC holds the watched state in the place of the policy's

typedef struct watched {
    const world__zone_t *zone;
    const nic_policy_ops_t *own;
    void *policy;
    uint32_t capacity;
    uint32_t filled_count;
    bool filled[]; // by slot
} watched_t;

static void *policy_create(const nic_policy_place_t *place)
{
    const world__zone_t *const zone = (const world__zone_t *)(const void *)place->ops;
    watched_t *const watched = sim_alloc(sizeof(*watched) + place->capacity);
    watched->zone = zone;
    watched->own = zone->own;
    watched->capacity = place->capacity;
    watched->policy = watched->own->create(place);
    if (watched->policy == NULL) {
        refuse(zone, "create", no_answer);
    }
    return watched;
}

static void policy_destroy(void *policy)
{
    watched_t *const watched = policy;
    watched->own->destroy(watched->policy);
    sim_free(watched);
}

static void policy_insert(void *policy, uint32_t slot, uint32_t handle, uint64_t uses)
{
    watched_t *const watched = policy;
    watched->filled_count += !watched->filled[slot];
    watched->filled[slot] = true;
    watched->own->insert(watched->policy, slot, handle, uses);
}

static void policy_use(void *policy, uint32_t slot, uint64_t uses)
{
    watched_t *const watched = policy;
    watched->own->use(watched->policy, slot, uses);
}

static uint32_t policy_victim(void *policy)
{
    watched_t *const watched = policy;
    const uint32_t slot = watched->own->victim(watched->policy);
    const bool none = slot == NIC_POLICY_NONE && watched->filled_count == 0;
    if (!none && (slot >= watched->capacity || !watched->filled[slot])) {
        char text[160];
        (void)snprintf(text, sizeof(text),
                       "answers the slot %" PRIu32 ", expected one of the %" PRIu32
                       " slots that are filled, all of them below %" PRIu32,
                       slot, watched->filled_count, watched->capacity);
        refuse(watched->zone, "victim", text);
    }
    return slot;
}

static void policy_remove(void *policy, uint32_t slot)
{
    watched_t *const watched = policy;
    watched->filled_count -= watched->filled[slot];
    watched->filled[slot] = false;
    watched->own->remove(watched->policy, slot);
}

static void policy_age(void *policy)
{
    watched_t *const watched = policy;
    watched->own->age(watched->policy);
}

void world__zone_policy(nic_policy_ops_t *ops)
{
    WORLD__INSTEAD(*ops, policy, create);
    WORLD__INSTEAD(*ops, policy, destroy);
    WORLD__INSTEAD(*ops, policy, insert);
    WORLD__INSTEAD(*ops, policy, use);
    WORLD__INSTEAD(*ops, policy, victim);
    WORLD__INSTEAD(*ops, policy, remove);
    WORLD__INSTEAD(*ops, policy, age);
}
