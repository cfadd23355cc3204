// SPDX-License-Identifier: Apache-2.0
// programs/verbs/device.c - devices, what they can do, and their ports.

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/parts.h"
#include "programs/process/descriptors.h"
#include "programs/system.h"
#include "programs/trace.h"
#include "programs/verbs/objects.h"

#undef ibv_query_port

#define SUBNET_TIMEOUT 18      // 1.1 s, as the usual managers of subnets set it
#define HCA_CLOCK_KHZ 1000000u // completion timestamps count ns

static verbs_device_t devices[PROGRAM_DEVICES_MAX];
static verbs_open_t *opened;

static const program_device_t *truth_of(struct ibv_context *context)
{
    return &turn_shared->devices[verbs_device_of(context)];
}

static uint32_t device_count(void)
{
    return turn_shared->device_count < PROGRAM_DEVICES_MAX ? turn_shared->device_count
                                                           : PROGRAM_DEVICES_MAX;
}

PROGRAM_EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
    const uint32_t number = turn_on() ? device_count() : 0;
    struct ibv_device **list = calloc(number + 1, sizeof(struct ibv_device *));
    if (list == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < number; i++) {
        struct ibv_device *device = &devices[i].base;
        const char *name = turn_shared->devices[i].name;
        devices[i].index = i;
        device->node_type = IBV_NODE_CA;
        device->transport_type = IBV_TRANSPORT_IB;
        snprintf(device->name, sizeof device->name, "%.15s", name);
        snprintf(device->dev_name, sizeof device->dev_name, "uverbs%u", i);
        snprintf(device->dev_path, sizeof device->dev_path, "/sys/class/infiniband_verbs/uverbs%u",
                 i);
        snprintf(device->ibdev_path, sizeof device->ibdev_path, "/sys/class/infiniband/%.15s",
                 name);
        list[i] = device;
    }
    if (count != NULL) {
        *count = (int)number;
    }
    return list;
}

PROGRAM_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

PROGRAM_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

PROGRAM_EXPORT int ibv_get_device_index(struct ibv_device *device)
{
    return (int)((verbs_device_t *)device)->index;
}

PROGRAM_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
    return htobe64(turn_shared->devices[((verbs_device_t *)device)->index].guid);
}

PROGRAM_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    if (!turn_enter("ibv_open_device")) {
        errno = ENODEV;
        return NULL;
    }
    verbs_open_t *open = calloc(1, sizeof *open);
    int ends[2];
    const int error = open == NULL ? ENOMEM : verbs_create_pipe(ends);
    if (error != 0) {
        free(open);
        errno = error;
        return NULL;
    }
    open->device = ((verbs_device_t *)device)->index;
    open->owner = getpid();
    open->events_fd = ends[1];
    struct ibv_context *context = &open->verbs.context;
    context->device = device;
    context->cmd_fd = (int)system_call(SYS_dup, ends[0]);
    context->async_fd = ends[0];
    context->num_comp_vectors = (int)turn_shared->cores;
    context->abi_compat = __VERBS_ABI_IS_EXTENDED;
    pthread_mutex_init(&context->mutex, NULL);
    open->verbs.sz = sizeof open->verbs;
    verbs_set_device_ops(&open->verbs);
    verbs_set_cq_ops(&open->verbs);
    verbs_set_post_ops(&open->verbs);
    open->next = opened;
    opened = open;
    TRACE("ibv_open_device(%s) = device %u", device->name, open->device);
    return context;
}

PROGRAM_EXPORT int ibv_close_device(struct ibv_context *context)
{
    verbs_open_t *open = verbs_open_of(context);
    verbs_open_t **at = &opened;
    while (*at != NULL && *at != open) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = open->next;
    }
    system_call(SYS_close, context->async_fd);
    system_call(SYS_close, context->cmd_fd);
    descriptors_close(open->events_fd);
    free(open);
    return 0;
}

PROGRAM_EXPORT struct ibv_context *ibv_import_device(int descriptor)
{
    (void)descriptor;
    errno = EOPNOTSUPP;
    return NULL;
}

