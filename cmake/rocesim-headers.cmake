# SPDX-License-Identifier: Apache-2.0
# Target headers_alone: every header compiles as the only thing in a file, twice in a row.

set(alone_sources "")
foreach(header IN LISTS library_headers world_headers results_headers cli_headers)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${header}")
    set(source "${PROJECT_BINARY_DIR}/headers-alone/${name}.c")
    file(CONFIGURE OUTPUT "${source}" CONTENT
         "#include \"${name}\"\n#include \"${name}\"\ntypedef int not_empty_t;\n")
    list(APPEND alone_sources "${source}")
endforeach()

if(alone_sources)
    add_library(headers_alone OBJECT EXCLUDE_FROM_ALL ${alone_sources})
    target_include_directories(headers_alone PRIVATE "${PROJECT_SOURCE_DIR}")
    # These files are read, not run: nothing is optimised.
    target_compile_options(headers_alone PRIVATE -O0 -g0 -Wno-unused-function)
    target_link_libraries(headers_alone PRIVATE rocesim_flags PkgConfig::PCAP PkgConfig::EXPAT PkgConfig::ZLIB
                                                PkgConfig::FYAML PkgConfig::JANSSON)
    if(ROCESIM_HAS_STUDIO)
        target_link_libraries(headers_alone PRIVATE PkgConfig::MICROHTTPD PkgConfig::SQLITE
                                                    PkgConfig::SODIUM)
    endif()
endif()
