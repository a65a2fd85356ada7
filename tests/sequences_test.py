#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sequences_test.py -- doc/sequences.md is what the model's tables say.

usage: sequences_test.py SEQUENCES_TOOL DOC
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.tap import run, test

TOOL, DOC = sys.argv[1], Path(sys.argv[2])
TEXT = subprocess.run([TOOL], capture_output=True, encoding="utf-8", check=True).stdout


@test
def the_document_is_what_the_tables_say():
    assert DOC.read_text(encoding="utf-8") == TEXT, "run ./dev sequences"


@test
def no_sequence_is_in_the_tables_twice():
    rows = re.findall(r"^\| (`.*?) \|", TEXT, re.M)
    assert len(rows) > 100
    assert sorted(set(rows)) == sorted(rows), sorted(r for r in rows if rows.count(r) > 1)


run()
