// SPDX-License-Identifier: Apache-2.0
// tests/programs/threads/zero_sleeps.c - a thread that polls, and sleeps for no time in between.
//
// Goal: simulated time passes meanwhile, as for a thread that yields. Method: the poller of each of
// two programs hands a lock on after each poll, as Python's threads do.
#define _GNU_SOURCE
#include "../pair.h"

#include <pthread.h>
#include <time.h>

#define MESSAGES 16

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool locked;

static struct timespec now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

static void lock(void)
{
    pthread_mutex_lock(&mutex);
    while (locked) {
        struct timespec end = now();
        end.tv_sec += 1;
        pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &end);
    }
    locked = true;
    pthread_mutex_unlock(&mutex);
}

static void unlock(void)
{
    pthread_mutex_lock(&mutex);
    locked = false;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

static void *poll_all(void *cq)
{
    struct ibv_wc completion;
    lock();
    for (int done = 0; done < MESSAGES;) {
        const int found = ibv_poll_cq(cq, 1, &completion);
        EXPECT(found == 0 || completion.status == IBV_WC_SUCCESS);
        done += found;
        const struct timespec time = now();
        unlock();
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        lock();
    }
    unlock();
    return NULL;
}

int main(int argc, char **argv)
{
    static char bytes[64];
    pair_begin(argc, argv);
    struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    const struct ibv_mr *mr = ibv_reg_mr(pd, bytes, sizeof bytes, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    (void)pair_connect(qp, mr);
    struct ibv_sge place = {.addr = (uintptr_t)bytes, .length = sizeof bytes, .lkey = mr->lkey};
    for (int i = 0; i < MESSAGES && argc == 1; i++) {
        struct ibv_recv_wr receive = {.sg_list = &place, .num_sge = 1};
        struct ibv_recv_wr *bad;
        EXPECT(ibv_post_recv(qp, &receive, &bad) == 0);
    }
    meet();
    pthread_t thread;
    pthread_create(&thread, NULL, poll_all, cq);
    for (int i = 0; i < MESSAGES && argc > 1; i++) {
        struct ibv_send_wr send = {.sg_list = &place,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_SEND,
                                   .send_flags = IBV_SEND_SIGNALED};
        struct ibv_send_wr *bad;
        usleep(100);
        lock();
        EXPECT(ibv_post_send(qp, &send, &bad) == 0);
        unlock();
    }
    pthread_join(thread, NULL);
    return 0;
}
