#!/usr/bin/env python3
"""Makes a man page, in roff, of what a program prints for --help, and of written text.

usage: man_page.py NAME SECTION VERSION SUMMARY [--help-text FILE] [--command NAME=FILE]... [--text FILE]

FILEs of --help-text and --command hold what --help prints. Written text, and the end of a --help, is
paragraphs; `Title:` alone on a line begins a section, indented lines stay as they are. Prints the page.
"""

import argparse
import re
import sys

import cli_help

TITLE = re.compile(r"^(\w[\w ]*):$")
LEFT_OUT = ("-h,--help", "--version")


def escape(text):
    """Text in which nothing is a macro or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha")
    text = text.replace("~", "\\(ti").replace("`", "\\(ga")
    return re.sub(r"^([.])", r"\\&\1", text, flags=re.MULTILINE)


def sections(text):
    """(title, lines) of each part; the first has no title."""
    parts = [("", [])]
    for line in text.split("\n"):
        found = TITLE.match(line)
        if found:
            parts.append((found[1], []))
        else:
            parts[-1][1].append(line)
    return [(title, lines) for title, lines in parts if any(line.strip() for line in lines)]


def body(lines):
    """Paragraphs, and what is indented as it stands."""
    out, verbatim = [], False
    for line in lines:
        indented = line.startswith("  ")
        if not line.strip():
            if verbatim:
                out.append("")
            elif out and out[-1] != ".PP":
                out.append(".PP")
            continue
        if indented and not verbatim:
            while out and out[-1] == ".PP":
                out.pop()
            out += [".PP", ".RS 2", ".nf"] if out else [".RS 2", ".nf"]
        if verbatim and not indented:
            while out[-1] == "":
                out.pop()
            out += [".fi", ".RE", ".PP"]
        verbatim = indented
        out.append(escape(line[2:] if indented else line))
    if verbatim:
        while out[-1] == "":
            out.pop()
        out += [".fi", ".RE"]
    while out and out[-1] == ".PP":
        out.pop()
    return out


def option_lines(option):
    names = ", ".join("\\fB%s\\fR" % escape(name) for name in option.names)
    value = "\\ \\fI%s\\fR" % option.value if option.value else ""
    text = option.text[:1].upper() + option.text[1:]
    if not text.endswith("."):
        text += "."
    if option.choices:
        text += " One of %s." % ", ".join(option.choices)
    if option.bounds:
        text += " From %s." % option.bounds.replace(" - ", " to ")
    if option.default:
        text += " Default: %s." % option.default
    if option.environment:
        text += " If it is not given: the value of $%s." % option.environment
    return [".TP", names + value, escape(text)]


def options_of(help_text):
    out = []
    for what, text in help_text.positionals:
        out += [".TP", "\\fI%s\\fR" % escape(what.split()[0]), escape(text + ("" if text.endswith(".") else "."))]
    for option in help_text.options:
        if ",".join(option.names) not in LEFT_OUT:
            out += option_lines(option)
    return out


def page(arguments):
    name = arguments.name
    out = ['.TH "%s" "%s" "" "superfluid %s" "Superfluid"' % (name.upper(), arguments.section, arguments.version),
           ".SH NAME", "%s \\- %s" % (escape(name), escape(arguments.summary))]
    written = ""
    if arguments.text:
        written = open(arguments.text, encoding="utf-8").read()
    parts = sections(written)
    if arguments.help_text:
        help_text = cli_help.parse(open(arguments.help_text, encoding="utf-8").read())
        usage = help_text.usage.split(" ", 1)
        out += [".SH SYNOPSIS", "\\fB%s\\fR %s" % (escape(usage[0]), escape(usage[1]))]
        parts = sections(help_text.footer) + parts
        lead = [lines for title, lines in parts if not title]
        out += [".SH DESCRIPTION", escape(help_text.summary)]
        for lines in lead:
            out += [".PP"] + body(lines)
        out += [".SH OPTIONS"] + options_of(help_text)
        out += [".TP", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "Show the options."]
        out += [".TP", "\\fB\\-\\-version\\fR", "Show the version."] if any(
            "--version" in option.names for option in help_text.options) else []
        parts = [(title, lines) for title, lines in parts if title]
    if arguments.command:
        out += [".SH COMMANDS"]
    for command in arguments.command:
        command_name, file = command.split("=", 1)
        help_text = cli_help.parse(open(file, encoding="utf-8").read())
        out += [".SS %s" % escape(help_text.usage.removeprefix(name + " ")), escape(help_text.summary + ".")]
        out += options_of(help_text)
        for title, lines in sections(help_text.footer):
            out += [".PP"] + (["\\fB%s:\\fR" % escape(title)] if title else []) + body(lines)
    for title, lines in parts:
        out += [".SH %s" % (title.upper() if title else "DESCRIPTION")] + body(lines)
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("name", "section", "version", "summary"):
        parser.add_argument(name)
    parser.add_argument("--help-text")
    parser.add_argument("--command", action="append", default=[])
    parser.add_argument("--text")
    sys.stdout.write(page(parser.parse_args()))


if __name__ == "__main__":
    main()
