// SPDX-License-Identifier: Apache-2.0
// studio/server/library/place.c - reads where relative file names in a scenario start.
#include "studio/server/library/place.h"

#include "studio/server/files/files.h"
#include "studio/server/http/body.h"
#include "studio/server/library/library.h"

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
