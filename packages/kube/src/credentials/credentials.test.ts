import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import { TLSSocket } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect, promisify } from "node:util";
import { objectKey } from "@drover/controller";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connect } from "../client/connect.ts";
import { KubeConfigError } from "./kubeconfig.ts";
import { bucketRef, bucketObject } from "../testing/objects.ts";
import {
  jsonReply,
  kubeconfigOf,
  refuses,
  type ReplyScript,
  scriptedServer,
} from "../testing/scripted-server.ts";

const proxied = (proxy: string): string =>
  kubeconfigOf("http://h").replace('"server"', `"proxy-url":${JSON.stringify(proxy)},"server"`);
const plugin = (script: string, argument = "", command = "/bin/sh"): string =>
  kubeconfigOf("http://h", { exec: { command, args: ["-c", script, argument] } });

const key = objectKey({ namespace: "default", name: "a" });
let folder: string;
let kubeconfig: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drover-credentials-"));
  kubeconfig = join(folder, "kubeconfig");
});
afterEach(() => rm(folder, { recursive: true }));

const problem = async (context?: string): Promise<string> => {
  const error: unknown = await connect({ kubeconfig, ...(context === undefined ? {} : { context }) }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(KubeConfigError);
  return String(error);
};

describe("a kubeconfig that cannot be used says why", () => {
  test("it does not exist", async () => {
    expect(await problem()).toMatch(/kubeconfig does not exist/);
  });

  test("it is a directory", async () => {
    kubeconfig = folder;
    expect(await problem()).toMatch(/cannot be read: EISDIR/);
  });

  test.each([
    ["it is not YAML", "a: [", /is not YAML/],
    ["it is empty", "", /has no contexts/],
    ["it has comments alone", "\n# nothing\n", /has no contexts/],
    ["it has nothing but nulls", "clusters: null\ncontexts: null\nusers: null", /has no contexts/],
    ["it is of another kind", "kind: Pod", /malformed[^]*kind/],
    [
      "it has a name twice",
      "clusters: [{name: a}, {name: b}, {name: a}]",
      /has "a" twice among its clusters/,
    ],
    ["it is a sentence", "hello there", /malformed/],
    [
      "its context names no cluster at all",
      kubeconfigOf("http://h").replace('"cluster":"here",', ""),
      /"here" of .* names no cluster/,
    ],
    ["its user acts as groups", kubeconfigOf("http://h", { as: "a", "as-groups": ["g"] }), /has as-groups/],
    ["its server is no URL", kubeconfigOf("localhost:6443"), /malformed[^]*server/],
    [
      "it has no current context",
      kubeconfigOf("http://h").replace('"current-context":"here",', ""),
      /name one.*: here/,
    ],
    [
      "its context names no cluster",
      kubeconfigOf("http://h").replace('"cluster":"here"', '"cluster":"x"'),
      /cluster/,
    ],
    [
      "its context names no user",
      kubeconfigOf("http://h").replace('"user":"me"', '"user":"x"'),
      /no user "x"/,
    ],
  ])("%s", async (_name, content, words) => {
    await writeFile(kubeconfig, content);
    expect(await problem()).toMatch(words);
  });

  const canary = "CANARY-token";
  const user = (text: string): string =>
    `clusters: [{name: c, cluster: {server: "http://h"}}]\ncontexts: []\nusers:\n- name: u\n  user:\n    token: ${text}\n`;
  test.each([
    ["a line that breaks off", user(`"${canary}`), /line \d+: deficient indentation/],
    ["a line with a colon too many", user(`${canary}: ${canary}`), /line \d+: /],
    ["an alias", user(`*${canary}`), /line \d+: unidentified alias/],
    ["a tag", user(`!${canary} x`), /line \d+: unknown scalar tag/],
    ["a tag's name", user(`!<${canary}^> x`), /line \d+: /],
    ["a tag's handle", user(`!CANARY!x y`), /line \d+: undeclared tag handle/],
    ["the token in place of all", canary, /malformed/],
    ["a proxy of another kind", proxied(`socks5://u:${canary}@p:1`), /is a SOCKS proxy/],
    ["a proxy that is no URL", proxied(`u:${canary}@p:1`), /proxy-url is not the URL of an HTTP proxy/],
    ["a proxy with a port that is none", proxied(`http://u:${canary}@p:port`), /proxy-url is not the URL/],
    [
      "a plugin that fails",
      plugin(`echo ${canary} >&2; exit 1`),
      /the plugin .*sh failed\. Its output is not shown/,
    ],
    ["a plugin that prints no JSON", plugin(`echo ${canary}`), /did not print an ExecCredential/],
    ["a plugin that prints other JSON", plugin(`echo '"${canary}"'`), /did not print an ExecCredential/],
    ["a plugin that is not there", plugin("", canary, "/absent/plugin"), /spawn \/absent\/plugin ENOENT/],
  ])("and never shows its content: %s", async (_name, content, words) => {
    await writeFile(kubeconfig, content);
    const error: unknown = await connect({ kubeconfig }).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(words);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("CANARY");
  });

  test("it lacks the context that was asked for, and says which it has", async () => {
    await writeFile(kubeconfig, kubeconfigOf("http://h"));
    expect(await problem("there")).toMatch(/no context "there"; it has: here/);
  });

  test("its token file is missing", async () => {
    await writeFile(kubeconfig, kubeconfigOf("http://h", { tokenFile: "absent" }));
    expect(await problem()).toMatch(/credentials.*cannot be read[^]*absent/);
  });

  test("nothing was given and there is no pod around", async () => {
    await expect(connect({})).rejects.toThrow(/does not run in a pod/);
  });
});

describe("credentials", () => {
  /** Lets in who carries the token. */
  const wants =
    (token: () => string): ReplyScript =>
    (heard, response) =>
      (heard.headers.authorization === `Bearer ${token()}`
        ? jsonReply(bucketObject("a"))
        : refuses(401, "Unauthorized"))(heard, response);

  test("that were rotated are read again after a 401, and the request is repeated once", async () => {
    let token = "old";
    await using server = await scriptedServer(wants(() => token));
    await writeFile(join(folder, "token"), "old\n");
    await writeFile(kubeconfig, kubeconfigOf(server.url, { tokenFile: "token" }));
    const client = await connect({ kubeconfig });
    await client.get(bucketRef, key);

    token = "new";
    await writeFile(join(folder, "token"), "new\n");
    expect(await client.patch(bucketRef, key, { type: "merge", body: {} })).toBeDefined();
    expect(server.requests).toHaveLength(3);

    token = "newer, but not in the file";
    await expect(client.get(bucketRef, key)).rejects.toMatchObject({ kind: "Unauthorized" });
    expect(server.requests).toHaveLength(5);
    await client.close();
  });

  test("of the server's URL are sent as Basic, where there are no others, and never shown", async () => {
    await using server = await scriptedServer(jsonReply(bucketObject("a")), jsonReply(bucketObject("a")));
    const url = server.url.replace("//", "//me:p%40ss@");
    for (const user of [{}, { token: "t" }]) {
      await writeFile(kubeconfig, kubeconfigOf(url, user));
      const client = await connect({ kubeconfig });
      await client.get(bucketRef, key);
      await client.close();
    }
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${btoa("me:p@ss")}`,
      "Bearer t",
    ]);
    await writeFile(kubeconfig, kubeconfigOf("http://me:p%40ss@127.0.0.1:1", {}));
    const client = await connect({ kubeconfig });
    const refused: unknown = await client.get(bucketRef, key).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
    expect(inspect(refused, { depth: 10, showHidden: true })).not.toContain("p%40ss");
    await client.close();
  });

  test("come from a plugin where the kubeconfig names one", async () => {
    await using server = await scriptedServer(wants(() => "from a plugin"));
    const plugin = join(folder, "plugin");
    await writeFile(plugin, `#!/bin/sh\necho '{"status":{"token":"from a plugin"}}'\n`);
    await chmod(plugin, 0o755);
    await writeFile(kubeconfig, kubeconfigOf(server.url, { exec: { command: plugin, args: [] } }));
    const client = await connect({ kubeconfig });
    expect(await client.get(bucketRef, key)).toBeDefined();
    await client.close();
  });

  test("that cannot be read any more leave the old ones in use", async () => {
    await using server = await scriptedServer(refuses(401, "Unauthorized"), jsonReply(bucketObject("a")));
    await writeFile(kubeconfig, kubeconfigOf(server.url, { token: "t" }));
    const client = await connect({ kubeconfig });
    await rm(kubeconfig);
    expect(await client.get(bucketRef, key)).toBeDefined();
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer t", "Bearer t"]);
    await client.close();
  });
});

describe("TLS", () => {
  const certificate = async (name: string) => {
    const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
    await promisify(execFile)("openssl", [
      ...[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
      ],
      ...[
        "-subj",
        `/CN=${name}`,
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        keyFile,
        "-out",
        certFile,
      ],
    ]);
    return { key: await readFile(keyFile), cert: await readFile(certFile) };
  };
  const listening = async (server: Server): Promise<number> => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : expect.fail("no port");
  };

  test("a server whose certificate nobody vouches for is called only where the kubeconfig says so", async () => {
    const server = createServer(await certificate("unknown"), (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", connection: "close" });
      response.end(JSON.stringify(bucketObject("a")));
    });
    const strict = kubeconfigOf(`https://127.0.0.1:${await listening(server)}`);
    for (const [text, isCalled] of [
      [strict, false],
      [strict.replace('"server"', '"insecure-skip-tls-verify":false,"server"'), false],
      [strict.replace('"server"', '"insecure-skip-tls-verify":true,"server"'), true],
    ] as const) {
      await writeFile(kubeconfig, text);
      const client = await connect({ kubeconfig });
      const got = client.get(bucketRef, key, { retries: 0 });
      if (isCalled) await expect(got).resolves.toBeDefined();
      else await expect(got).rejects.toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
      await client.close();
    }
    server.close();
  });

  test("a rotated CA is read again, and the request is repeated", async () => {
    const [old, fresh] = [await certificate("old"), await certificate("fresh")];
    const server = createServer(old, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", connection: "close" });
      response.end(JSON.stringify(bucketObject("a")));
    });
    const url = `https://127.0.0.1:${await listening(server)}`;
    const ca = join(folder, "ca.crt");
    await writeFile(ca, old.cert);
    const trusting = kubeconfigOf(url).replace('"server"', '"certificate-authority":"ca.crt","server"');
    await writeFile(kubeconfig, trusting);
    const client = await connect({ kubeconfig });
    expect(await client.get(bucketRef, key)).toBeDefined();

    server.setSecureContext(fresh);
    await expect(client.get(bucketRef, key, { retries: 0 })).rejects.toMatchObject({
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
    await writeFile(ca, fresh.cert);
    expect(await client.get(bucketRef, key, { retries: 0 })).toBeDefined();
    await client.close();
    server.close();
  });

  test("a rotated client certificate is read again, and no connection goes on with the old one but for what it carries", async () => {
    let accepted = "one";
    const [asked, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const one = await certificate("one");
    const server = createServer(
      { ...one, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const { socket } = request;
        const isAccepted = socket instanceof TLSSocket && socket.getPeerCertificate().subject.CN === accepted;
        const answer = (): void => {
          response.writeHead(isAccepted ? 200 : 401, { "content-type": "application/json" });
          response.end(JSON.stringify(bucketObject("a")));
        };
        const isSlow = request.url?.endsWith("/slow") === true;
        if (isSlow) asked.resolve(undefined);
        void (isSlow ? answered.promise : Promise.resolve()).then(answer);
      },
    );
    const url = `https://127.0.0.1:${await listening(server)}`;
    const identity = { "client-certificate": "client.crt", "client-key": "client.key" };
    await writeFile(join(folder, "ca.crt"), one.cert);
    await writeFile(
      kubeconfig,
      kubeconfigOf(url, identity).replace('"server"', '"certificate-authority":"ca.crt","server"'),
    );
    const hold = async ({ key, cert }: Awaited<ReturnType<typeof certificate>>) => {
      await writeFile(join(folder, "client.key"), key, { mode: 0o600 });
      await writeFile(join(folder, "client.crt"), cert);
    };
    await hold(one);
    const client = await connect({ kubeconfig });
    expect(await client.get(bucketRef, key)).toBeDefined();
    const underWay = client.get(bucketRef, objectKey({ namespace: "default", name: "slow" }), { retries: 0 });
    await asked.promise;

    await hold(await certificate("two"));
    accepted = "two";
    expect(await client.get(bucketRef, key, { retries: 0 })).toBeDefined();
    answered.resolve(undefined);
    expect(await underWay).toBeDefined();
    await client.close();
    server.close();
  });
});
