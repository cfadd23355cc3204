// SPDX-License-Identifier: Apache-2.0
// tests/programs/refused.c - a program that test_small_programs.sh starts on two simulated hosts.
//
// Goal: what the device does not have is refused as by a real device, and so are wrong transitions
// and wrong arguments. Method: the client and the server do the same. Prints "ok" at the end.
#include "tests/programs/pair.h"

#include <sys/mman.h>

#define BYTES 65536

static struct ibv_cq *cq;

static void refuse_types(void)
{
    struct ibv_qp_init_attr attr = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .cap = {.max_send_wr = 1, .max_send_sge = 1},
                                    .qp_type = IBV_QPT_XRC_SEND};
    EXPECT(ibv_create_qp(pd, &attr) == NULL && errno == EOPNOTSUPP);
    attr.qp_type = IBV_QPT_RC;
    attr.cap.max_send_sge = 1000;
    EXPECT(ibv_create_qp(pd, &attr) == NULL && errno == EINVAL);
    struct ibv_xrcd_init_attr xrcd = {.comp_mask =
                                          IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
                                      .fd = -1};
    EXPECT(ibv_open_xrcd(context, &xrcd) == NULL && errno == EOPNOTSUPP);
    EXPECT(ibv_alloc_mw(pd, IBV_MW_TYPE_1) == NULL && errno == EOPNOTSUPP);
    EXPECT(ibv_alloc_dm(context, &(struct ibv_alloc_dm_attr){.length = 64}) == NULL &&
           errno == EOPNOTSUPP);
    EXPECT(ibv_create_cq(context, 0, NULL, NULL, 0) == NULL && errno == EINVAL);
    EXPECT(ibv_create_cq(context, 16, NULL, NULL, context->num_comp_vectors) == NULL &&
           errno == EINVAL);
}

// Each transition needs its attributes, and takes no others.
static void refuse_transitions(void)
{
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR, .port_num = 1, .path_mtu = IBV_MTU_1024};
    const int of_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL); // RESET to RTR
    attr.qp_state = IBV_QPS_RTS;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == EINVAL);
    attr.qp_state = IBV_QPS_INIT;
    EXPECT(ibv_modify_qp(qp, &attr, of_init & ~IBV_QP_PORT) == EINVAL);
    EXPECT(ibv_modify_qp(qp, &attr, of_init | IBV_QP_TIMEOUT) == EINVAL);
    attr.port_num = 2;
    EXPECT(ibv_modify_qp(qp, &attr, of_init) == EINVAL);
    attr.port_num = 1;
    EXPECT(ibv_modify_qp(qp, &attr, of_init) == 0);
    EXPECT(ibv_modify_qp(qp, &attr, of_init) == 0); // again, as the standard allows
    attr.qp_state = IBV_QPS_RTR;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU) == EINVAL);
    // RoCE addresses no peer by its LID, as it was in InfiniBand.
    attr.ah_attr = (struct ibv_ah_attr){.dlid = 2, .port_num = 1};
    attr.min_rnr_timer = 12;
    attr.max_dest_rd_atomic = 1;
    const int of_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    EXPECT(ibv_modify_qp(qp, &attr, of_rtr) == EINVAL);
    EXPECT(ibv_create_ah(pd, &attr.ah_attr) == NULL && errno == EINVAL);
    struct ibv_qp_init_attr init;
    EXPECT(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_INIT);
    attr.qp_state = IBV_QPS_ERR;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RESET;
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    EXPECT(ibv_attach_mcast(qp, &(union ibv_gid){{0xff}}, 0) == EINVAL); // none of UD
    EXPECT(ibv_destroy_qp(qp) == 0);
}

static void resize(void)
{
    struct ibv_cq *small = ibv_create_cq(context, 2, NULL, NULL, 0);
    EXPECT(small != NULL && ibv_resize_cq(small, 64) == 0 && small->cqe == 64);
    EXPECT(ibv_resize_cq(small, 0) == EINVAL);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, small, NULL);
    EXPECT(ibv_destroy_cq(small) == EBUSY);
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(small) == 0);
}

// A region of other addresses, and a wrong local key.
static void use_memory(bool serves)
{
    char *bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    struct ibv_mr *mr = ibv_reg_mr_iova(pd, bytes, BYTES, 0, access); // its first byte is 0
    EXPECT(mr != NULL);
    const int duplicate = dup(context->cmd_fd); // programs hand it on
    EXPECT(duplicate >= 0 && ibv_import_device(duplicate) == NULL && errno == EOPNOTSUPP);
    close(duplicate);
    EXPECT(ibv_reg_mr(pd, bytes, BYTES, IBV_ACCESS_ON_DEMAND) == NULL && errno == EOPNOTSUPP);
    struct ibv_ah_attr attr = {.port_num = 1, .is_global = 1};
    EXPECT(ibv_query_gid(context, 1, 0, &attr.grh.dgid) == 0);
    struct ibv_pd *domain = ibv_alloc_pd(context);
    struct ibv_ah *ah = ibv_create_ah(domain, &attr);
    EXPECT(ah != NULL && ibv_dealloc_pd(domain) == EBUSY && ibv_destroy_ah(ah) == 0);
    domain->handle ^= 1u << 30; // no domain has this number
    EXPECT(ibv_dealloc_pd(domain) == ENOENT);
    domain->handle ^= 1u << 30;
    EXPECT(ibv_dealloc_pd(domain) == 0);
    struct ibv_mr *bindable = ibv_reg_mr(pd, bytes, BYTES, IBV_ACCESS_MW_BIND); // a permission
    EXPECT(bindable != NULL && ibv_dereg_mr(bindable) == 0);
    struct ibv_qp *qp = pair_create(IBV_QPT_RC, cq, NULL);
    const pair_end_t peer = pair_connect(qp, mr);
    struct ibv_sge sge = {.addr = 8, .length = 5, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {.remote_addr = 4096, .rkey = peer.rkey}};
    struct ibv_send_wr *bad = NULL;
    if (!serves) {
        strcpy(bytes + 8, "word");
        EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_SUCCESS);
    }
    meet();
    EXPECT(!serves || strcmp(bytes + 4096, "word") == 0);
    if (!serves) {
        sge.lkey ^= 0x5500;
        EXPECT(ibv_post_send(qp, &wr, &bad) == 0);
        EXPECT(pair_complete(cq).status == IBV_WC_LOC_PROT_ERR);
    }
    meet();
    EXPECT(ibv_destroy_qp(qp) == 0 && ibv_dereg_mr(mr) == 0);
}

int main(int argc, char **argv)
{
    pair_begin(argc, argv);
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    EXPECT(cq != NULL);
    refuse_types();
    refuse_transitions();
    resize();
    use_memory(argc == 1);
    EXPECT(ibv_destroy_cq(cq) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0);
    printf("ok\n");
    return 0;
}
