// SPDX-License-Identifier: Apache-2.0
// labels: threads clang
// tests/results/test_equal_files.c - what makes a run fast does not show in its files.
//
// Goal: flows.csv, ports.csv, series.csv, events.csv, apps.csv, captures and summary.json are the
// same, byte for byte, whichever way of tests/ways.h nodes go and on one, two and three threads.
// Method: scenarios that look at a run while it goes on: captures of both directions at switches
// and hosts, series on change and sampled from a later time on, events of every kind, a limit of
// time that cuts packets on their way, links that change, pauses, drops. Lines of summary.json that
// say how the run came about are left out (tools/compare-programs has the same list).
// Not pinned: what the files say.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "results/runner.h"
#include "tests/check_main.h"
#include "tests/ways.h"

static const char *const scenarios[] = {
    // cut in the middle of everything; a capture and series on change of pauses and marks
    "until: 61234ns\n"
    "topology:\n  fat-tree: {k: 4, rate: 100Gbps, delay: 1us}\n"
    "switch: {buffer: 300KB, pfc: {threshold: 20KB}, ecn: {kmin: 20KB, kmax: 200KB}}\n"
    "nic: {congestion-control: dcqcn}\n"
    "traffic:\n  - permutation: {bytes: 300KB}\n  - incast: {to: host3, senders: 9, bytes: 60KB}\n"
    "observe:\n  - {series: \"port[edge1->*].queue_bytes[3]\", on: change}\n"
    "  - {series: \"port[agg*->*].tx_packets\", every: 7us, start: 13us}\n"
    "  - {series: \"qp[*->host3].rate_bps\", on: change, start: 9us}\n"
    "captures:\n  - {ports: edge1->host3}\n  - {ports: host9->edge4, direction: tx}\n",
    // links that go down and come back, losses of what is on them, repairs
    "topology:\n  leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps,"
    " fabric-rate: 100Gbps, delay: 1us}\n"
    "nic: {timeout: 3, congestion-control: hpcc}\n"
    "links: {\"leaf0--spine0\": {down: [{at: 20us, until: 90us}]}}\n"
    "traffic:\n  - all-to-all: {bytes: 30KB}\n"
    "observe:\n  - {series: \"port[leaf*->spine*].queue_bytes\", on: change}\n"
    "  - {series: \"node[leaf1].arrivals_hash\", every: 10us}\n"
    "captures:\n  - {ports: leaf0->spine1}\n",
    // a lossy class that drops, a lossless one beside it
    "topology:\n  dumbbell: {left: 5, right: 5, host-rate: 100Gbps, bottleneck-rate: 40Gbps,"
    " host-delay: 1us, bottleneck-delay: 3us}\n"
    "switch: {buffer: 400KB, pfc: {priorities: [3]}}\n"
    "nic: {congestion-control: dctcp, timeout: 4, ack-priority: 6}\n"
    "traffic:\n  - permutation: {bytes: 300KB}\n"
    "  - permutation: {bytes: 300KB, priority: 2}\n"
    "observe:\n  - {series: \"port[*->*].queue_bytes[2]\", on: change}\n"
    "  - {series: \"qp[*->*].rtt_ps\", on: change}\n"
    "captures:\n  - {ports: switch0->switch1}\n",
};

static char *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *const text = sim_alloc(*size + 1);
    ck_assert_uint_eq(fread(text, 1, *size, file), *size);
    (void)fclose(file);
    return text;
}

