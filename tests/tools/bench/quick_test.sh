#!/usr/bin/env bash
# bench --quick against the real worker and all peers: its output is whole. No figure is held against a limit.
set -euo pipefail

report="$TEST_TMPDIR/report.json"
plot="$TEST_TMPDIR/plot.svg"
table="$TEST_TMPDIR/table.txt"
tools/bench/bench --quick --json "$report" --plot "$plot" | tee "$table"

python3 - "$report" "$plot" "$table" <<'END'
import json, math, sys, xml.dom.minidom

report = json.load(open(sys.argv[1]))
table = open(sys.argv[3]).read()
placements = ["one core", "a core each", "unpinned"] if len(report["cpus"]) > 1 else ["one core"]
peers = ["raw", "classic loop", "gRPC unary", "gRPC streaming", "ZeroMQ"]
wanted = {(f"tick, {lanes} / {peer}", placement) for lanes in ("1 lane", "16 lanes", "64 lanes", "256 lanes")
          for peer in peers for placement in placements}
wanted |= {(name, placement) for placement in placements
           for name in ("PING / raw", "tick, 256 lanes / 1 lane", "tick by LinkClient, 1 lane / raw")}
wanted |= {(f"tick, {lanes}: {what}", "one core") for lanes in ("1 lane", "256 lanes")
           for what in ("worker's CPU", "sleeps of its threads")}
wanted |= {(name, "") for name in (
    "200 observers: refused", "200 observers: threads", "idle with 10 links: CPU of a core",
    "4000 requests with deadlines: more memory", "4000 requests with deadlines: more threads",
    "PING in steps of 20 ms / idle", "PING in steps and 16 MiB frames / idle",
    "cancel of 64 ticks, 256 streams: engine idle", "cancel of 64 ticks, 256 streams: p99")}
figures = {(f["name"], f["placement"]): f for f in report["figures"]}
problems = [f"no figure {name}" for name in sorted(wanted - figures.keys())]
for name, figure in figures.items():
    value = figure["value"]
    if not all(math.isfinite(v) for v in value.values()) or not value["p10"] <= value["median"] <= value["p90"]:
        problems.append(f"{name}: {value}")
    if name[0] not in table:
        problems.append(f"{name} is not in the table")
if [c["placement"] for c in report["controls"]] != placements:
    problems.append("a placement without its control")
if ("VOID" in table) != report["void"]:
    problems.append("the table and the report differ in whether the run is void")
drawn = xml.dom.minidom.parse(sys.argv[2]).getElementsByTagName("circle")
if len(drawn) != sum("target" in f for f in report["figures"]):
    problems.append("the picture has another number of rows than there are targets")
print("\n".join(problems))
sys.exit(1 if problems else 0)
END
