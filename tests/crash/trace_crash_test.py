#!/usr/bin/env python3
"""Kills `culprit trace` all along, and looks at the machine and the run directory.

    trace_crash_test.py --culprit build/debug/culprit [CLASS[.TEST]…]

As ab_crash_test.py, but the pairs are there already: what is killed takes the traces that they lack,
under the stand-in for rocprofv3. Whatever is killed, `culprit run --resume` ends with a whole trace of
each variant, and no trace is counted that is not whole.
"""
import json
import shutil
import sys

sys.dont_write_bytecode = True
from ab_crash_test import KilledAllAlong  # noqa: E402
from ab_world import DONE, INVALID, SERVER, AbWorld, claimed_port  # noqa: E402
from world import FAKES, main  # noqa: E402


class TraceWorld(AbWorld):
    """A run directory with pairs and without traces; it is made once, and copied."""
    PORT, MEASURED = claimed_port(), None

    def __init__(self):
        super().__init__()
        self.port = self.PORT
        self.environment |= {"CULPRIT_ROCPROFV3": str(FAKES / "rocprofv3"), "FAKE_MS_PER_TOKEN": "2"}
        if not TraceWorld.MEASURED:
            run = self.culprit("run", "--variant", f"a={SERVER}", "--variant", f"b={SERVER}|extra=-b",
                               "--prompt-tokens", "50", "--tokens", "8", "--pairs", "2", "--no-gate",
                               "--idle-readings", "0", "--port", str(self.port), *self.borrow[:-2],
                               "--collector", "rocprofv3", "--into", str(self.run_folder))
            said = run.communicate(timeout=60)[1]
            assert run.returncode == INVALID, said  # these traces show no steps
            shutil.rmtree(self.run_folder / "traces")
            TraceWorld.MEASURED = {path.relative_to(self.run_folder): path.read_bytes()
                                   for path in self.run_folder.rglob("*") if path.is_file()}
            shutil.rmtree(self.run_folder)
            (self.host / "calls").write_text("")
        for name, content in TraceWorld.MEASURED.items():
            (self.run_folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.run_folder / name).write_bytes(content)

    def ab(self, *more, **popen):
        return self.culprit("trace", "--resume", str(self.run_folder), *more, **popen)

    def resume(self):
        return self.culprit("run", "--resume", str(self.run_folder))

    def traces(self):
        """What trial.json says of each trace that was kept, and its folder."""
        folders = sorted((self.run_folder / "traces").glob("[0-9]*"))
        return [(json.loads((folder / "trial.json").read_text()), folder) for folder in folders]


class KilledWhileTracing(KilledAllAlong):
    WORLD, COMPLETED = TraceWorld, (INVALID,)  # traces of the stand-in show no steps
    MOMENTS, SAID = 3, "2 traces kept"

    def assert_completed(self, world):
        super().assert_completed(world)
        whole = set()
        for record, folder in world.traces():
            if not record["objections"]:
                whole.add(record["variant"])
                self.assertEqual((folder / record["trace"]["file"]).stat().st_size,
                                 record["trace"]["bytes"])
        self.assertEqual(whole, {"a", "b"})
        self.assertFalse((world.run_folder / "traces" / ".next").exists())


if __name__ == "__main__":
    main("culprit")
