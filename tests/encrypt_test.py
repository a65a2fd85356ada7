#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""encrypt_test.py -- sessions locked away: nothing of them can be found anywhere, and all of it comes back.
usage: encrypt_test.py AHR
"""

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support.locked import PLANTED, Locked, look
from support.mounts import mounted, own_mounts, sh
from support.on_pty import OnPty
from support.processes import wait_for
from support.sessions import Home, indexed
from support.tap import Skip, run, test

own_mounts()
AHR = sys.argv[1]


def library_rows(a):
    with contextlib.closing(sqlite3.connect(f"file:{a.library / 'library.db'}?mode=ro", uri=True)) as db:
        free = db.execute("PRAGMA freelist_count").fetchone()[0]
        return free, sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0]
                         for t in ("sessions", "moments", "pieces", "turns", "artifacts", "usage"))


@test
def a_terminal_session_comes_back_as_it_was():
    with Locked(AHR) as a:
        sid = a.record()
        a.ok("index", sid)
        assert a.where()
        before, shown = a.files(), a.ok("cat", sid)
        said, told = a.encrypt("term")
        assert said == f"{sid}: encrypted, {len(before[0]) - 1} files, " + said.rsplit(", ", 1)[1] and not told
        a.is_locked(sid)
        assert a.where() == [] and library_rows(a) == (0, 0)
        assert json.loads((a.sessions / sid / "session.meta.json").read_text()).keys() == \
            {"version", "sessionId", "kind", "status", "startedAtNs"}
        a.decrypt(sid)
        assert a.files() == before and a.ok("cat", "term") == shown
        assert indexed(a.library) == [sid] and a.ok("search", PLANTED)


@test
def a_run_comes_back_with_its_project():
    with Locked(AHR) as a:
        sid = a.run_agent()
        os.chmod(a.folder / "io.log", 0o640)
        os.utime(a.folder / "artifacts/links.json", ns=(5, 1_500_000_000_123_456_789))
        a.ok("index", sid)
        before = a.files()
        assert {".ahr/sessions/one/io.log", ".ahr/sessions/one/iterations/1.log",
                ".ahr/sessions/one/iterations/2.log", ".ahr/sessions/one/artifacts/links.json"} <= set(before[1])
        assert len(list((a.folder / "artifacts").iterdir())) >= 3
        told = json.loads(a.encrypt(sid, "--json")[0])
        assert told["project"] == str(a.folder) and told["files"] > 8 and not told["already"]
        a.is_locked(sid)
        assert a.where() == [] and library_rows(a) == (0, 0)
        assert json.loads((a.folder / "metadata.json").read_text()) == \
            {"session_id": "one", "id": sid, "status": "encrypted"}
        assert [p.name for p in a.folder.iterdir()] == ["metadata.json"]
        a.decrypt("one")  # by the name that its project knows
        assert a.files() == before
        a.ok("log", "one"), a.ok("artifact", "list", "--session", "one")
        a.encrypt("one"), a.decrypt("one")
        assert a.files() == before


def without_roots_power():
    """In the child: files and folders are as closed to it as to anybody."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@test
def folders_that_may_not_be_written_to_come_back_for_anybody():
    if os.geteuid():
        raise Skip("only root encrypts one")
    with Locked(AHR) as a:
        sid = a.run_agent()
        (a.folder / "artifacts").chmod(0o550)
        before = a.files()
        a.encrypt(sid)  # root may
        for stuck in (True, False):  # its stage can be removed, too
            if stuck:
                (a.folder / "io.log").write_text("another")
            done = a.run("decrypt", sid, "--key-file", a.key, preexec_fn=without_roots_power)
            assert bool(done.returncode) == stuck and b"ermission" not in done.stderr, done
            assert not (a.folder / ".ahr-decrypt").exists()
            if stuck:
                (a.folder / "io.log").unlink()
        assert a.files() == before


@contextlib.contextmanager
def another_root(root):
    """A folder that has all that / has, for a process whose / it becomes."""
    with mounted(root, "-t", "tmpfs", "tmpfs"), contextlib.ExitStack() as stack:
        for path in Path("/").iterdir():
            if path.is_symlink():
                (root / path.name).symlink_to(os.readlink(path))
            elif path.is_dir() and not path.name.startswith("."):
                (root / path.name).mkdir()
                if sh("mount", "--bind", path, root / path.name).returncode == 0:
                    stack.callback(sh, "umount", root / path.name)
        yield lambda: os.chroot(root)