// Puts an event into the pipe of its channel or device. Programs may have closed either.
void parts_deliver_event(const program_event_t *event)
{
    const verbs_event_t record = {.kind = event->kind, .handle = event->handle};
    struct ibv_context *context = NULL;
    if (event->kind == 0) {
        const verbs_cq_t *cq = verbs_find(VERBS_CQ, event->handle);
        if (cq != NULL && cq->base.channel != NULL) {
            const verbs_channel_t *channel = (const verbs_channel_t *)(void *)cq->base.channel;
            system_call(SYS_write, channel->events_fd, &record, sizeof record);
        }
        return;
    }
    if (event->kind == PROGRAM_EVENT_CM) {
        parts_deliver_cm_event(event->handle);
        return;
    }
    switch ((enum ibv_event_type)(event->kind - 1)) {
    case IBV_EVENT_CQ_ERR: {
        const verbs_cq_t *cq = verbs_find(VERBS_CQ, event->handle);
        context = cq == NULL ? NULL : cq->base.context;
        break;
    }
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
        const verbs_srq_t *srq = verbs_find(VERBS_SRQ, event->handle);
        context = srq == NULL ? NULL : srq->base.context;
        break;
    }
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: {
        const verbs_qp_t *qp = verbs_find(VERBS_QP, event->handle);
        context = qp == NULL ? NULL : qp->base.context;
        break;
    }
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_WQ_FATAL:
    default:
        for (verbs_open_t *open = opened; open != NULL; open = open->next) {
            if (open->device == event->handle && open->owner == getpid()) {
                system_call(SYS_write, open->events_fd, &record, sizeof record);
            }
        }
        return;
    }
    if (context != NULL) {
        system_call(SYS_write, verbs_open_of(context)->events_fd, &record, sizeof record);
    }
}

// -- what a device can do

static void fill_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    const program_device_t *truth = truth_of(context);
    *attr = (struct ibv_device_attr){
        .fw_ver = "rocesim",
        .node_guid = htobe64(truth->guid),
        .sys_image_guid = htobe64(truth->guid),
        .max_mr_size = UINT64_C(1) << 47,
        .page_size_cap = 0xfffff000,
        .vendor_id = 0xffffff, // no registered vendor, as Linux's rxe says it
        .vendor_part_id = 0,
        .max_qp = 131072,
        .max_qp_wr = VERBS_MAX_QP_WR,
        .device_cap_flags =
            IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_CURR_QP_STATE_MOD,
        .max_sge = (int)PROGRAM_SGES_MAX,
        .max_sge_rd = (int)PROGRAM_SGES_MAX,
        .max_cq = 16777216,
        .max_cqe = VERBS_MAX_CQE,
        .max_mr = 16777216,
        .max_pd = 16777216,
        .max_qp_rd_atom = (int)truth->max_rd_atomic,
        .max_res_rd_atom = (int)truth->max_rd_atomic * 131072,
        .max_qp_init_rd_atom = (int)truth->max_rd_atomic,
        .atomic_cap = truth->atomics != 0 ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
        .max_mcast_grp = 8192,
        .max_mcast_qp_attach = 240,
        .max_total_mcast_qp_attach = 8192 * 240,
        .max_ah = INT32_MAX,
        .max_srq = 8388608,
        .max_srq_wr = VERBS_MAX_SRQ_WR,
        .max_srq_sge = (int)PROGRAM_SGES_MAX,
        .max_pkeys = 1,
        .local_ca_ack_delay = 16,
        .phys_port_cnt = 1,
    };
}

PROGRAM_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    fill_device(context, attr);
    return 0;
}

