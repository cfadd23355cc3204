// SPDX-License-Identifier: Apache-2.0
// tests/apps/workload/test_aicb.c - workload texts of AICB and SimAI: counts, programs, errors.
//
// Goal: a file's counts are those of an independent parser, its ranks do what its policy says, the
// groups hold the right ranks, and a broken file is refused with the place of the error.
// Method: files written here, whose operations are listed by hand; public files where they exist.
#include "tests/check_main.h"

#include "apps/workload/formats/format.h"
#include "apps/workload/results/summary.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "../shared/data/ai"
#define TRANSFORMER "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: "

static uint64_t own_max = UINT64_MAX; // operations above which ranks share theirs

static sim_err_t read_as(const char *text, size_t size_bytes, uint32_t ranks, bool simai,
                         app__schedule_t **schedule, sim_message_t *message)
{
    const app__workload_file_t file = {
        .name = "x",
        .text = text,
        .size_bytes = size_bytes,
        .ranks = ranks,
        .own_operations_max = own_max,
        .aicb_simai = simai,
    };
    return app__format_read(&file, schedule, message);
}

static app__schedule_t *read_good(const char *text, bool simai)
{
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    const sim_err_t error = read_as(text, strlen(text), 0, simai, &schedule, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    return schedule;
}

// Writes a rank's operations in an order in which they can run, each with what it waits for:
// "0 calc 10; 1 forward tp 0,2 <0".
static void list_ops(const app__schedule_t *schedule, uint32_t rank, char *text, size_t text_bytes)
{
    const app__rank_ops_t *const ops = &schedule->ranks[rank];
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < ops->count; i++) {
        const app__op_t *const op = &ops->ops[i];
        const char *const names[] = {"", "send", "recv", "calc", ""};
        at += (size_t)snprintf(text + at, text_bytes - at, "%s%s", i == 0 ? "" : "; ",
                               names[op->type]);
        if (op->type == APP__OP_COLL) {
            const app__call_t *const call = &schedule->calls[op->peer];
            const app__group_t *const group = &schedule->groups[call->group];
            at += (size_t)snprintf(
                text + at, text_bytes - at, "%s %s %llu of", app__dimension_name(call->dimension),
                app__coll_kind_name(call->kind), (unsigned long long)call->bytes);
            for (uint32_t m = 0; m < group->count; m++) {
                at += (size_t)snprintf(text + at, text_bytes - at, " %u", group->ranks[m]);
            }
        } else {
            at +=
                (size_t)snprintf(text + at, text_bytes - at, " %llu", (unsigned long long)op->size);
        }
        if (op->type == APP__OP_SEND || op->type == APP__OP_RECV) {
            at += (size_t)snprintf(text + at, text_bytes - at, " rank %u", op->peer);
        }
        for (uint32_t before = 0; before < ops->count; before++) {
            for (uint32_t n = 0; n < ops->ops[before].required_count; n++) {
                if (ops->next[ops->ops[before].required_first + n] == i) {
                    at += (size_t)snprintf(text + at, text_bytes - at, " <%u", before);
                }
            }
        }
        ck_assert_uint_lt(at, text_bytes);
    }
}

static void check_ops(const char *file, bool simai, uint32_t rank, const char *wanted)
{
    char text[4000];
    app__schedule_t *const schedule = read_good(file, simai);
    list_ops(schedule, rank, text, sizeof(text));
    ck_assert_str_eq(text, wanted);
    ck_assert_uint_eq(schedule->counts.stuck, 0);
    ck_assert_uint_eq(schedule->counts.unmatched_sends + schedule->counts.unmatched_recvs, 0);
    app__schedule_destroy(schedule);
}

// -- what ranks do

