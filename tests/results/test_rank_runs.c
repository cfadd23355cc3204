// SPDX-License-Identifier: Apache-2.0
// labels: threads
// threads: ranks_write_the_same_files
// tests/results/test_rank_runs.c - each application and each part that tells something in ranks.
//
// Goal: a run in two or three ranks writes the files of one process, byte for byte but for values
// named wall_. What an application, a NIC or an observer of another rank tells reaches rank 0.
// Method: a row is a small scenario, in which hosts of all ranks have something to tell. Ranks are
// threads of this process (tests/rank_hub.h). Each row was seen to fail without its part's carry.
// Not pinned: MPI, which tests/cli/run/test_cli_ranks.sh runs; which rank gets which nodes.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/runner.h"
#include "tests/check_main.h"
#include "tests/rank_hub.h"

typedef struct row {
    const char *name;
    const char *text;
} row_t;

#define STAR "topology: {star: {hosts: 6, rate: 100Gbps, delay: 500ns}}\n"
#define LEAVES                                                          \
    "topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 3, " \
    "delay: 500ns}}\n"
#define INSIDE "nic: {model: detailed}\n"

static const row_t rows[] = {
    {"flows", LEAVES "nic: {congestion-control: dcqcn}\n"
                     "traffic: [incast: {to: host0, from: 'host[1-5]', bytes: 60KB}]\n"
                     "until: 15us\n"
                     "outputs: {hops-max: 10000}\n"
                     "captures:\n  - {fabric: whole.pcapng}\n"
                     "observe:\n  - {series: 'port[*->*].queue_bytes', on: change}\n"},
    {"plans, and a measurement",
     LEAVES "traffic:\n"
            "  - flows: {list: [host0 host5 20KB 0us, host4 host1 30KB 1us]}\n"
            "  - poisson: {from: 'host[*]', to: 'host[*]', load: 0.3, stop: 20us}\n"
            "  - all-to-all: {bytes: 4KB}\n"
            "  - perftest: {test: ib_write_lat, from: host4, to: host1, size: 2KB,"
            " iterations: 20}\n"},
    {"kv-matrix",
     LEAVES "traffic:\n"
            "  - kv-matrix: {requests: 2, node-gpus: 2, prefill-tp: 2, decode-tp: 2, input-mean: 1,"
            " input-scale: 0, input-min: 1, model: llama-8b}\n"},
    {"verbs-rate",
     STAR INSIDE "traffic:\n"
                 "  - verbs-rate: {from: 'host[0-2]', to: 'host[3-5]', verb: fetch-add,"
                 " warm-up: 3us, measure: 10us}\n"},
    {"all-to-all-reads",
     STAR INSIDE "traffic:\n"
                 "  - all-to-all-reads: {threads-per-machine: 2, warm-up: 3us, measure: 10us}\n"},
    {"contexts and tiered caches",
     STAR "nic: {model: detailed, cache: {policy: lru}}\n"
          "nodes: {host5: {nic: {host: {iommu: {use: all}}}}}\n"
          "traffic:\n"
          "  - contexts: {host: host5, peer: host0, direction: both, tokens: 100, warm-up: 50,"
          " outstanding: 4, operations: 300}\n"
          "  - contexts: {host: host1, peer: host4, direction: both, tokens: 100, warm-up: 50,"
          " outstanding: 4, operations: 300}\n"
          "observe:\n  - {series: 'nic[*].cache.l1_hits', every: 20us}\n"},
    {"bulk with losses",
     LEAVES "link: {loss-rate: 1/200}\n"
            "nic: {transport: irn}\n"
            "traffic:\n  - bulk: {from: 'host[0-2]', to: 'host[3-5]', bytes: 200KB}\n"},
    {"loss maps in the host's memory",
     LEAVES "link: {loss-rate: 1/100}\n"
            "nic: {transport: adamap}\n"
            "traffic:\n  - bulk: {from: 'host[0-2]', to: 'host[3-5]', bytes: 400KB}\n"},
    {"drtm-kv",
     STAR INSIDE "traffic:\n"
                 "  - drtm-kv: {server: host5, clients-on: 'host[0-4]', clients: 10, items: 1000,"
                 " put-percent: 50, warm-up: 3us, measure: 10us}\n"},
    {"sequencer on calls",
     STAR INSIDE "traffic:\n"
                 "  - sequencer: {server: host5, clients-on: 'host[0-4]', clients: 10, workers: 2,"
                 " requests: 64, warm-up: 3us, measure: 10us}\n"},
    {"sequencer without state", STAR INSIDE
     "traffic:\n"
     "  - sequencer: {version: spec, server: host5, clients-on: 'host[0-4]', clients: 10,"
     " workers: 2, requests: 64, warm-up: 3us, measure: 10us}\n"},
    {"herd",
     STAR INSIDE "traffic:\n"
                 "  - herd: {server: host5, clients-on: 'host[0-4]', clients: 10, workers: 2,"
                 " keys: 1000, log: on, series: 5us, update-percentage: 50, warm-up: 3us,"
                 " measure: 15us}\n"},
    {"mooncake-bench",
     STAR "traffic:\n"
          "  - mooncake-bench: {from: host5, to: 'host[0-3]', metadata: {host: host4},"
          " threads: 4, batch: 4, block: 16KB, total: 512KB, interval: 5us}\n"},
    {"mooncake-trace",
     STAR "nic: {model: ideal}\n"
          "traffic:\n"
          "  - mooncake-trace: {hosts: 'host[*]', trace: scenarios/mooncake/small.jsonl,"
          " requests: 20, arrival-interval: 20us, prefill: 3, decode: 2, kv-bytes-per-token: 16,"
          " kv-location: cpu:0, compute-percent: 1, client-ttl: never, log: on}\n"},
    {"serving",
     STAR "nic: {model: ideal}\n"
          "traffic:\n"
          "  - serving: {prefill: 2, decode: 3, requests: 12, rate: 500, layers: 2, hidden: 64,"
          " heads: 2, kv-heads: 1, prompt-tokens: uniform 20 200, output-tokens: uniform 1 8,"
          " start: 0s, log: on, operations: on}\n"
          "outputs: {operations-max: 1000}\n"},
    {"serving by Mooncake's engine",
     STAR "nic: {model: ideal}\n"
          "traffic:\n"
          "  - serving: {prefill: 2, decode: 3, requests: 6, rate: 500, layers: 2, hidden: 64,"
          " heads: 2, kv-heads: 1, prompt-tokens: 100, output-tokens: 3, start: 2ms,"
          " transport: mooncake, log: on}\n"},
    {"serving with a store",
     "topology: {star: {hosts: 6, nics-per-host: 2, rate: 100Gbps, delay: 500ns}}\n"
     "nic: {model: ideal}\n"
     "traffic:\n"
     "  - serving: {prefill: 2, decode: 2, storage: 1, cache: store, cache-memory: 0, requests: 12,"
     " rate: 500, layers: 2, hidden: 64, heads: 2, kv-heads: 1, prompt-tokens: 100, prefixes: 2,"
     " prefix-tokens: 256, block-tokens: 64, output-tokens: 2, start: 0s, storage-nics: 1,"
     " storage-path: dual, log: on}\n"},
    {"serving with a lost node",
     STAR "nic: {model: ideal}\n"
          "traffic:\n"
          "  - serving: {prefill: 2, decode: 3, requests: 12, rate: 500, layers: 2, hidden: 64,"
          " heads: 2, kv-heads: 1, prompt-tokens: 50, output-tokens: 3, start: 0s, log: on,"
          " fail-host: 'host4 host1@9ms', fail-at: 8ms, fail-detect: 1ms, admission: goals}\n"},
    {"serving on nodes of several hosts, one of which is lost",
     "topology: {star: {hosts: 14, rate: 100Gbps, delay: 500ns}}\n"
     "nic: {model: ideal, timeout: 8}\n"
     "traffic:\n"
     "  - serving: {prefill: 2, decode: 2, requests: 12, rate: 500, layers: 4, hidden: 64, heads: "
     "4,"
     " kv-heads: 2, prompt-tokens: 50, output-tokens: 3, start: 0s, log: on, pp: 2, tp: 2,"
     " tp-hosts: 2, decode-tp-hosts: 1, fail-host: host2, fail-at: 8ms, fail-detect: 1ms,"
     " operations: on}\n"
     "outputs: {operations-max: 1000}\n"},
    {"serving with a node that messages do not reach",
     STAR "nic: {model: ideal}\n"
          "traffic:\n"
          "  - serving: {prefill: 2, decode: 2, requests: 12, rate: 500, layers: 2, hidden: 64,"
          " heads: 2, kv-heads: 1, prompt-tokens: 50, output-tokens: 3, start: 0s, log: on}\n"
          "faults: [{part: host3/nic0, at: 8ms, until: 900s}]\n"},
    {"serving with experts of other nodes",
     STAR "nic: {model: ideal}\n"
          "traffic:\n"
          "  - serving: {prefill: 2, decode: 2, requests: 6, rate: 500, model: mixtral-8x7b,"
          " layers: 2, hidden: 64, heads: 2, kv-heads: 1, prompt-tokens: 50, output-tokens: 3,"
          " start: 0s, experts: pool, log: on}\n"},
    {"workload of a file",
     "topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4, delay: 500ns}}\n"
     "traffic:\n  - workload: {file: scenarios/training/ring8.goal, start: 1us}\n"},
    {"workload on an ideal network",
     "topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 4, delay: 500ns}}\n"
     "traffic:\n  - workload: {file: scenarios/training/ring8.goal, network-model: ideal}\n"},
    {"collectives", LEAVES "traffic:\n"
                           "  - collective: {bytes: 64KB, repeat: 2}\n"
                           "  - collective: {kind: all-to-all, bytes: 32KB, start: 50us, pxn: on}\n"
                           "outputs: {operations-max: 1000}\n"},
    {"accelerators",
     LEAVES "scale-up: {model: packets, accelerators: 4, delay: 50ns, error-rate: 0.01}\n"
            "traffic:\n"
            "  - accelerators: {pattern: all-to-all, bytes: 20KB, messages: 3}\n"},
    {"training",
     LEAVES "traffic:\n"
            "  - training: {model: gpt-7b, layers: 2, hidden: 256, heads: 8, ffn: 512, vocab: 1000,"
            " sequence: 128, dp: 3, tp: 2, microbatches: 1}\n"},
    {"faults of all kinds",
     LEAVES "switch: {buffer: 600KB, pfc: {threshold: 20KB}, ecn: {kmin: 10KB, kmax: 50KB}}\n"
            "nic: {congestion-control: dcqcn, timeout: 3}\n"
            "traffic:\n  - permutation: {bytes: 300KB}\n"
            "  - incast: {to: host0, from: 'host[1-5]', bytes: 60KB}\n"
            "faults:\n"
            "  - {part: leaf0--spine0, at: 10us, until: 20us, every: 40us, times: 2}\n"
            "  - {part: leaf1--spine1, kind: degraded, at: 5us, until: 60us, rate: 10Gbps}\n"
            "  - {part: leaf1--spine0, kind: bit-errors, at: 5us, until: 60us, loss-rate: 1%}\n"
            "  - {part: host1, kind: slow-receiver, at: 5us, until: 60us, rate: 5Gbps}\n"
            "  - {part: host4, kind: pause-storm, at: 30us, until: 60us}\n"},
    {"placed packets", LEAVES "network: {load-balancer: random}\n"
                              "nic: {ooo: place, congestion-control: dcqcn}\n"
                              "traffic: [permutation: {bytes: 60KB}]\n"},
    {"ConWeave, and the last frames of all ports",
     LEAVES "network: {load-balancer: conweave}\n"
            "switch: {conweave: {reply: 5us}}\n"
            "link: {loss-rate: 1/500}\n"
            "nic: {transport: irn}\n"
            "traffic: [permutation: {bytes: 100KB}]\n"
            "captures: [{fabric: last.pcapng, ring: 20KB}]\n"},
    {"trimmed packets",
     STAR "switch: {mmu: trimming, pfc: {enabled: false}, trim: {queue: 10KB, priorities: [3]}}\n"
          "nic: {transport: uec-rud}\n"
          "traffic: [incast: {to: host5, from: 'host[0-4]', bytes: 60KB}]\n"
          "observe: [{series: 'port[*->*].trimmed', every: 1us}]\n"
          "captures: [{fabric: trims.pcapng, around: trim, before: 0s, after: 0s, at-most: 3}]\n"},
    {"draws that belong to packets", LEAVES "network: {draws: packet}\n"
                                            "link: {loss-rate: 1/50}\n"
                                            "traffic: [permutation: {bytes: 60KB, stride: 3}]\n"},
    {"MRC over planes",
     "topology: {multi-plane: {planes: 2, leaves: 2, spines: 2, hosts-per-leaf: 3, delay: 500ns}}\n"
     "nic: {transport: mrc, priority: 1, planes: least-queue}\n"
     "switch: {mmu: trimming, pfc: {enabled: false}}\n"
     "network: {load-balancer: structured}\n"
     "traffic: [permutation: {bytes: 100KB}]\n"},
};

