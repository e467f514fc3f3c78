import { silentLog } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { findRedis7, freePort, isRunning, spawnTied, type TiedProcess } from "@drover/local-servers";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { folderOfFile } from "../../../../packages/testing/src/folder.fixture.ts";
import { createServerCertificate } from "./certificates.ts";
import { keepRedisSetUp, type RedisSetupOptions, setUpRedis } from "./set-up-redis.ts";

// A real API server with the deployer's own permissions, and a real Redis with TLS. What is there is read with kubectl
// and openssl; this file plays the kubelet, which writes Secrets to files.
const folder = folderOfFile();
const file = (name: string): string => join(folder, name);
const run = promisify(execFile);
const day = 86_400_000;
const later = (days: number): Date => new Date(Date.now() + days * day);

let cluster: RealCluster;
let client: KubeClient;
let namespace: string;
let namespaces = 0;
const kubectl = async (...args: readonly string[]): Promise<string> =>
  (await run(cluster.kubectl, [...args, "--namespace", namespace])).stdout;
const apply = async (...items: readonly object[]): Promise<void> => {
  const applying = run(cluster.kubectl, ["apply", "--server-side", "-f", "-"]);
  applying.child.stdin?.end(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  await applying;
};

beforeAll(async () => {
  cluster = await startRealCluster();
  namespace = "drover";
  await kubectl("create", "namespace", "drover");
  for (const part of ["bridge", "deployer", "gateway"]) {
    await kubectl("apply", "-f", join(import.meta.dirname, `../../../${part}/deploy/rbac.yaml`));
  }
  const kubeconfig = await cluster.kubeconfigOfAccount("drover", "deployer");
  client = await connect({ kubeconfig, userAgent: "test", log: silentLog });
});
afterAll(async () => {
  await client.close();
  await cluster.stop();
});
/** Each test has a namespace of its own, in which the deployer has the permissions of its own namespace. */
beforeEach(async () => {
  namespace = `drover-${++namespaces}`;
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: "deployer", namespace };
  const verbs = ["get", "list", "create", "patch", "delete"];
  await apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    {
      apiVersion: `${rbac}/v1`,
      kind: "Role",
      metadata,
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name: "deployer" },
      subjects: [{ kind: "ServiceAccount", name: "deployer", namespace: "drover" }],
    },
  );
});

const listSchema = z.object({
  items: z.array(
    z.object({
      kind: z.string(),
      type: z.string().optional(),
      metadata: z.object({ name: z.string(), resourceVersion: z.string() }),
      data: z.record(z.string(), z.string()).default({}),
    }),
  ),
});
/** The Secrets and ConfigMaps of the namespace, by name. */
async function objects() {
  const { items } = listSchema.parse(JSON.parse(await kubectl("get", "secrets,configmaps", "-o", "json")));
  return Object.fromEntries(
    items.map(({ kind, type, metadata, data }) => [
      metadata.name,
      {
        type: type ?? kind,
        version: metadata.resourceVersion,
        text: (key: string): string =>
          kind === "Secret" ? Buffer.from(data[key] ?? "", "base64").toString() : (data[key] ?? ""),
      },
    ]),
  );
}
async function textOf(name: string, key: string): Promise<string> {
  return (await objects())[name]?.text(key) ?? expect.fail(`There is no ${name}.`);
}
const versions = async () =>
  Object.fromEntries(Object.entries(await objects()).map(([name, { version }]) => [name, version]));

