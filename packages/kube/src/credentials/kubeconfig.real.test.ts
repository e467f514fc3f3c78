import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { createServer, get, type Server } from "node:https";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { buildRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openCredentials } from "./credentials.ts";
import { chooseContext, type Kubeconfig, KubeConfigError, readKubeconfig } from "./kubeconfig.ts";

// Generated pairs of kubeconfigs, read by kubectl and by us: what they say together, what the chosen context is, and what
// a request of kubectl brings to a server.

let kubectl: string;
let folder: string;
let origin: string;
let server: Server;
const heard: { readonly path: string; readonly says: object }[] = [];

/** Of each file's folder: a certificate, which is its own authority, and its key. The server has that of the first. */
const certificates = new Map<string, { readonly cert: string; readonly key: string }>();
async function makeCertificate(name: string): Promise<void> {
  const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
  await promisify(execFile)("openssl", [
    ...["req", "-x509", ...curve, ...names],
    ...["-keyout", keyFile, "-out", certFile],
  ]);
  const [key, cert] = await Promise.all([readFile(keyFile, "utf8"), readFile(certFile, "utf8")]);
  certificates.set(name, { key, cert });
}

beforeAll(async () => {
  kubectl = join((await buildRealCluster({ targets: ["kubectl"] })).bin, "kubectl");
  folder = await mkdtemp(join(tmpdir(), "drover-kubeconfigs-"));
  await Promise.all(["one", "two"].map(makeCertificate));
  const identity = { ...certificates.get("one"), requestCert: true, rejectUnauthorized: false };
  server = createServer(identity, ({ url = "/", headers, socket }, response) => {
    const peer = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined;
    const { authorization, "impersonate-user": as } = headers;
    heard.push({ path: url, says: { peer, authorization, as } });
    response.setHeader("content-type", "application/json");
    response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  origin =
    typeof address === "object" && address !== null
      ? `https://127.0.0.1:${address.port}`
      : expect.fail("no port");
}, 600_000);
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** The same seed chooses the same. */
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

/** In two of three pairs nothing is odd; in the others something is in most files. */
const mostly = <T, U>({ below, oneOf, isOdd }: Chooser, usual: T, otherwise: readonly [U, ...U[]]): T | U =>
  isOdd && below(40) === 0 ? oneOf(otherwise) : usual;

const plugin = { apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never", args: ["it"] };

/** A kubeconfig, as JSON, which is YAML: often sound, sometimes odd, sometimes wrong. */
function generated(chance: Chooser, folderName: string): string {
  const { oneOf } = chance;
  const maybe = (value: string) => mostly(chance, value, [undefined, null, "", 1, true, ["x"]]);
  /** Where nothing is odd, only what kubectl takes together. */
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
    ...(chance.below(8) === 0 ? { as: maybe("somebody") } : {}),
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
    const contents = {
      ca: cert,
      crt: cert,
      key,
      token: `of ${name}
`,
      plugin: pluginScript(name),
    };
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
  return code === 0 ? said(viewed.parse(JSON.parse(stdout))) : undefined;
};

/** Without what is left out when it is empty, which differs between Go and JSON of ours. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([, one]) => one !== undefined && one !== null && one !== "" && one !== false,
  );
  return new Map(kept.map(([key, one]) => [key, bare(one)]));
}

const said = ({ clusters, contexts, users, ...view }: z.output<typeof viewed>) => ({
  "current-context": view["current-context"],
  clusters: new Map((clusters ?? []).map((one) => [one.name, bare(one.cluster)])),
  contexts: new Map((contexts ?? []).map((one) => [one.name, bare(one.context)])),
  users: new Map((users ?? []).map((one) => [one.name, bare(one.user)])),
});

const saysNothing = (view: ReturnType<typeof said>): boolean =>
  Object.values(view).every((part) => part === "" || (part instanceof Map && part.size === 0));

const bareMap = (map: ReadonlyMap<string, object>) =>
  new Map([...map].map(([key, value]) => [key, bare(value)]));
/** kubectl shows paths as they are written: ours are compared by their last word, and by what a request brings. */
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
test(`${pairs} pairs of kubeconfigs say to us what they say to kubectl`, async () => {
  const tally = { merged: 0, refused: 0, chosen: 0, unchosen: 0, requests: 0 };
  for (let seed = 1; seed <= pairs; seed += 1) {
    const files = await pair(seed);
    const ours = await unlessRefused(() => readKubeconfig(files.filter((file) => file !== "")));
    const [theirs, chosen] = await Promise.all([view(files), view(files, "--minify")]);
    // Where no file exists kubectl takes that for an empty one.
    const merged = ours === undefined ? undefined : ourView(ours, files);
    expect({ seed, says: merged ?? "refused" }).toEqual({
      seed,
      says: theirs === undefined || (ours === undefined && saysNothing(theirs)) ? "refused" : theirs,
    });
    tally[merged === undefined ? "refused" : "merged"] += 1;
    const choice = ours === undefined ? undefined : await unlessRefused(() => chooseContext(ours));
    // A context without a cluster is one for kubectl, which then asks localhost.
    const isWhole = chosen !== undefined && chosen.clusters.size > 0;
    expect({ seed, chooses: choice !== undefined }).toEqual({ seed, chooses: isWhole });
    tally[choice === undefined ? "unchosen" : "chosen"] += 1;
    if (choice === undefined || chosen === undefined) continue;
    expect({ seed, namespace: choice.namespace, context: choice.context }).toEqual({
      seed,
      namespace: (chosen.contexts.get(choice.context) as Map<string, string>).get("namespace"),
      context: chosen["current-context"],
    });
    if (await askedTheServer(seed, files)) tally.requests += 1;
  }
  expect(tally.requests, JSON.stringify(tally)).toBeGreaterThan(30);
  expect(tally.refused).toBeGreaterThan(20);
}, 600_000);

/** Compares what a request of kubectl brings with what one of ours does; whether one came. */
async function askedTheServer(seed: number, files: readonly string[]): Promise<boolean> {
  heard.length = 0;
  const { stderr } = await asked(files, "get", "--raw", "/where");
  const theirs = heard.splice(0);
  await request(files.filter((file) => file !== ""));
  // What contradicts itself, such as a CA and no verification, kubectl refuses before it connects.
  if (theirs.length === 0 && !/x509/.test(stderr)) return false;
  expect({ seed, stderr, heard }).toEqual({ seed, stderr, heard: theirs });
  return theirs.length > 0;
}

/** A request with our credentials; nothing where there are none, or the server is not believed. */
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
    // Then nothing came.
  }
}
