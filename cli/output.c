// SPDX-License-Identifier: Apache-2.0
// cli/output.c - prints JSON, and reports a standard output that cannot be written.
#include "cli/output.h"

#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_json_set(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

void cli_print_json(json_t *json)
{
    char *const text = json_dumps(json, JSON_INDENT(1));
    SIM_CHECK(text != NULL);
    puts(text);
    free(text);
    json_decref(json);
}

int cli_finish_output(int status)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "rocesim: cannot write to the standard output: %s\n",
                errno != 0 ? strerror(errno) : "an earlier write failed");
        return CLI_EXIT_FAILED;
    }
    return status;
}
