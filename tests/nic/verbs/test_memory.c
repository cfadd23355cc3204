// SPDX-License-Identifier: Apache-2.0
// labels: clang
// Goal: what a program writes into a host's memory arrives at the peer's, byte for byte: by every
// verb, over RC, UC and UD, on ideal and on detailed NICs, whatever is lost on the way; zeros
// overwrite too, and nothing outside a buffer changes.
// Method: two hosts on one link that loses frames. The sender's buffer is a pattern with holes, the
// receiver's another pattern, and a shadow of both memories is kept here by the verbs' rules alone.
// Frames on the wire are built and parsed again.
// Does not pin: times (test_nic_requester, test_rnic); the memory itself (test_memory_pages).
#include "net/frame.h"
#include "nic/memory.h"
#include "tests/nic_pair.h"

#define FAR (PAIR_MEMORY + (1u << 20))
#define OPERATIONS_MAX 24u

static void detailed(pair_config_t *config, sim_name_t model)
{
    config->nic.model = model;
    config->nic.profile = NIC_PROFILE_CONNECTX_6;
}

static uint8_t pattern(uint64_t address, uint64_t salt)
{
    return (uint8_t)(sim_mix64(address ^ salt) | 1);
}

static void fill(nic_memory_t *memory, uint64_t address, uint64_t bytes, uint64_t salt)
{
    uint8_t chunk[1000];
    while (bytes != 0) {
        const uint64_t count = bytes < sizeof(chunk) ? bytes : sizeof(chunk);
        for (uint64_t i = 0; i < count; i++) {
            chunk[i] = pattern(address + i, salt);
        }
        nic_memory_write(memory, address, chunk, count);
        address += count;
        bytes -= count;
    }
}

static uint8_t *copy_of(const nic_memory_t *memory, uint64_t address, uint64_t bytes)
{
    uint8_t *const copy = sim_alloc(bytes + 1);
    nic_memory_read(memory, address, copy, bytes);
    return copy;
}

static void check_same(const nic_memory_t *memory, uint64_t address, const uint8_t *expected,
                       uint64_t bytes)
{
    uint8_t *const found = copy_of(memory, address, bytes);
    for (uint64_t i = 0; memcmp(found, expected, bytes) != 0 && i < bytes; i++) {
        ck_assert_msg(found[i] == expected[i],
                      "byte %" PRIu64 " at 0x%" PRIx64 " is %u, must be %u", i, address + i,
                      found[i], expected[i]);
    }
    sim_free(found);
}

// -- frames

typedef struct wire {
    pair_t *pair;
    uint64_t with_contents;
    uint64_t without;
} wire_t;

// Checks that the bytes of a frame leaving host 0 equal its memory: a WRITE's first packet says
// where, because both ends use the same addresses here.
static void on_frame(const net_trace_t *trace, void *ctx)
{
    wire_t *const wire = ctx;
    const net_packet_t *const packet = trace->packet;
    if (packet->kind != NET_PACKET_ROCE || packet->payload_bytes == 0) {
        return;
    }
    wire->with_contents += packet->contents;
    wire->without += !packet->contents;
    net_frame_t frame;
    net_frame_t parsed;
    uint8_t bytes[NET_FRAME_BYTES_MAX];
    sim_message_t message;
    net_packet_frame(trace->port, packet, &frame);
    const size_t size = net_frame_build(&frame, bytes, sizeof(bytes));
    ck_assert_int_eq(net_frame_parse(bytes, size, &parsed, &message), SIM_OK);
    ck_assert(net_frame_icrc_ok(bytes, size, &parsed));
    if (packet->opcode != (ROCE_RC | ROCE_WRITE_FIRST) &&
        packet->opcode != (ROCE_RC | ROCE_WRITE_ONLY)) {
        return;
    }
    uint8_t *const there =
        copy_of(nic_host_memory(wire->pair->node[0]), parsed.reth.address, parsed.payload_bytes);
    ck_assert_mem_eq(parsed.payload, there, parsed.payload_bytes);
    sim_free(there);
}

