#!/usr/bin/env python3
"""Commands that documents give without what they print are ones that the program understands.

    doc_commands.py --culprit build/debug/culprit FILE.md…

Such a command stands in a ```sh block or is indented by four. It is run in a folder that has the
files it names; those that would start a server are run with --dry-run and must succeed. The others
may lack their input, but none may be a usage error. `$ culprit` in ```console blocks is for cmd/run.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

START_SERVERS = {"ab", "run", "trace", "counters"}
USAGE = 2


def commands(text):
    """The commands of a document, each in one line."""
    fence, found, lines = None, [], iter(text.splitlines())
    for line in lines:
        if line.startswith("```"):
            fence = None if fence else line.strip("` ") or "text"
        elif fence == "sh" or (fence is None and line.startswith("    ")):
            while line.endswith("\\"):
                line = line[:-1] + next(lines)
            if line.strip().startswith("culprit "):
                found.append(line.strip())
    return found


def prepare(folder, culprit):
    """Files by the names that documents give them."""
    for server in ("bin/llama-server", "llama-server"):
        path = folder / server
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
    for model in ("model.gguf", "qwen.gguf"):
        (folder / model).write_bytes(b"GGUF")
    example = subprocess.run([culprit, "init", "-"], capture_output=True, check=True, text=True)
    text = example.stdout.replace("/path/to", str(folder))
    (folder / "experiment.toml").write_text(text)


def check(command, culprit):
    """Runs a command; returns what is wrong with it, or None."""
    words = command.split()
    dry = words[1] in START_SERVERS and not {"--resume", "--read"} & set(words)
    line = re.sub(r"\s#.*$", "", command)
    if dry and "--dry-run" not in words:
        line += " --dry-run"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if words[1] != "init":
            prepare(folder, culprit)
        environment = {"PATH": f"{folder}:{culprit.parent}:{os.environ['PATH']}", "HOME": name,
                       "LC_ALL": "C.UTF-8", "CULPRIT_STATE_DIR": f"{name}/state",
                       "CULPRIT_LOCK": f"{name}/lock"}
        done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if done.returncode == USAGE or (dry and done.returncode != 0):
        return f"{command}\n  exit {done.returncode}: {done.stderr.strip()}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--culprit", type=pathlib.Path, required=True, help="the program to test")
    parser.add_argument("files", type=pathlib.Path, nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    wrong, count = [], 0
    for path in arguments.files:
        for command in commands(path.read_text()):
            count += 1
            problem = check(command, arguments.culprit.resolve())
            if problem:
                wrong.append(f"{path}: {problem}")
    print(*wrong, f"{count} commands, {len(wrong)} wrong", sep="\n")
    sys.exit(not count or bool(wrong))


main()
