# SPDX-License-Identifier: Apache-2.0
"""larder.h by ctypes: the same names, types and constants, for the tests.

LARDER_LIBRARY names the shared library.
"""
import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_int32, c_uint32, c_uint64, c_void_p

library = ctypes.CDLL(os.environ["LARDER_LIBRARY"])

OK, REPLACED, NOT_FOUND, TOO_COSTLY, TOO_SMALL, STOPPED, EXPIRED = range(7)
OUT_OF_MEMORY, BAD_ARGUMENT, BAD_SIZE, OUT_OF_RANGE, TOO_LONG = range(-1, -6, -1)
UNSUPPORTED, WRONG_MODE, FOREIGN, CALLBACK_FAILED = range(-6, -10, -1)
BYTES, OBJECTS = range(2)
COST_DEFAULT = NEVER = 2**64 - 1
LIMIT_MOST = 2**63 - 1
KEY_MOST, VALUE_MOST, SHARDS_MOST = 65535, 2**32 - 1, 64

Hash = CFUNCTYPE(c_uint64, c_void_p, c_void_p, c_uint64)
Equal = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_uint64, c_void_p, c_uint64)
KeyRetain = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_uint64, POINTER(c_void_p))
Release = CFUNCTYPE(None, c_void_p, c_void_p, c_uint64)
Removed = CFUNCTYPE(None, c_void_p, c_void_p, c_int32)
ContextRelease = CFUNCTYPE(None, c_void_p)
Visit = CFUNCTYPE(c_int32, c_void_p, c_void_p)


class Config(ctypes.Structure):
    _fields_ = [
        ("size", c_uint64),
        ("count_limit", c_uint64),
        ("cost_limit", c_uint64),
        ("policy", c_uint32),
        ("mode", c_uint32),
        ("shards", c_uint32),
        ("reserved", c_uint32),
        ("context", c_void_p),
        ("hash", Hash),
        ("equal", Equal),
        ("key_retain", KeyRetain),
        ("key_release", Release),
        ("value_retain", Release),
        ("value_release", Release),
        ("removed", Removed),
        ("context_release", ContextRelease),
        ("after_write", c_uint64),
        ("after_access", c_uint64),
        ("jitter", ctypes.c_double),
        ("expires", c_uint32),
        ("reserved2", c_uint32),
        ("clock", c_void_p),
    ]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(Config), **fields)


class Statistics(ctypes.Structure):
    _fields_ = [
        (name, c_uint64)
        for name in (
            "size hits misses insertions replacements removals refusals count_evictions "
            "cost_evictions trim_evictions unordered_hits waiting overhead_bytes expirations "
            "pressure_evictions"
        ).split()
    ]

    def __init__(self):
        super().__init__(size=ctypes.sizeof(Statistics))


def declare(name, *arguments, result=c_int32):
    function = getattr(library, "larder_" + name)
    function.argtypes = arguments
    function.restype = result
    return function


out, number = POINTER(c_void_p), POINTER(c_uint64)
version = declare("version", result=c_uint32)
status_text = declare("status_text", c_int32, result=ctypes.c_char_p)
supports_policy = declare("supports_policy", c_uint32)
create = declare("create", POINTER(Config), out)
destroy = declare("destroy", c_void_p)
get = declare("get", c_void_p, c_void_p, c_uint64, out)
peek = declare("peek", c_void_p, c_void_p, c_uint64, out)
read = declare("read", c_void_p, c_void_p, c_uint64, c_void_p, c_uint64, number)
contains = declare("contains", c_void_p, c_void_p, c_uint64)
value_data = declare("value_data", c_void_p, out, number)
value_key = declare("value_key", c_void_p, out, number)
value_cost = declare("value_cost", c_void_p, number)
value_retain = declare("value_retain", c_void_p)
value_release = declare("value_release", c_void_p)
store = (c_void_p, c_void_p, c_uint64, c_void_p, c_uint64, c_uint64, out)
set = declare("set", *store)
replace = declare("replace", *store)
remove = declare("remove", c_void_p, c_void_p, c_uint64, out)
set_for = declare("set_for", *store[:-1], c_uint64, out)
get_lifetime = declare("get_lifetime", c_void_p, c_void_p, c_uint64, number)
set_lifetime = declare("set_lifetime", c_void_p, c_void_p, c_uint64, c_uint64)
set_expiration = declare("set_expiration", c_void_p, c_uint64, c_uint64, ctypes.c_double)
remove_expired = declare("remove_expired", c_void_p, number)
clock_create = declare("clock_create", out)
clock_advance = declare("clock_advance", c_void_p, c_uint64)
clock_release = declare("clock_release", c_void_p)
remove_all = declare("remove_all", c_void_p)
trim_to_count = declare("trim_to_count", c_void_p, c_uint64)
trim_to_cost = declare("trim_to_cost", c_void_p, c_uint64)
set_count_limit = declare("set_count_limit", c_void_p, c_uint64)
set_cost_limit = declare("set_cost_limit", c_void_p, c_uint64)
get_count_limit = declare("get_count_limit", c_void_p, number)
get_cost_limit = declare("get_cost_limit", c_void_p, number)
get_count = declare("get_count", c_void_p, number)
get_cost = declare("get_cost", c_void_p, number)
get_statistics = declare("get_statistics", c_void_p, POINTER(Statistics))
iterate = declare("iterate", c_void_p, c_int32, Visit, c_void_p)
reclaim = declare("reclaim", c_void_p)


Respond = CFUNCTYPE(ctypes.c_double, c_void_p, c_int32)


class PressureResponse(ctypes.Structure):
    _fields_ = [
        ("size", c_uint64),
        ("minimum_count", c_uint64),
        ("warning", ctypes.c_double),
        ("critical", ctypes.c_double),
        ("background", ctypes.c_double),
        ("respond", Respond),
    ]

    def __init__(self, warning=0.5, critical=0.1, background=1, **fields):
        super().__init__(
            size=ctypes.sizeof(PressureResponse),
            warning=warning,
            critical=critical,
            background=background,
            **fields,
        )


NORMAL, WARNING, CRITICAL = range(3)
set_pressure_response = declare("set_pressure_response", c_void_p, POINTER(PressureResponse))
report_pressure = declare("report_pressure", c_int32)
get_pressure = declare("get_pressure", POINTER(c_int32))
listen = declare("listen", c_int32)
background = declare("background", c_int32)
get_effective_count_limit = declare("get_effective_count_limit", c_void_p, number)
get_effective_cost_limit = declare("get_effective_cost_limit", c_void_p, number)


def created(**fields):
    """A cache and its configuration, which keeps the callbacks alive."""
    config, cache = Config(**fields), c_void_p()
    status = create(config, cache)
    assert status == OK, status_text(status)
    return cache, config


def data_of(value):
    """The pointer and the size of a value in hand."""
    data, size = c_void_p(), c_uint64()
    assert value_data(value, data, size) == OK
    return data.value, size.value


def key_of(value):
    key, size = c_void_p(), c_uint64()
    assert value_key(value, key, size) == OK
    return key.value, size.value


def cost_of(value):
    cost = c_uint64()
    assert value_cost(value, cost) == OK
    return cost.value


def asked(function, cache):
    """The number a get_… function writes."""
    answer = c_uint64()
    assert function(cache, answer) == OK
    return answer.value
