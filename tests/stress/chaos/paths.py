"""Makes the client for Python, and the test's own worker, importable."""

import pathlib
import sys

_HERE = pathlib.Path(__file__).absolute().parent
ROOT = _HERE.parent.parent.parent
for folder in (_HERE, ROOT / "tests/tools/python"):
    sys.path.insert(0, str(folder))
