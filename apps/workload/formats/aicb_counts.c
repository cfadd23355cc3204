// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/aicb_counts.c - counts what a workload text of AICB or SimAI holds.
#include "apps/workload/formats/aicb_program.h"

#include <stdlib.h>
#include <string.h>

#define NVLINK_BPS 2880e9 // as SimAI has it for an H100
#define NIC_BPS 400e9
#define LINES_MAX 200u // of the histogram

static const char *const phases[APP__AICB_PHASES] = {
    [APP__AICB_FORWARD] = "forward",
    [APP__AICB_INPUT_GRADIENT] = "input gradient",
    [APP__AICB_WEIGHT_GRADIENT] = "weight gradient",
};

static bool is_counted(const app__aicb_step_t *step)
{
    return step->kind != APP__AICB_NONE && step->kind != APP__AICB_UNKNOWN &&
           step->kind != APP__AICB_BROADCAST;
}

// Returns the minimum time of a collective among n ranks that each send bits_per_s, in ns.
static double least_ns(const app__aicb_step_t *step, double n, double bits_per_s)
{
    const double rounds =
        step->kind == APP__AICB_ALL_REDUCE || step->kind == APP__AICB_ALL_REDUCE_ALL_TO_ALL ? 2 : 1;
    return n < 2 ? 0 : rounds * (n - 1) / n * (double)step->bytes * 8e9 / bits_per_s;
}

// The work of a rank in one pass over the file.
typedef struct totals {
    uint64_t compute_ns[APP__AICB_PHASES];
    uint64_t update_ns;
    uint64_t ops[APP__AICB_SETS];
    uint64_t bytes[APP__AICB_SETS];
    double least_ns[APP__AICB_SETS];
} totals_t;

static void add_layer(const app__aicb_job_t *job, const app__aicb_layer_t *layer, totals_t *totals)
{
    totals->update_ns += layer->update_ns;
    for (app__aicb_phase_t i = APP__AICB_FORWARD; i < APP__AICB_PHASES; i++) {
        const app__aicb_step_t *const step = &layer->steps[i];
        totals->compute_ns[i] += step->compute_ns;
        if (is_counted(step)) {
            const double size = app__aicb_members(job, app__aicb_set_of(job, step));
            totals->ops[step->set]++;
            totals->bytes[step->set] += step->bytes;
            totals->least_ns[step->set] +=
                least_ns(step, size, step->set == APP__AICB_TP ? NVLINK_BPS : NIC_BPS);
        }
    }
}

// -- the histogram of collectives

typedef struct bin {
    const app__aicb_step_t *step;
    uint64_t line;
    app__aicb_phase_t phase;
} bin_t;

static int compare_steps(const bin_t *one, const bin_t *two)
{
    const uint32_t lengths[2] = {one->step->word.length, two->step->word.length};
    const uint32_t shorter = SIM_MIN(lengths[0], lengths[1]);
    const int words = memcmp(one->step->word.text, two->step->word.text, shorter);
    if (one->phase != two->phase) {
        return one->phase < two->phase ? -1 : 1;
    }
    if (words != 0 || lengths[0] != lengths[1]) {
        return words != 0 ? words : lengths[0] < lengths[1] ? -1 : 1;
    }
    return one->step->bytes == two->step->bytes ? 0 : one->step->bytes < two->step->bytes ? -1 : 1;
}

static int compare(const void *a, const void *b)
{
    const bin_t *const one = a;
    const bin_t *const two = b;
    const int steps = compare_steps(one, two);
    return steps != 0 ? steps : one->line < two->line ? -1 : one->line > two->line;
}

static void note_bin(app__schedule_t *schedule, const bin_t *bin, size_t count)
{
    app__schedule_note(schedule, sim_format("%s: %zu x %.*s of %" PRIu64 " bytes%s",
                                            phases[bin->phase], count, (int)bin->step->word.length,
                                            bin->step->word.text, bin->step->bytes,
                                            is_counted(bin->step) ? "" : ", which SimAI ignores"));
}

