#!/usr/bin/env bash
# Runs the conformance suite against the worker, for Bazel: run_suite.sh NAME WORKER_ARGUMENT...
# The report goes to where Bazel wants it, so that tools/support_table finds it in the test logs.
# $ADAPTER, if set: a file that the engine takes as an adapter.

set -euo pipefail

name=$1
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
adapter=()
if [[ -n "${ADAPTER:-}" ]]; then
  cp "$ADAPTER" "$folder/adapter"
  adapter=(--adapter "$folder/adapter")
fi
tests/conformance/conformance --text --name "$name" --junit "${XML_OUTPUT_FILE:-/dev/null}" \
  --folder "$folder" --rooted "${adapter[@]}" --worker "tools/worker/superfluid_worker --log-level warn \
    --media-root $folder --model-root $folder $*"
