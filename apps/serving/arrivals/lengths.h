// SPDX-License-Identifier: Apache-2.0
// apps/serving/arrivals/lengths.h - random lengths and gaps with the same bits on every machine
// (docs/models/requests.md).
//
// IEEE 754 rounds + - * / and square roots correctly everywhere. Logarithms and powers of libm
// differ between machines, so they are made here of those operations.
#ifndef APPS_SERVING_ARRIVALS_LENGTHS_H
#define APPS_SERVING_ARRIVALS_LENGTHS_H

#include "kernel/random.h"

// Natural logarithm of x > 0 and power of e, with a relative error below 10^-13. exp is 0 below
// -700 and stays finite: above 700 it is that of 700.
double app__ln(double x);
double app__exp(double x);

// Draw a number from a normal distribution with mean 0 and deviation 1, and from a gamma
// distribution with a shape above 0 and mean 1.
double app__draw_normal(sim_random_t *random);
double app__draw_gamma(sim_random_t *random, double shape);

typedef enum app__length_kind {
    APP__LENGTH_CONSTANT,
    APP__LENGTH_UNIFORM,
    APP__LENGTH_EXPONENTIAL,
    APP__LENGTH_LOGNORMAL,
    APP__LENGTH_CDF,
} app__length_kind_t;

// A distribution of lengths in tokens.
typedef struct app__length {
    app__length_kind_t kind;
    uint64_t low; // constant: the length; uniform: the least
    uint64_t high;
    double mean;  // exponential
    double mu;    // lognormal: mean of the logarithm
    double sigma; // lognormal: deviation of the logarithm
    sim_cdf_t *cdf;
} app__length_t;

typedef sim_err_t (*app__read_fn)(const char *name, char **text, size_t *size,
                                  sim_message_t *message, void *ctx);

// Reads "512", "uniform 1 100", "exponential 200", "lognormal MEAN CV", or the name of a file of
// docs/formats/flow-sizes.md, which read_file reads. Errors begin with `attribute` or the file's
// place. Free with app__length_fini, also after an error.
SIM_MUST_CHECK sim_err_t app__length_parse(const char *attribute, const char *text,
                                           app__read_fn read_file, void *ctx, app__length_t *length,
                                           sim_message_t *message);
void app__length_fini(app__length_t *length);
// Draws a length from 1 to max.
uint64_t app__length_draw(const app__length_t *length, sim_random_t *random, uint64_t max);

#endif // APPS_SERVING_ARRIVALS_LENGTHS_H
