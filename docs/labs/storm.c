// SPDX-License-Identifier: Apache-2.0
// docs/labs/storm.c - exercise 4: a NIC of the fabric repeats PFC pauses. This program writes to a
// host that has nothing to do with it, and sees by the counters of its own port that it is stopped.
// Fill in what GAP says, here and in storm.yaml.
#include "docs/labs/lab.h"

#define BYTES 1048576u
#define ROUNDS 50

static char memory[BYTES];

// Returns the number in a file of the kernel.
static unsigned long read_counter(const char *path)
{
    char text[32];
    char *end = text;
    FILE *file = fopen(path, "r");
    lab_need(file != NULL && fgets(text, sizeof(text), file) != NULL, path);
    fclose(file);
    const unsigned long value = strtoul(text, &end, 10);
    lab_need(end != text, path);
    return value;
}

// Returns the time in us for which PFC has stopped this host's port so far.
static double paused_us(void)
{
    // GAP 1: symbol_error is not what is asked for: port_xmit_wait counts the time, in ns
    return (double)read_counter("/sys/class/infiniband/rocesim0/ports/1/counters/symbol_error");
}

static void write_once(const lab_device_t *device, const lab_peer_t *peer)
{
    struct ibv_sge place = {(uintptr_t)memory, BYTES, device->mr->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr request = {.sg_list = &place,
                                  .num_sge = 1,
                                  .opcode = IBV_WR_RDMA_WRITE,
                                  .send_flags = IBV_SEND_SIGNALED,
                                  .wr.rdma = {peer->side.address, peer->side.rkey}};
    lab_need(ibv_post_send(peer->qp, &request, &bad) == 0, "post");
    (void)lab_completion(device->cq);
}

int main(int argc, char **argv)
{
    const lab_device_t device = lab_open(memory, sizeof memory);
    if (argc == 1) {
        const int listener = lab_socket(NULL);
        const lab_peer_t peer = lab_join(&device, accept(listener, NULL, NULL), IBV_QPT_RC);
        lab_meet(&peer);
        return 0;
    }
    const lab_peer_t peer = lab_join(&device, lab_socket(argv[1]), IBV_QPT_RC);
    const double begin_us = lab_now_us();
    double worst_us = 0;
    const double paused_before_us = paused_us();
    for (int i = 0; i < ROUNDS; i++) {
        const double start_us = lab_now_us();
        write_once(&device, &peer);
        const double took_us = lab_now_us() - start_us;
        worst_us = took_us > worst_us ? took_us : worst_us;
    }
    const double took_us = lab_now_us() - begin_us;
    printf("slowest write %.1f us\n", worst_us);
    // GAP 2: the share of took_us during which the port was stopped, in percent
    const double share = took_us * 0 + paused_before_us * 0;
    printf("stopped %.1f %% of the time\n", share);
    lab_meet(&peer);
    return 0;
}
