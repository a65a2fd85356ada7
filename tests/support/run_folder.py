# SPDX-License-Identifier: MIT
"""run_folder.py -- the folder of a run in its project, and how each of its files is read."""

import json
from pathlib import Path


def run_folder(project, name="RUN-001"):
    return Path(project) / ".ahr" / "sessions" / name


def lines_of(path, may_be_torn=False):
    """The objects of a file of lines, each of which must be whole; where its writer has just been killed,
    the last may be a stump without a newline."""
    *whole, rest = path.read_bytes().split(b"\n")
    assert may_be_torn or not rest, (path.name, rest[-300:])
    return [json.loads(line) for line in whole]


def io_of(folder):
    return lines_of(folder / "io.log")


def facts_of(folder):
    return json.loads((folder / "metadata.json").read_text())


def log_path(folder, number=1):
    return folder / "iterations" / f"{number}.log"
