"""What a hostile llama-server says: the faults of tests/fakes/llama_server that begin with hostile-.

Whatever reads it must neither run it, nor print it as it is, nor keep all of it in memory.
"""
ESCAPES = "\x1b[2J\x1b[31m\x1b]0;owned\x07\x9b31m\u202e"
SHELL = "'\"; touch owned; $(touch owned) `touch owned` | touch owned & \\"
TEXT = f"{ESCAPES}\r\n\t\0{SHELL} %s %n {{}} {{0}}"
BYTES = TEXT.encode() + b"\xff\xfe\xc0\x80\xed\xa0\x80"
LONG = 10_000_000

# Lines that a reader of logs believes in.
LINES = [b"build_info: %s", b"srv    load_model: loading model '%s'", b"print_info: general.name = %s",
         b"load_backend: loaded %s backend from /x.so", b"main: using device %s (x)",
         b"llama_context: flash_attn = %s", b"llama_kv_cache: size = 1.00 MiB (1 cells), K (%s): V (%s)",
         b"warning: no usable GPU found %s", b"load_tensors: offloaded 99999999999999999999/-1 layers",
         b"prompt eval time = nan ms / -5 tokens", b"eval time = 1e999 ms / 99999999999999999999 tokens"]


def log_lines():
    for line in LINES:
        yield line.replace(b"%s", BYTES)
    yield b"system_info: " + b"x" * LONG
    yield b"warning: no usable GPU found" + BYTES * 10_000


def death():
    return b"/x.cpp:1: GGML_ASSERT(" + BYTES + b"y" * LONG + b") failed"


def props(normal):
    return normal | {"build_info": TEXT + "b" * LONG, "model_path": "/models/" + TEXT + "m" * LONG,
                     "chat_template": TEXT * 100_000}


def error_message():
    return TEXT + "e" * LONG


def endless_event():
    return b"data: " + b"z" * (2 * LONG)


def deep_event():
    return b"data: " + b"[" * LONG + b"\n\n"