START_TEST(frames_show_contents)
{
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    wire_t wire = {.pair = pair};
    net_port_listen(pair->port[0], NET_TRACE_TX, on_frame, &wire);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    nic_memory_t *const memory = nic_host_memory(pair->node[0]);
    fill(memory, PAIR_MEMORY + 4096, 4096, 1);
    fill(memory, PAIR_MEMORY + 9000, 5, 1);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 4 * 4096);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    wr.sge.addr = wr.rdma.remote_addr = PAIR_MEMORY + 9001;
    wr.sge.length = 3;
    pair_post_at(pair, 2000, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 2);
    ck_assert_uint_eq(wire.with_contents, 3); // of the second and third page, and the three bytes
    ck_assert_uint_eq(wire.without, 2);
    uint8_t *const sent = copy_of(memory, PAIR_MEMORY, 4 * 4096);
    check_same(nic_host_memory(pair->node[1]), PAIR_MEMORY, sent, 4 * 4096);
    sim_free(sent);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// -- every verb, under loss

typedef struct program {
    pair_t *pair;
    sim_random_t random;
    uint8_t *shadow[2]; // of [PAIR_MEMORY, + SHADOW_BYTES)
    uint32_t done;
} program_t;

// A slot of SLOT_BYTES per operation at either end, so that the order of effects does not matter.
#define SLOT_BYTES 20000u
#define SHADOW_BYTES (SLOT_BYTES * OPERATIONS_MAX)

static uint64_t draw(program_t *program, uint64_t limit)
{
    return sim_random_below(&program->random, limit);
}

// Patterns with holes of whole packets, of some bytes, and of everything.
static void write_memory(program_t *program, uint32_t host)
{
    nic_memory_t *const memory = nic_host_memory(program->pair->node[host]);
    for (uint32_t slot = 0; slot < OPERATIONS_MAX; slot++) {
        const uint64_t first = draw(program, 3) == 0 ? draw(program, SLOT_BYTES) : 0;
        const uint64_t end = draw(program, 4) == 0 ? draw(program, SLOT_BYTES) : SLOT_BYTES;
        if (first < end) {
            fill(memory, PAIR_MEMORY + (uint64_t)slot * SLOT_BYTES + first, end - first, host + 1);
        }
    }
    program->shadow[host] = copy_of(memory, PAIR_MEMORY, SHADOW_BYTES);
}

static void copy_shadow(program_t *program, uint32_t to, uint64_t to_offset, uint64_t from_offset,
                        uint64_t bytes)
{
    memcpy(program->shadow[to] + to_offset, program->shadow[1 - to] + from_offset, bytes);
}

static uint64_t shadow_word(const uint8_t *at)
{
    uint64_t value = 0;
    for (uint32_t i = 8; i-- > 0;) {
        value = value << 8 | at[i];
    }
    return value;
}

