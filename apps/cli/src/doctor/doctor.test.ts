import { customResourceDefinition, objectKey, ReconcileFunction } from "@drover/controller";
import { builtin, installCrd, kindOf, refOf } from "@drover/kube";
import { AuthorEpoch } from "@drover/runtime";
import { expect, it } from "vitest";
import { createAuthority, createServerCertificate } from "../../../deployer/src/setup/certificates.ts";
import { bareRedisOfFile } from "../../../../packages/queue/src/redis/redis.fixture.ts";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { renewLeases } from "../testing/renew-leases.ts";
import { version } from "../package/version.ts";
import { plainKind } from "../testing/plain-kind.ts";
import { deployedFunctions } from "../deployed-functions.ts";
import { checkCertificates } from "./check-certificates.ts";
import { checkFinalizers } from "./check-finalizers.ts";
import { checkParts } from "./check-parts.ts";
import { examine } from "./doctor.ts";
import { describeFindings } from "./finding.ts";

const fork = plainKind({ kind: "Fork" });
const { sandbox, client } = await sandboxOfFile({ kinds: [fork], namespaces: ["web", "drover"] });
const { server, redis } = await bareRedisOfFile();
const hour = 3_600_000;
const functionRef = refOf(ReconcileFunction);

/** The findings that are not ok, as lines, without those on the sandbox itself. */
async function found(options: Partial<Parameters<typeof examine>[1]> = {}): Promise<readonly string[]> {
  const findings = await examine(client, { redis: undefined, droverNamespace: "drover", ...options });
  const ofSandbox = ["API server", "admission policies"];
  return describeFindings(
    findings.filter(({ level, subject }) => level !== "ok" && !ofSandbox.includes(subject)),
  );
}
const createFork = (name: string, finalizer: string) =>
  client.create(refOf(fork), {
    metadata: { namespace: "web", name, finalizers: [finalizer, "example.com/other"] },
    spec: {},
  });
async function writeStatus(
  conditions: readonly object[],
  observedGeneration = 1,
  more: object = {},
): Promise<void> {
  const object = await client.get(functionRef, objectKey({ namespace: "web", name: "forks" }));
  const status = { observedGeneration, conditions, ...more };
  await client.replace(functionRef, { ...object!, status }, { subresource: "status" });
}
const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: `Because of ${reason}.`,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const why = "         next: drover why rf/forks -n web";

it("names the version of the API server, and that Drover is not installed", async () => {
  const findings = await examine(client, { redis: undefined, droverNamespace: "drover" });
  expect(findings.map(({ level, subject }) => `${level} ${subject}`)).toEqual([
    "problem API server",
    "problem Drover",
  ]);
  expect(findings[0]?.message).toMatch(/^v1\.\d+\.\d+\S* has no ValidatingAdmissionPolicy/);
});

it("finds parts that do not run, and objects of functions that are gone", async () => {
  for (const kind of [ReconcileFunction, AuthorEpoch])
    await installCrd(client, { ...customResourceDefinition(kind) });
  const absent = await found();
  expect(absent.map((line) => line.slice(0, 32))).toEqual([
    "problem  parts: No bridge has ev",
    "problem  parts: No deployer has ",
  ]);
  await renewLeases(client, "bridge", "deployer");
  expect(await found()).toEqual([]);
  await createFork("a", "drover.dev/forks");
  await createFork("b", "drover.dev/forks");
  await createFork("c", "drover.dev/knives");
  expect(await found()).toEqual([
    "problem  forks.example.com: 2 objects, such as web/a, have the finalizer of forks, and no function of that name is for such objects.",
    "         next: Deploy forks again. If it is gone for good, also as one with a bridge of its own: drover remove forks --release --kind forks.example.com",
    "problem  forks.example.com: 1 object (web/c) has the finalizer of knives, and no function of that name is for such objects.",
    "         next: Deploy knives again. If it is gone for good, also as one with a bridge of its own: drover remove knives --release --kind forks.example.com",
  ]);
  await client.patch(refOf(fork), objectKey({ namespace: "web", name: "c" }), {
    type: "merge",
    body: { metadata: { finalizers: null } },
  });
});