@test
def a_run_whose_project_is_the_root_comes_back():
    with Locked(AHR) as a, another_root(a.dir / "root") as enter:
        folder = a.dir / "root" / ".ahr/sessions/one"
        at_root = lambda *args: a.run(*args, cwd="/", preexec_fn=enter)
        done = at_root("run", "-q", "--dir", "/", "--name", "one", "--", "echo", PLANTED)
        assert done.returncode == 0 and (folder / "io.log").exists(), done
        before = look(folder)
        for what in ("encrypt", "decrypt"):
            done = at_root(what, a.newest(), "--key-file", a.key)
            assert done.returncode == 0, (what, done)
            assert what == "decrypt" or [p.name for p in folder.iterdir()] == ["metadata.json"]
        assert look(folder) == before


@test
def it_comes_back_where_its_folder_in_the_project_is_gone():
    with Locked(AHR) as a:
        sid = a.run_agent()
        before = a.files()
        a.encrypt(sid)
        shutil.rmtree(a.project / ".ahr/sessions/one")
        a.decrypt(sid)
        after = a.files()
        assert {k: v for k, v in after[1].items()} == before[1] and after[0] == before[0]


@test
def without_its_project_the_session_comes_and_the_rest_stays_locked():
    with Locked(AHR) as a:
        sid = a.run_agent()
        before = a.files()
        a.encrypt(sid)
        a.project.rename(a.dir / "moved")
        here = {"cwd": a.dir}
        done = a.run("decrypt", sid, "--key-file", a.key, **here)
        assert done.returncode == 3 and b"is gone: put it in its place, or say '--without-project'" in done.stderr
        a.is_locked(sid)
        done = a.run("decrypt", sid, "--without-project", "--key-file", a.key, **here)
        assert done.returncode == 0 and b"stays encrypted; 'ahr decrypt" in done.stderr, done
        assert a.run("show", sid, **here).returncode == 0 and not a.project.exists()
        (a.dir / "moved").rename(a.project)
        assert f"session 'one' is encrypted; 'ahr decrypt one'" in a.fails(1, "log", "one", cwd=a.project)
        assert "files" in a.decrypt("one")[0]
        assert a.files() == before


@test
def other_files_in_the_project_are_never_overwritten():
    with Locked(AHR) as a:
        sid = a.run_agent()
        before = a.files()
        a.encrypt(sid)
        (a.folder / "io.log").write_text("somebody else's")
        (a.folder / "iterations").symlink_to(a.dir / "home")
        locked = a.vault(sid).read_bytes()
        told = a.decrypt(sid, status=1)[1]
        assert "there is something else called 'io.log', 'iterations/1.log'" in told, told
        assert (a.folder / "io.log").read_text() == "somebody else's" and a.vault(sid).read_bytes() == locked
        assert sorted(p.name for p in a.folder.iterdir()) == ["io.log", "iterations", "metadata.json"]
        a.is_locked(sid)
        (a.folder / "io.log").unlink(), (a.folder / "iterations").unlink()
        (a.folder / "io.log").write_bytes(before[1][".ahr/sessions/one/io.log"][0])  # the same is no other
        a.decrypt(sid)
        assert a.files() == before


@test
def a_name_that_was_used_again_is_told_and_not_overwritten():
    with Locked(AHR) as a:
        first = a.run_agent()
        a.encrypt(first)
        shutil.rmtree(a.folder)  # its name is free again
        second = a.run_agent(text="something else")
        now = a.files()[1]
        assert "there is something else called" in a.decrypt(first, status=1)[1]
        assert a.files()[1] == now
        told = a.encrypt(second)[1]
        assert not told, told  # the first one's vault has nothing of this folder to tell of
        a.decrypt(second)
        assert a.files()[1] == now
    with Locked(AHR) as a:
        first, second = a.run_agent(), a.run_agent(text="something else")
        assert f"session {first} is of the same run's folder, which is in the vault of {second}" in \
            a.encrypt(second)[1]
        a.encrypt(first)  # what is in the folder belongs to another vault
        assert json.loads((a.folder / "metadata.json").read_text())["id"] == second
        a.decrypt(first), a.decrypt(second)
        assert {p.name for p in a.folder.iterdir()} >= {"io.log", "iterations", "artifacts"}