static int query_device_ex(struct ibv_context *context,
                           const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t attr_bytes)
{
    struct ibv_device_attr_ex all = {.completion_timestamp_mask = UINT64_MAX,
                                     .hca_core_clock = HCA_CLOCK_KHZ,
                                     .phys_port_cnt_ex = 1};
    (void)input;
    if (attr_bytes < sizeof all.orig_attr) {
        return EINVAL;
    }
    fill_device(context, &all.orig_attr);
    all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
    if (truth_of(context)->atomics != 0) {
        all.pci_atomic_caps.fetch_add = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP;
        all.pci_atomic_caps.compare_swap = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP;
    }
    memset(attr, 0, attr_bytes);
    memcpy(attr, &all, attr_bytes < sizeof all ? attr_bytes : sizeof all);
    return 0;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    (void)context;
    if (!turn_enter("ibv_query_rt_values_ex")) {
        return ENODEV;
    }
    const uint32_t known = values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK;
    if (known != 0) {
        values->raw_clock.tv_sec = 0;
        values->raw_clock.tv_nsec = (long)(turn_look_ps() / TURN_PS_PER_NS);
    }
    values->comp_mask = known;
    return 0;
}

// -- ports

static enum ibv_mtu mtu_of(uint32_t bytes)
{
    return bytes >= 4096   ? IBV_MTU_4096
           : bytes >= 2048 ? IBV_MTU_2048
           : bytes >= 1024 ? IBV_MTU_1024
           : bytes >= 512  ? IBV_MTU_512
                           : IBV_MTU_256;
}

// Sets width and speed so that their product is the rate, or the next above it. The codes are those
// of InfiniBand's PortInfo.
static void set_speed(struct ibv_port_attr *attr, uint64_t rate_bps)
{
    static const struct {
        uint32_t gbps;
        uint8_t width;
        uint8_t speed;
    } rates[] = {
        {10, 1, 4},   {25, 1, 32},  {40, 2, 4},    {50, 1, 64},   {56, 2, 16},
        {100, 2, 32}, {200, 2, 64}, {400, 2, 128}, {800, 4, 128},
    };
    const size_t count = sizeof rates / sizeof *rates;
    size_t i = 0;
    while (i + 1 < count && rates[i].gbps * UINT64_C(1000000000) < rate_bps) {
        i++;
    }
    attr->active_width = rates[i].width;
    attr->active_speed = rates[i].speed;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
                      size_t attr_bytes)
{
    if (!turn_enter("ibv_query_port")) {
        return ENODEV;
    }
    if (port != 1) {
        return EINVAL;
    }
    const program_device_t *truth = truth_of(context);
    program_call_t call = {.op = PROGRAM_QUERY_PORT, .device = verbs_device_of(context)};
    turn_charge_call();
    const int error = turn_call(&call);
    if (error != 0) {
        return error;
    }
    const bool up = (call.flags & 1) != 0;
    TRACE("ibv_query_port(device %u) = %s", call.device, up ? "active" : "down");
    struct ibv_port_attr all = {
        .state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = mtu_of(truth->mtu_bytes),
        .gid_tbl_len = PROGRAM_GIDS,
        .port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
        .max_msg_sz = VERBS_MAX_MESSAGE_BYTES,
        .pkey_tbl_len = 1,
        .max_vl_num = 1,
        .phys_state = up ? 5 : 3,
        .link_layer = IBV_LINK_LAYER_ETHERNET,
    };
    if (turn_has_lids()) {
        all.link_layer = IBV_LINK_LAYER_INFINIBAND;
        all.port_cap_flags = IBV_PORT_CM_SUP;
        all.lid = (uint16_t)truth->lid;
        all.sm_lid = 1;
        all.subnet_timeout = SUBNET_TIMEOUT;
    }
    set_speed(&all, truth->rate_bps);
    memset(attr, 0, attr_bytes);
    memcpy(attr, &all, attr_bytes < sizeof all ? attr_bytes : sizeof all);
    return 0;
}

// Programs built against an old header get the fields of that time.
PROGRAM_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port,
                                  struct _compat_ibv_port_attr *attr)
{
    return query_port(context, port, (struct ibv_port_attr *)(void *)attr,
                      offsetof(struct ibv_port_attr, port_cap_flags2));
}

