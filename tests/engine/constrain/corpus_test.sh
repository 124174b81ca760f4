#!/usr/bin/env bash
# corpus_test.sh: 200 texts of each schema of the corpus are valid for another validator
# (python3-jsonschema), and so is every changed text that the grammar takes. $SUPERFLUID_SEED: another
# seed than the usual one.
set -euo pipefail
here="tests/engine/constrain"
seed="${SUPERFLUID_SEED:-1}"
texts="$(mktemp)"
trap 'rm -f "$texts"' EXIT
echo "seed $seed"
"$here/corpus_texts" "$here/corpus/schemas.jsonl" 200 "$seed" > "$texts"
/usr/bin/python3 "$here/check_corpus.py" 150 200 < "$texts"
