#!/usr/bin/env python3
"""Kills a run that has borrowed the machine, at every step, and looks at what is left.

    crash_test.py --culprit build/debug/culprit --borrow build/debug/tests/borrow [CLASS[.TEST]…]

The machine has fake services and a fake power profile (tests/fakes); the run is tests/crash/borrow.cc,
which is halted at a step, killed, and then looked for in everything that it touched. Whatever is
killed: with at most one `culprit restore` all is as it was, no process is left, and the lock is free.
"""
import os
import pathlib
import resource
import signal
import subprocess
import unittest

from world import AGENT, CrashTest, OPTIONS, QWEN, TIMEOUT_S, World, main, wait_until

WISHES = ["--change", "service:system:qwen.service=inactive",
          "--change", "service:user:agent.service=inactive",
          "--change", "service:system:idle.service=inactive",
          "--optional", "power-profile=performance"]
RUNNING = "run:server"  # halts when the server runs
# A server with a child in its group, which outlives it.
SERVER = ["bash", "-c", "sleep 1000 & sleep 1000"]


class BorrowedWorld(World):
    """A world with the steps of tests/crash/borrow.cc, which halts at one when told to."""

    def __init__(self):
        super().__init__()
        self.steps = self.path / "steps"
        self.steps.mkdir()
        self.environment["BORROW_STEPS"] = str(self.steps)

    def start(self, *arguments, halt=None, **popen):
        environment = dict(self.environment)
        if halt:
            environment["BORROW_HALT"] = halt
        return subprocess.Popen([OPTIONS.borrow, *arguments], env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, **popen)

    def run(self, halt=None, wishes=None, **popen):
        wishes = wishes if wishes is not None else [*WISHES, "--health", self.url]
        return self.start("run", *wishes, "--", *SERVER, halt=halt, **popen)

    def role_steps(self, role):
        file = self.steps / role
        return file.read_text().splitlines() if file.exists() else []

    def halted(self):
        return (self.steps / "halted").exists()

    def wait_until_halted(self, process=None):
        wait_until(lambda: self.halted() or (process and process.poll() is not None), "it halts")

    def go(self):
        (self.steps / "go").touch()


class BorrowTest(CrashTest):
    WORLD = BorrowedWorld

    def killed_both(self, world):
        run = world.run(RUNNING)
        world.wait_until_halted(run)
        wait_until(lambda: len(world.processes("sleep")) == 2, "the server has its child")
        world.kill_guardian()
        world.kill(run)

    def count_steps(self, role, prepare=lambda world: None):
        world = self.world()
        prepare(world)
        steps = world.role_steps(role)
        self.assertGreater(len(steps), 8, f"{role} took these steps: {steps}")
        return len(steps)

    def at_each_step(self, count, role, check):
        """Calls check with a new world and where to halt in it, for each of a role's steps."""
        for number in range(1, count + 1):
            with self.subTest(halt=f"{role}:{number}"):
                check(self.world(), f"{role}:{number}")

    def at_each_step_of_a_run(self, check):
        """The same, with a run that is halted there."""
        def halted(world, halt):
            run = world.run(halt)
            world.wait_until_halted(run)
            check(world, run)

        count = self.count_steps("run", lambda world: self.finished(world.run()))
        self.at_each_step(count, "run", halted)


