// SPDX-License-Identifier: Apache-2.0
// programs/verbs/memory.c - memory regions.

#include <errno.h>
#include <stdlib.h>

#include "programs/time/blinds.h"
#include "programs/trace.h"
#include "programs/verbs/objects.h"
#include "programs/verbs/pages.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static struct ibv_mr *fail(struct ibv_mr *mr, int error)
{
    free(mr);
    errno = error;
    return NULL;
}

static struct ibv_mr *register_memory(struct ibv_pd *pd, void *address, size_t length,
                                      uint64_t iova, unsigned int access)
{
    const unsigned int remote_write = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    if (!turn_enter("ibv_reg_mr")) {
        return fail(NULL, ENODEV);
    }
    if ((access & IBV_ACCESS_ON_DEMAND) != 0) { // IBV_ACCESS_MW_BIND only permits something
        return fail(NULL, EOPNOTSUPP);
    }
    if (length == 0 || ((access & remote_write) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)) {
        return fail(NULL, EINVAL);
    }
    struct ibv_mr *mr = calloc(1, sizeof *mr);
    if (mr == NULL) {
        return fail(NULL, ENOMEM);
    }
    const int error =
        pages_share((uintptr_t)address, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0);
    if (error != 0) {
        return fail(mr, error);
    }
    program_call_t call = {.op = PROGRAM_REG_MR,
                           .handle = pd->handle,
                           .memory = {.address = (uintptr_t)address,
                                      .length_bytes = length,
                                      .iova = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova,
                                      .access = access & (unsigned int)VERBS_ACCESS_KNOWN}};
    turn_charge_call();
    if (turn_call(&call) != 0) {
        return fail(mr, call.error);
    }
    *mr = (struct ibv_mr){.context = pd->context,
                          .pd = pd,
                          .addr = address,
                          .length = length,
                          .handle = call.handle,
                          .lkey = call.memory.lkey,
                          .rkey = call.memory.rkey};
    if ((access & IBV_ACCESS_LOCAL_WRITE) != 0) {
        blinds_add(mr->handle, (uintptr_t)address, length);
    }
    TRACE("ibv_reg_mr(pd %u, %p, %zu bytes, access 0x%x) = lkey 0x%x, rkey 0x%x", pd->handle,
          address, length, access, mr->lkey, mr->rkey);
    return mr;
}

PROGRAM_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length,
                                         int access)
{
    return register_memory(pd, address, length, (uintptr_t)address, (unsigned int)access);
}

PROGRAM_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length,
                                              uint64_t iova, int access)
{
    return register_memory(pd, address, length, iova, (unsigned int)access);
}

PROGRAM_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
                                               uint64_t iova, unsigned int access)
{
    return register_memory(pd, address, length, iova,
                           access & ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE);
}

PROGRAM_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
                                                uint64_t iova, int descriptor, int access)
{
    (void)pd;
    (void)offset;
    (void)length;
    (void)iova;
    (void)descriptor;
    (void)access;
    return fail(NULL, EOPNOTSUPP);
}

PROGRAM_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address,
                                size_t length, int access)
{
    (void)mr;
    (void)flags;
    (void)pd;
    (void)address;
    (void)length;
    (void)access;
    errno = EOPNOTSUPP;
    return IBV_REREG_MR_ERR_INPUT;
}

PROGRAM_EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
    if (turn_enter("ibv_dereg_mr")) {
        program_call_t call = {.op = PROGRAM_DEREG_MR, .handle = mr->handle};
        turn_charge_call();
        const int error = turn_call(&call);
        if (error != 0) {
            return error;
        }
    }
    blinds_remove(mr->handle);
    TRACE("ibv_dereg_mr(lkey 0x%x) = 0", mr->lkey);
    free(mr);
    return 0;
}

PROGRAM_EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
    (void)context;
    (void)handle;
    errno = EOPNOTSUPP;
    return NULL;
}

PROGRAM_EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
    (void)pd;
}

PROGRAM_EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
    (void)pd;
    (void)handle;
    return fail(NULL, EOPNOTSUPP);
}

PROGRAM_EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
    (void)mr;
}

PROGRAM_EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
    (void)context;
    (void)handle;
    errno = EOPNOTSUPP;
    return NULL;
}

PROGRAM_EXPORT void ibv_unimport_dm(struct ibv_dm *dm)
{
    (void)dm;
}
