"""The same controller with Kopf."""

import asyncio
import os
from pathlib import Path

import kopf

work = int(os.environ["BENCH_WORK_MS"]) / 1000
runs = 0


@kopf.on.resume("peers.drover.dev", "v1", "gauges")
@kopf.on.create("peers.drover.dev", "v1", "gauges")
@kopf.on.update("peers.drover.dev", "v1", "gauges")
async def reconcile(meta, spec, status, patch, **_):
    global runs
    runs += 1
    if spec.get("fails"):
        raise RuntimeError("It is to fail.")
    if status.get("observedGeneration", 0) < meta["generation"]:
        await asyncio.sleep(work)
        patch.status["observedGeneration"] = meta["generation"]


@kopf.on.cleanup()
def say_how_often(**_):
    Path(os.environ["BENCH_RUNS_FILE"]).write_text(str(runs))
