import { hostname } from "node:os";
import { objectKey, silentLog } from "@drover/controller";
import { builtin, type KubeClient, type KubeObject } from "@drover/kube";
import { describe, expect, it, vi } from "vitest";
import { sandboxOfFile } from "../../../testing/src/sandbox.fixture.ts";
import { absenceMessage, leaseJudge, watchParts } from "./absent-parts.ts";
import { keepPartLease } from "./part-lease.ts";

const lease = (resourceVersion: string, spec: object = {}): KubeObject => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "bridge", namespace: "drover", uid: "u", resourceVersion },
  spec: { renewTime: "2020-01-01T00:00:00.123456Z", leaseDurationSeconds: 10, ...spec },
});

describe("a Lease is judged by its changes", () => {
  it("an old time in it does not matter while it is renewed", () => {
    const judge = leaseJudge();
    for (let look = 0; look < 20; look++)
      expect(judge.look(lease(String(look)), look * 5_000)).toBeUndefined();
  });
  it("a time in the future does not extend it", () => {
    const judge = leaseJudge();
    const future = { renewTime: "2999-01-01T00:00:00Z" };
    expect(judge.look(lease("1", future), 0)).toBeUndefined();
    expect(judge.look(lease("1", future), 10_000)).toBeUndefined();
    expect(judge.look(lease("1", future), 10_001)).toEqual({ since: "2999-01-01T00:00:00Z" });
  });
  it("one that is renewed again is present at once", () => {
    const judge = leaseJudge();
    judge.look(lease("1"), 0);
    expect(judge.look(lease("1"), 11_000)).toEqual({ since: "2020-01-01T00:00:00Z" });
    expect(judge.look(lease("2"), 12_000)).toBeUndefined();
    expect(judge.look(lease("2"), 21_000)).toBeUndefined();
    expect(judge.look(lease("2"), 23_000)).toBeDefined();
  });
  it("a replica counts as running only after its Lease was renewed, and while it is", () => {
    const judge = leaseJudge();
    judge.missed(0);
    const runs = [lease("1"), lease("1"), lease("2"), lease("2"), undefined, lease("3")].map((one, at) => {
      judge.look(one, at * 1_000);
      return judge.runs();
    });
    expect(runs).toEqual([false, false, true, true, false, true]);
    expect(judge.look(lease("3"), 60_000)).toBeDefined();
    expect(judge.runs()).toBe(false);
  });
  it("while it cannot be read its state does not change", () => {
    const judge = leaseJudge();
    judge.look(lease("1"), 0);
    judge.missed(30_000);
    expect(judge.look(lease("1"), 35_000)).toBeUndefined();
    expect(judge.look(lease("1"), 40_001)).toBeDefined();
    judge.missed(41_000);
    expect(judge.look(lease("1"), 42_000)).toBeDefined();
  });
  it("a missing one is absent after the default duration, and a new one is present", () => {
    const judge = leaseJudge();
    expect(judge.look(undefined, 0)).toBeUndefined();
    expect(judge.look(undefined, 40_000)).toBeUndefined();
    expect(judge.look(undefined, 40_001)).toEqual({ since: undefined });
    expect(judge.look(lease("1"), 41_000)).toBeUndefined();
    // Deleted with its namespace: the time is counted from the deletion.
    expect(judge.look(undefined, 50_000)).toBeUndefined();
  });
  it("invalid times in it are ignored", () => {
    const judge = leaseJudge();
    const nonsense = { renewTime: "yesterday\u001b[31m", leaseDurationSeconds: -5 };
    judge.look(lease("1", nonsense), 0);
    expect(judge.look(lease("1", nonsense), 39_000)).toBeUndefined();
    expect(judge.look(lease("1", nonsense), 40_001)).toEqual({ since: undefined });
  });
});

it("the message has the part, the time, the consequence and a command", () => {
  expect(absenceMessage({ part: "bridge", namespace: "drover", since: "2026-01-01T00:00:00Z" })).toBe(
    "No bridge has run since 2026-01-01T00:00:00Z: changes of objects start no runs. See: kubectl get pods -n drover",
  );
  expect(absenceMessage({ part: "gateway", namespace: "d", since: undefined })).toMatch(
    /^No gateway has ever run: /,
  );
});

it("an unreadable Lease is logged and its time restarts; others are judged meanwhile", async () => {
  const watching = new AbortController();
  const looks = ["read", "not", "read", "read", "not", "not, for it ends"];
  let round = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => round * 6_000);
  const refused = new Error("no answer");
  const get = (_: unknown, key: string): Promise<KubeObject> => {
    if (key === "drover/gateway") return Promise.resolve(lease("1"));
    round++;
    if (round === looks.length) watching.abort();
    return looks[round - 1] === "read" ? Promise.resolve(lease("1")) : Promise.reject(refused);
  };
  const warnings: unknown[][] = [];
  const changes: unknown[] = [];
  const { all, done } = watchParts({
    client: { get } as unknown as KubeClient,
    namespace: "drover",
    parts: ["bridge", "gateway"],
    holds: 4,
    signal: watching.signal,
    log: { ...silentLog, warn: (...entry) => void warnings.push(entry) },
    onChange: () => void changes.push([round, ...all().map(({ part }) => part)]),
  });
  await done;
  clock.mockRestore();
  expect(changes).toEqual([
    [3, "gateway"],
    [4, "gateway", "bridge"],
  ]);
  const warning = [{ err: refused }, "Could not read the Lease drover/bridge"];
  expect(warnings).toEqual([warning, warning]);
});

const { client } = await sandboxOfFile();

it("a part is absent after its process has ended, until another one starts", async () => {
  await client.create(builtin.namespace, { metadata: { name: "drover" } });
  const watching = new AbortController();
  const options = { client, namespace: "drover", version: "0.1.0", holds: 1_000, log: silentLog };
  const changes: (readonly string[])[] = [];
  const { all, done } = watchParts({
    ...options,
    parts: ["bridge", "gateway"],
    signal: watching.signal,
    onChange: () => void changes.push(all().map(({ part }) => part)),
  });
  const first = new AbortController();
  const older = { ...options, version: "0.0.9" };
  const bridge = keepPartLease({ ...older, part: "bridge", signal: first.signal });
  const gateway = keepPartLease({ ...options, part: "gateway", signal: watching.signal });
  const at = objectKey({ namespace: "drover", name: "bridge" });
  await vi.waitFor(async () => expect(await client.get(builtin.lease, at)).toBeDefined(), 10_000);
  first.abort();
  await bridge;
  await vi.waitFor(() => expect(changes).toEqual([["bridge"]]), 20_000);
  expect(all()[0]?.since).toMatch(/^20\d\d-/);
  const versionIs = async (version: string) => {
    const lease = await client.get(builtin.lease, at);
    expect(lease).toMatchObject({ spec: { holderIdentity: `${hostname()}_${version}` } });
  };
  await versionIs("0.0.9");
  const second = keepPartLease({ ...options, part: "bridge", signal: watching.signal });
  await vi.waitFor(() => expect(changes).toEqual([["bridge"], []]), 20_000);
  await versionIs("0.1.0");
  watching.abort();
  await Promise.all([done, gateway, second]);
});
