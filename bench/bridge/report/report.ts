import { type Circumstances, percents } from "../../report/command-line.ts";
import type { Results } from "../results.ts";
import { goals } from "./goals.ts";
import { replayed } from "./replay-tables.ts";
import { exactness, memory, requests, work } from "./restart-tables.ts";
import { lags, steadyCpu, steadyMemory } from "./steady-tables.ts";
import { count, percent, seconds } from "./units.ts";

/** Every question that was asked, as Markdown. */
export function report(results: Results, circumstances: Circumstances): string {
  return [
    head(circumstances),
    "## Goals",
    goals(results),
    ...restart(results),
    ...replay(results),
    ...steady(results),
  ].join("\n\n");
}

function restart({ restart: figures }: Results): string[] {
  if (figures === undefined) return [];
  const { objects, bytesPerObject, populated, server } = figures;
  return [
    "## First start and restart",
    `${count(objects)} Widgets in 10 namespaces, ${count(Math.round(bytesPerObject))} bytes each as JSON, created in ${seconds(populated)} s. ${server}, without persistence. Times are from the start of the process. Wakes are those that the ledger in Redis counts per key.`,
    work(figures),
    "### Which keys",
    "37 facts while no controller ran: 10 objects changed, 9 created, 9 deleted, 9 deleted and created again. A key counts as noticed when it was woken (controller-runtime: reconciled), within a minute. `Position too old`: the API server was restarted, too, and refuses to resume.",
    exactness(figures),
    "### What it asks for",
    "Requests by the API server's audit log, bytes as they are on the wire (TLS, compressed where asked for), CPU by the kernel; Redis and the worker: while the phase lasted.",
    requests(figures),
    "### Memory, MiB",
    "`/proc/<pid>/smaps_rollup`, looked at ten times a second; settled: after 30 s without a run (10 s with `--objects`). The highest RSS is `VmHWM`.",
    memory(figures),
  ];
}

function replay({ replay: figures }: Results): string[] {
  if (figures === undefined) return [];
  return [
    "## Replay of a recorded watch",
    `${count(figures.frames)} watch frames of ${count(figures.objects)} Widgets, recorded from the API server and played by a plain HTTP server as fast as they are taken. The bridge reads metadata as JSON, and is through when every key in Redis is due for its last version; nobody takes the keys. client-go's reflector puts them into its queue and from there into its store (metadata as protobuf, as its metadata client asks for; whole objects as JSON); controller-runtime is through when the last key's reconcile begins.`,
    replayed(figures),
  ];
}

function steady({ steady: figures }: Results): string[] {
  if (figures === undefined) return [];
  const { changesPerSecond, lasted, part, objects, changes, others } = figures;
  return [
    "## Steady changes",
    `${count(changesPerSecond)} changes/s of ${count(objects)} Widgets for ${seconds(lasted)} s (${count(changes)} in all); the bridge with a no-op worker, and controller-runtime, follow them at the same time. From the moment in which the change is sent, so the API server's own part (first row) is in all rows; the first and the last ${seconds(part)} s. A wake is seen by Redis's keyspace notifications. Others kept the machine ${percent(others)} busy.`,
    lags(figures),
    steadyMemory(figures),
    steadyCpu(figures),
  ];
}

const head = ({ command, machine, node, busy }: Circumstances): string =>
  [
    "# Results",
    `Written by \`${command}\`. ${machine}; Node ${node}. Kubernetes 1.36, etcd 3.6; controller-runtime 0.24, client-go 0.36.`,
    `Others kept the machine ${percents(busy, " busy before and ")} busy after.`,
  ].join("\n\n");
