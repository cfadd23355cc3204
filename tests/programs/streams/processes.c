// SPDX-License-Identifier: Apache-2.0
// tests/programs/streams/processes.c - numbers of processes, and what is refused.
//
// Goal: senders of signals, values that come along, groups, parents after exec, processes of
// clone() and files below /proc show the numbers that the program knows. What hosts would share is
// refused.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef GO // notes as Go's linker writes them
__asm__(".pushsection .note.go.buildid, \"a\", @note\n.long 4, 4, 4\n.asciz \"Go\\0\"\n"
        ".long 0\n.popsection");
#endif

#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("line %d: not so: %s\n", __LINE__, #condition); \
            exit(1);                                               \
        }                                                          \
    } while (0)

static volatile int sender, code, value;

static void note(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    sender = info->si_pid;
    code = info->si_code;
    value = info->si_value.sival_int;
}

static void signals(void)
{
    const struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    const pid_t child = fork();
    if (child == 0) {
        usleep(1000);
        kill(getppid(), SIGUSR1);
        usleep(1000);
        sigqueue(getppid(), SIGUSR1, (union sigval){.sival_int = 77});
        usleep(1000);
        _exit(4);
    }
    pause();
    CHECK(sender == child && code == SI_USER);
    pause();
    CHECK(sender == child && code == SI_QUEUE && value == 77);
    CHECK(raise(SIGUSR1) == 0 && sender == getpid());
    siginfo_t end = {0};
    CHECK(waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT) == 0 && end.si_pid == child);
    CHECK(waitid(P_ALL, 0, &end, WEXITED) == 0 && end.si_pid == child && end.si_status == 4);
    CHECK(waitid(P_ALL, 0, &end, WEXITED) == -1 && errno == ECHILD);
    const pid_t group = fork();
    if (group == 0) {
        for (setpgid(0, 0);;) {
            pause();
        }
    }
    setpgid(group, group);
    usleep(500);
    int status = 0;
    CHECK(killpg(group, SIGTERM) == 0 && waitpid(group, &status, 0) == group);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static int run_clone(void *parent)
{
    usleep(1000);
    return getppid() == *(pid_t *)parent ? 9 : 1;
}

static void clones(void)
{
    static char stack[65536];
    pid_t own = getpid();
    int status;
    pid_t child = clone(run_clone, stack + sizeof stack, SIGCHLD, &own);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9);
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) {
        usleep(500);
        syscall(SYS_exit_group, 3);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
}

// Prints numbers of `ps`, which it looks up below /proc, relative to the own one.
static void numbers(void)
{
    char command[64];
    char line[64];
    snprintf(command, sizeof command, "ps -e -o pid=,ppid=,pgid=,sid=,comm=; echo $PPID");
    // NOLINTNEXTLINE(cert-env33-c)
    FILE *ps = popen(command, "r");
    const pid_t own = getpid();
    while (fgets(line, sizeof line, ps) != NULL) {
        int number[4];
        char name[32] = "";
        const int found =
            sscanf(line, "%d %d %d %d %31s", number, number + 1, number + 2, number + 3, name);
        for (int i = 0; i < found && i < 4; i++) {
            printf("%d ", number[i] >= own ? number[i] - own : number[i] + 100);
        }
        printf("%s\n", name);
    }
    CHECK(pclose(ps) == 0);
    FILE *stat = fopen("/proc/self/stat", "r");
    int pid = 0;
    CHECK(fscanf(stat, "%d", &pid) == 1 && pid == own);
    fclose(stat);
    const ssize_t length = readlink("/proc/self", line, sizeof line - 1);
    line[length < 0 ? 0 : length] = '\0';
    CHECK(atoi(line) == own);
    FILE *uptime = fopen("/proc/uptime", "r");
    CHECK(fgets(line, sizeof line, uptime) != NULL);
    printf("uptime %s", line);
    fclose(uptime);
}

int main(void)
{
    signals();
    clones();
    numbers();
    CHECK(semget(IPC_PRIVATE, 1, 0600) == -1 && errno == ENOSYS);
    CHECK(msgget(IPC_PRIVATE, 0600) == -1 && errno == ENOSYS);
    CHECK(mq_open("/queue", O_CREAT | O_RDWR, 0600, NULL) == (mqd_t)-1 && errno == ENOSYS);
    CHECK(syscall(SYS_io_uring_setup, 8, NULL) == -1 && errno == ENOSYS);
    return 0;
}
