"""The soak test against an engine."""

def soak_tests(name, worker_args, data = [], extra_args = [], short_seconds = 10):
    """NAME_short_test for CI, and NAME_soak_test of ten minutes, tagged stress.

    `worker_args` are words for the worker, `extra_args` for run_soak.sh; several in one string are split
    at spaces.
    """
    worker = "tools/worker/superfluid_worker --log-level warn " + " ".join(worker_args)
    confined = worker + " --sandbox cpu"  # each engine does with what SECURITY.md leaves it
    files = [":soak", "//tools:superfluid_worker"] + data
    native.sh_test(
        name = name + "_short_test",
        size = "medium",
        srcs = ["run_soak.sh"],
        args = [str(short_seconds), "'%s'" % confined] + extra_args + ["--link-seconds 2"],
        data = files,
    )
    native.sh_test(
        name = name + "_soak_test",
        size = "enormous",
        timeout = "eternal",
        srcs = ["run_soak.sh"],
        args = ["600", "'%s'" % worker] + extra_args + ["--most-growth-mib 1024"],
        data = files,
        tags = [
            "exclusive",
            "stress",
        ],
    )
