#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/test_install.sh - an installed rocesim serves a tree of one's own.
#
# labels: slow long plain
# Goal: headers, libraries, pkg-config modules and the CMake package are complete: each example
# compiles from outside the repository with nothing but them, and those of each library run; a row
# that a program adds is known to scenarios; the headers that are installed compile as C11 and as
# C++17 and include nothing that is not, and a program in C++ links and runs.
# Method: installs the build under test into a scratch folder. All headers are compiled in one file; the long
# form compiles each alone (the target headers_alone of the release build does so, too, where they lie).
# Does not pin: where a distribution would put the files.
set -eu

if ! grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$BUILD_DIRECTORY/CMakeCache.txt"; then
    echo "skip: only a release build is installed"
    exit 77
fi
root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$BUILD_DIRECTORY" --prefix "$scratch/root" >/dev/null

# What a shell and man look for is there (tests/cli/test_cli_manual.sh tries it).
for file in man/man1/rocesim.1.gz man/man1/rocesim-run.1.gz bash-completion/completions/rocesim \
    zsh/vendor-completions/_rocesim; do
    [ -s "$scratch/root/share/$file" ] || { echo "FAIL: $file is not installed" && exit 1; }
done
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/root" -name rocesim.pc)")
export PKG_CONFIG_PATH

