// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/pint.c - PINT as the HPCC project's simulator computes it, with its random numbers.
//
// The simulated switches have no multiplier: logarithms come from a table of 9 bits, rounded at
// random, and products are sums of logarithms. All random numbers come from one rand() for the
// network, so events need one order (compat/hpcc/draws.h). Logarithms to base 2 are kept in units
// of 2^-15. The original uses libm; here + - * / and integers do. Table and powers are exact to the
// last bit; sums differ from the original's in the last bits of a double at most.
// Behaviour learnt from alibaba-edu/High-Precision-Congestion-Control: switch-node.cc, pint.cc.
#include "compat/hpcc/pint.h"

#include "compat/hpcc/draws.h"

#define LOG_ONE 32768.0 // 2^15
#define LOG_SHIFT 15
#define LOG_TABLE_BITS 9
#define LEAST_UNITS 512.0 // utilization is encoded in units of 1/512
#define KEPT_UNITS 8192.0 // utilization is kept in units of 1/8192
#define QUEUE_SHIFT 8
#define RAND_ONE 65536

struct compat_pint_hpcc {
    double log_rtt; // logarithm of T in ns
    double log_giga;
    uint64_t rtt_ns;
    uint32_t power_count;
    int32_t log_table[(1 << LOG_TABLE_BITS) + 1];
    double powers[NET_PINT_DIGESTS_MAX]; // powers of the base
};

// -- logarithms and powers

// Returns floor(2^15 log2(x)), bit by bit: squaring doubles the logarithm.
static int32_t log_of(uint32_t x)
{
    const int32_t whole = 31 - __builtin_clz(x);
    uint64_t mantissa = (uint64_t)x << (62 - whole); // [1, 2) in units of 2^-62
    int32_t result = whole;
    for (int bit = 0; bit < LOG_SHIFT; bit++) {
        const uint64_t square = (uint64_t)((sim_wide_t)mantissa * mantissa >> 62);
        const bool two = square >> 63 != 0;
        mantissa = two ? square >> 1 : square;
        result = result * 2 + two;
    }
    return result;
}

// Returns 2^15 log2(x), by the series of the inverse hyperbolic tangent.
static double exact_log_of(double x)
{
    int32_t whole = 0;
    while (x >= 1.5) {
        x /= 2.0;
        whole++;
    }
    const double ratio = (x - 1.0) / (x + 1.0);
    const double square = ratio * ratio;
    double sum = 0.0;
    for (int k = 41; k >= 1; k -= 2) {
        sum = sum * square + 1.0 / k;
    }
    const double ln2 = 0x1.62e42fefa39efp-1;
    return ((double)whole + 2.0 * ratio * sum / ln2) * LOG_ONE;
}

// Returns 2^(x / 2^15).
static double power_of_two(double x)
{
    const double exponent = x / LOG_ONE;
    int32_t whole = (int32_t)exponent;
    whole -= (double)whole > exponent;
    const double rest = (exponent - (double)whole) * 0x1.62e42fefa39efp-1;
    double sum = 1.0;
    for (int k = 20; k >= 1; k--) {
        sum = 1.0 + sum * rest / k;
    }
    for (; whole > 0; whole--) {
        sum *= 2.0;
    }
    for (; whole < 0 && sum > 0.0; whole++) {
        sum /= 2.0;
    }
    return sum;
}

// A number mantissa x 2^exponent; the mantissa's first bit is set.
typedef struct wide {
    sim_wide_t mantissa;
    int32_t exponent;
} wide_t;

static wide_t wide_product(wide_t a, wide_t b)
{
    const sim_wide_t low = UINT64_MAX;
    const sim_wide_t middle = (a.mantissa >> 64) * (b.mantissa & low);
    const sim_wide_t other = (a.mantissa & low) * (b.mantissa >> 64);
    const sim_wide_t least = (a.mantissa & low) * (b.mantissa & low);
    const sim_wide_t carry = ((middle & low) + (other & low) + (least >> 64)) >> 64;
    wide_t result = {
        .mantissa =
            (a.mantissa >> 64) * (b.mantissa >> 64) + (middle >> 64) + (other >> 64) + carry,
        .exponent = a.exponent + b.exponent + 128,
    };
    if (result.mantissa >> 127 == 0) {
        result.mantissa <<= 1;
        result.exponent--;
    }
    return result;
}

// Returns x, which is at least 1, with 63 bits of mantissa.
static wide_t wide_of(double x)
{
    int32_t exponent = 0;
    while (x < 0x1p63) {
        x *= 2.0;
        exponent--;
    }
    return (wide_t){(sim_wide_t)(uint64_t)x << 64, exponent - 64};
}

static double double_of(wide_t x)
{
    double result = (double)x.mantissa; // rounds to the nearest
    for (int32_t e = x.exponent; e < 0; e++) {
        result /= 2.0;
    }
    return result;
}

// Returns a logarithm as a switch computes it: that of the first 9 bits, which the remaining bits
// round up at random.
static int32_t rough_log(const compat_pint_hpcc_t *pint, compat_draws_t *draws, uint64_t x)
{
    const int32_t bits = 64 - __builtin_clzll(x);
    if (bits <= LOG_TABLE_BITS) {
        return pint->log_table[x];
    }
    const int32_t shift = bits - LOG_TABLE_BITS;
    const uint64_t mask = ((uint64_t)1 << shift) - 1;
    const bool up = (x & mask) > (compat_draws_rand(draws) & mask);
    return pint->log_table[(x >> shift) + up] + (shift << LOG_SHIFT);
}

