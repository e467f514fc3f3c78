import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { get, type Server } from "node:https";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { TLSSocket } from "node:tls";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { buildRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { folderOfFile } from "../../../testing/src/folder.fixture.ts";
import { z } from "zod";
import { type Certificate, makeCertificate, serveTls } from "../testing/certificate.ts";
import { openCredentials } from "./credentials.ts";
import { chooseContext, type Kubeconfig, KubeConfigError, readKubeconfig } from "./kubeconfig.ts";

// Generated pairs of kubeconfigs, read by kubectl and by us: the merged config, the chosen context, and the credentials
// that reach a server.

let kubectl: string;
const folder = folderOfFile();
let origin: string;
let server: Server;
const received: { readonly path: string; readonly view: object }[] = [];

/** The self-signed certificate and key in the folder of each file. The server uses the first. */
const certificates = new Map<string, Certificate>();
beforeAll(async () => {
  kubectl = join((await buildRealCluster({ targets: ["kubectl"] })).bin, "kubectl");
  for (const name of ["one", "two"]) certificates.set(name, await makeCertificate(folder, name));
  const identity = { ...certificates.get("one"), requestCert: true, rejectUnauthorized: false };
  ({ server, url: origin } = await serveTls(identity, ({ url = "/", headers, socket }, response) => {
    const peer = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined;
    const { authorization, "impersonate-user": as } = headers;
    received.push({ path: url, view: { peer, authorization, as } });
    response.setHeader("content-type", "application/json");
    response.end("{}");
  }));
}, 600_000);
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A source of choices; the same seed makes the same choices. */
interface Chooser extends PseudoRandom {
  readonly isOdd: boolean;
}
function chooser(seed: number): Chooser {
  const random = pseudoRandom(seed);
  return { ...random, isOdd: random.below(3) === 0 };
}

const names = ["a", "b", "2024-01-01", "__proto__", ""] as const;
const contentOf = (name: string, what: "cert" | "key"): string =>
  Buffer.from(certificates.get(name)?.[what] ?? "").toString("base64");

function some(chance: Chooser, make: (name: string) => unknown): readonly unknown[] | null | undefined {
  const kind = chance.below(10);
  if (kind === 0) return undefined;
  if (kind === 1) return null;
  const first = chance.below(names.length);
  return Array.from({ length: chance.isOdd ? chance.below(5) : 3 + chance.below(3) }, (_, i) =>
    make(names[(first + i) % names.length] ?? ""),
  );
}

/** Two of three pairs are regular; most files of the others have something odd. */
const mostly = <T, U>({ below, oneOf, isOdd }: Chooser, usual: T, otherwise: readonly [U, ...U[]]): T | U =>
  isOdd && below(40) === 0 ? oneOf(otherwise) : usual;

const plugin = { apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never", args: ["it"] };

/** A kubeconfig, as JSON, which is YAML: mostly valid, sometimes odd, sometimes invalid. */
function generated(chance: Chooser, folderName: string): string {
  const { oneOf } = chance;
  const maybe = (value: string) => mostly(chance, value, [undefined, null, "", 1, true, ["x"]]);
  /** In a regular pair, only combinations that kubectl accepts. */
  const given = (...choices: readonly [object, ...object[]]): object =>
    chance.isOdd
      ? Object.fromEntries(choices.filter(() => chance.below(2) === 0).flatMap((one) => Object.entries(one)))
      : oneOf(choices);
  const cluster = () => ({
    server: maybe(`${origin}/${folderName}-${oneOf(names)}`),
    ...given(
      { "certificate-authority": maybe("ca") },
      { "certificate-authority-data": maybe(contentOf("one", "cert")) },
      { "insecure-skip-tls-verify": mostly<boolean, unknown>(chance, true, [false, null, "true"]) },
      {},
    ),
    ...(chance.below(8) === 0 ? { "tls-server-name": maybe("there") } : {}),
    ...(chance.below(8) === 0 ? { unknown: { field: 1 }, Server: "http://capital" } : {}),
  });
  const user = () => ({
    ...given(
      { token: maybe(`${folderName}-${oneOf(names)}`) },
      { token: "given", tokenFile: maybe("../token") },
      { tokenFile: maybe("token") },
      { username: maybe("me"), password: maybe("p:ä") },
      { "client-certificate": maybe("crt"), "client-key": maybe("key") },
      {
        "client-certificate-data": maybe(contentOf("one", "cert")),
        "client-key-data": maybe(contentOf("one", "key")),
      },
      { exec: mostly(chance, { ...plugin, command: "./plugin" }, [null, { command: 1 }, { args: "a" }]) },
    ),
    ...(chance.below(8) === 0 ? { as: maybe("another-user") } : {}),
  });
  const named = (): string => oneOf(chance.isOdd ? names : ["a", "b"]);
  const context = () => ({
    cluster: maybe(named()),
    user: maybe(named()),
    ...(chance.below(2) === 0 ? { namespace: maybe(`${folderName}-namespace`) } : {}),
  });
  const entry = (key: string, make: () => object) => (name: string) => {
    const title = mostly(chance, name, [undefined, null, oneOf(names), oneOf(names)]);
    return mostly(chance, { name: title, [key]: mostly(chance, make(), [null, undefined]) }, [null, {}]);
  };
  return JSON.stringify({
    ...(chance.below(4) === 0 ? { apiVersion: mostly(chance, "v1", ["v2", "", null]) } : {}),
    ...(chance.below(4) === 0 ? { kind: mostly(chance, "Config", ["Pod", "", null]) } : {}),
    "current-context": chance.below(3) === 0 ? "" : maybe(named()),
    clusters: some(chance, entry("cluster", cluster)),
    contexts: some(chance, entry("context", context)),
    users: some(chance, entry("user", user)),
    preferences: {},
  });
}

const pluginScript = (name: string): string =>
  `#!/bin/sh\necho '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$1' of ${name}"}}'\n`;

async function pair(seed: number): Promise<readonly string[]> {
  const chance = chooser(seed);
  await writeFile(join(folder, "token"), "above\n");
  const files: string[] = [];
  for (const name of ["one", "two"]) {
    const own = join(folder, String(seed), name);
    await mkdir(own, { recursive: true });
    const { cert = "", key = "" } = certificates.get(name) ?? {};
    const token = `of ${name}\n`;
    const contents = { ca: cert, crt: cert, key, token, plugin: pluginScript(name) };
    for (const [content, text] of Object.entries(contents))
      await writeFile(join(own, content), text, { mode: 0o700 });
    const kind = chance.below(20);
    const file = join(own, "config");
    files.push(file);
    if (kind === 0) continue;
    await writeFile(file, kind === 1 ? chance.oneOf(["", "# nothing\n", "null\n"]) : generated(chance, name));
  }
  await writeFile(join(folder, String(seed), "token"), "above\n");
  // A blank entry, and one file twice.
  return chance.below(4) === 0 ? [...files, "", files[0] ?? ""] : files;
}

const entrySchema = z.object({ name: z.string() });
const viewed = z.object({
  "current-context": z.string(),
  clusters: z.array(entrySchema.extend({ cluster: z.looseObject({}) })).nullable(),
  contexts: z.array(entrySchema.extend({ context: z.looseObject({}) })).nullable(),
  users: z.array(entrySchema.extend({ user: z.looseObject({}) })).nullable(),
});

async function asked(files: readonly string[], ...args: readonly string[]) {
  const env = { HOME: folder, KUBECONFIG: files.join(delimiter) };
  const child = spawn(kubectl, [...args], { env, timeout: 60_000, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await once(child, "exit");
  return { stdout, stderr, code: child.exitCode };
}

const view = async (files: readonly string[], ...args: readonly string[]) => {
  const { stdout, code } = await asked(files, "config", "view", "--raw", "-o", "json", ...args);
  return code === 0 ? summary(viewed.parse(JSON.parse(stdout))) : undefined;
};

/** Removes empty values, which Go and our JSON omit differently. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([, one]) => one !== undefined && one !== null && one !== "" && one !== false,
  );
  return new Map(kept.map(([key, one]) => [key, bare(one)]));
}

const summary = ({ clusters, contexts, users, ...view }: z.output<typeof viewed>) => ({
  "current-context": view["current-context"],
  clusters: new Map((clusters ?? []).map((one) => [one.name, bare(one.cluster)])),
  contexts: new Map((contexts ?? []).map((one) => [one.name, bare(one.context)])),
  users: new Map((users ?? []).map((one) => [one.name, bare(one.user)])),
});

const isEmpty = (view: ReturnType<typeof summary>): boolean =>
  Object.values(view).every((part) => part === "" || (part instanceof Map && part.size === 0));

const bareMap = (map: ReadonlyMap<string, object>) =>
  new Map([...map].map(([key, value]) => [key, bare(value)]));
/** kubectl shows paths as written: ours are compared by their last part, and by the credentials of a request. */
const unresolved = (value: ReadonlyMap<string, object>, files: readonly string[]) =>
  bareMap(
    new Map(
      [...value].map(([key, one]): [string, object] => [
        key,
        JSON.parse(
          files
            .reduce(
              (text, file) => text.replaceAll(`"${file.replace(/config$/, "")}`, '"'),
              JSON.stringify(one),
            )
            .replaceAll(`"${join(files[0] ?? "", "../../token")}"`, '"../token"')
            .replaceAll('"command":"plugin"', '"command":"./plugin"'),
        ) as object,
      ]),
    ),
  );

const ourView = (read: Kubeconfig, files: readonly string[]) => ({
  "current-context": read.currentContext ?? "",
  clusters: unresolved(read.clusters, files),
  contexts: bareMap(read.contexts),
  users: unresolved(read.users, files),
});

async function unlessRefused<T>(answer: () => Promise<T> | T): Promise<T | undefined> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof KubeConfigError) return undefined;
    throw error;
  }
}

const pairs = 300;
test(`${pairs} pairs of kubeconfigs are read as kubectl reads them`, async () => {
  const tally = { merged: 0, refused: 0, chosen: 0, unchosen: 0, requests: 0 };
  for (let seed = 1; seed <= pairs; seed += 1) {
    const files = await pair(seed);
    const ours = await unlessRefused(() => readKubeconfig(files.filter((file) => file !== "")));
    const [theirs, chosen] = await Promise.all([view(files), view(files, "--minify")]);
    // If no file exists, kubectl treats that as an empty one.
    const merged = ours === undefined ? undefined : ourView(ours, files);
    expect({ seed, view: merged ?? "refused" }).toEqual({
      seed,
      view: theirs === undefined || (ours === undefined && isEmpty(theirs)) ? "refused" : theirs,
    });
    tally[merged === undefined ? "refused" : "merged"] += 1;
    const choice = ours === undefined ? undefined : await unlessRefused(() => chooseContext(ours));
    // kubectl accepts a context without a cluster, and then calls localhost.
    const isWhole = chosen !== undefined && chosen.clusters.size > 0;
    expect({ seed, chooses: choice !== undefined }).toEqual({ seed, chooses: isWhole });
    tally[choice === undefined ? "unchosen" : "chosen"] += 1;
    if (choice === undefined || chosen === undefined) continue;
    expect({ seed, namespace: choice.namespace, context: choice.context }).toEqual({
      seed,
      namespace: (chosen.contexts.get(choice.context) as Map<string, string>).get("namespace"),
      context: chosen["current-context"],
    });
    if (await sendTheSame(seed, files)) tally.requests += 1;
  }
  expect(tally.requests, JSON.stringify(tally)).toBeGreaterThan(30);
  expect(tally.refused).toBeGreaterThan(20);
}, 600_000);

/** Compares the credentials of a request of kubectl with ours. @returns false if kubectl sent no request. */
async function sendTheSame(seed: number, files: readonly string[]): Promise<boolean> {
  received.length = 0;
  const { stderr } = await asked(files, "get", "--raw", "/where");
  const theirs = received.splice(0);
  await request(files.filter((file) => file !== ""));
  // kubectl refuses contradictions, such as a CA without verification, before it connects.
  if (theirs.length === 0 && !/x509/.test(stderr)) return false;
  expect({ seed, stderr, received }).toEqual({ seed, stderr, received: theirs });
  return theirs.length > 0;
}

/** Sends a request with our credentials, if there are any and the server is trusted. */
async function request(kubeconfig: readonly string[]): Promise<void> {
  const credentials = await openCredentials({ kubeconfig })
    .then((reader) => reader.read())
    .catch(() => undefined);
  if (credentials === undefined) return;
  const { server: url, tls, headers } = credentials;
  try {
    const sent = get(new URL(`${url.href.replace(/\/$/, "")}/where`), { ...tls, headers, agent: false });
    const [response] = z.tuple([z.custom<IncomingMessage>()]).parse(await once(sent, "response"));
    response.resume();
    await once(response, "end");
  } catch {
    // No request was received.
  }
}
