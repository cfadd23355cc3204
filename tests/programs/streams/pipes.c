// SPDX-License-Identifier: Apache-2.0
// tests/programs/streams/pipes.c - streams of pipes and sockets that a program opens itself.
//
// Goal: named pipes between processes, threads and programs of a host, streams of fdopen(), wide
// characters that are scanned, dprintf() and sendfile() wait in simulated time and move all bytes.
// Method: one end waits a known time, and the other one prints when each line came.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <locale.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("line %d: not so: %s\n", __LINE__, #condition); \
            exit(1);                                               \
        }                                                          \
    } while (0)

static long us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void print_lines(FILE *file, const char *name)
{
    const long begin = us();
    char line[64];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        printf("%s %s after %ld ms\n", name, line, (us() - begin + 500) / 1000);
    }
    CHECK(fclose(file) == 0);
}

static void *write_lines(void *path)
{
    usleep(3000);
    const int out = open(path, O_WRONLY);
    CHECK(out >= 0);
    for (int i = 1; i <= 3; i++) {
        usleep(1000);
        CHECK(dprintf(out, "line %d\n", i) == 7);
    }
    close(out);
    return NULL;
}

static void threads(const char *path)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_lines, (void *)(uintptr_t)path) == 0);
    print_lines(fopen(path, "r"), "thread");
    pthread_join(thread, NULL);
}

static void wide(const char *path)
{
    const pid_t child = fork();
    if (child == 0) {
        usleep(2000);
        FILE *out = fopen(path, "w");
        fputws(L"42 l\u00e9g x\n", out);
        fflush(out);
        usleep(1000);
        fputws(L"\n 7 rest\n", out);
        exit(fclose(out));
    }
    FILE *in = fopen(path, "r");
    int number;
    wchar_t word[16];
    CHECK(fwscanf(in, L"%d %ls", &number, word) == 2 && number == 42);
    CHECK(wcscmp(word, L"l\u00e9g") == 0);
    CHECK(fgetwc(in) == L' ');
    CHECK(fgetwc(in) == L'x');
    CHECK(ungetwc(L'\u00e9', in) == L'\u00e9' && fgetwc(in) == L'\u00e9');
    CHECK(fwscanf(in, L"%d %ls", &number, word) == 2 && number == 7);
    CHECK(wcscmp(word, L"rest") == 0);
    CHECK(fwscanf(in, L"%d", &number) == EOF);
    CHECK(fclose(in) == 0 && waitpid(child, NULL, 0) == child);
}

static void streams(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        FILE *out = fdopen(ends[1], "w");
        for (int i = 1; i <= 2; i++) {
            usleep(5000);
            fprintf(out, "line %d\n", i);
            fflush(out);
        }
        fprintf(out, "line 3\n"); // written at the end
        exit(0);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    CHECK(fileno(in) == ends[0]);
    print_lines(in, "pipe");
    CHECK(waitpid(child, NULL, 0) == child);
    // NOLINTNEXTLINE(cert-env33-c)
    FILE *command = popen("sleep 0.002; echo said", "r");
    struct pollfd ready = {.fd = fileno(command), .events = POLLIN};
    CHECK(poll(&ready, 1, 1) == 0 && poll(&ready, 1, 100) == 1);
    char line[16];
    CHECK(fgets(line, sizeof line, command) != NULL && strcmp(line, "said\n") == 0);
    CHECK(pclose(command) == 0);
}

#define FILE_BYTES 1000000

static void serve(const char *path)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7000)};
    CHECK(bind(listener, (const struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 1) == 0);
    const int peer = accept(listener, NULL, NULL);
    FILE *both = fdopen(peer, "r+");
    char line[64];
    CHECK(fgets(line, sizeof line, both) != NULL && strcmp(line, "GET file\n") == 0);
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(ftruncate(file, FILE_BYTES) == 0);
    CHECK(dprintf(peer, "%d bytes\n", FILE_BYTES) == 14);
    off_t place = 0;
    CHECK(sendfile(peer, file, &place, FILE_BYTES / 2) == FILE_BYTES / 2);
    CHECK(place == FILE_BYTES / 2 && lseek(file, place, SEEK_SET) == place);
    CHECK(sendfile(peer, file, NULL, FILE_BYTES) == FILE_BYTES / 2);
    fclose(both);
}

static void ask(const char *host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7000)};
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(inet_pton(AF_INET, host, &address.sin_addr) == 1);
    while (connect(server, (const struct sockaddr *)&address, sizeof address) != 0) {
        usleep(1000);
    }
    FILE *both = fdopen(server, "r+");
    fprintf(both, "GET file\n");
    fflush(both);
    int bytes = 0;
    CHECK(fscanf(both, "%d bytes", &bytes) == 1 && fgetc(both) == '\n');
    int got = 0;
    while (fgetc(both) != EOF) {
        got++;
    }
    printf("%d of %d bytes\n", got, bytes);
}

// Programs of a host whose requests and answers pass through named pipes.
static void answer(const char *requests, const char *answers)
{
    FILE *in = fopen(requests, "r");
    const int out = open(answers, O_WRONLY);
    char line[64];
    int count = 0;
    while (fgets(line, sizeof line, in) != NULL) {
        dprintf(out, "re: %s", line);
        count++;
    }
    printf("answered %d\n", count);
}

static void request(const char *requests, const char *answers)
{
    static char many[200000];
    usleep(1000);
    const int out = open(requests, O_WRONLY);
    FILE *in = fopen(answers, "r");
    char line[64];
    for (int i = 0; i < 20; i++) {
        dprintf(out, "%d\n", i);
        struct pollfd ready = {.fd = fileno(in), .events = POLLIN};
        CHECK(poll(&ready, 1, 1000) == 1 && fgets(line, sizeof line, in) != NULL);
    }
    printf("last answer %s", line);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(out);
        while (fgets(line, sizeof line, in) != NULL) {
        }
        _exit(0);
    }
    memset(many, 'x', sizeof many);
    for (size_t i = 49; i < sizeof many; i += 50) {
        many[i] = '\n';
    }
    CHECK(write(out, many, sizeof many) == sizeof many); // more than a pipe holds
    fclose(in);
    close(out);
    CHECK(waitpid(child, NULL, 0) == child);
}

int main(int count, char **words)
{
    setlocale(LC_ALL, "C.UTF-8");
    setvbuf(stdout, NULL, _IOLBF, 0); // children print nothing again
    const char *what = count > 1 ? words[1] : "";
    (void)mkfifo("/dev/shm/requests", 0600);
    (void)mkfifo("/dev/shm/answers", 0600);
    if (strcmp(what, "answer") == 0) {
        answer("/dev/shm/requests", "/dev/shm/answers");
    } else if (strcmp(what, "request") == 0) {
        request("/dev/shm/requests", "/dev/shm/answers");
    } else if (count > 1) {
        ask(what);
    } else {
        threads("/dev/shm/answers");
        wide("/dev/shm/answers");
        streams();
        serve("/dev/shm/file");
    }
    return 0;
}
