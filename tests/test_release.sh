#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# tests/test_release.sh - two builds of a release are the same bytes, and its files work.
#
# Goal: `tools/release` in two folders makes equal files; apt accepts the repository; the wheel works in an
# empty environment of Python without the source tree; the source archive builds its list of files; the SBOM
# names every file; the image's description names files that are there.
# Method: two clones and cmp; apt with folders of its own; venv. TEST_RELEASE=FOLDER looks at a release that
# was made before and builds nothing, in seconds. TEST_RELEASE_TWIN=FOLDER is a second one to compare with.
# What it does not pin: the image itself where neither buildah nor podman is, and signatures.
# Rerun: tests/test_release.sh with ROCESIM and BUILD_DIRECTORY set, or
# ctest --test-dir build/release -R '^test_release$' --output-on-failure
set -u
. tests/script.sh
command -v dpkg-scanpackages >/dev/null || { echo "skip: no dpkg-dev"; exit 77; }
command -v cpack >/dev/null || { echo "skip: no cpack"; exit 77; }
root=$PWD
one=${TEST_RELEASE:-$work/one.dist}
two=${TEST_RELEASE_TWIN:-$work/two.dist}
if [ -z "${TEST_RELEASE:-}" ]; then
    for twin in one two; do
        git clone -q "$root" "$work/$twin" || exit 1
        (cd "$work/$twin" && tools/release --without-studio "$work/$twin.dist") >"$work/log" 2>&1 ||
            { tail -n 20 "$work/log"; exit 1; }
    done
fi

# -- the same bytes
if [ -d "$two" ]; then
    (cd "$one" && find . -type f ! -name '*.gpg' ! -name InRelease | sort) >"$work/files"
    while read -r file; do
        cmp "$one/$file" "$two/$file" >"$work/said" 2>&1 || fail "two builds differ: $(cat "$work/said")"
    done <"$work/files"
fi
(cd "$one" && sha256sum --quiet -c SHA256SUMS) >"$work/said" 2>&1 || fail "SHA256SUMS: $(cat "$work/said")"

# -- the repository of packages, as apt reads it
mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
echo "deb [trusted=yes] file:$one/apt stable main" >"$work/apt/sources.list"
touch "$work/apt/status"
apt=(-o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$work/apt"
    -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=root
    -o APT::Architecture=amd64)
if command -v apt-get >/dev/null; then
    apt-get "${apt[@]}" update >"$work/said" 2>&1 || fail "apt cannot read it: $(cat "$work/said")"
    apt-cache "${apt[@]}" policy rocesim | grep -q 'Candidate: [0-9]' || fail "apt does not offer rocesim"
fi
dpkg-deb -c "$one"/apt/pool/rocesim_*.deb >"$work/list"
grep -q share/rocesim/scenarios/training/gpt.yaml "$work/list" ||
    fail "the package has no scenarios"

# -- the wheel, in an empty environment, away from the tree
if python3 -c 'import venv, ensurepip' 2>/dev/null; then
    wheel=$(ls "$one"/rocesim-*.whl)
    cd "$work" || exit 1
    python3 -m venv "$work/venv" >"$work/said" 2>&1 || fail "venv: $(cat "$work/said")"
    "$work/venv/bin/pip" install -q --no-index "$wheel" >"$work/said" 2>&1 || fail "pip: $(cat "$work/said")"
    clean=(env -i PATH="$work/venv/bin:/usr/bin:/bin" HOME="$work")
    "${clean[@]}" rocesim run training/ring -o "$work/ring" >"$work/said" 2>&1 ||
        fail "rocesim of the wheel: $(cat "$work/said")"
    "${clean[@]}" rocesim new training/ring "$work/mine.yaml" >"$work/said" 2>&1 ||
        fail "new: $(cat "$work/said")"
    "${clean[@]}" python -c '
import rocesim
assert rocesim.run("training/ring").value("ended") == "done"
assert rocesim.scenario("training/gpt").parameters["gpus"].default == "64"
assert rocesim.run("collective", set={"gpus": 16, "bytes": "1MiB"}).value("apps[0].ranks") == 16' \
        >"$work/said" 2>&1 || fail "Python of the wheel: $(cat "$work/said")"
    program=$(echo "$work"/venv/lib/python3*/site-packages/rocesim/bin/rocesim)
    "${clean[@]}" ldd "$program" >"$work/said"
    grep -E 'libjansson|libfyaml|libpcap' "$work/said" | grep -vq "$work/venv" &&
        fail "the wheel takes libraries of the system: $(cat "$work/said")"
    cd "$root" || exit 1
fi

# -- the other files
tar -tzf "$one"/rocesim-[0-9]*[0-9].tar.gz | sed 's,^[^/]*/,,' | grep -qx 'scenarios/quickstart.yaml' ||
    fail "the source archive has no scenarios"
python3 - "$one" <<'PYTHON' || fail "the SBOM"
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
document = json.loads(next(folder.glob("*.spdx.json")).read_text())
assert document["spdxVersion"] == "SPDX-2.3" and document["packages"][0]["name"] == "rocesim"
names = {file["fileName"] for file in document["files"]}
for path in folder.rglob("*.whl"):
    assert f"./{path.relative_to(folder)}" in names, path
ids = {document["SPDXID"]} | {part["SPDXID"] for part in document["packages"] + document["files"]}
for relation in document["relationships"]:
    assert relation["spdxElementId"] in ids and relation["relatedSpdxElement"] in ids, relation
PYTHON
for word in $(sed -n 's/^COPY \([^-].*\) [^ ]*$/\1/p' "$one/image/Containerfile"); do
    compgen -G "$one/image/$word" >/dev/null || fail "the image copies $word, which is not there"
done
exit $((failures > 0))
