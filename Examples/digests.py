#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the SHA-256 of files, and reads no file twice while it is unchanged. Files are known by
device, inode, size and time of change, so hard links and repeated names come from the cache.

    digests.py FILE...        needs liblarder.so where the loader finds it, or in LARDER_LIBRARY
"""
import ctypes
import hashlib
import os
import struct
import sys
from ctypes import c_char_p, c_uint32, c_uint64, c_void_p


class Config(ctypes.Structure):
    _fields_ = (
        [(name, c_uint64) for name in ("size", "count_limit", "cost_limit")]
        + [(name, c_uint32) for name in ("policy", "mode", "shards", "reserved")]
        + [(f"callback{number}", c_void_p) for number in range(9)]
    )


larder = ctypes.CDLL(os.environ.get("LARDER_LIBRARY", "liblarder.so.1"))
larder.larder_create.argtypes = [c_void_p, c_void_p]
larder.larder_read.argtypes = [c_void_p, c_char_p, c_uint64, c_char_p, c_uint64, c_void_p]
larder.larder_set.argtypes = [c_void_p, c_char_p, c_uint64, c_char_p, c_uint64, c_uint64, c_void_p]
larder.larder_status_text.restype = c_char_p


def create(count_limit):
    config = Config(size=ctypes.sizeof(Config), count_limit=count_limit)
    cache = c_void_p()
    status = larder.larder_create(ctypes.byref(config), ctypes.byref(cache))
    if status < 0:
        sys.exit(larder.larder_status_text(status).decode())
    return cache


def digest(cache, path):
    with open(path, "rb") as file:
        about = os.fstat(file.fileno())
        key = struct.pack("4q", about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)
        found = ctypes.create_string_buffer(32)
        if larder.larder_read(cache, key, len(key), found, 32, None) == 0:
            return found.raw, "cached"
        value = hashlib.file_digest(file, "sha256").digest()
    larder.larder_set(cache, key, len(key), value, len(value), 0, None)
    return value, "read"


if __name__ == "__main__":
    cache = create(count_limit=100_000)
    for path in sys.argv[1:]:
        value, source = digest(cache, path)
        print(value.hex(), source, path)
    larder.larder_destroy(cache)