static void put_shadow_word(uint8_t *at, uint64_t value)
{
    for (uint32_t i = 0; i < 8; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

// Applies an atomic to the shadow: its word lies at `remote`, and its original goes to `local`.
static void atomic_on_shadow(program_t *program, const nic_send_wr_t *wr, uint64_t local,
                             uint64_t remote)
{
    uint8_t *const word = program->shadow[1] + remote;
    const uint64_t original = shadow_word(word);
    if (wr->opcode == NIC_WR_ATOMIC_FETCH_AND_ADD) {
        put_shadow_word(word, original + wr->atomic.compare_add);
    } else if (original == wr->atomic.compare_add) {
        put_shadow_word(word, wr->atomic.swap);
    }
    put_shadow_word(program->shadow[0] + local, original);
}

static void post_one(program_t *program, const pair_qp_t *qps, uint32_t slot)
{
    static const uint64_t sizes[] = {0, 1, 3, 64, 255, 256, 1000, 4096, 4097, 9999, 16384};
    pair_t *const pair = program->pair;
    const nic_wr_opcode_t opcode = (nic_wr_opcode_t)draw(program, NIC_WR_ATOMIC_FETCH_AND_ADD + 1);
    const bool atomic = opcode >= NIC_WR_ATOMIC_CMP_AND_SWP;
    const uint64_t bytes = atomic ? 8 : sizes[draw(program, SIM_COUNT_OF(sizes))];
    // Atomics need alignment, everything else must not.
    const uint64_t base = (uint64_t)slot * SLOT_BYTES;
    const uint64_t local = base + (atomic ? draw(program, 100) * 8 : draw(program, 3000));
    const uint64_t remote = base + (atomic ? draw(program, 100) * 8 : draw(program, 3000));
    nic_send_wr_t wr = pair_wr(pair, opcode, bytes);
    wr.sge.addr = PAIR_MEMORY + local;
    wr.rdma.remote_addr = PAIR_MEMORY + remote;
    if (atomic) {
        wr.atomic.remote_addr = PAIR_MEMORY + remote;
        wr.atomic.rkey = nic_mr_rkey(pair->mr[1]);
        wr.atomic.compare_add =
            draw(program, 2) == 0 ? shadow_word(program->shadow[1] + remote) : draw(program, 1000);
        wr.atomic.swap = draw(program, UINT64_MAX);
        atomic_on_shadow(program, &wr, local, remote);
    } else if (opcode == NIC_WR_RDMA_READ) {
        copy_shadow(program, 0, local, remote, bytes);
    } else {
        if (bytes <= 256 && draw(program, 2) == 0) {
            wr.send_flags |= NIC_SEND_INLINE;
            wr.sge.lkey = 0;
        }
        copy_shadow(program, 1, remote, local, bytes);
    }
    ck_assert_int_eq(nic_post_send(qps->qp[0], &wr), SIM_OK);
    if (opcode != NIC_WR_RDMA_WRITE && opcode != NIC_WR_RDMA_READ && !atomic) {
        const nic_recv_wr_t receive = {
            .sge = {PAIR_MEMORY + remote, bytes + draw(program, 2), nic_mr_lkey(pair->mr[1])}};
        ck_assert_int_eq(nic_post_recv(qps->qp[1], &receive), SIM_OK);
    }
    if ((wr.send_flags & NIC_SEND_INLINE) != 0) {
        // The buffer is the program's again: what is sent, and sent again, was there at the post.
        nic_memory_t *const memory = nic_host_memory(pair->node[0]);
        nic_memory_clear(memory, wr.sge.addr, bytes);
        memset(program->shadow[0] + local, 0, bytes);
    }
}

static void post_all(pair_t *pair, void *ctx)
{
    (void)pair;
    program_t *const program = ctx;
    const pair_qp_t *const qps = pair->on_done_ctx;
    for (uint32_t slot = 0; slot < OPERATIONS_MAX; slot++) {
        post_one(program, qps, slot);
    }
}

static void ignore_done(pair_t *pair, void *ctx)
{
    (void)pair;
    (void)ctx;
}

static void run_program(uint64_t seed, sim_name_t model, uint32_t retransmission)
{
    pair_config_t config;
    pair_config_init(&config);
    detailed(&config, model);
    config.nic.mtu_bytes = UINT64_C(1) << (8 + seed % 5);
    config.nic.retransmission = retransmission;
    config.nic.timeout = 4;
    config.nic.retry_count = 7;
    config.nic.chunk_bytes = 4096;
    config.link.loss_rate = (sim_ratio_t){seed % 3 == 0 ? 0 : 2, 100};
    pair_t *const pair = pair_create(&config);
    program_t program = {.pair = pair};
    sim_random_init(&program.random, seed, 0, "memory");
    for (uint32_t host = 0; host < 2; host++) {
        write_memory(&program, host);
    }
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    pair->on_done = ignore_done;
    pair->on_done_ctx = &qps;
    pair_call_at(pair, 0, 1000, post_all, &program);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], OPERATIONS_MAX);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_SUCCESS);
    }
    for (uint32_t host = 0; host < 2; host++) {
        nic_memory_t *const memory = nic_host_memory(pair->node[host]);
        check_same(memory, PAIR_MEMORY, program.shadow[host], SHADOW_BYTES);
        ck_assert(!nic_memory_has(memory, PAIR_MEMORY + SHADOW_BYTES + 64, 1 << 20));
        sim_free(program.shadow[host]);
    }
    pair_destroy(pair);
    pair_config_fini(&config);
}

START_TEST(every_verb_moves_bytes_on_ideal_nics)
{
    run_program((uint64_t)_i, NIC_IDEAL, NIC_GO_BACK_N);
}
END_TEST

START_TEST(every_verb_moves_bytes_on_detailed_nics)
{
    run_program(100 + (uint64_t)_i, NIC_DETAILED, NIC_GO_BACK_N);
}
END_TEST

