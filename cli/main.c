// SPDX-License-Identifier: Apache-2.0
// cli/main.c - the program rocesim.
#include "cli/command.h"

int main(int argc, char **argv)
{
    return cli_main(argc, (const char *const *)argv);
}
