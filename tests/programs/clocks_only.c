// SPDX-License-Identifier: Apache-2.0
// tests/programs/clocks_only.c - a program that looks at a clock for long, and then at memory.
//
// The client writes a number every millisecond. The server prints what it finds when it looks at it
// after it has only looked at a clock: by itself, by system calls that the library does not know,
// and by a call. Nothing may come at another time than if the simulation kept up with each look.
#include "tests/programs/pair.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define WRITES 120u
#define EVERY_US 1000u
#define BYTES 65536u // more than the C library copies before it writes

static uint32_t memory[BYTES / sizeof(uint32_t)] __attribute__((aligned(4096)));

static uint64_t now_us(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_usec;
}

static void look_for(uint64_t us)
{
    const uint64_t begin_us = now_us();
    while (now_us() < begin_us + us) {
    }
}

static void say(const char *how, uint32_t number, uint64_t begin_us)
{
    printf("%s: %u after %llu us\n", how, number, (unsigned long long)(now_us() - begin_us));
}

static void serve(void)
{
    const volatile uint32_t *word = memory;
    const uint64_t begin_us = now_us();
    uint32_t copy = 0;
    look_for(15000);
    say("a look", *word, begin_us);
    look_for(9000);
    FILE *file = tmpfile();
    EXPECT(file != NULL && fwrite(memory, sizeof memory, 1, file) == 1);
    rewind(file);
    EXPECT(fread(&copy, sizeof copy, 1, file) == 1);
    say("a write of the C library", copy, begin_us);
    look_for(9000);
    EXPECT(pwrite(fileno(file), memory, sizeof copy, 0) == sizeof copy);
    EXPECT(pread(fileno(file), &copy, sizeof copy, 0) == sizeof copy);
    say("a system call", copy, begin_us);
    while (*word < WRITES / 2) {
        now_us();
    }
    say("looks at both", *word, begin_us);
    look_for(9000);
    EXPECT(pread(fileno(file), memory + 1024, sizeof copy, 0) == sizeof copy);
    say("a read", memory[1024], begin_us);
    for (uint32_t i = 0; i < 40; i++) {
        look_for(700);
        copy = *word;
    }
    say("short looks", copy, begin_us);
    look_for(2000);
    meet();
    say("a call", *word, begin_us);
    fclose(file);
}

static void call(struct ibv_qp *qp, struct ibv_cq *cq, const struct ibv_mr *mr,
                 const pair_end_t *peer)
{
    for (uint32_t i = 1; i <= WRITES; i++) {
        memory[0] = i;
        EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, 0, sizeof i, peer, 0) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
        usleep(EVERY_US);
    }
    meet();
}

int main(int argc, char **argv)
{
    pair_begin(argc, argv);
    struct ibv_mr *mr =
        ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    EXPECT(mr != NULL && cq != NULL);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    const pair_end_t peer = pair_connect(qp, mr);
    if (argc > 1) {
        call(qp, cq, mr, &peer);
    } else {
        serve();
    }
    return 0;
}
