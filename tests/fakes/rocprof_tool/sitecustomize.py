"""The tool that the rocprofv3 of ../rocprofv3 puts into a process: it takes the process's signals,
and writes a trace when one comes or main returns.

As in the real one, up to 7.2: its handlers for SIGTERM, SIGINT, SIGQUIT and SIGABRT are there from
the start and good for one signal each; without --disable-signal-handlers the application's own are
dropped; records lie in a spill file until the end; nothing is written before the end.

FAKE_ROCPROF holds any of these words:
  quiet        says nothing on stderr (6.4 says little in any case)
  pause        stops for FAKE_ROCPROF_PAUSE_S within a transaction and between two
  spin         is busy for ever when all is written
  children     has a child that never ends, and waits for it
  two          has a child with the tool in it, which writes a trace of its own
  stuck        main never returns after the server's own stop
  hang         the handler does nothing for ever
  deadlock     says that it caught the signal, then does nothing for ever
  busy         the same at 100 % of a CPU
  none         saw no kernel, and writes no file
  gaps         lost some dispatches;  short: lost all of the last tenth;  zero: has no times
  hot          dies in the middle of a transaction
  full         the disk is full in the middle; it leaves.  full-hang: it stays
  half         writes half of the trace and closes it
  crash        cannot count on this device: aborts at its first kernel, as on gfx1151 before ROCm 7.2
FAKE_ROCPROF_FLUSH_S is how long writing takes, 0.3.

With ROCPROF_COUNTERS it counts instead: a row for each dispatch and counter. It knows COUNTERS; 6.4
ends at the first kernel where it is asked for another, later ones leave it out and say so.
"""
import atexit
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

WORDS = os.environ.get("FAKE_ROCPROF", "").split()
VERSION = os.environ.get("FAKE_ROCPROF_VERSION", "7.2")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT)
BEGAN = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
IS_CHILD = "FAKE_ROCPROF_CHILD" in os.environ
real_signal, real_exit = signal.signal, os._exit
PARTS = 6  # transactions
ASKED = os.environ.get("ROCPROF_COUNTERS", "").split()[1:]  # pmc: SQ_WAVES GRBM_GUI_ACTIVE
COUNTERS = {"SQ_WAVES": 16, "GRBM_GUI_ACTIVE": 16283, "L2CacheHit": 32.669323}


def say(text, level="W"):
    if "quiet" not in WORDS and not (VERSION == "6.4" and " sec" in text):
        os.write(2, f"{level}1130 11:20:22.123456 {os.getpid()} tool.cpp:2042] {text}\n".encode())


def seconds(name, default):
    return float(os.environ.get(name, default))


def spill_file():
    folder = os.path.join(os.environ.get("ROCPROF_TMPDIR") or os.getcwd(), ".rocprofv3")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, f"{os.getppid()}-{os.getpid()}-kernel_dispatch.dat")


def output_file(suffix):
    name = os.environ.get("ROCPROF_OUTPUT_FILE_NAME", "%hostname%/%pid%")
    name = name.replace("%hostname%", socket.gethostname()).replace("%pid%", str(os.getpid()))
    path = os.path.join(os.environ.get("ROCPROF_OUTPUT_PATH") or os.getcwd(), name + suffix)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.remove(path)
    return path


