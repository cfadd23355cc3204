// SPDX-License-Identifier: Apache-2.0
// apps/programs/caller/control.c - what the caller of a run does with its programs: it looks at
// them, sends signals, reads and saves what they print, and ends them when the run ends.
#include "apps/programs/guest.h"
#include "apps/programs/turns.h"
#include "kernel/steps.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void app_programs_stop(app_t *app)
{
    if (app->ops != &app_program) {
        return;
    }
    app__program_t *const program = (app__program_t *)(void *)app;
    if (program->state == APP__PR_RUNS) {
        program->state = APP__PR_ENDED;
        program->ends_badly = !program->serves;
        program->killed = program->serves;
        (void)sim_fail(&program->end, SIM_ERR_STATE,
                       program->serves ? "the server was ended with the run"
                                       : "the program was ended because the run ended while the "
                                         "program was waiting%s",
                       app__program_awaited(program));
        program->status = app__process_end(program->process, true);
    }
}

// -- runs by steps

void app_programs_open(app_runtime_t *runtime, net_t *net, const app_programs_config_t *config)
{
    app__sockets_t *const sockets = app__runtime_sockets(runtime, config->socket_latency_ps);
    for (uint32_t i = 0; i < net_interface_count(net); i++) {
        net_node_t *const node = net_interface_node(net, i);
        app__sockets_join(sockets, node);
        sim_watch(&node->sim);
    }
}

static void signal_is_due(sim_node_t *node, sim_timer_t *timer)
{
    app__program_t *const program = SIM_CONTAINER_OF(timer, app__program_t, signal_timer);
    if (program->state == APP__PR_WAITS_FOR_START) {
        sim_work_begin(node, 1); // as if it had begun
    }
    if (program->state == APP__PR_WAITS_FOR_START || program->sent_signal == SIGKILL) {
        app__program_end(program, "the program was ended by the user");
    } else if (program->state == APP__PR_RUNS) {
        program->process->signals |= UINT64_C(1) << program->sent_signal;
        app__program_notice(program, PROGRAM_ON_SIGNAL);
    }
}

static void kill_is_due(sim_node_t *node, sim_timer_t *timer)
{
    app__program_t *const program = SIM_CONTAINER_OF(timer, app__program_t, kill_timer);
    program->killed = program->state != APP__PR_ENDED;
    if (program->state == APP__PR_WAITS_FOR_START) {
        sim_work_begin(node, 1); // as if it had begun
    }
    app__program_end(program, "the program was killed at the time of programs.kill");
}

void app__program_init_control(app__program_t *program, sim_time_t kill_ps)
{
    sim_timer_init(&program->signal_timer, signal_is_due);
    sim_timer_init(&program->kill_timer, kill_is_due);
    if (kill_ps != SIM_TIME_NEVER) {
        sim_timer_arm(&program->node->sim, &program->kill_timer, kill_ps);
    }
}

void app_programs_signal(app_t *app, int signal, sim_time_t now_ps)
{
    app__program_t *const program = (app__program_t *)(void *)app;
    sim_node_t *const node = &program->node->sim;
    program->sent_signal = signal;
    sim_timer_arm(node, &program->signal_timer, now_ps);
    sim_touch(node);
}

// -- what they are and print

// Copies a file without a name to a path.
static sim_err_t copy_out(int file, const char *path, sim_message_t *message)
{
    char bytes[65536];
    FILE *const to = fopen(path, "wb");
    off_t at = 0;
    ssize_t got = 0;
    bool good = to != NULL;
    while (good && (got = pread(file, bytes, sizeof(bytes), at)) > 0) {
        good = fwrite(bytes, 1, (size_t)got, to) == (size_t)got;
        at += got;
    }
    good = good && got == 0;
    const int reason = errno;
    const bool closed = to == NULL || fclose(to) == 0;
    return good && closed
               ? SIM_OK
               : sim_fail(message, SIM_ERR_IO, "%s: %s", path, strerror(good ? errno : reason));
}

sim_err_t app_programs_save(const app_t *app, const char *folder, sim_message_t *message)
{
    const app__program_t *const program = (const app__program_t *)(const void *)app;
    if (app->ops != &app_program || program->process == NULL) {
        return SIM_OK;
    }
    char *const out = sim_format("%s/%s-%u.out", folder, program->host_name, program->number);
    char *const err = sim_format("%s/%s-%u.err", folder, program->host_name, program->number);
    sim_err_t error = copy_out(program->process->out, out, message);
    if (error == SIM_OK) {
        error = copy_out(program->process->err, err, message);
    }
    if (error == SIM_OK && program->trace >= 0) {
        char *const trace =
            sim_format("%s/%s-%u.trace", folder, program->host_name, program->number);
        error = copy_out(program->trace, trace, message);
        sim_free(trace);
    }
    sim_free(out);
    sim_free(err);
    return error;
}

bool app_programs_look(const app_t *app, app_programs_view_t *view)
{
    const app__program_t *const program =
        app->ops == &app_program ? (const app__program_t *)(const void *)app : NULL;
    if (program == NULL) {
        return false;
    }
    *view = (app_programs_view_t){
        .host = program->host_name,
        .number = program->number,
        .command = program->command,
        .state = program->state == APP__PR_RUNS    ? APP_PROGRAMS_RUNS
                 : program->state == APP__PR_ENDED ? APP_PROGRAMS_ENDED
                                                   : APP_PROGRAMS_WAITS_FOR_START,
        .succeeded = !app__program_failed(program),
        .text = program->state == APP__PR_RUNS    ? app__program_awaited(program)
                : program->state == APP__PR_ENDED ? app__program_describe_end(program)
                                                  : "",
    };
    return true;
}

size_t app_programs_read(const app_t *app, bool error, uint64_t from, char *bytes, size_t size)
{
    const app__program_t *const program =
        app->ops == &app_program ? (const app__program_t *)(const void *)app : NULL;
    if (program == NULL || program->process == NULL) {
        return 0;
    }
    const int file = error ? program->process->err : program->process->out;
    const ssize_t got = pread(file, bytes, size, (off_t)from);
    return got > 0 ? (size_t)got : 0;
}
