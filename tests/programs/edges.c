// SPDX-License-Identifier: Apache-2.0
// tests/programs/edges.c - a program that test_small_programs.sh starts on two simulated hosts.
//
// Goal: regions that are deregistered while a message uses them, datagrams on shared receive
// queues, Q_Keys and addresses of datagrams, payloads that an operation cannot have, and receives
// that are longer than their region. Method: client and server go through the cases together; a
// region is deregistered 30 us after a message of 1 MiB began. Prints "ok" at the end.
#include <poll.h>
#include <sys/mman.h>

#include "tests/programs/pair.h"

#define BYTES (1u << 20)
#define GRH 40
#define QKEY 0x1234u
#define OWN_QKEY 0x80000000u // the sender's own

static bool serves;
static char *bytes;
static struct ibv_mr *mr;
static struct ibv_cq *cq;

static void renew(void)
{
    cq = ibv_create_cq(context, 64, NULL, NULL, context->num_comp_vectors - 1);
    bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mr = ibv_reg_mr(pd, bytes, BYTES,
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC);
    EXPECT(cq != NULL && mr != NULL);
}

static size_t count_ones(void)
{
    size_t count = 0;
    for (size_t i = 0; i < BYTES; i++) {
        count += bytes[i] == 1;
    }
    return count;
}

// Deregisters the region in the middle of a message: nothing is written after that.
static void deregister(bool receives)
{
    usleep(30);
    EXPECT(ibv_dereg_mr(mr) == 0);
    const size_t count = count_ones();
    EXPECT(!receives || (count > 0 && count < BYTES));
    usleep(2000);
    EXPECT(count_ones() == count);
}

static void expect_error(const struct ibv_qp *qp, enum ibv_event_type type)
{
    struct ibv_async_event event;
    EXPECT(ibv_get_async_event(context, &event) == 0);
    EXPECT(event.event_type == type && event.element.qp == qp);
    ibv_ack_async_event(&event);
}

// A message of the client, whose region the server (or the client, if `local`) deregisters.
static void revoke_region(enum ibv_wr_opcode opcode, bool local, enum ibv_wc_status status)
{
    const bool reads = opcode == IBV_WR_RDMA_READ;
    renew();
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    const pair_end_t peer = pair_connect(qp, mr);
    memset(bytes, reads == serves, BYTES);
    if (serves && opcode == IBV_WR_SEND) {
        pair_receive(qp, NULL, mr, 0, BYTES);
    }
    meet();
    if (!serves) {
        EXPECT(pair_post(qp, opcode, mr, 0, BYTES, &peer, 0) == 0);
        if (local) {
            deregister(reads);
        }
        EXPECT(pair_complete(cq).status == status);
        EXPECT(pair_post(qp, opcode, mr, 0, 8, &peer, 0) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_WR_FLUSH_ERR);
    } else if (!local) {
        deregister(!reads);
        if (opcode == IBV_WR_SEND) {
            EXPECT(pair_complete(cq).status == IBV_WC_LOC_PROT_ERR);
        } else {
            expect_error(qp, IBV_EVENT_QP_ACCESS_ERR);
        }
    }
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0);
}

static struct ibv_qp *make_datagrams(struct ibv_srq *srq)
{
    struct ibv_qp *qp = pair_create(IBV_QPT_UD, cq, srq);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) ==
           0);
    attr.qp_state = IBV_QPS_RTR;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
    return qp;
}

static int send_datagram(struct ibv_qp *qp, struct ibv_ah *ah, uint32_t number, uint32_t qkey,
                         uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = length, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.ud = {.ah = ah, .remote_qpn = number, .remote_qkey = qkey}};
    struct ibv_send_wr *bad = NULL;
    return ibv_post_send(qp, &wr, &bad);
}

// Datagrams with a wrong key, a wrong number or too many bytes for the receive get lost; the ones
// that come begin behind the header, which may lie in two places.
static void datagrams(bool shares)
{
    static const uint32_t keys[] = {0x999, QKEY, QKEY, QKEY, OWN_QKEY};
    static const uint32_t lengths[] = {64, 64, 101, 100, 100};
    renew();
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 2}};
    struct ibv_srq *srq = shares ? ibv_create_srq(pd, &init) : NULL;
    struct ibv_qp *qp = make_datagrams(srq);
    pair_end_t own = {.qp_num = qp->qp_num};
    pair_end_t peer;
    EXPECT(ibv_query_gid(context, 1, 0, &own.gid) == 0);
    tell(&own, sizeof own);
    hear(&peer, sizeof peer);
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer.gid}};
    struct ibv_ah *ah = ibv_create_ah(pd, &attr);
    EXPECT(ah != NULL);
    memset(bytes, serves ? 0 : 7, BYTES);
    for (int i = 0; i < 2 && serves; i++) {
        struct ibv_sge places[] = {{(uintptr_t)bytes + 512, 30, mr->lkey},
                                   {(uintptr_t)bytes + 1024, GRH + 100 - 30, mr->lkey}};
        struct ibv_recv_wr wr = {.sg_list = places, .num_sge = 2};
        struct ibv_recv_wr *bad = NULL;
        EXPECT((shares ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad)) == 0);
    }
    meet();
    for (int i = 0; i < 5 && !serves; i++) {
        EXPECT(send_datagram(qp, ah, peer.qp_num + (i == 1 ? 100 : 0), keys[i], lengths[i]) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
    }
    for (int i = 0; i < 2 && serves; i++) {
        const struct ibv_wc wc = pair_complete(cq);
        EXPECT(wc.status == IBV_WC_SUCCESS && wc.byte_len == GRH + 100 && wc.src_qp == peer.qp_num);
        EXPECT((wc.wc_flags & IBV_WC_GRH) != 0 && bytes[512 + 20] == 0x45);
        EXPECT(bytes[1024 + 9] != 7 && bytes[1024 + 10] == 7 && bytes[1024 + 109] == 7);
        EXPECT(bytes[1024 + 110] == 0 && memcmp(bytes + 1024 + 2, peer.gid.raw + 12, 4) == 0);
    }
    // A datagram is one packet, and goes to a host that is there.
    EXPECT(send_datagram(qp, ah, peer.qp_num, QKEY, 4097) == EINVAL);
    EXPECT(send_datagram(qp, NULL, peer.qp_num, QKEY, 8) == EINVAL);
    attr.grh.dgid.raw[12] ^= 1;
    EXPECT(ibv_create_ah(pd, &attr) == NULL && errno == EHOSTUNREACH);
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_ah(ah) == 0);
}