START_TEST(transformer_waits_for_tp_only)
{
    static const char file[] =
        TRANSFORMER "2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 checkpoints: 0 "
                    "checkpoint_initiates: 0\n2\n"
                    "a -1 10 ALLREDUCE 100 11 ALLGATHER 8192 12 REDUCESCATTER 7000 5\n"
                    "b\t-1\t20\tNONE\t0\t21\tNONE\t0\t22\tALLREDUCE\t9000\t6\n";
    check_ops(file, false, 1,
              "calc 10; tp all-reduce 100 of 0 1 <0; calc 20 <1; calc 21 <2; calc 22 <3; "
              "dp all-reduce 9000 of 1 3 <4; calc 6 <5; "
              "calc 11 <4; tp all-gather 8192 of 0 1 <7; calc 12 <8; "
              "dp reduce-scatter 7000 of 1 3 <9; calc 5 <10");
    // SimAI: no fewer than 4096 bytes forward, an update behind each collective.
    check_ops(file, true, 2,
              "calc 10; tp all-reduce 4096 of 2 3 <0; calc 5 <1; calc 20 <2; calc 21 <3; "
              "calc 22 <4; dp all-reduce 9000 of 0 2 <5; calc 6 <6; "
              "calc 11 <5; tp all-gather 8192 of 2 3 <8; calc 5 <9; calc 12 <10; "
              "dp reduce-scatter 7000 of 0 2 <11; calc 5 <12");
}
END_TEST

START_TEST(groups_lie_within_dp)
{
    // TP 2, DP 4, EP 2: rank 3 is tp 1, dp 1.
    check_ops(TRANSFORMER "2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8\n1\n"
                          "a -1 0 ALLTOALL_EP 64 0 ALLREDUCE 32 0 ALLGATHER_DP_EP 16 0\n",
              false, 3,
              "ep all-to-all 64 of 1 3; tp all-reduce 32 of 2 3 <0; dp-ep all-gather 16 of 3 7 <1");
    // A group of one rank sends nothing; with SimAI's TP 1, groups of experts do not exist.
    check_ops(TRANSFORMER "1 ep: 4 pp: 1 vpp: 1 ga: 1 all_gpus: 4\n1\n"
                          "a -1 0 ALLTOALL_EP 64 1 ALLREDUCE 32 0 NONE 0 0\n",
              false, 2, "ep all-to-all 64 of 0 1 2 3; calc 1 <0");
    check_ops(TRANSFORMER "1 ep: 4 pp: 1 vpp: 1 ga: 1 all_gpus: 4\n1\n"
                          "a -1 0 ALLTOALL_EP 64 1 ALLREDUCE 32 0 NONE 0 0\n",
              true, 2, "calc 1");
}
END_TEST

START_TEST(words_mean_what_they_say)
{
    static const char file[] = TRANSFORMER "2 all_gpus: 2\n1\n"
                                           "a -1 0 BROADCAST 64 0 ALLREDUCEALLTOALL 32 0 NONE 0 0";
    check_ops(file, false, 0,
              "tp broadcast 64 of 0 1; tp all-reduce 32 of 0 1 <0; tp all-to-all 32 of 0 1 <1");
    check_ops(file, true, 0, "tp all-reduce 32 of 0 1");
}
END_TEST

START_TEST(policies_differ)
{
    static const char layers[] = "all_gpus: 2\n2\n"
                                 "a -1 1 ALLTOALL 11 2 ALLREDUCE 12 3 ALLREDUCE 13 0\n"
                                 "b -1 4 ALLREDUCE 14 5 ALLREDUCE 15 6 ALLREDUCE 16 0\n";
    char file[400];
    snprintf(file, sizeof(file), "DATA %s", layers);
    check_ops(file, false, 0,
              "calc 1; calc 4 <0; calc 6 <1; dp all-reduce 16 of 0 1 <2; calc 5 <2; calc 3 <4; "
              "dp all-reduce 13 of 0 1 <5");
    snprintf(file, sizeof(file), "MODEL %s", layers);
    check_ops(file, false, 0,
              "calc 1; tp all-to-all 11 of 0 1 <0; calc 4 <1; tp all-reduce 14 of 0 1 <2; "
              "calc 5 <3; tp all-reduce 15 of 0 1 <4; calc 6 <4; calc 2 <5 <6; calc 3 <7");
    snprintf(file, sizeof(file), "DISTRIBUTED_INFERENCE %s", layers);
    check_ops(file, false, 0,
              "calc 1; tp all-to-all 11 of 0 1 <0; calc 4 <1; tp all-reduce 14 of 0 1 <2");
    static const char *const bottoms[] = {"DLRM_LAST_BOTTOM_LAYER: 1", "1\t\t"};
    for (size_t i = 0; i < SIM_COUNT_OF(bottoms); i++) {
        snprintf(file, sizeof(file), "HYBRID_DLRM %s %s", bottoms[i], layers);
        check_ops(file, false, 0,
                  "calc 1; tp all-to-all 11 of 0 1 <0; calc 4 <0; calc 6 <1 <2; "
                  "dp all-reduce 16 of 0 1 <3; calc 5 <3; calc 3 <5; dp all-reduce 13 of 0 1 <6");
    }
    snprintf(file, sizeof(file), "MICRO %s", layers);
    check_ops(file, false, 0,
              "calc 3; dp all-reduce 13 of 0 1 <0; calc 6 <1; dp all-reduce 16 of 0 1 <2");
    check_ops(file, true, 0, "dp all-reduce 13 of 0 1");
    check_ops("HYBRID_CUSTOMIZED model_parallel_NPU_group: 2 all_gpus: 2\n1\n"
              "a -1 1 ALLREDUCE 7 2 NONE 0 3 ALLREDUCE 9 0 MODEL\n",
              false, 0, "calc 1; tp all-reduce 7 of 0 1 <0; calc 2 <1; calc 3 <2");
}
END_TEST