static world_scenario_t *parse(world_registry_t *registry, const row_t *row)
{
    world_scenario_t *scenario = NULL;
    world_error_t error;
    ck_assert_msg(world_scenario_parse(registry, "row.yaml", row->text, strlen(row->text),
                                       &scenario, &error) == SIM_OK,
                  "%s: %s", row->name, error.text);
    return scenario;
}

typedef struct member {
    const row_t *row;
    const sim_ranks_t *ranks; // NULL: alone
    const char *folder;
    char *error; // NULL: none
} member_t;

static void *run(void *argument)
{
    member_t *const member = argument;
    world_registry_t *const registry = world_registry_create();
    world_scenario_t *const scenario = parse(registry, member->row);
    const results_options_t options = {.folder = member->folder, .ranks = member->ranks};
    results_run_t *made = NULL;
    world_error_t error;
    if (results_execute(scenario, &options, &made, &error) != SIM_OK) {
        member->error = sim_strdup(error.text);
    } else {
        member->error = results_files_whole(made) ? NULL : sim_strdup(results_error(made));
        results_run_destroy(made);
    }
    world_scenario_destroy(scenario);
    world_registry_destroy(registry);
    return NULL;
}

static void run_in_ranks(const row_t *row, unsigned count, const char *folder)
{
    rank_hub_t hub;
    rank_hub_init(&hub, count);
    member_t members[RANK_HUB_MAX];
    pthread_t threads[RANK_HUB_MAX];
    for (unsigned r = 0; r < count; r++) {
        members[r] = (member_t){.row = row, .ranks = &hub.members[r].ranks, .folder = folder};
        ck_assert_int_eq(pthread_create(&threads[r], NULL, run, &members[r]), 0);
    }
    for (unsigned r = 0; r < count; r++) {
        ck_assert_int_eq(pthread_join(threads[r], NULL), 0);
        ck_assert_msg(members[r].error == NULL, "%s, rank %u: %s", row->name, r, members[r].error);
    }
    rank_hub_fini(&hub);
}

