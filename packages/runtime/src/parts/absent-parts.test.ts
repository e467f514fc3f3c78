import { objectKey, silentLog } from "@drover/controller";
import { builtin, connect, type KubeClient, type KubeObject } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { absenceMessage, leaseJudge, watchParts } from "./absent-parts.ts";
import { keepPartLease } from "./part-lease.ts";

const lease = (resourceVersion: string, spec: object = {}): KubeObject => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "bridge", namespace: "drover", uid: "u", resourceVersion },
  spec: { renewTime: "2020-01-01T00:00:00.123456Z", leaseDurationSeconds: 10, ...spec },
});

describe("a Lease is judged by whether it changes", () => {
  it("an old time in it says nothing, as long as it is renewed", () => {
    const judge = leaseJudge();
    for (let look = 0; look < 20; look++)
      expect(judge.look(lease(String(look)), look * 5_000)).toBeUndefined();
  });
  it("a time in the future keeps nobody alive", () => {
    const judge = leaseJudge();
    const future = { renewTime: "2999-01-01T00:00:00Z" };
    expect(judge.look(lease("1", future), 0)).toBeUndefined();
    expect(judge.look(lease("1", future), 10_000)).toBeUndefined();
    expect(judge.look(lease("1", future), 10_001)).toEqual({ since: "2999-01-01T00:00:00Z" });
  });
  it("one that is renewed again is well at once", () => {
    const judge = leaseJudge();
    judge.look(lease("1"), 0);
    expect(judge.look(lease("1"), 11_000)).toEqual({ since: "2020-01-01T00:00:00Z" });
    expect(judge.look(lease("2"), 12_000)).toBeUndefined();
    expect(judge.look(lease("2"), 21_000)).toBeUndefined();
    expect(judge.look(lease("2"), 23_000)).toBeDefined();
  });
  it("it is not known that a replica runs before its Lease was seen to be renewed, nor once none does", () => {
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
  it("while it cannot be read nothing is concluded, neither that it is well", () => {
    const judge = leaseJudge();
    judge.look(lease("1"), 0);
    judge.missed(30_000);
    expect(judge.look(lease("1"), 35_000)).toBeUndefined();
    expect(judge.look(lease("1"), 40_001)).toBeDefined();
    judge.missed(41_000);
    expect(judge.look(lease("1"), 42_000)).toBeDefined();
  });
  it("one that is not there is absent after the usual time, and one that is made then is well", () => {
    const judge = leaseJudge();
    expect(judge.look(undefined, 0)).toBeUndefined();
    expect(judge.look(undefined, 40_000)).toBeUndefined();
    expect(judge.look(undefined, 40_001)).toEqual({ since: undefined });
    expect(judge.look(lease("1"), 41_000)).toBeUndefined();
    // Deleted with its namespace: the time is not counted from the start.
    expect(judge.look(undefined, 50_000)).toBeUndefined();
  });
  it("nonsense in it is no time", () => {
    const judge = leaseJudge();
    const nonsense = { renewTime: "yesterday\u001b[31m", leaseDurationSeconds: -5 };
    judge.look(lease("1", nonsense), 0);
    expect(judge.look(lease("1", nonsense), 39_000)).toBeUndefined();
    expect(judge.look(lease("1", nonsense), 40_001)).toEqual({ since: undefined });
  });
});

it("the words name the part, since when, what follows and what to look at", () => {
  expect(absenceMessage({ part: "bridge", namespace: "drover", since: "2026-01-01T00:00:00Z" })).toBe(
    "No bridge has run since 2026-01-01T00:00:00Z: changes of objects start no runs. See: kubectl get pods -n drover",
  );
  expect(absenceMessage({ part: "gateway", namespace: "d", since: undefined })).toMatch(
    /^No gateway has ever run: /,
  );
});

it("a Lease that cannot be read is logged and its count begins again; the others are judged meanwhile", async () => {
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
    log: { ...silentLog, warn: (...words) => void warnings.push(words) },
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

describe("on an API server", () => {
  let sandbox: Sandbox;
  let client: KubeClient;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "drover-absent-"));
    sandbox = await startSandbox({});
    writeFileSync(join(folder, "kubeconfig"), sandbox.kubeconfig());
    client = await connect({ kubeconfig: join(folder, "kubeconfig") });
    await client.create(builtin.namespace, { metadata: { name: "drover" } });
  });
  afterAll(async () => {
    await client.close();
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });

  it("a part is absent when its process has ended, and not any more when another begins", async () => {
    const watching = new AbortController();
    const options = { client, namespace: "drover", holds: 1_000, log: silentLog };
    const changes: (readonly string[])[] = [];
    const { all, done } = watchParts({
      ...options,
      parts: ["bridge", "gateway"],
      signal: watching.signal,
      onChange: () => void changes.push(all().map(({ part }) => part)),
    });
    const first = new AbortController();
    const bridge = keepPartLease({ ...options, part: "bridge", signal: first.signal });
    const gateway = keepPartLease({ ...options, part: "gateway", signal: watching.signal });
    const at = objectKey({ namespace: "drover", name: "bridge" });
    await vi.waitFor(async () => expect(await client.get(builtin.lease, at)).toBeDefined(), 10_000);
    first.abort();
    await bridge;
    await vi.waitFor(() => expect(changes).toEqual([["bridge"]]), 20_000);
    expect(all()[0]?.since).toMatch(/^20\d\d-/);
    const second = keepPartLease({ ...options, part: "bridge", signal: watching.signal });
    await vi.waitFor(() => expect(changes).toEqual([["bridge"], []]), 20_000);
    watching.abort();
    await Promise.all([done, gateway, second]);
  });
});
