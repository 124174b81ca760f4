"""Finds the libraries of the engines whisper and llama, which Debian 12 does not package.

Each is a repository with one target of its own name's form. A system installation that pkg-config knows is
preferred, because that is how somebody brings a build for a GPU; otherwise the npm packages of
tools/npm_packages.txt are used, which tools/test and tools/run have put into the cache.
See tools/decisions/0007-engine-libraries-from-npm.md.
"""

load("//tools/bazel:npm_packages.bzl", "npm_packages")

_ENVIRONMENT = ["HOME", "XDG_CACHE_HOME", "PKG_CONFIG_PATH"]

def _need(ctx, what, folder):
    if not folder.exists:
        fail(("%s is not here: there is no %s. Run tools/test or `tools/run superfluid_worker --engine " +
              "%s`, which fetch it, or install %s so that pkg-config finds it.") %
             (what, folder, ctx.attr.pkg_config_name, what))

def _pkg_config(ctx, what):
    """The words that pkg-config prints; None if it does not know the library."""
    command = ctx.which("pkg-config")
    if command == None or ctx.os.environ.get(ctx.attr.choice, "") in ["npm", "shared"]:
        return None
    result = ctx.execute([command, what, ctx.attr.pkg_config_name])
    if result.return_code != 0:
        if ctx.os.environ.get(ctx.attr.choice, "") == "system":
            fail("pkg-config does not know '%s': %s" % (ctx.attr.pkg_config_name, result.stderr))
        return None
    return [word for word in result.stdout.strip().split(" ") if word]

def _quoted(words):
    return "[" + ", ".join(["\"%s\"" % word for word in words]) + "]"

def _link_options(words):
    """A program finds the libraries where the linker found them."""
    return words + ["-Wl,-rpath," + word[2:] for word in words if word.startswith("-L")]

def _system_build(ctx, libs):
    """Text of the BUILD file's first part, for a system installation."""
    includes = []
    for word in _pkg_config(ctx, "--cflags-only-I") or []:
        folder = "include%d" % len(includes)
        ctx.symlink(word[2:], folder)
        includes.append(folder)
    return "\n".join([
        "LINKOPTS = " + _quoted(_link_options(libs)),
        "INCLUDES = " + _quoted(includes),
        "DEFINES = " + _quoted(ctx.attr.system_defines),
        "",
    ])

# whisper.cpp's own files of the package, which gives ggml's names a prefix; see _shared_ggml_build.
_WHISPER_FILES = ["whisper.cpp", "whisper.h", "whisper-arch.h"]
_PREFIXES = [("wsp_ggml", "ggml"), ("WSP_GGML", "GGML"), ("wsp_gguf", "gguf"), ("WSP_GGUF", "GGUF")]

def _shared_ggml_build(ctx, packages):
    """Text of the BUILD file's first part, for whisper.cpp on the ggml of llama's package.

    That one finds its backends when it runs: the CPU's variants, and CUDA where the package for it is.
    """
    package = packages["whisper.rn"]
    _need(ctx, "whisper.cpp", package)
    for name in _WHISPER_FILES:
        text = ctx.read(package.get_child("cpp").get_child(name))
        for old, new in _PREFIXES:
            text = text.replace(old, new)
        ctx.file("cpp/" + name, text)
    sources = packages["node-llama-cpp"].get_child("source")
    _need(ctx, "ggml's headers", sources)
    ctx.symlink(sources.get_child("ggml").get_child("include"), "include0")
    return "\n".join([
        "LINKOPTS = " + _quoted(_link_options(_shared_ggml_libraries(ctx, packages))),
        "INCLUDES = [\"cpp\", \"include0\"]",
        "DEFINES = " + _quoted(ctx.attr.system_defines),
        "",
    ])

def _shared_ggml_libraries(ctx, packages):
    package = packages["@node-llama-cpp/linux-x64"]
    _need(ctx, "ggml", package)
    folder = str(package.get_child("bins").get_child("linux-x64").realpath)
    return ["-L" + folder, "-l:libggml.v0.5.0.so", "-l:libggml-base.so"]

def _whisper_impl(ctx):
    libs = _pkg_config(ctx, "--libs")
    if libs != None:
        head = _system_build(ctx, libs)
    elif ctx.os.environ.get(ctx.attr.choice, "") == "shared":
        head = _shared_ggml_build(ctx, npm_packages(ctx))
    else:
        package = npm_packages(ctx)["whisper.rn"]
        _need(ctx, "whisper.cpp", package)
        ctx.symlink(package.get_child("cpp"), "cpp")
        head = "\n".join([
            "LINKOPTS = []",
            "INCLUDES = [\"cpp\"]",
            "DEFINES = []",
            "",
        ])
    ctx.file("BUILD.bazel", head + ctx.read(ctx.attr.build))

def _llama_impl(ctx):
    packages = npm_packages(ctx)
    sources = packages["node-llama-cpp"].get_child("source")
    _need(ctx, "llama.cpp's sources", sources)
    ctx.symlink(sources.get_child("tools").get_child("mtmd"), "mtmd")
    ctx.symlink(sources.get_child("vendor").get_child("stb"), "stb")
    mtmd_installed = False
    libs = _pkg_config(ctx, "--libs")
    if libs != None:
        head = _system_build(ctx, libs)
        mtmd_installed = any([
            ctx.path(word[2:]).get_child("mtmd.h").exists
            for word in _pkg_config(ctx, "--cflags-only-I") or []
        ])
    else:
        package = packages["@node-llama-cpp/linux-x64"]
        _need(ctx, "llama.cpp", package)
        libraries = str(package.get_child("bins").get_child("linux-x64").realpath)
        ctx.symlink(sources.get_child("include"), "include")
        ctx.symlink(sources.get_child("ggml").get_child("include"), "ggml_include")
        head = "\n".join([
            "LINKOPTS = " + _quoted(_link_options([
                "-L" + libraries,
                "-l:libllama.v0.5.0.so",
                "-l:libggml.v0.5.0.so",
                "-l:libggml-base.so",
            ])),
            "INCLUDES = [\"include\", \"ggml_include\"]",
            "DEFINES = []",
            "",
        ])
    head += "MTMD_INSTALLED = %s\n" % mtmd_installed
    ctx.file("BUILD.bazel", head + ctx.read(ctx.attr.build))

def _library_rule(implementation, choice, doc):
    return repository_rule(
        implementation = implementation,
        attrs = {
            "build": attr.label(doc = "the rest of the repository's BUILD file"),
            "choice": attr.string(default = choice),
            "pkg_config_name": attr.string(doc = "of a system installation"),
            "system_defines": attr.string_list(doc = "what tells the code that it is one"),
        },
        environ = _ENVIRONMENT + [choice],
        local = True,
        doc = doc,
    )

whisper_library = _library_rule(
    _whisper_impl,
    "SUPERFLUID_WHISPER",
    "whisper.cpp; $SUPERFLUID_WHISPER may be `npm`, `shared` (on the ggml of llama's package) or `system`.",
)

llama_library = _library_rule(
    _llama_impl,
    "SUPERFLUID_LLAMA",
    "llama.cpp; $SUPERFLUID_LLAMA may be `npm` or `system`.",
)
