#!/usr/bin/env bash
# Runs the conformance suite against the worker, for Bazel: run_suite.sh NAME WORKER_ARGUMENT...
# The report goes to where Bazel wants it, so that tools/support_table finds it in the test logs.
# $ADAPTER and $MEDIA, if set: files that the engine takes as an adapter, and as media.

set -euo pipefail

name=$1
shift
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
files=()
if [[ -n "${ADAPTER:-}" ]]; then
  cp "$ADAPTER" "$folder/adapter"
  files+=(--adapter "$folder/adapter")
fi
if [[ -n "${MEDIA:-}" ]]; then
  cp "$MEDIA" "$folder/media"
  files+=(--media "$folder/media")
fi
tests/conformance/conformance --text --name "$name" --junit "${XML_OUTPUT_FILE:-/dev/null}" \
  --folder "$folder" --rooted "${files[@]}" --worker "tools/worker/superfluid_worker --log-level warn \
    --media-root $folder --model-root $folder $*"
