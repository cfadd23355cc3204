// SPDX-License-Identifier: Apache-2.0
// tests/programs/alone.c - a program that test_small_programs.sh starts on one simulated host.
//
// Goal: queue pairs of a NIC that are connected to each other, events of connections, children
// that are forked while memory of the heap is registered, a thousand small pieces of it, queues
// that are polled in turns or a number of times, and children that signals kill.
// Method: both ends of each queue pair are in this process; parent and child work on their heaps at
// once. Prints "ok" at the end.
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                     \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

#define BYTES 65536u
#define GRH 40u

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static char *bytes;
static union ibv_gid gid;

static struct ibv_qp *create(enum ibv_qp_type type)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = type,
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    EXPECT(qp != NULL);
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qkey = 0x1234,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    EXPECT(ibv_modify_qp(qp, &init,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                             (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0);
    return qp;
}

static void receive_from(struct ibv_qp *qp, const struct ibv_qp *peer)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer->qp_num,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}}};
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) ==
           0);
}

static void send_from_now_on(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
                               .timeout = 14,
                               .retry_cnt = 7,
                               .rnr_retry = 7,
                               .max_rd_atomic = 1};
    EXPECT(ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, size_t from, size_t to,
                 uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)(bytes + from), .length = length, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = IBV_SEND_SIGNALED};
    wr.wr.rdma.remote_addr = (uintptr_t)(bytes + to);
    wr.wr.rdma.rkey = mr->rkey;
    struct ibv_send_wr *bad;
    EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
}

static void receive(struct ibv_qp *qp, size_t at, uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)(bytes + at), .length = length, .lkey = mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;
    EXPECT(ibv_post_recv(qp, &wr, &bad) == 0);
}

static void complete(unsigned count)
{
    struct ibv_wc wc;
    while (count != 0) {
        const int found = ibv_poll_cq(cq, 1, &wc);
        EXPECT(found >= 0 && (found == 0 || wc.status == IBV_WC_SUCCESS));
        count -= (unsigned)found;
    }
}

static void expect_event(enum ibv_event_type type, const struct ibv_qp *qp)
{
    struct ibv_async_event event;
    EXPECT(ibv_get_async_event(context, &event) == 0);
    EXPECT(event.event_type == type && event.element.qp == qp);
    ibv_ack_async_event(&event);
}

// A responder hears of its first packet before it may send, and once. A queue pair that is stopped
// says when it is drained.
static void connect_to_itself(void)
{
    struct ibv_qp *first = create(IBV_QPT_RC);
    struct ibv_qp *second = create(IBV_QPT_RC);
    receive_from(first, second);
    receive_from(second, first);
    send_from_now_on(first);
    memset(bytes, 'x', BYTES / 2);
    post(first, IBV_WR_RDMA_WRITE, 0, BYTES / 2, BYTES / 2);
    expect_event(IBV_EVENT_COMM_EST, second);
    complete(1);
    EXPECT(memcmp(bytes, bytes + BYTES / 2, BYTES / 2) == 0);
    receive(second, 8, 8);
    post(first, IBV_WR_SEND, 0, 0, 8);
    complete(2);
    send_from_now_on(second);
    bytes[0] = 'r';
    post(second, IBV_WR_RDMA_READ, 100, 0, 8);
    complete(1);
    EXPECT(bytes[100] == 'r');

    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
    post(first, IBV_WR_RDMA_WRITE, 0, BYTES / 2, BYTES / 2);
    usleep(1); // a part of it is on its way
    EXPECT(ibv_modify_qp(first, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0);
    expect_event(IBV_EVENT_SQ_DRAINED, first);
    EXPECT(ibv_modify_qp(second, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0);
    expect_event(IBV_EVENT_SQ_DRAINED, second);
    complete(1);
    attr.qp_state = IBV_QPS_RTS;
    EXPECT(ibv_modify_qp(first, &attr, IBV_QP_STATE) == 0);
    post(first, IBV_WR_RDMA_WRITE, 0, BYTES / 2, 8);
    complete(1);
    EXPECT(ibv_destroy_qp(first) == 0 && ibv_destroy_qp(second) == 0);
}

static void send_datagram_to_itself(void)
{
    struct ibv_qp *qp = create(IBV_QPT_UD);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
    struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}};
    struct ibv_ah *ah = ibv_create_ah(pd, &to);
    EXPECT(ah != NULL);
    receive(qp, 1024, 1024);
    memcpy(bytes, "datagram", 8);
    struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = 8, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED};
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = qp->qp_num;
    wr.wr.ud.remote_qkey = 0x1234;
    struct ibv_send_wr *bad;
    EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
    complete(2);
    EXPECT(memcmp(bytes + 1024 + GRH, "datagram", 8) == 0);
    EXPECT(ibv_destroy_ah(ah) == 0 && ibv_destroy_qp(qp) == 0);
}

// Allocates, writes and frees, as much as a program does in a while.
static void work_on_heap(int letter)
{
    char *blocks[64];
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        const size_t size = 16 + i * 24;
        blocks[i] = malloc(size);
        EXPECT(blocks[i] != NULL);
        memset(blocks[i], letter, size);
    }
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        for (size_t at = 0; at < 16 + i * 24; at++) {
            EXPECT(blocks[i][at] == letter);
        }
        free(blocks[i]);
    }
}