let server: TiedProcess | undefined;
let port: number;
beforeEach(async () => void (port = await freePort()));
const setup = (more: Partial<RedisSetupOptions> = {}): RedisSetupOptions => ({
  client,
  namespace,
  redisUrl: `rediss://deployer@127.0.0.1:${port}`,
  log: silentLog,
  signal: AbortSignal.timeout(60_000),
  // No server comes while it waits.
  connectTimeout: server === undefined ? 100 : 20_000,
  ...more,
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
});
/** As a kubelet does: the files of the server's Secrets, as they are now. */
async function mount(): Promise<void> {
  const there = await objects();
  mkdirSync(file(namespace), { recursive: true });
  for (const [name, key] of [
    ["valkey-tls", "tls.crt"],
    ["valkey-tls", "tls.key"],
    ["valkey-users", "users.acl"],
  ] as const) {
    writeFileSync(file(`${namespace}/${key}`), there[name]?.text(key) ?? "");
  }
}
async function startServer(...more: readonly string[]): Promise<void> {
  const { command } = await findRedis7();
  const at = (name: string): string => file(`${namespace}/${name}`);
  server = await spawnTied({
    name: "Redis",
    command,
    args: [
      ...["--port", "0", "--tls-port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
      ...["--maxmemory-policy", "noeviction", "--tls-auth-clients", "no", "--aclfile", at("users.acl")],
      ...["--tls-cert-file", at("tls.crt"), "--tls-key-file", at("tls.key"), ...more],
    ],
    logFile: file(`${namespace}.log`),
  });
  await vi.waitFor(async () => expect(await ask("stranger", "wrong", "PING")).toContain("WRONGPASS"), 20_000);
}
/** Setup, files, server. */
async function install(at = new Date()): Promise<void> {
  await setUpRedis(setup(), at);
  await mount();
  await startServer();
}

/** A connection of openssl to the server, which must present a certificate that this authority has signed. */
async function session(lines: readonly string[], ca: string, hostname = "127.0.0.1"): Promise<string> {
  const caFile = file(`ca-${port}.crt`);
  writeFileSync(caFile, ca);
  const child = run("openssl", [
    ...[
      "s_client",
      "-connect",
      `127.0.0.1:${port}`,
      "-CAfile",
      caFile,
      "-x509_strict",
      "-verify_return_error",
    ],
    ...["-verify_ip", hostname, "-ign_eof"],
  ]);
  child.child.stdin?.end(`${[...lines, "QUIT"].join("\r\n")}\r\n`);
  const { stdout } = await child;
  return stdout;
}
const ask = async (user: string, password: string, ...lines: readonly string[]): Promise<string> =>
  session([`AUTH ${user} ${password}`, ...lines], await textOf("redis-ca", "ca.crt"));
const passwordOf = (user: string): Promise<string> => textOf(`${user}-redis`, "password");
const presented = async (ca: string): Promise<string> =>
  /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/.exec(await session([], ca))?.[0] ?? "none";
async function openssl(args: readonly string[], ca: string, certificate: string): Promise<string> {
  writeFileSync(file("verify-ca.crt"), ca);
  writeFileSync(file("verify.crt"), certificate);
  return (await run("openssl", [...args, "-CAfile", file("verify-ca.crt"), file("verify.crt")])).stdout;
}
const all = ["admin", "bridge", "deployer", "gateway", "operator"] as const;

it("with these users, what scripts have written is there after a restart", async () => {
  await setUpRedis(setup());
  await mount();
  const persistent = ["--appendonly", "yes", "--appendfsync", "always", "--appenddirname", namespace];
  await startServer(...persistent);
  const password = await passwordOf("admin");
  const script = `EVAL "redis.call('SET', 'a', 'of a script') redis.call('SET', 'b', 'too')" 0`;
  await ask("admin", password, script, "SET c alone");
  await server?.stop();
  await startServer(...persistent);
  expect(await ask("admin", password, "MGET a b c")).toContain(
    "*3\r\n$11\r\nof a script\r\n$3\r\ntoo\r\n$5\r\nalone\r\n",
  );
  expect(await session(["PING"], await textOf("redis-ca", "ca.crt"))).toContain("-NOAUTH");
  expect(await ask("default", "", "PING")).toMatch(/-WRONGPASS|-ERR|-NOAUTH/);
});

it("makes what Redis, bridge, deployer and gateway mount; Redis then has these users and no other", async () => {
  await install();
  const there = await objects();
  expect(Object.fromEntries(Object.entries(there).map(([name, { type }]) => [name, type]))).toEqual({
    ...Object.fromEntries(all.map((user) => [`${user}-redis`, "Opaque"])),
    "redis-authority": "kubernetes.io/tls",
    "redis-ca": "ConfigMap",
    "valkey-tls": "kubernetes.io/tls",
    "valkey-users": "Opaque",
  });
  const list = await ask("admin", await passwordOf("admin"), "ACL LIST");
  expect([...list.matchAll(/^user (\S+) (on|off)/gm)].map(([, name, state]) => `${name} ${state}`)).toEqual([
    "admin on",
    "bridge on",
    "default off",
    "deployer on",
    "gateway on",
    "operator on",
  ]);
  expect(new Set(await Promise.all(all.map(passwordOf))).size).toBe(5);
  for (const user of ["bridge", "deployer", "gateway", "operator"]) {
    const lines = ["PING", "SET canary 1", "CONFIG GET dir", "SCRIPT EXISTS a"];
    const [, ping, set, config, script] = (await ask(user, await passwordOf(user), ...lines))
      .slice((await ask(user, await passwordOf(user))).indexOf("+OK"))
      .match(/^[+*-].*$/gm) ?? [""];
    expect([user, ping, set, config]).toEqual([
      user,
      "+PONG",
      expect.stringContaining("NOPERM"),
      expect.stringContaining("NOPERM"),
    ]);
    expect(/NOPERM/.test(script ?? "")).toBe(user === "gateway" || user === "operator");
  }
}, 120_000);

it("gives the running Redis the same users as the file that it starts with", async () => {
  await install();
  const list = async () => (await ask("admin", await passwordOf("admin"), "ACL LIST")).match(/^user .*$/gm);
  const ofFile = await list();
  await setUpRedis(setup());
  expect(ofFile).toHaveLength(6);
  expect(await list()).toEqual(ofFile);
});

it("writes nothing when all is there, and answers with what is there", async () => {
  await install();
  const [before, access] = [await versions(), await setUpRedis(setup())];
  expect(access).toEqual({
    redisPasswordFile: await passwordOf("deployer"),
    redisCaFile: await textOf("redis-ca", "ca.crt"),
  });
  expect(await setUpRedis(setup())).toEqual(access);
  expect(await versions()).toEqual(before);
});

it("several deployers at once end with one set, and all of them use it", async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => setUpRedis(setup())));
  const there = await objects();
  expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(answers[0]?.redisPasswordFile).toBe(there["deployer-redis"]?.text("password"));
  const before = await versions();
  await mount();
  await startServer();
  for (const user of all) expect(await ask(user, await passwordOf(user), "PING")).toContain("+PONG");
  await setUpRedis(setup());
  expect(await versions()).toEqual(before);
}, 120_000);