@test
def every_command_that_reads_says_what_to_do():
    with Locked(AHR) as a:
        sid = a.run_agent()
        other = a.record("other", "unlocked")
        a.encrypt(sid)
        words = f"session '{sid}' is encrypted; 'ahr decrypt {sid}' makes it readable"
        for args in (["cat"], ["replay", "--fast"], ["export", "--format", "md"], ["render"], ["verify"], ["recover"], ["log"],
                     ["branch-points"], ["search", "x", "--session"], ["instruct"],
                     ["watch"], ["send"], ["stop"], ["artifact", "list", "--session"], ["redact", "--rule", "jwt"]):
            more = ["text"] if args[0] in ("send", "instruct") else []
            assert words in a.fails(1, *args, sid, *more), args
        assert words in a.fails(1, "rename", sid, "new")
        for what in ("view", "attach"):
            with OnPty([a.binary, what, sid], env=a.env, cwd=a.dir) as p:
                assert p.finish() == 1 and words.encode() in p.bytes, p.bytes
        for args in (["log"], ["artifact", "list", "--session"], ["watch"]):
            assert "is encrypted; 'ahr decrypt one' makes it readable" in a.fails(1, *args, "one", cwd=a.project), args
        listed = json.loads(a.ok("list", "--json"))
        assert {s["id"]: s["status"] for s in listed} == {sid: "encrypted", other: "completed"}
        locked = next(s for s in listed if s["id"] == sid)
        assert not any(locked[k] for k in ("name", "cmd", "cwd", "task", "agent", "model")), locked
        assert [s["id"] for s in json.loads(a.ok("list", "--status", "encrypted", "--json"))] == [sid]
        shown = a.ok("show", sid).decode()
        assert f"ahr decrypt {sid}" in shown and "session.vault" in shown
        assert not any(word in shown for word in ("left over", "snapshots", "instructions", "recording")), shown
        assert json.loads(a.ok("show", sid, "--json"))["status"] == "encrypted"
        assert "goes by its id alone" in a.fails(3, "decrypt", "nobody", "--key-file", a.key)


@test
def it_is_no_work_for_the_index():
    with Locked(AHR) as a:
        sid = a.record()
        a.encrypt(sid)
        for more in (lambda: [], lambda: [a.record("other")]):
            more = more()
            before = a.vault(sid).read_bytes(), sorted(os.listdir(a.sessions / sid))
            for args in (["index", "--all"], ["reindex"], ["recover", "--all"]):
                a.ok(*args)
            assert indexed(a.library) == more
            assert (a.vault(sid).read_bytes(), sorted(os.listdir(a.sessions / sid))) == before
        (a.library / "library.tend").unlink(missing_ok=True)
        a.ok("list", "--upkeep", "auto"), a.ok("show", sid, "--upkeep", "auto")
        assert not (a.library / "library.tend").exists()  # nobody was started
        assert "is encrypted" in a.fails(3, "index", sid)
        a.ok("delete", sid, "--yes")
        assert not (a.sessions / sid).exists() and len(json.loads(a.ok("list", "--json"))) == 1


@test
def several_take_one_passphrase_and_one_that_fails_stops_nobody():
    with Locked(AHR) as a:
        sids = [a.record("a"), a.record("b"), a.record("c")]
        before = a.files()
        said = json.loads(a.encrypt("a", "b", "c", "--passphrase-file", "-", "--kdf", "interactive", "--json",
                                    input=b"horse\nnot this\n")[0])
        assert [s["id"] for s in said] == sids and a.where() == []
        salts = {a.vault(sid).read_bytes()[32:48] for sid in sids}
        assert len(salts) == 1 and len({a.vault(sid).read_bytes()[48:72] for sid in sids}) == 3
        bad = bytearray(a.vault(sids[1]).read_bytes())
        bad[-1] ^= 1
        good = a.vault(sids[1]).read_bytes()
        a.vault(sids[1]).write_bytes(bad)
        done = a.run("decrypt", *sids, "--passphrase-file", "-", "--json", input=b"horse")
        assert done.returncode == 4 and b"is damaged, cut off" in done.stderr
        assert [s["id"] for s in json.loads(done.stdout)] == [sids[0], sids[2]]
        a.vault(sids[1]).write_bytes(good)
        a.decrypt(sids[1], "--passphrase-file", "-", input=b"horse\r\n")
        assert a.files() == before