// Payloads that an operation cannot have, atomics with a longer place than they fill, and atomics
// at odd addresses.
static void payloads(void)
{
    renew();
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    if (serves) {
        memset(bytes, 0, 8);
    }
    pair_end_t peer = pair_connect(qp, mr);
    EXPECT(pair_post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, mr, 0, 4, &peer, 0) == EINVAL);
    EXPECT(pair_post(qp, IBV_WR_RDMA_READ, mr, 0, 8, &peer, IBV_SEND_INLINE) == EINVAL);
    EXPECT(pair_post(qp, IBV_WR_RDMA_WRITE, mr, 0, 65, &peer, IBV_SEND_INLINE) == EINVAL);
    if (serves) {
        expect_error(qp, IBV_EVENT_QP_REQ_ERR);
    } else {
        memset(bytes, 0xee, 16);
        struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = 16, .lkey = mr->lkey};
        struct ibv_send_wr wr = {
            .sg_list = &sge,
            .num_sge = 1,
            .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
            .send_flags = IBV_SEND_SIGNALED,
            .wr.atomic = {.remote_addr = peer.address, .rkey = peer.rkey, .compare_add = 1}};
        struct ibv_send_wr *bad = NULL;
        for (uint64_t sum = 0; sum < 2; sum++) {
            uint64_t found[2];
            EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
            const struct ibv_wc wc = pair_complete(cq);
            EXPECT(wc.status == IBV_WC_SUCCESS && wc.byte_len == 8);
            memcpy(found, bytes, sizeof found);
            EXPECT(found[0] == sum && found[1] == UINT64_C(0xeeeeeeeeeeeeeeee));
        }
        wr.wr.atomic.remote_addr += 4;
        sge.length = 8;
        EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_REM_INV_REQ_ERR);
    }
    meet();
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    struct ibv_qp_init_attr init;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    EXPECT(ibv_query_qp(qp, &attr, IBV_QP_DEST_QPN, &init) == 0 && attr.dest_qp_num == 0);
    EXPECT(ibv_destroy_qp(qp) == 0);
}

// A receive whose region is shorter than the receive takes a message that fits into the region.
static void short_region(void)
{
    renew();
    struct ibv_mr *part = ibv_reg_mr(pd, bytes + 4096, 8, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    EXPECT(part != NULL);
    const pair_end_t peer = pair_connect(qp, mr);
    for (uint32_t length = 8; length <= 9; length++) {
        if (serves) {
            pair_receive(qp, NULL, part, 0, 64);
        }
        meet();
        if (!serves) {
            memset(bytes, 5, length);
            EXPECT(pair_post(qp, IBV_WR_SEND, mr, 0, length, &peer, 0) == 0);
        }
        const enum ibv_wc_status failed = serves ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_OP_ERR;
        EXPECT(pair_complete(cq).status == (length == 8 ? IBV_WC_SUCCESS : failed));
        EXPECT(!serves || (bytes[4096 + 7] == 5 && bytes[4096 + 8] == 0));
    }
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_dereg_mr(part) == 0);
}

int main(int argc, char **argv)
{
    serves = argc == 1;
    pair_begin(argc, argv);
    revoke_region(IBV_WR_RDMA_WRITE, false, IBV_WC_REM_ACCESS_ERR);
    revoke_region(IBV_WR_RDMA_READ, false, IBV_WC_REM_ACCESS_ERR);
    revoke_region(IBV_WR_SEND, false, IBV_WC_REM_OP_ERR);
    revoke_region(IBV_WR_RDMA_WRITE, true, IBV_WC_LOC_PROT_ERR);
    revoke_region(IBV_WR_RDMA_READ, true, IBV_WC_LOC_PROT_ERR);
    datagrams(false);
    datagrams(true);
    payloads();
    short_region();
    printf("ok\n");
    return 0;
}