START_TEST(activations_are_computed_again)
{
    static const char file[] =
        TRANSFORMER "1 all_gpus: 1 checkpoints: 1 1 checkpoint_initiates: 1 3\n4\n"
                    "a -1 1 NONE 0 10 NONE 0 0 NONE 0 0\nb -1 2 NONE 0 20 NONE 0 0 NONE 0 0\n"
                    "c -1 3 NONE 0 30 NONE 0 0 NONE 0 0\nd -1 4 NONE 0 40 NONE 0 0 NONE 0 0\n";
    check_ops(file, false, 0,
              "calc 1; calc 2 <0; calc 3 <1; calc 4 <2; calc 2 <3; calc 3 <4; calc 40 <5; "
              "calc 30 <6; calc 20 <7; calc 10 <8");
    check_ops(file, true, 0,
              "calc 1; calc 2 <0; calc 3 <1; calc 4 <2; calc 40 <3; calc 30 <4; calc 20 <5; "
              "calc 10 <6");
}
END_TEST

START_TEST(stages_exchange_microbatches)
{
    static const char file[] = TRANSFORMER "1 ep: 1 pp: 2 vpp: 1 ga: 2 all_gpus: 2 pp_comm 100\n4\n"
                                           "grad -1 1 NONE 0 0 NONE 0 0 NONE 0 0\n"
                                           "embedding_layer -1 2 NONE 0 20 NONE 0 0 NONE 0 0\n"
                                           "embedding_layer -1 3 NONE 0 30 NONE 0 0 NONE 0 0\n"
                                           "cross_entropy1 -1 4 NONE 0 40 NONE 0 0 NONE 0 0\n";
    check_ops(file, false, 0,
              "calc 1; calc 2 <0; send 100 rank 1 <1; calc 3 <1; send 100 rank 1 <3; calc 4 <3; "
              "calc 40 <5; recv 100 rank 1 <6; calc 30 <7; recv 100 rank 1 <8; calc 20 <9");
    check_ops(file, false, 1,
              "calc 1; recv 100 rank 0 <0; calc 2 <1; recv 100 rank 0 <2; calc 3 <3; calc 4 <4; "
              "calc 40 <5; calc 30 <6; send 100 rank 0 <7; calc 20 <7; send 100 rank 0 <9");
    check_ops(file, true, 1,
              "calc 1; calc 2 <0; calc 3 <1; calc 4 <2; calc 40 <3; calc 30 <4; "
              "calc 20 <5");
}
END_TEST

// AICB divides the bytes of a message, so it writes a fraction.
START_TEST(bytes_of_messages_may_have_a_fraction)
{
    static const struct {
        const char *word;
        uint64_t bytes;
    } rows[] = {{"4194304.0", 4194304}, {"1398101.3333333333", 1398101}, {"7", 7}};
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        char *const file =
            sim_format(TRANSFORMER "1 ep: 1 pp: 2 vpp: 1 ga: 1 all_gpus: 2 pp_comm: %s\n"
                                   "1\nembedding -1 2 NONE 0 20 NONE 0 0 NONE 0 0\n",
                       rows[i].word);
        app__schedule_t *const schedule = read_good(file, false);
        ck_assert_uint_eq(schedule->counts.bytes, 2 * rows[i].bytes);
        app__schedule_destroy(schedule);
        sim_free(file);
    }
}
END_TEST

