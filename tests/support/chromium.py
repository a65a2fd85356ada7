# SPDX-License-Identifier: MIT
"""chromium.py -- pages in a headless Chromium, spoken to over its DevTools pipe.

    with Chromium() as browser:
        page = browser.page(dark=True)
        page.open(path)
        assert page.value("document.title") == "x"

Each has a profile of its own, and nothing is left of it at the end. What runs by value() is not
the page's: no policy of the page forbids it.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from support.tap import Skip

PATIENCE = 60
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
         "--disable-component-update", "--disable-extensions", "--disable-sync",
         "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe")


def program():
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        raise Skip("no chromium here")
    return found


class Chromium:
    def __enter__(self):
        argv = [program(), *FLAGS]
        self._home = tempfile.TemporaryDirectory(prefix="ahr-chromium-", ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()
        # It reads from 3 and writes to 4; those of the pipes must not be in the way.
        reads, writes = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (ours[0], theirs[1]))

        def prepare():
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self._process = subprocess.Popen(
            [*argv, f"--user-data-dir={self._home.name}/profile"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=prepare, start_new_session=True,
            env={**os.environ, "HOME": self._home.name, "XDG_CONFIG_HOME": self._home.name,
                 "XDG_CACHE_HOME": self._home.name})
        for fd in (ours[0], theirs[1], reads, writes):
            os.close(fd)
        self._in, self._out = ours[1], theirs[0]
        self._rest, self._last, self._events = b"", 0, []
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self._process.wait(PATIENCE)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            pass
        finally:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)  # of the session we have started
            except ProcessLookupError:
                pass
            self._process.wait()
            os.close(self._in)
            os.close(self._out)
            self._home.cleanup()

    # -- messages, each with a NUL behind it --

    def _read(self, deadline):
        while b"\0" not in self._rest:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self._out], [], [], left)[0]
            assert ready, "chromium does not answer"
            more = os.read(self._out, 1 << 20)
            assert more, "chromium has ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._in, data):]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self._events.append(answer)

    def take_events(self, session):
        """What came for this page since the last time."""
        mine = [e for e in self._events if e.get("sessionId") == session]
        self._events = [e for e in self._events if e.get("sessionId") != session]
        return mine

    def wait(self, session, method):
        """Waits for an event; those before it stay."""
        deadline = time.monotonic() + PATIENCE
        while not any(e.get("sessionId") == session and e["method"] == method
                      for e in self._events):
            self._events.append(self._read(deadline))

    def page(self, dark=False, width=1000, height=700):
        return Page(self, dark, width, height)


class Page:
    def __init__(self, browser, dark, width, height):
        self.browser = browser
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=self._target,
                                     flatten=True)["sessionId"]
        self._events = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def call(self, method, **params):
        return self.browser.call(method, self._session, **params)

    def open(self, path):
        """Loads a file to its end; events of pages before are forgotten."""
        self.events()
        self._events = []
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        self.browser.wait(self._session, "Page.loadEventFired")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def events(self, method=None):
        """All that came since the page was opened, or those of one kind."""
        self._events += self.browser.take_events(self._session)
        return [e for e in self._events if method in (None, e["method"])]

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events("Network.requestWillBeSent")]

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self._target)