@test
def it_is_asked_for_twice_and_not_seen():
    with Locked(AHR) as a:
        sid = a.record()
        before = a.files()
        typed = b"typed " + PLANTED.encode()

        def on_pty(what, answers, status):
            with OnPty([a.binary, what, sid, *(["--kdf", "interactive"] if what == "encrypt" else [])], env=a.env,
                       cwd=a.dir) as p:
                for question, answer in answers:
                    p.read_until(question)
                    wait_for(lambda: not p.state()[3] & termios.ECHO, "it is echoed")
                    os.write(p.master, answer)
                assert p.finish() == status, p.bytes
                assert typed not in p.bytes and p.state() == p.first_state
                return p.bytes
        first, second = b"it is not shown", b"the passphrase again"
        on_pty("encrypt", [(first, b"\x03")], -2)
        assert b"not the same; nothing is encrypted" in \
            on_pty("encrypt", [(first, typed + b"\n"), (second, typed + b"x\n")], 1)
        assert b"the passphrase is empty" in on_pty("encrypt", [(first, b"\n")], 2)
        assert a.files() == before
        on_pty("encrypt", [(first, typed + b"\n"), (second, typed + b"\n")], 0)
        a.is_locked(sid)
        assert b"this is not its passphrase" in on_pty("decrypt", [(first, b"typed\n")], 1)
        on_pty("decrypt", [(first, typed + b"\n")], 0)
        assert a.files() == before
        assert "there is no terminal" in a.fails(2, "encrypt", sid)
        with OnPty([a.binary, "encrypt", "nobody"], env=a.env, cwd=a.dir) as p:
            assert p.finish() == 3 and first not in p.bytes


@test
def what_is_asked_for_wrongly_is_told():
    with Locked(AHR) as a:
        sid = a.record()
        before = a.files()
        (a.dir / "short").write_bytes(bytes(31))
        (a.dir / "empty").write_bytes(b"\n")
        (a.dir / "long").write_bytes(b"x" * 5000)
        cases = {
            ("--key-file", a.dir / "short"): (2, "has 31 bytes: a key file has at least 32"),
            ("--key-file", a.dir / "none"): (3, "cannot open the key file"),
            ("--passphrase-file", a.dir / "empty"): (2, "the passphrase is empty"),
            ("--passphrase-file", a.dir / "long"): (2, "at most 4095 bytes"),
            ("--passphrase-file", a.dir / "none"): (3, "cannot open"),
            ("--new-key", a.key): (1, "is there already and is not overwritten"),
            ("--new-key", a.dir / "none/key"): (3, "cannot make the key file"),
            ("--key-file", a.key, "--passphrase-file", a.key): (2, "is enough"),
        }
        for args, (status, words) in cases.items():
            assert words in a.fails(status, "encrypt", sid, *args), args
        assert "which session?" in a.fails(2, "encrypt") and "which session?" in a.fails(2, "decrypt")
        for command in ("encrypt", "decrypt"):
            assert "is a file" in a.fails(3, command, a.sessions / sid / "session.ahr", "--key-file", a.key)
        assert a.files() == before and a.key.read_bytes() == bytes(range(32))
        a.ok("encrypt", sid, "--new-key", a.dir / "new")
        assert oct((a.dir / "new").stat().st_mode)[-3:] == "600" and (a.dir / "new").stat().st_size == 32
        assert "this is not its key file" in a.decrypt(sid, status=1)[1]
        assert "was encrypted with a key file; say '--key-file FILE'" in \
            a.decrypt(sid, "--passphrase-file", "-", input=b"x", status=2)[1]
        assert a.encrypt(sid, status=1)[1].endswith("this is not its key file\n")  # it is encrypted already
        a.decrypt(sid, "--key-file", a.dir / "new")
        assert a.files() == before
        assert a.decrypt(sid)[0] == f"{sid}: is not encrypted\n"


@test
def a_dry_run_lists_and_changes_nothing():
    with Locked(AHR) as a:
        sid = a.run_agent()
        before = a.files()
        said = a.ok("encrypt", sid, "--dry-run").decode()
        assert "session/session.ahr  " in said and "project/iterations/2.log  " in said and "would be encrypted" in said
        told = json.loads(a.ok("encrypt", sid, "-n", "--json"))
        names = {(e["of"], e["path"]) for e in told["entries"]}
        assert told["dry_run"] and ("project", "io.log") in names and ("session", "session.meta.json") in names
        assert a.files() == before
        a.encrypt(sid)
        locked = a.files()
        again = json.loads(a.decrypt(sid, "-n", "--json")[0])
        assert {(e["of"], e["path"]) for e in again["entries"]} == names and a.files() == locked
        assert again["files"] == told["files"] and again["bytes"] == told["bytes"]