def dispatches():
    """(id, start, end): a kernel each 200 µs from the start on."""
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    count = min(20_000, max(10, (now - BEGAN) // 200_000))
    step = (now - BEGAN) // count
    rows = [(i + 1, BEGAN + i * step, BEGAN + i * step + step // 2) for i in range(count)]
    if "gaps" in WORDS:
        rows = rows[:count // 2] + rows[count // 2 + 3:]
    if "short" in WORDS:
        rows = rows[:count // 10]
    if "half" in WORDS:
        rows = rows[:count // 2]
    if "zero" in WORDS:
        rows = [(i, 0, 0) for i, _, _ in rows]
    return rows


TABLES = {
    "metadata": "id INTEGER PRIMARY KEY AUTOINCREMENT, tag TEXT, value TEXT",
    "string": "id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'GUID', string TEXT",
    "info_node": "id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'GUID', machine_id TEXT, hostname TEXT",
    "info_process": "id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'GUID', nid INTEGER, pid INTEGER, "
                    "command TEXT, environment TEXT",
    "info_agent": "id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'GUID', nid INTEGER, pid INTEGER, "
                  "type TEXT, absolute_index INTEGER, name TEXT, product_name TEXT, extdata TEXT",
    "info_kernel_symbol": "id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'GUID', nid INTEGER, "
                          "pid INTEGER, code_object_id INTEGER, kernel_name TEXT, display_name TEXT, "
                          "extdata TEXT",
    "kernel_dispatch": "id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT DEFAULT 'GUID' NOT NULL, "
                       "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, "
                       "dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, "
                       "\"end\" BIGINT, private_segment_size INTEGER, group_segment_size INTEGER, "
                       "workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, "
                       "grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, "
                       "region_name_id INTEGER, event_id INTEGER, extdata TEXT DEFAULT '{}'GRAPH",
}


def begin_database(database, guid):
    pid, suffix = os.getpid(), "_" + guid.replace("-", "_")
    graph = ", graph_exec_id INTEGER, graph_node_id INTEGER" if VERSION == "7.13" else ""
    for name, columns in TABLES.items():
        columns = columns.replace("GUID", guid).replace("GRAPH", graph)
        database.execute(f'CREATE TABLE "rocpd_{name}{suffix}" ({columns})')
        database.execute(f'CREATE VIEW rocpd_{name} AS SELECT * FROM "rocpd_{name}{suffix}"')
    for table, row in (("metadata(tag, value)", ("schema_version", "3")),
                       ("metadata(tag, value)", ("uuid", suffix)), ("metadata(tag, value)", ("guid", guid)),
                       ("string(id, string)", (1, "")),
                       ("info_node(id, hostname)", (1, "host")),
                       ("info_process(id, nid, pid, command)", (pid, 1, pid, " ".join(sys.argv))),
                       ("info_agent(id, nid, pid, type, absolute_index, name)", (1, 1, pid, "GPU", 0, "gfx1151")),
                       ("info_kernel_symbol(id, nid, pid, kernel_name, display_name)",
                        (1, 1, pid, "_Z5scalePff.kd", "scale"))):
        name, columns = table.split("(")
        values = ", ".join("?" * len(row))
        database.execute(f'INSERT INTO "rocpd_{name}{suffix}" ({columns} VALUES ({values})', row)
    return suffix


def pause(at, part):
    """In the middle of a part (True) or behind it."""
    time.sleep(seconds("FAKE_ROCPROF_FLUSH_S", 0.3) / PARTS / 2)
    if "pause" in WORDS and part == (PARTS // 2 if at else PARTS - 2):
        time.sleep(seconds("FAKE_ROCPROF_PAUSE_S", 1))


def fail_within(part):
    if part != PARTS // 2:
        return
    if "hot" in WORDS:
        os.kill(os.getpid(), signal.SIGKILL)
    if "full" in WORDS or "full-hang" in WORDS:
        say("[Errno 28] No space left on device" if VERSION == "6.4" else
            "SQLite3 error: database or disk is full", "E")
        while "full-hang" in WORDS:
            time.sleep(1000)
        real_exit(1)


def write_database(rows):
    began = time.monotonic()
    path = output_file("_results.db")
    say(f"Opened result file: {path} (UUID=00003fdc)", "E")
    say(f"writing SQL database for process {os.getpid()} on node 1")
    database = sqlite3.connect(path, isolation_level=None)
    # Rows reach the file before a transaction ends, as they do in a big one.
    database.execute("PRAGMA cache_size = 1")
    pid, guid = os.getpid(), f"00003fdc-92cb-{os.getpid():04x}"
    suffix = begin_database(database, guid)
    for part in range(PARTS):
        some = rows[part * len(rows) // PARTS:(part + 1) * len(rows) // PARTS]
        database.execute("BEGIN")
        for half, dispatch in enumerate(some):
            if half == len(some) // 2:
                pause(True, part)
                fail_within(part)
            number, start, end = dispatch
            database.execute(f'INSERT INTO "rocpd_kernel_dispatch{suffix}" (nid, pid, tid, agent_id, kernel_id, '
                             'dispatch_id, queue_id, stream_id, start, "end", workgroup_size_x, workgroup_size_y, '
                             'workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id) '
                             f"VALUES (1, {pid}, {pid}, 1, 1, {number}, 1, 0, {start}, {end}, 64, 1, 1, 640, 1, 1, 1, 1)")
        database.execute("COMMIT")
        pause(False, part)
    database.close()
    say(f"SQLite3 generation :: {'total':<24} :: {time.monotonic() - began:9.6f} sec")


HEADER = ("Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
          "Start_Timestamp,End_Timestamp,Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,"
          "Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z")


# As ROCm 7.0 writes it, of a run of llama.cpp on gfx1151.
COUNTER_HEADER = ("Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,"
                  "Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
                  "SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp")


def trace_line(number, start, end):
    return (f'"KERNEL_DISPATCH",1,1,{os.getpid()},{number},1,"scale(float*, float)",{number},{start},'
            f"{end},0,0,64,1,1,640,1,1\n")


def counter_lines(number, start, end):
    pid = os.getpid()
    before = f'"{number}","{number}","Agent 1","1","{pid}","{pid}","640","1","scale(float*, float)","64","0","0","16","0","128"'
    return "".join(f'{before},"{name}","{COUNTERS[name]:.6f}","{start}","{end}"\n' for name in found_counters())


def found_counters():
    return [name for name in ASKED if name in COUNTERS]


def write_csv(rows):
    path = output_file("_counter_collection.csv" if ASKED else "_kernel_trace.csv")
    say(f"Opened result file: {path}", "E")
    with open(path, "w", encoding="utf-8") as file:
        header = COUNTER_HEADER if ASKED else HEADER
        file.write(",".join(f'"{name}"' for name in header.split(",")) + "\n")
        for part in range(PARTS):
            some = rows[part * len(rows) // PARTS:(part + 1) * len(rows) // PARTS]
            for half, dispatch in enumerate(some):
                line = (counter_lines if ASKED else trace_line)(*dispatch)
                if half == len(some) // 2:
                    file.write(line[:20])
                    file.flush()
                    pause(True, part)
                    fail_within(part)
                    line = line[20:]
                file.write(line)
            file.flush()
            pause(False, part)
    with open(output_file("_agent_info.csv"), "w", encoding="utf-8") as file:
        file.write('"Node_Id","Agent_Type"\n0,"GPU"\n')


def finalize():
    began = time.monotonic()
    rows = [] if "none" in WORDS or (ASKED and not found_counters()) else dispatches()
    formats = os.environ.get("ROCPROF_OUTPUT_FORMAT") or ("csv" if VERSION == "6.4" else "rocpd")
    if rows:
        (write_database if "rocpd" in formats else write_csv)(rows)
    os.remove(SPILL)
    say(f"[rocprofv3] tool finalization :: {time.monotonic() - began:9.6f} sec")
    while "spin" in WORDS and not IS_CHILD:
        pass


def end_child():
    if CHILD and "two" in WORDS:  # as a router's stop ends its servers
        CHILD.stdin.close()


def wait_for_children():
    if CHILD:
        say("rocprofv3 will wait for 1 children")
    while CHILD and CHILD.poll() is None:
        time.sleep(0.01)


def on_signal(number, _frame):
    real_signal(number, signal.SIG_DFL)  # SA_RESETHAND: the next one kills
    while "hang" in WORDS:
        time.sleep(1000)
    who = f"[PPID={os.getppid()}][PID={os.getpid()}][rocprofv3_error_signal_handler] "
    say(f"{who}rocprofv3 caught signal {number}...")
    while "deadlock" in WORDS:
        time.sleep(1000)
    while "busy" in WORDS:
        pass
    end_child()
    wait_for_children()
    say(f"{who}rocprofv3 finalizing after signal {number}... ")
    finalize()
    os.kill(os.getpid(), number)


def at_first_kernel():
    """Counters are set up when the first kernel is launched, in the middle of the application."""
    time.sleep(0.1)
    if "crash" in WORDS:
        os.write(2, b"hsa_ven_amd_aqlprofile_get_info: HSA_STATUS_ERROR: iterating agents failed\n")
        os.abort()
    if found_counters() != ASKED:
        say("Unable to find all counters for agent 1 (gpu-0, gfx1151) in "
            f"[{', '.join(ASKED)}]. Found: [{', '.join(found_counters())}]", "F" if VERSION == "6.4" else "W")
        if VERSION == "6.4":
            os.abort()


def on_return():
    end_child()
    if CHILD and "two" in WORDS:
        CHILD.wait()
    say_program((time.clock_gettime_ns(time.CLOCK_BOOTTIME) - BEGAN) / 1e9)
    finalize()


def wrapped_exit(code):
    if code == 0:
        while "stuck" in WORDS:
            time.sleep(1000)
        on_return()
    real_exit(code)


def wrapped_signal(number, handler):
    if number in SIGNALS and os.environ.get("ROCPROF_SIGNAL_HANDLERS") != "0":
        return signal.SIG_DFL  # dropped: a plain handler
    return real_signal(number, handler)


def start_child():
    if IS_CHILD or not {"two", "children"} & set(WORDS):
        return None
    program = "import sys; sys.stdin.read()" if "two" in WORDS else "import time; time.sleep(1000)"
    isolated = [] if "two" in WORDS else ["-I", "-S"]  # without the tool
    return subprocess.Popen([sys.executable, *isolated, "-c", program], stdin=subprocess.PIPE,
                            env=dict(os.environ, FAKE_ROCPROF_CHILD="1"))


def say_program(took_s):
    say(f"[rocprofv3] '{' '.join(getattr(sys, 'orig_argv', sys.argv))}' :: {took_s:12.6f} sec")


say(f"[rocprofv3] tool initialization :: {0.1:12.6f} sec")
say_program(0)
SPILL = spill_file()
with open(SPILL, "wb") as spilled:
    spilled.write(b"\0" * 4096)
for one in SIGNALS:
    real_signal(one, on_signal)
CHILD = start_child()
if ASKED and not IS_CHILD:
    threading.Thread(target=at_first_kernel, daemon=True).start()
signal.signal, os._exit = wrapped_signal, wrapped_exit
if IS_CHILD:
    atexit.register(on_return)
