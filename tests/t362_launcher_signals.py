# SPDX-License-Identifier: MIT
# shows: signals reach the program under metaltap run once, from processes and from the terminal, and stop and go on
"""Runs a program that logs the signals it gets, sends signals in every way, and reads the log.

Nothing here depends on times: each step waits for what it causes, and the runner's time limit ends a hang.
"""

import os
import pathlib
import pty
import signal
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ["BUILD"])
WORK = pathlib.Path(os.environ["WORK"])
METALTAP = str(BUILD / "bin/metaltap")
LIBRARY = WORK / "dummy.so"
LOG = WORK / "log"
KEYS = 10  # how often each is pressed: a second delivery may fall together with the first, but not always

# Logs the signals named as arguments, each delivery at once; the last of them ends it with code 9.
LOGGER = r"""
import os, signal, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
names = sys.argv[2].split(",")
# Python's own handlers run later and once for several deliveries; what goes to this pipe does not.
reading, writing = os.pipe()
os.set_blocking(writing, False)
signal.set_wakeup_fd(writing)
for name in names:
    signal.signal(getattr(signal, name), lambda number, frame: None)
if len(sys.argv) > 3:
    os.setpgid(0, 0)
os.write(log, b"pid %d\n" % os.getpid())
while True:
    name = signal.Signals(os.read(reading, 1)[0]).name
    os.write(log, (name + "\n").encode())
    if name == names[-1]:
        os._exit(9)
"""


def fail(text):
    sys.exit(f"FAIL: {text}")


def expect(what, expected, actual):
    if expected != actual:
        fail(f"{what}:\n  expected {expected}\n  got      {actual}")


def until(what, condition):
    """Waits for a condition; the runner's limit is what ends a hang, this one only names it."""
    for _ in range(6000):
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    return fail(f"still waiting for: {what}")


def log_lines():
    return LOG.read_text().split("\n")[:-1] if LOG.exists() else []


def logger(*signals):
    LOG.unlink(missing_ok=True)
    return [METALTAP, "run", "--quiet", "--", sys.executable, "-c", LOGGER, str(LOG), ",".join(signals)]


def child_pid():
    return int(until("the program's start", lambda: [x for x in log_lines() if x.startswith("pid ")])[0][4:])


def state(pid):
    """The state letter of a process, as ps shows it."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def check_passed_on():
    """Each signal that a process sends to metaltap arrives at the program, once."""
    names = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGALRM", "SIGCONT", "SIGTERM"]
    process = subprocess.Popen(logger(*names), start_new_session=True)
    child_pid()
    for count, name in enumerate(names, 1):
        process.send_signal(getattr(signal, name))
        until(f"{name} to arrive", lambda: len(log_lines()) > count)
    expect("exit code", 9, process.wait())
    expect("signals", names, log_lines()[1:])


def check_default_action():
    """A program that handles nothing is ended by the signal, and metaltap says so by its code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGRTMIN + 1):
        process = subprocess.Popen([METALTAP, "run", "--quiet", "--", "sh", "-c", "echo started; exec sleep 1000"],
                                   stdout=subprocess.PIPE, start_new_session=True)
        process.stdout.readline()
        process.send_signal(number)
        expect(f"exit code after signal {number}", 128 + number, process.wait())


def check_killed_child():
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT):
        process = subprocess.Popen(logger("SIGUSR1"), stderr=subprocess.PIPE)
        os.kill(child_pid(), number)
        expect(f"exit code after {number} of the program", 128 + number, process.wait())


def check_ignored():
    """What the caller ignores stays ignored (nohup), for metaltap and for the program."""
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    script = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN); input()"
    with subprocess.Popen([METALTAP, "run", "--quiet", "--", sys.executable, "-u", "-c", script],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=ignore) as process:
        expect("SIGHUP ignored in the program", b"True\n", process.stdout.readline())
        process.send_signal(signal.SIGHUP)
        process.stdin.write(b"\n")
        process.stdin.close()
        expect("exit code", 0, process.wait())


def check_inherited_state():
    """The program finds signals as metaltap found them: nothing blocked, nothing handled."""
    lines = [f"Sig{kind}" for kind in ("Blk", "Ign", "Cgt")]
    script = "; ".join(f"grep {x} /proc/self/status" for x in lines)
    plain = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    tapped = subprocess.run([METALTAP, "run", "--quiet", "--", "sh", "-c", script], capture_output=True, text=True,
                            check=True).stdout
    expect("signal state", plain, tapped)

    # With SIGCHLD ignored and everything blocked, metaltap still sees the end and changes neither.
    def odd():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGUSR1})
    done = [subprocess.run([*front, "grep", "-E", "SigBlk|SigIgn", "/proc/self/status"], capture_output=True,
                           text=True, preexec_fn=odd, check=False) for front in ([], [METALTAP, "run", "--quiet", "--"])]
    expect("odd signal state", done[0].stdout, done[1].stdout)
    expect("exit code", 0, done[1].returncode)


