#!/usr/bin/env bash
# tools/lib/check_rules.py and check_docs.py find what they are there to find.

# shellcheck disable=SC2016,SC2317 # cases are called by their names; texts with backticks
# shellcheck source-path=SCRIPTDIR source=testing.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/testing.sh"

rules() { python3 -B "$LIB/check_rules.py" .; }
docs() { python3 -B "$LIB/check_docs.py" .; }

# put FILE TEXT
put() {
  mkdir -p "$(dirname "$1")"
  printf '%s\n' "$2" >"$1"
}

# expect_finding CHECK PART
expect_finding() {
  expect_status 1 "$1"
  expect_contains "$output" "$2"
}

test_a_clean_tree() {
  put engine/a.h '// Fine: wait_for_sleepers(x) and [&](int x).'
  put README.md 'See [a](engine/a.h) and [below](#some-words), `engine/a.h`.

## Some words'
  expect_status 0 rules
  expect_status 0 docs
}

test_rules() {
  put shm/a.cc 'auto f = [=] { };'
  expect_finding rules "shm/a.cc:1: a default capture by copy"
  put shm/a.cc '#include "protocol/linkw.pb.h"'
  expect_finding rules "Protobuf types beyond protocol/"
  put shm/a.cc '#include "caf/all.hpp"'
  expect_finding rules "CAF beyond actors/"
  put shm/a.cc "// TO""DO: later"
  expect_finding rules "something left for later"
  put shm/a.cc "// in /wo""rk/there"
  expect_finding rules "a path of one machine"
  put shm/a.cc "$(seq 401)"
  expect_finding rules "401 lines; at most 400"
  rm shm/a.cc
  put tests/a_test.cc "void F() { std::this_thread::sleep""_for(x); }"
  expect_finding rules "a sleep in a test"
  put tests/a_test.cc "TEST(A, DISA""BLED_B) {}"
  expect_finding rules "switched off"
}

test_what_a_rule_allows_where() {
  put protocol/codec/codec.cc '#include "protocol/linkw.pb.h"'
  put actors/a.cc '#include "caf/all.hpp"'
  put tools/worker/main.cc '#include "caf/all.hpp"'
  expect_status 0 rules
}

test_floors_and_rooms() {
  put shm/a.cc '#include "engine/engine.h"'
  expect_finding rules "shm/a.cc:1: shm/ must not know engine/"
  rm shm/a.cc
  put actors/messages/a.h '#include "actors/engine/b.h"'
  expect_finding rules "actors/messages/a.h:1: the room messages stands below engine"
  put actors/messages/a.h '#include "actors/runtime/b.h"'
  expect_status 0 rules
  put actors/engine/a.cc '#include "protocol/codec/b.h"'
  expect_status 0 rules
}

test_documents() {
  put README.md '[gone](nothing.md)'
  expect_finding docs "README.md:1: a link to nothing: nothing.md"
  put README.md '[gone](#nowhere)'
  expect_finding docs "no such heading"
  put README.md 'see `tools/nothing`'
  expect_finding docs "a path to nothing: tools/nothing"
  put README.md '[out](htt''p://x.org)'
  expect_finding docs "a link that leaves the project"
  put README.md '[out](../x)'
  expect_finding docs "a link out of the tree"
  put README.md 'held by `RingTest.Reads`'
  put tests/ring_test.cc 'TEST_F(RingTest, Writes) {}'
  expect_finding docs "a test that does not exist: RingTest.Reads"
  put tests/ring_test.cc 'TEST_F(RingTest, Reads) {}'
  expect_status 0 docs
}

test_what_stands_in_a_fence_is_not_a_link() {
  put README.md '```
[x](nothing.md)
```'
  expect_status 0 docs
}

run_tests
