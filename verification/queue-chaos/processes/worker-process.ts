/** A worker as Drover runs one, with a handler that tells the world what it does: `worker-process.ts PORT NAME`. */
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
    world.tell({ say: "settled", key, token, sent: now(), verdict: outcome.kind }),
});
process.once("SIGTERM", () => {
  void (async () => {
    await worker.drain(100);
    await opened.close();
    world.leave();
  })();
});
world.tell({ say: "up" });

async function reconcile(world: WorldClient, run: Run): Promise<RunOutcome> {
  const { key, token } = run;
  const asked = world.next("run", (each) => each.token === token);
  world.tell({ say: "start", key, token, sent: now(), fails: run.claim.fails });
  const { plan } = await asked;
  const first = write(world, run);
  spin(plan.busy);
  if (plan.hold) await world.next("go", (each) => each.token === token);
  if (plan.deaf > 0) await delay(plan.deaf);
  await delay(plan.work, undefined, { signal: run.signal }).catch(() => undefined);
  const last = write(world, run);
  const outcome = outcomeOf(run, plan, first && last);
  world.tell({ say: "ended", key, token, sent: now(), verdict: outcome.kind, again: "after" in outcome });
  if (plan.throws && outcome.kind === "retry") throw new Error("thrown, as planned");
  return outcome;
}

/** What a run would do to the world, asked for as every function must: held, right before. Whether it was done. */
function write(world: WorldClient, run: Run): boolean {
  const sent = now();
  const held = run.hasLease();
  world.tell({ say: "effect", key: run.key, token: run.token, held, sent });
  return held;
}

function spin(span: number): void {
  const until = now() + span;
  while (now() < until);
}

function outcomeOf(run: Run, { verdict: kind, after }: Plan, wrote: boolean): RunOutcome {
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