START_TEST(going_back_to_zero_moves_the_same_bytes)
{
    run_program(200 + (uint64_t)_i, NIC_IDEAL, NIC_GO_BACK_0);
}
END_TEST

// -- several places of a work request

// Cuts a buffer into places that lie apart, some of them empty; one packet takes pieces of several.
static uint32_t cut(program_t *program, uint64_t base, uint64_t bytes, uint32_t key,
                    nic_sge_t *list)
{
    uint32_t count = 0;
    uint64_t at = base;
    while (bytes != 0 && count < NIC_SGES_MAX - 1) {
        const uint64_t piece = draw(program, 4) == 0 ? 0 : 1 + draw(program, bytes);
        at += draw(program, 300);
        list[count++] = (nic_sge_t){at, piece, piece == 0 ? 0 : key};
        at += piece;
        bytes -= piece;
    }
    list[count++] = (nic_sge_t){at, bytes, bytes == 0 ? 0 : key};
    return count;
}

static void gather_shadow(const program_t *program, uint32_t host, const nic_sge_t *list,
                          uint32_t count, uint8_t *bytes, bool scatter)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *const there = program->shadow[host] + (list[i].addr - PAIR_MEMORY);
        memcpy(scatter ? there : bytes, scatter ? bytes : there, list[i].length);
        bytes += list[i].length;
    }
}

static void post_listed(program_t *program, const pair_qp_t *qps, uint32_t slot)
{
    static const uint64_t sizes[] = {1, 64, 256, 1000, 4097, 9999};
    static const nic_wr_opcode_t opcodes[] = {NIC_WR_SEND, NIC_WR_RDMA_WRITE, NIC_WR_RDMA_READ};
    pair_t *const pair = program->pair;
    const nic_wr_opcode_t opcode = opcodes[slot % 3];
    const uint64_t bytes = sizes[draw(program, SIM_COUNT_OF(sizes))];
    const uint64_t base = PAIR_MEMORY + (uint64_t)slot * SLOT_BYTES;
    nic_sge_t local[NIC_SGES_MAX];
    nic_sge_t remote[NIC_SGES_MAX];
    uint8_t moved[10000];
    nic_send_wr_t wr = pair_wr(pair, opcode, 0);
    wr.sg_list = local;
    wr.num_sge = cut(program, base, bytes, nic_mr_lkey(pair->mr[0]), local);
    wr.rdma.remote_addr = base + draw(program, 100);
    uint32_t remote_count = 1;
    remote[0] = (nic_sge_t){wr.rdma.remote_addr, bytes, 0};
    if (opcode == NIC_WR_SEND) {
        remote_count = cut(program, base, bytes, nic_mr_lkey(pair->mr[1]), remote);
        const nic_recv_wr_t receive = {.sg_list = remote, .num_sge = remote_count};
        ck_assert_int_eq(nic_post_recv(qps->qp[1], &receive), SIM_OK);
        if (bytes <= 256 && draw(program, 2) == 0) {
            wr.send_flags |= NIC_SEND_INLINE;
        }
    }
    const bool read = opcode == NIC_WR_RDMA_READ;
    gather_shadow(program, read, read ? remote : local, read ? 1 : wr.num_sge, moved, false);
    gather_shadow(program, !read, read ? local : remote, read ? wr.num_sge : remote_count, moved,
                  true);
    ck_assert_int_eq(nic_post_send(qps->qp[0], &wr), SIM_OK);
    memset(local, 0xff, sizeof(local)); // the lists are the program's again
    memset(remote, 0xff, sizeof(remote));
}

static void post_all_listed(pair_t *pair, void *ctx)
{
    (void)pair;
    program_t *const program = ctx;
    for (uint32_t slot = 0; slot < OPERATIONS_MAX; slot++) {
        post_listed(program, pair->on_done_ctx, slot);
    }
}

