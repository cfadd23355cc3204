// SPDX-License-Identifier: Apache-2.0
// apps/serving/arrivals/lengths.c - draws lengths and gaps: normal by Marsaglia's polar method,
// gamma by Marsaglia and Tsang (ACM TOMS 26(3), 2000), others by their inverse
// (docs/models/requests.md).
#include "apps/serving/arrivals/lengths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/attribute.h"
#include "kernel/parse.h"

#define LN2 0.693147180559945309417
#define LN2_HIGH \
    0.693147180369123816490 // its last bits are 0, so products with small integers are exact
#define LN2_LOW 1.90821492927058770002e-10
#define SQRT_HALF 0.70710678118654752440
#define EXP_MAX 700.0
#define WORDS_MAX 3u
#define WORD_MAX_BYTES 32u
#define TOKENS_MAX UINT64_C(100000000)

// -- functions

double app__ln(double x)
{
    SIM_CHECK(x > 0.0);
    int exponent = 0;
    double mantissa = frexp(x, &exponent); // [1/2, 1), exact
    if (mantissa < SQRT_HALF) {
        mantissa *= 2.0;
        exponent--;
    }
    // ln m = 2 atanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...), |s| < 0.172
    const double s = (mantissa - 1.0) / (mantissa + 1.0);
    const double square = s * s;
    double sum = 0.0;
    for (int power = 25; power >= 1; power -= 2) {
        sum = sum * square + 1.0 / power;
    }
    return exponent * LN2 + 2.0 * s * sum;
}

double app__exp(double x)
{
    if (x < -EXP_MAX) {
        return 0.0;
    }
    x = SIM_MIN(EXP_MAX, x);
    const int whole = (int)(x / LN2 + (x < 0.0 ? -0.5 : 0.5));
    const double rest = x - whole * LN2_HIGH - whole * LN2_LOW; // |rest| < 0.35
    double sum = 1.0;
    for (int term = 16; term >= 1; term--) {
        sum = 1.0 + sum * rest / term;
    }
    return ldexp(sum, whole);
}

// -- numbers

// Draws a number in (0, 1).
static double draw_uniform(sim_random_t *random)
{
    return ((double)(sim_random_u64(random) >> 12) + 0.5) / 4503599627370496.0; // 2^52
}

double app__draw_normal(sim_random_t *random)
{
    double x = 0.0;
    double square = 0.0;
    do {
        x = 2.0 * draw_uniform(random) - 1.0;
        const double y = 2.0 * draw_uniform(random) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square <= 0.0);
    return x * sqrt(-2.0 * app__ln(square) / square);
}

double app__draw_gamma(sim_random_t *random, double shape)
{
    SIM_CHECK(shape > 0.0);
    // Below 1: gamma(shape) = gamma(shape + 1) x u^(1 / shape).
    const double raised = shape < 1.0 ? shape + 1.0 : shape;
    const double d = raised - 1.0 / 3.0;
    const double c = 1.0 / sqrt(9.0 * d);
    double v = 0.0;
    for (bool taken = false; !taken;) {
        const double x = app__draw_normal(random);
        v = 1.0 + c * x;
        if (v > 0.0) {
            v = v * v * v;
            const double u = draw_uniform(random);
            taken = app__ln(u) < 0.5 * x * x + d - d * v + d * app__ln(v);
        }
    }
    double number = d * v;
    if (shape < 1.0) {
        number *= app__exp(app__ln(draw_uniform(random)) / shape);
    }
    return number / shape;
}

// -- lengths

// Splits a text at blanks into at most WORDS_MAX words. Returns how many there are; SIZE_MAX: more,
// or a word that is too long.
static size_t split(const char *text, char words[WORDS_MAX][WORD_MAX_BYTES])
{
    size_t count = 0;
    for (text += strspn(text, " \t"); *text != '\0'; text += strspn(text, " \t")) {
        const size_t size = strcspn(text, " \t");
        if (count == WORDS_MAX || size >= WORD_MAX_BYTES) {
            return SIZE_MAX;
        }
        memcpy(words[count], text, size);
        words[count++][size] = '\0';
        text += size;
    }
    return count;
}

static sim_err_t wrong(const char *attribute, const char *text, sim_message_t *message)
{
    return sim_fail_about(message, SIM_ERR_INVALID, attribute,
                          ": \"%s\", expected a number of tokens from 1 to %" PRIu64
                          ", `uniform MIN MAX`, `exponential MEAN`, `lognormal MEAN CV`, or a file",
                          text, TOKENS_MAX);
}

static bool take_count(const char *word, uint64_t *count)
{
    sim_message_t ignored;
    return sim_parse_count(word, count, &ignored) == SIM_OK && *count >= 1 && *count <= TOKENS_MAX;
}

