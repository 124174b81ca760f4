# shellcheck shell=bash
# A worker of our own for as long as a script runs, and programs that get its signals. Needs common.sh.
#
# Both kinds of process run in sessions of their own: a Ctrl-C on the terminal reaches the script alone,
# which passes it on once. Both die with the script, even if that is killed.

WORKER_PID=
# shellcheck disable=SC2034 # for the script that sources this
WORKER_STATUS=
CLIENT_PID=

# Outside run_client a signal ends the script; its EXIT trap cleans up.
exit_on_signals() {
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# start_worker LOG COMMAND...: in the background.
start_worker() {
  local log=$1
  shift
  setsid setpriv --pdeathsig TERM env --default-signal=INT,TERM "$@" >"$log" 2>&1 </dev/null &
  WORKER_PID=$!
}

is_running() { [[ -n $1 ]] && kill -0 "$1" 2>/dev/null; }

readonly PROGRESS_SECONDS=10

# wait_until_ready COMMAND...: repeats COMMAND until it succeeds, for as long as the worker lives (a large model
# takes minutes), with a line of progress now and then. 1 if the worker ended before that.
wait_until_ready() {
  local began=$SECONDS told=$SECONDS
  until "$@" >/dev/null 2>&1; do
    is_running "$WORKER_PID" || return 1
    if ((SECONDS - told >= PROGRESS_SECONDS)); then
      told=$SECONDS
      say "the worker still loads its engine ($((SECONDS - began)) s; Ctrl-C ends it)"
    fi
    sleep 0.1
  done
}

# run_client COMMAND...: runs it in the foreground, so to speak: INT and TERM go on to it, HUP as TERM,
# and its exit status is the result (129 if it was HUP).
run_client() {
  local status signalled hung_up=0
  setsid setpriv --pdeathsig TERM env --default-signal=INT,TERM,HUP "$@" </dev/null &
  CLIENT_PID=$!
  trap 'signalled=1; kill -INT "$CLIENT_PID" 2>/dev/null || true' INT
  trap 'signalled=1; kill -TERM "$CLIENT_PID" 2>/dev/null || true' TERM
  trap 'signalled=1; hung_up=1; kill -TERM "$CLIENT_PID" 2>/dev/null || true' HUP
  while :; do
    signalled=0
    status=0
    wait "$CLIENT_PID" || status=$?
    # A signal ends `wait` early, with a status that says nothing of the client.
    ((signalled)) || break
  done
  exit_on_signals
  CLIENT_PID=
  ((!hung_up)) || status=129
  return "$status"
}

# end_process PID SECONDS: SIGTERM, then SIGKILL if it has not ended by then.
end_process() {
  local pid=$1 deadline=$((SECONDS + $2))
  kill -TERM "$pid" 2>/dev/null || return 0
  while is_running "$pid" && ((SECONDS < deadline)); do sleep 0.05; done
  if is_running "$pid"; then
    warn "process $pid did not end in $2 s; killing it"
    kill -KILL "$pid" 2>/dev/null || true
  fi
}

# stop_worker SECONDS: ends it (SIGTERM drains it) and keeps its status in WORKER_STATUS.
stop_worker() {
  [[ -n $WORKER_PID ]] || return 0
  end_process "$WORKER_PID" "$1"
  WORKER_STATUS=0
  # shellcheck disable=SC2034
  wait "$WORKER_PID" 2>/dev/null || WORKER_STATUS=$?
  WORKER_PID=
}

# For an EXIT trap.
stop_everything() {
  trap '' INT TERM HUP
  [[ -z $CLIENT_PID ]] || end_process "$CLIENT_PID" 2
  stop_worker 5
}
