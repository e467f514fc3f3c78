// The same controller with Pepr.
import { a, Capability, K8s, PeprModule, RegisterKind } from "pepr";
import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import cfg from "./package.json";

class Gauge extends a.GenericKind {
  declare spec: { turn: number; notes?: string; fails?: boolean };
  declare status?: { observedGeneration?: number };
}
RegisterKind(Gauge, { group: "peers.drover.dev", version: "v1", kind: "Gauge", plural: "gauges" });

const work = Number(process.env["BENCH_WORK_MS"]);
let runs = 0;

const gauges = new Capability({ name: "gauges", description: "Writes the observed generation of a Gauge." });

gauges
  .When(Gauge)
  .IsCreatedOrUpdated()
  .Reconcile(async ({ metadata, spec, status }) => {
    runs += 1;
    const { name, namespace, generation = 0 } = metadata ?? {};
    if (spec.fails) throw new Error("It is to fail.");
    if ((status?.observedGeneration ?? 0) >= generation) return;
    if (work > 0) await delay(work); // of 0 ms it takes one
    await K8s(Gauge).PatchStatus({
      metadata: { name, namespace },
      status: { observedGeneration: generation },
    });
  });

process.once("SIGTERM", () => {
  writeFileSync(process.env["BENCH_RUNS_FILE"] ?? "", String(runs));
  process.exit();
});

// Its server, which gets no calls, is not started: it cannot be restricted to loopback.
new PeprModule(cfg, [gauges], { deferStart: true });