static bool take_number(const char *word, double max, double *number)
{
    sim_message_t ignored;
    sim_ratio_t ratio;
    if (sim_parse_ratio(word, &ratio, &ignored) != SIM_OK) {
        return false;
    }
    *number = (double)ratio.num / (double)ratio.den;
    return *number <= max;
}

// Reads a distribution from a file; a message of its reader begins "line 3 column 7: ".
static sim_err_t read_cdf(const char *attribute, const char *name, app__read_fn read_file,
                          void *ctx, app__length_t *length, sim_message_t *message)
{
    char *text = NULL;
    size_t size = 0;
    sim_message_t why;
    sim_err_t error = read_file(name, &text, &size, &why, ctx);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, attribute, ": %s", why.text);
    }
    error = sim_cdf_parse(text, size, &length->cdf, &why);
    sim_free(text);
    if (error != SIM_OK) {
        static const char words[] = "line ";
        const char *const rest = strchr(why.text, ':');
        if (rest != NULL && strncmp(why.text, words, sizeof(words) - 1) == 0) {
            char *end = NULL;
            const uint64_t line = strtoull(why.text + sizeof(words) - 1, &end, 10);
            const uint64_t column = strtoull(end + strcspn(end, "0123456789:"), NULL, 10);
            return sim_fail_in(message, error, name, line, column, "%s", rest + 2);
        }
        return sim_fail_in(message, error, name, 1, 1, "%s", why.text);
    }
    length->kind = APP__LENGTH_CDF;
    return SIM_OK;
}

static bool take_lognormal(char words[WORDS_MAX][WORD_MAX_BYTES], app__length_t *length)
{
    double mean = 0.0;
    double cv = 0.0;
    if (!take_number(words[1], (double)TOKENS_MAX, &mean) || mean < 1.0 ||
        !take_number(words[2], 100.0, &cv)) {
        return false;
    }
    const double variance = app__ln(1.0 + cv * cv); // of the logarithm
    length->kind = APP__LENGTH_LOGNORMAL;
    length->mu = app__ln(mean) - variance / 2.0;
    length->sigma = sqrt(variance);
    return true;
}

sim_err_t app__length_parse(const char *attribute, const char *text, app__read_fn read_file,
                            void *ctx, app__length_t *length, sim_message_t *message)
{
    char words[WORDS_MAX][WORD_MAX_BYTES];
    const size_t count = split(text, words);
    *length = (app__length_t){.kind = APP__LENGTH_CONSTANT};
    if (count == 0) {
        return wrong(attribute, text, message);
    }
    if (count == 1 && strspn(words[0], "0123456789.-+") == strlen(words[0])) {
        return take_count(words[0], &length->low) ? SIM_OK : wrong(attribute, text, message);
    }
    bool good = false;
    if (count == 3 && strcmp(words[0], "uniform") == 0) {
        length->kind = APP__LENGTH_UNIFORM;
        good = take_count(words[1], &length->low) && take_count(words[2], &length->high) &&
               length->low <= length->high;
    } else if (count == 2 && strcmp(words[0], "exponential") == 0) {
        length->kind = APP__LENGTH_EXPONENTIAL;
        good = take_number(words[1], (double)TOKENS_MAX, &length->mean) && length->mean >= 1.0;
    } else if (count == 3 && strcmp(words[0], "lognormal") == 0) {
        good = take_lognormal(words, length);
    } else if (strpbrk(text, " \t") == NULL) {
        return read_cdf(attribute, text, read_file, ctx, length, message);
    }
    return good ? SIM_OK : wrong(attribute, text, message);
}

void app__length_fini(app__length_t *length)
{
    sim_cdf_destroy(length->cdf);
    length->cdf = NULL;
}

// Rounds a length to whole tokens, 1 to max.
static uint64_t whole_tokens(double tokens, uint64_t max)
{
    if (tokens >= (double)max) {
        return max;
    }
    return tokens < 1.0 ? 1 : (uint64_t)(tokens + 0.5);
}

uint64_t app__length_draw(const app__length_t *length, sim_random_t *random, uint64_t max)
{
    uint64_t tokens = 0;
    switch (length->kind) {
    case APP__LENGTH_CONSTANT:
        tokens = length->low;
        break;
    case APP__LENGTH_UNIFORM:
        tokens = length->low + sim_random_below(random, length->high - length->low + 1);
        break;
    case APP__LENGTH_EXPONENTIAL:
        return whole_tokens(-app__ln(draw_uniform(random)) * length->mean, max);
    case APP__LENGTH_LOGNORMAL:
        return whole_tokens(app__exp(length->mu + length->sigma * app__draw_normal(random)), max);
    case APP__LENGTH_CDF:
        tokens = sim_cdf_draw(length->cdf, random);
        break;
    default:
        SIM_CHECK(false);
    }
    return SIM_MIN(tokens, max);
}
