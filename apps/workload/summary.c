// SPDX-License-Identifier: Apache-2.0
// apps/workload/summary.c - sums up a schedule: sizes of its messages, bounds and an estimate.
#include "apps/workload/summary.h"

#include <stdlib.h>
#include <string.h>

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a;
    const uint64_t two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
}

static void sum_sizes(const app__schedule_t *schedule, app__workload_summary_t *summary)
{
    uint64_t *const sizes = sim_alloc_array((size_t)schedule->counts.sends + 1, sizeof(*sizes));
    size_t count = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            if (schedule->ranks[r].ops[i].type == APP__OP_SEND) {
                sizes[count++] = schedule->ranks[r].ops[i].size;
            }
        }
    }
    qsort(sizes, count, sizeof(*sizes), compare_sizes);
    for (size_t i = 0; i < count; i++) {
        summary->message_sizes += i == 0 || sizes[i] != sizes[i - 1];
    }
    summary->message_bytes_min = count > 0 ? sizes[0] : 0;
    summary->message_bytes_max = count > 0 ? sizes[count - 1] : 0;
    sim_free(sizes);
}

static void raise_to(sim_time_t *most_ps, const sim_time_t *works_ps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *most_ps = works_ps[i] > *most_ps ? works_ps[i] : *most_ps;
    }
}

// Adds up the work of the processors and the NICs of each rank.
static void bound_resources(const app__schedule_t *schedule,
                            const app__loggp_t *loggp,
                            app__workload_summary_t *summary)
{
    sim_time_t cpu_ps[UINT8_MAX + 1];
    sim_time_t send_ps[UINT8_MAX + 1];
    sim_time_t receive_ps[UINT8_MAX + 1];
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        memset(cpu_ps, 0, sizeof(cpu_ps));
        memset(send_ps, 0, sizeof(send_ps));
        memset(receive_ps, 0, sizeof(receive_ps));
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            const app__op_t *const op = &schedule->ranks[r].ops[i];
            const sim_time_t gaps_ps = loggp->gap_ps + app__byte_gaps_ps(loggp, op->size);
            if (op->type == APP__OP_CALC) {
                cpu_ps[op->cpu] += app__calc_ps(op->size, &loggp->calc_scale);
            } else if (op->type == APP__OP_SEND) {
                cpu_ps[op->cpu] += loggp->send_ps;
                send_ps[op->nic] += gaps_ps;
            } else if (op->type == APP__OP_RECV) {
                receive_ps[op->nic] += gaps_ps;
            }
        }
        raise_to(&summary->cpu_ps, cpu_ps, SIM_COUNT_OF(cpu_ps));
        raise_to(&summary->nic_send_ps, send_ps, SIM_COUNT_OF(send_ps));
        raise_to(&summary->nic_receive_ps, receive_ps, SIM_COUNT_OF(receive_ps));
    }
}

void app__workload_summarise(const app__schedule_t *schedule,
                             const app__loggp_t *loggp,
                             app__workload_summary_t *summary)
{
    *summary = (app__workload_summary_t){.operations = 0};
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        summary->operations += schedule->ranks[r].count;
    }
    sum_sizes(schedule, summary);
    bound_resources(schedule, loggp, summary);
    summary->path_ps = app__schedule_path_ps(schedule, loggp);
    const sim_time_t bounds_ps[] = {summary->path_ps,
                                    summary->cpu_ps,
                                    summary->nic_send_ps,
                                    summary->nic_receive_ps};
    raise_to(&summary->bound_ps, bounds_ps, SIM_COUNT_OF(bounds_ps));
    if (summary->operations <= APP__ESTIMATE_OPS_MAX && schedule->counts.colls == 0) {
        app__loggp_result_t result;
        app__loggp_t limited = *loggp;
        limited.events_max = APP__ESTIMATE_EVENTS_MAX;
        app__loggp_run(schedule, &limited, &result);
        summary->estimated = !result.cut;
        summary->estimate_ps = result.end_ps;
        summary->unfinished = result.cut ? 0 : result.unfinished;
        app__loggp_fini(&result);
    }
}
