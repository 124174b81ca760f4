#!/usr/bin/env python3
"""Makes the completions of a program for a shell of what it prints for --help.

usage: completions.py bash|zsh|fish NAME HELP [COMMAND=HELP]...

HELP: files with what --help prints; COMMANDs are the program's. Prints the completion.
"""

import pathlib
import sys

import cli_help

ENGINES = ("pocketsphinx", "sim", "whisper", "llama")


def words_for(option):
    """What may stand behind an option, where that is known; paths are completed anywhere else."""
    return option.choices or (ENGINES if option.long == "--engine" else ())


def names(options):
    return [name for option in options for name in option.names]


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash(program, top, commands):
    function = "_" + program
    values = [option for help_text in (top, *commands.values()) for option in help_text.options]
    cases, seen = [], set()
    for option in values:
        if words_for(option) and option.long not in seen:
            seen.add(option.long)
            cases.append('    %s) COMPREPLY=($(compgen -W "%s" -- "$word") $(compgen -f -- "$word")); return ;;'
                         % (option.long, " ".join(words_for(option)))
                         if option.long == "--engine" else
                         '    %s) COMPREPLY=($(compgen -W "%s" -- "$word")); return ;;'
                         % (option.long, " ".join(words_for(option))))
    takes = sorted({name for option in values if option.value for name in option.names})
    own = []
    for name, help_text in commands.items():
        own.append('      %s) words="$words %s"; break ;;' % (name, " ".join(names(help_text.options))))
    lines = ["# Completion of %s for bash; made from its --help." % program, "%s() {" % function,
             '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}',
             '  local words="%s" commands="%s" each=' % (" ".join(names(top.options)), " ".join(commands)),
             "  COMPREPLY=()", '  case $before in']
    lines += cases
    if takes:
        lines += ['    %s) COMPREPLY=($(compgen -f -- "$word")); return ;;' % "|".join(takes)]
    lines += ["  esac"]
    if commands:
        lines += ['  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do', "    case $each in", *own, "    esac",
                  '    each=', "  done",
                  '  [[ -n $each ]] && commands=""', '  words="$words $commands"']
    lines += ['  if [[ $word == -* || -n $commands ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); '
              'else COMPREPLY=($(compgen -f -- "$word")); fi', "}",
              "complete -o filenames -F %s %s" % (function, program), ""]
    return "\n".join(lines)


def zsh_option(option):
    text = option.text.replace("[", "(").replace("]", ")").replace(":", "\\:")
    value = ""
    if option.value:
        words = words_for(option)
        action = "(%s)" % " ".join(words) if option.choices else "_files"
        value = ":%s:%s" % (option.value.lower(), action)
    star = "*" if option.repeatable else ""
    return [quote("%s%s[%s]%s" % (star, name, text, value)) for name in option.names]


def zsh(program, top, commands):
    def arguments(options):
        return " \\\n    ".join(word for option in options for word in zsh_option(option))

    lines = ["#compdef %s" % program, "# Completion for zsh; made from --help.", "local context state line"]
    if not commands:
        return "\n".join(lines + ["_arguments \\\n    %s \\\n    '*:file:_files'" % arguments(top.options), ""])
    lines += ["_arguments -C \\\n    %s \\\n    '1:command:->command' '*::argument:->argument'"
              % arguments(top.options), "case $state in", "  command)", "    local -a commands=("]
    lines += ["      %s" % quote("%s:%s" % (name, help_text.summary)) for name, help_text in commands.items()]
    lines += ["    )", "    _describe command commands ;;", "  argument)", "    case $line[1] in"]
    for name, help_text in commands.items():
        lines += ["      %s) _arguments \\\n    %s \\\n    '*:file:_files' ;;" % (name, arguments(help_text.options))]
    return "\n".join(lines + ["    esac ;;", "esac", ""])


def fish_option(program, option, condition):
    out = "complete -c %s%s" % (program, condition)
    for name in option.names:
        out += " -l %s" % name[2:] if name.startswith("--") else " -s %s" % name[1:]
    if option.choices:
        out += " -x -a %s" % quote(" ".join(option.choices))
    elif option.value:
        out += " -r -F"
        if words_for(option):
            out += " -a %s" % quote(" ".join(words_for(option)))
    return out + " -d %s" % quote(option.text)


def fish(program, top, commands):
    lines = ["# Completion of %s for fish; made from its --help." % program]
    lines += [fish_option(program, option, "") for option in top.options]
    for name, help_text in commands.items():
        lines.append("complete -c %s -n __fish_use_subcommand -f -a %s -d %s"
                     % (program, name, quote(help_text.summary)))
        condition = " -n %s" % quote("__fish_seen_subcommand_from " + name)
        lines += [fish_option(program, option, condition) for option in help_text.options]
    return "\n".join(lines + [""])


def main(arguments):
    if len(arguments) < 3 or arguments[0] not in ("bash", "zsh", "fish"):
        sys.exit(__doc__)
    shell, program, top, *commands = arguments

    def read(file):
        return cli_help.parse(pathlib.Path(file).read_text(encoding="utf-8"))

    pairs = [command.split("=", 1) for command in commands]
    sys.stdout.write(globals()[shell](program, read(top), {name: read(file) for name, file in pairs}))


if __name__ == "__main__":
    main(sys.argv[1:])