it("finds parts of different versions, and a command of another version than the parts", async () => {
  const writeHolder = (name: string, holderIdentity: string) =>
    client.patch(builtin.lease, objectKey({ namespace: "drover", name }), {
      type: "merge",
      body: { spec: { holderIdentity } },
    });
  const ofParts = async () =>
    describeFindings(await checkParts(client, { namespace: "drover", isCalled: false }));
  await writeHolder("bridge", "host_0.0.9");
  expect(await ofParts()).toEqual([
    `warning  parts: They run in different versions: bridge 0.0.9, deployer ${version}.`,
    "         next: If no upgrade is in progress: helm upgrade. See docs/versioning.md.",
  ]);
  await writeHolder("deployer", "host_0.0.9");
  expect(await ofParts()).toEqual([
    `warning  parts: They run in 0.0.9, and this command is ${version}.`,
    "         next: Install the version of drover that the parts have.",
  ]);
  await writeHolder("deployer", "host");
  expect(await ofParts()).toEqual([
    "warning  parts: They run in different versions: bridge 0.0.9, deployer a version that does not state itself.",
    expect.stringContaining("helm upgrade"),
  ]);
  for (const part of ["bridge", "deployer"]) await writeHolder(part, `host_${version}`);
  expect(await ofParts()).toEqual([`ok       parts: bridge, deployer run in ${version}`]);
});

it("finds certificates of Redis that were not renewed, that ended, or that cannot be read", async () => {
  const made = new Date("2026-01-01T00:00:00Z");
  const authority = await createAuthority(made);
  const server = await createServerCertificate(authority, ["valkey"], made);
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const keep = { data: { "tls.crt": base64(server.certificate), "tls.key": base64(server.key) } };
  const labels = { "app.kubernetes.io/managed-by": "drover-deployer" };
  const names = { namespace: "drover", name: "valkey-tls", labels };
  await client.create(builtin.secret, { metadata: names, type: "kubernetes.io/tls", ...keep });
  const ca = { namespace: "drover", name: "redis-ca", labels };
  // The certificate of an older authority comes second, and does not count.
  const older = await createAuthority(new Date("2016-01-10T00:00:00Z"));
  const both = authority.certificate + older.certificate;
  await client.create(builtin.configMap, { metadata: ca, data: { "ca.crt": both } });
  const ofCertificates = async (date: string) =>
    describeFindings(await checkCertificates(client, "drover", Date.parse(date))).filter(
      (line) => !line.includes("next:"),
    );
  const secret = "Secret drover/valkey-tls: the server's certificate";
  const authorityIs = "ConfigMap drover/redis-ca: the authority's certificate";
  const good = `ok       ${authorityIs} is valid until 2035-12-30`;
  expect(await ofCertificates("2026-03-09")).toEqual([`ok       ${secret} is valid until 2026-04-01`, good]);
  expect(await ofCertificates("2026-03-11")).toEqual([
    `warning  ${secret} ends on 2026-04-01, and should have been renewed by now.`,
    good,
  ]);
  expect(await ofCertificates("2026-04-02")).toEqual([`problem  ${secret} ended on 2026-04-01.`, good]);
  expect(await found({ now: Date.parse("2026-04-02") })).toContainEqual(
    "         next: See the deployer's log, and docs/operating-redis.md, The Redis of an installation. " +
      "If the installation has another Redis by now, delete this object.",
  );
  expect((await ofCertificates("2036-01-01"))[1]).toBe(`problem  ${authorityIs} ended on 2035-12-30.`);
  await client.replace(builtin.configMap, { metadata: ca, data: {} });
  expect((await ofCertificates("2026-03-09"))[1]).toBe(`problem  ${authorityIs} cannot be read.`);
  // That of another Redis: its owner renews it.
  await client.replace(builtin.configMap, { metadata: { ...ca, labels: {} }, data: {} });
  await client.delete(builtin.secret, objectKey(names));
  expect(await ofCertificates("2036-01-01")).toEqual([]);
  await client.delete(builtin.configMap, objectKey(ca));
  expect(await ofCertificates("2036-01-01")).toEqual([]);
});

it("finds functions that the deployer has not processed", async () => {
  await client.create(functionRef, {
    metadata: { namespace: "web", name: "forks" },
    spec: { for: kindOf(refOf(fork)) },
  });
  expect(await found()).toEqual([
    "warning  function web/forks: The deployer has not processed it since it was written.",
    why,
  ]);
});

it.each([
  [[condition("Ready", "True", "Running")], []],
  [[condition("Ready", "False", "ScaledToZero")], []],
  [
    [condition("Ready", "False", "PermissionNotHeld")],
    ["problem  function web/forks: PermissionNotHeld: Because of PermissionNotHeld."],
  ],
  [
    [condition("Ready", "True", "Running"), condition("RolledOut", "False", "ImageNotPulled")],
    ["warning  function web/forks: ImageNotPulled: Because of ImageNotPulled."],
  ],
  [
    [condition("Ready", "True", "Running"), condition("Degraded", "True", "ListForbidden")],
    ["warning  function web/forks: ListForbidden: Because of ListForbidden."],
  ],
  [[condition("Ready", "True", "Running"), condition("Degraded", "False", "Following")], []],
])("reports what the conditions of a function report: %j", async (conditions, expected) => {
  await writeStatus(conditions);
  expect(await found()).toEqual(expected.flatMap((line) => [line, why]));
});