def refused(a, sid, before, data, words, status=4):
    """Nothing is changed, nothing lies beside it."""
    a.vault(sid).write_bytes(data)
    told = a.decrypt(sid, status=status)[1]
    assert any(w in told for w in words), told
    assert a.where() == [] and a.files()[1] == before[1] and a.vault(sid).read_bytes() == bytes(data)
    a.is_locked(sid)


@test
def nothing_of_a_damaged_vault_is_put_in_place():
    with Locked(AHR) as a:
        sid = a.run_agent()
        whole = a.files()
        a.encrypt(sid)
        locked, good = a.files(), a.vault(sid).read_bytes()
        chunk = 65536 + 17
        count = (len(good) - 105 + chunk - 1) // chunk
        assert count >= 4
        bad = ["is damaged, cut off or not in its place", "it is cut off", "its head", "no vault of ahr",
               "of version", "behind its end"]
        for at in [0, 7, 50, 104, *(105 + i * chunk for i in range(count)), 105 + chunk + 1, len(good) - 1]:
            refused(a, sid, locked, good[:at], bad)
        for at in [3, 20, 40, 60, 80, 100, 106, 105 + chunk, 105 + 2 * chunk + 500, len(good) - 1]:
            flipped = bytearray(good)
            flipped[at] ^= 4
            refused(a, sid, locked, flipped, bad)
        first, second = good[105:105 + chunk], good[105 + chunk:105 + 2 * chunk]
        rest = good[105 + 2 * chunk:]
        for mixed in (second + first + rest, first + first + rest, first + rest, first + second + second + rest):
            refused(a, sid, locked, good[:105] + mixed, bad)
        refused(a, sid, locked, good + b"x", bad)
        version = bytearray(good)
        version[8] = 9
        refused(a, sid, locked, version, ["it is of version 9; this ahr reads version 1"], status=1)
        a.vault(sid).write_bytes(good)
        other = a.record("other")
        a.encrypt(other)
        refused(a, sid, a.files(), a.vault(other).read_bytes(), ["it is the vault of another session"])
        a.vault(sid).write_bytes(good)
        a.decrypt(sid), a.decrypt(other)
        assert a.files()[1] == whole[1]


@test
def a_head_that_asks_for_too_much_gets_nothing():
    import hashlib
    with Locked(AHR) as a:
        sid = a.record()
        a.encrypt(sid, "--passphrase-file", "-", "--kdf", "interactive", input=b"horse")
        good = a.vault(sid).read_bytes()
        for ops, mem in ((1 << 40, 1 << 26), (2, 1 << 40), (2, (1 << 30) + 1), (0, 1 << 26), (2, 1024)):
            head = good[:16] + struct.pack("<QQ", ops, mem) + good[32:89]
            a.vault(sid).write_bytes(head + hashlib.blake2b(head, digest_size=16).digest() + good[105:])
            assert "more work or memory than ahr ever gives" in \
                a.decrypt(sid, "--passphrase-file", "-", input=b"horse", status=1)[1]
        a.vault(sid).write_bytes(good)
        a.decrypt(sid, "--passphrase-file", "-", input=b"horse")


@test
def what_leads_elsewhere_is_refused_and_what_cannot_be_kept_is_told():
    with Locked(AHR) as a:
        sid = a.run_agent()
        (a.folder / "artifacts/link").symlink_to("/etc/passwd")
        before = sorted(str(p) for p in a.dir.rglob("*"))
        assert "artifacts/link' is a link: what it leads to is no part" in a.encrypt(sid, status=1)[1]
        assert sorted(str(p) for p in a.dir.rglob("*")) == before
        (a.folder / "artifacts/link").unlink()
        os.link(a.folder / "io.log", a.dir / "elsewhere")
        os.mkfifo(a.folder / "pipe")
        told = a.encrypt(sid)[1]
        assert "io.log' has another name elsewhere, where it stays as it is" in told, told
        assert told.count("another name") == 1 and "pipe' is not in the vault, and stays" in told
        (a.dir / "elsewhere").unlink()
        assert a.where() == []
    with Locked(AHR) as a:
        sid = a.run_agent()
        before = a.files()[0]
        shutil.rmtree(a.project / ".ahr")
        told = a.encrypt(sid)[1]
        assert "the run's folder in its project, is not there: if it was moved" in told, told
        a.decrypt(sid)
        assert a.files() == (before, {})
    with Locked(AHR) as a:
        a.ok("record", "-q", "--", "sh", "-c", f"cd {a.project} && echo x > file && {a.binary} fs snapshot")
        sid = a.newest()
        told = a.encrypt(sid)[1]
        assert f"1 snapshot of its files is not encrypted: 'ahr fs list --session {sid}'" in told, told
        assert sid in a.ok("fs", "list", "--session", sid, "--json").decode()