describe("a deleted object is made again, and Redis takes the new one while it runs:", () => {
  it.each(["bridge", "deployer", "gateway"])("the password of %s", async (user) => {
    await install();
    const old = await passwordOf(user);
    await kubectl("delete", "secret", `${user}-redis`);
    await setUpRedis(setup());
    expect(await passwordOf(user)).not.toBe(old);
    expect(await ask(user, await passwordOf(user), "PING")).toContain("+PONG");
    expect(await ask(user, old, "PING")).toContain("WRONGPASS");
    // And after a restart.
    await server?.stop();
    await mount();
    await startServer();
    expect(await ask(user, await passwordOf(user), "PING")).toContain("+PONG");
    expect(await ask(user, old, "PING")).toContain("WRONGPASS");
  });

  it("the administrator's password, once Redis is started again", async () => {
    await install();
    await kubectl("delete", "secret", "admin-redis");
    const warnings: unknown[] = [];
    await setUpRedis(setup({ log: { ...silentLog, warn: (fields) => void warnings.push(fields) } }));
    expect(JSON.stringify(warnings)).toMatch(/WRONGPASS/);
    await server?.stop();
    await mount();
    await startServer();
    expect(await ask("admin", await passwordOf("admin"), "PING")).toContain("+PONG");
  });

  it.each(["secret/valkey-users", "configmap/redis-ca"])("%s, as it was", async (name) => {
    await install();
    const content = async () =>
      (await objects())[name.split("/")[1] ?? ""]?.text(name.includes("ca") ? "ca.crt" : "users.acl");
    const before = await content();
    await kubectl("delete", name);
    await setUpRedis(setup());
    expect(await content()).toBe(before);
  });

  it("the authority: what it has signed stays until it is due, and clients may trust both until then", async () => {
    await install(later(-61));
    const [old, certificate] = [await textOf("redis-ca", "ca.crt"), await textOf("valkey-tls", "tls.crt")];
    await kubectl("delete", "secret", "redis-authority");
    await setUpRedis(setup(), later(-2));
    expect(await textOf("valkey-tls", "tls.crt")).toBe(certificate);
    const both = await textOf("redis-ca", "ca.crt");
    expect(both).toContain(old);
    expect(both.match(/BEGIN/g)).toHaveLength(2);
    expect(await presented(both)).toBe(certificate);
    expect(await presented(old)).toBe(certificate);

    await setUpRedis(setup());
    const [now, next] = [await textOf("redis-ca", "ca.crt"), await textOf("valkey-tls", "tls.crt")];
    // The server presents the old one until it has read the file.
    expect(now).toBe(both);
    expect(await openssl(["verify"], now, next)).toMatch(/OK$/m);
    expect(await openssl(["verify"], both, next)).toMatch(/OK$/m);
    await expect(openssl(["verify"], old, next)).rejects.toThrow();
  });
});

