"""A vocabulary of the kind that SentencePiece makes: control tokens, all 256 bytes, pieces of text.

Each word comes with all of its beginnings, since the tokenizer joins two neighbours at a time.
"""

SPACE = "\u2581"  # how a space is written in a piece
UNKNOWN, BEGIN, END = 0, 1, 2
NORMAL, UNKNOWN_KIND, CONTROL, BYTE = 1, 2, 3, 6
FIRST_BYTE = 3
_WORDS = """the and a to was he she it of in that they his her you with but had on said for there
then so is all up them him big little like day one out at down with went very happy saw wanted girl
boy dog cat mom tree ball play friend time not have""".split()
_LETTERS = ["\u00e9", "\u00df", "\u20ac", "\u65e5", "\u672c", "\U0001f600", "\u0436"]
_ENDINGS = ["ing", "ed", "er", "ly", "es", "en", "on", "al", "ion", "ate"]


def _pieces():
    """Pieces of text, without end and with repetitions."""
    yield from (chr(code) for code in range(ord("!"), ord("~") + 1))
    yield SPACE
    for word in _WORDS:
        yield from (SPACE + word[:end + 1] for end in range(len(word)))
    for ending in _ENDINGS:
        yield from (ending[:end] for end in range(2, len(ending) + 1))
    yield from _LETTERS
    for first in "bcdfghklmnprstvwz":
        for vowel in "aeiou":
            yield from (first + vowel + last for last in ("", "n", "l", "r", "s", "t"))
    for number in range(10, 1 << 20):
        yield str(number)


IMAGE_TOKENS = ("<start_of_image>", "<image_soft_token>", "<end_of_image>")


def with_image_tokens(found):
    """The same with control tokens for images in the place of the last pieces."""
    return found[:-len(IMAGE_TOKENS)] + [(text, 0.0, CONTROL) for text in IMAGE_TOKENS]


def entries(count):
    """`count` triples of text, score and kind."""
    found = [("<unk>", 0.0, UNKNOWN_KIND), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    found += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    known = set()
    for piece in _pieces():
        if len(found) >= count:
            break
        if piece not in known:
            known.add(piece)
            found.append((piece, -float(len(known)), NORMAL))
    return found
