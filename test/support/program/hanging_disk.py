# A file system of one file, whose server stops answering in mid-read: hanging_disk.py MOUNT FILE BYTES. Reads that end within the first BYTES
# are answered. Speaks to /dev/fuse itself (linux/fuse.h), so nothing has to be installed. Ends with 77 where it cannot mount.

import ctypes
import os
import struct
import sys

mount, path, answered = sys.argv[1], sys.argv[2], int(sys.argv[3])
name = os.path.basename(path).encode()
content = open(path, "rb").read()
ROOT, FILE = 1, 2
DIRECT_IO = 1  # each read arrives as it was made
LOOKUP, GETATTR, OPEN, READ, FLUSH, INIT, OPENDIR, READDIR = 1, 3, 14, 15, 25, 26, 27, 28
RELEASE, RELEASEDIR, ENOENT, ENOSYS = 18, 29, 2, 38
WITHOUT_REPLY = {2, 36, 42}  # forget, interrupt, forget many


def attributes(node):
    mode, size = (0o40755, 0) if node == ROOT else (0o100600, len(content))
    return struct.pack("<QQQQQQ10I", node, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def reply(unique, error, out=b""):
    os.write(device, struct.pack("<IiQ", 16 + len(out), -error, unique) + out)


def answer(operation, unique, node, body):
    if operation == INIT:
        reply(unique, 0, struct.pack("<IIIIHHIIHHII24x", 7, 31, 65536, 0, 12, 10, 65536, 1, 16, 0, 0, 0))
    elif operation == LOOKUP and body == name + b"\0":
        reply(unique, 0, struct.pack("<QQQQII", FILE, 0, 1, 1, 0, 0) + attributes(FILE))
    elif operation == LOOKUP:
        reply(unique, ENOENT)
    elif operation == GETATTR:
        reply(unique, 0, struct.pack("<QII", 1, 0, 0) + attributes(node))
    elif operation in (OPEN, OPENDIR):
        reply(unique, 0, struct.pack("<QII", 0, DIRECT_IO, 0))
    elif operation == READ:
        offset, size = struct.unpack_from("<8xQI", body)
        if offset + size <= answered:
            reply(unique, 0, content[offset : offset + size])
    elif operation == READDIR:
        first = struct.unpack_from("<8xQ", body)[0] == 0
        entry = struct.pack("<QQII", FILE, 1, len(name), 8) + name
        reply(unique, 0, entry + bytes(-len(entry) % 8) if first else b"")
    else:
        reply(unique, 0 if operation in (FLUSH, RELEASE, RELEASEDIR) else ENOSYS)


try:
    device = os.open("/dev/fuse", os.O_RDWR)
except OSError:
    sys.exit(77)
options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
if ctypes.CDLL(None).mount(b"hanging", mount.encode(), b"fuse", 0, options.encode()) != 0:
    sys.exit(77)
while True:
    request = os.read(device, 1 << 17)
    _, operation, unique, node = struct.unpack_from("<IIQQ", request)
    if operation not in WITHOUT_REPLY:
        answer(operation, unique, node, request[40:])