it("keeps looking: what is deleted is made again, and the deployer starts again if its own password was", async () => {
  await install();
  const stop = new AbortController();
  const started = await setUpRedis(setup());
  const [changed, warned] = [Promise.withResolvers<Error>(), Promise.withResolvers<string>()];
  const log = { ...silentLog, warn: (fields: object) => warned.resolve(JSON.stringify(fields)) };
  const kept = keepRedisSetUp({ ...setup({ log, signal: stop.signal }), started, every: 1 }, changed.resolve);
  await kubectl("patch", "secret", "bridge-redis", "-p", '{"data":{"password":""}}');
  expect(await warned.promise).toMatch(/bridge-redis cannot be used: it has no password/);
  await kubectl("delete", "secret", "bridge-redis");
  await vi.waitFor(async () => expect(await passwordOf("bridge")).toHaveLength(43), 20_000);
  expect(isRunning(server?.pid ?? 0)).toBe(true);
  await kubectl("delete", "secret", "deployer-redis");
  expect((await changed.promise).message).toMatch(/Start the process again/);
  await kept;
  stop.abort();
});

it("after two thirds of its life the certificate is another one, which Redis presents once it has the file", async () => {
  await install(later(-61));
  const ca = await textOf("redis-ca", "ca.crt");
  const first = await presented(ca);
  await setUpRedis(setup(), later(-2));
  expect(await textOf("valkey-tls", "tls.crt")).toBe(first);
  await setUpRedis(setup());
  const next = await textOf("valkey-tls", "tls.crt");
  expect(next).not.toBe(first);
  // The kubelet has not written the file yet.
  await setUpRedis(setup());
  expect([await presented(ca), await textOf("valkey-tls", "tls.crt")]).toEqual([first, next]);
  await mount();
  await setUpRedis(setup());
  expect(await presented(ca)).toBe(next);
  expect(isRunning(server?.pid ?? 0)).toBe(true);
  expect(await textOf("redis-ca", "ca.crt")).toBe(ca);
});