static void note_histogram(const app__aicb_t *aicb, app__schedule_t *schedule)
{
    bin_t *const bins = sim_alloc_array(APP__AICB_PHASES * aicb->layer_count + 1, sizeof(*bins));
    size_t count = 0;
    for (size_t i = 0; i < aicb->layer_count; i++) {
        for (app__aicb_phase_t p = APP__AICB_FORWARD; p < APP__AICB_PHASES; p++) {
            if (aicb->layers[i].steps[p].kind != APP__AICB_NONE) {
                bins[count++] = (bin_t){&aicb->layers[i].steps[p], aicb->layers[i].line, p};
            }
        }
    }
    qsort(bins, count, sizeof(*bins), compare);
    uint32_t lines = 0;
    for (size_t i = 0; i < count; lines++) {
        const size_t first = i;
        while (i < count && compare_steps(&bins[i], &bins[first]) == 0) {
            i++;
        }
        if (lines < LINES_MAX) {
            note_bin(schedule, &bins[first], i - first);
        }
    }
    if (lines > LINES_MAX) {
        app__schedule_note(schedule, sim_format("the list leaves out %u more kind%s",
                                                lines - LINES_MAX, sim_plural(lines - LINES_MAX)));
    }
    sim_free(bins);
}

// Warns of collectives that have no meaning: they are left out.
static void note_unknown(const app__aicb_t *aicb, app__schedule_t *schedule)
{
    uint64_t count = 0;
    const app__aicb_layer_t *first = NULL;
    const app__aicb_step_t *step = NULL;
    for (size_t i = 0; i < aicb->layer_count; i++) {
        for (app__aicb_phase_t p = APP__AICB_FORWARD; p < APP__AICB_PHASES; p++) {
            if (aicb->layers[i].steps[p].kind == APP__AICB_UNKNOWN) {
                first = count == 0 ? &aicb->layers[i] : first;
                step = count == 0 ? &aicb->layers[i].steps[p] : step;
                count++;
            }
        }
    }
    if (step != NULL) {
        app__schedule_note(
            schedule, sim_format("warning: %s:%" PRIu64 ": there is no collective '%.*s': %" PRIu64
                                 " unknown words are left out",
                                 aicb->name, first->line, (int)SIM_MIN(step->word.length, 40),
                                 step->word.text, count));
    }
}

static void note_header(const app__aicb_t *aicb, const app__aicb_job_t *job,
                        app__schedule_t *schedule)
{
    app__schedule_note(schedule,
                       sim_format("policy %s: TP %" PRIu64 ", EP %" PRIu64 ", PP %" PRIu64
                                  ", VPP %" PRIu64 ", GA %" PRIu64 ", DP %u, all_gpus %" PRIu64
                                  ", pp_comm %" PRIu64 " (0: the file does not say)",
                                  app__aicb_policy_name(aicb->policy), aicb->tp, aicb->ep, aicb->pp,
                                  aicb->vpp, aicb->ga, job->dp, aicb->all_gpus, aicb->pp_bytes));
    app__schedule_note(schedule, sim_format("layers: %" PRIu64 " declared, %zu present",
                                            aicb->declared, aicb->layer_count));
    if (aicb->layer_count < aicb->declared) {
        app__schedule_note(
            schedule,
            sim_format("warning: %s: the file declares more layers than it has", aicb->name));
    }
    if (aicb->words_left > 0) {
        app__schedule_note(schedule,
                           sim_format("warning: %s: %" PRIu64
                                      " words stand behind the declared layers and are left out",
                                      aicb->name, aicb->words_left));
    }
}

