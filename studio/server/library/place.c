// SPDX-License-Identifier: Apache-2.0
// studio/server/library/place.c - reads where relative file names in a scenario start.
#include "studio/server/library/place.h"

#include "studio/server/files/files.h"
#include "studio/server/http/body.h"
#include "studio/server/library/library.h"

#include <stdlib.h>
#include <string.h>

int studio_take_place(studio_request_t *request, studio_response_t *response, studio_place_t *place)
{
    const studio_t *const studio = studio_request_studio(request);
    const char *const folder = studio_body_text(request, "folder", STUDIO_FILE_PATH_BYTES_MAX);
    place->entry = studio_body_text(request, "library", 512);
    place->folder = folder == NULL ? "" : folder;
    if (place->entry != NULL && studio_library_yaml(studio->library, place->entry) == NULL) {
        return studio_response_error(response, 404, "library: the library has no such scenario");
    }
    if (place->folder[0] != '\0' &&
        (place->entry != NULL || studio_files_path_refuse(place->folder) != NULL)) {
        return studio_response_error(response, 400,
                                     "folder: expected a folder of your files, and no library");
    }
    return 0;
}

char *studio_place_folders(const studio_t *studio, const char *user, const studio_place_t *place)
{
    char *const files =
        studio_files_folder(studio, user, place->entry == NULL ? place->folder : "");
    char *const own = realpath(files, NULL);
    char *const library = realpath(studio->options.scenarios, NULL);
    const char *const slash = place->entry == NULL ? NULL : strrchr(place->entry, '/');
    char *const folders =
        place->entry == NULL || library == NULL
            ? sim_strdup(own == NULL ? "" : own)
            : sim_format("%s/%.*s%s%s", library, slash == NULL ? 0 : (int)(slash - place->entry),
                         place->entry, own == NULL ? "" : ":", own == NULL ? "" : own);
    free(library);
    free(own);
    sim_free(files);
    return folders;
}

void studio_names_shorten(char *text, const char *folder)
{
    const size_t length = strlen(folder);
    char *at = length == 0 ? NULL : strstr(text, folder);
    while (at != NULL) {
        const size_t slashes = strspn(at + length, "/");
        if (slashes > 0) {
            memmove(at, at + length + slashes, strlen(at + length + slashes) + 1);
        }
        at = strstr(at + (slashes > 0 ? 0 : length), folder);
    }
}
