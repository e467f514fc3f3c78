import { ReconcileFunction } from "@drover/controller";
import { freePort } from "@drover/local-servers";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { kubeconfigText } from "../../harness/kubeconfigs.ts";
import { allThatReads } from "../../harness/redis-contents.ts";
import { startProcess } from "../../harness/start-process.ts";
import { functionFor, type Manifest, object, secret as secretNamed } from "../../harness/manifests.ts";
import { calledAccount } from "../stage/called-account.ts";
import { Drip, Leak, ways } from "../functions/leaky.ts";
import { conditionOf, eventually, ofCluster, worldOfFile } from "../stage/world.ts";

const canary = "CANARY";
const secret = `whsec_${randomBytes(24).toString("base64")}`;
const leaky = "verification/end-to-end/functions/leaky.ts";
const main = (part: string): string => `apps/${part}/src/main.ts`;
const world = await worldOfFile(ReconcileFunction, Leak, Drip);
const port = await freePort();
const admin = await world.connectRedis();

/** All that processes have printed, by file. */
const printed = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(world.folder)
      .filter((file) => file.endsWith(".log"))
      .map((file) => [file, readFileSync(join(world.folder, file), "utf8")]),
  );

/** Canaries in a text, with what stands around them. */
const found = (text: string): readonly string[] =>
  [...text.matchAll(/[^\n]{0,80}CANARY[^\n]{0,80}/g)].map(([words]) => words);

describe("a canary that a process is started with is nowhere in what it prints", () => {
  const broken = (name: string, content: string): string => {
    const file = join(world.folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  };
  const kubeconfig = (cluster: object, user: object = { token: `${canary}-token` }): string =>
    broken(
      `kubeconfig-${randomBytes(4).toString("hex")}`,
      kubeconfigText({ server: "http://127.0.0.1:1", ...cluster }, user),
    );
  const apiVersion = "client.authentication.k8s.io/v1";
  const exec = (script: string): string =>
    kubeconfig({}, { exec: { apiVersion, command: "/bin/sh", args: ["-c", script, canary] } });
  const proxy = (url: string): string => kubeconfig({ "proxy-url": url });
  const starts: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
    "a URL of Redis of one slash": () => ({ DROVER_REDIS_URL: `redis:/admin:${canary}-pw@host:6379` }),
    "a URL of another kind": () => ({ DROVER_REDIS_URL: `http://admin:${canary}-pw@host:6379` }),
    "a URL of Redis with a blank": () => ({ DROVER_REDIS_URL: ` redis://admin:${canary}-pw@host:6379` }),
    "a password of Redis with a slash": () => ({
      DROVER_REDIS_URL: `redis://admin:1/${canary}-pw@127.0.0.1:1`,
    }),
    "a password of Redis in a parameter": () => ({ DROVER_REDIS_URL: `redis://a:1?password=${canary},b:1` }),
    "a password of Redis that is wrong": () => ({
      DROVER_REDIS_URL: world.redis.url.replace("//", `//admin:${canary}-pw@`),
    }),
    "a password in place of its file": () => ({ DROVER_REDIS_PASSWORD_FILE: `${canary}-pw` }),
    "a kubeconfig that is no YAML": () => ({
      DROVER_KUBECONFIG: broken("a", `a:\n  token: "${canary}\n  b: c: d\n`),
    }),
    "a kubeconfig with a token that is an alias": () => ({
      DROVER_KUBECONFIG: broken("b", `token: *${canary}\n`),
    }),
    "a token in place of a kubeconfig": () => ({ DROVER_KUBECONFIG: broken("c", canary) }),
    "a SOCKS proxy": () => ({ DROVER_KUBECONFIG: proxy(`socks5://u:${canary}@p:1`) }),
    "a proxy that is no URL": () => ({ DROVER_KUBECONFIG: proxy(`http://u:${canary}@p:port`) }),
    "a proxy that is not there": () => ({
      DROVER_KUBECONFIG: proxy(`http://u:${canary}@127.0.0.1:1`),
      DROVER_FUNCTION: "default/absent",
    }),
    "a plugin that fails": () => ({ DROVER_KUBECONFIG: exec(`echo ${canary}; echo ${canary} >&2; exit 1`) }),
    "a plugin that prints no JSON": () => ({ DROVER_KUBECONFIG: exec(`echo ${canary}`) }),
    "a plugin that prints half a token": () => ({
      DROVER_KUBECONFIG: exec(`echo '{"status":{"token":"${canary}'`),
    }),
  };

  it.each(Object.keys(starts))("%s", async (what) => {
    const variables = starts[what]?.() ?? {};
    // Those that take no function of the cluster go on trying without a word.
    const own =
      "DROVER_FUNCTION" in variables ? [main("deployer")] : ["bridge", "deployer", "gateway"].map(main);
    const parts = [...own, leaky];
    const trouble = "DROVER_FUNCTION" in variables ? /ECONNREFUSED/ : /"level":"(warn|fatal)"/;
    const outcomes = await Promise.all(
      parts.map(async (path, i) => {
        const failed = Promise.withResolvers<undefined>();
        const child = await startProcess({
          name: path,
          main: path,
          logFile: join(world.folder, `${what.replaceAll(/\W/g, "-")}-${i}.log`),
          env: {
            DROVER_REDIS_URL: world.redis.url,
            DROVER_KUBECONFIG: world.cluster.kubeconfig,
            DROVER_LOG_LEVEL: "debug",
            ...(path === leaky && { DROVER_LEAKY_SECRET: canary }),
            ...variables,
          },
          // Without a reachable server it retries, and logs each failure.
          onLine: (line) => {
            if (trouble.test(line)) failed.resolve(undefined);
          },
        });
        await Promise.race([failed.promise, child.exited]);
        await child.stop();
        return readFileSync(child.logFile, "utf8");
      }),
    );
    for (const text of outcomes) {
      expect(text).toMatch(trouble);
      expect(found(text)).toEqual([]);
    }
  });

  it("a setting of a function's own, and the sandbox's token", async () => {
    const run = async (path: string, env: Record<string, string>, index: number): Promise<string> => {
      const child = await startProcess({
        name: path,
        main: path,
        logFile: join(world.folder, `setting-${index}.log`),
        env: { DROVER_REDIS_URL: world.redis.url, DROVER_KUBECONFIG: world.cluster.kubeconfig, ...env },
      });
      await child.exited;
      return readFileSync(child.logFile, "utf8");
    };
    const texts = [
      await run(leaky, { DROVER_LEAKY_SECRET: `a ${canary}` }, 0),
      await run(
        main("sandbox"),
        { DROVER_REDIS_URL: "", DROVER_KUBECONFIG: "", DROVER_SANDBOX_TOKEN: `${canary} x` },
        1,
      ),
    ];
    expect(texts[0]).toContain("give one that begins as");
    expect(texts[1]).toContain("give at least 32 letters");
    for (const text of texts) expect(text).not.toContain(canary);
  });
});

