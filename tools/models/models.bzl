"""Rules that write test models with the scripts of this folder."""

_SHARED = [
    "gguf.py",
    "llama_vocab.py",
    "mel.py",
    "weights.py",
    "whisper_vocab.py",
]

def generated_model(name, script, options = ""):
    """The file `name`, written by `script` with `options`."""
    native.genrule(
        name = name.replace(".", "_"),
        srcs = [script] + _SHARED,
        outs = [name],
        cmd = "/usr/bin/python3 -B $(location %s) $@ %s" % (script, options),
        visibility = ["//visibility:public"],
    )

def broken_models(model, prefix, suffix, kinds):
    """The files PREFIX_KIND.SUFFIX: damaged copies of `model`. See break_model.py for the kinds."""
    for kind in kinds:
        out = "%s_%s.%s" % (prefix, kind.replace("-", "_"), suffix)
        native.genrule(
            name = out.replace(".", "_"),
            srcs = ["break_model.py", model],
            outs = [out],
            cmd = "/usr/bin/python3 -B $(location break_model.py) --kind %s $(location %s) $@" %
                  (kind, model),
            visibility = ["//visibility:public"],
        )
