// SPDX-License-Identifier: Apache-2.0
// tests/cache_world.c - runs of the application contexts and what their stores report.
#include "tests/cache_world.h"

#include <check.h>
#include <string.h>

#include "nic/reports.h"

void cache_world_run(world_t *world, const char *nic, const char *program)
{
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(world_set(&nic_config_attrs, &world->nic, "model=detailed", &message), SIM_OK);
    const sim_err_t error = world_set(&nic_config_attrs, &world->nic, nic, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    ck_assert_msg(nic_config_check(&world->nic, &message) == SIM_OK, "%s", message.text);
    world->switch_config.pfc_priorities = 0xff;
    world_build(world, "star", "hosts=2; rate=100Gbps; delay=300ns");
    (void)world_app(world, "contexts", program);
    world_run(world);
}

double cache_number(const nic_t *nic, const char *path)
{
    size_t count = 0;
    const nic_report_t *const reports = nic_reports(nic, &count);
    double number = -1;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(reports[i].name, "cache") == 0) {
            ck_assert_msg(
                sim_report_number(reports[i].part.table, reports[i].part.object, path, &number),
                "%s", path);
        }
    }
    return number;
}