START_TEST(places_are_gathered_and_scattered)
{
    pair_config_t config;
    pair_config_init(&config);
    detailed(&config, _i % 2 == 0 ? NIC_IDEAL : NIC_DETAILED);
    config.nic.mtu_bytes = UINT64_C(1) << (8 + _i % 5);
    config.nic.timeout = 4;
    config.link.loss_rate = (sim_ratio_t){_i % 3 == 0 ? 0 : 2, 100};
    pair_t *const pair = pair_create(&config);
    program_t program = {.pair = pair};
    sim_random_init(&program.random, (uint64_t)_i, 0, "places");
    write_memory(&program, 0);
    write_memory(&program, 1);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    pair->on_done = ignore_done;
    pair->on_done_ctx = &qps;
    pair_call_at(pair, 0, 1000, post_all_listed, &program);
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], OPERATIONS_MAX);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        ck_assert_int_eq(pair->done[0][i].wc.status, NIC_WC_SUCCESS);
    }
    for (uint32_t host = 0; host < 2; host++) {
        check_same(nic_host_memory(pair->node[host]), PAIR_MEMORY, program.shadow[host],
                   SHADOW_BYTES);
        sim_free(program.shadow[host]);
    }
    ck_assert(nic_conserved(pair->nic[0]) && nic_conserved(pair->nic[1]));
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// The last place of three has a wrong key, or is too long by one byte.
START_TEST(each_place_has_its_key_and_bounds)
{
    pair_config_t config;
    pair_config_init(&config);
    detailed(&config, _i % 2 == 0 ? NIC_IDEAL : NIC_DETAILED);
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const uint32_t key = nic_mr_lkey(pair->mr[0]);
    const nic_sge_t list[3] = {
        {PAIR_MEMORY, 10, key},
        {PAIR_MEMORY + 50, 10, key},
        {PAIR_MEMORY + PAIR_MEMORY_BYTES - 9, _i / 2 == 0 ? 10 : 9, _i / 2 == 0 ? key : key ^ 1},
    };
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 0);
    wr.sg_list = list;
    wr.num_sge = 3;
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_LOC_PROT_ERR);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// The detailed NIC reads each place by itself, and its WQE has a pointer for each: three pointers
// and 36 bytes are two lines of 64, one pointer is one.
START_TEST(places_cost_reads_and_pointers)
{
    for (uint32_t count = 1; count <= 3; count += 2) {
        pair_config_t config;
        pair_config_init(&config);
        detailed(&config, NIC_DETAILED);
        pair_t *const pair = pair_create(&config);
        pair_qp_t qps;
        pair_connect(pair, &qps, NIC_QPT_RC, NULL);
        nic_sge_t list[3];
        for (uint32_t i = 0; i < 3; i++) {
            list[i] = (nic_sge_t){PAIR_MEMORY + 1000 * i, 300 / count, nic_mr_lkey(pair->mr[0])};
        }
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 0);
        wr.sg_list = list;
        wr.num_sge = count;
        pair_post_at(pair, 1000, qps.qp[0], &wr);
        pair_run(pair);
        nic_rnic_counters_t counters;
        ck_assert(nic_get_rnic_counters(pair->nic[0], &counters));
        ck_assert_uint_eq(counters.mmio_lines, count == 1 ? 1 : 2);
        ck_assert_uint_eq(counters.pcie_reads - (counters.context_misses +
                                                 counters.translation_misses + counters.cq_misses),
                          count);
        pair_destroy(pair);
        pair_config_fini(&config);
    }
}
END_TEST

START_TEST(too_many_places_are_refused)
{
    pair_config_t config;
    pair_config_init(&config);
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    nic_sge_t list[NIC_SGES_MAX + 1];
    for (uint32_t i = 0; i <= NIC_SGES_MAX; i++) {
        list[i] = (nic_sge_t){PAIR_MEMORY, UINT64_C(1) << 27, nic_mr_lkey(pair->mr[0])};
    }
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 0);
    nic_recv_wr_t receive = {.sg_list = list, .num_sge = NIC_SGES_MAX + 1};
    wr.sg_list = list;
    wr.num_sge = NIC_SGES_MAX + 1;
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_ERR_INVALID);
    ck_assert_int_eq(nic_post_recv(qps.qp[1], &receive), SIM_ERR_INVALID);
    wr.num_sge = receive.num_sge = 17; // 17 x 2^27 are more than 2^31
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_ERR_RANGE);
    ck_assert_int_eq(nic_post_recv(qps.qp[1], &receive), SIM_ERR_RANGE);
    wr.opcode = NIC_WR_ATOMIC_FETCH_AND_ADD;
    wr.num_sge = 2;
    list[0].length = list[1].length = 4;
    ck_assert_int_eq(nic_post_send(qps.qp[0], &wr), SIM_ERR_INVALID);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// -- what is lost without reliability is not there, what came is whole

