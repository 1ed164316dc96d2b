# SPDX-License-Identifier: MIT
"""A session of LTTng-UST for one program: daemon, session, channel, event; ended again whatever happens.

The daemon is one of our own if none runs, and is ended by its process id. One that runs already is used and left.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time

EVENT = "metaltap_bench:dispatch"
# Room for all events of a run, so that none is dropped and all cost what they cost.
SUBBUFFER = ("--subbuf-size=4M", "--num-subbuf=16")


class Unavailable(Exception):
    """Why LTTng cannot be measured here."""


class Lttng:
    def __init__(self, build, work):
        self.work = work
        self.daemon = None
        self.variables = {"LTTNG_HOME": str(work)}  # of the daemon and of programs that are traced
        self.environment = dict(os.environ, **self.variables)
        if not (build / "tests/bench/tap/peers-lttng").exists():
            raise Unavailable("built without lttng/tracepoint.h")
        if not shutil.which("lttng") or not shutil.which("lttng-sessiond"):
            raise Unavailable("no lttng or lttng-sessiond")

    def __enter__(self):
        if self._say("list").returncode:
            self._start_daemon()
        return self

    def __exit__(self, *_):
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(10)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()

    def _say(self, *arguments):
        return subprocess.run(["lttng", "--no-sessiond", *arguments], env=self.environment, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=60)

    def _must(self, *arguments):
        said = self._say(*arguments)
        if said.returncode:
            raise Unavailable(f"lttng {arguments[0]}: {(said.stderr or said.stdout).strip()[-300:]}")
        return said.stdout

    def _start_daemon(self):
        log = open(self.work / "lttng-sessiond.log", "w")
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=self.environment, stdout=log,
                                       stderr=log, stdin=subprocess.DEVNULL)
        for _ in range(100):
            if self.daemon.poll() is not None:
                break
            if not self._say("list").returncode:
                return
            time.sleep(0.1)
        self.__exit__()
        self.daemon = None
        raise Unavailable("lttng-sessiond does not start")

    @contextlib.contextmanager
    def session(self):
        """A recording session; gives the folder of its trace and a function that stops it and tells its losses."""
        name, folder = f"metaltap-bench-{os.getpid()}", self.work / "lttng-trace"
        shutil.rmtree(folder, ignore_errors=True)
        self._must("create", name, f"--output={folder}")
        try:
            self._must("enable-channel", "--userspace", f"--session={name}", *SUBBUFFER, "bench")
            self._must("enable-event", "--userspace", f"--session={name}", "--channel=bench", EVENT)
            self._must("start", name)
            yield folder, lambda: self._stop(name)
        finally:
            self._say("destroy", name)

    def _stop(self, name):
        self._must("stop", name)
        listed = self._must("list", name)
        return sum(int(count) for count in re.findall(r"Discarded events: (\d+)", listed))