// Adds the counts under the names that programs read.
static void add_facts(const app__aicb_t *aicb, const totals_t *totals, app__schedule_t *schedule)
{
    const struct {
        const char *name;
        uint64_t number;
    } facts[] = {
        {"TP", aicb->tp},
        {"EP", aicb->ep},
        {"PP", aicb->pp},
        {"VPP", aicb->vpp},
        {"GA", aicb->ga},
        {"all_gpus", aicb->all_gpus},
        {"pp_comm", aicb->pp_bytes},
        {"layers_declared", aicb->declared},
        {"layers_present", aicb->layer_count},
        {"fwd_ns", totals->compute_ns[APP__AICB_FORWARD]},
        {"ig_ns", totals->compute_ns[APP__AICB_INPUT_GRADIENT]},
        {"wg_ns", totals->compute_ns[APP__AICB_WEIGHT_GRADIENT]},
        {"update_ns", totals->update_ns},
        {"tp_ops", totals->ops[APP__AICB_TP]},
        {"tp_bytes", totals->bytes[APP__AICB_TP]},
        {"dp_ops", totals->ops[APP__AICB_DP]},
        {"dp_bytes", totals->bytes[APP__AICB_DP]},
        {"ep_ops", totals->ops[APP__AICB_EP]},
        {"ep_bytes", totals->bytes[APP__AICB_EP]},
        {"dp_ep_ops", totals->ops[APP__AICB_DP_EP]},
        {"dp_ep_bytes", totals->bytes[APP__AICB_DP_EP]},
    };
    app__schedule_fact_text(schedule, "policy",
                            sim_format("%s", app__aicb_policy_name(aicb->policy)));
    for (size_t i = 0; i < SIM_COUNT_OF(facts); i++) {
        app__schedule_fact(schedule, facts[i].name, facts[i].number);
    }
}

void app__aicb_note_counts(const app__aicb_t *aicb, const app__aicb_job_t *job,
                           app__schedule_t *schedule)
{
    totals_t totals = {.update_ns = 0};
    for (size_t i = 0; i < aicb->layer_count; i++) {
        add_layer(job, &aicb->layers[i], &totals);
    }
    const uint64_t compute_ns = totals.compute_ns[APP__AICB_FORWARD] +
                                totals.compute_ns[APP__AICB_INPUT_GRADIENT] +
                                totals.compute_ns[APP__AICB_WEIGHT_GRADIENT];
    add_facts(aicb, &totals, schedule);
    note_header(aicb, job, schedule);
    app__schedule_note(schedule,
                       sim_format("computations of a rank: forward %" PRIu64
                                  " ns, input gradient %" PRIu64 " ns, weight gradient %" PRIu64
                                  " ns, updates %" PRIu64 " ns",
                                  totals.compute_ns[APP__AICB_FORWARD],
                                  totals.compute_ns[APP__AICB_INPUT_GRADIENT],
                                  totals.compute_ns[APP__AICB_WEIGHT_GRADIENT], totals.update_ns));
    app__schedule_note(schedule,
                       sim_format("collectives of a rank: tp %" PRIu64 " of %" PRIu64
                                  " bytes, dp %" PRIu64 " of %" PRIu64 " bytes, ep %" PRIu64
                                  " of %" PRIu64 " bytes, dp-ep %" PRIu64 " of %" PRIu64 " bytes",
                                  totals.ops[APP__AICB_TP], totals.bytes[APP__AICB_TP],
                                  totals.ops[APP__AICB_DP], totals.bytes[APP__AICB_DP],
                                  totals.ops[APP__AICB_EP], totals.bytes[APP__AICB_EP],
                                  totals.ops[APP__AICB_DP_EP], totals.bytes[APP__AICB_DP_EP]));
    note_histogram(aicb, schedule);
    note_unknown(aicb, schedule);
    app__schedule_note(schedule,
                       sim_format("a pass takes at least %.0f ns: computations %" PRIu64
                                  " ns, rings of tp at 2880 Gbps (NVLink) %.0f ns; at 400 Gbps, "
                                  "ep takes %.0f ns and dp %.0f ns",
                                  (double)compute_ns + totals.least_ns[APP__AICB_TP], compute_ns,
                                  totals.least_ns[APP__AICB_TP], totals.least_ns[APP__AICB_EP],
                                  totals.least_ns[APP__AICB_DP]));
}
