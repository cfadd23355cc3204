// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/compile.c - compiles plug-ins, and keeps the objects by the content of all
// files that went into them.
//
// The cache has two kinds of files. KEY.inputs lists each file that the compiler read for a
// plug-in, with its hash; KEY is the hash of the command and of the plug-in's path. OBJECT.so is
// the object; OBJECT is the hash of KEY and of the text of that list. So an edit of the plug-in, of
// a header beside it or of rocesim's own headers leads to another object, and processes that
// compile the same plug-in at once do not disturb each other.
#include "world/registry/plugins/compile.h"
#include "world/registry/plugins/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 32u
#define FILE_BYTES_MAX ((size_t)64 << 20)

extern char **environ;

char *world__plugin_read(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "re");
    char *bytes = NULL;
    size_t capacity = 0;
    *size = 0;
    bool good = file != NULL;
    for (size_t got = 1; good && got > 0 && *size < FILE_BYTES_MAX; *size += got) {
        SIM_RESERVE(bytes, *size + 65536, &capacity);
        got = fread(bytes + *size, 1, 65535, file);
    }
    good = good && ferror(file) == 0 && *size < FILE_BYTES_MAX;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!good) {
        sim_free(bytes);
        return NULL;
    }
    bytes[*size] = '\0';
    return bytes;
}

// -- places

static bool has_headers(const char *folder)
{
    char *const header = sim_format("%s/world/plugin.h", folder);
    const bool found = access(header, R_OK) == 0;
    sim_free(header);
    return found;
}

// Returns the source folder of a build, which CMake noted in the build's folder, or NULL.
static char *source_of_build(const char *build)
{
    static const char key[] = "CMAKE_HOME_DIRECTORY:INTERNAL=";
    char *const path = sim_format("%s/CMakeCache.txt", build);
    size_t size;
    char *const text = world__plugin_read(path, &size);
    const char *const line = text == NULL ? NULL : strstr(text, key);
    const char *const value = line == NULL ? "" : line + strlen(key);
    char *const folder = sim_format("%.*s", (int)strcspn(value, "\n"), value);
    sim_free(text);
    sim_free(path);
    if (has_headers(folder)) {
        return folder;
    }
    sim_free(folder);
    return NULL;
}

// Returns the folder of rocesim's headers: those of the installation or of the source tree that the
// running program belongs to, else those that the system has. NULL: there are none.
static char *headers_folder(void)
{
    static const char *const usual[] = {"/usr/local/include/rocesim", "/usr/include/rocesim"};
    char own[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[SIM_MAX(0, length)] = '\0';
    for (char *slash = strrchr(own, '/'); slash != NULL; slash = strrchr(own, '/')) {
        *slash = '\0';
        char *folder = sim_format("%s/include/rocesim", own); // of PREFIX/bin/rocesim
        if (has_headers(folder)) {
            return folder;
        }
        sim_free(folder);
        folder = has_headers(own) ? sim_strdup(own) : source_of_build(own);
        if (folder != NULL) {
            return folder;
        }
    }
    for (size_t i = 0; i < SIM_COUNT_OF(usual); i++) {
        if (has_headers(usual[i])) {
            return sim_strdup(usual[i]);
        }
    }
    return NULL;
}

static bool make_folders(char *path)
{
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p == '/') {
            *p = '\0';
            (void)mkdir(path, 0700);
            *p = '/';
        }
    }
    struct stat status;
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && stat(path, &status) == 0 &&
           S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

// Sets *folder to the folder of compiled plug-ins, which it makes (XDG base directories).
static sim_err_t cache_folder(char **folder, world_error_t *error)
{
    const char *const cache = getenv("XDG_CACHE_HOME");
    const char *const home = getenv("HOME");
    if (cache != NULL && cache[0] == '/') {
        *folder = sim_format("%s/rocesim/plugins", cache);
    } else if (home != NULL && home[0] == '/') {
        *folder = sim_format("%s/.cache/rocesim/plugins", home);
    } else {
        *folder = sim_format("/tmp/rocesim-plugins-%u", (unsigned)geteuid());
    }
    if (make_folders(*folder)) {
        return SIM_OK;
    }
    world_fail(error, SIM_ERR_IO, WORLD_FILE(*folder),
               "cannot keep compiled plug-ins in this folder, expected one of your own; the "
               "variable XDG_CACHE_HOME names another place");
    sim_free(*folder);
    return SIM_ERR_IO;
}

