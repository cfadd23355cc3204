# SPDX-License-Identifier: Apache-2.0
# Compilers, flags and options. Every target of rocesim links rocesim_flags.

option(ROCESIM_WERROR "Warnings are errors" ON)
option(ROCESIM_TESTS "Build the tests and the examples" ON)
set(ROCESIM_STUDIO AUTO CACHE STRING "Build the studio: AUTO (where its libraries are), ON, OFF")
set_property(CACHE ROCESIM_STUDIO PROPERTY STRINGS AUTO ON OFF)
set(ROCESIM_MPI AUTO CACHE STRING "Runs in several processes by MPI: AUTO (where it is), ON, OFF")
set_property(CACHE ROCESIM_MPI PROPERTY STRINGS AUTO ON OFF)
set(ROCESIM_READLINE AUTO CACHE STRING "Edit lines in the shell: AUTO (where GNU Readline is), ON, OFF")
set_property(CACHE ROCESIM_READLINE PROPERTY STRINGS AUTO ON OFF)
option(ROCESIM_FUZZ "Build libFuzzer targets (clang only)" OFF)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set_property(CACHE CMAKE_BUILD_TYPE PROPERTY STRINGS Release Debug Asan Tsan Fuzz O0 O3)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(ROCESIM_CCACHE ccache)
mark_as_advanced(ROCESIM_CCACHE)
if(ROCESIM_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${ROCESIM_CCACHE}")
endif()

# Dear checks (SIM_ASSERT) are on wherever speed is not the point of the build.
set(sanitize_common "-O1 -g1 -fno-omit-frame-pointer -DSIM_DEAR_CHECKS")
set(sanitize_address "-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all")
# Where the functions of the loop over one list lie moves its time by 5 % (docs/performance.md).
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -falign-functions=32")
set(CMAKE_C_FLAGS_O0 "-O0")
set(CMAKE_C_FLAGS_O3 "-O3")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g -DSIM_DEAR_CHECKS")
set(CMAKE_C_FLAGS_ASAN "${sanitize_common} ${sanitize_address}")
set(CMAKE_C_FLAGS_TSAN "${sanitize_common} -fsanitize=thread -DSIM_JITTER") # kernel/engine/jitter.h
set(ROCESIM_FUZZ_LEVEL -O1 CACHE STRING "The fuzzers' level of optimisation (tools/fuzz)")
# clang 14 takes an offset of 0 to a null pointer for an overflow, which C2y allows (N3322).
set(CMAKE_C_FLAGS_FUZZ
    "${sanitize_common} ${sanitize_address} -fno-sanitize=pointer-overflow"
    "-fsanitize=fuzzer-no-link ${ROCESIM_FUZZ_LEVEL}")
list(JOIN CMAKE_C_FLAGS_FUZZ " " CMAKE_C_FLAGS_FUZZ)

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type_upper)
if(NOT DEFINED CMAKE_C_FLAGS_${build_type_upper})
    message(FATAL_ERROR "Build type '${CMAKE_BUILD_TYPE}' is not one of "
                        "Release, Debug, Asan, Tsan, Fuzz, O0, O3")
endif()
if(ROCESIM_FUZZ AND NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "ROCESIM_FUZZ needs clang: use `cmake --preset fuzz`")
endif()

add_library(rocesim_flags INTERFACE)
target_compile_definitions(rocesim_flags INTERFACE
    _DEFAULT_SOURCE # POSIX.1-2008 and the types <pcap.h> needs, under -std=c11
    ROCESIM_VERSION="${PROJECT_VERSION}")
target_compile_options(rocesim_flags INTERFACE
    # A fused multiply-add rounds once where two operations round twice: results would depend on
    # the processor and the compiler.
    -ffp-contract=off
    # Pairs of counters are added faster one by one than packed into a vector for it.
    -fno-tree-vectorize
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align
    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef -Wvla
    -Wpointer-arith -Wwrite-strings -Wformat=2 -Wswitch-enum -Wimplicit-fallthrough
    -Wdouble-promotion -Wfloat-conversion -Wfloat-equal -Wnull-dereference -Wdate-time
    $<$<BOOL:${ROCESIM_WERROR}>:-Werror>)

# -- link-time optimisation
#
# Off: the hot paths are inline functions of headers already. Measured with gcc 12 on the k=8
# permutation: 509 instead of 515 instructions per packet-hop, no difference in time, and a build
# that takes twice as long. The library carries both kinds of code (gcc's fat objects), so that
# whoever links it need not know.

option(ROCESIM_LTO "Link-time optimisation of the program and the benches (gcc)" OFF)

if(ROCESIM_LTO AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "ROCESIM_LTO needs gcc, whose objects can carry both kinds of code")
endif()
if(ROCESIM_LTO)
    set(CMAKE_AR "${CMAKE_C_COMPILER_AR}")
    set(CMAKE_RANLIB "${CMAKE_C_COMPILER_RANLIB}")
endif()

function(rocesim_lto_library target)
    if(ROCESIM_LTO)
        target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
    endif()
endfunction()

function(rocesim_lto_program target)
    if(ROCESIM_LTO)
        target_compile_options(${target} PRIVATE -flto=auto)
        target_link_options(${target} PRIVATE -flto=auto -fuse-linker-plugin)
    endif()
endfunction()
