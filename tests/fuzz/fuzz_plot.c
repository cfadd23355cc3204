// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_plot.c - result files of any bytes: refused with a message, or a script.
//
// The first byte chooses the kind of figure, the rest is the file it reads. Scripts are written,
// not drawn.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plot/figure.h"
#include "tests/fuzz/fuzz.h"

static const cli_plot_kind_t *const kinds[] = {
    &cli_plot_slowdown, &cli_plot_queue,     &cli_plot_queue_cdf, &cli_plot_rate,
    &cli_plot_series,   &cli_plot_load_time, &cli_plot_pause,     &cli_plot_load,
};

static void draw(size_t kind, const char *folder)
{
    char name[] = "run";
    const cli_plot_t plot = {
        .runs = {{.folder = folder, .name = name, .end_ps = 1000000},
                 {.folder = folder, .name = name, .end_ps = 0}},
        .run_count = 1 + kind % 2,
    };
    cli_figure_t figure = {.script = fopen("/dev/null", "w"),
                           .record = cli_record_create(),
                           .format = CLI_PLOT_SCRIPT};
    SIM_CHECK(figure.script != NULL);
    world_error_t error = {.text = ""};
    if (kinds[kind]->draw(&plot, &figure, &error) != SIM_OK) {
        SIM_CHECK(strstr(error.text, "expected") != NULL);
    } else {
        SIM_CHECK(figure.what != NULL);
    }
    SIM_CHECK(json_is_array(cli_record_panels(figure.record)));
    cli_record_destroy(figure.record);
    sim_free(figure.what);
    (void)fclose(figure.script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    char folder[] = "/tmp/fuzz_plot.XXXXXX";
    SIM_CHECK(mkdtemp(folder) != NULL);
    const size_t kind = data[0] % SIM_COUNT_OF(kinds);
    char *const path = sim_format("%s/%s", folder, kinds[kind]->file);
    FILE *const file = fopen(path, "w");
    SIM_CHECK(file != NULL && fwrite(data + 1, 1, size - 1, file) == size - 1);
    SIM_CHECK(fclose(file) == 0);
    draw(kind, folder);
    (void)remove(path);
    (void)rmdir(folder);
    sim_free(path);
    return 0;
}