it("several deployers at once renew it once", async () => {
  await setUpRedis(setup(), later(-61));
  const written: unknown[] = [];
  const log = { ...silentLog, info: (fields: object) => written.push(fields) };
  await Promise.all(Array.from({ length: 6 }, () => setUpRedis(setup({ log }))));
  expect(written).toEqual([{ object: `Secret ${namespace}/valkey-tls` }]);
  await mount();
  await startServer();
  expect(await presented(await textOf("redis-ca", "ca.crt"))).toBe(await textOf("valkey-tls", "tls.crt"));
});

it("the authority gets a new certificate with its key: clients with either one trust the server", async () => {
  await install();
  const [ca, key] = [await textOf("redis-ca", "ca.crt"), await textOf("redis-authority", "tls.key")];
  await setUpRedis(setup(), later(2_500));
  const next = await textOf("redis-ca", "ca.crt");
  expect([next === ca, await textOf("redis-authority", "tls.key")]).toEqual([false, key]);
  const at = ["verify", "-attime", String(Math.floor(later(2_501).getTime() / 1_000))];
  const certificate = await textOf("valkey-tls", "tls.crt");
  for (const trusted of [ca, next]) expect(await openssl(at, trusted, certificate)).toMatch(/OK$/m);
});

it("a certificate without localhost, as older deployers made it, is made again", async () => {
  await setUpRedis(setup());
  const [certificate, key] = [
    await textOf("redis-authority", "tls.crt"),
    await textOf("redis-authority", "tls.key"),
  ];
  const older = await createServerCertificate({ certificate, key }, ["127.0.0.1"], new Date());
  const stringData = { "tls.crt": older.certificate, "tls.key": older.key };
  await kubectl("patch", "secret", "valkey-tls", "-p", JSON.stringify({ stringData }));
  expect(await textOf("valkey-tls", "tls.crt")).toBe(older.certificate);
  await setUpRedis(setup());
  const [ca, now] = [await textOf("redis-ca", "ca.crt"), await textOf("valkey-tls", "tls.crt")];
  expect(await openssl(["verify", "-verify_hostname", "localhost"], ca, now)).toMatch(/OK$/m);
});

it("another host of Redis gets into the certificate", async () => {
  await setUpRedis(setup());
  const functionsRedisUrl = `rediss://valkey.${namespace}:6379`;
  await setUpRedis(setup({ functionsRedisUrl }));
  const [ca, certificate] = [await textOf("redis-ca", "ca.crt"), await textOf("valkey-tls", "tls.crt")];
  for (const name of [
    "valkey",
    `valkey.${namespace}`,
    `valkey.${namespace}.svc.cluster.local`,
    "localhost",
  ]) {
    expect(await openssl(["verify", "-verify_hostname", name], ca, certificate)).toMatch(/OK$/m);
  }
});

