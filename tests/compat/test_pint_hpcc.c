// SPDX-License-Identifier: Apache-2.0
// tests/compat/test_pint_hpcc.c - PINT as the HPCC project's simulator computes it.
//
// Goal: digests, their values and a port's utilization are those of its formulas with its rand().
// Method: 4000 frames at a port with gaps, queues and sizes of a linear congruence, against what a
// second program, in another language and with libm and the C library's rand(), computed for them.
// Not pinned: which event draws first (tests/test_hpcc_agreement.sh, input pint).
#include "compat/hpcc/pint.h"

#include "tests/check_main.h"

#define RTT_PS (4160 * SIM_PS_PER_NS)
#define FRAMES 4000

static compat_pint_hpcc_t *own; // of the last one made

static net_pint_t *pint_of(sim_ratio_t base)
{
    net_pint_t *const pint = sim_alloc(sizeof(*pint));
    net_pint_init(pint, base, RTT_PS);
    own = compat__pint_init(pint, base, RTT_PS);
    return pint;
}

static void forget(net_pint_t *pint)
{
    compat__pint_destroy(own);
    sim_free(pint);
}

START_TEST(values_are_powers_of_the_base)
{
    net_pint_t *const pint = pint_of((sim_ratio_t){101, 100});
    ck_assert_uint_eq(pint->digest_bytes, 2);
    ck_assert(pint->values[0] == 0x1p-9);
    ck_assert(pint->values[1] == 0x1.028f5c28f5c29p-9);
    ck_assert(pint->values[255] == 0x1.94ab595de6b99p-6);
    ck_assert(pint->values[1000] == 0x1.477c9f5f84e1fp+5);
    ck_assert(pint->values[2000] == 0x1.a2ef9bd0cd39bp+19);
    forget(pint);
    net_pint_t *const narrow = pint_of((sim_ratio_t){105, 100});
    ck_assert_uint_eq(narrow->digest_bytes, 2);
    ck_assert_uint_eq(narrow->digest_count, 256);
    forget(narrow);
}
END_TEST

START_TEST(frames_are_measured_as_there)
{
    net_pint_t *const pint = pint_of((sim_ratio_t){101, 100});
    compat_draws_t *const draws = compat_draws_create(1, 0);
    net_meter_t meter = {.pint = pint, .per_byte = compat__pint_log_rate(UINT64_C(100000000000))};
    static const uint16_t first_digests[] = {0, 0, 209, 0, 628, 0, 0, 629, 0, 0, 0, 0};
    static const uint16_t sizes[] = {1050, 60, 43};
    uint64_t state = 12345;
    uint64_t hash = 0;
    sim_time_t now_ps = 0;
    double at_999 = 0.0;
    for (uint32_t i = 0; i < FRAMES; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t r = state >> 33;
        now_ps += (83 + (r % 4 == 0 ? r % 9000 : 0)) * SIM_PS_PER_NS;
        const uint64_t queue_bytes = r % 3 == 0 ? 0 : (r >> 5) % 200000;
        net_packet_t packet = {.frame_bytes = sizes[(r >> 9) % 3]};
        const bool asks = packet.frame_bytes == 1050;
        compat__pint_frame(own, draws, &meter, now_ps, &packet, queue_bytes, asks);
        hash = hash * 31 + packet.digest;
        at_999 = i == 999 ? meter.utilization : at_999;
        ck_assert(i >= SIM_COUNT_OF(first_digests) || packet.digest == first_digests[i]);
    }
    ck_assert_uint_eq(hash, UINT64_C(11637141215365458834));
    ck_assert_double_eq_tol(at_999, 3.6535258654029685, 1e-14);
    ck_assert_double_eq_tol(meter.utilization, 2.9556492173480033, 1e-14);
    compat_draws_destroy(draws);
    forget(pint);
}
END_TEST

CHECK_MAIN(CHECK_TEST(values_are_powers_of_the_base), CHECK_TEST(frames_are_measured_as_there))
