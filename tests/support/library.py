# SPDX-License-Identifier: MIT
"""library.py -- what a library must be like, whatever was done to it: asked of the program, and of the file.

    seen = library.listed(a)           # by id; each exactly once
    library.is_sound(a.home / "library.db", ids)
"""

import contextlib
import hashlib
import json
import re
import sqlite3

from support.processes import describe, wait_for, with_home

# Words of SQLite that no user is to read.
FOREIGN_WORDS = ("sql", "malformed", "no such table", "no such column", "disk image", "disk i/o",
                 "database is locked", "database schema", "constraint", "not a database", "vtable")


def is_clear(text):
    """It is nothing, or something for people."""
    # The random letters of a scratch folder's name are no words.
    low = re.sub(r"ahr-test-\w+", "", text.lower())
    for word in FOREIGN_WORDS:
        assert word not in low, text
    for line in text.splitlines():
        assert line.startswith(("ahr ", "ahr: ")), text
    return text


def is_quiet(a, seconds=120):
    """Waits until nothing of this home runs any more, in the background either."""
    running = lambda: with_home(a.env["HOME"], with_doubtful=True)
    # Twice: one that begins during the first look is in the second, though its parent is gone from both.
    wait_for(lambda: not running() and not running(), lambda: f"still at work: {describe(running())}", seconds)


def listed(a, *args, said=None):
    """What `list --json` has, by id. What it says goes to `said`, else it must be nothing."""
    done = a.run("list", "--json", *args, timeout=60)
    told = is_clear(done.stderr.decode())
    assert done.returncode == 0, (done.returncode, told)
    if said is None:
        assert not told, told
    else:
        said.append(told)
    rows = json.loads(done.stdout)
    by_id = {row["id"]: row for row in rows}
    assert len(by_id) == len(rows), f"listed twice: {sorted(row['id'] for row in rows)}"
    return by_id


def hits(a, query, *more):
    """The hits of a search that succeeds, and what it said."""
    done = a.run("search", "--json", *more, query, timeout=60)
    told = is_clear(done.stderr.decode())
    assert done.returncode == 0, (query, done.returncode, told)
    return json.loads(done.stdout), told


def where_found(a, query):
    """The ids of the sessions in which it stands, one for each hit."""
    return sorted(hit["session"] for hit in hits(a, query, "--limit", "0")[0])


def is_sound(path, ids):
    """The file itself: whole, and with a row for each of these sessions."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = [row[0] for row in db.execute("SELECT id FROM sessions")]
    assert sorted(rows) == sorted(ids), (sorted(rows), sorted(ids))


def digest(folder):
    """Of each file below it, and the names of the folders."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else None
            for p in sorted(folder.rglob("*"))}
