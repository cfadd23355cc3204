// SPDX-License-Identifier: Apache-2.0
// tests/programs/datagrams.c - a program that test_small_programs.sh starts on two simulated hosts.
//
// Goal: a service over UD with address handles from completions, locks by atomics, and timestamps
// of completions. Method: the client asks over UD, the server answers to whom the header names;
// then the client takes a lock in the server's memory again and again. Prints "ok" at the end.
#include "tests/programs/pair.h"

#include <sys/mman.h>

#define BYTES 4096
#define GRH 40
#define QKEY 0x1234
#define QUESTIONS 50
#define TURNS 20

static bool serves;
static char *bytes;
static struct ibv_mr *mr;

static struct ibv_qp *make_datagrams(struct ibv_cq *cq)
{
    struct ibv_qp *qp = pair_create(IBV_QPT_UD, cq, NULL);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) ==
           0);
    attr.qp_state = IBV_QPS_RTR;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
    return qp;
}

static void say(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_ah *ah, uint32_t qp_num,
                uint32_t word)
{
    struct ibv_sge sge = {.addr = (uintptr_t)&word, .length = sizeof word};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND_WITH_IMM,
                             .imm_data = htonl(word),
                             .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
                             .wr.ud = {.ah = ah, .remote_qpn = qp_num, .remote_qkey = QKEY}};
    struct ibv_send_wr *bad = NULL;
    EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
    EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
}

static struct ibv_wc take(struct ibv_cq *cq, uint32_t expected)
{
    const struct ibv_wc wc = pair_complete(cq);
    uint32_t word = 0;
    memcpy(&word, bytes + GRH, sizeof word);
    EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.byte_len == GRH + 4);
    EXPECT((wc.wc_flags & IBV_WC_GRH) != 0 && ntohl(wc.imm_data) == expected && word == expected);
    return wc;
}

static void ask_and_answer(void)
{
    struct ibv_cq *sent = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp *qp = make_datagrams(sent);
    pair_end_t own = {.qp_num = qp->qp_num};
    pair_end_t peer;
    EXPECT(ibv_query_gid(context, 1, 0, &own.gid) == 0);
    pair_receive(qp, NULL, mr, 0, GRH + 4);
    tell(&own, sizeof own);
    hear(&peer, sizeof peer);
    struct ibv_ah_attr attr = {.is_global = 1,
                               .port_num = 1,
                               .grh = {.dgid = peer.gid, .hop_limit = 64}};
    struct ibv_ah *ah = serves ? NULL : ibv_create_ah(pd, &attr);
    for (uint32_t i = 1; i <= QUESTIONS; i++) {
        if (!serves) {
            say(qp, sent, ah, peer.qp_num, i);
        }
        struct ibv_wc wc = take(sent, serves ? i : 2 * i);
        EXPECT(wc.src_qp == peer.qp_num);
        if (serves) {
            ah = ibv_create_ah_from_wc(pd, &wc, (struct ibv_grh *)(void *)bytes, 1);
        }
        EXPECT(ah != NULL);
        pair_receive(qp, NULL, mr, 0, GRH + 4);
        if (serves) {
            say(qp, sent, ah, wc.src_qp, 2 * i);
            EXPECT(ibv_destroy_ah(ah) == 0);
        }
    }
    EXPECT(serves || ibv_destroy_ah(ah) == 0);
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(sent) == 0);
}

// Takes a lock of the server, counts in its memory, and gives it back.
static void lock_and_count(void)
{
    struct ibv_cq_init_attr_ex wish = {.cqe = 16, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
    struct ibv_cq_ex *ex = ibv_create_cq_ex(context, &wish);
    EXPECT(ex != NULL);
    struct ibv_cq *cq = ibv_cq_ex_to_cq(ex);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    memset(bytes, 0, BYTES);
    const pair_end_t peer = pair_connect(qp, mr);
    uint64_t before_ns = 0;
    for (int i = 0; i < TURNS && !serves; i++) {
        struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = 8, .lkey = mr->lkey};
        struct ibv_send_wr add = {
            .sg_list = &sge,
            .num_sge = 1,
            .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
            .send_flags = IBV_SEND_SIGNALED,
            .wr.atomic = {.remote_addr = peer.address + 64, .rkey = peer.rkey, .compare_add = 1}};
        struct ibv_send_wr lock = add;
        struct ibv_send_wr *bad = NULL;
        lock.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
        lock.wr.atomic.compare_add = 0;
        lock.wr.atomic.swap = 1;
        lock.wr.atomic.remote_addr = peer.address;
        struct ibv_send_wr *order[] = {&lock, &add, &lock};
        for (int j = 0; j < 3; j++) {
            EXPECT(ibv_post_send(qp, order[j], &bad) == 0);
            usleep(100); // so that the poll is late
            struct ibv_poll_cq_attr none = {0};
            while (ibv_start_poll(ex, &none) == ENOENT) {
            }
            EXPECT(ex->status == IBV_WC_SUCCESS &&
                   *(uint64_t *)(void *)bytes == (uint64_t)(j == 1 ? i : j / 2));
            const uint64_t time_ns = ibv_wc_read_completion_ts(ex);
            struct ibv_values_ex now = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
            EXPECT(ibv_query_rt_values_ex(context, &now) == 0);
            const uint64_t now_ns = (uint64_t)now.raw_clock.tv_nsec;
            EXPECT(time_ns > before_ns && now_ns - time_ns > 90000 && now_ns - time_ns < 100000);
            before_ns = time_ns;
            ibv_end_poll(ex);
            lock.wr.atomic.compare_add = 1; // gives it back
            lock.wr.atomic.swap = 0;
        }
    }
    meet();
    EXPECT(!serves || (((uint64_t *)(void *)bytes)[8] == TURNS && *(uint64_t *)(void *)bytes == 0));
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0);
}

int main(int argc, char **argv)
{
    serves = argc == 1;
    pair_begin(argc, argv);
    bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mr = ibv_reg_mr(pd, bytes, BYTES,
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
    EXPECT(mr != NULL);
    ask_and_answer();
    lock_and_count();
    EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
    printf("ok\n");
    return 0;
}