static void datagram_attr(nic_qp_attr_t *attr)
{
    attr->qkey = 5;
}

// UD messages of one packet, UC messages of several. A receive of its own for each: those that
// completed hold the message that its immediate names, the others what was there before, or, of a
// UC message that broke off, a part of it.
static void run_unreliable(nic_qp_type_t type, sim_name_t model)
{
    const uint64_t bytes = type == NIC_QPT_UD ? 200 : 3000;
    pair_config_t config;
    pair_config_init(&config);
    detailed(&config, model);
    config.nic.mtu_bytes = 1024;
    config.link.loss_rate = (sim_ratio_t){1, 6};
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const from = nic_host_memory(pair->node[0]);
    nic_memory_t *const to = nic_host_memory(pair->node[1]);
    pair_qp_t qps;
    pair_connect(pair, &qps, type, datagram_attr);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        const nic_recv_wr_t receive = {
            .wr_id = i,
            .sge = {FAR + i * 4096, bytes, nic_mr_lkey(pair->mr[1])},
        };
        ck_assert_int_eq(nic_post_recv(qps.qp[1], &receive), SIM_OK);
        nic_send_wr_t wr = pair_wr(pair, NIC_WR_SEND_WITH_IMM, bytes);
        fill(from, PAIR_MEMORY + i * 4096, bytes, 3);
        wr.sge.addr = PAIR_MEMORY + i * 4096;
        wr.imm_data = i;
        wr.ud.remote_interface = type == NIC_QPT_UD ? 1 : 0;
        wr.ud.remote_qpn = nic_qp_num(qps.qp[1]);
        wr.ud.remote_qkey = 5;
        pair_post_at(pair, 1000 + i * UINT64_C(1000000), qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_gt(pair->done_count[1], OPERATIONS_MAX / 3);
    ck_assert_uint_lt(pair->done_count[1], OPERATIONS_MAX);
    for (size_t i = 0; i < pair->done_count[1]; i++) {
        const nic_wc_t *const wc = &pair->done[1][i].wc;
        ck_assert_int_eq(wc->status, NIC_WC_SUCCESS);
        ck_assert_uint_eq(wc->wr_id, i);
        ck_assert_uint_eq(wc->byte_len, bytes);
        uint8_t *const sent = copy_of(from, PAIR_MEMORY + wc->imm_data * 4096u, bytes);
        check_same(to, FAR + i * 4096, sent, bytes);
        ck_assert(!nic_memory_has(to, FAR + i * 4096 + 3072, 1024));
        sim_free(sent);
    }
    ck_assert(!nic_memory_has(to, FAR + OPERATIONS_MAX * 4096, 1 << 20));
    pair_destroy(pair);
    pair_config_fini(&config);
}

START_TEST(datagrams_bring_bytes)
{
    run_unreliable(NIC_QPT_UD, _i == 0 ? NIC_IDEAL : NIC_DETAILED);
}
END_TEST

START_TEST(unreliable_connections_bring_bytes)
{
    run_unreliable(NIC_QPT_UC, _i == 0 ? NIC_IDEAL : NIC_DETAILED);
}
END_TEST

START_TEST(unreliable_writes_bring_bytes)
{
    pair_config_t config;
    pair_config_init(&config);
    detailed(&config, _i == 0 ? NIC_IDEAL : NIC_DETAILED);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const from = nic_host_memory(pair->node[0]);
    nic_memory_t *const to = nic_host_memory(pair->node[1]);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_UC, NULL);
    fill(from, PAIR_MEMORY, 10000, 3);
    fill(to, FAR, 30000, 4);
    uint8_t *const expected = copy_of(to, FAR, 30000);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 10000);
    wr.rdma.remote_addr = FAR + 77;
    nic_memory_read(from, PAIR_MEMORY, expected + 77, 10000);
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    wr.sge.addr = PAIR_MEMORY + (1u << 16); // nobody wrote there: zeros
    wr.rdma.remote_addr = FAR + 15000;
    memset(expected + 15000, 0, 10000);
    pair_post_at(pair, 2000, qps.qp[0], &wr);
    pair_run(pair);
    check_same(to, FAR, expected, 30000);
    sim_free(expected);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

