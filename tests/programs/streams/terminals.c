// SPDX-License-Identifier: Apache-2.0
// tests/programs/streams/terminals.c - a program that test_small_programs.sh starts.
//
// A child writes lines to a terminal, one each microsecond, and its parent reads each as soon as it
// is there. Another child becomes a program whose output is a terminal.
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES 50

// Reads what comes from a terminal until its other end is closed. Returns how often.
static int read_all(int master, int prints)
{
    char text[4096];
    int reads = 0;
    ssize_t count;
    while ((count = read(master, text, sizeof text)) > 0) {
        reads++;
        if (prints) {
            (void)fwrite(text, 1, (size_t)count, stdout);
        }
    }
    return reads;
}

int main(int count, char **words)
{
    int master;
    int slave;
    if (count > 1 && strcmp(words[1], "child") == 0) {
        struct winsize size;
        printf("terminal %d, %d\n", isatty(STDOUT_FILENO), ioctl(STDOUT_FILENO, TIOCGWINSZ, &size));
        usleep(1); // what was printed is read before
        printf("%d columns", size.ws_col);
        return 0;
    }
    if (openpty(&master, &slave, NULL, NULL, NULL) != 0) {
        return 1;
    }
    if (fork() == 0) {
        for (int i = 0; i < LINES; i++) {
            (void)dprintf(slave, "line %d\n", i);
            usleep(1);
        }
        _exit(0);
    }
    (void)close(slave);
    printf("%d reads\n", read_all(master, 0));
    fflush(stdout);
    if (forkpty(&master, NULL, NULL, NULL) == 0) {
        (void)execl(words[0], words[0], "child", (char *)NULL);
        _exit(1);
    }
    printf("\n%d reads\n", read_all(master, 1));
    while (wait(NULL) > 0) {
    }
    return 0;
}