// Pipelines of any shape come to an end, and send what the closed form says.
START_TEST(pipelines_end)
{
    const unsigned stages = 2 + (unsigned)_i % 4;
    const unsigned chunks = 1 + (unsigned)_i / 4 % 3;
    const unsigned microbatches = 1 + (unsigned)_i / 12 % 9;
    char file[4000];
    size_t at =
        (size_t)snprintf(file, sizeof(file),
                         TRANSFORMER "2 ep: 1 pp: %u vpp: %u ga: %u all_gpus: %u pp_comm: 7\n%u\n",
                         stages, chunks, microbatches, 4 * stages, 4 * microbatches);
    for (unsigned i = 0; i < 4 * microbatches; i++) {
        at += (size_t)snprintf(file + at, sizeof(file) - at,
                               "%s -1 1 ALLREDUCE 9 1 NONE 0 1 ALLREDUCE 5 0\n",
                               i % 4 == 0 ? "embedding_layer" : "mlp");
    }
    app__schedule_t *const schedule = read_good(file, false);
    const app__schedule_counts_t *const counts = &schedule->counts;
    ck_assert_uint_eq(counts->stuck + counts->unmatched_sends + counts->unmatched_recvs, 0);
    ck_assert_uint_eq(counts->sends, 2 * 4 * microbatches * (stages * chunks - 1));
    ck_assert_uint_eq(counts->recvs, counts->sends);
    ck_assert_uint_eq(counts->calcs, 4 * stages * 4 * microbatches * 3);
    app__schedule_destroy(schedule);
}
END_TEST

// -- files that are wrong, strange or large

