// SPDX-License-Identifier: Apache-2.0
// docs/labs/incast.c - exercise 3: host0 reads a block from each of several servers. All answers at
// once overflow the queue before it. Fill in what GAP says.
#include "docs/labs/lab.h"

#define SERVERS_MAX 16
#define CHUNK_BYTES 65536u
#define CHUNKS 16u // of each server

static char memory[SERVERS_MAX][CHUNKS][CHUNK_BYTES];

static void post_read(const lab_device_t *device, const lab_peer_t *peer, int server,
                      unsigned chunk)
{
    struct ibv_sge place = {(uintptr_t)memory[server][chunk], CHUNK_BYTES, device->mr->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr request = {
        .sg_list = &place,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_READ,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {peer->side.address + (uint64_t)chunk * CHUNK_BYTES, peer->side.rkey}};
    lab_need(ibv_post_send(peer->qp, &request, &bad) == 0, "post");
}

// Reads everything. The link of this host carries one answer at a time, whoever sends it.
static void read_all(const lab_device_t *device, const lab_peer_t *peers, int servers)
{
    const unsigned total = (unsigned)servers * CHUNKS;
    unsigned posted = 0;
    unsigned done = 0;
    while (done < total) {
        // GAP: let at most 4 reads be unfinished (posted - done), instead of all of them
        while (posted < total) {
            const int server = (int)(posted % (unsigned)servers);
            post_read(device, &peers[server], server, posted / (unsigned)servers);
            posted++;
        }
        (void)lab_completion(device->cq);
        done++;
    }
}

int main(int argc, char **argv)
{
    const lab_device_t device = lab_open(memory, sizeof memory);
    lab_peer_t peers[SERVERS_MAX];
    if (argc == 1) { // a server: it only has memory
        const int listener = lab_socket(NULL);
        const lab_peer_t peer = lab_join(&device, accept(listener, NULL, NULL), IBV_QPT_RC);
        memset(memory, 7, CHUNKS * CHUNK_BYTES);
        lab_meet(&peer);
        lab_meet(&peer);
        return 0;
    }
    const int servers = argc - 1 < SERVERS_MAX ? argc - 1 : SERVERS_MAX;
    for (int i = 0; i < servers; i++) {
        peers[i] = lab_join(&device, lab_socket(argv[i + 1]), IBV_QPT_RC);
        lab_meet(&peers[i]);
    }
    const double begin_us = lab_now_us();
    read_all(&device, peers, servers);
    const double took_us = lab_now_us() - begin_us;
    printf("read %d blocks in %.1f us: %.1f Gbps\n", servers, took_us,
           servers * 8e-3 * CHUNKS * CHUNK_BYTES / took_us);
    for (int i = 0; i < servers; i++) {
        lab_meet(&peers[i]);
    }
    return 0;
}