@test
def no_line_of_interrupted_ones_names_it_or_its_folder():
    with Locked(AHR) as a:
        sids = [a.record("a"), a.record("b"), a.record("c")]
        notes = a.library / "interrupted"
        line = lambda sid: f"cut {sid} {a.project}/{PLANTED}\nsettled {sid}\n"
        notes.write_text("".join(map(line, sids)))
        notes.chmod(0o600)
        a.encrypt("a")
        assert notes.read_text() == line(sids[1]) + line(sids[2]) and oct(notes.stat().st_mode)[-3:] == "600"
        a.ok("delete", "--yes", "b")
        assert notes.read_text() == line(sids[2])
        a.encrypt("c")
        assert notes.read_text() == "" and a.where() == []


@test
def a_deleted_run_leaves_no_name_in_its_project():
    with Locked(AHR) as a:
        sid = a.run_agent()
        a.encrypt(sid)
        said = a.run("delete", "--yes", sid).stderr.decode()
        assert f"'{a.folder}', which kept its name in the project, is removed" in said, said
        assert not a.folder.exists() and a.folder.parent.exists() and not (a.sessions / sid).exists()
        sid = a.run_agent()  # what is not the stub stays, and so does a run that is readable
        a.encrypt(sid)
        (a.folder / "mine").write_text("put there by hand")
        a.ok("delete", "--yes", sid)
        assert sorted(p.name for p in a.folder.iterdir()) == ["metadata.json", "mine"]
        shutil.rmtree(a.folder)
        sid = a.run_agent()
        a.ok("delete", "--yes", sid)
        assert (a.folder / "io.log").exists()


