// SPDX-License-Identifier: Apache-2.0
// docs/labs/first_write.c - exercise 1: the client writes a text into the memory of the server,
// whose processor does nothing for it. Fill in what GAP says.
#include "docs/labs/lab.h"

static char memory[64];

static void client(const lab_device_t *device, const lab_peer_t *peer)
{
    snprintf(memory, sizeof memory, "written without your processor");
    struct ibv_sge place = {(uintptr_t)memory, sizeof memory, device->mr->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr request = {.wr_id = 1,
                                  .sg_list = &place,
                                  .num_sge = 1,
                                  .opcode = IBV_WR_SEND, // GAP 1: a write into the peer's memory
                                  .send_flags = 0};      // GAP 2: a completion at its end
    // GAP 3: set request.wr.rdma: where it writes to, and the key that allows it (peer->side)
    lab_need(ibv_post_send(peer->qp, &request, &bad) == 0, "post");
    // GAP 4: wait for the completion (lab_completion), else nobody knows that it is done
}

int main(int argc, char **argv)
{
    const lab_device_t device = lab_open(memory, sizeof memory);
    if (argc > 1) {
        const lab_peer_t peer = lab_join(&device, lab_socket(argv[1]), IBV_QPT_RC);
        client(&device, &peer);
        lab_meet(&peer);
    } else {
        const int listener = lab_socket(NULL);
        const lab_peer_t peer = lab_join(&device, accept(listener, NULL, NULL), IBV_QPT_RC);
        lab_meet(&peer);
        printf("memory: %s\n", memory);
    }
    return 0;
}
