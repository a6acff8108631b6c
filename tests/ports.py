"""Ports for servers that a test starts: no two tests that run side by side get the same one."""
import itertools
import os
import socket

# Below 32768, where the kernel takes the ports of connections from.
FIRST, LAST = 20000, 30000
claims = {}  # port → the socket that claims it; gone with this process, however it ends


def claimed_port():
    """A port of 127.0.0.1 that nobody listens on, and that no other test will be given."""
    start = os.getpid() % (LAST - FIRST)
    for offset in itertools.count():
        if offset == LAST - FIRST:
            raise RuntimeError(f"no port from {FIRST} to {LAST} is free")
        port = FIRST + (start + offset) % (LAST - FIRST)
        if port in claims:
            continue
        # A name in the kernel's own space: it belongs to whoever bound it first, and leaves no file.
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0culprit-test-port-{port}")
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
                probe.listen(1)
        except OSError:
            claim.close()
            continue
        claims[port] = claim
        return port
