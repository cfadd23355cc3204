# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: the program, the libraries, their headers, and what pkg-config and
# find_package need for a tree of one's own. Components are Debian packages (rocesim-pack.cmake).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS rocesim_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
# Apart, so that librocesim is found where libfyaml and jansson are not.
install(TARGETS rocesim EXPORT rocesim
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
install(TARGETS rocesim_world rocesim_results EXPORT rocesim-world
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
foreach(header IN LISTS library_headers world_headers results_headers)
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${header}")
    get_filename_component(folder "${name}" DIRECTORY)
    # Not installed: a header that needs an internal one, one with C's atomics, which C++ does not
    # have, and what an application or a NIC is made of.
    set(parts "nic/(config|device|host|objects|queue|schedule|store|transport|verbs)")
    file(STRINGS "${header}" needs_internal
         REGEX "^#include (\"(.*_internal\\.h|${parts}/.*)\"|<stdatomic\\.h>)")
    if(NOT name MATCHES "_internal\\.h$" AND NOT needs_internal AND
       NOT "${folder}/" MATCHES "^((apps|pcap-out|results|world)/.*|${parts})/")
        install(FILES "${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rocesim/${folder}"
                COMPONENT dev)
    endif()
endforeach()

install(TARGETS rocesim_session LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        COMPONENT library NAMELINK_COMPONENT dev)
install(FILES sessions/rocesim_session.h sessions/rocesim_session.hpp examples/astra_network.hh
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rocesim"
        COMPONENT dev)
install(DIRECTORY sessions/go sessions/rust
        DESTINATION "${CMAKE_INSTALL_DATADIR}/rocesim/sessions" COMPONENT program
        PATTERN "target" EXCLUDE PATTERN "Cargo.lock" EXCLUDE)
install(FILES sessions/protocol.schema.json
        DESTINATION "${CMAKE_INSTALL_DATADIR}/rocesim/sessions" COMPONENT program)
install(DIRECTORY python/rocesim DESTINATION lib/python3/dist-packages COMPONENT python
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY python/notebooks DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc)

install(DIRECTORY scenarios DESTINATION "${CMAKE_INSTALL_DATADIR}/rocesim" COMPONENT program
        USE_SOURCE_PERMISSIONS)
if(ROCESIM_HAS_STUDIO)
    install(TARGETS rocesim_studio_program
            RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/rocesim" COMPONENT studio)
    install(DIRECTORY "${PROJECT_BINARY_DIR}/studio-page/"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/rocesim/studio" COMPONENT studio OPTIONAL)
endif()
install(DIRECTORY pcap-out/wireshark DESTINATION "${CMAKE_INSTALL_DATADIR}/rocesim"
        COMPONENT program)
install(PROGRAMS tools/wireshark-profile DESTINATION "${CMAKE_INSTALL_DATADIR}/rocesim/wireshark"
        COMPONENT program)

# Relative, so that `cmake --install --prefix` and DESTDIR need no other file.
file(RELATIVE_PATH prefix_from_pkgconfig "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
foreach(module rocesim rocesim-world rocesim-results rocesim-session)
    configure_file("cmake/${module}.pc.in" "${module}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${module}.pc"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
endforeach()

set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/rocesim")
foreach(export rocesim rocesim-world)
    install(EXPORT ${export} NAMESPACE rocesim:: FILE "${export}-targets.cmake"
            DESTINATION "${config_folder}" COMPONENT dev)
endforeach()
configure_package_config_file(cmake/rocesim-config.cmake.in rocesim-config.cmake
                              INSTALL_DESTINATION "${config_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/rocesim-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/rocesim-config.cmake"
              "${PROJECT_BINARY_DIR}/rocesim-config-version.cmake"
        DESTINATION "${config_folder}" COMPONENT dev)

# Manual pages and completions come from the texts and tables of the program itself.
set(manual_folder "${PROJECT_BINARY_DIR}/manual")
add_custom_command(OUTPUT "${manual_folder}/done"
                   COMMAND "${PROJECT_SOURCE_DIR}/tools/manual" $<TARGET_FILE:rocesim_program>
                           "${manual_folder}"
                   COMMAND "${CMAKE_COMMAND}" -E touch "${manual_folder}/done"
                   DEPENDS rocesim_program "${PROJECT_SOURCE_DIR}/tools/manual"
                   COMMENT "Making the manual pages" VERBATIM)
add_custom_target(manual ALL DEPENDS "${manual_folder}/done")
install(DIRECTORY "${manual_folder}/man1/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
        COMPONENT program)
install(FILES "${manual_folder}/bash/rocesim"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program)
install(FILES "${manual_folder}/zsh/_rocesim"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" COMPONENT program)
install(FILES CHANGELOG.md README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc)
install(DIRECTORY docs examples DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc)
include(rocesim-pack)