cd "$scratch"
# Programs with MPI need its compiler (tests/programs/test_programs_mpi.sh).
mapfile -t examples < <(ls "$root"/examples/*.c | grep -v /mpi_)
# All examples compile; those below, of each library and each language, are linked and run, too (the long form
# links all; examples/ does so where they lie).
# shellcheck disable=SC2046 # a list of flags
cc -std=c11 -D_DEFAULT_SOURCE -fsyntax-only "${examples[@]}" $(pkg-config --cflags rocesim-results)
for source in ${TEST_LONG:+"${examples[@]}"}; do
    # shellcheck disable=SC2046 # a list of flags
    cc -std=c11 -D_DEFAULT_SOURCE "$source" $(pkg-config --cflags --libs rocesim-results) -o example
    ./example >/dev/null
done
# sources ENDING: files that include all headers, one line each where they are compiled alone.
(cd "$scratch/root/include/rocesim" && find . -name '*.h' -printf '#include "%P"\n') | sort >headers
[ "$(wc -l <headers)" -gt 50 ] || { echo "too few headers are installed" && exit 1; }
sources() {
    mkdir "$1"
    split -a 3 ${TEST_LONG:+-l 1} --additional-suffix=".$1" headers "$1/header-"
}
sources c
for file in c/*; do
    # shellcheck disable=SC2046 # a list of flags
    cc -std=c11 -fsyntax-only "$file" $(pkg-config --cflags rocesim-results)
done
"$scratch/root/bin/rocesim" --version

# A program that uses the network only needs nothing of what reads scenarios.
case "$(pkg-config --libs rocesim)" in
*yaml* | *jansson* | *rocesim_*) echo "rocesim.pc asks for too much" && exit 1 ;;
esac
# shellcheck disable=SC2046 # a list of flags
cc -std=c11 -D_DEFAULT_SOURCE "$root/examples/verbs_pingpong.c" \
    $(pkg-config --cflags --libs rocesim) -o example
./example >/dev/null

# The algorithm that a program adds is known to a scenario file and to settings.
# shellcheck disable=SC2046 # a list of flags
cc -std=c11 -D_DEFAULT_SOURCE "$root/examples/own_program.c" \
    $(pkg-config --cflags --libs rocesim-results) -o own_program
cat >own.yaml <<'END'
topology: {star: {hosts: 4}}
nic: {congestion-control: backoff, backoff: {factor: 0.5}}
traffic: [incast: {senders: 3, bytes: 10MB, to: host0}]
END
half=$(./own_program own.yaml)
most=$(./own_program own.yaml nic.backoff.factor=0.95)
case "$half" in *slowdown:\ [1-9]*) ;; *) echo "own_program: $half" && exit 1 ;; esac
[ "$half" != "$most" ] || { echo "own_program: its attribute does nothing: $half" && exit 1; }
if ./own_program own.yaml nic.backoff.factor=2 >refused; then
    echo "own_program: a value out of range is accepted" && exit 1
fi
grep -q "nic.backoff.factor: 2 is out of range" refused || { cat refused && exit 1; }

# A plug-in compiles against the installed headers, which is all that it finds here.
mkdir plugin
cp "$root/examples/plugins/halve.c" "$root/examples/plugins/parts.c" plugin/
for part in congestion-control=halve transport=twice; do
    XDG_CACHE_HOME="$scratch/cache" root/bin/rocesim run own.yaml --set "nic={${part/=/: }}" \
        --plugin plugin/halve.c --plugin plugin/parts.c >plugin.log 2>&1 || { cat plugin.log && exit 1; }
done
grep -q "$scratch/root.*include/rocesim" "$scratch"/cache/rocesim/plugins/*.inputs ||
    { echo "a plug-in is compiled with other headers than the installed ones" && exit 1; }

# find_package.
mkdir cmake-project
cat >cmake-project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(mine C)
find_package(rocesim REQUIRED)
add_executable(mine "$root/examples/own_program.c")
target_compile_definitions(mine PRIVATE _DEFAULT_SOURCE)
target_link_libraries(mine rocesim::rocesim_results)
END
cmake -S cmake-project -B cmake-build -DCMAKE_PREFIX_PATH="$scratch/root" >cmake.log 2>&1 ||
    { cat cmake.log && exit 1; }
cmake --build cmake-build >cmake.log 2>&1 || { cat cmake.log && exit 1; }
[ "$(cmake-build/mine)" = "$(./own_program)" ] || { echo "find_package: another result" && exit 1; }

# Two hosts on a cable, built and run from C++; a table grown by the macro for growing.
cat >program.cc <<'END'
#include <cstdio>

#include "net/port.h"
#include "nic/host.h"
#include "pcap-out/capture.h"
#include "topologies/topology.h"

int main()
{
    sim_options_t options = {};
    options.threads = 1;
    options.until_ps = SIM_PS_PER_MS;
    sim_t *const sim = sim_create(&options);
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_t *const net = net_create(sim, &net_config);
    nic_config_t nic_config;
    nic_config_init(&nic_config);
    net_node_t **nodes = nullptr;
    size_t count = 0;
    size_t capacity = 0;
    const char *const names[] = {"a", "b"};
    for (const char *const name : names) {
        SIM_GROW(nodes, count, &capacity);
        nodes[count++] = nic_host_create(net, name, &nic_config);
    }
    nic_config_fini(&nic_config);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = 100000000000;
    link.delay_ps = SIM_PS_PER_US;
    net_link_add(net, nodes[0], nodes[1], &link);
    sim_message_t message;
    SIM_CHECKF(net_build(net, &message) == SIM_OK, "%s", message.text);
    net_path_t path;
    SIM_CHECK(net_path_of(net, 0, 1, 0, &path) && path.delay_ps == SIM_PS_PER_US);
    SIM_CHECK(sim_run(sim) == SIM_ENDED_DONE && topo_find("star") != nullptr);
    sim_free(nodes);
    sim_destroy(sim);
    net_destroy(net);
    std::puts("C++: built and run");
    return 0;
}
END
if command -v g++ >/dev/null; then
    sources cc
    for file in cc/*; do
        # shellcheck disable=SC2046 # a list of flags
        g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only "$file" $(pkg-config --cflags rocesim-results)
    done
    # shellcheck disable=SC2046 # a list of flags
    g++ -std=c++17 -Wall -Wextra -Werror program.cc $(pkg-config --cflags --libs rocesim) -o program
    ./program
else
    echo "skip: no g++, nothing is known of programs in C++"
fi
