// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/posts.c - work requests that a process has put into shared memory.
//
// A record may be anything: a process can write what it likes. So each is copied and checked.
#include "apps/programs/verbs/posts.h"
#include "apps/programs/process_verbs.h"
#include "apps/programs/verbs/queue_pairs.h"

#include <errno.h>
#include <string.h>

#define CHAIN_MAX 64u // work requests with one Doorbell; longer lists ring several times

enum { WR_WRITE, WR_WRITE_IMM, WR_SEND, WR_SEND_IMM, WR_READ, WR_SWAP, WR_ADD, WR_COUNT };
enum { FLAG_FENCE = 1, FLAG_SIGNALED = 2, FLAG_SOLICITED = 4, FLAG_INLINE = 8 };

static const nic_wr_opcode_t opcodes[WR_COUNT] = {
    [WR_WRITE] = NIC_WR_RDMA_WRITE,
    [WR_WRITE_IMM] = NIC_WR_RDMA_WRITE_WITH_IMM,
    [WR_SEND] = NIC_WR_SEND,
    [WR_SEND_IMM] = NIC_WR_SEND_WITH_IMM,
    [WR_READ] = NIC_WR_RDMA_READ,
    [WR_SWAP] = NIC_WR_ATOMIC_CMP_AND_SWP,
    [WR_ADD] = NIC_WR_ATOMIC_FETCH_AND_ADD,
};

// A post that was checked, with its places in host memory.
struct checked {
    program_post_t post;
    nic_sge_t sges[PROGRAM_SGES_MAX];
    const uint8_t *inlined;
};
typedef struct checked checked_t;

// Reads the record at `at`. Returns the bytes that it takes; 0: it is none.
static uint32_t read_post(const app__program_t *program, uint32_t at, uint32_t end,
                          checked_t *checked)
{
    const uint8_t *const posts = program->process->shared->posts;
    if (end - at < sizeof(program_post_t)) {
        return 0;
    }
    memcpy(&checked->post, posts + at, sizeof(checked->post));
    const program_post_t *const post = &checked->post;
    const uint64_t needed = post->inline_bytes != 0
                                ? post->inline_bytes
                                : (uint64_t)post->sge_count * sizeof(program_sge_t);
    if (post->bytes > end - at || post->bytes < sizeof(*post) ||
        needed > post->bytes - sizeof(*post) || (post->bytes & 7) != 0 ||
        post->sge_count > PROGRAM_SGES_MAX || post->inline_bytes > PROGRAM_INLINE_MAX) {
        return 0;
    }
    checked->inlined = post->inline_bytes != 0 ? posts + at + sizeof(*post) : NULL;
    for (uint32_t i = 0; i < post->sge_count && post->inline_bytes == 0; i++) {
        program_sge_t sge;
        memcpy(&sge, posts + at + sizeof(*post) + i * sizeof(sge), sizeof(sge));
        checked->sges[i] = (nic_sge_t){
            .addr = app__program_address(program, sge.lkey, sge.address),
            .length = sge.length,
            .lkey = sge.lkey,
        };
    }
    return post->bytes;
}

static void set_places(checked_t *checked, nic_sge_t *one, const nic_sge_t **list, uint32_t *count)
{
    const uint32_t places = checked->post.sge_count;
    *one = places == 1 ? checked->sges[0] : (nic_sge_t){0};
    *list = places > 1 ? checked->sges : NULL;
    *count = places > 1 ? places : 0;
}

static bool is_to_group(const app__pr_qp_t *qp, const program_post_t *post)
{
    return qp->type == NIC_QPT_UD && post->remote_qpn == APP__GROUP_QPN &&
           app__is_group(post->remote_gid);
}