// -- utilization

static double next_utilization(const compat_pint_hpcc_t *pint, compat_draws_t *draws,
                               const net_meter_t *meter, uint64_t since_ns, uint64_t queue_bytes)
{
    const double log_rate = meter->per_byte;
    double queue_term = 0.0;
    double bytes_term = 0.0;
    double old_term = 0.0;
    if (queue_bytes >> QUEUE_SHIFT > 0) {
        const int32_t since = rough_log(pint, draws, since_ns);
        const int32_t queue = rough_log(pint, draws, queue_bytes >> QUEUE_SHIFT);
        const double log = (double)(since + queue) + pint->log_giga - log_rate - 2 * pint->log_rtt;
        queue_term = power_of_two(log) * (1 << QUEUE_SHIFT);
    }
    if (meter->last_bytes > 0) {
        const int32_t bytes = rough_log(pint, draws, meter->last_bytes);
        bytes_term = power_of_two((double)bytes + pint->log_giga - log_rate - pint->log_rtt);
    }
    if (pint->rtt_ns > since_ns && meter->utilization > 0.0) {
        const int32_t rest = rough_log(pint, draws, pint->rtt_ns - since_ns);
        const uint64_t old = (uint64_t)(meter->utilization * KEPT_UNITS + 0.5);
        if (old > 0) {
            const int32_t log = rest + rough_log(pint, draws, old);
            old_term = power_of_two((double)log - pint->log_rtt) / KEPT_UNITS;
        }
    }
    return queue_term + bytes_term + old_term;
}

static uint16_t encode(const compat_pint_hpcc_t *pint, compat_draws_t *draws, double utilization)
{
    const double exact = utilization * LEAST_UNITS;
    uint32_t units = (uint32_t)exact;
    units += (double)units < exact;
    units += units == 0;
    uint32_t below = 0;
    uint32_t above = pint->power_count;
    while (above - below > 1) {
        const uint32_t middle = (below + above) / 2;
        if (pint->powers[middle] <= (double)units) {
            below = middle;
        } else {
            above = middle;
        }
    }
    const uint32_t drawn = compat_draws_rand(draws) % RAND_ONE;
    if (above == pint->power_count) {
        return (uint16_t)below;
    }
    const double low = pint->powers[below];
    const double share = ((double)units - low) / (pint->powers[above] - low);
    return (uint16_t)((double)drawn < share * RAND_ONE ? above : below);
}

void compat__pint_frame(const compat_pint_hpcc_t *pint, compat_draws_t *draws, net_meter_t *meter,
                        sim_time_t now_ps, net_packet_t *packet, uint64_t queue_bytes, bool asks)
{
    if (asks) {
        const uint64_t since_ns = (now_ps - meter->before_ps) / SIM_PS_PER_NS;
        meter->utilization =
            next_utilization(pint, draws, meter, SIM_MIN(since_ns, pint->rtt_ns), queue_bytes);
        const uint16_t digest = encode(pint, draws, meter->utilization);
        packet->digest = SIM_MAX(digest, packet->digest);
    }
    meter->before_ps = now_ps;
    meter->last_bytes = packet->frame_bytes;
}

// -- set-up

compat_pint_hpcc_t *compat__pint_init(net_pint_t *pint, sim_ratio_t base, sim_time_t rtt_ps)
{
    compat_pint_hpcc_t *const own = sim_alloc(sizeof(*own));
    own->rtt_ns = rtt_ps / SIM_PS_PER_NS;
    own->log_rtt = exact_log_of((double)own->rtt_ns);
    own->log_giga = exact_log_of(1e9);
    for (uint32_t x = 1; x < SIM_COUNT_OF(own->log_table); x++) {
        own->log_table[x] = log_of(x);
    }
    const wide_t step = wide_of((double)base.num / (double)base.den);
    wide_t power = wide_of(1.0);
    while (own->power_count < NET_PINT_DIGESTS_MAX && power.exponent < 32 - 127) {
        own->powers[own->power_count++] = double_of(power);
        power = wide_product(power, step);
    }
    SIM_CHECK(own->power_count >= 2 && own->rtt_ns > 0);
    // The digest is always two bytes on the wire, but with enough powers only 256 values are used.
    const bool narrow = own->power_count > 256 && own->powers[256] >= LEAST_UNITS * LEAST_UNITS;
    pint->digest_bytes = 2;
    pint->digest_count = narrow ? 256 : own->power_count;
    for (uint32_t p = 0; p < own->power_count; p++) {
        pint->values[p] = own->powers[p] / LEAST_UNITS;
    }
    own->power_count = pint->digest_count;
    return own;
}

void compat__pint_destroy(compat_pint_hpcc_t *pint)
{
    sim_free(pint);
}

double compat__pint_log_rate(uint64_t rate_bps)
{
    const uint64_t rate_bytes = rate_bps / 8;
    return exact_log_of((double)rate_bytes);
}
