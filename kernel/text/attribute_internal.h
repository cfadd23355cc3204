// SPDX-License-Identifier: Apache-2.0
// kernel/text/attribute_internal.h - parses attributes from pieces of text; for this folder.
#ifndef KERNEL_TEXT_ATTRIBUTE_INTERNAL_H
#define KERNEL_TEXT_ATTRIBUTE_INTERNAL_H

#include "kernel/attribute.h"

// A piece of somebody's text: [begin, end).
typedef struct sim__span {
    const char *begin;
    const char *end;
} sim__span_t;

// Return the text without the blanks around it.
sim__span_t sim__span(const char *text);
sim__span_t sim__span_trim(sim__span_t span);
bool sim__span_is(sim__span_t span, const char *text);

// A span as messages show it: control characters as \x1b, long text cut short.
typedef struct sim__shown {
    char text[72];
} sim__shown_t;
sim__shown_t sim__show(sim__span_t span);

#define SIM__PLACES_MAX 19 // decimals whose digits fit 64 bits

typedef struct sim__decimal {
    uint64_t whole;
    uint64_t fraction; // in units of 10^-places
    unsigned places;   // without trailing zeros; at most SIM__PLACES_MAX, the rest is cut off
    bool overflow;     // the whole part exceeds 64 bits
    bool too_fine;     // places were cut off
} sim__decimal_t;

// Takes digits, or digits '.' digits, from the front of span. False: it does not begin so.
bool sim__take_decimal(sim__span_t *span, sim__decimal_t *decimal);
uint64_t sim__power_of_ten(unsigned exponent); // at most SIM__PLACES_MAX

// The units of a kind of number, and the words for it in messages.
typedef struct sim__measure sim__measure_t;
extern const sim__measure_t sim__measure_bytes;
extern const sim__measure_t sim__measure_time;
extern const sim__measure_t sim__measure_rate;
extern const sim__measure_t sim__measure_count;

// The largest number a parser returns: above it are SIM_AUTO and SIM_TIME_NEVER.
#define SIM__NUMBER_MAX (SIM_AUTO - 1)

SIM_MUST_CHECK sim_err_t sim__parse_number(const sim__measure_t *measure, sim__span_t span,
                                           uint64_t *number, sim_message_t *message);
SIM_MUST_CHECK sim_err_t sim__parse_ratio(sim__span_t span, sim_ratio_t *ratio,
                                          sim_message_t *message);

// Writes the number without decimals, in the unit that leaves the fewest digits; free with
// sim_free.
char *sim__format_number(const sim__measure_t *measure, uint64_t number);
// Writes the ratio in the shorter of the forms "0.2" and "1/5" (the first if they are equally
// long); free with sim_free.
char *sim__format_ratio(sim_ratio_t ratio);

// -- attribute_list.c

#define SIM__LIST_MAX 8 // priorities of Ethernet (IEEE 802.1Q PCP), and a weight for each

SIM_MUST_CHECK sim_err_t sim__parse_priorities(sim__span_t span, uint8_t *priorities,
                                               sim_message_t *message);
SIM_MUST_CHECK sim_err_t sim__parse_weights(sim__span_t span,
                                            uint32_t *weights, // SIM__LIST_MAX of them
                                            sim_message_t *message);
SIM_MUST_CHECK sim_err_t sim__parse_profiles(sim__span_t span, sim_profiles_t *profiles,
                                             sim_message_t *message);
char *sim__format_priorities(unsigned priorities);
char *sim__format_weights(const uint32_t *w);
char *sim__format_profiles(const sim_profiles_t *profiles);

#endif // KERNEL_TEXT_ATTRIBUTE_INTERNAL_H
