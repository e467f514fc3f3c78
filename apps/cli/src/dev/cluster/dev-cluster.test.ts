import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "@drover/local-servers";
import { ReconcileFunction } from "@drover/controller";
import { installCrd, keyOf, refOf } from "@drover/kube";
import { isThere } from "../../../../../packages/webhook/conformance/languages.ts";
import { readManifests } from "../../deploy/read-manifests.ts";
import { spawnDrover } from "../../testing/run-command.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { folderOfFile, folderOfTest } from "../../../../../packages/testing/src/folder.fixture.ts";
import { sandboxOfFile } from "../../../../../packages/testing/src/sandbox.fixture.ts";
import {
  type DeployedNotes,
  deployNotes,
  makeNotesFunction,
  noteIn,
  noteKey,
  notes,
  witnessedRuns,
} from "../../testing/deployed-notes.fixture.ts";
import { type DevProcess, startDevProcess, waitUntilGone } from "../../testing/dev-process.fixture.ts";

const { sandbox, client } = await sandboxOfFile();
const base = folderOfFile();
const folder = join(base, "notes");
const witness = join(base, "witness");
const kubeconfig = join(base, "kubeconfig");
let deployed: DeployedNotes;
let temporary: string;

beforeAll(async () => {
  makeNotesFunction(folder);
  writeFileSync(witness, "");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  deployed = await deployNotes({ folder, client, kubeconfig, witness });
});
afterAll(() => deployed.stop());
beforeEach(() => (temporary = folderOfTest()));

async function dev(...words: readonly string[]): Promise<DevProcess> {
  const env = { WITNESS: witness, ACTOR: "session" };
  const one = await startDevProcess(["--kubeconfig", kubeconfig, ...words], { cwd: folder, temporary, env });
  onTestFinished(() => {
    if (isRunning(one.pid)) one.kill("SIGKILL");
  });
  return one;
}

/** Ends it as Ctrl-C does. */
async function end(one: DevProcess): Promise<void> {
  const all = one.descendants();
  one.kill("SIGINT");
  expect(await one.ended).toBe(0);
  await waitUntilGone(all);
}

const write = (name: string, count: number) =>
  client.patch(notes, noteKey(name), { type: "merge", body: { spec: { count } } });
const create = (name: string, labels = {}) =>
  client.create(notes, { metadata: { name, namespace: "default", labels }, spec: { count: 1 } });
const reconciledBy = (name: string, by: string, count: number) =>
  expect.poll(() => noteIn(client, name)).toMatchObject({ status: { count, by } });
const sessionOfNote = async (name: string) =>
  (await noteIn(client, name))?.metadata.labels?.["drover.dev/dev"];

