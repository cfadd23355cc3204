// SPDX-License-Identifier: Apache-2.0
// test_single_loss.c - loss of any one packet of any kind, under every congestion
// control.
//
// Goal: whichever packet is lost, every request completes, once and in order, and its data is
// delivered once; nothing hangs, no packet is lost count of, no timer is left behind. The same for
// NAKs, which exist only after another loss: for every pair of one packet of each host.
// Method: two hosts, two switches and a narrow link that marks in either direction. A run without
// loss tells how many packets a host sends; then each is lost in a run of its own. The kinds
// lost are noted, and each kind there is must have been among them. Stamped on every algorithm of
// tests/algorithms.h and on going back N, to the message and to a chunk; and, with one algorithm,
// on a NIC whose inside takes time; and on every other transport with either NIC. Atomics must have
// changed memory exactly once. The short form tries every fifth pair.
// Not pinned: how long a repair takes; UC and UD, which repair nothing.
// labels: long
#include "nic/transport.h"
#include "tests/algorithms.h"
#include "tests/drop_next.h"
#include "tests/nic_pair.h"

#define START_PS UINT64_C(5000)
#define TIMEOUT 8u // 1.05 ms: longer than any round trip here
#define MTU UINT64_C(1024)
#define LONG (MTU * 3 + 100) // FIRST MIDDLE MIDDLE LAST
#define CHUNK (MTU * 2)
#define MODES 3
#define PAIR_STRIDE 5               // of the second packets of pairs, in the short form
#define WORD_AT (UINT64_C(1) << 30) // beyond what WRITEs reach

// Kinds of packets that must have been lost: opcodes, and by its syndrome what an ACK packet says.
enum { KIND_NAK = 256, KIND_RNR_NAK, KIND_COUNT };

static pair_config_t config;
static pair_t *pair;
static pair_qp_t qps;
static bool lost[KIND_COUNT];
static sim_ratio_t random_loss = {0, 1};

// A letter is a request: w WRITE, s SEND, i WRITE with immediate, j SEND with immediate, r READ.
// + is a fetch-and-add of 1, = a compare-and-swap that doubles what is there, both on one word.
// Small letters are LONG, capitals one packet. A mix with a '!' has its receives posted too late.
static const char *const mixes[] = {"wW",     "sS",  "iI", "jJ",      "rR",
                                    "wrsRiW", "!sJ", "!i", "+=W+R=r+"};

static nic_wr_opcode_t opcode_of(char letter)
{
    switch (letter | 0x20) {
    case '+':
        return NIC_WR_ATOMIC_FETCH_AND_ADD;
    case '=':
        return NIC_WR_ATOMIC_CMP_AND_SWP;
    case 'w':
        return NIC_WR_RDMA_WRITE;
    case 's':
        return NIC_WR_SEND;
    case 'i':
        return NIC_WR_RDMA_WRITE_WITH_IMM;
    case 'j':
        return NIC_WR_SEND_WITH_IMM;
    default:
        return NIC_WR_RDMA_READ;
    }
}

static bool is_atomic(char letter)
{
    return opcode_of(letter) >= NIC_WR_ATOMIC_CMP_AND_SWP;
}

static uint64_t bytes_of(char letter)
{
    if (is_atomic(letter)) {
        return 8;
    }
    return letter >= 'a' ? LONG : 200;
}

static bool is_read(char letter)
{
    return opcode_of(letter) >= NIC_WR_RDMA_READ;
}

static bool takes_receive(char letter)
{
    return !is_read(letter) && opcode_of(letter) != NIC_WR_RDMA_WRITE;
}

static void post_receives(pair_t *self, void *ctx)
{
    uint32_t count = 0;
    for (const char *letter = ctx; *letter != '\0'; letter++) {
        count += takes_receive(*letter);
    }
    pair_post_recvs(self, &qps, count, LONG);
}

static int variant_count(void)
{
    return algorithm_count() * MODES;
}

// Returns how many transports there are besides the first.
static int transport_variants(void)
{
    int count = 0;
    while (nic_transport_all[1 + count] != NULL) {
        count++;
    }
    return 2 * count;
}

static uint64_t word_after(char letter, uint64_t word)
{
    return letter == '+' ? word + 1 : (letter == '=' ? 2 * word : word);
}

// Returns whether a variant sends frames of RoCE, whose kinds are counted.
static bool sends_roce(int index)
{
    const int number = index - variant_count() - MODES;
    return number < 0 || nic_transport_all[1 + number / 2]->wire == 0;
}

