#!/usr/bin/env python3
"""What tests/cmd/run does when a text does not hold."""
import pathlib
import subprocess
import tempfile
import unittest

RUN = pathlib.Path(__file__).with_name("run")


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("culprit", "#!/bin/sh\necho one; echo two; echo three\n").chmod(0o755)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def run_it(self, path, *options):
        return subprocess.run([RUN, "--culprit", self.folder / "culprit", *options, path],
                              capture_output=True, text=True)

    def test_a_mismatch_fails_prints_a_diff_and_leaves_what_it_got(self):
        path = self.write("x.test", "$ culprit\n--- stdout\none\n2\nthree\n")
        done = self.run_it(path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-2\n+two\n", done.stdout)
        self.assertEqual(self.folder.joinpath("x.test.got").read_text(),
                         "$ culprit\n--- stdout\none\ntwo\nthree\n")

    def test_an_unexpected_exit_code_fails(self):
        self.assertEqual(self.run_it(self.write("x.test", "$ exit 2\n")).returncode, 1)

    def test_a_missing_newline_is_a_difference(self):
        path = self.write("x.test", "$ printf one\n--- stdout\none\n")
        self.assertEqual(self.run_it(path).returncode, 1)

    def test_commands_run_in_one_shell_until_one_fails(self):
        path = self.write("x.test", "$ a=1\n$ echo $a\n$ (exit 3)\n$ culprit\n")
        self.run_it(path, "--update")
        self.assertTrue(path.read_text().endswith("$ culprit\n--- stdout\n1\n--- exit 3\n"))

    def test_update_rewrites_and_keeps_the_elision(self):
        path = self.write("x.test", "# Why.\n$ culprit\n--- stdout\n1\n...\n--- exit 1\n")
        self.assertEqual(self.run_it(path, "--update").returncode, 0)
        self.assertEqual(path.read_text(), "# Why.\n$ culprit\n--- stdout\none\n...\n")
        self.assertEqual(self.run_it(path).returncode, 0)

    def test_update_finds_the_lines_between_elisions_again(self):
        path = self.write("x.test", "$ seq 10 29\n--- stdout\n10\n...\n15\n16\n+\n...\n0\n")
        self.run_it(path, "--update")
        self.assertEqual(path.read_text(),
                         "$ seq 10 29\n--- stdout\n10\n...\n15\n16\n17\n...\n29\n")

    def test_only_culprit_in_console_blocks_of_a_document_is_run(self):
        path = self.write("x.md", "$ culprit\n```console\n$ false\n$ culprit x\none\n...\n```\n")
        self.assertEqual(self.run_it(path).returncode, 0)

    def test_an_empty_block_of_a_document_is_filled(self):
        path = self.write("x.md", "```console\n$ culprit\n```\n")
        self.assertEqual(self.run_it(path).returncode, 1)
        self.run_it(path, "--update")
        self.assertEqual(path.read_text(), "```console\n$ culprit\none\ntwo\nthree\n```\n")


unittest.main()
