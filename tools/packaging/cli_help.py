"""Reads what our programs print for --help, which CLI11 lays out: the one table of their options.

Man pages and completions are made of it, so that they say what the programs say.
"""

import dataclasses
import re

NAMES_UNTIL = 30  # the column at which explanations begin
GROUP = re.compile(r"^(\w[\w ]*):$")
OPTION = re.compile(r"^  (-[\w,-]+)(?: (.*))?$")
# Words between an option's names and its explanation that say when it may be given.
CONDITIONS = re.compile(r" ?\b(Excludes|Needs): (?:--[\w-]+ ?)+")


@dataclasses.dataclass
class Option:
    names: list            # "-h", "--help"
    value: str = ""        # "TEXT"; empty: it takes none
    default: str = ""
    bounds: str = ""       # "0 to 1023", "0 - 1"
    choices: tuple = ()    # of a value
    environment: str = ""  # the variable that gives the value
    repeatable: bool = False
    text: str = ""

    @property
    def long(self):
        return next((name for name in self.names if name.startswith("--")), self.names[0])


@dataclasses.dataclass
class Help:
    summary: str = ""
    usage: str = ""
    positionals: list = dataclasses.field(default_factory=list)  # (what, text)
    groups: list = dataclasses.field(default_factory=list)       # (title, options)
    commands: list = dataclasses.field(default_factory=list)     # (name, text)
    footer: str = ""

    @property
    def options(self):
        return [option for _, options in self.groups for option in options]


def parse_option(names, details, text):
    """`details`: what stands between names and explanation, such as `TEXT:a|b=a Needs: --live`."""
    option = Option(names.split(","), text=text)
    details = CONDITIONS.sub("", details).strip()
    found = re.search(r"\(Env:(\w+)\)", details)
    if found:
        option.environment = found[1]
        details = details.replace(found[0], "").strip()
    if details.endswith(" ..."):
        option.repeatable, details = True, details[:-4]
    found = re.match(r"([A-Z]+)(?::([^=]*))?(?:=(.*))?$", details)
    if not found:
        return option
    option.value, bounds, option.default = found[1], found[2] or "", (found[3] or "").strip("[]")
    if "|" in bounds:
        option.choices = tuple(bounds.split("|"))
    else:
        option.bounds = re.sub(r"^[A-Z]+ in \[(.*)\]$", r"\1", bounds)
    return option


def columns(lines):
    """(what stands in the first column, explanation) of each entry of a group."""
    entries = []
    for line in lines:
        if line.startswith(" " * NAMES_UNTIL):
            entries[-1][1] = (entries[-1][1] + " " + line.strip()).strip()
        elif len(line) > NAMES_UNTIL and line[NAMES_UNTIL - 1] == " " and "  " in line.strip():
            entries.append([line[:NAMES_UNTIL].rstrip(), line[NAMES_UNTIL:].strip()])
        else:
            entries.append([line.rstrip(), ""])
    return entries


def add_group(help_text, title, lines):
    entries = columns(lines)
    if title == "Positionals":
        help_text.positionals = [(names.strip(), text) for names, text in entries]
    elif title == "Subcommands":
        help_text.commands = [(names.strip(), text) for names, text in entries]
    else:
        options = [(OPTION.match(names), text) for names, text in entries]
        help_text.groups.append((title, [parse_option(found[1], found[2] or "", text)
                                         for found, text in options]))


def parse(text):
    lines = text.rstrip("\n").split("\n")
    result, at = Help(), 0
    while at < len(lines):
        line = lines[at]
        begin = at + 1
        at = begin
        title = GROUP.match(line)
        if title and title[1] != "Examples" and begin < len(lines) and lines[begin].startswith("  "):
            dashed = lines[begin].startswith("  -")
            if dashed or title[1] in ("Positionals", "Subcommands"):
                while at < len(lines) and lines[at].startswith("  "):
                    at += 1
                add_group(result, title[1], lines[begin:at])
                continue
        if line.startswith("Usage: "):
            result.usage = line[len("Usage: "):]
        elif line and not result.usage:
            result.summary = (result.summary + " " + line).strip()
        elif line and result.usage:
            result.footer = "\n".join(lines[begin - 1:]).strip("\n")
            break
    return result
