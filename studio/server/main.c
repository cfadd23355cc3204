// SPDX-License-Identifier: Apache-2.0
// studio/server/main.c - the program rocesim-studio.
#include "studio/server/serve.h"
#include "world/control_characters.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    studio_arguments_t arguments;
    sim_message_t message;
    int status = 0;
    // Names in messages must not send escape sequences to the terminal.
    FILE *const own_error = stderr;
    FILE *const shown = world_shown_open(STDERR_FILENO, WORLD_SHOWN_TEXT, true);
    stderr = shown != NULL ? shown : stderr;
    // A lost client or a full file must fail the write, not end the server.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (studio_arguments_parse(argc, (const char *const *)argv, &arguments, &message) != SIM_OK) {
        fprintf(stderr, "rocesim studio: %s\n", message.text);
        status = 2;
    } else {
        status = studio_command(&arguments);
    }
    studio_arguments_fini(&arguments);
    if (shown != NULL) {
        stderr = own_error;
        (void)fclose(shown);
    }
    return status;
}