describe("an object that cannot be used is left as it is, and the error names it and not its content:", () => {
  const canary = "canary-Pw-9";
  it.each<[string, string, Record<string, string>, RegExp]>([
    [
      "an empty password",
      "secret/bridge-redis",
      { password: "" },
      /Secret drover-\d+\/bridge-redis .* no password/,
    ],
    [
      "a password under another key",
      "secret/gateway-redis",
      { pasword: canary },
      /gateway-redis .*no password/,
    ],
    ["a password of two lines", "secret/deployer-redis", { password: `${canary}\nb` }, /more than one line/],
    [
      "an authority that is none",
      "secret/redis-authority",
      { "tls.crt": canary, "tls.key": canary },
      /cannot be read/,
    ],
    ["half an authority", "secret/redis-authority", { "tls.crt": canary }, /it has no tls\.key/],
    [
      "a certificate that is none",
      "secret/valkey-tls",
      { "tls.crt": canary, "tls.key": canary },
      /valkey-tls .*cannot be read/,
    ],
    [
      "no authority to trust",
      "configmap/redis-ca",
      { "ca.crt": canary },
      /ConfigMap .*no certificate in ca\.crt/,
    ],
    [
      "users with other passwords",
      "secret/valkey-users",
      { "users.acl": canary },
      /does not have the password of admin/,
    ],
  ])("%s", async (_, which, values, words) => {
    const [kind, name] = which.split("/") as ["secret" | "configmap", string];
    await apply({
      apiVersion: "v1",
      kind: kind === "secret" ? "Secret" : "ConfigMap",
      metadata: { name, namespace },
      [kind === "secret" ? "stringData" : "data"]: values,
    });
    const before = await objects();
    const failed = await setUpRedis(setup()).then(
      () => expect.fail("It was used."),
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({ name: "SetupError", message: expect.stringMatching(words) as string });
    expect(String(failed)).toMatch(new RegExp(`kubectl delete ${kind} ${name} --namespace ${namespace}`));
    expect(JSON.stringify([failed, String(failed)])).not.toContain(canary);
    expect((await objects())[name]?.version).toBe(before[name]?.version);

    await kubectl("delete", kind, name);
    await setUpRedis(setup());
  });

  it("a certificate of another key", async () => {
    await setUpRedis(setup());
    const key = Buffer.from(await textOf("redis-authority", "tls.key")).toString("base64");
    await kubectl("patch", "secret", "valkey-tls", "-p", JSON.stringify({ data: { "tls.key": key } }));
    const before = await versions();
    await expect(setUpRedis(setup())).rejects.toThrow(
      /valkey-tls cannot be used: tls\.key is not the key of tls\.crt/,
    );
    expect(await versions()).toEqual(before);
  });
});

it("a password and a certificate that a user has made are used, and never changed", async () => {
  await setUpRedis(setup());
  // As `kubectl create secret --from-file` makes it of a file with one line.
  const own = { password: "chosen by hand\n" };
  await kubectl("delete", "secret", "bridge-redis");
  await apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "bridge-redis", namespace },
    stringData: own,
  });
  await kubectl("label", "secret", "valkey-tls", "app.kubernetes.io/managed-by-");
  await setUpRedis(setup());
  const before = await versions();
  await setUpRedis(setup(), later(61));
  expect(await versions()).toEqual(before);
  await expect(setUpRedis(setup(), later(91))).rejects.toThrow(
    /valkey-tls cannot be used: its certificate has expired/,
  );
  await mount();
  await startServer();
  expect(await ask("bridge", '"chosen by hand"', "PING")).toContain("+PONG");
});

describe("no other account reads or replaces what was made:", () => {
  /** The requests that the account could make: none, if all are refused. */
  const done = async (account: string): Promise<readonly string[]> => {
    const kept = ["redis-authority", "admin-redis", "redis-ca"];
    const names = Object.entries(await objects()).filter(([name]) => kept.includes(name));
    const as = `--as=system:serviceaccount:${account}`;
    const groups = ["--as-group=system:serviceaccounts", "--as-group=system:authenticated"];
    const attempts = await Promise.all(
      names.flatMap(([name, { type }]) => {
        const kind = type === "ConfigMap" ? "configmap" : "secret";
        const change = ["patch", kind, name, "-p", '{"data":{"x":"eA=="}}'];
        return [["get", kind, name], change, ["delete", kind, name]].map(([verb = "", ...rest]) =>
          kubectl(verb, ...rest, as, ...groups).then(
            () => [`${verb} ${kind} ${name}`],
            (error: unknown) => (String(error).includes("Forbidden") ? [] : [String(error)]),
          ),
        );
      }),
    );
    return attempts.flat();
  };
  it.each(["drover:gateway", "drover:bridge", "web:default"])("%s", async (account) => {
    namespace = "drover";
    await setUpRedis(setup());
    expect(await done(account)).toEqual([]);
  });
});
