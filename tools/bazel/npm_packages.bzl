"""Finds npm packages of tools/npm_packages.txt, which tools/test and tools/run have put into the cache."""

def npm_packages(ctx):
    """The folders of the packages in tools/npm_packages.txt, by name."""
    environment = ctx.os.environ
    cache = environment.get("XDG_CACHE_HOME", environment.get("HOME", "") + "/.cache")
    folders = {}
    for line in ctx.read(Label("//tools:npm_packages.txt")).splitlines():
        words = [word for word in line.split(" ") if word]
        if not words or words[0].startswith("#"):
            continue
        name, version = words[1].rsplit("@", 1)
        folder = name.lstrip("@").replace("/", "-") + "-" + version
        folders[name] = ctx.path(cache + "/superfluid/npm/" + folder)
    return folders

def _npm_folder_impl(ctx):
    folders = npm_packages(ctx)
    for name in ctx.attr.packages:
        if not folders[name].exists:
            fail("the npm package %s is not here: there is no %s. Run tools/test, which fetches it." %
                 (name, folders[name]))
        ctx.symlink(folders[name], "node_modules/" + name)
    ctx.file("BUILD.bazel", "\n".join([
        "filegroup(",
        "    name = \"packages\",",
        "    srcs = [%s]," % ", ".join(["\"node_modules/%s\"" % name for name in ctx.attr.packages]),
        "    visibility = [\"//visibility:public\"],",
        ")",
        "",
    ]))

npm_folder = repository_rule(
    implementation = _npm_folder_impl,
    attrs = {"packages": attr.string_list(doc = "their names")},
    environ = ["HOME", "XDG_CACHE_HOME"],
    local = True,
    doc = "A folder node_modules with these packages; the target `packages` is what is in it.",
)
