// SPDX-License-Identifier: Apache-2.0
// programs/verbs/private.c - functions of libibverbs that only drivers call: none has a device.
//
// The names are those of rdma-core 44, so that its drivers can be loaded beside this library.

#include <errno.h>
#include <stdbool.h>

#include "programs/turn.h"

#define NOTHING(name)             \
    int name(void);               \
    PROGRAM_EXPORT int name(void) \
    {                             \
        return EOPNOTSUPP;        \
    }

// clang-format off
NOTHING(__ioctl_final_num_attrs)
NOTHING(__verbs_log)
NOTHING(_verbs_init_and_alloc_context)
NOTHING(execute_ioctl)
NOTHING(ibv_cmd_advise_mr)
NOTHING(ibv_cmd_alloc_dm)
NOTHING(ibv_cmd_alloc_mw)
NOTHING(ibv_cmd_alloc_pd)
NOTHING(ibv_cmd_attach_mcast)
NOTHING(ibv_cmd_close_xrcd)
NOTHING(ibv_cmd_create_ah)
NOTHING(ibv_cmd_create_counters)
NOTHING(ibv_cmd_create_cq)
NOTHING(ibv_cmd_create_cq_ex)
NOTHING(ibv_cmd_create_flow)
NOTHING(ibv_cmd_create_flow_action_esp)
NOTHING(ibv_cmd_create_qp)
NOTHING(ibv_cmd_create_qp_ex)
NOTHING(ibv_cmd_create_qp_ex2)
NOTHING(ibv_cmd_create_rwq_ind_table)
NOTHING(ibv_cmd_create_srq)
NOTHING(ibv_cmd_create_srq_ex)
NOTHING(ibv_cmd_create_wq)
NOTHING(ibv_cmd_dealloc_mw)
NOTHING(ibv_cmd_dealloc_pd)
NOTHING(ibv_cmd_dereg_mr)
NOTHING(ibv_cmd_destroy_ah)
NOTHING(ibv_cmd_destroy_counters)
NOTHING(ibv_cmd_destroy_cq)
NOTHING(ibv_cmd_destroy_flow)
NOTHING(ibv_cmd_destroy_flow_action)
NOTHING(ibv_cmd_destroy_qp)
NOTHING(ibv_cmd_destroy_rwq_ind_table)
NOTHING(ibv_cmd_destroy_srq)
NOTHING(ibv_cmd_destroy_wq)
NOTHING(ibv_cmd_detach_mcast)
NOTHING(ibv_cmd_free_dm)
NOTHING(ibv_cmd_get_context)
NOTHING(ibv_cmd_modify_cq)
NOTHING(ibv_cmd_modify_flow_action_esp)
NOTHING(ibv_cmd_modify_qp)
NOTHING(ibv_cmd_modify_qp_ex)
NOTHING(ibv_cmd_modify_srq)
NOTHING(ibv_cmd_modify_wq)
NOTHING(ibv_cmd_open_qp)
NOTHING(ibv_cmd_open_xrcd)
NOTHING(ibv_cmd_poll_cq)
NOTHING(ibv_cmd_post_recv)
NOTHING(ibv_cmd_post_send)
NOTHING(ibv_cmd_post_srq_recv)
NOTHING(ibv_cmd_query_context)
NOTHING(ibv_cmd_query_device_any)
NOTHING(ibv_cmd_query_mr)
NOTHING(ibv_cmd_query_port)
NOTHING(ibv_cmd_query_qp)
NOTHING(ibv_cmd_query_srq)
NOTHING(ibv_cmd_read_counters)
NOTHING(ibv_cmd_reg_dm_mr)
NOTHING(ibv_cmd_reg_dmabuf_mr)
NOTHING(ibv_cmd_reg_mr)
NOTHING(ibv_cmd_req_notify_cq)
NOTHING(ibv_cmd_rereg_mr)
NOTHING(ibv_cmd_resize_cq)
NOTHING(ibv_copy_ah_attr_from_kern)
NOTHING(ibv_copy_path_rec_from_kern)
NOTHING(ibv_copy_path_rec_to_kern)
NOTHING(ibv_copy_qp_attr_from_kern)
NOTHING(verbs_init_cq)
NOTHING(verbs_open_device)
NOTHING(verbs_register_driver_34)
NOTHING(verbs_set_ops)
NOTHING(verbs_uninit_context)
// clang-format on

extern bool verbs_allow_disassociate_destroy;
PROGRAM_EXPORT bool verbs_allow_disassociate_destroy;
