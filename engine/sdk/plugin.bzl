"""Builds engines as plug-ins: shared libraries behind the C interface of engine/abi.

For this workspace and for others: a Label means the same target wherever the rule is used.
"""

_EXPORTS = Label("//engine/sdk:exports.lds")
_INTERFACE = Label("//engine/abi:superfluid_engine")
_SDK = Label("//engine/sdk:plugin")

def _full_name(label):
    """What names the target in every repository: `@//` is the one that is built in."""
    if type(label) != "Label":
        return label
    return "@%s//%s:%s" % (label.workspace_name, label.package, label.name)

def superfluid_engine_plugin(
        name,
        factory,
        header,
        deps,
        visibility = ["//visibility:public"],
        testonly = False,
        **kwargs):
    """Makes libsuperfluid_<name>.so out of a C++ engine.

    Args:
      name: the engine's name, as given to --engine.
      factory: the qualified name of a function
        absl::StatusOr<std::unique_ptr<superfluid::Engine>>(const superfluid::EngineConfig&).
      header: the header that declares it, from the repository's root.
      deps: the targets that define it; they must be linkable into a shared library.
      visibility: of the library, which others use as `data`.
      testonly: as in every rule.
      **kwargs: passed to superfluid_c_plugin.
    """
    native.genrule(
        name = name + "_plugin_source",
        outs = [name + "_plugin.cc"],
        cmd = "\n".join([
            "cat > $@ <<'END'",
            "#include \"%s\"" % header,
            "#include \"engine/sdk/plugin.h\"",
            "",
            "SUPERFLUID_ENGINE_PLUGIN(%s)" % factory,
            "END",
        ]),
        testonly = testonly,
    )
    superfluid_c_plugin(
        name = name,
        srcs = [name + "_plugin.cc"],
        deps = deps + [_SDK],
        visibility = visibility,
        testonly = testonly,
        **kwargs
    )

def superfluid_c_plugin(
        name,
        srcs,
        deps = [],
        linkopts = [],
        exports = _EXPORTS,
        visibility = None,
        **kwargs):
    """Makes libsuperfluid_<name>.so out of sources that define superfluid_engine_entry themselves.

    Args:
      name: the engine's name.
      srcs: C or C++ sources.
      deps: as in cc_binary; the interface's header is added.
      linkopts: as in cc_binary; those for a plug-in are added.
      exports: the version script that says which symbols others see.
      visibility: as in every rule.
      **kwargs: passed to cc_binary.
    """
    native.cc_binary(
        name = "libsuperfluid_%s.so" % name,
        srcs = srcs,
        linkshared = True,
        linkopts = linkopts + [
            "-Wl,--version-script=$(location %s)" % _full_name(exports),
            "-Wl,-z,defs",
        ],
        deps = deps + [
            exports,
            _INTERFACE,
        ],
        visibility = visibility,
        **kwargs
    )
