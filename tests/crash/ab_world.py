"""A world in which `culprit ab` compares two fake servers, and what is left of it afterwards."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

from world import FAKES, OPTIONS, TIMEOUT_S, CrashTest, World, wait_until

sys.path.append(str(FAKES.parent))
from ports import claimed_port  # noqa: E402

SERVER = str(FAKES / "llama_server")
DONE, INVALID, ENVIRONMENT, INTERRUPTED = 0, 3, 5, 130
PAIRS = 2


class AbWorld(World):
    """The experiment borrows all that this machine has, and takes a few seconds."""
    GATE = ["--no-gate"]

    def __init__(self):
        super().__init__()
        self.run_folder, self.temporary = self.path / "run", self.path / "tmp"
        self.record, self.requests = self.path / "record", self.path / "requests"
        self.temporary.mkdir()
        self.port = claimed_port()
        self.environment |= {"FAKE_RECORD": str(self.record), "FAKE_REQUESTS": str(self.requests),
                             "TMPDIR": str(self.temporary), "COLUMNS": "100"}
        self.borrow = ["--stop-service", "qwen.service", "--stop-service", "idle.service",
                       "--stop-user-service", "agent.service", "--power-profile", "performance",
                       "--health", str(self.web.server_port)]

    def culprit(self, *arguments, **popen):
        return subprocess.Popen([OPTIONS.culprit, *arguments], env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=self.path,
                                stderr=subprocess.PIPE, errors="surrogateescape", **popen)

    def ab(self, *more, a="", b="", **popen):
        """Runs an experiment; a and b are added to the variants, such as "|env=FAKE_FAULT=cached"."""
        return self.culprit("ab", "--variant", f"a={SERVER}{a}", "--variant", f"b={SERVER}{b}",
                            "--prompt-tokens", "50", "--tokens", "8", "--pairs", str(PAIRS),
                            "--idle-readings", "0", "--port", str(self.port), *self.GATE, *self.borrow,
                            "--into", str(self.run_folder), *more, **popen)

    def resume(self):
        return self.culprit("ab", "--resume", str(self.run_folder))

    def summarize(self):
        return self.culprit("summarize", str(self.run_folder))

    def is_run_directory(self):
        return all((self.run_folder / name).exists() for name in ("experiment.toml", "run.json"))

    def trials(self):
        """What trial.json says of each trial that was kept."""
        folders = sorted((self.run_folder / "trials").glob("[0-9]*"))
        return [json.loads((folder / "trial.json").read_text()) for folder in folders]

    def kill_servers(self):
        servers = self.processes(SERVER)
        for pid in servers:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return servers

    def progress(self):
        """Changes whenever the experiment has come further, as seen from outside."""
        def size(path):
            try:
                return path.stat().st_size
            except OSError:
                return -1
        # Not rglob: it fails when a folder goes meanwhile.
        files = [(folder, sorted(names)) for folder, _, names in os.walk(self.run_folder)]
        watched = (self.journal, self.record, self.requests, self.host / "calls")
        return sorted(files), *map(size, watched)


class AbTest(CrashTest):
    WORLD, COMPLETED = AbWorld, (DONE,)  # how a command ends that goes on to the end

    def ended(self, run):
        """Exit code, stdout and stderr of a process."""
        out, said = run.communicate(timeout=TIMEOUT_S)
        return run.returncode, out, said

    def assert_as_before(self, world):
        super().assert_as_before(world)
        with socket.socket() as probe:  # the port is free again
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", world.port))
        self.assertEqual(os.listdir(world.temporary), [])

    def assert_readable(self, world):
        """`culprit summarize` gives a verdict, or says why it cannot."""
        code, out, said = self.ended(world.summarize())
        if not world.is_run_directory():
            self.assertIn(code, (INVALID, ENVIRONMENT), said)
            return
        self.assertIn(code, (DONE, INVALID), said)
        complete = {trial["pair"] for trial in world.trials() if not trial["objections"]}
        self.assertTrue("inconclusive" in out or "Nothing was compared" in out + said, out + said)
        self.assertTrue(code == INVALID or complete, out)

    def assert_completed(self, world):
        """The run directory holds all pairs, and both commands say the same of them."""
        code, out, said = self.ended(world.summarize())
        self.assertEqual(code, DONE, said)
        self.assertIn(f"{PAIRS} pairs", " ".join(out.split()))  # however the lines are broken
        self.assertFalse((world.run_folder / "trials" / ".next").exists())

    def complete(self, world):
        """Goes on with what was broken off, or begins anew where nothing is there yet."""
        if not world.is_run_directory():  # killed while it was made: nothing was run
            shutil.rmtree(world.run_folder, ignore_errors=True)
        run = world.resume() if world.is_run_directory() else world.ab()
        code, out, said = self.ended(run)
        self.assertIn(code, self.COMPLETED, said)
        self.assertIn("b", out)
        self.assert_completed(world)
        self.assert_as_before(world)

    def at_progress(self, world, run, count):
        """Waits until the run has come further `count` times, or has ended; tells which."""
        seen, last = 0, world.progress()

        def reached():
            nonlocal seen, last
            now = world.progress()
            seen, last = seen + (now != last), now
            return seen >= count or run.poll() is not None
        wait_until(reached, f"the run comes further {count} times")
        return run.poll() is None

    def count_progress(self):
        """How often a whole run comes further; a few less, for looks can miss some."""
        world = self.world()
        run, seen, last = world.ab(), 0, world.progress()
        while run.poll() is None:
            now = world.progress()
            seen, last = seen + (now != last), now
        self.assertEqual(self.ended(run)[0], DONE)
        self.assert_as_before(world)
        return seen
