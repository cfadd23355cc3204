// SPDX-License-Identifier: Apache-2.0
// apps/serving/goals.h - how many requests would be served in time, for other goals than those set.
#ifndef APPS_SERVING_GOALS_H
#define APPS_SERVING_GOALS_H

#include "apps/report_rows.h"

// clang-format off
#define APP__SERVING_GOAL_ROWS(X) \
    X(factor, REAL, "", false, "multiple of ttft-goal and tpot-goal") \
    X(goodput_rps, REAL, "1/s", false, "requests per second within both") \
    X(ttft_rps, REAL, "1/s", false, "requests per second within the multiple of ttft-goal") \
    X(tpot_rps, REAL, "1/s", false, "requests per second within the multiple of tpot-goal")
// clang-format on
// Number of requests that would be within other goals.
typedef struct app__serving_goal {
    APP__SERVING_GOAL_ROWS(APP__MEMBER)
} app__serving_goal_t;
#define APP__SERVING_GOALS 13u // factors from 1/8 to 8

#endif // APPS_SERVING_GOALS_H
