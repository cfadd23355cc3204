// SPDX-License-Identifier: Apache-2.0
// tests/apps/workload/test_json.c - files in JSON: Chakra's two forms, and plans of MSCCL++.
//
// Goal: both forms of a trace make the same operations; plans have their counts; trouble is told
// with its line and column;
// a text that is cut or changed anywhere is refused or read, without a crash. Not pinned: the words
// of messages.
#include "apps/workload/formats/format.h"
#include "apps/workload/formats/json.h"
#include "tests/check_main.h"

#include <stdio.h>
#include <string.h>

// Chakra's jsonizer writes messages one behind another, and numbers of 64 bits in quotes.
static const char jsonized[] =
    "{\n  \"version\": \"0.0.4\"\n}{\"name\": \"comp\", \"type\": \"COMP_NODE\",\n"
    " \"durationMicros\": \"50\", \"attr\": [{\"name\": \"is_cpu_op\", \"boolVal\": false}]}\n"
    "{\"id\": \"5\", \"name\": \"a \\\"send\\\"\", \"type\": \"COMM_SEND_NODE\",\n"
    " \"dataDeps\": [\"0\"], \"ctrlDeps\": [\"9\", \"5\"], \"attr\": [\n"
    "  {\"name\": \"comm_size\", \"docString\": \"x\", \"int64Val\": \"4096\"},\n"
    "  {\"name\": \"comm_dst\", \"int32Val\": 1}, {\"name\": \"comm_tag\", \"int32Val\": 7}]}\n"
    "{\"id\": \"6\", \"type\": \"COMM_COLL_NODE\", \"dataDeps\": [\"5\"], \"attr\": [\n"
    "  {\"name\": \"comm_size\", \"uint64Val\": \"1000\"},\n"
    "  {\"name\": \"comm_type\", \"int64Val\": \"2\"}]}\n";

// Feeders of Chakra read one object with a list of nodes.
static const char graph[] =
    "{\"workload_graph\": [\n"
    "  {\"Id\": 0, \"Name\": \"comp\", \"NodeType\": 4, \"runtime\": 49.6, \"data_deps\": [],\n"
    "   \"is_cpu_op\": false},\n"
    "  {\"Id\": 5, \"Name\": \"send\", \"NodeType\": 5, \"ctrlDeps\": [9, 5], \"data_deps\": [0],\n"
    "   \"comm_size\": 4096, \"comm_dst\": 1, \"comm_tag\": 7},\n"
    "  {\"Id\": 6, \"NodeType\": 7, \"data_deps\": [5], \"comm_size\": 1000,\n"
    "   \"comm_type\": \"ALL_GATHER\"}],\n \"workload_name\": \"w\", \"ngpus\": 8}\n";

// A plan of MSCCL++, and one of the form before.
static const char plan[] =
    "{\"name\": \"p\", \"collective\": \"allreduce\", \"protocol\": \"LL\", \"gpus\": [\n"
    " {\"id\": 0, \"input_chunks\": 4, \"scratch_chunks\": 2, \"threadblocks\": [{\"id\": 0,\n"
    "  \"ops\": [{\"name\": \"ppkt\", \"src_buff\": [{\"type\": \"i\", \"index\": 2, \"size\": "
    "2}],\n"
    "   \"dst_buff\": [{\"buffer_id\": 0, \"index\": 0, \"size\": 2}], \"channel_ids\": [0]},\n"
    "   {\"name\": \"pipeline\", \"ops\": [{\"name\": \"nop\"}, {\"name\": \"sparkle\"}]}]}],\n"
    "  \"channels\": [{\"channel_type\": \"memory\", \"connected_to\": [1, 1]}]},\n"
    " {\"id\": 1, \"threadblocks\": [{\"id\": 0, \"ops\": [{\"name\": \"get\",\n"
    "   \"src_buff\": [{\"buffer_id\": 0, \"index\": 9, \"size\": 3}]}]}]}]}\n";
