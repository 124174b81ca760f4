"""A vocabulary of the shape of Whisper's: single bytes, words, pieces that end inside a character.

Only the first few hundred words are likely (see make_whisper.py); the rest fills the numbers up.
"""

WORDS = 640  # how many of the words a model should use
# Pieces that lack one byte of their last character, and pieces that begin with such a byte. Any of
# the first with any of the second is valid UTF-8.
OPEN = [b" caf\xc3", b" stra\xc3", b" \xd0", b" gar\xc3", b" \xe2\x82", b"\xe6\x97",
        b" \xf0\x9f\x98"]
CLOSING = [b"\xa9", b"\x9fe", b"\xb4 ", b"\xac", b"\xa5.", b"\x80s", b"\xbb", b"\x82n"]
_STARTS = ["b", "br", "d", "f", "g", "gl", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "tr",
           "v", "w", "z"]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
_ENDS = ["", "n", "l", "r", "s", "t"]
_MARKS = [".", ",", "?", "!", "-", "'s"]


def _syllables():
    return [start + vowel + end for end in _ENDS for vowel in _VOWELS for start in _STARTS]


def _words():
    """Words with a leading space, short ones first, without end."""
    syllables = _syllables()
    # A step that has no factor in common with the number of syllables mixes them.
    mixed = [syllables[i * 457 % len(syllables)] for i in range(len(syllables))]
    yield from (" " + word for word in mixed)
    for first in mixed:
        for second in mixed:
            yield " " + first + second


def entries(count):
    """`count` different pieces of bytes: 256 bytes, marks, pieces inside characters, words."""
    pieces = [bytes([byte]) for byte in range(256)]
    known = set(pieces)
    words = (word.encode() for word in _words())
    for group in ([mark.encode() for mark in _MARKS], OPEN, CLOSING, words):
        for piece in group:
            if len(pieces) == count:
                return pieces
            if piece not in known:
                known.add(piece)
                pieces.append(piece)
    raise ValueError("the vocabulary is too large")
