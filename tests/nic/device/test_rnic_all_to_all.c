// SPDX-License-Identifier: Apache-2.0
// test_rnic_all_to_all.c - eleven machines read from each other, against measured sweeps.
//
// Goal: the rate per machine over the number of queue pairs and the window is that of real
// ConnectX-3 and Connect-IB cards: mean error within 10 %, none beyond 27 %.
// Method: each row of the measured tables (next to the checkout, in ../shared/data/rnic) is run
// over a network of 11 machines. Source of the tables: the benchmark suite of Kalia et al. (USENIX
// ATC 2016). The profiles were fitted to them.
// The worst row is ConnectX-3 at 88 queue pairs, where its cache begins to overflow and the
// measured rates jump themselves: 25 to 26 % with the loops of this test, which post in bursts,
// 21 % with the scenario (tests/test_guidelines_sweeps.sh holds that to 25 %).
// Not pinned: rates that were not measured. Skipped (77) where the tables are not there.
// labels: slow plain
#include <math.h>
#include <unistd.h>

#include "tests/check_main.h"
#include "tests/rnic_cluster.h"

typedef struct sweep {
    const char *profile;
    const char *path;
    uint64_t link_bps;
    sim_time_t warm_us;
    sim_time_t until_us;
} sweep_t;

static const sweep_t sweeps[] = {
    {"connect-ib", "../shared/data/rnic/read_rate_connectib_11_machines.csv",
     UINT64_C(112000000000), 40, 100},
    {"connectx-3", "../shared/data/rnic/read_rate_connectx3_11_machines.csv", UINT64_C(56000000000),
     400, 1200},
};

static double run_row(const sweep_t *sweep, const char *line, double *theirs)
{
    cluster_reads_t reads;
    uint32_t qps = 0;
    uint32_t machines = 0;
    ck_assert_int_eq(sscanf(line, "%u,%u,%u,%u,%u,%u,%lf", &machines, &reads.threads,
                            &reads.emulated, &qps, &reads.window, &reads.bytes, theirs),
                     7);
    cluster_config_t config;
    cluster_config_init(&config);
    cluster_set(&config, "nic.profile", sweep->profile);
    config.machines = machines;
    config.link_bps = sweep->link_bps;
    config.warm_ps = sweep->warm_us * SIM_PS_PER_US;
    config.until_ps = sweep->until_us * SIM_PS_PER_US;
    cluster_result_t result;
    cluster_reads(&config, &reads, &result);
    cluster_config_fini(&config);
    ck_assert_msg(result.conserved, "WQEs, CQEs or PCIe bytes do not add up: %s", line);
    return result.mops_machine;
}

START_TEST(rates_are_those_measured)
{
    const sweep_t *const sweep = &sweeps[_i];
    FILE *const file = fopen(sweep->path, "r");
    ck_assert_ptr_nonnull(file);
    char line[256];
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
    double sum = 0;
    uint32_t count = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        double theirs = 0;
        const double ours = run_row(sweep, line, &theirs);
        const double error = fabs(ours / theirs - 1);
        ck_assert_msg(error <= 0.27, "%.2f M/s, measured %.2f: %s", ours, theirs, line);
        sum += error;
        count++;
    }
    (void)fclose(file);
    ck_assert_uint_ge(count, 20);
    ck_assert_msg(sum / count <= 0.10, "%s: mean error %.1f %%", sweep->profile, 100 * sum / count);
}
END_TEST

int main(void)
{
    const check_entry_t entries[] = {
        CHECK_LOOP(rates_are_those_measured, 0, (int)SIM_COUNT_OF(sweeps))};
    for (size_t i = 0; i < SIM_COUNT_OF(sweeps); i++) {
        if (access(sweeps[i].path, R_OK) != 0) {
            printf("skip: the measured table %s is not here\n", sweeps[i].path);
            return 77;
        }
    }
    return check_run(entries, SIM_COUNT_OF(entries));
}
