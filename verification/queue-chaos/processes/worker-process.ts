/** A worker as Drover runs one, with a handler that reports to the world what it does: `worker-process.ts PORT NAME`. */
import { abortOutcome, type Run, type RunOutcome } from "@drover/queue";
import { setTimeout as delay } from "node:timers/promises";
import { now } from "../../harness/clock.ts";
import type { Plan } from "./messages.ts";
import { joinWithQueue } from "./join-with-queue.ts";
import type { WorldClient } from "./world-client.ts";

const { world, order, opened } = await joinWithQueue();
const worker = opened.queue.work((run) => reconcile(world, run), {
  concurrency: order.concurrency,
  timeout: order.timeout,
  backoff: order.backoff,
  onSettled: ({ key, token }, outcome) =>
    world.report({ fact: "settled", key, token, outcome: outcome.kind }),
});
process.once("SIGTERM", () => {
  void (async () => {
    await worker.drain(100);
    await opened.close();
    world.leave();
  })();
});
world.report({ fact: "up" });

async function reconcile(world: WorldClient, run: Run): Promise<RunOutcome> {
  const { key, token } = run;
  const asked = world.next("run", (each) => each.token === token);
  world.report({ fact: "start", key, token, sent: now(), fails: run.claim.fails });
  const { plan } = await asked;
  const first = write(world, run);
  spin(plan.busy);
  if (plan.hold) await world.next("go", (each) => each.token === token);
  if (plan.ignoresSignal > 0) await delay(plan.ignoresSignal);
  await delay(plan.work, undefined, { signal: run.signal }).catch(() => undefined);
  const last = write(world, run);
  const outcome = outcomeOf(run, plan, first && last);
  world.report({ fact: "ended", key, token, sent: now(), outcome: outcome.kind, again: "after" in outcome });
  if (plan.throws && outcome.kind === "retry") throw new Error("thrown, as planned");
  return outcome;
}

/** The write of a run, right after it asked for its lease, as every function must. True if the lease was held. */
function write(world: WorldClient, run: Run): boolean {
  const sent = now();
  const held = run.hasLease();
  world.report({ fact: "effect", key: run.key, token: run.token, held, sent });
  return held;
}

function spin(span: number): void {
  const until = now() + span;
  while (now() < until);
}

function outcomeOf(run: Run, { outcome: kind, after }: Plan, wrote: boolean): RunOutcome {
  if (run.signal.aborted) return abortOutcome(run.signal.reason);
  if (!wrote) return { kind: "retry", error: "a write was refused" };
  switch (kind) {
    case "done":
      return after === undefined ? { kind } : { kind, after };
    case "wait":
      return { kind, after: after ?? 0 };
    case "retry":
    case "terminal":
      return { kind, error: "as planned" };
    case "conflict":
    case "gone":
      return { kind };
  }
}
