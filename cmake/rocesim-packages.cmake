# SPDX-License-Identifier: Apache-2.0
# The libraries rocesim stands on, found by pkg-config. A missing one names its Debian package.

find_package(Threads REQUIRED)
find_package(PkgConfig)
if(NOT PkgConfig_FOUND)
    message(FATAL_ERROR "pkg-config is missing: apt-get install pkg-config")
endif()

# Finds module, as imported target PkgConfig::<prefix>.
macro(rocesim_find prefix module minimum debian_package purpose)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET GLOBAL "${module}>=${minimum}")
    if(NOT ${prefix}_FOUND)
        message(FATAL_ERROR "${module} ${minimum} or newer is missing (${purpose}): "
                            "apt-get install ${debian_package}, or run tools/setup")
    endif()
endmacro()

rocesim_find(PCAP libpcap 1.10 libpcap-dev "writes and filters captures")
rocesim_find(EXPAT expat 2.4 libexpat1-dev "reads XML of algorithms")
rocesim_find(ZLIB zlib 1.2 zlib1g-dev "compresses captures, computes CRC-32")

macro(rocesim_find_world_packages)
    rocesim_find(FYAML libfyaml 0.7.12 libfyaml-dev "reads scenarios")
    rocesim_find(JANSSON jansson 2.13 libjansson-dev "writes JSON")
endmacro()

# ROCESIM_MPI: AUTO lets runs use several processes where Open MPI is, ON demands it, OFF does not.
macro(rocesim_find_mpi)
    set(ROCESIM_HAS_MPI OFF)
    if(NOT ROCESIM_MPI STREQUAL "OFF")
        pkg_check_modules(MPI QUIET IMPORTED_TARGET GLOBAL "ompi-c>=4.1")
        if(MPI_FOUND)
            set(ROCESIM_HAS_MPI ON)
        elseif(ROCESIM_MPI STREQUAL "ON")
            message(FATAL_ERROR "Runs in several processes need Open MPI: "
                                "apt-get install libopenmpi-dev openmpi-bin, or -DROCESIM_MPI=OFF")
        else()
            message(STATUS "Runs in several processes are left out: they need libopenmpi-dev")
        endif()
    endif()
endmacro()

# ROCESIM_READLINE: AUTO lets `rocesim shell` edit and complete lines where GNU Readline is, ON demands it,
# OFF does not.
macro(rocesim_find_readline)
    set(ROCESIM_HAS_READLINE OFF)
    if(NOT ROCESIM_READLINE STREQUAL "OFF")
        pkg_check_modules(READLINE QUIET "readline>=8")
        if(READLINE_FOUND)
            set(ROCESIM_HAS_READLINE ON)
        elseif(ROCESIM_READLINE STREQUAL "ON")
            message(FATAL_ERROR "Editing lines in `rocesim shell` needs GNU Readline: "
                                "apt-get install libreadline-dev, or -DROCESIM_READLINE=OFF")
        else()
            message(STATUS "`rocesim shell` does not edit lines: that needs libreadline-dev")
        endif()
    endif()
endmacro()

# METIS divides irregular networks among processes. It comes without a file for pkg-config.
macro(rocesim_find_metis)
    find_path(METIS_INCLUDE_DIR metis.h)
    find_library(METIS_LIBRARY metis)
    if(METIS_INCLUDE_DIR AND METIS_LIBRARY)
        set(ROCESIM_HAS_METIS ON)
        set(ROCESIM_METIS_LIBS -lmetis)
    else()
        set(ROCESIM_HAS_METIS OFF)
        set(ROCESIM_METIS_LIBS "")
        message(STATUS "Processes divide networks from files by a simple rule: METIS needs libmetis-dev")
    endif()
endmacro()

macro(rocesim_find_test_packages)
    rocesim_find(CHECK check 0.15 check "runs the tests; -DROCESIM_TESTS=OFF builds without")
endmacro()

# ROCESIM_STUDIO: AUTO builds the studio where its libraries are, ON demands them, OFF leaves it out.
macro(rocesim_find_studio_packages)
    set(ROCESIM_HAS_STUDIO OFF)
    if(NOT ROCESIM_STUDIO STREQUAL "OFF")
        pkg_check_modules(MICROHTTPD QUIET IMPORTED_TARGET GLOBAL "libmicrohttpd>=0.9.75")
        pkg_check_modules(SQLITE QUIET IMPORTED_TARGET GLOBAL "sqlite3>=3.37")
        pkg_check_modules(SODIUM QUIET IMPORTED_TARGET GLOBAL "libsodium>=1.0.18")
        if(MICROHTTPD_FOUND AND SQLITE_FOUND AND SODIUM_FOUND)
            set(ROCESIM_HAS_STUDIO ON)
        elseif(ROCESIM_STUDIO STREQUAL "ON")
            message(FATAL_ERROR "The studio needs libmicrohttpd-dev, libsqlite3-dev and libsodium-dev: "
                                "run tools/setup studio, or -DROCESIM_STUDIO=OFF")
        else()
            message(STATUS "The studio is left out: `make studio` installs its libraries and builds it")
        endif()
    endif()
endmacro()