static const char old_plan[] = "{\"colletive\": \"allreduce\", \"gpus\": [{\"id\": 0, "
                               "\"inputChunks\": 4, \"threadblocks\": [\n"
                               " {\"id\": 0, \"ops\": [{\"name\": \"ppkt\", \"o_cids\": [{\"id\": "
                               "0}, {\"id\": 1}], \"cnt\": 2},\n"
                               "  {\"name\": \"rrc\", \"i_cids\": [{\"id\": 0}], \"cnt\": 3}]}],\n"
                               " \"channels\": [{\"connectedTo\": [0, 0]}]}]}\n";

static sim_err_t read_text(const char *text, size_t size, app__schedule_t **schedule,
                           sim_message_t *message)
{
    const app__workload_file_t file = {.name = "t.json", .text = text, .size_bytes = size};
    return app__format_read(&file, schedule, message);
}

START_TEST(both_forms_are_one_trace)
{
    static const char *const texts[] = {jsonized, graph};
    for (size_t i = 0; i < SIM_COUNT_OF(texts); i++) {
        app__schedule_t *schedule = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_msg(read_text(texts[i], strlen(texts[i]), &schedule, &message) == SIM_OK, "%s",
                      message.text);
        const app__rank_ops_t *const ops = &schedule->ranks[0];
        ck_assert_uint_eq(ops->count, 3);
        ck_assert_uint_eq(ops->ops[0].type, APP__OP_CALC);
        ck_assert_uint_eq(ops->ops[0].size, 50000);
        ck_assert_uint_eq(ops->ops[1].type, APP__OP_SEND);
        ck_assert_uint_eq(ops->ops[1].size, 4096);
        ck_assert_uint_eq(ops->ops[1].tag, 7);
        ck_assert_uint_eq(ops->ops[1].needs, 1);
        ck_assert_uint_eq(ops->ops[2].type, APP__OP_COLL);
        ck_assert_uint_eq(schedule->calls[0].kind, APP__COLL_ALL_GATHER);
        ck_assert_uint_eq(schedule->counts.requires, 2);
        app__schedule_destroy(schedule);
    }
}
END_TEST

static uint64_t fact_of(const app__schedule_t *schedule, const char *name)
{
    uint64_t number = 0;
    for (size_t i = 0; i < schedule->fact_count; i++) {
        number = strcmp(schedule->facts[i].name, name) == 0 ? schedule->facts[i].number : number;
    }
    return number;
}

START_TEST(plans_are_counted)
{
    static const struct {
        const char *text;
        uint64_t gpus, blocks, steps, channels, written, read, ppkt, others;
    } rows[] = {{plan, 2, 2, 5, 2, 2, 3, 1, 1}, {old_plan, 1, 1, 2, 2, 4, 3, 1, 0}};
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        app__schedule_t *schedule = NULL;
        sim_message_t message = {.text = ""};
        ck_assert_msg(read_text(rows[i].text, strlen(rows[i].text), &schedule, &message) == SIM_OK,
                      "%s", message.text);
        ck_assert_uint_eq(schedule->rank_count, rows[i].gpus);
        ck_assert_uint_eq(fact_of(schedule, "threadblocks"), rows[i].blocks);
        ck_assert_uint_eq(fact_of(schedule, "steps"), rows[i].steps);
        ck_assert_uint_eq(fact_of(schedule, "channels"), rows[i].channels);
        ck_assert_uint_eq(fact_of(schedule, "chunks_written"), rows[i].written);
        ck_assert_uint_eq(fact_of(schedule, "chunks_read"), rows[i].read);
        ck_assert_uint_eq(fact_of(schedule, "ppkt"), rows[i].ppkt);
        ck_assert_uint_eq(fact_of(schedule, "other_ops"), rows[i].others);
        ck_assert_ptr_nonnull(schedule->refusal);
        app__schedule_destroy(schedule);
    }
}
END_TEST

