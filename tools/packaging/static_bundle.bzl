"""What others link with and include: one archive of several of our libraries, and their headers."""

def _archives(deps):
    """The archives of the libraries and of all that they need, each once."""
    found = []
    for dep in deps:
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in linker_input.libraries:
                archive = library.pic_static_library or library.static_library
                if archive != None and archive not in found:
                    found.append(archive)
    return found

def _static_bundle_impl(ctx):
    archive = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    archives = _archives(ctx.attr.deps)
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    ctx.actions.write(script, "\n".join(
        ["create " + archive.path] + ["addlib " + member.path for member in archives] +
        ["save", "end", ""],
    ))
    ctx.actions.run_shell(
        inputs = archives + [script],
        outputs = [archive],
        command = "ar -M < " + script.path,
        mnemonic = "BundleArchives",
    )
    headers = ctx.actions.declare_directory(ctx.label.name + "_headers")
    known = depset(transitive = [
        dep[CcInfo].compilation_context.headers
        for dep in ctx.attr.deps
    ])
    arguments = ctx.actions.args()
    arguments.add(headers.path)
    arguments.add_all(ctx.attr.public, format_each = "--root=%s")
    arguments.add_all(known)
    arguments.use_param_file("@%s", use_always = True)
    arguments.set_param_file_format("multiline")
    ctx.actions.run(
        inputs = depset([ctx.file._closure], transitive = [known]),
        outputs = [headers],
        executable = "/usr/bin/python3",
        arguments = ["-B", ctx.file._closure.path, arguments],
        mnemonic = "BundleHeaders",
    )
    return [DefaultInfo(
        files = depset([archive, headers]),
        runfiles = ctx.runfiles(files = [archive, headers]),
    )]

static_bundle = rule(
    implementation = _static_bundle_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "the libraries; what they need of ours comes with them",
            providers = [CcInfo],
        ),
        "public": attr.string_list(
            doc = "the headers that users include, from the repository's root; what these include comes with them",
        ),
        "_closure": attr.label(
            default = "//tools/packaging:header_closure.py",
            allow_single_file = True,
        ),
    },
    doc = "Makes lib<name>.a and the folder <name>_headers.",
)