describe("a canary that an error carries is nowhere in logs, conditions, Events, and Redis", () => {
  const registration = (kind: typeof Leak, more: object = {}): Manifest =>
    functionFor(kind, kind.plural, { retry: { first: "1m" }, ...more });
  const leak = (kind: typeof Leak, way: string): Manifest => object(kind, way, { way });
  const all = [...Object.keys(ways), "condition"];
  const named: Readonly<Record<string, RegExp>> = {
    json: /is not valid JSON|in JSON/,
    redis: /unknown command/,
    "redis-arguments": /wrong number of arguments/,
  };
  const wordsOf = (way: string): RegExp => named[way] ?? new RegExp(`${way} failed`);

  beforeAll(async () => {
    const secrets = world.mount("mounted", { current: secret });
    await world.cluster.apply(secretNamed(`${Drip.plural}-webhook`, { current: secret }));
    await world.cluster.apply(registration(Leak));
    const webhook = { url: `http://127.0.0.1:${port}` };
    for (const one of calledAccount(Drip.plural, Drip)) await world.cluster.apply(one);
    await world.cluster.apply(registration(Drip, { delivery: "webhook", webhook }));
    const debug = { DROVER_LOG_LEVEL: "debug" };
    const leakySecret = { DROVER_LEAKY_SECRET: canary };
    await Promise.all([
      world.startBridge({ functions: ofCluster, awaited: "; watching", env: debug }),
      world.startGateway({ allowed: port, env: debug, machine: "caller" }),
      world.startFunction(leaky, { DROVER_FUNCTION: `default/${Leak.plural}`, ...leakySecret, ...debug }),
      world.startServed({
        name: "dripping",
        main: leaky,
        port,
        audience: `default/${Drip.plural}`,
        secrets,
        env: { ...leakySecret, ...debug },
        machine: "caller",
      }),
    ]);
  });

  it("in whatever way", async () => {
    const shown: string[] = [];
    for (const kind of [Leak, Drip]) {
      const own = all.filter((way) => kind === Leak || !way.startsWith("redis"));
      for (const way of own) await world.cluster.apply(leak(kind, way));
      for (const way of own) {
        const is = await world.until(leak(kind, way), (now) => conditionOf(now)?.status === "False");
        expect(conditionOf(is)?.message, `${kind.kind} ${way}`).toMatch(wordsOf(way));
        shown.push(JSON.stringify(is));
      }
    }
    expect(found(shown.join("\n"))).toEqual([]);

    // Notes are written behind; what is looked for must have come to be where it is not to be.
    await eventually(async () => {
      const events = JSON.stringify(
        await world.cluster.read("/apis/events.k8s.io/v1/namespaces/default/events"),
      );
      for (const way of all) expect(events).toMatch(new RegExp(`${way} noted: redis://\\*\\*\\*@host`));
      expect(found(events)).toEqual([]);
    });
    await eventually(async () => {
      const redis = await allThatReads(admin, admin);
      for (const way of all) if (!["condition", "waits"].includes(way)) expect(redis).toMatch(wordsOf(way));
      expect(found(redis)).toEqual([]);
    });
    const logs = [...printed()];
    const text = logs.map(([, lines]) => lines).join("\n");
    for (const way of Object.keys(ways)) expect(text).toMatch(wordsOf(way));
    expect(text).toContain("It leaks");
    for (const [file, lines] of logs) expect(found(lines), file).toEqual([]);
  });

  it("also of one that nothing caught", async () => {
    await world.cluster.apply(leak(Leak, "uncaught"));
    await eventually(() => {
      const text = [...printed().values()].join("\n");
      expect(text).toContain("Uncaught error: uncaught failed");
      expect(found(text)).toEqual([]);
    });
  });
});
