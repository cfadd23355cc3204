// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/locks.c - two threads look at memory behind one lock, and do nothing else.
//
//     locks             prints how late each thread sees words that a peer writes
//     locks HOST        writes the time into words of the other program, one after the other
#include "../pair.h"

#include <pthread.h>
#include <time.h>

#define WORDS 50
#define LINE 8 // words from one thread's to the other's

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t words[2 * LINE] __attribute__((aligned(4096)));

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *look(void *arg)
{
    const volatile uint64_t *word = arg;
    uint64_t seen = 0;
    uint64_t latest_ns = 0;
    for (int count = 0; count < WORDS;) {
        pthread_mutex_lock(&lock);
        const uint64_t value = *word;
        pthread_mutex_unlock(&lock);
        if (value != seen) {
            const uint64_t took_ns = now_ns() - value;
            latest_ns = took_ns > latest_ns ? took_ns : latest_ns;
            seen = value;
            count++;
        }
    }
    printf("latest %lu ns\n", latest_ns);
    return NULL;
}

int main(int argc, char **argv)
{
    pair_begin(argc, argv);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    const struct ibv_mr *mr = ibv_reg_mr(pd, (void *)(uintptr_t)words, sizeof words,
                                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    EXPECT(cq != NULL && mr != NULL);
    const pair_end_t peer = pair_connect(qp, mr);
    pthread_t threads[2];
    for (size_t i = 0; i < 2 && argc == 1; i++) {
        EXPECT(pthread_create(&threads[i], NULL, look, (void *)(uintptr_t)(words + i * LINE)) == 0);
    }
    for (long i = 0; i < 2 * WORDS && argc > 1; i++) {
        const struct timespec pause = {.tv_nsec = 73137 + i * 7919 % 9000};
        nanosleep(&pause, NULL);
        pair_end_t at = peer;
        at.address += (uint64_t)(i % 2) * LINE * sizeof words[0];
        words[0] = now_ns();
        EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, 0, sizeof words[0], &at, 0) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
    }
    for (size_t i = 0; i < 2 && argc == 1; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0);
    }
    meet();
    return 0;
}