static void set_up(int index, const char *mix)
{
    const bool other = index >= variant_count() + MODES; // a transport besides the first
    const bool detailed = index >= variant_count();
    bool inside = detailed;
    const nic_cc_ops_t *const ops = algorithm_at(detailed ? 0 : (size_t)index / MODES);
    pair_config_init(&config);
    if (other) {
        const int number = index - variant_count() - MODES;
        sim_free(config.nic.transport);
        config.nic.transport = sim_strdup(nic_transport_all[1 + number / 2]->name);
        inside = number % 2 != 0;
        index = 0;
    }
    config.nic.model = inside ? NIC_DETAILED : NIC_IDEAL;
    sim_free(config.nic.congestion_control);
    config.nic.congestion_control = sim_strdup(ops->name);
    config.nic.mtu_bytes = MTU;
    config.nic.timeout = TIMEOUT;
    config.nic.retransmission = index % MODES == 0 ? NIC_GO_BACK_N : NIC_GO_BACK_0;
    config.nic.chunk_bytes = index % MODES == 2 ? CHUNK : 0;
    config.nic.min_rnr_timer = 1; // 10 us
    config.middle_bps = UINT64_C(10000000000);
    config.until_ps = SIM_PS_PER_S;
    config.link.loss_rate = random_loss;
    pair = pair_create(&config);
    pair_connect(pair, &qps, NIC_QPT_RC, NULL);
    const bool late = mix[0] == '!';
    char *const letters = (char *)(uintptr_t)(mix + late);
    pair_call_at(pair, 1, late ? START_PS + 12 * SIM_PS_PER_US : 1, post_receives, letters);
    uint64_t word = 0;
    for (uint64_t i = 0; letters[i] != '\0'; i++) {
        nic_send_wr_t wr = pair_wr(pair, opcode_of(letters[i]), bytes_of(letters[i]));
        wr.wr_id = i;
        if (is_atomic(letters[i])) {
            wr.atomic.remote_addr = PAIR_MEMORY + WORD_AT;
            wr.atomic.rkey = nic_mr_rkey(pair->mr[1]);
            wr.atomic.compare_add = letters[i] == '+' ? 1 : word;
            wr.atomic.swap = 2 * word;
            word = word_after(letters[i], word);
        }
        pair_post_at(pair, START_PS, qps.qp[0], &wr);
    }
}

static void note_lost(void)
{
    for (size_t i = 0; i < pair->wire_count; i++) {
        const net_packet_t *const packet = &pair->wire[i].packet;
        if (!pair->wire[i].dropped) {
            continue;
        }
        const uint32_t answer = packet->aeth >> 29;
        if (packet->opcode == ROCE_ACKNOWLEDGE && answer != 0) {
            lost[answer == ROCE_SYNDROME_RNR_NAK >> 5 ? KIND_RNR_NAK : KIND_NAK] = true;
        } else {
            lost[packet->opcode] = true;
        }
    }
}

// Runs the mix and checks that all is done once and in order; returns what each host sent.
static void run_mix(int index, const char *mix, const uint64_t drop[2], uint64_t sent[2])
{
    set_up(index, mix);
    for (uint32_t h = 0; h < 2; h++) {
        if (drop[h] > 0) {
            test_drop_next(pair->port[h], drop[h]);
        }
    }
    pair_run(pair);
    const char *const letters = mix + (mix[0] == '!');
    const size_t count = strlen(letters);
    uint64_t delivered[2] = {0, 0}; // READ by host 0, written by it
    size_t received = 0;
    uint64_t word = 0;
#define TOLD "%s, packet %" PRIu64 " of a and %" PRIu64 " of b lost", mix, drop[0], drop[1]
    ck_assert_msg(pair->ended == SIM_ENDED_DONE, TOLD);
    ck_assert_msg(pair->done_count[0] == count, TOLD);
    for (size_t i = 0; i < count; i++) {
        const nic_wc_t *const wc = &pair->done[0][i].wc;
        ck_assert_msg(wc->wr_id == i && wc->status == NIC_WC_SUCCESS, TOLD);
        delivered[is_read(letters[i]) ? 0 : 1] += bytes_of(letters[i]);
        ck_assert_msg(!is_atomic(letters[i]) || wc->atomic_original == word, TOLD);
        word = word_after(letters[i], word);
        if (takes_receive(letters[i])) {
            ck_assert_msg(received < pair->done_count[1], TOLD);
            const nic_wc_t *const got = &pair->done[1][received].wc;
            ck_assert_msg(got->wr_id == 1000 + received, TOLD);
            ck_assert_msg(got->byte_len == bytes_of(letters[i]), TOLD);
            received++;
        }
    }
    ck_assert_msg(pair->done_count[1] == received, TOLD);
    ck_assert_msg(nic_mr_read64(pair->mr[1], PAIR_MEMORY + WORD_AT) == word, TOLD);
    ck_assert_msg(nic_conserved(pair->nic[0]) && nic_conserved(pair->nic[1]), TOLD);
    for (uint32_t h = 0; h < 2; h++) {
        const nic_counters_t *const counters = nic_get_counters(pair->nic[h]);
        ck_assert_msg(counters->rx_data_bytes - counters->rx_restarted_bytes == delivered[h], TOLD);
        ck_assert_msg(nic_qp_state(qps.qp[h]) == NIC_QPS_RTS && nic_qp_quiet(qps.qp[h]), TOLD);
        // A loss may also make a host send less: what is refused too late is not repeated.
        ck_assert_msg(random_loss.num != 0 || drop[h] > sent[h] || drop[h] > counters->tx_packets ||
                          pair->port[h]->rare->drops[NET_DROP_LINK_LOSS] == (drop[h] > 0),
                      TOLD);
        sent[h] = counters->tx_packets;
    }
#undef TOLD
    note_lost();
    pair_destroy(pair);
    pair_config_fini(&config);
}

