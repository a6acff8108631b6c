#!/usr/bin/env python3
"""Kills `culprit ab` all along an experiment, and looks at the machine and the run directory.

    ab_crash_test.py --culprit build/debug/culprit [CLASS[.TEST]…]

The servers, services and profile are fakes (tests/fakes). A run is killed when it has been seen to
come a number of steps further: an entry in the journal, a file in the run directory, a request to
a server, a call of systemctl. With CULPRIT_LONG_TESTS it is killed at each of them, otherwise at
MOMENTS of them. Whatever is killed: with at most one `culprit restore` the machine is as it was,
the run directory can be read, and `culprit ab --resume` completes it.
"""
import os
import resource
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from ab_world import (DONE, ENVIRONMENT, INTERRUPTED, INVALID, PAIRS, AbTest, wait_until)  # noqa: E402
from world import AGENT, QWEN, main  # noqa: E402


class KilledAllAlong(AbTest):
    MOMENTS, SAID = 12, "inconclusive"  # SAID is in the output of a run that nothing disturbed

    def all_along(self, check):
        """Calls check with a world and a run that has come to each of the moments."""
        count = self.count_progress()
        self.assertGreater(count, 2 * self.MOMENTS)
        step = 1 if os.environ.get("CULPRIT_LONG_TESTS") else count / self.MOMENTS
        moments = sorted({int(1 + step * i) for i in range(int(count / step))})
        done = 0
        for moment in moments:
            with self.subTest(moment=moment, of=count):
                world = self.world()
                run = world.ab()
                self.at_progress(world, run, moment)
                check(world, run)
                self.assert_readable(world)
                self.complete(world)
                done += 1
        print(f"{self.id()}: {done} of {len(moments)} moments survived", file=sys.stderr)

    def test_the_run(self):
        def check(world, run):
            run.send_signal(signal.SIGSTOP)
            self.restored_after_kill(world, run)
        self.all_along(check)

    def test_the_guardian(self):
        def check(world, run):
            world.kill_guardian()
            code, out, said = self.ended(run)
            self.assertEqual(code, DONE, said)
            self.assertIn(self.SAID, out)
            self.assert_as_before(world)
        self.all_along(check)

    def test_both(self):
        def check(world, run):
            run.send_signal(signal.SIGSTOP)
            world.kill_guardian()
            world.kill(run)
            self.restored_by_command(world)
        self.all_along(check)

    def test_the_server(self):
        def check(world, run):
            killed = world.kill_servers()
            code, out, said = self.ended(run)
            self.assertIn(code, (DONE, INVALID) if killed else (DONE,), said)
            if code == INVALID:
                self.assertRegex(said, r"server left|connection|cannot connect")
            self.assert_as_before(world)
        self.all_along(check)

    def test_signals(self):
        signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

        def check(world, run):
            signals.append(signals.pop(0))
            for pid in [run.pid, *world.processes("guardian")]:
                try:
                    os.kill(pid, signals[0])
                except ProcessLookupError:  # a guardian whose run has ended already
                    pass
            code, out, said = self.ended(run)
            self.assertIn(code, (INTERRUPTED, DONE), said)
            if code == INTERRUPTED:
                self.assertEqual(out, "")
                self.assertIn("interrupted", said)
            self.assert_as_before(world)
        self.all_along(check)


class Faults(AbTest):
    def refused(self, world, run, *words):
        """A run that ends with exit 5 and these words, and without a verdict."""
        code, out, said = self.ended(run)
        self.assertEqual(code, ENVIRONMENT, said)
        self.assertEqual(out, "")
        for word in words:
            self.assertIn(word, said)

    def mended(self, world):
        """What could not be restored before can be now, and the experiment is complete on disk."""
        self.restored_by_command(world)
        self.assert_completed(world)

    def first_trial(self, world, run):
        wait_until(lambda: world.trials() or run.poll() is not None, "a trial is kept")

    def test_a_service_that_will_not_start_again(self):
        world = self.world()
        world.set(QWEN, "start_fails")
        self.refused(world, world.ab(), "NOT RESTORED", "qwen.service", "is failed",
                     "culprit restore")
        self.assertEqual(world.state(AGENT), "active")
        (world.host / QWEN / "start_fails").unlink()
        self.mended(world)

    def test_a_server_of_the_user_that_does_not_answer_again(self):
        world = self.world()
        run = world.ab("--health-timeout", "1")
        self.first_trial(world, run)
        world.web.shutdown()
        world.web.server_close()
        self.refused(world, run, "NOT RESTORED", f"127.0.0.1:{world.web.server_port}/health",
                     "does not answer 200")
        self.assertEqual(world.snapshot(), world.before)
        self.assertEqual(world.restore("--abandon")[0], 0)
        self.assert_as_before(world)

    def test_a_disk_that_fills(self):
        world = self.world()
        world.run_folder.mkdir()
        mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", world.run_folder],
            capture_output=True).returncode == 0
        if not mounted:
            self.skipTest("only root can mount a small disk")
        try:
            self.refused(world, world.ab(), "No space left on device")
            self.assert_as_before(world)
            self.assert_readable(world)
            subprocess.run(["mount", "-o", "remount,size=10m", world.run_folder], check=True)
            self.complete(world)
        finally:
            subprocess.run(["umount", "-l", world.run_folder], check=True)

    def test_files_that_may_not_grow(self):
        world = self.world()
        run = world.ab()
        self.first_trial(world, run)
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (4096, 4096))  # trial.json has more
        self.refused(world, run, "File too large")
        self.assert_as_before(world)
        self.assert_readable(world)
        self.complete(world)

    def test_a_second_experiment_is_told_who_has_the_machine(self):
        world = self.world()
        run = world.ab()
        self.first_trial(world, run)
        second = world.culprit("ab", "--resume", str(world.run_folder), "--no-wait")
        self.refused(world, second, "in use by another run", f"process {run.pid}, culprit ab")
        self.assertEqual(self.ended(run)[0], DONE)
        self.assert_as_before(world)


    def test_a_second_experiment_waits_and_finds_the_run_complete(self):
        world = self.world()
        run = world.ab()
        self.first_trial(world, run)
        second = world.resume()
        for each in (run, second):
            code, out, said = self.ended(each)
            self.assertEqual(code, DONE, said)
            self.assertIn("inconclusive", out)
        self.assertEqual(len(world.trials()), 2 * PAIRS)
        self.assert_as_before(world)


if __name__ == "__main__":
    main("culprit")