def check_stop_of_child_alone():
    """SIGSTOP to the program alone does not stop metaltap, and SIGCONT lets it go on."""
    process = subprocess.Popen(logger("SIGUSR1", "SIGTERM"))
    pid = child_pid()
    os.kill(pid, signal.SIGSTOP)
    until("the program to stop", lambda: state(pid) == "T")
    process.send_signal(signal.SIGUSR1)
    expect("log while stopped", 1, len(log_lines()))
    os.kill(pid, signal.SIGCONT)
    until("SIGUSR1 to arrive", lambda: "SIGUSR1" in log_lines())
    process.send_signal(signal.SIGTERM)
    expect("exit code", 9, process.wait())


class Terminal:
    """A session of its own with a terminal, whose leader starts metaltap as a shell with job control does."""

    def __init__(self, command):
        self.master, slave = pty.openpty()
        self.status_read, status_write = os.pipe()
        self.leader = os.fork()
        if self.leader == 0:
            os.close(self.master)
            os.close(self.status_read)
            self.lead(slave, status_write, command)
        os.close(slave)
        os.close(status_write)
        self.statuses = os.fdopen(self.status_read)
        self.job = int(self.statuses.readline())

    @staticmethod
    def lead(slave, status, command):
        """What a shell does: the job in its own group in front, and told what becomes of it."""
        os.setsid()
        import fcntl
        import termios
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(slave, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            for fd in (0, 1, 2):
                os.dup2(slave, fd)
            os.execv(command[0], command)
        os.write(status, b"%d\n" % job)
        while True:
            _, code = os.waitpid(job, os.WUNTRACED)
            if os.WIFSTOPPED(code):
                os.write(status, b"stopped\n")
                os.tcsetpgrp(slave, os.getpgrp())
                signal.sigwait({signal.SIGUSR1})
                os.tcsetpgrp(slave, job)
                os.killpg(job, signal.SIGCONT)
            else:
                os.write(status, b"ended %d\n" % os.waitstatus_to_exitcode(code))
                os._exit(0)

    def type(self, key):
        os.write(self.master, key)

    def foreground(self):
        os.kill(self.leader, signal.SIGUSR1)

    def next_status(self):
        return self.statuses.readline().strip()

    def close(self):
        os.waitpid(self.leader, 0)
        self.statuses.close()
        os.close(self.master)


def check_terminal():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})  # for the leader, which waits for it
    terminal = Terminal(logger("SIGINT", "SIGQUIT", "SIGCONT", "SIGTERM"))
    pid = child_pid()
    for count in range(1, KEYS + 1):
        terminal.type(b"\x03")
        until("Ctrl-C to arrive", lambda: log_lines().count("SIGINT") >= count)
        terminal.type(b"\x1c")
        until("Ctrl-\\ to arrive", lambda: log_lines().count("SIGQUIT") >= count)
    for _ in range(3):
        before = len(log_lines())
        terminal.type(b"\x1a")
        expect("what the shell sees after Ctrl-Z", "stopped", terminal.next_status())
        expect("state of the program", "T", state(pid))
        expect("state of metaltap", "T", state(terminal.job))
        terminal.foreground()
        until("SIGCONT to arrive", lambda: len(log_lines()) > before)
        until("both to go on", lambda: state(pid) == "S" and state(terminal.job) == "S")
    # A stop that a process asks for goes the same way.
    os.kill(terminal.job, signal.SIGTSTP)
    expect("what the shell sees after SIGTSTP", "stopped", terminal.next_status())
    expect("state of the program", "T", state(pid))
    terminal.foreground()
    until("both to go on", lambda: state(pid) == "S" and state(terminal.job) == "S")
    os.kill(terminal.job, signal.SIGTERM)
    expect("the end", "ended 9", terminal.next_status())
    counted = [x for x in log_lines()[1:] if x != "SIGCONT"]
    expect("signals from the terminal", ["SIGINT", "SIGQUIT"] * KEYS + ["SIGTERM"], counted)
    terminal.close()


def check_terminal_other_group():
    """A program that left the group gets the terminal's signals from metaltap."""
    terminal = Terminal([*logger("SIGINT"), "own group"])
    child_pid()
    terminal.type(b"\x03")
    expect("the end", "ended 9", terminal.next_status())
    expect("signals", ["SIGINT"], log_lines()[1:])
    terminal.close()


def main():
    (WORK / "dummy.c").write_text("int dummy;\n")
    subprocess.run(["clang-19", "-shared", "-fPIC", "-o", LIBRARY, WORK / "dummy.c"], check=True)
    os.environ["METALTAP_LIBRARY"] = str(LIBRARY)
    for check in (check_passed_on, check_default_action, check_killed_child, check_ignored, check_inherited_state,
                  check_stop_of_child_alone, check_terminal, check_terminal_other_group):
        print(check.__name__, flush=True)
        check()


main()
