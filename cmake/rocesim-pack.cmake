# SPDX-License-Identifier: Apache-2.0
# Debian packages by CPack: each component of the installation is one (`make deb`).

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME rocesim)
set(CPACK_PACKAGE_VENDOR "rocesim")
# A false value: CPack would put one line before the description of every package.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY OFF)
set(CPACK_PACKAGE_CONTACT "rocesim maintainers <maintainers@rocesim.example>")
set(CPACK_PACKAGE_FILE_NAME rocesim)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
                                                GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(papers "${PROJECT_BINARY_DIR}/deb")
set(CPACK_COMPONENTS_ALL "")

# rocesim_package(COMPONENT NAME SECTION SUMMARY DESCRIPTION [VARIABLE VALUE]...): a package. The
# variables are CPack's CPACK_DEBIAN_<COMPONENT>_PACKAGE_<VARIABLE>.
macro(rocesim_package component name section summary description)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${description}")
    set(settings ${ARGN})
    while(settings)
        list(POP_FRONT settings variable value)
        set(CPACK_DEBIAN_${upper}_PACKAGE_${variable} "${value}")
    endwhile()
    set(package ${name})
    # What a package of Debian has to hold: its licence and its changes.
    configure_file(cmake/deb-copyright.in "${papers}/${name}/copyright" @ONLY)
    configure_file(cmake/deb-changelog.in "${papers}/${name}/changelog.Debian" @ONLY)
    execute_process(COMMAND gzip -9nf "${papers}/${name}/changelog.Debian")
    install(FILES "${papers}/${name}/copyright" "${papers}/${name}/changelog.Debian.gz"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" COMPONENT ${component}
            EXCLUDE_FROM_ALL)
endmacro()

rocesim_package(program rocesim science "packet-level simulator of RDMA (RoCEv2) networks"
    "It models hosts with RoCEv2 NICs, switches with PFC and ECN, and congestion
control. It writes tables, a summary and captures that Wireshark opens."
    SHLIBDEPS ON RECOMMENDS "gnuplot-nox, libcapstone4"
    SUGGESTS "graphviz, tshark, wireshark, openmpi-bin, python3-rocesim, rocesim-doc")
rocesim_package(library librocesim0 libs "sessions with a simulated RDMA network"
    "Programs that link this library submit transfers to a network that rocesim
simulates, and get their completions."
    SHLIBDEPS ON CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/triggers" DEPENDS rocesim)
set(needs "libpcap-dev, libexpat1-dev, zlib1g-dev, libfyaml-dev, libjansson-dev")
if(ROCESIM_HAS_METIS)
    string(APPEND needs ", libmetis-dev")
endif()
rocesim_package(dev librocesim-dev libdevel "libraries and headers of rocesim"
    "These are static libraries, headers, pkg-config modules and a CMake package
for programs with their own topologies, congestion controls or transports."
    DEPENDS "librocesim0 (= ${PROJECT_VERSION}-1), ${needs}"
    SUGGESTS rocesim-doc)
rocesim_package(python python3-rocesim python "Python package that runs rocesim and reads its results"
    "Results become frames whose columns know their units, and figures. Sweeps
come with intervals of confidence."
    ARCHITECTURE all DEPENDS "python3, rocesim" RECOMMENDS "python3-pandas, python3-matplotlib")
rocesim_package(doc rocesim-doc doc "pages, examples and notebooks of rocesim"
    "The pages explain scenarios, result files and models with their limits. The
examples are programs in C, the notebooks are for Jupyter."
    ARCHITECTURE all)
if(ROCESIM_HAS_STUDIO)
    rocesim_package(studio rocesim-studio science "browser interface of rocesim"
        "A server and a page for browsers that edit scenarios, show running
simulations and analyse results."
        SHLIBDEPS ON DEPENDS rocesim)
endif()

include(CPack)
