"""Man pages and completions, made of what a program prints for --help."""

_TOOLS = [
    "//tools/packaging:cli_help.py",
    "//tools/packaging:completions.py",
    "//tools/packaging:man_page.py",
]

def help_pages(name, program, summary, text, commands = [], names_itself = "", testonly = False):
    """Makes PROGRAM.1, PROGRAM.bash, PROGRAM.zsh and PROGRAM.fish.

    Args:
      name: PROGRAM_pages.
      program: the target that is asked for its --help.
      summary: what the program does, for the page's first line.
      text: a file with the parts of the page that --help has not.
      commands: of the program, each with a --help of its own.
      names_itself: what the program calls itself in --help, if that is not PROGRAM.
      testonly: as in every rule.
    """
    page = name[:-len("_pages")]
    folder = "$(RULEDIR)/%s_help" % page
    lines = ["set -e", "mkdir -p " + folder]
    for command in [""] + commands:
        lines.append("$(execpath %s) %s --help | sed 's/\\b%s \\[/%s [/' > %s/%s" % (
            program,
            command,
            names_itself or page,
            page,
            folder,
            command or page,
        ))
    lines += [
        "version=$$(sed -n 's/.*kSuperfluidVersion\\[\\] = \"\\(.*\\)\".*/\\1/p' $(execpath //tools:version.h))",
        "python3 -B $(execpath //tools/packaging:man_page.py) %s 1 $$version '%s' --help-text %s/%s --text $(execpath %s) %s > $(RULEDIR)/%s.1" % (
            page,
            summary,
            folder,
            page,
            text,
            " ".join(["--command %s=%s/%s" % (command, folder, command) for command in commands]),
            page,
        ),
    ]
    for shell in ["bash", "zsh", "fish"]:
        lines.append("python3 -B $(execpath //tools/packaging:completions.py) %s %s %s/%s %s > $(RULEDIR)/%s.%s" % (
            shell,
            page,
            folder,
            page,
            " ".join(["%s=%s/%s" % (command, folder, command) for command in commands]),
            page,
            shell,
        ))
    native.genrule(
        name = name,
        srcs = [program, text, "//tools:version.h"] + _TOOLS,
        outs = [page + suffix for suffix in [".1", ".bash", ".zsh", ".fish"]],
        cmd = "\n".join(lines),
        testonly = testonly,
    )
