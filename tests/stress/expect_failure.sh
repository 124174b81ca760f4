#!/usr/bin/env bash
# expect_failure.sh FAULT VALUE: the soak test fails with a worker whose sim engine has the fault.

set -euo pipefail

status=0
said="$(tests/stress/soak --seconds 30 --link-seconds 2 --worker "tools/worker/superfluid_worker \
  --log-level warn --engine sim --engine-option segments=4 --engine-option step_us=500 \
  --engine-option op_us=1000 --engine-option $1=$2" 2>&1)" || status=$?
printf '%s\n' "$said"
[[ $status == 1 && $said == *FAILED:* ]]