// -- the command

typedef struct command {
    const char *words[WORDS_MAX];
    size_t count;
    char *compiler; // the text that its first words point into
} command_t;

static void add_word(command_t *command, const char *word)
{
    SIM_CHECK(command->count + 1 < WORDS_MAX);
    command->words[command->count++] = word;
    command->words[command->count] = NULL;
}

// Begins the command: the compiler ($CC, or cc) and the flags. headers: where #include looks.
static void begin_command(command_t *command, const char *headers)
{
    static const char *const flags[] = {
        "-std=c11", "-D_DEFAULT_SOURCE", "-O2", "-g1",
        // Without fused operations, results do not depend on the processor.
        "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-shared", "-MMD", "-I"};
    const char *const chosen = getenv("CC");
    *command = (command_t){
        .compiler = sim_strdup(chosen != NULL && chosen[0] != '\0' ? chosen : "cc"),
    };
    char *rest = NULL;
    for (char *word = strtok_r(command->compiler, " ", &rest); word != NULL && command->count < 8;
         word = strtok_r(NULL, " ", &rest)) {
        add_word(command, word);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(flags); i++) {
        add_word(command, flags[i]);
    }
    add_word(command, headers);
}

// Runs the command. Its messages go into the file `log`. Returns its exit status; -1: there is no
// such program.
static int run_command(const command_t *command, const char *log)
{
    posix_spawn_file_actions_t actions;
    SIM_CHECK(posix_spawn_file_actions_init(&actions) == 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log,
                                           O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = -1;
    int status = -1;
    const int failed = posix_spawnp(&child, command->words[0], &actions, NULL,
                                    (char *const *)(uintptr_t)command->words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return -1;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// Fails with the first error in the compiler's messages.
static sim_err_t refuse(const char *file, const command_t *command, int status, const char *log,
                        world_error_t *error)
{
    if (status < 0 || status == 127) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(file),
                          "there is no compiler '%s' for this plug-in, expected a C compiler, one "
                          "that the variable CC names, or an object (.so) instead of the file",
                          command->words[0]);
    }
    size_t size;
    char *const text = world__plugin_read(log, &size);
    const char *line = text == NULL ? "" : text;
    const char *const found = strstr(line, "error: ");
    if (found != NULL) {
        for (line = found; line > text && line[-1] != '\n'; line--) {
        }
    }
    char *const first = sim_format("%.*s", (int)SIM_MIN(strcspn(line, "\n"), 400), line);
    world_fail(error, SIM_ERR_INVALID, NULL,
               "%s; the plug-in does not compile, all messages of %s are in %s", first,
               command->words[0], log);
    sim_free(first);
    sim_free(text);
    return SIM_ERR_INVALID;
}

// -- the cache

// Appends "HASH PATH\n" to *list. Returns false if the file cannot be read.
static bool add_input(char **list, const char *path)
{
    size_t size;
    char hash[WORLD_SHA256_DIGITS + 1];
    char *const bytes = world__plugin_read(path, &size);
    if (bytes == NULL) {
        return false;
    }
    world__sha256(bytes, size, hash);
    char *const longer = sim_format("%s%s %s\n", *list, hash, path);
    sim_free(bytes);
    sim_free(*list);
    *list = longer;
    return true;
}

// Returns the list of the files that the compiler noted in a rule of make, or NULL.
static char *inputs_of(const char *rule)
{
    size_t size;
    char *const text = world__plugin_read(rule, &size);
    char *list = sim_strdup("");
    bool good = text != NULL;
    char *p = text == NULL ? NULL : strstr(text, ": ");
    while (good && p != NULL && *(p += strspn(p, ": \\\n")) != '\0') {
        char *const word = p;
        char *to = p;
        while (*p != '\0' && *p != ' ' && *p != '\n') {
            p += p[0] == '\\' && p[1] == ' ' ? 1 : p[0] == '$' && p[1] == '$' ? 1 : 0;
            *to++ = *p++;
        }
        const bool last = *p == '\0';
        *to = '\0';
        good = add_input(&list, word);
        p += last ? 0 : to == p;
    }
    sim_free(text);
    if (good && list[0] != '\0') {
        return list;
    }
    sim_free(list);
    return NULL;
}

// Returns the path of the object for a list of inputs.
static char *object_path(const char *cache, const char *key, const char *list)
{
    char hash[WORLD_SHA256_DIGITS + 1];
    char *const text = sim_format("%s\n%s", key, list);
    world__sha256(text, strlen(text), hash);
    sim_free(text);
    return sim_format("%s/%s.so", cache, hash);
}

// Returns the object if all files of its list are as they were, or NULL.
static char *look_up(const char *cache, const char *key)
{
    size_t size;
    char *const list_path = sim_format("%s/%s.inputs", cache, key);
    char *const list = world__plugin_read(list_path, &size);
    char *now = sim_strdup("");
    bool good = list != NULL;
    for (const char *line = list; good && line[0] != '\0';) {
        const size_t length = strcspn(line, "\n");
        good = line[length] == '\n' && length > WORLD_SHA256_DIGITS + 1;
        if (good) {
            char *const name = sim_format("%.*s", (int)(length - WORLD_SHA256_DIGITS - 1),
                                          line + WORLD_SHA256_DIGITS + 1);
            good = add_input(&now, name);
            sim_free(name);
            line += length + 1;
        }
    }
    char *object = good && strcmp(list, now) == 0 ? object_path(cache, key, now) : NULL;
    if (object != NULL && access(object, R_OK) != 0) {
        sim_free(object);
        object = NULL;
    }
    SIM_FREE_ALL(now, list, list_path);
    return object;
}

static bool write_text(const char *path, const char *text)
{
    FILE *const file = fopen(path, "we");
    const bool put = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && put;
}

// Compiles the file beside its place in the cache and moves the results there.
static sim_err_t compile(const char *file, command_t *command, const char *cache, const char *key,
                         char **object, world_error_t *error)
{
    char *const log = sim_format("%s/%s.log", cache, key);
    char *const part = sim_format("%s/%s.%ld.so", cache, key, (long)getpid());
    char *const rule = sim_format("%s.d", part);
    char *const list_part = sim_format("%s.inputs", part);
    char *const list_path = sim_format("%s/%s.inputs", cache, key);
    const char *const words[] = {"-MF", rule, "-o", part, file, "-lm"};
    for (size_t i = 0; i < SIM_COUNT_OF(words); i++) {
        add_word(command, words[i]);
    }
    const int status = run_command(command, log);
    sim_err_t result = status == 0 ? SIM_OK : refuse(file, command, status, log, error);
    char *const list = result == SIM_OK ? inputs_of(rule) : NULL;
    if (list != NULL) {
        *object = object_path(cache, key, list);
    }
    if (result == SIM_OK && (list == NULL || rename(part, *object) != 0 ||
                             !write_text(list_part, list) || rename(list_part, list_path) != 0)) {
        result = world_fail(error, SIM_ERR_IO, WORLD_FILE(cache),
                            "cannot keep the compiled plug-in %s in this folder", file);
    }
    (void)unlink(rule);
    (void)unlink(part);
    if (status == 0) {
        (void)unlink(log);
    }
    SIM_FREE_ALL(list, list_path, list_part, rule, part, log);
    return result;
}

sim_err_t world__plugin_compile(const char *file, char **object, world_error_t *error)
{
    char *cache = NULL;
    *object = NULL;
    char *const headers = headers_folder();
    if (headers == NULL) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(file),
                          "there are no headers of rocesim to compile this plug-in with, expected "
                          "the package librocesim-dev, or an object (.so) instead of the file");
    }
    sim_err_t result = cache_folder(&cache, error);
    if (result == SIM_OK) {
        command_t command;
        begin_command(&command, headers);
        char *text = sim_strdup(file);
        for (size_t i = 0; i < command.count; i++) {
            char *const longer = sim_format("%s\n%s", text, command.words[i]);
            sim_free(text);
            text = longer;
        }
        char key[WORLD_SHA256_DIGITS + 1];
        world__sha256(text, strlen(text), key);
        sim_free(text);
        *object = look_up(cache, key);
        if (*object == NULL) {
            result = compile(file, &command, cache, key, object, error);
        }
        sim_free(command.compiler);
    }
    if (result != SIM_OK) {
        sim_free(*object);
        *object = NULL;
    }
    sim_free(cache);
    sim_free(headers);
    return result;
}
