"""A fuzz target: its body, a plain test over its corpus, and a program for libFuzzer."""

def fuzz_target(name, deps, mutations = 2000, data = []):
    """NAME_fuzz.cc defines FuzzOne of target.h; NAME_corpus/ holds inputs.

    NAME_replay_test runs everywhere. NAME_fuzzer needs clang: bazel run --config=fuzz
    //tests/fuzz:NAME_fuzzer -- tests/fuzz/NAME_corpus (see tests/fuzz/README.md).

    Args:
      name: what the bytes are
      deps: of NAME_fuzz.cc
      mutations: how many mutations the plain test tries
      data: what the body reads at run time
    """
    native.cc_library(
        name = name + "_fuzz",
        testonly = True,
        srcs = [name + "_fuzz.cc"],
        data = data,
        deps = deps + [":target"],
    )
    corpus = native.glob([name + "_corpus/**"])
    native.cc_test(
        name = name + "_replay_test",
        size = "medium",
        srcs = ["replay_test.cc"],
        args = [
            "tests/fuzz/" + name + "_corpus",
            str(mutations),
        ],
        data = corpus,
        deps = [
            ":mutator",
            ":target",
            ":" + name + "_fuzz",
            "//tools/bazel/deps:gtest",
        ],
    )
    native.cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        srcs = ["fuzz_main.cc"],
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = [
            ":target",
            ":" + name + "_fuzz",
        ],
    )