static void fork_with_registered_heap(void)
{
    char *block = malloc(3 * 4096);
    struct ibv_mr *heap = ibv_reg_mr(pd, block, 3 * 4096, IBV_ACCESS_LOCAL_WRITE);
    EXPECT(heap != NULL);
    for (int i = 0; i < 20; i++) {
        block[0] = (char)i;
        const pid_t child = fork();
        if (child == 0) {
            work_on_heap('c');
            _exit(block[0] == (char)i ? 0 : 1);
        }
        EXPECT(child > 0);
        block[0] = -1;
        work_on_heap('p');
        int status = 1;
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
    EXPECT(ibv_dereg_mr(heap) == 0);
    free(block);
}

// Registers many pieces of the heap, with others between them, whose bytes all stay.
static void register_small_pieces(void)
{
    enum { PIECES = 1000, PIECE_BYTES = 16288, OTHER_BYTES = 8192 };
    char *pieces[PIECES];
    char *others[PIECES];
    struct ibv_mr *regions[PIECES];
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = malloc(PIECE_BYTES);
        others[i] = malloc(OTHER_BYTES);
        EXPECT(pieces[i] != NULL && others[i] != NULL);
        memset(pieces[i], i, PIECE_BYTES);
        memset(others[i], i + 1, OTHER_BYTES);
        regions[i] = ibv_reg_mr(pd, pieces[i], PIECE_BYTES, IBV_ACCESS_LOCAL_WRITE);
        EXPECT(regions[i] != NULL);
    }
    for (int i = 0; i < PIECES; i++) {
        for (int at = 0; at < PIECE_BYTES; at++) {
            EXPECT(pieces[i][at] == (char)i);
        }
        for (int at = 0; at < OTHER_BYTES; at++) {
            EXPECT(others[i][at] == (char)(i + 1));
        }
        EXPECT(ibv_dereg_mr(regions[i]) == 0);
        free(pieces[i]);
        free(others[i]);
    }
}

// Polls as UCX does, with an array of completions between what the caller has in registers and the
// poll.
static __attribute__((noinline)) int poll_many(struct ibv_cq *empty)
{
    struct ibv_wc wcs[16];
    const int found = ibv_poll_cq(empty, 16, wcs);
    __asm__ volatile("" : : "r"(wcs) : "rbx", "r12", "r13", "r14", "r15", "memory");
    return found;
}

// Begins a timer whose signal, in 900 s of simulated time, ends the program.
static timer_t begin_timer(void)
{
    timer_t timer;
    const struct itimerspec late = {.it_value.tv_sec = 900};
    EXPECT(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
    EXPECT(timer_settime(timer, 0, &late, NULL) == 0);
    return timer;
}

// Polls an empty queue a thousand times, counted in a register, beside a timer that is far away.
static void poll_counted(struct ibv_cq *empty)
{
    struct timespec begin;
    struct timespec end;
    const timer_t timer = begin_timer();
    EXPECT(clock_gettime(CLOCK_MONOTONIC, &begin) == 0);
    for (int i = 0; i < 1000; i++) {
        EXPECT(poll_many(empty) == 0);
    }
    EXPECT(clock_gettime(CLOCK_MONOTONIC, &end) == 0 && end.tv_sec - begin.tv_sec < 2);
    EXPECT(timer_delete(timer) == 0);
}

// Polls an empty queue a hundred times for each poll of the one with a completion, as Open MPI does
// while it waits; and looks at two empty queues some times after the last completion, as a program
// with work in its memory does.
static void poll_in_turns(void)
{
    struct ibv_cq *const other = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp *const first = create(IBV_QPT_RC);
    struct ibv_qp *const second = create(IBV_QPT_RC);
    struct timespec begin;
    struct timespec end;
    struct ibv_wc wc;
    EXPECT(other != NULL);
    receive_from(first, second);
    receive_from(second, first);
    send_from_now_on(first);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    EXPECT(ibv_poll_cq(cq, 1, &wc) == 0);
    post(first, IBV_WR_RDMA_WRITE, 0, BYTES / 2, 8);
    for (int polls = 1, found = 0; found == 0; polls++) {
        found = ibv_poll_cq(polls % 100 == 0 ? cq : other, 1, &wc);
    }
    for (int rounds = 0; rounds < 4; rounds++) {
        EXPECT(ibv_poll_cq(other, 1, &wc) == 0 && ibv_poll_cq(cq, 1, &wc) == 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    EXPECT((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec < 100000);
    EXPECT(ibv_destroy_qp(first) == 0 && ibv_destroy_qp(second) == 0);
    EXPECT(ibv_destroy_cq(other) == 0);
}

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
    (void)signal;
    ended++;
}

// A process that a signal kills is dead when kill() returns, so that what its parent does next does
// not depend on the machine.
static void kill_children(void)
{
    signal(SIGCHLD, note_end);
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) {
            for (;;) {
                pause();
            }
        }
        EXPECT(child > 0 && setpgid(child, child) == 0);
        usleep(10);
        EXPECT(kill(i % 2 == 0 ? child : -child, i % 3 == 0 ? SIGKILL : SIGTERM) == 0);
        EXPECT(ended == i + 1);
        EXPECT(waitpid(child, NULL, WNOHANG) == child);
        EXPECT(kill(child, 0) == -1 && errno == ESRCH);
    }
    signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    EXPECT(list != NULL && list[0] != NULL);
    context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    EXPECT(context != NULL && ibv_query_gid(context, 1, 0, &gid) == 0);
    pd = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    bytes = aligned_alloc(4096, BYTES);
    mr = ibv_reg_mr(pd, bytes, BYTES,
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    EXPECT(pd != NULL && cq != NULL && mr != NULL);
    connect_to_itself();
    send_datagram_to_itself();
    fork_with_registered_heap();
    register_small_pieces();
    poll_in_turns();
    poll_counted(cq);
    kill_children();
    EXPECT(ibv_dereg_mr(mr) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(pd) == 0 &&
           ibv_close_device(context) == 0);
    printf("ok\n");
    return 0;
}