START_TEST(errors_have_places)
{
    static const struct {
        const char *text;
        const char *said;
    } wrong[] = {
        {"HYBRID_TRANSFORMR x: 1\n", "x:1:1: the policy is unknown: 'HYBRID_TRANSFORMR'"},
        {"MICRO\n", "x:2:1: the file ends in its header"},
        {"MICRO\nnineteen\n", "x:2:1: the number of layers is wrong: 'nineteen'"},
        {"MICRO\n0\n", "x:2:1: the number of layers is wrong"},
        {"MICRO\n1\n", "x:3:1: the file has no layer"},
        {"MICRO pp: many\n1\n", "x:1:11: the number is wrong: 'many'"},
        {"MICRO pp: 2.0\n1\n", "x:1:11: the number is wrong: '2.0'"},
        {"MICRO pp_comm: 2.\n1\n", "x:1:16: the number is wrong: '2.'"},
        {"MICRO pp_comm: .5\n1\n", "x:1:16: the number is wrong: '.5'"},
        {"MICRO pp_comm: 1.5.2\n1\n", "x:1:16: the number is wrong: '1.5.2'"},
        {"MICRO pp:\n1\n", "x:3:1: the file ends in its header"}, // 1 is the value of pp
        {"MICRO\n1\na b", "x:3:3: the dependency is wrong: 'b'"},
        {"MICRO\n1\na -1 5", "the file ends within a layer"},
        {"MICRO\n1\na -1 5 6", "x:3:8: this is no collective: '6'"},
        {"MICRO\n1\na -1 -5 NONE", "x:3:6: the number is wrong: '-5'"},
        {"MICRO\n2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n b -1 1 NONE 1e9", "x:4:14: the number"},
        {TRANSFORMER "3 all_gpus: 8\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
         "x:1:1: 8 ranks do not fit the header"},
        {TRANSFORMER "2 ep: 3 all_gpus: 8\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
         "expected a multiple of TP x PP x EP, which is 6"},
        {TRANSFORMER "999999 ep: 99999\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
         "the header's TP x PP x EP is"},
        {"HYBRID_CUSTOMIZED\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1 DOTA",
         "x:3:35: the layer's policy"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(wrong); i++) {
        app__schedule_t *schedule = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_int_ne(
            read_as(wrong[i].text, strlen(wrong[i].text), 0, false, &schedule, &message), SIM_OK);
        ck_assert_msg(strstr(message.text, wrong[i].said) != NULL, "%s\nsaid %s", wrong[i].text,
                      message.text);
    }
}
END_TEST

static bool has_note(const app__schedule_t *schedule, const char *part)
{
    for (size_t i = 0; i < schedule->note_count; i++) {
        if (strstr(schedule->notes[i], part) != NULL) {
            return true;
        }
    }
    return false;
}

START_TEST(strange_files_are_read)
{
    // All on one line; keys that nobody knows; fewer layers than declared; words too many.
    app__schedule_t *schedule =
        read_good(TRANSFORMER "8 new_key: 4 all_gpus: 16 2 "
                              "a -1 1 ALLREDUCE 12288 1 NONE 0 1 NONE 0 100 "
                              "b -1 1 NONE 0 1 NONE 0 1 ALLGATHER 8192 100",
                  false);
    ck_assert(has_note(schedule, "layers: 2 declared, 2 present"));
    ck_assert(has_note(schedule, "tp 1 of 12288 bytes, dp 1 of 8192 bytes"));
    app__schedule_destroy(schedule);
    schedule = read_good("MICRO\n5\na -1 1 NONE 0 1 NONE 0 1 SHUFFLE 7 1\n", false);
    ck_assert(has_note(schedule, "layers: 5 declared, 1 present"));
    ck_assert(has_note(schedule, "warning: x:3: there is no collective 'SHUFFLE': 1 unknown"));
    app__schedule_destroy(schedule);
    schedule = read_good("MICRO\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 7 1 more words\n", false);
    ck_assert(has_note(schedule, "2 words stand behind the declared layers"));
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(ranks_are_what_the_header_leaves_open)
{
    static const char file[] = TRANSFORMER "4\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\n";
    static const struct {
        uint32_t asked;
        uint32_t made;
    } cases[] = {{0, 8}, {4, 4}, {16, 16}, {18, 16}};
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        app__schedule_t *schedule = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_int_eq(read_as(file, strlen(file), cases[i].asked, false, &schedule, &message),
                         SIM_OK);
        ck_assert_uint_eq(schedule->rank_count, cases[i].made);
        app__schedule_destroy(schedule);
    }
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_int_ne(read_as(file, strlen(file), 3, false, &schedule, &message), SIM_OK);
    ck_assert_msg(strstr(message.text, "3 ranks do not fit") != NULL, "%s", message.text);
}
END_TEST

// Goal: ranks that share operations have the peers, counts and bounds of those with their own.
START_TEST(shared_operations_are_equal)
{
    static const char *const headers[] = {"2 ep: 2 pp: 3 vpp: 2 ga: 2 all_gpus: 24 pp_comm: 9",
                                          "4 all_gpus: 8"};
    const app__loggp_t loggp = {.byte_gap_ps = 40, .latency_ps = 3000, .calc_scale = {1, 1}};
    for (size_t h = 0; h < 2 * SIM_COUNT_OF(headers); h++) {
        char *const text = sim_format(
            TRANSFORMER "%s\n4\nembedding -1 3 ALLREDUCE 5000 4 NONE 0 5 ALLREDUCE 7 3\n"
                        "a -1 30 ALLTOALL_EP 6000 4 ALLREDUCE 70 5 ALLGATHER_DP_EP 800 0\n"
                        "embedding -1 3 ALLREDUCE 5000 4 NONE 0 5 ALLREDUCE 7 3\n"
                        "a -1 30 ALLTOALL_EP 6000 4 ALLREDUCE 70 5 ALLGATHER 800 0\n",
            headers[h / 2]);
        app__schedule_t *both[2] = {NULL, NULL};
        app__workload_summary_t sums[2];
        for (size_t i = 0; i < 2; i++) {
            sim_message_t message = {.text = ""};
            own_max = i == 0 ? UINT64_MAX : 0;
            ck_assert_msg(read_as(text, strlen(text), 0, h % 2 == 1, &both[i], &message) == SIM_OK,
                          "%s", message.text);
            app__workload_summarise(both[i], &loggp, NULL, &sums[i]);
        }
        own_max = UINT64_MAX;
        ck_assert_ptr_null(both[0]->typical);
        ck_assert_ptr_nonnull(both[1]->typical);
        ck_assert_mem_eq(&both[0]->counts, &both[1]->counts, sizeof(both[0]->counts));
        ck_assert_mem_eq(&sums[0], &sums[1], sizeof(sums[0]));
        for (uint32_t r = 0; r < both[0]->rank_count; r++) {
            const app__rank_ops_t *const own = &both[0]->ranks[r];
            const app__rank_ops_t *const shared = &both[1]->ranks[r];
            ck_assert_uint_eq(own->count, shared->count);
            for (uint32_t i = 0; i < own->count; i++) {
                const app__op_t *const op = &shared->ops[i];
                ck_assert_uint_eq(own->ops[i].type, op->type);
                ck_assert_uint_eq(own->ops[i].size, op->size);
                ck_assert_uint_eq(own->ops[i].needs, op->needs);
                ck_assert_uint_eq(app__peer_of(own, &own->ops[i]), app__peer_of(shared, op));
            }
        }
        app__schedule_destroy(both[0]);
        app__schedule_destroy(both[1]);
        sim_free(text);
    }
}
END_TEST

// A file of 92,160 ranks and many layers is counted and not made.
START_TEST(large_files_are_counted)
{
    static const char layer[] = "embedding -1 3 ALLREDUCE 5000 4 ALLREDUCE 5000 5 ALLREDUCE 7 0\n";
    const unsigned layers = 1200;
    char *const file = sim_alloc(layers * sizeof(layer) + 200);
    size_t at = (size_t)snprintf(file, 200,
                                 TRANSFORMER "2 pp: 12 ga: 1200 all_gpus: 92160 "
                                             "pp_comm: 9\n%u\n",
                                 layers);
    for (unsigned i = 0; i < layers; i++, at += sizeof(layer) - 1) {
        memcpy(file + at, layer, sizeof(layer));
    }
    app__schedule_t *const schedule = read_good(file, false);
    const app__schedule_counts_t *const counts = &schedule->counts;
    ck_assert_uint_eq(schedule->rank_count, 92160);
    ck_assert_ptr_nonnull(schedule->refusal);
    ck_assert_uint_eq(counts->calcs, UINT64_C(92160) * layers * 3);
    ck_assert_uint_eq(counts->colls, UINT64_C(92160) * layers * 3);
    ck_assert_uint_eq(schedule->ranks[0].count, 0);
    app__schedule_destroy(schedule);
    sim_free(file);
}
END_TEST

// Each truncation and each flipped byte is an error or another schedule, never a crash.
START_TEST(mutations_are_survived)
{
    char file[] = TRANSFORMER "2 ep: 1 pp: 2 ga: 2 all_gpus: 4 pp_comm 9 checkpoints: 1 0 "
                              "checkpoint_initiates: 1 1\n2\n"
                              "embedding -1 3 ALLREDUCE_EP 5000 4 NONE 0 5 ALLREDUCE 7 9\n"
                              "mlp -1 3 BROADCAST 5000 4 ALLTOALL 6 5 ALLGATHER_DP_EP 7 0\n";
    for (size_t i = 0; i < sizeof(file) - 1; i++) {
        app__schedule_t *schedule = NULL;
        sim_message_t message = {.text = ""};
        if (read_as(file, i, 4, i % 2 == 0, &schedule, &message) == SIM_OK) {
            app__schedule_destroy(schedule);
        }
        for (unsigned bit = 0; bit < 8; bit += 2) {
            file[i] = (char)(file[i] ^ 1 << bit);
            if (read_as(file, sizeof(file) - 1, 4, false, &schedule, &message) == SIM_OK) {
                app__schedule_destroy(schedule);
            }
            file[i] = (char)(file[i] ^ 1 << bit);
        }
    }
}
END_TEST

// -- public files, counted by an independent parser

static char *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    char *const text = sim_alloc(1 << 22);
    *size = fread(text, 1, (1 << 22) - 1, file);
    text[*size] = '\0';
    (void)fclose(file);
    return text;
}