@test
def one_that_goes_on_or_is_worked_on_is_busy():
    with Locked(AHR) as a:
        live = a.popen("record", "-q", "--name", "now", "--", "cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        wait_for(lambda: a.run("show", "now").returncode == 0)
        assert "is being recorded; 'ahr stop" in a.encrypt("now", status=5)[1]
        live.stdin.close()
        assert live.wait() == 0
        a.encrypt("now"), a.decrypt(a.newest())
        sid = a.run_agent()
        before = a.files()
        fd = os.open(a.folder, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        assert "a run is going on in" in a.encrypt(sid, status=5)[1]
        os.close(fd)
        assert a.files() == before
        a.encrypt(sid)
        fd = os.open(a.folder, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        assert "a run is going on in" in a.decrypt(sid, status=5)[1]
        os.close(fd)
        a.decrypt(sid)
        assert a.files() == before


@test
def one_whose_recorder_has_vanished_is_recovered_first():
    with Locked(AHR) as a:
        sid = "2026-01-02-" + "-".join("a" * n for n in (8, 4, 4, 4, 12))
        Home(a).add_cut_off(sid, name="cut", startedAtNs=5)
        assert "encrypted, " in a.encrypt(sid)[0]
        a.is_locked(sid)
        a.decrypt(sid)
        assert json.loads(a.ok("show", "cut", "--json"))["status"] == "interrupted"


@test
def of_two_at_once_one_is_told_to_wait():
    with Locked(AHR) as a:
        sid = a.run_agent()
        before = a.files()
        for what, expected in (("encrypt", [0, 5]), ("decrypt", [0, 5])) * 2:
            gate = os.open(a.sessions / sid, os.O_RDONLY)
            fcntl.flock(gate, fcntl.LOCK_EX)  # so that both have begun
            both = [a.popen(what, sid, "--key-file", a.key, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    for _ in range(2)]

            def has_waited(p):
                """It sleeps between two tries, and nowhere before."""
                status = Path(f"/proc/{p.pid}/status").read_text()
                return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0]) > 12
            wait_for(lambda: all(has_waited(p) for p in both), "they do not wait")
            os.close(gate)
            assert sorted(p.wait() for p in both) == expected, what
        assert a.files() == before


@test
def a_full_disk_changes_nothing():
    with Locked(AHR) as a:
        with mounted(a.dir / "disk", "-t", "tmpfs", "-o", "size=2300k", "tmpfs"):
            small = a.dir / "disk"
            (small / "ahr").mkdir()
            (a.dir / "home/.local/share").mkdir(parents=True)
            a.library.symlink_to(small / "ahr")
            sid = a.record()
            a.ok("index", sid)
            (a.sessions / sid / "large").write_bytes(os.urandom(900_000))
            (small / "filler").write_bytes(bytes(600_000))
            before = a.files()
            assert "No space left on device" in a.encrypt(sid, status=1)[1]
            assert a.files() == before and a.ok("cat", sid)
            (small / "filler").unlink()
            a.encrypt(sid)
            a.is_locked(sid)
            (small / "filler").write_bytes(bytes(800_000))
            locked = a.files()
            assert "No space left on device" in a.decrypt(sid, status=1)[1]
            assert a.files() == locked
            (small / "filler").unlink()
            a.decrypt(sid)
            assert a.files() == before


@test
def who_notes_a_file_and_who_encrypts_wait_for_each_other():
    with Locked(AHR) as a:
        sid = a.run_agent()
        before = a.files()
        for name in ("io.log", "metadata.json.lock"):
            fd = os.open(a.folder / name, os.O_RDONLY)
            fcntl.flock(fd, fcntl.LOCK_EX)
            assert f"{name}' is in use by another ahr" in a.encrypt(sid, status=5)[1]
            os.close(fd)
        assert a.files() == before
        fd = os.open(a.folder / "io.log", os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        (a.project / "late").write_text(PLANTED)
        add = a.popen("artifact", "add", "--session", a.folder, a.project / "late", stderr=subprocess.PIPE)
        time.sleep(0.5)  # it waits by now; else it finds the stub with its first look
        for name in ("iterations", "artifacts"):
            shutil.rmtree(a.folder / name)
        stub = json.dumps({"session_id": "one", "id": sid, "status": "encrypted"}, separators=(",", ":")) + "\n"
        (a.folder / "metadata.json").write_text(stub)
        (a.folder / "io.log").unlink()
        (a.folder / "metadata.json.lock").unlink()
        os.close(fd)
        said = add.communicate()[1].decode()
        assert add.returncode == 1 and f"'ahr decrypt {sid}' makes it readable" in said, said
        assert [p.name for p in a.folder.iterdir()] == ["metadata.json"]
        assert (a.folder / "metadata.json").read_text() == stub


@test
def no_file_is_noted_in_an_encrypted_run_around_us():
    with Locked(AHR) as a:
        sid = a.run_agent()
        before = a.files()
        a.encrypt(sid)
        (a.project / "late").write_text("late")
        stub = (a.folder / "metadata.json").read_bytes()
        done = a.run("artifact", "add", "late", env={"AHR_SESSION": sid, "AHR_RUN_DIR": str(a.folder)})
        assert done.returncode == 1 and b"'ahr decrypt one' makes it readable" in done.stderr, done
        assert [p.name for p in a.folder.iterdir()] == ["metadata.json"]
        assert (a.folder / "metadata.json").read_bytes() == stub
        (a.project / "late").unlink()
        a.decrypt(sid)
        assert a.files() == before


def redact(a, sid, status=0):
    done = a.run("redact", sid, "--text-file", "-", input=PLANTED.encode())
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stderr.decode()


def redact_tells_of(a, sid, locked):
    said = redact(a, sid, status=4)
    assert f"encrypted and was not looked into: 'ahr decrypt {locked}', and redact it again" in said, said


@test
def redact_does_not_call_clean_what_a_vault_still_holds():
    with Locked(AHR) as a:
        sid = a.run_agent()
        a.encrypt(sid)
        a.decrypt(sid, "--without-project")
        redact_tells_of(a, sid, sid)
        assert a.where() == []
        a.decrypt(sid)
        assert a.where()
        redact(a, sid)
        assert a.where() == []


@test
def redact_tells_of_another_sessions_vault_that_has_the_run():
    with Locked(AHR) as a:
        first, second = a.run_agent(), a.run_agent()
        a.encrypt(second)
        redact_tells_of(a, first, second)
        assert a.where() == []


run()
