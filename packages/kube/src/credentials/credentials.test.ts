import { chmod, rm, writeFile } from "node:fs/promises";
import type { ServerOptions } from "node:https";
import { TLSSocket } from "node:tls";
import { join } from "node:path";
import { inspect } from "node:util";
import { objectKey } from "@drover/controller";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../../../testing/src/folder.fixture.ts";
import type { KubeClient } from "../client/client.ts";
import { connect } from "../client/connect.ts";
import { type Certificate, makeCertificate, serveTls } from "../testing/certificate.ts";
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
beforeEach(() => {
  folder = folderOfTest();
  kubeconfig = join(folder, "kubeconfig");
});

/** A client of this kubeconfig, until the test has ended. */
const clientOf = async (text: string): Promise<KubeClient> => {
  await writeFile(kubeconfig, text);
  const client = await connect({ kubeconfig });
  onTestFinished(() => client.close());
  return client;
};
const problem = async (): Promise<string> => {
  const error: unknown = await connect({ kubeconfig }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(KubeConfigError);
  return String(error);
};

describe("a kubeconfig that cannot be used is refused with the reason", () => {
  test.each([
    ["it is not YAML", "a: [", /is not YAML/],
    ["it is empty", "", /has no contexts/],
    ["it has only comments", "\n# nothing\n", /has no contexts/],
    ["it has only nulls", "clusters: null\ncontexts: null\nusers: null", /has no contexts/],
    ["it is of another kind", "kind: Pod", /malformed[^]*kind/],
    ["it is a sentence", "hello there", /malformed/],
    [
      "its context names no cluster at all",
      kubeconfigOf("http://h").replace('"cluster":"here",', ""),
      /"here" of .* names no cluster/,
    ],
    ["its user acts as groups", kubeconfigOf("http://h", { as: "a", "as-groups": ["g"] }), /has as-groups/],
    ["its server is not a URL", kubeconfigOf("localhost:6443"), /malformed[^]*server/],
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
    ["an incomplete line", user(`"${canary}`), /line \d+: deficient indentation/],
    ["a line with an extra colon", user(`${canary}: ${canary}`), /line \d+: /],
    ["an alias", user(`*${canary}`), /line \d+: unidentified alias/],
    ["a tag", user(`!${canary} x`), /line \d+: unknown scalar tag/],
    ["a tag's name", user(`!<${canary}^> x`), /line \d+: /],
    ["a tag's handle", user(`!CANARY!x y`), /line \d+: undeclared tag handle/],
    ["the token as the file", canary, /malformed/],
    ["a proxy of another kind", proxied(`socks5://u:${canary}@p:1`), /is a SOCKS proxy/],
    ["a proxy that is not a URL", proxied(`u:${canary}@p:1`), /proxy-url is not the URL of an HTTP proxy/],
    ["a proxy with an invalid port", proxied(`http://u:${canary}@p:port`), /proxy-url is not the URL/],
    [
      "a plugin that fails",
      plugin(`echo ${canary} >&2; exit 1`),
      /the plugin .*sh failed\. Its output is not shown/,
    ],
    [
      "a plugin that prints text that is not JSON",
      plugin(`echo ${canary}`),
      /did not print an ExecCredential/,
    ],
    ["a plugin that prints other JSON", plugin(`echo '"${canary}"'`), /did not print an ExecCredential/],
    ["a missing plugin", plugin("", canary, "/absent/plugin"), /spawn \/absent\/plugin ENOENT/],
  ])("and its content is never shown: %s", async (_name, content, words) => {
    await writeFile(kubeconfig, content);
    const error: unknown = await connect({ kubeconfig }).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(words);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("CANARY");
  });

  test("its token file is missing", async () => {
    await writeFile(kubeconfig, kubeconfigOf("http://h", { tokenFile: "absent" }));
    expect(await problem()).toMatch(/credentials.*cannot be read[^]*absent/);
  });

  test("no kubeconfig was given, outside of a Pod", async () => {
    await expect(connect({})).rejects.toThrow(/does not run in a pod/);
  });
});

describe("credentials", () => {
  /** Accepts requests with this token. */
  const wants =
    (token: () => string): ReplyScript =>
    (request, response) =>
      (request.headers.authorization === `Bearer ${token()}`
        ? jsonReply(bucketObject("a"))
        : refuses(401, "Unauthorized"))(request, response);

  test("that were rotated are read again after a 401, and the request is repeated once", async () => {
    let token = "old";
    await using server = await scriptedServer(wants(() => token));
    await writeFile(join(folder, "token"), "old\n");
    const client = await clientOf(kubeconfigOf(server.url, { tokenFile: "token" }));
    await client.get(bucketRef, key);

    token = "new";
    await writeFile(join(folder, "token"), "new\n");
    expect(await client.patch(bucketRef, key, { type: "merge", body: {} })).toBeDefined();
    expect(server.requests).toHaveLength(3);

    token = "newer, but not in the file";
    await expect(client.get(bucketRef, key)).rejects.toMatchObject({ kind: "Unauthorized" });
    expect(server.requests).toHaveLength(5);
  });

  test("of the server's URL are sent as Basic if there are no others, and never shown", async () => {
    await using server = await scriptedServer(jsonReply(bucketObject("a")), jsonReply(bucketObject("a")));
    const url = server.url.replace("//", "//me:p%40ss@");
    for (const user of [{}, { token: "t" }])
      await (await clientOf(kubeconfigOf(url, user))).get(bucketRef, key);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${btoa("me:p@ss")}`,
      "Bearer t",
    ]);
    const client = await clientOf(kubeconfigOf("http://me:p%40ss@127.0.0.1:1", {}));
    const refused: unknown = await client.get(bucketRef, key).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
    expect(inspect(refused, { depth: 10, showHidden: true })).not.toContain("p%40ss");
  });

  test("are read from a plugin that the kubeconfig names", async () => {
    await using server = await scriptedServer(wants(() => "from a plugin"));
    const plugin = join(folder, "plugin");
    await writeFile(plugin, `#!/bin/sh\necho '{"status":{"token":"from a plugin"}}'\n`);
    await chmod(plugin, 0o755);
    const client = await clientOf(kubeconfigOf(server.url, { exec: { command: plugin, args: [] } }));
    expect(await client.get(bucketRef, key)).toBeDefined();
  });

  test("that cannot be read any more are replaced by the last ones", async () => {
    await using server = await scriptedServer(refuses(401, "Unauthorized"), jsonReply(bucketObject("a")));
    const client = await clientOf(kubeconfigOf(server.url, { token: "t" }));
    await rm(kubeconfig);
    expect(await client.get(bucketRef, key)).toBeDefined();
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer t", "Bearer t"]);
  });
});

describe("TLS", () => {
  const certificate = (name: string) => makeCertificate(folder, name);
  const untrusted = { code: "DEPTH_ZERO_SELF_SIGNED_CERT" };
  const trusting = (url: string, user: object = {}): string =>
    kubeconfigOf(url, user).replace('"server"', '"certificate-authority":"ca.crt","server"');
  /** A server that answers with a bucket, over one connection per request. */
  const serving = async (options: ServerOptions) => {
    const { server, url } = await serveTls(options, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", connection: "close" });
      response.end(JSON.stringify(bucketObject("a")));
    });
    onTestFinished(() => void server.close());
    return { server, url };
  };

  test("a server with an untrusted certificate is called only if the kubeconfig skips verification", async () => {
    const { url } = await serving(await certificate("unknown"));
    const strict = kubeconfigOf(url);
    for (const [text, isCalled] of [
      [strict, false],
      [strict.replace('"server"', '"insecure-skip-tls-verify":false,"server"'), false],
      [strict.replace('"server"', '"insecure-skip-tls-verify":true,"server"'), true],
    ] as const) {
      const client = await clientOf(text);
      const got = client.get(bucketRef, key, { retries: 0 });
      if (isCalled) await expect(got).resolves.toBeDefined();
      else await expect(got).rejects.toMatchObject(untrusted);
    }
  });

  test("a rotated CA is read again, and the request is repeated", async () => {
    const [old, fresh] = [await certificate("old"), await certificate("fresh")];
    const { server, url } = await serving(old);
    const ca = join(folder, "ca.crt");
    await writeFile(ca, old.cert);
    const client = await clientOf(trusting(url));
    expect(await client.get(bucketRef, key)).toBeDefined();

    server.setSecureContext(fresh);
    await expect(client.get(bucketRef, key, { retries: 0 })).rejects.toMatchObject(untrusted);
    await writeFile(ca, fresh.cert);
    expect(await client.get(bucketRef, key, { retries: 0 })).toBeDefined();
  });

  test("a rotated client certificate is read again, and old connections only finish their requests", async () => {
    let accepted = "one";
    const [asked, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const one = await certificate("one");
    const { server, url } = await serveTls(
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
    onTestFinished(() => void server.close());
    const identity = { "client-certificate": "client.crt", "client-key": "client.key" };
    await writeFile(join(folder, "ca.crt"), one.cert);
    const hold = async ({ key, cert }: Certificate) => {
      await writeFile(join(folder, "client.key"), key, { mode: 0o600 });
      await writeFile(join(folder, "client.crt"), cert);
    };
    await hold(one);
    const client = await clientOf(trusting(url, identity));
    expect(await client.get(bucketRef, key)).toBeDefined();
    const underWay = client.get(bucketRef, objectKey({ namespace: "default", name: "slow" }), { retries: 0 });
    await asked.promise;

    await hold(await certificate("two"));
    accepted = "two";
    expect(await client.get(bucketRef, key, { retries: 0 })).toBeDefined();
    answered.resolve(undefined);
    expect(await underWay).toBeDefined();
  });
});
