// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/load.c - loads plug-ins (world/plugin.h) and lets them add their rows.
#define _GNU_SOURCE // dladdr
#include "world/plugin.h"
#include "world/registry/entries.h"
#include "world/registry/plugins/compile.h"
#include "world/registry/plugins/sha256.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void world__plugins_fini(world__plugins_t *plugins)
{
    for (size_t i = 0; i < plugins->count; i++) {
        sim_free(plugins->files[i].path);
        sim_free(plugins->files[i].object);
    }
    sim_free_each(plugins->guards, plugins->guard_count);
    sim_free(plugins->guards);
    sim_free(plugins->files);
}

void world__plugins_copy(world__plugins_t *to, const world__plugins_t *from)
{
    for (size_t i = 0; i < from->count; i++) {
        world_plugin_file_t file = from->files[i];
        file.path = sim_strdup(file.path);
        file.name = strrchr(file.path, '/') + 1;
        file.object = sim_strdup(file.object);
        SIM_APPEND(to->files, to->count, to->capacity, file);
    }
}

void world__plugins_note_row(world__plugins_t *plugins, const char *name, bool declares)
{
    if (plugins->adding) {
        world_plugin_file_t *const file = &plugins->files[plugins->count - 1];
        file->row_count++;
        file->undeclared = declares || file->undeclared != NULL ? file->undeclared : name;
    }
}

// Returns the absolute path of a plug-in, or NULL: the folder of $ROCESIM_PLUGIN_FOLDER, outside of
// which no plug-in is loaded if that variable is set, does not have it, or there is no such file.
static char *find(const char *path, const char **folder)
{
    *folder = getenv("ROCESIM_PLUGIN_FOLDER");
    const char *const slash = strrchr(path, '/');
    char *const wanted = *folder != NULL && **folder != '\0'
                             ? sim_format("%s/%s", *folder, slash != NULL ? slash + 1 : path)
                             : sim_strdup(path);
    char *const real = *folder != NULL && **folder == '\0' ? NULL : realpath(wanted, NULL);
    sim_free(wanted);
    char *const found = real == NULL ? NULL : sim_strdup(real);
    free(real);
    return found;
}

sim_err_t world_plugin_locate(const char *path, world_plugin_file_t *file, world_error_t *error)
{
    const char *folder = NULL;
    *file = (world_plugin_file_t){.path = find(path, &folder)};
    if (file->path == NULL) {
        return folder != NULL && folder[0] == '\0'
                   ? world_fail(error, SIM_ERR_INVALID, WORLD_FILE(path),
                                "plug-ins are not allowed here (ROCESIM_PLUGIN_FOLDER is empty), "
                                "expected a scenario without plugins")
               : folder != NULL
                   ? world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                                "there is no such plug-in in %s, the only folder that plug-ins "
                                "are loaded from here (ROCESIM_PLUGIN_FOLDER)",
                                folder)
                   : world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                                "there is no such plug-in, expected a file of C (.c) or an object "
                                "(.so)");
    }
    file->name = strrchr(file->path, '/') + 1;
    size_t size;
    char *const bytes = world__plugin_read(file->path, &size);
    sim_err_t result = SIM_OK;
    if (bytes == NULL) {
        result =
            world_fail(error, SIM_ERR_IO, WORLD_FILE(file->path), "the plug-in cannot be read");
    } else {
        world__sha256(bytes, size, file->sha256);
        if (sim_ends_with(file->path, ".c")) {
            result = world__plugin_compile(file->path, &file->object, error);
        } else {
            file->object = sim_strdup(file->path);
        }
    }
    sim_free(bytes);
    if (result != SIM_OK) {
        sim_free(file->path);
        *file = (world_plugin_file_t){.path = NULL};
    }
    return result;
}

// Loads the object of the file. *plugin is its table.
static sim_err_t load(const world_plugin_file_t *file, const world_plugin_t **plugin,
                      world_error_t *error)
{
    // An object stays loaded: its rows may be read as long as the process lives.
    void *const handle = dlopen(file->object, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        const char *const why = dlerror();
        return world_fail(error, SIM_ERR_INVALID, WORLD_FILE(file->path),
                          "the plug-in cannot be loaded: %s; expected an object for this rocesim, "
                          "or the file of C itself",
                          why != NULL ? why : "no reason is known");
    }
    *plugin = dlsym(handle, "rocesim_plugin");
    (void)dlclose(handle);
    if (*plugin == NULL) {
        return world_fail(error, SIM_ERR_INVALID, WORLD_FILE(file->path),
                          "the object has no symbol rocesim_plugin, expected one that was compiled "
                          "from a file with WORLD_PLUGIN (docs/plugins.md)");
    }
    if ((*plugin)->version != WORLD_PLUGIN_VERSION || (*plugin)->layout != WORLD_PLUGIN_LAYOUT) {
        return world_fail(error, SIM_ERR_INVALID, WORLD_FILE(file->path),
                          "the plug-in was compiled for version %u (%08x) of rocesim's plug-ins, "
                          "and this program has version %u (%08x); compile it again with the "
                          "headers of this program, or give --plugin its file of C",
                          (*plugin)->version, (*plugin)->layout, WORLD_PLUGIN_VERSION,
                          WORLD_PLUGIN_LAYOUT);
    }
    return SIM_OK;
}

sim_err_t world_registry_add_plugin(world_registry_t *registry, const char *path,
                                    world_error_t *error)
{
    world__plugins_t *const plugins = world__registry_plugins(registry);
    world_plugin_file_t file;
    sim_err_t result = world_plugin_locate(path, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    SIM_CHECK(file.path != NULL);
    for (size_t i = 0; i < plugins->count; i++) {
        if (strcmp(plugins->files[i].path, file.path) == 0) {
            sim_free(file.path);
            sim_free(file.object);
            return SIM_OK; // it was named twice
        }
    }
    SIM_APPEND(plugins->files, plugins->count, plugins->capacity, file);
    const world_plugin_t *plugin = NULL;
    if (world_plugin_loads != NULL) {
        world_plugin_loads(&file);
    }
    result = load(&file, &plugin, error);
    if (result == SIM_OK) {
        world_error_t why = {.text = ""};
        SIM_CHECK(plugin != NULL);
        plugins->adding = true;
        result = plugin->add(registry, &why);
        plugins->adding = false;
        if (result == SIM_OK && plugins->files[plugins->count - 1].row_count == 0) {
            result = SIM_ERR_INVALID;
            (void)world_fail(&why, result, NULL, "it adds no row to the registry");
        }
        if (result != SIM_OK) {
            result = world_fail(error, SIM_ERR_INVALID, WORLD_FILE(file.path),
                                "the plug-in cannot be used: %s",
                                why.text[0] != '\0' ? why.text : "it refuses without a message");
        }
    }
    return result;
}

const char *world_registry_plugin_of(const world_registry_t *registry, const void *row)
{
    size_t count = 0;
    const world_plugin_file_t *const files = world_registry_plugins(registry, &count);
    Dl_info info;
    if (dladdr(row, &info) != 0 && info.dli_fname != NULL) {
        for (size_t i = 0; i < count; i++) {
            if (strcmp(files[i].object, info.dli_fname) == 0) {
                return files[i].name;
            }
        }
    }
    return "the program";
}

const world_plugin_file_t *world_registry_plugins(const world_registry_t *registry, size_t *count)
{
    union {
        const world_registry_t *in;
        world_registry_t *out;
    } same = {.in = registry};
    const world__plugins_t *const plugins = world__registry_plugins(same.out);
    *count = plugins->count;
    return plugins->files;
}
