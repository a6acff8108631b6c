#!/usr/bin/env python3
"""Traces a fake server under the stand-in for rocprofv3 in every way in which that can behave: the
complete trace is kept, or its loss reported with the reason, and no process is left.

Deadlines are a tenth of the real ones, and so are the stand-in's pauses: 1 s is 10 s.

    rocprofv3_test.py --collect build/debug/tests/collect [TestCase[.test]…]
"""
import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
FAKES = os.path.join(TESTS, "fakes")
sys.dont_write_bytecode = True
sys.path.append(TESTS)
from ports import claimed_port  # noqa: E402

TOOL = os.path.join(FAKES, "rocprofv3")
SERVER = os.path.join(FAKES, "llama_server")
NOT_A_TRACE, DAMAGED, INTERRUPTED = 3, 5, 14  # base::ErrorCode
OWN_STOP = "SIGTERM, and the server's own stop"
HANDLER = "SIGTERM went to the tool's handler"
collect = None


def command(folder, *options):
    return [collect, "--folder", folder, "--port", str(claimed_port()), *options, SERVER]


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


class Trial(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="culprit-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, words, version="7.2", scale=0.1, options=(), **environment):
        environment = {**os.environ, "CULPRIT_ROCPROFV3": TOOL, "FAKE_ROCPROF": words,
                       "FAKE_ROCPROF_VERSION": version, "FAKE_MS_PER_TOKEN": "16",
                       "FAKE_ROCPROF_PAUSE_S": "1.1", **environment}
        return subprocess.Popen(
            command(self.folder, "--scale", str(scale), *options), env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        """What the collector said, after what must hold of any end of it."""
        out, self.err = process.communicate(timeout=100)
        self.assertIn(process.returncode, (0, 1), self.err)
        said = json.loads(out)
        self.assertEqual(said["alive"], 0, said)
        self.assertNotIn("Received second interrupt", self.log())
        self.show(said)
        return said

    def trace(self, *args, **more):
        self.setUp()  # a folder for each trace of a test
        return self.finish(self.start(*args, **more))

    def show(self, said):
        took = said["finish_s"] - said.get("flush_s", 0)
        print(f"{self.id().split('.', 1)[1]:<50} {took:6.2f} s beside the flush: "
              f"{said.get('how') or said['error']}", file=sys.stderr)

    def log(self):
        with open(os.path.join(self.folder, "server.log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def assert_whole(self, said, counters=()):
        self.assertNotIn("error", said)
        path = os.path.join(self.folder, said["file"])
        self.assertEqual(said["bytes"], os.path.getsize(path))
        self.assertFalse(os.path.exists(path + "-journal"))
        if path.endswith(".db"):
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                ids = [row[0] for row in database.execute("SELECT dispatch_id FROM rocpd_kernel_dispatch")]
                self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        else:
            with open(path, newline="", encoding="utf-8") as file:
                ids = [int(row["Dispatch_Id"]) for row in csv.DictReader(file)]
            ids = ids[::max(1, len(counters))]  # a row for each
        self.assertEqual(ids, list(range(1, len(ids) + 1)))
        self.assertGreater(len(ids), 1000)
        # The spill files are gone, and with them their folder.
        self.assertFalse(os.path.exists(os.path.join(self.folder, "rocprofv3-spill")))

    def assert_lost(self, said, code, *reasons):
        self.assertEqual(said.get("code"), code, said)
        for reason in reasons:
            self.assertIn(reason, said["error"])
        self.assertIn("everything was kept in", said["error"])
        self.assertTrue(os.path.exists(os.path.join(self.folder, "rocprofv3-spill")))


class Kept(Trial):
    """The whole trace, whatever the tool does on the way."""

    def check(self, words, version, path):
        """path is how the trace was asked for. Which evidence comes first is a matter of luck where the
        tool says that it is done and the server then leaves; one that spins has to be killed."""
        said = self.trace(words, version)
        self.assert_whole(said)
        self.assertIn(path, said["how"])
        if "spin" in words:
            self.assertIn("1 process was killed", said["how"])
        if "quiet" in words:
            self.assertIn("nobody had the file open any more", said["how"])
        return said

    def test_leaves_by_itself(self):
        said = self.check("", "7.2", OWN_STOP)
        self.assertTrue(said["file"].endswith("_results.db"))

    def test_leaves_by_itself_6_4(self):
        said = self.check("", "6.4", HANDLER)
        self.assertTrue(said["file"].endswith("_kernel_trace.csv"))

    def test_other_versions(self):
        for version in ("7.1", "7.13"):
            with self.subTest(version):
                self.check("", version, f"ROCm {version}.0")

    def test_spins_with_a_marker(self):
        self.check("spin", "7.2", OWN_STOP)

    def test_spins_without_a_marker(self):
        self.check("spin quiet", "7.2", OWN_STOP)

    def test_spins_6_4(self):
        self.check("spin", "6.4", HANDLER)
        self.check("spin quiet", "6.4", "SIGTERM")

    def test_pauses_with_a_marker(self):
        self.check("pause spin", "7.2", OWN_STOP)

    def test_pauses_without_a_marker(self):
        self.check("pause quiet spin", "7.2", OWN_STOP)

    def test_pauses_6_4(self):
        self.check("pause quiet spin", "6.4", "SIGTERM")

    def test_stuck_in_its_own_stop(self):
        self.check("stuck", "7.2", "SIGTERM brought nothing, SIGQUIT went to the tool's handler")

    def test_a_child_that_never_ends(self):
        said = self.check("children", "7.2", OWN_STOP)
        self.assertEqual(said["notes"], [])

    def test_waits_for_a_child_that_never_ends(self):
        said = self.check("children", "6.4", HANDLER)
        self.assertEqual(said["notes"], ["the tool waited for processes that the server had started; "
                                         "they were ended"])

    def test_two_traces(self):
        for version in ("7.2", "6.4"):
            with self.subTest(version):
                said = self.check("two", version, "SIGTERM")
                self.assertEqual(len(said["others"]), 1)
                self.assertNotEqual(said["others"][0], said["file"])

    def test_rocprofv3_stays_and_waits(self):
        self.check("parent", "7.2", OWN_STOP)

    def test_the_server_had_left(self):
        said = self.trace("", options=["--stop-first"])
        self.assert_whole(said)
        self.assertIn("no signal was needed", said["how"])

    def test_a_real_pause_of_ten_seconds(self):
        said = self.trace("pause quiet spin", scale=1, FAKE_ROCPROF_PAUSE_S="10.5")
        self.assert_whole(said)


class Counted(Trial):
    """Counters instead of a trace, by the same way."""
    NAMES = ("SQ_WAVES", "GRBM_GUI_ACTIVE")

    def count(self, words, version="7.2", names=NAMES, **more):
        return self.trace(words, version, options=["--pmc", ",".join(names)], **more)

    def test_in_each_version(self):
        for version, path in (("6.4", HANDLER), ("7.1", OWN_STOP), ("7.2", OWN_STOP), ("7.13", OWN_STOP)):
            with self.subTest(version):
                said = self.count("", version)
                self.assert_whole(said, self.NAMES)
                self.assertTrue(said["file"].endswith("_counter_collection.csv"))
                self.assertIn(path, said["how"])
                self.assertEqual(said["notes"], [])

    def test_spins_and_pauses(self):
        for words in ("spin", "pause quiet spin"):
            with self.subTest(words):
                said = self.count(words)
                self.assert_whole(said, self.NAMES)
                self.assertIn("1 process was killed", said["how"])

    def test_gaps_between_ids_are_no_holes(self):
        said = self.count("gaps")
        self.assertNotIn("error", said)

    def test_leaves_out_what_it_does_not_know(self):
        said = self.count("", names=("SQ_WAVES", "SQ_WAVE"))
        self.assert_whole(said, ("SQ_WAVES",))
        self.assertEqual(len(said["notes"]), 1)
        self.assertIn("nothing was counted of SQ_WAVE (the tool said: Unable to find all counters for agent 1 "
                      "(gpu-0, gfx1151) in [SQ_WAVES, SQ_WAVE]. Found: [SQ_WAVES]); rocprofv3-avail list --pmc",
                      said["notes"][0])

    def test_knows_none(self):
        self.assert_lost(self.count("", names=("SQ_WAVE",)), NOT_A_TRACE, "the counters are lost",
                         "the tool said: Unable to find all counters", "rocprofv3-avail list --pmc")

    def test_lost(self):
        self.assert_lost(self.count("short"), DAMAGED, "the counters are lost", "its last dispatch is")
        self.assert_lost(self.count("half quiet spin", scale=0.01), DAMAGED, "before the request's end")
        self.assert_lost(self.count("hot"), DAMAGED, "its last line is cut")
        self.assert_lost(self.count("full", "6.4"), DAMAGED, "No space left on device")


class Lost(Trial):
    """No trace, and the reason."""

    def test_writes_none(self):
        self.assert_lost(self.trace("none"), NOT_A_TRACE, "there is no trace of the server's process",
                         "the tool writes nothing when it sees no kernel")

    def test_writes_none_and_spins(self):
        self.assert_lost(self.trace("none spin"), NOT_A_TRACE,
                         "the tool said that it has written everything, but there is no trace")

    def test_lost_dispatches(self):
        self.assert_lost(self.trace("gaps spin"), DAMAGED, "dispatches are missing in it")

    def test_lost_the_end(self):
        self.assert_lost(self.trace("short"), DAMAGED, "its last dispatch is", "before the request's end")

    def test_lost_the_times(self):
        self.assert_lost(self.trace("zero"), DAMAGED, "its dispatches carry no times")

    def test_dies_in_the_middle(self):
        said = self.trace("hot")
        self.assert_lost(said, DAMAGED, "it was cut while it was written", "the last of them")
        self.assertTrue([name for name in files_below(self.folder) if name.endswith("-journal")])
        self.assert_lost(self.trace("hot", "6.4"), DAMAGED, "its last line is cut")

    def test_the_disk_is_full(self):
        self.assert_lost(self.trace("full"), DAMAGED, "database or disk is full", "make room on the disk")
        self.assert_lost(self.trace("full-hang"), DAMAGED, "database or disk is full")

    def test_the_handler_deadlocks(self):
        self.assert_lost(self.trace("deadlock", "6.4", scale=0.01), NOT_A_TRACE,
                         "the tool wrote nothing for", HANDLER)

    def test_the_handler_spins(self):
        self.assert_lost(self.trace("busy", "6.4", scale=0.005), NOT_A_TRACE, "the tool wrote nothing for")

    def test_the_handler_hangs(self):
        self.assert_lost(self.trace("hang", "6.4"), NOT_A_TRACE, "began to write nothing for")

    def test_half_a_file_that_was_closed(self):
        self.assert_lost(self.trace("half quiet spin", scale=0.01), DAMAGED, "before the request's end")


class Interfered(Trial):
    """Somebody else takes part."""

    def pid_of(self, process):
        line = process.stderr.readline()
        self.assertTrue(line.startswith("pid "), line)
        return int(line.split()[1])

    def wait_for(self, text, process):
        while text not in self.log():
            self.assertIsNone(process.poll())
            time.sleep(0.01)

    def test_a_second_signal_cuts_the_file(self):
        for version, begun in (("7.2", "writing SQL database"), ("6.4", "Opened result file")):
            with self.subTest(version):
                self.setUp()
                process = self.start("pause", version, FAKE_ROCPROF_PAUSE_S="30")
                pid = self.pid_of(process)
                self.wait_for(begun, process)
                os.kill(pid, signal.SIGTERM)
                said = json.loads(process.communicate(timeout=100)[0])
                self.show(said)
                self.assert_lost(said, DAMAGED, "the server left, and it")

    def test_the_user_stops(self):
        process = self.start("pause spin", FAKE_ROCPROF_PAUSE_S="30")
        pid = self.pid_of(process)
        self.wait_for("writing SQL database", process)
        process.send_signal(signal.SIGINT)
        said = self.finish(process)
        self.assertEqual(said["code"], INTERRUPTED)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "rocprofv3")))

    def refused(self, tool):
        process = subprocess.run(command(self.folder), capture_output=True, text=True,
                                 env={**os.environ, "CULPRIT_ROCPROFV3": tool}, check=False)
        return json.loads(process.stdout)["error"]

    def test_the_tool_is_not_there(self):
        self.assertIn("names no program", self.refused("/none/rocprofv3"))

    def test_a_folder_that_was_used_is_refused(self):
        os.mkdir(os.path.join(self.folder, "rocprofv3"))
        self.assertIn("is there already; a trace needs a trial of its own", self.refused(TOOL))


class StandIn(unittest.TestCase):
    """The stand-in refuses what the real one would."""

    def run_it(self, *words, version="7.2"):
        return subprocess.run([TOOL, *words], capture_output=True, text=True,
                              env={**os.environ, "FAKE_ROCPROF_VERSION": version}, check=False)

    def test_refuses_flags_that_its_version_lacks(self):
        for version, flag in (("6.4", "--disable-signal-handlers"), ("7.2", "--kfd-trace"),
                              ("7.13", "--bogus")):
            with self.subTest(version):
                refused = self.run_it(flag, "--", "true", version=version)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(f"rocprofv3: error: unrecognized arguments: {flag}", refused.stderr)

    def test_6_4_has_no_rocpd(self):
        refused = self.run_it("-f", "rocpd", "--", "true", version="6.4")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("invalid choice: 'rocpd'", refused.stderr)

    def test_asks_for_the_hyphens(self):
        refused = self.run_it("--kernel-trace")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("double-hyphen (--) is required", refused.stderr)


if __name__ == "__main__":
    at = sys.argv.index("--collect")
    collect = os.path.abspath(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    unittest.main()