// Fills in the work request `index` of a Doorbell. Returns false if it cannot be posted.
static bool fill_send(app__program_t *program, app__pr_qp_t *qp, checked_t *checked, uint32_t index,
                      nic_send_wr_t *wr)
{
    const program_post_t *const post = &checked->post;
    if (post->opcode >= WR_COUNT) {
        return false;
    }
    *wr = (nic_send_wr_t){
        .wr_id = post->wr_id,
        .opcode = opcodes[post->opcode],
        .send_flags =
            ((post->flags & FLAG_SIGNALED) != 0 || qp->signal_all ? NIC_SEND_SIGNALED : 0u) |
            ((post->flags & FLAG_FENCE) != 0 ? NIC_SEND_FENCE : 0u) |
            ((post->flags & FLAG_SOLICITED) != 0 ? NIC_SEND_SOLICITED : 0u) |
            ((post->flags & FLAG_INLINE) != 0 ? NIC_SEND_INLINE : 0u),
        .imm_data = post->immediate,
        .rdma = {post->remote_address, post->rkey},
        .atomic = {post->remote_address, post->compare_add, post->swap, post->rkey},
    };
    set_places(checked, &wr->sge, &wr->sg_list, &wr->num_sge);
    if (post->opcode == WR_SWAP || post->opcode == WR_ADD) {
        wr->sge.length = SIM_MIN(wr->sge.length, 8); // adapters write 8 bytes into a longer place
    }
    if (checked->inlined != NULL) {
        // Each request has a page of its own: the NIC takes the payload when it is posted.
        const uint64_t scratch = app__program_scratch(program) + index * UINT64_C(4096);
        nic_memory_write(nic_host_memory(program->node), scratch, checked->inlined,
                         post->inline_bytes);
        wr->sge = (nic_sge_t){.addr = scratch, .length = post->inline_bytes};
    }
    if (qp->type == NIC_QPT_UD) {
        wr->ud.remote_interface = app__interface_of_gid(program->app.net, post->remote_gid);
        wr->ud.remote_qpn = post->remote_qpn & 0xffffff;
        wr->ud.remote_qkey = post->remote_qkey;
        return wr->ud.remote_interface != UINT32_MAX || is_to_group(qp, post);
    }
    return true;
}

// Posts a datagram for each member of a group but the queue pair itself. The last one completes as
// the program wishes. Without members, it goes to a host that drops it. Returns false if it was
// refused.
static bool post_to_group(app__program_t *program, app__pr_qp_t *qp, checked_t *checked)
{
    const uint32_t own = nic_interface(nic_qp_nic(qp->qp));
    size_t count = 0;
    const app__member_t *const members =
        app__sockets_group(program, checked->post.remote_gid, &count);
    nic_send_wr_t wr;
    if (!fill_send(program, qp, checked, 0, &wr)) {
        return false;
    }
    const uint32_t wished_flags = wr.send_flags;
    wr.ud.remote_interface = (own + 1) % (uint32_t)net_interface_count(program->app.net);
    wr.send_flags = wished_flags & ~(uint32_t)NIC_SEND_SIGNALED;
    const app__member_t *before = NULL; // whose copy is posted when the next one is known
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (members[i].interface == own && members[i].qp_num == nic_qp_num(qp->qp)) {
            continue;
        }
        good = before == NULL || nic_post_send(qp->qp, &wr) == SIM_OK;
        before = &members[i];
        wr.ud.remote_interface = before->interface;
        wr.ud.remote_qpn = before->qp_num;
    }
    wr.send_flags = wished_flags;
    return good && nic_post_send(qp->qp, &wr) == SIM_OK;
}

// Posts send work requests of a queue pair with one Doorbell, up to the first that is refused.
// Returns how many were refused.
static uint32_t post_list(app__program_t *program, app__pr_qp_t *qp, checked_t *checked,
                          uint32_t count)
{
    nic_send_wr_t wrs[CHAIN_MAX];
    uint32_t good = 0;
    while (good < count && fill_send(program, qp, &checked[good], good, &wrs[good])) {
        if (good != 0) {
            wrs[good - 1].next = &wrs[good];
        }
        good++;
    }
    if (good == 0) {
        return count;
    }
    const nic_send_wr_t *bad = NULL;
    const sim_err_t error =
        good == 1 ? nic_post_send(qp->qp, wrs) : nic_post_send_list(qp->qp, wrs, &bad);
    return error == SIM_OK ? count - good : count - (uint32_t)(bad == NULL ? 0 : bad - wrs);
}