describe("drover dev --kubeconfig", { timeout: 120_000 }, () => {
  it("runs an object of the cluster in place of the deployed function, and gives it back at the end", async () => {
    await create("a");
    await create("b");
    await reconciledBy("a", "deployed", 1);
    await reconciledBy("b", "deployed", 1);
    const one = await dev("--object", "a");
    await one.next(/Note default\/a runs here now/);
    await one.next(/run {4}default\/a done/);
    await write("a", 2);
    await reconciledBy("a", "session", 2);
    await write("b", 2);
    await reconciledBy("b", "deployed", 2);

    // A label that others set does not choose an object; the deployed function leaves it alone all the same.
    const labels = { "drover.dev/dev": (await sessionOfNote("a")) ?? "" };
    await client.patch(notes, noteKey("b"), { type: "merge", body: { metadata: { labels } } });
    await one.next(/Note default\/b has the label of this session, and does not run here: it was not chosen/);
    const unlabelled = { "drover.dev/dev": null };
    await client.patch(notes, noteKey("b"), { type: "merge", body: { metadata: { labels: unlabelled } } });

    await create("c");
    await reconciledBy("c", "deployed", 1);
    // A deletion, too.
    const two = await dev("--object", "default/c");
    await two.next(/run {4}default\/c done/);
    await client.delete(notes, noteKey("c"));
    await two.next(/run {4}default\/c done/);
    await expect.poll(() => noteIn(client, "c")).toBeUndefined();
    expect(witnessedRuns(witness).findLast(({ key }) => key === "default/c")?.by).toBe("session");
    await end(two);

    await end(one);
    expect(one.output()).not.toContain("lacks fields");
    expect(one.output()).toMatch(/Given back: default\/a\.$/m);
    expect(await sessionOfNote("a")).toBeUndefined();
    await write("a", 3);
    await reconciledBy("a", "deployed", 3);
    expect(JSON.stringify(await noteIn(client, "a"))).not.toContain("UnderDevelopment");
  });

  it("applies given examples with its label, so that the deployed function never runs them", async () => {
    writeFileSync(
      join(folder, "note.yaml"),
      "apiVersion: tests.example.com/v1\nkind: Note\nmetadata: { name: made }\nspec: { count: 7 }\n---\n" +
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: made }\n",
    );
    const one = await dev("--example", "note.yaml");
    await one.next(/note\.yaml: Note made created/);
    await one.next(/ConfigMap made is refused\. Only objects of notes\.tests\.example\.com.*kubectl/);
    await reconciledBy("made", "session", 7);
    await end(one);
    await expect.poll(() => sessionOfNote("made")).toBeUndefined();
    expect(witnessedRuns(witness).find(({ key }) => key === "default/made")?.by).toBe("session");
  });

  it("that is killed leaves its objects to no other, until its label is removed", async () => {
    await create("left");
    await reconciledBy("left", "deployed", 1);
    const one = await dev("--object", "default/left");
    await one.next(/run {4}default\/left done/);
    const all = one.descendants();
    one.kill("SIGKILL");
    await one.ended;
    await waitUntilGone(all);
    await write("left", 2);
    const [, session = ""] = /Its objects have the label drover\.dev\/dev=(\S+)\./.exec(one.output()) ?? [];

    const next = await dev("--object", "left");
    expect(await next.ended).toBe(1);
    expect(next.output()).toMatch(/Objects of the session \S+ of drover dev: default\/left\./);
    expect(next.output()).toContain(`error: The Note default/left is reconciled by the session ${session}`);
    expect(next.output()).toContain(
      `kubectl label notes.tests.example.com -A -l drover.dev/dev=${session} drover.dev/dev-`,
    );
    expect(await noteIn(client, "left")).toMatchObject({ status: { count: 1 } });
    const labels = { "drover.dev/dev": null };
    await client.patch(notes, noteKey("left"), { type: "merge", body: { metadata: { labels } } });
    await reconciledBy("left", "deployed", 2);
  });

  it("runs at once where no function is deployed, and a function that is deployed meanwhile leaves the object alone", async () => {
    const ref = refOf(ReconcileFunction);
    const key = noteKey("notes.tests.example.com");
    const { metadata, ...fn } = (await client.get(ref, key)) ?? { metadata: { name: "" } };
    await client.delete(ref, key);
    await create("alone");
    const one = await dev("--object", "alone");
    await one.next(/Note default\/alone runs here now/);
    expect(one.output()).not.toContain("waits until");
    await reconciledBy("alone", "session", 1);
    await client.create(ref, { ...fn, metadata: { name: metadata.name, namespace: "default" } });
    await deployed.crash();
    await create("beside");
    await reconciledBy("beside", "deployed", 1);
    await write("alone", 2);
    await reconciledBy("alone", "session", 2);
    await end(one);
    await write("alone", 3);
    await reconciledBy("alone", "deployed", 3);
    expect(await noteIn(client, "alone")).not.toHaveProperty([
      "metadata",
      "annotations",
      "drover.dev/dev-mark",
    ]);
  });
});

it(
  "drover dev --kubeconfig calls a function in Python for the objects of its session only",
  { timeout: 120_000 },
  async () => {
    if (!isThere("python3")) return;
    await spawnDrover(["init", "a-python", "--kind", "Greeting", "--language", "python"], { cwd: base });
    const cwd = join(base, "a-python");
    for (const crd of readManifests(join(cwd, "deploy")).crds) await installCrd(client, crd);
    const crd = join(cwd, "deploy/crd.yaml");
    const withOneMore = readFileSync(crd, "utf8").replace(
      /^( +)html:$/m,
      "$1more: { type: string }\n$1html:",
    );
    writeFileSync(crd, withOneMore);
    const greetings = {
      group: "example.com",
      version: "v1alpha1",
      kind: "Greeting",
      plural: "greetings",
      namespaced: true,
    };
    const [chosen, other] = await Promise.all(
      ["chosen", "other"].map((name) =>
        client.create(greetings, {
          metadata: { name, namespace: "default" },
          spec: { html: "<p>Hello</p>" },
        }),
      ),
    );
    const one = await startDevProcess(["--kubeconfig", kubeconfig, "--object", "chosen"], { cwd, temporary });
    onTestFinished(() => one.kill("SIGKILL"));
    await one.next(
      /CRD greetings\.example\.com lacks fields .* drops them: spec\.more\. To add them: kubectl apply -f deploy\/crd\.yaml$/m,
    );
    await one.next(/run {4}default\/chosen done/);
    const generationOf = async (object: typeof chosen) =>
      object && (await client.get(greetings, keyOf(object)))?.["status"];
    expect(await generationOf(chosen)).toMatchObject({ observedGeneration: 1 });
    expect(await generationOf(other)).not.toMatchObject({ observedGeneration: 1 });
    expect(one.output()).not.toContain("default/other");
    await end(one);
  },
);

describe("drover dev --kubeconfig refuses, with what to do,", { timeout: 60_000 }, () => {
  it.each([
    [["--object", "absent"], /error: There is no Note default\/absent/],
    [["--object", "a/b/c"], /error: a\/b\/c is not the name of a Note\. Give NAME or NAMESPACE\/NAME/],
    [["--port", "80"], /error: --port is for the API server that dev starts without --kubeconfig/],
    [["--context", "other"], /error: .*other/],
  ])("%s", async (words, problem) => {
    const one = await dev(...words);
    expect(await one.ended).toBe(1);
    expect(one.output()).toMatch(problem);
  });
});
