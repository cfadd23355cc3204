#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# tests/test_packages.sh - the Debian packages work on an empty Debian 12.
#
# Goal: lintian finds no error; the packages install with what they depend on, in an empty system. There, the
# first page's scenario, the guides, an example, a session, the Python package and its notebooks run.
# Method: debootstrap makes the system in a folder, chroot enters it. Without root or a mirror of Debian, the
# test is skipped. TEST_CHROOT=FOLDER uses a system that debootstrap has made before.
set -u
. tests/script.sh
. tests/pages.sh
skip() {
    echo "skip: $1"
    exit 77
}
grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$BUILD_DIRECTORY/CMakeCache.txt" || skip "no release build"
grep -q '^CMAKE_C_COMPILER:.*gcc$' "$BUILD_DIRECTORY/CMakeCache.txt" || skip "not built by gcc"
[ "$(id -u)" = 0 ] || skip "not root"
command -v debootstrap >/dev/null || skip "no debootstrap"
command -v lintian >/dev/null || skip "no lintian"
mirror=http://deb.debian.org/debian
root=${TEST_CHROOT:-$work/root}
if [ ! -e "$root/etc/debian_version" ]; then
    debootstrap --variant=minbase bookworm "$root" $mirror >"$work/log" 2>&1 ||
        skip "debootstrap: $(tail -n 1 "$work/log")"
fi

tools/deb "$work/deb" >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }
lintian --fail-on error "$work"/deb/*.deb >"$work/log" 2>&1 || fail "lintian: $(grep '^E:' "$work/log")"
[ "$(ls "$work"/deb/*.deb | wc -l)" = 6 ] || fail "packages: $(ls "$work/deb")"

cp /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root/try" && mkdir "$root/try" && cp "$work"/deb/*.deb "$root/try"
mount -t proc proc "$root/proc" || skip "/proc cannot be mounted"
trap 'umount "$root/proc"; rm -rf "$work"' EXIT
inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/try LANG=C.UTF-8 MPLBACKEND=agg \
        bash -eu -c "cd /try; $1" >"$work/log" 2>&1 || fail "$1: $(tail -n 15 "$work/log")"
}
inside 'apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ./*.deb \
            gcc libc6-dev pkg-config python3-pandas python3-matplotlib jupyter-nbconvert python3-ipykernel \
            python3-venv python3-pip python3-setuptools python3-wheel'

# The first page's scenario, with its commands.
awk '/^## Write a scenario/ { on = 1 } on && /^```yaml/ { copy = 1; next } copy && /^```/ { exit } copy' \
    docs/getting-started.md >"$root/try/incast.yaml"
awk '/^## Check and run it/ { on = 1; next }
     /^## / { on = 0 }
     on && /^    rocesim (check|run)/ { sub(/^ */, ""); print }' docs/getting-started.md >"$root/try/commands"
[ "$(wc -l <"$root/try/commands")" = 3 ] || fail "the first page's commands: $(cat "$root/try/commands")"
inside 'set -x; source commands; test -s out/dcqcn/flows.csv'

# The guides, as a stranger would follow them; what is not installed there is left out.
for guide in docs/guides/*.md; do
    blocks=$root/try/$(basename "$guide" .md)
    mkdir -p "$blocks"
    split_page "$guide" "$blocks"
    for file in "$blocks"/*.file:*; do
        [ ! -e "$file" ] || cp "$file" "$root/try/${file##*.file:}"
    done
    for block in "$blocks"/*.sh; do
        [ ! -e "${block%.sh}.how" ] || continue
        cp -rn "$root/usr/share/doc/rocesim/examples" "$root/try/" 2>/dev/null || true
        grep -vE '^(tshark|rocesim plot|scenarios/) ?' "$block" >"$root/try/block" || continue
        inside 'source ./block'
    done
done
inside 'rocesim list | grep -q training/gpt; rocesim new training/ring mine.yaml; rocesim run mine.yaml'

inside 'zcat /usr/share/man/man1/rocesim-run.1.gz | grep -q SYNOPSIS
        source /usr/share/bash-completion/completions/rocesim'
inside 'flags=$(pkg-config --cflags --libs rocesim-results)
        cc /usr/share/doc/rocesim/examples/verbs_pingpong.c $flags -o example; ./example'
cat >"$root/try/session.c" <<'EOF'
#include <rocesim_session.h>
#include <stdio.h>
int main(void)
{
    rocesim_session_t *session = rocesim_session_open("incast.yaml", NULL);
    if (session == NULL || rocesim_session_error(session)[0] != '\0') {
        return 1;
    }
    rocesim_session_close(session);
    return 0;
}
EOF
inside 'cc session.c $(pkg-config --cflags --libs rocesim-session) -o session; ./session'
inside 'python3 -c "
import rocesim
result = rocesim.load(\"out/dcqcn\")
print(result.flows[\"fct_ns\"].describe(), rocesim.version())"'
inside 'for notebook in /usr/share/doc/rocesim/notebooks/*.ipynb; do
            jupyter nbconvert --to notebook --execute --output-dir . "$notebook"
        done'
cp -r python "$root/try/source" # with pip, from the source, as docs/python.md says
inside 'python3 -m venv --system-site-packages venv
        venv/bin/pip install -q --no-build-isolation --no-index ./source
        venv/bin/python -c "import rocesim; assert \"venv\" in rocesim.__file__, rocesim.__file__"'
inside '/usr/libexec/rocesim/rocesim-studio --help >/dev/null; test -s /usr/share/rocesim/studio/index.html'
inside 'apt-get remove -y -qq rocesim librocesim0; test ! -e /usr/bin/rocesim'
exit $((failures > 0))
