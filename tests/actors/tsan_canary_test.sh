#!/usr/bin/env bash
# ThreadSanitizer sees a race between actors, and says nothing of what is right: the libraries that it was
# linked with are instrumented, and nothing is suppressed.
set -euo pipefail

canary=$1
unset TSAN_OPTIONS
export TSAN_OPTIONS="exitcode=66"

for right in handover lock; do
  "$canary" "$right" || { echo "a report about what is right ($right)" && exit 1; }
done
status=0
report="$("$canary" race 2>&1)" || status=$?
[[ $status == 66 && $report == *"WARNING: ThreadSanitizer: data race"* ]] ||
  { echo "the planted race was not reported: status $status" && exit 1; }