PROGRAM_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index,
                                 union ibv_gid *gid)
{
    if (port != 1 || index < 0 || (uint32_t)index >= PROGRAM_GIDS) {
        errno = EINVAL;
        return -1;
    }
    memcpy(gid->raw, truth_of(context)->gid, sizeof gid->raw);
    return 0;
}

PROGRAM_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
                                     struct ibv_gid_entry *entry, uint32_t flags,
                                     size_t entry_bytes)
{
    if (port != 1 || flags != 0) {
        return EINVAL;
    }
    if (index >= PROGRAM_GIDS) {
        return ENODATA;
    }
    struct ibv_gid_entry all = {.gid_index = index, .port_num = 1};
    if (!turn_has_lids()) {
        all.gid_type = IBV_GID_TYPE_ROCE_V2;
        all.ndev_ifindex = 2 + verbs_device_of(context);
    }
    memcpy(all.gid.raw, truth_of(context)->gid, sizeof all.gid.raw);
    memset(entry, 0, entry_bytes);
    memcpy(entry, &all, entry_bytes < sizeof all ? entry_bytes : sizeof all);
    return 0;
}

PROGRAM_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context,
                                            struct ibv_gid_entry *entries, size_t entries_max,
                                            uint32_t flags, size_t entry_bytes)
{
    if (entries_max < PROGRAM_GIDS) {
        return -EINVAL;
    }
    int error = 0;
    for (uint32_t i = 0; i < PROGRAM_GIDS && error == 0; i++) {
        struct ibv_gid_entry *entry = (void *)((char *)entries + i * entry_bytes);
        error = _ibv_query_gid_ex(context, 1, i, entry, flags, entry_bytes);
    }
    return error == 0 ? (ssize_t)PROGRAM_GIDS : -error;
}

enum { GID_TYPE_IB_ROCE_V1, GID_TYPE_ROCE_V2 };
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned index, int *type);

PROGRAM_EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned index,
                                      int *type)
{
    (void)context;
    if (port != 1 || index >= PROGRAM_GIDS) {
        errno = EINVAL;
        return -1;
    }
    *type = turn_has_lids() ? GID_TYPE_IB_ROCE_V1 : GID_TYPE_ROCE_V2;
    return 0;
}

PROGRAM_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index,
                                  __be16 *pkey)
{
    (void)context;
    if (port != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htobe16(0xffff);
    return 0;
}

PROGRAM_EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
    (void)context;
    if (port != 1 || pkey != htobe16(0xffff)) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

// -- protection domains

PROGRAM_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    if (!turn_enter("ibv_alloc_pd")) {
        errno = ENODEV;
        return NULL;
    }
    verbs_pd_t *pd = calloc(1, sizeof *pd);
    program_call_t call = {.op = PROGRAM_ALLOC_PD, .device = verbs_device_of(context)};
    turn_charge_call();
    const int error = pd == NULL ? ENOMEM : turn_call(&call);
    if (error != 0) {
        free(pd);
        errno = error;
        return NULL;
    }
    pd->base = (struct ibv_pd){.context = context, .handle = call.handle};
    TRACE("ibv_alloc_pd(device %u) = pd %u", call.device, call.handle);
    return &pd->base;
}

PROGRAM_EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
    if (((const verbs_pd_t *)pd)->address_handles != 0) {
        return EBUSY;
    }
    if (turn_enter("ibv_dealloc_pd")) {
        program_call_t call = {.op = PROGRAM_DEALLOC_PD, .handle = pd->handle};
        turn_charge_call();
        const int error = turn_call(&call);
        if (error != 0) {
            return error;
        }
    }
    free(pd);
    return 0;
}

static int compat_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    return ibv_query_device(context, attr);
}

void verbs_set_device_ops(struct verbs_context *verbs)
{
    verbs->context.ops._compat_query_device = compat_query_device;
    verbs->context.ops._compat_query_port = ibv_query_port;
    verbs->query_port = query_port;
    verbs->query_device_ex = query_device_ex;
    verbs->query_rt_values = query_rt_values;
}