class KilledAtEachStep(BorrowTest):
    def test_the_run(self):
        def check(world, run):
            self.restored_after_kill(world, run)
        self.at_each_step_of_a_run(check)

    def test_the_guardian(self):
        def check(world, run):
            world.kill_guardian()
            world.go()
            code, said = self.finished(run)
            self.assertEqual(code, 0, said)
            self.assert_as_before(world)
        self.at_each_step_of_a_run(check)

    def test_both(self):
        def check(world, run):
            world.kill_guardian()
            world.kill(run)
            self.restored_by_command(world)
        self.at_each_step_of_a_run(check)

    def test_both_and_then_a_new_run(self):
        def check(world, run):
            world.kill_guardian()
            world.kill(run)
            code, said = self.finished(world.run())
            self.assertEqual(code, 0, said)
            self.assert_as_before(world)
        self.at_each_step_of_a_run(check)

    def test_the_server(self):
        def check(world, run):
            for pid in world.processes("sleep"):
                os.kill(pid, signal.SIGKILL)
            world.go()
            code, said = self.finished(run)
            self.assertEqual(code, 0, said)
            self.assert_as_before(world)
        self.at_each_step_of_a_run(check)

    def test_the_guardian_while_it_restores(self):
        def kill_a_run_with_a_server(world, *guardian_halts):
            run = world.run(",".join([RUNNING, *guardian_halts]))
            world.wait_until_halted(run)
            wait_until(lambda: len(world.processes("sleep")) == 2, "the server has its child")
            (world.steps / "halted").unlink()
            world.kill(run)

        def whole(world):
            kill_a_run_with_a_server(world)
            self.assert_as_before(world)

        def check(world, halt):
            kill_a_run_with_a_server(world, halt)
            world.wait_until_halted()
            self.assertFalse(world.lock_is_free())
            world.kill_guardian()
            self.restored_by_command(world)
        self.at_each_step(self.count_steps("guardian", whole), "guardian", check)

    def test_the_restore_command(self):
        def whole(world):
            self.killed_both(world)
            self.finished(world.start("restore"))

        def check(world, halt):
            self.killed_both(world)
            (world.steps / "halted").unlink()
            restore = world.start("restore", halt=halt)
            world.wait_until_halted(restore)
            self.assertFalse(world.lock_is_free())
            world.kill(restore)
            self.restored_by_command(world)
        self.at_each_step(self.count_steps("restore", whole), "restore", check)


class Signalled(BorrowTest):
    def test_at_each_step(self):
        """The signals by which people stop programs, also those of a terminal that goes away."""
        signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

        def check(world, run):
            signals.append(signals.pop(0))
            for pid in [run.pid, *world.processes("guardian")]:
                os.kill(pid, signals[0])
            world.go()
            code, said = self.finished(run)
            self.assertIn(code, (0, 130), said)
            self.assert_as_before(world)
        self.at_each_step_of_a_run(check)

    def test_before_the_server_is_exit_130(self):
        world = self.world()
        run = world.run("run:journal")
        world.wait_until_halted(run)
        run.send_signal(signal.SIGINT)
        world.go()
        self.assertEqual(self.finished(run)[0], 130)
        self.assertFalse([call for call in world.calls() if " stop " in call])
        self.assert_as_before(world)


