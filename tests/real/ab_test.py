#!/usr/bin/env python3
"""culprit ab with the real llama-server: verdicts, what voids a trial, and what breaks a run off.

    ab_test.py --culprit build/debug/culprit [CLASS[.TEST]…]

The server is $CULPRIT_LLAMA_SERVER and the model $CULPRIT_TEST_MODEL; scripts/test sets both. Runs
are as short as they may be: what is shown is that each thing works, not how fast anything is.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from ports import claimed_port  # noqa: E402

SERVER, MODEL = os.environ.get("CULPRIT_LLAMA_SERVER"), os.environ.get("CULPRIT_TEST_MODEL")
SKIPPED = 77  # SKIP_RETURN_CODE in tests/CMakeLists.txt
LIMIT_S = 240
PROMPT = 300  # tokens; one calibration for all runs of a class, as all name the same model
ARGUMENTS = "-t 1 -np 1 -c 8192"
OPTIONS = argparse.Namespace(culprit=None)


def await_that(condition, what):
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"waited for {what} in vain")


def can_listen(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def variant(label, *keys):
    return ["--variant", "|".join([f"{label}={SERVER}", *keys])]


class Ab(unittest.TestCase):
    """A machine of its own (state, lock, port) for each class, and a folder for its runs."""
    GATE = ["--no-gate"]

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.home = pathlib.Path(cls.folder.name)
        cls.model = cls.home / "model.gguf"  # its path tells our servers from all others
        cls.model.symlink_to(os.path.abspath(MODEL))
        cls.port = claimed_port()
        cls.environment = {**os.environ, "CULPRIT_STATE_DIR": str(cls.home / "state"),
                           "CULPRIT_LOCK": str(cls.home / "lock"), "COLUMNS": "200"}

    def tearDown(self):
        self.assertEqual(self.servers(), [], "a server was left")
        self.assertTrue(can_listen(self.port), "a port was left taken")

    def servers(self):
        """Pids of the servers that this class has started."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if words[:1] == [SERVER.encode()] and bytes(str(self.home), "utf-8") in b" ".join(words):
                found.append(int(entry.name))
        return found

    def command(self, name, *options, model=None):
        return [OPTIONS.culprit, "ab", "--model", str(model or self.model), "--arguments", ARGUMENTS,
                "--prompt-tokens", str(PROMPT), "--idle-readings", "0", "--port", str(self.port),
                "--into", name, *options]

    def culprit(self, *words, expect=0, **environment):
        done = subprocess.run([OPTIONS.culprit, *words], cwd=self.home,
                              env={**self.environment, **environment}, timeout=LIMIT_S,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def ab(self, name, *options, expect=0, **more):
        """(what was printed, the report for machines)"""
        words = self.command(name, "-o", f"{name}.json", *self.GATE, *options, **more)[1:]
        done = self.culprit(*words, expect=expect)
        return done, json.loads((self.home / f"{name}.json").read_text())

    def trials(self, name):
        """The folders of a run's trials, in order."""
        return sorted((self.home / name / "trials").glob("[0-9]*"))

    def record(self, trial):
        return json.loads((trial / "trial.json").read_text())


def rows(report, table):
    return next((t["rows"] for t in report["tables"] if t["id"] == table), [])


def note_ids(report):
    return {note["id"] for note in report["notes"]}


class Gated(Ab):
    GATE = []

    def kv(self, name, *options, expect=0):
        return self.ab(name, *variant("f16"), *options, "--tokens", "64", "--pairs", "2", expect=expect)

    def test_answers_that_are_the_same_let_a_speed_be_claimed(self):
        done, report = self.kv("q8", *variant("q8", "kv=q8_0"))
        self.assertIn("gate: q8 answers as f16 does", done.stderr)
        answer, = rows(report, "answers")
        self.assertEqual((answer["answer"], answer["prompt_tokens"], answer["positions"]),
                         ("equivalent", PROMPT, 64))
        self.assertIn("q8 answers as f16 does", report["headline"][-1])
        self.assertLess(done.stderr.index("gate: q8 answers"), done.stderr.index("trial 1"))
        again = self.culprit("ab", "--resume", "q8")
        self.assertIn("nothing is left to do", again.stderr)

    def test_answers_that_differ_stand_above_every_speed(self):
        done, report = self.kv("q4", *variant("q4", "kv=q4_0"), expect=4)
        self.assertIn("Not the same answers, so no speed to claim: q4", report["headline"][0])
        self.assertIn("gate_failed", note_ids(report))
        self.assertEqual(len(rows(report, "verdicts")), 2)  # they are told all the same
        for command in (["summarize", "q4"], ["gate", "--read", "q4"], ["ab", "--resume", "q4"]):
            said = self.culprit(*command, expect=4)
            self.assertIn("q4 does not answer as f16 does", " ".join(said.stdout.split())[:130])
        self.culprit("ab", "--resume", "q4", "--fail-on", "regression", expect=4)

    def test_what_is_said_to_be_approximate_passes(self):
        _, report = self.kv("said", *variant("q4", "kv=q4_0", "answers=approximate"))
        self.assertEqual(rows(report, "answers")[0]["answer"], "diverged")
        self.assertIn("approximate", note_ids(report))
        self.assertNotIn("no speed to claim", " ".join(report["headline"]))

    def test_a_baseline_that_cannot_be_compared_with_ends_before_any_trial(self):
        words = self.command("small", *variant("f16", "extra=-c 256"), *variant("b"), "--tokens", "64",
                             "--pairs", "2")[1:]
        done = self.culprit(*words, expect=3)
        self.assertEqual(self.trials("small"), [], done.stderr)


class Verdicts(Ab):
    def test_kv_types_come_to_a_verdict_with_an_interval(self):
        done, report = self.ab("kv", *variant("f16", "kv=f16"), *variant("q4", "kv=q4_0"),
                               "--tokens", "64", "--pairs", "4")
        f16, q4 = rows(report, "variants")
        self.assertEqual((f16["kv_cache_mib"], q4["kv_cache_mib"]), (16, 4.5))
        self.assertEqual((f16["runs"], q4["runs"]), (4, 4))
        decode, prefill = rows(report, "verdicts")
        self.assertEqual((decode["metric"], prefill["metric"]), ("decode", "prefill"))
        for row in decode, prefill:
            self.assertIn(row["verdict"], ("regression", "improvement", "no meaningful difference",
                                           "inconclusive"))
            self.assertLess(row["interval_low"], row["change"])
            self.assertGreater(row["interval_high"], row["change"])
        self.assertRegex(done.stdout, r"(?m)^  f16 +4 .* 16 ")
        self.assertNotIn("same_identity", note_ids(report))
        named = {row["fact"]: row["named"] for row in rows(report, "differences")}
        self.assertEqual(named, {"kv_cache_mib": True, "kv_cache_type": True})

    def test_the_same_server_twice_is_an_a_a(self):
        _, report = self.ab("same", *variant("a"), *variant("b"), "--tokens", "32", "--pairs", "2")
        self.assertIn("same_identity", note_ids(report))
        self.assertEqual(rows(report, "differences"), [])

    def test_too_many_threads_decode_slower(self):
        done, report = self.ab("threads", *variant("t1"), *variant("t64", "extra=-t 64"),
                               "--tokens", "48", "--pairs", "4", "--fail-on", "regression",
                               expect=1)
        decode = rows(report, "verdicts")[0]
        self.assertEqual(decode["verdict"], "regression")
        self.assertGreater(decode["interval_low"], 0)
        self.assertIn("dismissed", note_ids(report))
        self.assertIn("t64 decodes", done.stdout)

    def test_speculation_shows_its_acceptance_and_is_proved_to_be_there(self):
        symbol = b"ggml_vec_dot_q4_0_q8_0"
        self.assertNotIn(symbol, pathlib.Path(SERVER).read_bytes())
        _, report = self.ab("ngram", *variant("plain"),
                            *variant("ngram", "extra=--spec-type ngram-simple",
                                     "expect-log=adding speculative implementation 'ngram-simple'",
                                     f"expect-symbol={symbol.decode()}"),
                            "--tokens", "256", "--pairs", "2")
        plain, ngram = rows(report, "variants")
        self.assertIsNone(plain["acceptance"])
        self.assertGreater(ngram["acceptance"], 0)
        self.assertLess(ngram["acceptance"], 1)

    def test_a_kept_prompt_is_evaluated_once_a_variant(self):
        _, report = self.ab("kept", *variant("a"), *variant("b"), "--cache-prompt", "--tokens", "32",
                            "--pairs", "2")
        self.assertEqual([row["metric"] for row in rows(report, "verdicts")], ["decode"])
        trials = self.trials("kept")
        for trial in trials:
            timings = json.loads((trial / "request.json").read_text())["timings"]
            self.assertEqual((timings["cache_n"], timings["prompt_n"]), (PROMPT - 1, 1))
        self.assertEqual([self.record(trial)["facts"].get("prompt_from") for trial in trials],
                         [None, None, "saved slot", "saved slot"])
        evaluated = [[int(n) for n in re.findall(r"prompt eval time = +[\d.]+ ms / +(\d+) tokens",
                                                 (trial / "server.log").read_text())]
                     for trial in trials]
        self.assertEqual(evaluated, [[PROMPT, 1], [PROMPT, 1], [1, 1], [1, 1]])
        self.assertFalse((self.home / "kept" / "slots").exists())

    def test_a_floor_is_kept_and_a_run_says_the_same_everywhere(self):
        done, report = self.ab("aa", "--aa", *variant("a"), "--tokens", "32", "--pairs", "6")
        self.assertEqual([row["variant"] for row in rows(report, "variants")], ["a", "a (again)"])
        found = re.search(r"noise floor of this machine: decode ([\d.]+) %", done.stderr)
        self.assertTrue(found, done.stderr)
        before, report = self.ab("next", *variant("a"), *variant("b"), "--tokens", "32", "--pairs",
                                 "2")
        floor = json.loads((self.home / "next" / "run.json").read_text())["noise_floor"]["decode"]
        self.assertAlmostEqual(100 * floor, float(found[1]), delta=0.06)
        self.assertEqual(rows(report, "verdicts")[0]["margin"], max(floor, 0.01))
        self.assertIn("noise_floor", note_ids(report) if floor > 0.01 else {"noise_floor"})

        shutil.move(self.home / "next", self.home / "elsewhere")
        self.environment = {**self.environment, "CULPRIT_STATE_DIR": str(self.home / "other")}
        after = self.culprit("summarize", "elsewhere")
        self.assertEqual(after.stdout.replace("elsewhere", "next"), before.stdout)


class Refused(Ab):
    def assert_void(self, name, reason, *options, **more):
        """What is wrong with the second variant ends the experiment, and everybody is told."""
        done, report = self.ab(name, "--tokens", "16", "--pairs", "2", *options, expect=3, **more)
        void = rows(report, "void")
        self.assertEqual([(row["variant"], row["reason"]) for row in void], [("b", reason)])
        self.assertTrue(report["headline"][0].startswith("Nothing was compared: trial "))
        self.assertIn(void[0]["text"], report["headline"][0])
        last_line = done.stderr.splitlines()[-1]
        self.assertIn(void[0]["text"], last_line)
        log = re.search(r"log is (\S+)$", last_line)
        self.assertTrue((self.home / log[1]).is_file(), last_line)
        self.assertIn("the server's log: " + log[1], done.stdout)
        self.assertEqual(self.culprit("summarize", name, expect=3).stdout, done.stdout)
        return void[0]["text"]

    def test_a_line_that_the_log_lacks(self):
        said = self.assert_void("log", "log_lacks", *variant("a", "expect-log=model loaded"),
                                *variant("b", "expect-log=flashhead: [0-9]+ probes"))
        self.assertIn('"flashhead: [0-9]+ probes"', said)

    def test_a_text_that_the_build_lacks(self):
        said = self.assert_void("symbol", "symbol_missing", *variant("a"),
                                *variant("b", "expect-symbol=flashhead_probes"))
        self.assertIn('"flashhead_probes"', said)

    def test_a_model_that_is_not_there(self):
        absent = f"{self.home}/absent.gguf"
        words = self.command("absent", *self.GATE, *variant("a"), *variant("b", f"model={absent}"))[1:]
        self.assertIn(absent, self.culprit(*words, expect=5).stderr)
        self.assertFalse((self.home / "absent").exists())

    def test_a_model_that_is_torn(self):
        torn = self.home / "torn.gguf"
        torn.write_bytes(pathlib.Path(MODEL).read_bytes()[:6_000_000])
        said = self.assert_void("torn", "server_failed", *variant("a"), *variant("b", f"model={torn}"))
        self.assertIn("before it was healthy (exit 1)", said)
        self.assertIn("is not within the file bounds", said)

    def test_a_port_in_use_is_passed_over(self):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # over TIME_WAIT
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            self.ab("port", *variant("a"), *variant("b"), "--tokens", "16", "--pairs", "2")
        for trial in self.trials("port"):
            port = re.search(r"listening on http://127.0.0.1:(\d+)",
                             (trial / "server.log").read_text())
            self.assertGreater(int(port[1]), self.port)

    def test_a_dry_run_starts_nothing(self):
        words = self.command("dry", *variant("f16"), *variant("q4", "kv=q4_0"), "--pairs", "2",
                             "--seed", "7", "--dry-run")[1:]
        said = self.culprit(*words).stdout
        self.assertIn(f"{SERVER} ", said)
        self.assertIn("-ctk q4_0 -ctv q4_0", said)
        self.assertRegex(said, r"order, in 2 pairs:\n  (f16 q4\n  q4 f16|q4 f16\n  f16 q4)")
        self.assertFalse((self.home / "dry").exists())


class BrokenOff(Ab):
    def start(self, name, *options):
        self.stderr = open(self.home / f"{name}.stderr", "w+")
        self.addCleanup(self.stderr.close)
        process = subprocess.Popen(self.command(name, *self.GATE, *options), cwd=self.home,
                                   env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=self.stderr)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def said(self):
        self.stderr.seek(0)
        return self.stderr.read()

    def test_a_server_that_is_killed_during_its_request(self):
        process = self.start("killed", *variant("a"), *variant("b"), "--tokens", "6000", "--pairs", "2")
        log = self.home / "killed" / "trials" / ".next" / "server.log"
        # The warm-up is over when its timings are in the log; 6,000 tokens take seconds.
        await_that(lambda: log.is_file() and "prompt eval time" in log.read_text(errors="replace"),
                   "the warm-up")
        os.kill(self.servers()[0], signal.SIGKILL)
        self.assertEqual(process.wait(LIMIT_S), 3, self.said())
        last_line = self.said().splitlines()[-1]
        self.assertIn("llama-server left during a request (killed by signal 9", last_line)
        self.assertTrue((self.home / last_line.split("log is ")[1]).is_file(), last_line)

    def test_a_run_goes_on_after_an_interruption(self):
        options = [*variant("a"), *variant("b"), "--tokens", "64", "--pairs", "2"]
        process = self.start("resumed", *options)
        await_that(lambda: "trial 1 " in self.said() or process.poll() is not None, "the first trial")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT_S), 130, self.said())
        self.assertIn("culprit ab --resume resumed goes on", self.said())
        self.assertEqual(self.servers(), [])
        kept = len(self.trials("resumed"))

        unfinished = self.culprit("summarize", "resumed", expect=3)
        self.assertIn("Nothing was compared", unfinished.stdout)
        self.assertIn("culprit ab --resume resumed", unfinished.stdout)

        resumed = self.culprit("ab", "--resume", "resumed")
        self.assertIn("2 pairs", resumed.stdout)
        self.assertEqual(len(self.trials("resumed")), 4 + kept)
        self.assertEqual(self.culprit("summarize", "resumed").stdout, resumed.stdout)


def main():
    if not (SERVER and MODEL):
        print("skipped: no llama-server to test with; scripts/real_server gets one for "
              "CULPRIT_LLAMA_SERVER, tools/make_gguf writes a model for CULPRIT_TEST_MODEL")
        sys.exit(SKIPPED)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--culprit", required=True, type=os.path.abspath)
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
