// SPDX-License-Identifier: Apache-2.0
// tests/programs/foreseen.c - messages that arrive close together, whose receiver works on them in
// place.
//
// The client sends batches of small messages, and some are WRITEs into a word of the server. The
// server changes each message where it lies, looks at it again when 8 others have come, and only
// then posts its place again. It sends each seventh message back as it changed it. Not pinned: how
// many changes of processes that takes.
#include "tests/programs/pair.h"

#include <stdint.h>

#define MESSAGES 2100u // a multiple of BATCH and of 7
#define BATCH 14u
#define PLACES 16u
#define PLACE_BYTES 64u
#define KEPT 8u
#define WORD (2 * PLACES * PLACE_BYTES) // offset of the word that WRITEs change

static unsigned char memory[2 * PLACES * PLACE_BYTES + 64] __attribute__((aligned(4096)));
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

static unsigned char *place_of(uint32_t message)
{
    return memory + (size_t)(message % PLACES) * PLACE_BYTES;
}

static bool is_filled(const unsigned char *place, unsigned char value)
{
    for (uint32_t i = 0; i < PLACE_BYTES; i++) {
        if (place[i] != value) {
            return false;
        }
    }
    return true;
}

static void serve(void)
{
    const volatile uint32_t *word = (const volatile uint32_t *)(const void *)(memory + WORD);
    for (uint32_t i = 0; i < PLACES; i++) {
        pair_receive(qp, NULL, mr, (size_t)i * PLACE_BYTES, PLACE_BYTES);
    }
    meet();
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const struct ibv_wc wc = pair_complete(cq);
        EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV &&
               wc.byte_len == PLACE_BYTES);
        EXPECT(is_filled(place_of(i), (unsigned char)i));
        memset(place_of(i), (int)(i ^ 0x5a), PLACE_BYTES);
        if (i % 7 == 6) {
            EXPECT(pair_post(qp, IBV_WR_SEND, mr, (size_t)(i % PLACES) * PLACE_BYTES, PLACE_BYTES,
                             &(pair_end_t){0}, 0) == 0);
            EXPECT(pair_complete(cq).opcode == IBV_WC_SEND);
        }
        if (i % BATCH == BATCH - 1) {
            while (*word != i) { // written behind the batch
            }
        }
        if (i >= KEPT) {
            EXPECT(is_filled(place_of(i - KEPT), (unsigned char)((i - KEPT) ^ 0x5a)));
            pair_receive(qp, NULL, mr, (size_t)((i - KEPT) % PLACES) * PLACE_BYTES, PLACE_BYTES);
        }
    }
}

// Takes completions until all messages up to `end` were sent and what comes back for them was.
static void take(uint32_t end, uint32_t *back)
{
    uint32_t sent = 0;
    while (sent < 7 || *back < end / 7) {
        const struct ibv_wc wc = pair_complete(cq);
        EXPECT(wc.status == IBV_WC_SUCCESS);
        if (wc.opcode != IBV_WC_RECV) {
            sent++;
            continue;
        }
        const uint32_t place = PLACES + *back % PLACES;
        EXPECT(is_filled(memory + (size_t)place * PLACE_BYTES,
                         (unsigned char)((*back * 7 + 6) ^ 0x5a)));
        pair_receive(qp, NULL, mr, (size_t)place * PLACE_BYTES, PLACE_BYTES);
        ++*back;
    }
}

static void call(const pair_end_t *server)
{
    const pair_end_t word = {.address = server->address + WORD, .rkey = server->rkey};
    uint32_t back = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        pair_receive(qp, NULL, mr, (size_t)(PLACES + i) * PLACE_BYTES, PLACE_BYTES);
    }
    meet();
    for (uint32_t i = 0; i < MESSAGES; i++) {
        memset(place_of(i), (int)i, PLACE_BYTES);
        EXPECT(pair_post(qp, IBV_WR_SEND, mr, (size_t)(i % PLACES) * PLACE_BYTES, PLACE_BYTES,
                         server, 0) == 0);
        if (i % 7 == 6) {
            take(i + 1, &back);
        }
        if (i % BATCH == BATCH - 1) {
            memcpy(memory + WORD, &i, sizeof i);
            EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, WORD, sizeof i, &word, 0) == 0);
            EXPECT(pair_complete(cq).opcode == IBV_WC_RDMA_WRITE);
        }
    }
}

int main(int argc, char **argv)
{
    pair_begin(argc, argv);
    mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    EXPECT(mr != NULL && cq != NULL);
    qp = pair_create(IBV_QPT_RC, cq, NULL);
    const pair_end_t peer = pair_connect(qp, mr);
    if (argc > 1) {
        call(&peer);
    } else {
        serve();
    }
    meet();
    puts("all messages were as they were sent");
    return 0;
}
