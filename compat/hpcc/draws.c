// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/draws.c - MRG32k3a by streams, and glibc's rand().
//
// A stream has 2^127 numbers; runs are 2^76 numbers apart within a stream; the seed is the same in
// every word. Only the first number of most streams is drawn. So the state kept is the begin of the
// next stream, and advancing multiplies it by the 2^127th power of the recurrence's matrices.
// Integers are exact; the original's only division, by a constant, is a product of doubles.
#include "compat/hpcc/draws.h"

#include <string.h>

#define M1 UINT64_C(4294967087)
#define M2 UINT64_C(4294944443)
#define A12 UINT64_C(1403580)
#define A13 (M1 - 810728) // -810728 modulo M1
#define A21 UINT64_C(527612)
#define A23 (M2 - 1370589)
#define STREAM_BITS 127
#define RUN_BITS 76

#define RAND_LAG 31
#define RAND_SHORT_LAG 3
#define RAND_DISCARDED 310

typedef struct matrix {
    uint64_t at[3][3];
} matrix_t;

typedef struct component { // one of the two recurrences that are combined
    uint64_t modulus;
    uint64_t state[3];
    matrix_t to_next_stream;
} component_t;

struct compat_draws {
    component_t first;
    component_t second;
    uint32_t rand_values[RAND_LAG]; // ring of the last values
    uint32_t rand_at;
};

// -- matrices

static matrix_t product(const matrix_t *a, const matrix_t *b, uint64_t modulus)
{
    matrix_t result;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            uint64_t sum = 0;
            for (int k = 0; k < 3; k++) {
                sum = (sum + a->at[i][k] * b->at[k][j] % modulus) % modulus;
            }
            result.at[i][j] = sum;
        }
    }
    return result;
}

// Returns matrix ^ (2 ^ doublings).
static matrix_t doubled(matrix_t matrix, uint32_t doublings, uint64_t modulus)
{
    for (uint32_t i = 0; i < doublings; i++) {
        matrix = product(&matrix, &matrix, modulus);
    }
    return matrix;
}

static void advance(component_t *component, const matrix_t *by)
{
    uint64_t next[3];
    for (int i = 0; i < 3; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < 3; k++) {
            sum += by->at[i][k] * component->state[k] % component->modulus;
        }
        next[i] = sum % component->modulus;
    }
    memcpy(component->state, next, sizeof(next));
}

static void advance_times(component_t *component, matrix_t by, uint64_t times)
{
    for (; times > 0; times >>= 1) {
        if (times & 1) {
            advance(component, &by);
        }
        by = product(&by, &by, component->modulus);
    }
}

static void start_component(component_t *component, uint64_t modulus, const matrix_t *step,
                            uint64_t run, uint64_t first)
{
    SIM_CHECK(run >= 1); // RngRun
    *component = (component_t){.modulus = modulus, .state = {1, 1, 1}};
    component->to_next_stream = doubled(*step, STREAM_BITS, modulus);
    advance_times(component, doubled(*step, RUN_BITS, modulus), run);
    advance_times(component, component->to_next_stream, first);
}

static void start_components(component_t *one, component_t *two, uint64_t run, uint64_t first)
{
    static const matrix_t first_step = {{{0, 1, 0}, {0, 0, 1}, {A13, A12, 0}}};
    static const matrix_t second_step = {{{0, 1, 0}, {0, 0, 1}, {A23, 0, A21}}};
    start_component(one, M1, &first_step, run, first);
    start_component(two, M2, &second_step, run, first);
}

// -- streams

void compat_draws_skip(compat_draws_t *draws)
{
    advance(&draws->first, &draws->first.to_next_stream);
    advance(&draws->second, &draws->second.to_next_stream);
}

// Returns the number after a state, and the new values of both components.
static double number_after(const uint64_t x[3], const uint64_t y[3], uint64_t *one, uint64_t *two)
{
    *one = (A12 * x[1] + A13 * x[0] % M1) % M1;
    *two = (A21 * y[2] + A23 * y[0] % M2) % M2;
    const uint64_t difference = *one > *two ? *one - *two : *one + M1 - *two;
    return (double)difference * (1.0 / ((double)M1 + 1.0));
}

double compat_draws_next(compat_draws_t *draws)
{
    uint64_t one;
    uint64_t two;
    const double number = number_after(draws->first.state, draws->second.state, &one, &two);
    compat_draws_skip(draws);
    return number;
}

struct compat_draws_stream {
    component_t first;
    component_t second;
};

compat_draws_stream_t *compat_draws_stream_create(uint64_t run, uint64_t number)
{
    compat_draws_stream_t *const stream = sim_alloc(sizeof(*stream));
    start_components(&stream->first, &stream->second, run, ((uint64_t)1 << 63) + number);
    return stream;
}

void compat_draws_stream_destroy(compat_draws_stream_t *stream)
{
    sim_free(stream);
}

double compat_draws_stream_next(compat_draws_stream_t *stream)
{
    uint64_t *const x = stream->first.state;
    uint64_t *const y = stream->second.state;
    uint64_t one;
    uint64_t two;
    const double number = number_after(x, y, &one, &two);
    memmove(x, x + 1, 2 * sizeof(*x));
    memmove(y, y + 1, 2 * sizeof(*y));
    x[2] = one;
    y[2] = two;
    return number;
}

// -- rand()

static uint32_t rand_step(compat_draws_t *draws)
{
    uint32_t *const oldest = &draws->rand_values[draws->rand_at];
    const uint32_t late = (draws->rand_at + RAND_LAG - RAND_SHORT_LAG) % RAND_LAG;
    *oldest += draws->rand_values[late];
    draws->rand_at = (draws->rand_at + 1) % RAND_LAG;
    return *oldest;
}

uint32_t compat_draws_rand(compat_draws_t *draws)
{
    return rand_step(draws) >> 1;
}

static void start_rand(compat_draws_t *draws)
{
    uint64_t value = 1; // rand()'s seed if nobody calls srand()
    for (uint32_t i = 0; i < RAND_LAG; i++) {
        draws->rand_values[i] = (uint32_t)value;
        value = value * 16807 % 2147483647;
    }
    draws->rand_at = RAND_SHORT_LAG;
    for (uint32_t i = 0; i < RAND_DISCARDED; i++) {
        (void)rand_step(draws);
    }
}

// -- life

compat_draws_t *compat_draws_create(uint64_t run, uint64_t first)
{
    compat_draws_t *const draws = sim_alloc(sizeof(*draws));
    start_components(&draws->first, &draws->second, run, first);
    start_rand(draws);
    return draws;
}

void compat_draws_destroy(compat_draws_t *draws)
{
    sim_free(draws);
}
