"""Loaded into child processes of tests: shifts the wall clock of a Python process by CLOCK_SKEW_MS, as that of another
machine would be. `time.monotonic` is not shifted."""

import datetime
import os
import time

skew = float(os.environ.get("CLOCK_SKEW_MS", "0")) / 1000

if skew != 0:
    real_time, real_ns, real_gmtime, real_localtime = time.time, time.time_ns, time.gmtime, time.localtime
    time.time = lambda: real_time() + skew
    time.time_ns = lambda: real_ns() + int(skew * 1e9)
    time.gmtime = lambda seconds=None: real_gmtime(time.time() if seconds is None else seconds)
    time.localtime = lambda seconds=None: real_localtime(time.time() if seconds is None else seconds)

    RealDatetime = datetime.datetime

    class OfAnyClock(type):
        def __instancecheck__(cls, value):
            return isinstance(value, RealDatetime)

    class SkewedDatetime(RealDatetime, metaclass=OfAnyClock):
        @classmethod
        def now(cls, tz=None):
            return RealDatetime.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls):
            return RealDatetime.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls):
            return RealDatetime.fromtimestamp(time.time())

    datetime.datetime = SkewedDatetime