static const struct {
    const char *text;
    const char *said;
} refusals[] = {
    {"{\"gpus\": [{\"threadblocks\": [{\n\"ops\": [{}]}]}]}", "t.json:2:9: this is no operation"},
    {"{\"gpus\": [{\"id\": 1, \"threadblocks\": []}]}", "t.json:1:18: the GPU is not"},
    {"{\"gpus\": [{\"threadblocks\": [], \"channels\":\n [{\"connected_to\": [1]}]}]}",
     "t.json:2:21: the number is wrong"},
    {"{\"gpus\": [{\"input_chunks\": 2, \"threadblocks\": [{\"ops\": [{\"name\": \"copy\",\n"
     "\"src_buff\": [{\"type\": \"i\", \"index\": 1, \"size\": 2}]}]}]}]}",
     "t.json:2:37: the operation leaves"},
    {"{\"gpus\": 3, \"threadblocks\": 1}", "t.json:1:10: gpus is no list: '3', expected a list"},
    {"{\"gpus\": [], \"threadblocks\": []}", "t.json:1:10: this is no execution plan"},
    {"{\"workload_graph\": 5}", "t.json:1:20: workload_graph is no list"},
    {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"data_deps\": {}}]}",
     "t.json:1:59: data_deps is no list"},
    {"{\"workload_graph\": [\n {\"Id\": 1,\n  \"NodeType\": \"COMP\"}]}", "t.json:3:15: "},
    {"{\"workload_graph\": [{\"Id\": 1.5, \"NodeType\": 4}]}", "t.json:1:28: "},
    {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"runtime\": -1}]}", "t.json:1:57: "},
    {"{\"workload_graph\": [{\"Id\": 1}]}", "t.json:1:21: "},
    {"{\"workload_graph\": [{\"Id\": 1, }]}", "t.json:1:31: "},
    {"{\"workload_graph\": [\n{\"Id\" 1}]}", "t.json:2:7: "},
    {"{\"workload_graph\": [1, 2", "t.json:1:25: the file ends"},
    {"{\"workload_graph\": [01x]}", "t.json:1:21: "},
    {"{\"workload_graph\": [], \"a\": \"b\nc\"}", "t.json:1:31: "},
};

START_TEST(trouble_has_its_place)
{
    app__schedule_t *schedule = NULL;
    sim_message_t message = {.text = ""};
    ck_assert_int_ne(read_text(refusals[_i].text, strlen(refusals[_i].text), &schedule, &message),
                     SIM_OK);
    ck_assert_msg(strncmp(message.text, refusals[_i].said, strlen(refusals[_i].said)) == 0,
                  "said %s", message.text);
}
END_TEST

START_TEST(deep_texts_are_refused)
{
    char text[400] = "";
    app__json_t read;
    sim_message_t message = {.text = ""};
    memset(text, '[', 100);
    ck_assert_int_ne(app__json_parse("t.json", text, 100, &read, &message), SIM_OK);
    ck_assert(strstr(message.text, "64 levels") != NULL);
    app__json_fini(&read);
}
END_TEST

START_TEST(changed_texts_are_survived)
{
    static const char *const texts[] = {jsonized, graph, plan, old_plan};
    static const char changes[] = "\"[]{},:0\\";
    uint64_t tried = 0;
    for (size_t i = 0; i < SIM_COUNT_OF(texts); i++) {
        const size_t size = strlen(texts[i]);
        char *const text = sim_strdup(texts[i]);
        for (size_t at = 0; at < size; at++) {
            for (size_t c = 0; c < sizeof(changes); c++) { // the last one, 0, cuts the text here
                app__schedule_t *schedule = NULL;
                sim_message_t message = {.text = ""};
                text[at] = changes[c] != '\0' ? changes[c] : texts[i][at];
                const size_t end = changes[c] != '\0' ? size : at;
                if (read_text(text, end, &schedule, &message) == SIM_OK) {
                    app__schedule_destroy(schedule);
                } else {
                    ck_assert_msg(strncmp(message.text, "t.json:", 7) == 0, "%s", message.text);
                }
                tried++;
            }
            text[at] = texts[i][at];
        }
        sim_free(text);
    }
    ck_assert_uint_gt(tried, 5000);
}
END_TEST

CHECK_MAIN(CHECK_TEST(plans_are_counted), CHECK_TEST(both_forms_are_one_trace),
           CHECK_LOOP(trouble_has_its_place, 0, (int)SIM_COUNT_OF(refusals)),
           CHECK_TEST(deep_texts_are_refused), CHECK_TEST(changed_texts_are_survived))