class Faults(BorrowTest):
    def refused(self, world, run, *words):
        """A run that ends with exit 5 and these words; returns what it said."""
        code, said = self.finished(run)
        self.assertEqual(code, 5, said)
        for word in words:
            self.assertIn(word, said)
        return said

    def untouched(self, world):
        self.assertFalse([call for call in world.calls()
                          if " stop " in call or " start " in call or " set " in call])
        self.assert_as_before(world)

    def test_a_full_disk(self):
        world = self.world()

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        self.refused(world, world.run(preexec_fn=small_files), "File too large")
        self.untouched(world)

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount a small disk")
    def test_a_full_tmpfs(self):
        world = self.world()
        world.state_folder.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs",
                                  world.state_folder], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("mounting is not possible here")
        try:
            self.refused(world, world.run(), "No space left on device")
            self.untouched(world)
        finally:
            subprocess.run(["umount", "-l", world.state_folder], check=True)

    def test_a_disk_that_fills_while_the_machine_is_borrowed(self):
        world = self.world()
        run = world.run("run:guardian")
        world.wait_until_halted(run)
        size = world.journal.stat().st_size
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (size, size))
        world.go()
        run.communicate(timeout=TIMEOUT_S)  # SIGXFSZ or an error: the guardian or the run restores
        self.assertNotEqual(run.returncode, 0)
        self.assert_as_before(world)

    def test_a_state_folder_that_cannot_be_written(self):
        world = self.world()
        world.state_folder.write_text("a file, no folder")
        self.refused(world, world.run())
        world.state_folder.unlink()
        self.untouched(world)

    def test_a_service_that_does_not_exist(self):
        world = self.world()
        self.refused(world, world.run(wishes=["--change", "service:system:gone.service=inactive"]),
                     "gone.service", "there is no such unit")
        self.untouched(world)

    def test_a_name_that_is_an_option(self):
        world = self.world()
        code, said = self.finished(
            world.run(wishes=["--change", "service:system:--root=x.service=inactive"]))
        self.assertEqual(code, 2, said)
        self.untouched(world)

    def test_a_service_that_will_not_start_again(self):
        world = self.world()
        world.set(QWEN, "start_fails")
        self.refused(world, world.run(), "NOT RESTORED", "qwen.service", "is failed",
                     "journalctl -u qwen.service", "culprit restore")
        self.assertTrue(world.journal.exists())
        self.assertEqual(world.state(AGENT), "active")  # the others are back
        code, said = world.restore()
        self.assertEqual(code, 5, said)
        code, said = self.finished(world.run())  # and no new run before that is mended
        self.assertEqual(code, 5, said)
        (world.host / QWEN / "start_fails").unlink()
        self.restored_by_command(world)

    def test_a_service_that_hangs_when_started(self):
        world = self.world()
        world.set(QWEN, "start_hangs")
        world.environment["BORROW_PATIENCE_S"] = "1"
        self.refused(world, world.run(), "NOT RESTORED", "is still activating")
        (world.host / QWEN / "start_hangs").unlink()
        world.set(QWEN, "state", "failed")
        self.restored_by_command(world)

    def test_a_service_that_fails_when_stopped_is_stopped(self):
        world = self.world()
        world.set(QWEN, "stop_fails")
        code, said = self.finished(world.run())
        self.assertEqual(code, 0, said)
        self.assert_as_before(world)

    def test_a_service_that_could_not_come_back_is_not_stopped(self):
        world = self.world()
        world.set(QWEN, "transient")
        self.refused(world, world.run(), "systemd could not start it again")
        self.untouched(world)

    def test_a_server_that_does_not_answer_again(self):
        world = self.world()
        world.environment["BORROW_PATIENCE_S"] = "1"
        run = world.run(RUNNING)
        world.wait_until_halted(run)
        world.web.shutdown()
        world.web.server_close()
        world.go()
        self.refused(world, run, "NOT RESTORED", world.url, "does not answer 200")
        self.assertEqual(world.snapshot(), world.before)
        self.assertEqual(world.restore("--abandon")[0], 0)
        self.assert_as_before(world)

    def test_what_somebody_else_changed_is_left(self):
        world = self.world()
        run = world.run(RUNNING)
        world.wait_until_halted(run)
        (world.host / "profile").write_text("power-saver\n")
        world.set(AGENT, "state", "active")
        world.go()
        code, said = self.finished(run)
        self.assertEqual(code, 0, said)
        self.assertIn("power profile is power-saver and was balanced: left", said)
        self.assertFalse([call for call in world.calls() if call.endswith("start agent.service")])
        world.before["profile"] = "power-saver"
        self.assert_as_before(world)

    def test_no_power_profiles(self):
        world = self.world()
        (world.host / "no_profiles").touch()
        code, said = self.finished(world.run())
        self.assertEqual(code, 0, said)
        self.assertIn("warning: power profile stays as it is", said)
        self.assert_as_before(world)

    def test_no_systemd(self):
        world = self.world()
        (world.host / "no_systemd").touch()
        self.refused(world, world.run(), "System has not been booted with systemd")
        (world.host / "no_systemd").unlink()
        self.untouched(world)

    def test_a_reboot(self):
        world = self.world()
        self.killed_both(world)
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        text = world.journal.read_text().replace(boot, "11111111-2222-3333-4444-555555555555")
        # A process of the earlier boot whose pid and age are somebody's now.
        stranger = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        try:
            ticks = pathlib.Path(f"/proc/{stranger.pid}/stat").read_text().rpartition(") ")[2]
            text += ('{"sequence":90,"process":%d,"started_ticks":%s,"session":%d,"what":"server",'
                     '"boot":"11111111-2222-3333-4444-555555555555"}\n'
                     % (stranger.pid, ticks.split()[19], stranger.pid))
            world.journal.write_text(text)
            for pid in world.processes():  # a reboot leaves none
                os.kill(pid, signal.SIGKILL)
            code, said = world.restore()
            self.assertEqual(code, 0, said)
            self.assertIn("rebooted", said)
            self.assertIsNone(stranger.poll())
            self.assert_as_before(world)
        finally:
            stranger.kill()
            stranger.wait()

    def test_a_torn_and_a_damaged_journal(self):
        world = self.world()
        self.killed_both(world)
        with world.journal.open("a") as file:
            file.write('{"sequence":99,"setting":"service:system:oth')
        self.restored_by_command(world)

        world = self.world()
        self.killed_both(world)
        world.journal.write_text("noise\n" + world.journal.read_text())
        code, said = world.restore()
        self.assertEqual(code, 5, said)
        self.assertIn("lines that cannot be read: 1", said)
        self.assertEqual(world.snapshot(), world.before)  # all the same
        self.assertEqual(world.restore("--abandon")[0], 0)
        self.assert_as_before(world)

    def test_a_second_run_is_told_who_has_the_machine(self):
        world = self.world()
        run = world.run(RUNNING)
        world.wait_until_halted(run)
        second = world.start("run", "--no-wait", "--", *SERVER)
        self.refused(world, second, "in use by another run", f"process {run.pid}, borrow")
        world.go()
        self.assertEqual(self.finished(run)[0], 0)
        self.assert_as_before(world)

    def test_a_second_run_waits_for_the_guardian(self):
        world = self.world()
        run = world.run(RUNNING)
        world.wait_until_halted(run)
        second = world.start("run", *WISHES, "--", *SERVER)
        self.assertIn("waiting for the machine", second.stderr.readline())
        world.kill(run)
        self.assertEqual(self.finished(second)[0], 0)
        self.assert_as_before(world)