// Does the same, but for datagrams to groups, each of which is posted for itself.
static uint32_t post_sends(app__program_t *program, app__pr_qp_t *qp, checked_t *checked,
                           uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_to_group(qp, &checked[i].post)) {
            const uint32_t refused =
                i == first ? 0 : post_list(program, qp, checked + first, i - first);
            if (refused != 0 || !post_to_group(program, qp, &checked[i])) {
                return refused + count - i;
            }
            first = i + 1;
        }
    }
    return first == count ? 0 : post_list(program, qp, checked + first, count - first);
}

// Posts a receive. Returns false if it was refused.
static bool post_receive(app__program_t *program, checked_t *checked)
{
    nic_recv_wr_t wr = {.wr_id = checked->post.wr_id};
    const app__pr_qp_t *const qp = app__program_qp(program, checked->post.handle);
    if (checked->post.kind == PROGRAM_SRQ_RECV) {
        const app__pr_srq_t *const srq = app__program_srq(program, checked->post.handle);
        set_places(checked, &wr.sge, &wr.sg_list, &wr.num_sge);
        uint32_t posted = 0;
        return srq != NULL && nic_post_srq_recv(srq->srq, &wr, 1, &posted) == SIM_OK;
    }
    if (qp == NULL) {
        return false;
    }
    set_places(checked, &wr.sge, &wr.sg_list, &wr.num_sge);
    return nic_post_recv(qp->qp, &wr) == SIM_OK;
}

// Lets the core come to the time at which the process made a post.
static sim_time_t spend_until(app__program_t *program, sim_time_t spent_ps, sim_time_t lead_ps)
{
    if (lead_ps > spent_ps && lead_ps - spent_ps < SIM_PS_PER_S) {
        nic_core_wait(program->core, lead_ps - spent_ps);
        return lead_ps;
    }
    return spent_ps;
}

void app__program_post_all(app__program_t *program)
{
    program_shared_t *const shared = program->process->shared;
    const uint32_t end = SIM_MIN(shared->posts_bytes, PROGRAM_POSTS_BYTES);
    checked_t *const chain = program->chain;
    sim_time_t spent_ps = 0;
    uint32_t refused = 0;
    for (uint32_t at = program->posts_done_bytes; at < end;) {
        uint32_t count = 0;
        bool chained = true;
        while (chained && count < CHAIN_MAX && at < end) {
            const uint32_t bytes = read_post(program, at, end, &chain[count]);
            if (bytes == 0) {
                at = end;
                refused++;
                break;
            }
            at += bytes;
            const program_post_t *const post = &chain[count++].post;
            chained = post->chained != 0 && post->kind == PROGRAM_SEND;
        }
        if (count == 0) {
            break;
        }
        spent_ps = spend_until(program, spent_ps, chain[0].post.lead_ps);
        if (chain[0].post.kind == PROGRAM_EMPTY_POLL) {
            app__program_poll_nothing(program, chain[0].post.handle);
            continue;
        }
        program->thread->acted = true;
        program->posts += count;
        app__pr_qp_t *const qp = app__program_qp(program, chain[0].post.handle);
        if (chain[0].post.kind != PROGRAM_SEND) {
            refused += !post_receive(program, &chain[0]);
        } else if (qp == NULL) {
            refused += count;
        } else {
            refused += post_sends(program, qp, chain, count);
        }
    }
    (void)spend_until(program, spent_ps, shared->lead_ps);
    if (refused != 0) {
        (void)dprintf(
            program->process->err,
            "rocesim: %u work requests were refused: the queue pair is gone or cannot post "
            "them, or the address of a datagram is no host's\n",
            refused);
    }
}

struct checked *app__program_chain(void)
{
    return sim_alloc_array(CHAIN_MAX, sizeof(checked_t));
}
