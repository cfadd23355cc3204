// SPDX-License-Identifier: Apache-2.0
// docs/labs/lossy.c - exercise 5: numbers over datagrams, through a cable that loses 2 % of them.
// The client sends number after number, and the server answers each. Fill in what GAP says.
#include "docs/labs/lab.h"

#define NUMBERS 300u
#define HEADER_BYTES 40 // before each datagram that comes
#define TIMEOUT_US 50.0
#define ENDS UINT32_MAX // the client's last datagram

typedef struct datagram {
    char header[HEADER_BYTES];
    uint32_t number;
} datagram_t;

static datagram_t memory[2]; // to send from, to receive into

static void post_receive(const lab_device_t *device, const lab_peer_t *peer)
{
    struct ibv_sge place = {(uintptr_t)&memory[1], sizeof memory[1], device->mr->lkey};
    struct ibv_recv_wr *bad;
    struct ibv_recv_wr request = {.sg_list = &place, .num_sge = 1};
    lab_need(ibv_post_recv(peer->qp, &request, &bad) == 0, "post");
}

static void send_number(const lab_device_t *device, const lab_peer_t *peer, uint32_t number)
{
    memory[0].number = number;
    struct ibv_sge place = {(uintptr_t)&memory[0].number, sizeof number, device->mr->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr request = {.sg_list = &place,
                                  .num_sge = 1,
                                  .opcode = IBV_WR_SEND,
                                  .send_flags = IBV_SEND_SIGNALED,
                                  .wr.ud = {peer->ah, peer->side.qp_num, 17}};
    lab_need(ibv_post_send(peer->qp, &request, &bad) == 0, "post");
}

// Waits for a datagram for up to `timeout_us`. Returns 0 if none came.
static int receive_number(const lab_device_t *device, double timeout_us, uint32_t *number)
{
    const double begin_us = lab_now_us();
    while (lab_now_us() - begin_us < timeout_us) {
        struct ibv_wc wc;
        const int got = ibv_poll_cq(device->cq, 1, &wc);
        if (got > 0 && wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV) {
            *number = memory[1].number;
            return 1;
        }
    }
    return 0;
}

static void client(const lab_device_t *device, const lab_peer_t *peer)
{
    uint32_t again = 0;
    post_receive(device, peer);
    for (uint32_t number = 0; number < NUMBERS; number++) {
        uint32_t answer = ENDS;
        send_number(device, peer, number);
        // GAP 1: if no answer comes in time, send the number again, and count it in `again`. An
        // answer to an earlier number is none: post a receive for the next answer, and wait on.
        if (receive_number(device, TIMEOUT_US, &answer)) {
            post_receive(device, peer);
        }
    }
    for (int i = 0; i < 10; i++) {
        send_number(device, peer, ENDS);
    }
    printf("sent again: %u\n", again);
}

static void server(const lab_device_t *device, const lab_peer_t *peer)
{
    uint32_t count = 0;
    uint32_t number = 0;
    uint64_t sum = 0;
    while (receive_number(device, 1e6, &number) && number != ENDS) {
        post_receive(device, peer);
        send_number(device, peer, number); // the answer
        // GAP 2: a number may come twice, if its answer was lost. It counts once.
        sum += number;
        count++;
    }
    printf("received %u numbers, sum %lu\n", count, (unsigned long)sum);
}

int main(int argc, char **argv)
{
    const lab_device_t device = lab_open(memory, sizeof memory);
    if (argc > 1) {
        const lab_peer_t peer = lab_join(&device, lab_socket(argv[1]), IBV_QPT_UD);
        lab_meet(&peer);
        client(&device, &peer);
    } else {
        const int listener = lab_socket(NULL);
        const lab_peer_t peer = lab_join(&device, accept(listener, NULL, NULL), IBV_QPT_UD);
        for (int i = 0; i < 16; i++) {
            post_receive(&device, &peer);
        }
        lab_meet(&peer);
        server(&device, &peer);
    }
    return 0;
}