class Sudo(BorrowTest):
    """Changes that the user alone may not make. Root needs no sudo, so this becomes nobody."""

    def setUp(self):
        super().setUp()
        self.world()
        self.user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        world = self.worlds[0]
        (world.host / QWEN / "denied").touch()
        (world.host / "profile_denied").touch()
        if self.user:
            for path in [world.path, *world.path.rglob("*")]:
                os.chown(path, 65534, 65534)

    def test_helps_where_access_is_denied(self):
        world = self.worlds[0]
        code, said = self.finished(world.run(**self.user))
        self.assertEqual(code, 0, said)
        self.assertIn("sudo systemctl --no-ask-password --no-block stop qwen.service",
                      world.calls())
        self.assertIn("sudo powerprofilesctl set balanced", world.calls())
        self.assertFalse([call for call in world.calls() if "sudo" in call and "agent" in call])
        self.assert_as_before(world)

    def test_that_wants_a_password_ends_the_run(self):
        world = self.worlds[0]
        (world.host / "sudo_password").touch()
        code, said = self.finished(world.run(**self.user))
        self.assertEqual(code, 5, said)
        self.assertIn("a password is required", said)
        self.assert_as_before(world)

    def test_that_only_remembers_a_password_is_not_enough(self):
        """What the user typed a minute ago is forgotten by the time the service is to start."""
        world = self.worlds[0]
        (world.host / "sudo_remembers").touch()
        code, said = self.finished(world.run(**self.user))
        self.assertEqual(code, 5, said)
        self.assertIn("it is left running, because only a person could start it again", said)
        self.assertFalse([call for call in world.calls() if " stop " in call])
        self.assert_as_before(world)

    def test_that_wants_a_password_when_all_is_to_be_put_back(self):
        world = self.worlds[0]
        run = world.run(RUNNING, **self.user)
        world.wait_until_halted(run)
        (world.host / "sudo_password").touch()
        world.go()
        code, said = self.finished(run)
        self.assertEqual(code, 5, said)
        self.assertIn("NOT RESTORED: service qwen.service", said)
        (world.host / "sudo_password").unlink()
        (world.host / QWEN / "denied").unlink()
        (world.host / "profile_denied").unlink()
        self.restored_by_command(world)


if __name__ == "__main__":
    main("culprit", "borrow")
