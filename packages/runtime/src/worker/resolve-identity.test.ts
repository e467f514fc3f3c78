import { silentLog } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { expect, it } from "vitest";
import { FunctionGoneError, resolveIdentity } from "./resolve-identity.ts";
import type { ReadinessCheck } from "../http/process-server.ts";

/** A process for the function `web/cups`; its reads return `found`. */
function processFor(found: { uid?: string; error?: Error }) {
  const stopping = new AbortController();
  let reads = 0;
  const failures: Error[] = [];
  const checks = new Map<string, ReadinessCheck>();
  const parts = {
    client: {
      get: () => {
        reads++;
        if (found.error) return Promise.reject(found.error);
        return Promise.resolve(found.uid === undefined ? undefined : { metadata: { uid: found.uid } });
      },
    } as unknown as KubeClient,
    log: silentLog as unknown as Parameters<typeof resolveIdentity>[1]["log"],
    stopping: stopping.signal,
    readiness: (name: string, check: ReadinessCheck) => void checks.set(name, check),
    fail: (error: Error) => void failures.push(error),
  };
  const problem = () => checks.get("function")?.();
  /** Waits for two reads, so that one began after this call. */
  const looked = async (): Promise<void> => {
    const before = reads;
    await expect.poll(() => reads).toBeGreaterThan(before + 1);
  };
  return { process: parts, stopping, failures, problem, looked };
}
const cups = { namespace: "web", name: "cups" };

it("a process waits for its function, reports why, and runs once the function is created", async () => {
  const found: { uid?: string; error?: Error } = {};
  const { process, stopping, problem, looked } = processFor(found);
  const identity = resolveIdentity(cups, process, 1);
  await expect.poll(problem).toMatch(/there is no ReconcileFunction web\/cups/);
  found.error = new Error("no answer");
  await expect.poll(problem).toMatch(/cannot be read: no answer/);
  delete found.error;
  found.uid = "u-1";
  expect(await identity).toEqual({ ...cups, uid: "u-1" });
  expect(problem()).toBeUndefined();
  await looked();
  stopping.abort();
});

it.each<[string, string | undefined]>([
  ["is deleted", undefined],
  ["is created again under its name", "u-2"],
])("a process ends when its function %s, and not while the function cannot be read", async (_what, uid) => {
  const found: { uid?: string | undefined; error?: Error } = { uid: "u-1" };
  const { process, failures, looked } = processFor(found as { uid?: string });
  await resolveIdentity(cups, process, 1);
  await looked();
  found.error = new Error("no answer");
  await looked();
  expect(failures).toEqual([]);
  found.uid = uid;
  delete found.error;
  await expect.poll(() => failures).toHaveLength(1);
  expect(failures[0]).toBeInstanceOf(FunctionGoneError);
});

it("a process with the uid in its settings reads no function, and a stopped one stops waiting", async () => {
  const { process, stopping } = processFor({ error: new Error("no answer") });
  expect(await resolveIdentity({ ...cups, uid: "u-3" }, process, 1)).toEqual({ ...cups, uid: "u-3" });
  const waiting = resolveIdentity(cups, process, 1_000_000);
  stopping.abort(new Error("stopping"));
  await expect(waiting).rejects.toThrow("stopping");
});