// -- what contents must not do

// Returns a digest of the time of each packet and completion, with or without contents.
static uint64_t digest_of(bool contents, sim_name_t model)
{
    pair_config_t config;
    pair_config_init(&config);
    detailed(&config, model);
    config.link.loss_rate = (sim_ratio_t){2, 100};
    pair_t *const pair = pair_create(&config);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    if (contents) {
        fill(nic_host_memory(pair->node[0]), PAIR_MEMORY, 40000, 1);
        fill(nic_host_memory(pair->node[1]), PAIR_MEMORY, 40000, 2);
    }
    for (uint32_t i = 0; i < 10; i++) {
        const nic_wr_opcode_t opcode = i % 2 == 0 ? NIC_WR_RDMA_WRITE : NIC_WR_RDMA_READ;
        const nic_send_wr_t wr = pair_wr(pair, opcode, 40000);
        pair_post_at(pair, 1000, qps.qp[0], &wr);
    }
    pair_run(pair);
    ck_assert_uint_eq(pair->done_count[0], 10);
    uint64_t digest = 0;
    for (size_t i = 0; i < pair->wire_count; i++) {
        digest = sim_mix64(digest ^ pair->wire[i].time_ps) + pair->wire[i].packet.psn;
    }
    ck_assert(contents == nic_memory_has(nic_host_memory(pair->node[1]), 0, UINT64_MAX));
    pair_destroy(pair);
    pair_config_fini(&config);
    return digest;
}

START_TEST(contents_take_no_time)
{
    const sim_name_t model = _i == 0 ? NIC_IDEAL : NIC_DETAILED;
    ck_assert_uint_eq(digest_of(false, model), digest_of(true, model));
}
END_TEST

// A request without the right, or beyond its region, changes nothing.
START_TEST(refused_requests_leave_memory_alone)
{
    pair_config_t config;
    pair_config_init(&config);
    detailed(&config, _i % 2 == 0 ? NIC_IDEAL : NIC_DETAILED);
    pair_t *const pair = pair_create(&config);
    nic_memory_t *const to = nic_host_memory(pair->node[1]);
    pair_qp_t qps;
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    fill(nic_host_memory(pair->node[0]), PAIR_MEMORY, 4096, 1);
    fill(to, PAIR_MEMORY, 4096, 2);
    uint8_t *const before = copy_of(to, PAIR_MEMORY, 4096);
    nic_send_wr_t wr = pair_wr(pair, NIC_WR_RDMA_WRITE, 4096);
    wr.rdma.rkey ^= _i / 2 == 0 ? 1 : 0;
    wr.rdma.remote_addr -= _i / 2 == 1 ? 1 : 0;
    pair_post_at(pair, 1000, qps.qp[0], &wr);
    pair_run(pair);
    ck_assert_int_eq(pair->done[0][0].wc.status, NIC_WC_REM_ACCESS_ERR);
    check_same(to, PAIR_MEMORY, before, 4096);
    sim_free(before);
    pair_destroy(pair);
    pair_config_fini(&config);
}
END_TEST

CHECK_MAIN(CHECK_TEST(frames_show_contents),
           CHECK_LOOP(every_verb_moves_bytes_on_ideal_nics, 0, 12),
           CHECK_LOOP(every_verb_moves_bytes_on_detailed_nics, 0, 12),
           CHECK_LOOP(going_back_to_zero_moves_the_same_bytes, 0, 6),
           CHECK_LOOP(places_are_gathered_and_scattered, 0, 12),
           CHECK_LOOP(each_place_has_its_key_and_bounds, 0, 4),
           CHECK_TEST(places_cost_reads_and_pointers), CHECK_TEST(too_many_places_are_refused),
           CHECK_LOOP(datagrams_bring_bytes, 0, 2),
           CHECK_LOOP(unreliable_connections_bring_bytes, 0, 2),
           CHECK_LOOP(unreliable_writes_bring_bytes, 0, 2), CHECK_LOOP(contents_take_no_time, 0, 2),
           CHECK_LOOP(refused_requests_leave_memory_alone, 0, 4))
