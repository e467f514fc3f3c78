import {
  type Access,
  customResourceDefinition,
  defineResource,
  objectKey,
  ReconcileFunction,
} from "@drover/controller";
import {
  builtin,
  installCrd,
  type KubeClient,
  type KubeObject,
  listAll,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import { AuthorEpoch } from "@drover/runtime";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { folderOfFile } from "../../../../packages/testing/src/folder.fixture.ts";
import { repositoryPath } from "../package/repository-path.ts";
import { renewLeases } from "../testing/renew-leases.ts";
import { expectError, spawnDrover } from "../testing/run-command.ts";
import { deploy } from "./deploy.ts";

const { sandbox, client } = await sandboxOfFile();
const folder = folderOfFile();
writeFileSync(join(folder, "kubeconfig"), sandbox.kubeconfig());

const deployBuckets = (kubeconfig: string) =>
  spawnDrover(["deploy", "--dir", repositoryPath("functions/s3-bucket/deploy")], {
    env: { KUBECONFIG: join(folder, kubeconfig) },
  });

it("writes nothing into a cluster in which Drover is not installed", async () => {
  await expectError(
    deployBuckets("kubeconfig"),
    /^error: This cluster does not serve ReconcileFunctions: Drover is not installed in it\. Install it: /,
  );
  expect(await listAll(client, builtin.crd, {})).toEqual([]);
});

it("reports that rejected credentials may have expired, and what to do", async () => {
  const wrong = sandbox.kubeconfig().replaceAll(sandbox.token, "expired");
  writeFileSync(join(folder, "expired"), wrong);
  await expectError(
    deployBuckets("expired"),
    /^error: The API server answered 401 .*have expired.*log in again or renew the token/,
  );
});

it("names the files of KUBECONFIG where none of them exists", async () => {
  const { stderr, code } = await spawnDrover(["status"], { env: { KUBECONFIG: "/absent/a:/absent/b" } });
  expect(stderr).toBe(
    "error: There is no kubeconfig: /absent/a, /absent/b do not exist. Set KUBECONFIG to a file that does, or give its path.\n",
  );
  expect(code).toBe(1);
});

describe("of a folder", () => {
  const ref = refOf(ReconcileFunction);
  const made = ["cups.a.example.com", "saucers.a.example.com"];
  const crdOf = (kind: string, more: object = {}) => {
    const named = { group: "a.example.com", version: "v1", kind, scope: "Namespaced" } as const;
    const schemas = { spec: z.object({ size: z.int().optional() }), status: z.object({}) };
    const { metadata, ...crd } = customResourceDefinition(defineResource({ ...named, ...schemas }));
    return { ...crd, metadata: { ...metadata, ...more } };
  };
  const functionOf = (name: string, metadata: object = {}, more: object = {}) => ({
    apiVersion: ReconcileFunction.apiVersion,
    kind: ReconcileFunction.kind,
    metadata: { name, ...metadata },
    spec: {
      for: { group: "a.example.com", version: "v1", kind: "Cup", plural: "cups", scope: "Namespaced" },
      container: { image: `${name}:1` },
      ...more,
    },
  });
  const first = functionOf("first", { labels: { team: "tea" }, annotations: { "example.com/a": "b" } });
  const second = functionOf("second", { namespace: "milk" }, { scaling: { max: 3 }, timeout: "5m" });
  const third = functionOf("third");
  const files: Readonly<Record<string, readonly object[]>> = {
    "a.yaml": [first, crdOf("Cup")],
    "b.yml": [crdOf("Saucer")],
    "c.yaml": [second, third],
  };
  let manifests: string;
  let printed: string[];
  let writes: string[];
  beforeAll(async () => {
    for (const resource of [ReconcileFunction, AuthorEpoch])
      await installCrd(client, { ...customResourceDefinition(resource) });
    for (const name of ["tea", "milk", "drover"])
      await client.create(builtin.namespace, { metadata: { name } });
  });
  beforeEach(async () => {
    await deleteAll();
    manifests = mkdtempSync(join(folder, "manifests-"));
    [printed, writes] = [[], []];
    write(files);
  });

  async function deleteAll(): Promise<void> {
    for (const { metadata } of await listAll(client, ref, {}))
      await client.delete(ref, objectKey({ name: metadata.name, namespace: metadata.namespace }));
    for (const name of made) await client.delete(builtin.crd, objectKey({ name }));
  }
  function write(all: typeof files): void {
    for (const [name, documents] of Object.entries(all))
      writeFileSync(join(manifests, name), documents.map((one) => JSON.stringify(one)).join("\n---\n"));
  }
  interface TestAuthor {
    readonly username: string;
    readonly groups: readonly string[];
    readonly mayNot: readonly string[];
  }
  /** Deploys the folder as a user without access to these resources; or without reviews, which the sandbox does not serve. */
  function deployed({
    author,
    wait = 0,
    namespace,
    crdWithin = 60_000,
    push,
  }: {
    author?: TestAuthor;
    wait?: number;
    namespace?: string;
    crdWithin?: number;
    push?: () => Promise<string>;
  } = {}) {
    const review: KubeClient["review"] = (kind, spec) => {
      if (kind === builtin.selfSubjectReview) return Promise.resolve({ userInfo: author });
      const { resourceAttributes } = spec as { readonly resourceAttributes: Access };
      return Promise.resolve({ allowed: author?.mayNot.includes(resourceAttributes.resource) !== true });
    };
    const cluster = { client: author === undefined ? client : { ...client, review }, namespace: "tea" };
    const print = (line: string): void => void printed.push(line);
    return deploy(cluster, {
      folder: manifests,
      namespace,
      wait,
      droverNamespace: "drover",
      crdWithin,
      push,
      print,
    });
  }
  const noting = () =>
    sandbox.faults.respond(({ method, path }) => {
      if (method !== "GET" && !path.endsWith("reviews")) writes.push(`${method} ${path}`);
      return undefined;
    });
  const now = (name: string, namespace?: string, of: ResourceRef = ref): Promise<KubeObject | undefined> =>
    client.get(of, objectKey({ name, namespace }));
  const all = [
    ["first", "tea", first],
    ["second", "milk", second],
    ["third", "tea", third],
  ] as const;
  async function expectAll(): Promise<void> {
    for (const [name, namespace, { metadata, spec }] of all)
      expect(await now(name, namespace)).toMatchObject({ metadata, spec });
    for (const name of made)
      expect(await now(name, undefined, builtin.crd)).toMatchObject({ spec: { group: "a.example.com" } });
  }

  it("names the parts of Drover that do not run, and goes on", async () => {
    await deployed();
    expect(printed.filter((line) => line.startsWith("problem  parts: "))).toEqual([
      expect.stringContaining("No bridge has ever run"),
      expect.stringContaining("No deployer has ever run"),
    ]);
    await expectAll();
    await renewLeases(client, "bridge", "deployer");
    printed = [];
    await deployed();
    expect(printed.filter((line) => line.startsWith("problem "))).toEqual([]);
  });

  it("all that stands in it is applied, and applied again it writes nothing", async () => {
    await deployed();
    await expectAll();
    expect(printed.slice(-5)).toEqual([
      ...made.map((name) => `CRD ${name}: created, and served`),
      ...["tea/first", "milk/second", "tea/third"].map((key) => `ReconcileFunction ${key}: created`),
    ]);
    printed = [];
    const heal = noting();
    await deployed();
    heal();
    expect(writes).toEqual([]);
    expect(printed.slice(-5).map((line) => /: (\w+)/.exec(line)?.[1])).toEqual(Array(5).fill("unchanged"));
  });

  it("the image that was pushed takes the place of the manifest's, and nothing is pushed before the checks", async () => {
    const image = "registry.example.com/first:1@sha256:0";
    let pushed = 0;
    const push = () => Promise.resolve(`${image}${pushed++}`);
    await expect(deployed({ push })).rejects.toThrow(/--push needs one function, with a container, in /);
    for (const name of Object.keys(files)) rmSync(join(manifests, name));
    write({ "a.yaml": [first, crdOf("Cup")] });
    const weak = { username: "ada", groups: [], mayNot: ["serviceaccounts", "pods"] };
    await expect(deployed({ push, author: weak, namespace: "milk" })).rejects.toThrow(
      /do not have:\n  - create pods in/,
    );
    expect([pushed, await now("first", "milk")]).toEqual([0, undefined]);
    await deployed({ push });
    expect(await now("first", "tea")).toMatchObject({ spec: { container: { image: `${image}0` } } });
    await deployed({ push });
    expect(await now("first", "tea")).toMatchObject({ spec: { container: { image: `${image}1` } } });
  });

  it("what was left out since is gone, what is new is there, and what others added stays", async () => {
    await deployed();
    const others = { metadata: { labels: { other: "x" } }, spec: { paused: true } };
    await client.patch(ref, objectKey({ name: "second", namespace: "milk" }), {
      type: "merge",
      body: others,
    });
    const changed = functionOf("second", { namespace: "milk", labels: { team: "milk" } }, { timeout: "6m" });
    write({ "b.yml": [crdOf("Saucer", { labels: { team: "milk" } })], "c.yaml": [changed, third] });
    await deployed();
    expect(printed.slice(-5).map((line) => /: (\w+)/.exec(line)?.[1])).toEqual([
      ...["unchanged", "changed", "unchanged", "changed", "unchanged"],
    ]);
    const after = await now("second", "milk");
    expect(after).toMatchObject({
      metadata: { labels: { team: "milk", other: "x" } },
      spec: { ...changed.spec, paused: true },
    });
    expect(after?.["spec"]).not.toHaveProperty("scaling");
    expect(await now("saucers.a.example.com", undefined, builtin.crd)).toMatchObject({
      metadata: { labels: { team: "milk" } },
    });
  });

  const ada: TestAuthor = { username: "ada", groups: ["devs", "a\nb"], mayNot: [] };

  it("a refusal of any request is an error, and deploying again does what was left", async () => {
    await client.create(refOf(AuthorEpoch), {
      metadata: { name: "authors" },
      spec: { epoch: "e", policies: "p" },
    });
    const asked: string[] = [];
    const count = sandbox.faults.respond(({ method, path }) => void asked.push(`${method} ${path}`));
    await deployed({ author: ada });
    count();
    await expectAll();
    for (const [nth, request] of asked.entries()) {
      await deleteAll();
      let left = nth;
      const heal = sandbox.faults.respond(() => (left-- === 0 ? { status: 400, message: "no" } : undefined));
      const failed = await deployed({ author: ada }).then(
        () => undefined,
        (error: unknown) => error,
      );
      heal();
      expect([request, failed]).toEqual([request, expect.any(Error)]);
      await deployed({ author: ada });
      await expectAll();
    }
  });

  it("the author is named with every change of a spec, and with no other", async () => {
    await deployed({ author: ada });
    const named = {
      "drover.dev/author": "ada",
      "drover.dev/author-groups": "devs\na\\nb",
      "drover.dev/author-epoch": "e",
    };
    for (const [name, namespace] of all)
      expect((await now(name, namespace))?.metadata.annotations).toMatchObject(named);
    write({
      "c.yaml": [
        functionOf("second", { namespace: "milk", labels: { a: "b" } }, second.spec),
        functionOf("third", {}, { timeout: "9m" }),
      ],
    });
    await deployed({ author: { ...ada, username: "bob" } });
    const authors = await Promise.all(
      all.map(async ([name, at]) => (await now(name, at))?.metadata.annotations?.["drover.dev/author"]),
    );
    expect(authors).toEqual(["ada", "ada", "bob"]);
  });

  it("names the author where the epoch may not be read: the server decides about that", async () => {
    for (const status of [403, 404]) {
      const heal = sandbox.faults.respond(({ path }) =>
        path.includes("/authorepochs/") ? { status } : undefined,
      );
      await deployed({ author: ada });
      heal();
      const { annotations } = (await now("first", "tea"))?.metadata ?? {};
      expect(annotations).toMatchObject({ "drover.dev/author": "ada" });
      expect(annotations).not.toHaveProperty("drover.dev/author-epoch");
      await client.delete(ref, objectKey({ name: "first", namespace: "tea" }));
    }
  });

  it("reports that Drover was uninstalled meanwhile, and a second deploy finishes the rest", async () => {
    const heal = sandbox.faults.respond(({ method, path }) =>
      method === "POST" && path.endsWith("/tea/reconcilefunctions") ? { status: 404 } : undefined,
    );
    await expect(deployed()).rejects.toThrow("Drover is not installed in it. Install it: ");
    heal();
    await deployed();
    await expectAll();
  });

  it("reports where to look when a CRD is not served, and deploys no function", async () => {
    const heal = sandbox.faults.respond(({ path }) =>
      path === "/apis/a.example.com/v1/cups" ? { status: 404 } : undefined,
    );
    await expect(deployed({ crdWithin: 1 })).rejects.toThrow(
      /^The CRD cups\.a\.example\.com is not served after .*: kubectl describe crd cups\.a\.example\.com$/,
    );
    heal();
    expect(printed.filter((line) => line.startsWith("Reconcile"))).toEqual([]);
    expect(await now("first", "tea")).toBeUndefined();
    await deployed();
    await expectAll();
  });

  it("all permissions that its author lacks for any of its functions are named at once, and nothing is written", async () => {
    const rules = Array.from({ length: 12 }, (_, i) => ({
      apiGroups: [""],
      resources: [`r${i}`],
      verbs: ["get"],
    }));
    write({ "c.yaml": [second, functionOf("third", {}, { permissions: { namespace: rules } })] });
    const heal = noting();
    await expect(deployed({ author: { ...ada, mayNot: ["r0", "r7", "r8", "r11"] } })).rejects.toThrow(
      "third asks for permissions that you, ada, do not have:\n" +
        ["r0", "r7", "r8", "r11"].map((name) => `  - get ${name} in namespace tea\n`).join(""),
    );
    heal();
    expect(writes).toEqual([]);
  });

  it("it waits for each of its functions, and fails when the last one is not rolled out", async () => {
    const stated = (name: string, namespace: string, status: string, type = "Ready") =>
      client.patch(
        ref,
        objectKey({ name, namespace }),
        {
          type: "merge",
          body: {
            status: {
              observedGeneration: 1,
              conditions: [
                // A reason that does not pass is not waited for.
                ...[{ type: "Ready", status, reason: "NameTaken", message: "m" }],
                ...(type === "Ready" ? [] : [{ type, status, reason: "D", message: "slow" }]),
              ].map((one) => ({ ...one, lastTransitionTime: "2026-01-01T00:00:00Z" })),
            },
          },
        },
        { subresource: "status" },
      );
    await deployed();
    await stated("first", "tea", "True");
    await stated("second", "milk", "True", "Degraded");
    await stated("third", "tea", "False");
    printed = [];
    await expect(deployed({ wait: 100_000 })).rejects.toThrow("tea/third is not Ready: NameTaken: m.");
    expect(printed.filter((line) => !/^(CRD|Reconcile|This)/.test(line))).toEqual([
      "tea/first is Ready: NameTaken: m",
      "milk/second is Ready: NameTaken: m",
      "milk/second is degraded: slow",
    ]);
  });

  it("goes to the namespace that is given, and nothing is written where a manifest has another", async () => {
    await deployed({ namespace: "milk" });
    for (const [name] of all) expect(await now(name, "milk")).toBeDefined();
    const heal = noting();
    const words = ["--dir", manifests, "--kubeconfig", join(folder, "kubeconfig"), "-n", "tea"];
    const { stderr, code } = await spawnDrover(["deploy", ...words]);
    heal();
    expect(stderr).toContain("second is for the namespace milk");
    expect([code, writes]).toEqual([1, []]);
  });

  it("an invalid time is refused, with the right format", async () => {
    await expectError(
      spawnDrover(["deploy", "--wait", "soon"]),
      /'--wait <time>' argument 'soon' is invalid\. "soon" is not a duration\. Write a number and a unit/,
    );
  });

  it("drover deploy ends with 1 when something could not be applied, and with 0 otherwise", async () => {
    const words = ["deploy", "--dir", manifests, "--wait", "0s", "--kubeconfig", join(folder, "kubeconfig")];
    const heal = sandbox.faults.respond(({ method, path }) =>
      method === "POST" && path.includes("/milk/") ? { status: 403, message: "not here" } : undefined,
    );
    const refused = await spawnDrover(words);
    heal();
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("not here") as string });
    expect(await spawnDrover(words)).toMatchObject({ code: 0, stderr: "" });
    expect(await now("third", "default")).toBeDefined();
  });
});