// Runs a command of the shell, frees it, and returns its status.
static int shell(char *command)
{
    const int status = system(command); // NOLINT(cert-env33-c)
    sim_free(command);
    return status;
}

START_TEST(ranks_write_the_same_files)
{
    const row_t *const row = &rows[_i];
    char folder[] = "/tmp/test_rank_runs.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char *const one = sim_format("%s/one", folder);
    char *const more = sim_format("%s/more", folder);
    member_t alone = {.row = row, .folder = one};
    (void)run(&alone);
    ck_assert_msg(alone.error == NULL, "%s: %s", row->name, alone.error);
    run_in_ranks(row, 2 + (unsigned)_i % 2, more);
    ck_assert_msg(shell(sim_format("diff -r -q -I '\"wall_' '%s' '%s'", one, more)) == 0,
                  "%s differs in ranks", row->name);
    ck_assert_int_eq(shell(sim_format("rm -r '%s'", folder)), 0);
    sim_free(one);
    sim_free(more);
}
END_TEST

// Checks that a new application joins the rows.
START_TEST(every_application_has_a_row)
{
    for (const app_ops_t *const *ops = app_all; *ops != NULL; ops++) {
        const char *const name = (*ops)->name;
        char *const entry = sim_format(" %s: {", name);
        bool has_row = false;
        for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
            char *const only = sim_format("[%s: {", name);
            has_row |= strstr(rows[i].text, entry) != NULL || strstr(rows[i].text, only) != NULL;
            sim_free(only);
        }
        // A session takes orders from a program, and programs and simulators of SimBricks are
        // processes of one machine.
        const bool refused = strcmp(name, "session") == 0 || strcmp(name, "programs") == 0 ||
                             strcmp(name, "simbricks") == 0;
        ck_assert_msg(has_row != refused, "no row has %s", name);
        ck_assert_msg(((*ops)->carry == NULL) == refused, "%s", name);
        sim_free(entry);
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP_FEW(ranks_write_the_same_files, 0, SIM_COUNT_OF(rows), 2),
           CHECK_TEST(every_application_has_a_row))
