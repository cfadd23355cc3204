#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# echoes - the rate of 32-byte echoes by the verbs of request and answer (figure 5, Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
for verbs in send-send write-uc-write-uc write-uc-send; do
    case $verbs in
    send-send) request=send answer=send ;;
    write-uc-send) request=write-uc answer=send ;;
    *) request=write-uc answer=write-uc ;;
    esac
    herd "$verbs" system=echo "request=$request" "answer=$answer"
    measure "$verbs" "$(mops "$verbs")"
    # The plain variants use reliable connections, signal every request and have no payload in the
    # WQE.
    request=${request/uc/rc} answer=${answer/uc/rc}
    herd "plain-$verbs" system=echo "request=${request/send/send-rc}" "answer=${answer/send/send-rc}" \
        signal_all=on inline_max=0
    measure "$verbs not optimised" "$(mops "plain-$verbs")"
    expect "$verbs: optimisations pay" "$(mops "$verbs")" ">" "$(mops "plain-$verbs")"
done
expect "WRITE/SEND above SEND/SEND" "$(mops write-uc-send)" ">" "$(mops send-send)"
report