// Splits a row at its commas; returns the number of columns.
static size_t split(char *row, char *columns[], size_t most)
{
    size_t count = 0;
    for (char *at = row; at != NULL && count < most; count++) {
        char *const comma = strchr(at, ',');
        columns[count] = at;
        at = comma == NULL ? NULL : comma + 1;
        if (comma != NULL) {
            *comma = '\0';
        }
    }
    return count;
}

static unsigned long long number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static unsigned files_compared;

// Returns NULL if the file is not there: some are kept apart.
static app__schedule_t *read_public(const char *name, uint32_t ranks)
{
    char path[500];
    size_t size = 0;
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    snprintf(path, sizeof(path), FOLDER "/data/%s", name);
    char *const text = read_file(path, &size);
    if (text == NULL) {
        return NULL;
    }
    const sim_err_t error = read_as(text, size, ranks, false, &schedule, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    sim_free(text);
    files_compared++;
    return schedule;
}

static void must_note(const app__schedule_t *schedule, const char *file, const char *part)
{
    if (schedule == NULL) {
        return;
    }
    ck_assert_msg(has_note(schedule, part), "%s has no note \"%s\"", file, part);
}

static void check_counts(char *c[])
{
    char part[400];
    app__schedule_t *const schedule = read_public(c[0], 0);
    snprintf(part, sizeof(part), "policy %s: TP %llu, EP %llu, PP %llu, VPP %llu, GA %llu, ", c[1],
             number(c[2]), number(c[3]), number(c[4]), number(c[5]), number(c[6]));
    must_note(schedule, c[0], part);
    snprintf(part, sizeof(part), "all_gpus %llu, pp_comm %llu", number(c[7]), number(c[8]));
    must_note(schedule, c[0], part);
    snprintf(part, sizeof(part), "layers: %s declared, %s present", c[9], c[10]);
    must_note(schedule, c[0], part);
    snprintf(part, sizeof(part),
             "forward %s ns, input gradient %s ns, weight gradient %s ns, updates %s ns", c[12],
             c[13], c[14], c[15]);
    must_note(schedule, c[0], part);
    snprintf(part, sizeof(part),
             "tp %s of %s bytes, dp %s of %s bytes, ep %s of %s bytes, dp-ep %s of %s bytes", c[17],
             c[18], c[19], c[20], c[21], c[22], c[23], c[24]);
    must_note(schedule, c[0], part);
    app__schedule_destroy(schedule);
}

static void check_histogram(char *c[])
{
    char part[400];
    const char *const phase = strcmp(c[1], "fwd") == 0  ? "forward"
                              : strcmp(c[1], "ig") == 0 ? "input gradient"
                                                        : "weight gradient";
    app__schedule_t *const schedule = read_public(c[0], 0);
    snprintf(part, sizeof(part), "%s: %s x %s of %s bytes", phase, c[4], c[2], c[3]);
    must_note(schedule, c[0], part);
    app__schedule_destroy(schedule);
}

static void check_bounds(char *c[])
{
    char part[400];
    app__schedule_t *const schedule = read_public(c[0], (uint32_t)number(c[1]));
    snprintf(part, sizeof(part),
             "at least %s ns: computations %s ns, rings of tp at 2880 Gbps (NVLink) %s ns; at 400 "
             "Gbps, ep takes %s ns and dp %s ns",
             c[7], c[3], c[4], c[5], c[6]);
    must_note(schedule, c[0], part);
    app__schedule_destroy(schedule);
}

// Calls `check` for each row of a table that the public folder has.
static void check_rows(const char *name, void (*check)(char *columns[]), size_t columns)
{
    char path[300];
    size_t size = 0;
    snprintf(path, sizeof(path), FOLDER "/expected/%s", name);
    char *const text = read_file(path, &size);
    if (text == NULL) {
        printf("skip: no %s\n", path);
        return;
    }
    char *line = strchr(text, '\n');
    while (line != NULL && line[1] != '\0') {
        char *c[32];
        char *const end = strchr(line + 1, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        ck_assert_uint_ge(split(line + 1, c, SIM_COUNT_OF(c)), columns);
        check(c);
        line = end;
    }
    ck_assert_uint_gt(files_compared, 20);
    sim_free(text);
}

START_TEST(public_counts_are_equal)
{
    check_rows("aicb_counts.csv", check_counts, 25);
}
END_TEST

START_TEST(public_histograms_are_equal)
{
    check_rows("aicb_histogram.csv", check_histogram, 5);
}
END_TEST

START_TEST(public_bounds_are_equal)
{
    check_rows("aicb_lower_bounds.csv", check_bounds, 8);
}
END_TEST

CHECK_MAIN(CHECK_TEST(transformer_waits_for_tp_only), CHECK_TEST(groups_lie_within_dp),
           CHECK_TEST(words_mean_what_they_say), CHECK_TEST(policies_differ),
           CHECK_TEST(activations_are_computed_again), CHECK_TEST(stages_exchange_microbatches),
           CHECK_TEST(bytes_of_messages_may_have_a_fraction),
           CHECK_LOOP_FEW(pipelines_end, 0, 108, 12), CHECK_TEST(errors_have_places),
           CHECK_TEST(strange_files_are_read), CHECK_TEST(ranks_are_what_the_header_leaves_open),
           CHECK_TEST(shared_operations_are_equal), CHECK_TEST(large_files_are_counted),
           CHECK_TEST(mutations_are_survived), CHECK_TEST(public_counts_are_equal),
           CHECK_TEST(public_histograms_are_equal), CHECK_TEST(public_bounds_are_equal))
