// SPDX-License-Identifier: Apache-2.0
// docs/labs/store.c - exercise 6: a key-value store. The table lies in the memory of the server.
// Clients READ it, and change it by a lock that is an atomic; the server's processor does nothing.
// Fill in what GAP says.
#include "docs/labs/lab.h"

#define BUCKETS 64u
#define ADDS 50u

typedef struct bucket {
    uint64_t lock; // 0: free
    uint64_t key;
    uint64_t value;
} bucket_t;

static bucket_t table[BUCKETS]; // the server's, or a client's copy: memory[0] receives
static lab_device_t device;

static void post(const lab_peer_t *peer, enum ibv_wr_opcode opcode, void *local, uint32_t bytes,
                 uint64_t remote)
{
    struct ibv_sge place = {(uintptr_t)local, bytes, device.mr->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr request = {.sg_list = &place,
                                  .num_sge = 1,
                                  .opcode = opcode,
                                  .send_flags = IBV_SEND_SIGNALED};
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        request.wr.atomic.remote_addr = remote;
        request.wr.atomic.rkey = peer->side.rkey;
        request.wr.atomic.compare_add = 0;
        request.wr.atomic.swap = 1;
    } else {
        request.wr.rdma.remote_addr = remote;
        request.wr.rdma.rkey = peer->side.rkey;
    }
    lab_need(ibv_post_send(peer->qp, &request, &bad) == 0, "post");
    (void)lab_completion(device.cq);
}

// Returns the address of the bucket of a key in the server's memory.
static uint64_t address_of(const lab_peer_t *peer, uint64_t key)
{
    // GAP 1: the table begins at peer->side.address; the bucket of a key is key % BUCKETS
    return peer->side.address + key * 0;
}

static uint64_t get(const lab_peer_t *peer, uint64_t key)
{
    // GAP 2: read the bucket into table[0] and return its value, if the bucket has the key; else 0
    (void)peer;
    return key * 0;
}

static void lock(const lab_peer_t *peer, uint64_t address)
{
    // GAP 3: swap 1 for 0 in the lock, until the old value, which comes into table[1].lock, was 0
    (void)peer;
    (void)address;
}

static void unlock(const lab_peer_t *peer, uint64_t address)
{
    table[1].lock = 0;
    post(peer, IBV_WR_RDMA_WRITE, &table[1].lock, sizeof table[1].lock, address);
}

// Adds 1 to the value of a key.
static void add(const lab_peer_t *peer, uint64_t key)
{
    const uint64_t address = address_of(peer, key);
    lock(peer, address);
    const uint64_t value = get(peer, key);
    table[2] = (bucket_t){.lock = 1, .key = key, .value = value + 1};
    post(peer, IBV_WR_RDMA_WRITE, &table[2], sizeof table[2], address);
    unlock(peer, address);
}

int main(int argc, char **argv)
{
    device = lab_open(table, sizeof table);
    if (argc == 1) { // the server, for two clients
        const int listener = lab_socket(NULL);
        lab_peer_t peers[2];
        for (int i = 0; i < 2; i++) {
            peers[i] = lab_join(&device, accept(listener, NULL, NULL), IBV_QPT_RC);
        }
        for (int round = 0; round < 2; round++) {
            lab_meet(&peers[0]);
            lab_meet(&peers[1]);
        }
        for (unsigned i = 0; i < BUCKETS; i++) {
            if (table[i].key != 0) {
                printf("key %lu: %lu\n", (unsigned long)table[i].key,
                       (unsigned long)table[i].value);
            }
        }
        return 0;
    }
    const lab_peer_t peer = lab_join(&device, lab_socket(argv[1]), IBV_QPT_RC);
    lab_meet(&peer); // both clients are there
    for (unsigned i = 0; i < ADDS; i++) {
        add(&peer, 5);
        add(&peer, 40 + i % 2);
    }
    printf("key 5 has %s\n", get(&peer, 5) != 0 ? "a value" : "no value");
    lab_meet(&peer);
    return 0;
}