it("reports that the bridge does not use a function", async () => {
  await writeStatus([condition("Ready", "True", "Running")], 1, { problem: "Its name is taken." });
  expect(await found()).toEqual([
    "problem  function web/forks: The bridge does not use it. Its name is taken.",
    why,
  ]);
});

it("a status of an older spec counts for nothing", async () => {
  await writeStatus([condition("Ready", "True", "Running")], 0);
  expect(await found()).toEqual([expect.stringMatching(/has not processed it/), why]);
  await writeStatus([condition("Ready", "True", "Running")]);
});

it("finds deletions that have waited for more than five minutes", async () => {
  await client.delete(refOf(fork), objectKey({ namespace: "web", name: "b" }));
  expect(await found()).toEqual([]);
  expect(await found({ now: Date.now() + hour })).toEqual([
    "warning  forks.example.com: 1 object (web/b) has been waiting to be finalized for more than five minutes.",
    "         next: drover why forks.example.com web/b",
  ]);
});

it("objects of a function that is gone are one finding, also when they are being deleted", async () => {
  await createFork("d", "drover.dev/knives");
  await client.delete(refOf(fork), objectKey({ namespace: "web", name: "d" }));
  const lines = await found({ now: Date.now() + hour });
  expect(lines.filter((line) => line.includes("1 object ("))).toEqual([
    expect.stringContaining("1 object (web/d) has the finalizer of knives"),
    expect.stringContaining("1 object (web/b) has been waiting"),
  ]);
  expect(lines.at(-1)).toContain("drover why forks.example.com web/b");
  // A function with a spec that cannot be read may be for any kind.
  const [forks] = await deployedFunctions(client, undefined);
  const knives = { ...forks!, name: "knives", spec: undefined };
  const findings = await checkFinalizers(client, [forks!, knives], Date.now());
  expect(findings.map(({ level }) => level)).toEqual(["ok"]);
});

it("finds a function that has been deleted for more than five minutes, and why it is still there", async () => {
  await writeStatus([condition("Ready", "False", "PodsLeft")]);
  const key = objectKey({ namespace: "web", name: "forks" });
  const body = { metadata: { finalizers: ["example.com/other"] } };
  await client.patch(functionRef, key, { type: "merge", body });
  await client.delete(functionRef, key);
  const ofFunction = async (now: number) =>
    (await found({ now })).filter((line) => line.includes("function web/forks"));
  expect(await ofFunction(Date.now())).toEqual([]);
  expect(await ofFunction(Date.now() + hour)).toEqual([
    expect.stringMatching(
      /^problem {2}function web\/forks: is being deleted since \S+\. PodsLeft: Because of PodsLeft\.$/,
    ),
  ]);
  await client.patch(functionRef, key, { type: "merge", body: { metadata: { finalizers: null } } });
  for (const name of ["a", "b", "d"])
    await client.patch(refOf(fork), objectKey({ namespace: "web", name }), {
      type: "merge",
      body: { metadata: { finalizers: null } },
    });
});

it("reports a Redis that Drover must not use, and one that loses data", async () => {
  expect(await found({ redis: server.url })).toEqual([
    "warning  Redis: It has no append-only file: a crash loses the changes since its last snapshot, or all of them.",
    expect.stringMatching(/^ +next: docs\/operating-redis\.md/),
  ]);
  await redis.config("SET", "appendonly", "yes");
  expect(await found({ redis: server.url })).toEqual([]);
  await redis.config("SET", "maxmemory", "10gb");
  expect(await found({ redis: server.url })).toEqual([]);
  await redis.config("SET", "maxmemory", "1mb");
  expect(await found({ redis: server.url })).toEqual([
    expect.stringMatching(/^warning {2}Redis: It uses \d+ % of its maxmemory\./),
    expect.anything(),
  ]);
  await redis.config("SET", "maxmemory-policy", "allkeys-lru");
  expect(await found({ redis: server.url })).toEqual([
    expect.stringMatching(/^problem {2}Redis: .* evicts keys/),
    expect.anything(),
  ]);
});

it("what the user may not read is unknown, and the other checks are done", async () => {
  const undo = sandbox.faults.respond(({ path }) =>
    path.includes("/customresourcedefinitions") || path.includes("/reconcilefunctions")
      ? { status: 403 }
      : undefined,
  );
  const lines = await found({ redis: server.url });
  undo();
  expect(lines.filter((line) => !line.startsWith(" ")).map((line) => line.slice(0, 22))).toEqual(
    ["unknown  functions: The", "problem  Redis: Redis ", "unknown  finalizers: T"].map((line) =>
      line.slice(0, 22),
    ),
  );
});
