"""Holds the texts of a corpus against its schemas with python3-jsonschema.

usage: check_corpus.py LEAST_SCHEMAS LEAST_TEXTS < what corpus_texts prints

Every drawn text, and every changed one that the grammar took, must be JSON that the schema allows.
Prints what is not, and a count; exits with 1 if there is any, or if there was too little to check.
"""

import datetime
import decimal
import json
import re
import sys

import jsonschema

TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[-+]([01]\d|2[0-3]):[0-5]\d)")
FORMATS = jsonschema.FormatChecker(formats=("date", "ipv4", "email", "uuid"))


@FORMATS.checks("time")
def is_time(text):
    return not isinstance(text, str) or TIME.fullmatch(text) is not None


@FORMATS.checks("date-time", raises=ValueError)
def is_date_time(text):
    if not isinstance(text, str):
        return True
    day, separator, time = text.partition("T")
    datetime.date.fromisoformat(day)
    return separator == "T" and is_time(time)


def refuse_constant(name):
    raise ValueError(name)


def parse(text):
    """Parses strictly, with numbers as they are written."""
    return json.loads(text, parse_float=decimal.Decimal, parse_constant=refuse_constant)


def fault(validator, text):
    """Says what is wrong with a text; an empty text if nothing is."""
    try:
        error = next(validator.iter_errors(parse(text)), None)
    except (ValueError, RecursionError, decimal.InvalidOperation) as problem:
        return f"{type(problem).__name__}: {problem}"
    return "" if error is None else error.message


def main(least_schemas, least_texts):
    schemas = texts = taken = refused = bad = narrower = 0
    for line in sys.stdin:
        entry = json.loads(line)
        validator = jsonschema.Draft202012Validator(parse(json.dumps(entry["schema"])),
                                                    format_checker=FORMATS)
        schemas += 1
        texts += len(entry["drawn"])
        if len(entry["drawn"]) < least_texts:
            bad += 1
            print(f"{entry['name']}: only {len(entry['drawn'])} texts")
        for kind in ("drawn", "taken"):
            for text in set(entry[kind]):
                problem = fault(validator, text)
                if problem:
                    bad += 1
                    print(f"{entry['name']}: {kind} {text[:200]!r}: {problem[:200]}")
        taken += len(entry["taken"])
        refused += len(entry["refused"])
        narrower += sum(1 for text in set(entry["refused"]) if not fault(validator, text))
    print(f"{schemas} schemas, {texts} texts drawn; of changed ones {taken} taken and {refused} "
          f"refused, of which {narrower} are valid (the grammar is narrower); {bad} wrong")
    return 1 if bad or schemas < least_schemas or refused == 0 else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