// Says how the run came about, not what happened.
static bool is_of_the_way(const char *line)
{
    static const char *const keys[] = {"\"wall_", "\"threads\":", "\"peak_", "\"max_rss",
                                       "\"events_per_s\":"};
    line += strspn(line, " ");
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (strncmp(line, keys[i], strlen(keys[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void add_lines(sim_digest_t *sum, char *text)
{
    char *rest = text;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        for (const char *c = line; *c != '\0' && !is_of_the_way(line); c++) {
            sim_digest_add(sum, (unsigned char)*c);
        }
    }
}

// By file, in order of their names, so that a difference can be named.
#define FILES_MAX 32
typedef struct files {
    char names[FILES_MAX][256];
    uint64_t sums[FILES_MAX];
    int count;
} files_t;

static int is_compared(const struct dirent *entry)
{
    static const char *const others[] = {"manifest.json", "scenario.yaml"};
    bool other = entry->d_name[0] == '.';
    for (size_t i = 0; i < SIM_COUNT_OF(others); i++) {
        other = other || strcmp(entry->d_name, others[i]) == 0;
    }
    return !other;
}

static void add_file(const char *path, const char *name, files_t *files)
{
    size_t size;
    char *const text = read_file(path, &size);
    sim_digest_t sum = {.value = 1};
    ck_assert_msg(size > 0, "%s is empty", path);
    if (strcmp(name, "summary.json") == 0) {
        add_lines(&sum, text);
    } else {
        for (size_t c = 0; c < size; c++) {
            sim_digest_add(&sum, (unsigned char)text[c]);
        }
    }
    sim_free(text);
    ck_assert_int_lt(files->count, FILES_MAX);
    files->sums[files->count] = sum.value;
    (void)snprintf(files->names[files->count++], sizeof(files->names[0]), "%s", name);
}

// The folder `captures` in it too.
static void sum_up(const char *folder, files_t *files)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_compared, alphasort);
    ck_assert_int_gt(count, 0);
    for (int i = 0; i < count; i++) {
        char *const path = sim_format("%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_type == DT_DIR) {
            sum_up(path, files);
        } else {
            add_file(path, entries[i]->d_name, files);
        }
        sim_free(path);
        free(entries[i]);
    }
    free(entries);
}

static sim_err_t go(world_t *world, void *ctx, world_error_t *error)
{
    (void)error;
    way_go(world, *(const way_t *)ctx);
    return SIM_OK;
}

static void run_way(const char *text, way_t way, unsigned threads, files_t *files)
{
    char folder[] = "/tmp/test_equal_files.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    world_registry_t *const registry = world_registry_create();
    world_scenario_t *scenario = NULL;
    world_error_t error;
    ck_assert_msg(
        world_scenario_parse(registry, "way.yaml", text, strlen(text), &scenario, &error) == SIM_OK,
        "%s", error.text);
    scenario->run.threads = threads;
    char *const out = sim_format("%s/out", folder);
    const results_options_t options = {.folder = out, .built = go, .ctx = &way};
    results_run_t *run = NULL;
    ck_assert_msg(results_execute(scenario, &options, &run, &error) == SIM_OK, "%s", error.text);
    ck_assert_msg(results_files_whole(run), "%s", results_error(run));
    ck_assert_uint_gt(results_of(run)->series_rows, 100);
    ck_assert_uint_gt(results_of(run)->capture_frames, 20);
    files->count = 0;
    sum_up(out, files);
    ck_assert_int_gt(files->count, 6);
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    world_registry_destroy(registry);
    char *const command = sim_format("rm -r %s", folder);
    ck_assert_int_eq(system(command), 0); // NOLINT(cert-env33-c)
    sim_free(command);
    sim_free(out);
}

static void compare(const char *text, way_t way, unsigned threads, const files_t *expected)
{
    files_t files;
    run_way(text, way, threads, &files);
    ck_assert_int_eq(files.count, expected->count);
    for (int i = 0; i < files.count; i++) {
        ck_assert_str_eq(files.names[i], expected->names[i]);
        ck_assert_msg(files.sums[i] == expected->sums[i], "%s: way %d, %u threads", files.names[i],
                      way, threads);
    }
}

START_TEST(ways_give_the_same_files)
{
    files_t expected;
    run_way(scenarios[_i], WAY_AS_IT_IS, 1, &expected);
    for (way_t way = WAY_AS_IT_IS; way < WAY_COUNT; way++) {
        compare(scenarios[_i], way, 1 + (unsigned)way % 2, &expected);
    }
    compare(scenarios[_i], WAY_AS_IT_IS, 2, &expected);
    compare(scenarios[_i], WAY_AS_IT_IS, 3, &expected);
}
END_TEST

// Files would tell: they are others for another seed. (Two runs may both have no pauses.)
START_TEST(files_tell)
{
    files_t files;
    files_t others;
    char *const other = sim_format("seed: 2\n%s", scenarios[_i]);
    run_way(scenarios[_i], WAY_AS_IT_IS, 1, &files);
    run_way(other, WAY_AS_IT_IS, 1, &others);
    sim_free(other);
    ck_assert_int_eq(files.count, others.count);
    for (int i = 0; i < files.count; i++) {
        const char *const name = files.names[i];
        const bool table = strstr(name, ".csv") != NULL && strcmp(name, "pauses.csv") != 0;
        const bool changes =
            table || strstr(name, ".pcap") != NULL || strcmp(name, "summary.json") == 0;
        ck_assert_msg(!changes || files.sums[i] != others.sums[i], "%s", name);
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(ways_give_the_same_files, 0, SIM_COUNT_OF(scenarios), 2),
           CHECK_LOOP_FEW(files_tell, 0, SIM_COUNT_OF(scenarios), 1))
