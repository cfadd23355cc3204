// SPDX-License-Identifier: Apache-2.0
// kernel/text/digits.c - numbers for people.
#include "kernel/digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECIMALS_MAX 15
#define WHOLE_MAX 1e18

const char *sim_digits(sim_digits_t *buffer, double value, int digits)
{
    if (!isfinite(value)) {
        snprintf(buffer->text, sizeof(buffer->text), "-");
        return buffer->text;
    }
    if (fabs(value) >= WHOLE_MAX) {
        snprintf(buffer->text, sizeof(buffer->text), "%.*g", digits, value);
        return buffer->text;
    }
    char scientific[40]; // rounded to the digits: "1.79e+04"
    snprintf(scientific, sizeof(scientific), "%.*e", SIM_MIN(digits, 18) - 1, value);
    const long exponent = strtol(strchr(scientific, 'e') + 1, NULL, 10);
    const long decimals = SIM_MAX(0, SIM_MIN(DECIMALS_MAX, digits - 1 - exponent));
    snprintf(buffer->text, sizeof(buffer->text), "%.*f", (int)decimals, strtod(scientific, NULL));
    if (strchr(buffer->text, '.') != NULL) {
        size_t size = strlen(buffer->text);
        while (buffer->text[size - 1] == '0') {
            size--;
        }
        size -= buffer->text[size - 1] == '.';
        buffer->text[size] = '\0';
    }
    return buffer->text;
}
