"""A machine for crash tests: fake services and a fake power profile (tests/fakes), a server with a
health address, a lock, a state folder; and what is left of them afterwards."""
import argparse
import fcntl
import http.server
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAKES = ROOT / "tests" / "fakes"
TIMEOUT_S = 60
OPTIONS = argparse.Namespace(culprit=None)

QWEN, AGENT, OTHER, IDLE = ("system/qwen.service", "user/agent.service", "system/other.service",
                            "system/idle.service")


def wait_until(condition, what):
    """Looks every 5 ms; what takes longer than a minute has failed."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"in vain: waiting until {what}")
        time.sleep(0.005)


class Health(http.server.BaseHTTPRequestHandler):
    """The user's own server: it answers while its service is active."""

    def do_GET(self):
        self.send_response(200 if self.server.world.state(QWEN) == "active" else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


class World:
    """A machine: services, a profile, a server with a health address, a lock, a state folder."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="culprit-crash-"))
        self.host = self.path / "host"
        self.state_folder, self.lock = self.path / "state", self.path / "lock"
        self.journal = self.state_folder / "journal.jsonl"
        for unit, state in ((QWEN, "active"), (AGENT, "active"), (OTHER, "active"),
                            (IDLE, "inactive")):
            (self.host / unit).mkdir(parents=True)
            (self.host / unit / "state").write_text(state + "\n")
        self.set(QWEN, "delay", "1")
        (self.host / "profile").write_text("balanced\n")
        (self.host / "calls").touch()
        self.web = http.server.HTTPServer(("127.0.0.1", 0), Health)
        self.web.world = self
        threading.Thread(target=self.web.serve_forever, kwargs={"poll_interval": 0.01},
                         daemon=True).start()
        self.url = f"http://127.0.0.1:{self.web.server_port}/health"
        self.environment = {"PATH": f"{FAKES}:{os.environ['PATH']}", "FAKE_HOST": str(self.host),
                            "CULPRIT_STATE_DIR": str(self.state_folder), "LC_ALL": "C.UTF-8",
                            "CULPRIT_LOCK": str(self.lock)}
        self.before = self.snapshot()

    def close(self):
        self.web.shutdown()
        self.web.server_close()
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.path)

    def set(self, unit, name, text=""):
        (self.host / unit / name).write_text(text + "\n")

    def state(self, unit):
        return (self.host / unit / "state").read_text().strip()

    def snapshot(self):
        return {unit: self.state(unit) for unit in (QWEN, AGENT, OTHER, IDLE)} | {
            "profile": (self.host / "profile").read_text().strip()}

    def calls(self):
        return (self.host / "calls").read_text().splitlines()

    def restore(self, *arguments):
        """`culprit restore`: exit code and what it said."""
        done = subprocess.run([OPTIONS.culprit, "restore", *arguments], env=self.environment,
                              capture_output=True, text=True, timeout=TIMEOUT_S)
        return done.returncode, done.stderr

    def processes(self, name=None):
        """Living processes of this world, known by their environment; with a name, by its argument."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or int(entry.name) == os.getpid():
                    continue
                words = (entry / "environ").read_bytes().split(b"\0")
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
                dead = (entry / "stat").read_text().rpartition(") ")[2][0] in "ZX"
            except OSError:
                continue
            if f"FAKE_HOST={self.host}".encode() in words and not dead:
                if name is None or name.encode() in arguments:
                    found.append(int(entry.name))
        return found

    def kill_guardian(self):
        for pid in self.processes("guardian"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:  # it has ended with its run
                continue
            wait_until(lambda: pid not in self.processes("guardian"), "the guardian is gone")

    def kill(self, process):
        process.kill()
        process.communicate()

    def guardian_log(self):
        log = self.state_folder / "guardian.log"
        return log.read_text() if log.exists() else "there is no guardian.log"

    def lock_is_free(self):
        with open(self.lock, "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True


class CrashTest(unittest.TestCase):
    """A test with a new machine whenever it asks for one."""
    WORLD = World

    def setUp(self):
        self.worlds = []

    def tearDown(self):
        for world in self.worlds:
            world.close()

    def world(self):
        for old in self.worlds:
            old.close()
        self.worlds = [self.WORLD()]
        return self.worlds[0]

    def assert_as_before(self, world):
        """Everything is as it was, and what was none of our business was never touched."""
        wait_until(lambda: not world.processes(), f"no process is left: {world.processes()}")
        # What a process held goes a moment after its entry in /proc.
        wait_until(lambda: not world.lock.exists() or world.lock_is_free(), "the lock is free")
        self.assertEqual(world.snapshot(), world.before, world.guardian_log())
        self.assertFalse(world.journal.exists(), world.guardian_log())
        changes = [call for call in world.calls() if " start " in call or " stop " in call]
        self.assertFalse([call for call in changes if "other" in call or "idle" in call])

    def restored_after_kill(self, world, run):
        """Kills a run: its guardian puts the machine back, or, before there is one, a command."""
        guarded = bool(world.processes("guardian"))
        world.kill(run)
        if guarded:
            self.assert_as_before(world)  # without any command
        else:
            self.restored_by_command(world)

    def restored_by_command(self, world):
        code, said = world.restore()
        self.assertEqual(code, 0, said)
        self.assert_as_before(world)

    def finished(self, process):
        said = process.communicate(timeout=TIMEOUT_S)[1]
        return process.returncode, said


def main(*programs, **numbers):
    """Runs the script's tests; programs are options that name a path, numbers have defaults."""
    parser = argparse.ArgumentParser()
    for name in programs:
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest])
