# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: the program, librocesim, its headers and rocesim.pc for a tree of one's own.

include(GNUInstallDirs)

install(TARGETS rocesim_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS rocesim ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(header IN LISTS library_headers)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${header}")
    get_filename_component(folder "${name}" DIRECTORY)
    # A header that needs an internal one is a folder's own, whatever its name; so is one with C's
    # atomics, which C++ does not have.
    file(STRINGS "${header}" needs_internal REGEX "^#include (\".*_internal\\.h\"|<stdatomic\\.h>)")
    if(NOT name MATCHES "_internal\\.h$" AND NOT needs_internal)
        install(FILES "${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rocesim/${folder}")
    endif()
endforeach()

install(DIRECTORY pcap-out/wireshark DESTINATION "${CMAKE_INSTALL_DATADIR}/rocesim")
install(PROGRAMS tools/wireshark-profile DESTINATION "${CMAKE_INSTALL_DATADIR}/rocesim/wireshark")

# Relative, so that `cmake --install --prefix` and DESTDIR need no other file.
file(RELATIVE_PATH prefix_from_pkgconfig "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file(cmake/rocesim.pc.in rocesim.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/rocesim.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
