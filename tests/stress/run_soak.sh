#!/usr/bin/env bash
# Runs the soak test for Bazel: run_soak.sh SECONDS WORKER_COMMAND [--test-recordings] [OPTION...]
#
# SUPERFLUID_SOAK_SECONDS and SUPERFLUID_SOAK_SEED override the time and the seed. --test-recordings adds
# the recordings of SUPERFLUID_TEST_MODELS, where that is set.

set -euo pipefail

seconds=${SUPERFLUID_SOAK_SECONDS:-$1}
worker=$2
shift 2
options=(--seconds "$seconds" --seed "${SUPERFLUID_SOAK_SEED:-1}")
if [[ ${1:-} == --test-recordings ]]; then
  shift
  for recording in "${SUPERFLUID_TEST_MODELS:-/nowhere}"/*.wav; do
    if [[ -f $recording ]]; then options+=(--recording "$recording"); fi
  done
fi
exec tests/stress/soak "${options[@]}" "$@" --worker "$worker"