START_TEST(any_one_packet_may_be_lost)
{
    for (size_t m = 0; m < SIM_COUNT_OF(mixes); m++) {
        uint64_t packets[2] = {0, 0};
        run_mix(_i, mixes[m], (const uint64_t[2]){0, 0}, packets);
        for (uint32_t h = 0; h < 2; h++) {
            for (uint64_t n = 1; n <= packets[h]; n++) {
                uint64_t drop[2] = {0, 0};
                uint64_t sent[2] = {packets[0], packets[1]};
                drop[h] = n;
                run_mix(_i, mixes[m], drop, sent);
            }
        }
    }
    static const uint32_t kinds[] = {
        ROCE_SEND_FIRST,
        ROCE_SEND_MIDDLE,
        ROCE_SEND_LAST,
        ROCE_SEND_LAST_IMM,
        ROCE_SEND_ONLY,
        ROCE_SEND_ONLY_IMM,
        ROCE_WRITE_FIRST,
        ROCE_WRITE_MIDDLE,
        ROCE_WRITE_LAST,
        ROCE_WRITE_LAST_IMM,
        ROCE_WRITE_ONLY,
        ROCE_WRITE_ONLY_IMM,
        ROCE_READ_REQUEST,
        ROCE_READ_RESPONSE_FIRST,
        ROCE_READ_RESPONSE_MIDDLE,
        ROCE_READ_RESPONSE_LAST,
        ROCE_READ_RESPONSE_ONLY,
        ROCE_ACKNOWLEDGE,
        ROCE_ATOMIC_ACKNOWLEDGE,
        ROCE_COMPARE_SWAP,
        ROCE_FETCH_ADD,
        ROCE_CNP,
        KIND_RNR_NAK,
    };
    for (size_t k = 0; k < SIM_COUNT_OF(kinds) && sends_roce(_i); k++) {
        ck_assert_msg(lost[kinds[k]], "no packet of kind %#x was lost", kinds[k]);
    }
}
END_TEST

START_TEST(any_packet_of_each_host_may_be_lost)
{
    for (size_t m = 0; m < SIM_COUNT_OF(mixes); m++) {
        const uint64_t stride = check_long() ? 1 : PAIR_STRIDE;
        uint64_t packets[2] = {0, 0};
        run_mix(_i, mixes[m], (const uint64_t[2]){0, 0}, packets);
        // After a first loss a host may send more. Of a host that sends less, nothing is lost.
        for (uint64_t a = 1; a <= packets[0]; a++) {
            for (uint64_t b = 1 + (a + m) % stride; b <= packets[1] + 4; b += stride) {
                uint64_t sent[2] = {packets[0], 0};
                run_mix(_i, mixes[m], (const uint64_t[2]){a, b}, sent);
            }
        }
    }
    ck_assert(lost[KIND_NAK] || !sends_roce(_i));
}
END_TEST

// Many losses in one run, on every link and in both directions.
START_TEST(random_losses_are_repaired)
{
    for (uint64_t period = 12; period < 32; period += check_few(1, 7)) {
        random_loss = (sim_ratio_t){1, period};
        for (size_t m = 0; m < SIM_COUNT_OF(mixes); m++) {
            uint64_t sent[2] = {0, 0};
            run_mix(_i, mixes[m], (const uint64_t[2]){0, 0}, sent);
        }
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(any_one_packet_may_be_lost, 0,
                      variant_count() + MODES + transport_variants()),
           CHECK_LOOP(random_losses_are_repaired, 0,
                      variant_count() + MODES + transport_variants()),
           CHECK_LOOP_FEW(any_packet_of_each_host_may_be_lost, 0,
                          variant_count() + MODES + transport_variants(), 1))
