import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { folderOfTest } from "../../../testing/src/folder.fixture.ts";
import { contextNamespace, openCredentials } from "./credentials.ts";
import { chooseContext, KubeConfigError, readKubeconfig } from "./kubeconfig.ts";

let folder: string;
beforeEach(() => void (folder = folderOfTest()));

const at = (path: string): string => join(folder, path);
async function write(path: string, content: string): Promise<string> {
  await mkdir(dirname(at(path)), { recursive: true });
  await writeFile(at(path), content);
  return at(path);
}

const cluster = (name: string, server = `http://${name}`): string =>
  `{name: ${name}, cluster: {server: "${server}"}}`;
const context = (name: string, namespace = name): string =>
  `{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: ${namespace}}}`;
const user = (name: string, token = name): string => `{name: ${name}, user: {token: ${token}}}`;
const whole = (name: string, more = ""): string =>
  `clusters: [${cluster(name)}]\ncontexts: [${context(name)}]\nusers: [${user(name)}]\n${more}`;

describe("several kubeconfigs", () => {
  test("are merged: the second adds contexts, and its current-context if the first has none", async () => {
    const kubeconfig = [await write("a", whole("a")), await write("b", whole("b", "current-context: b"))];
    expect(await (await openCredentials({ kubeconfig })).read()).toMatchObject({
      server: new URL("http://b"),
      headers: { authorization: "Bearer b" },
    });
    expect(await contextNamespace({ kubeconfig })).toBe("b");
    expect(await contextNamespace({ kubeconfig, context: "a" })).toBe("a");
  });

  test("may have the context in one file, and its cluster and user in another", async () => {
    const kubeconfig = [
      await write("a", `current-context: x\ncontexts: [${context("x")}]`),
      await write("b", `clusters: [${cluster("x")}]\nusers: [${user("x")}]`),
    ];
    expect(await (await openCredentials({ kubeconfig })).read()).toMatchObject({
      headers: { authorization: "Bearer x" },
    });
  });

  test("use the first entry of a name, without fields of later ones", async () => {
    const first = `current-context: x\nusers: [{name: x, user: {username: me}}]\ncontexts: [${context("x", "first")}]`;
    const second = `current-context: y\nclusters: [${cluster("x")}]\nusers: [${user("x")}]\ncontexts: [${context("x", "second")}]`;
    const { user: chosen, namespace } = chooseContext(
      await readKubeconfig([await write("a", first), await write("b", second)]),
    );
    expect(chosen).toMatchObject({ username: "me" });
    expect(chosen.token).toBeUndefined();
    expect(namespace).toBe("first");
  });

  test("have paths relative to their own file", async () => {
    const files = [
      await write(
        "one/config",
        `clusters: [{name: x, cluster: {server: "http://x", certificate-authority: ca}}]`,
      ),
      await write(
        "two/config",
        `current-context: x\ncontexts: [${context("x")}]\nusers: [{name: x, user: {tokenFile: ../token, client-certificate: cert, client-key: keys/key, exec: {command: ./plugin, args: [./kept]}}}]`,
      ),
    ];
    const choice = chooseContext(await readKubeconfig(files));
    expect(choice.cluster["certificate-authority"]).toBe(at("one/ca"));
    expect(choice.user).toMatchObject({
      tokenFile: at("token"),
      "client-certificate": at("two/cert"),
      "client-key": at("two/keys/key"),
      exec: { command: at("two/plugin"), args: ["./kept"] },
    });
    const inPath = await write("three", "users: [{name: x, user: {exec: {command: plugin}}}]");
    expect((await readKubeconfig(inPath)).users.get("x")?.exec?.command).toBe("plugin");
  });

  test("may be missing, empty or null, except one of them", async () => {
    const kubeconfig = [
      at("absent"),
      await write("empty", ""),
      await write("null", "clusters: null\ncontexts: null\nusers: null\ncurrent-context: ''"),
      await write("b", whole("b", "current-context: b")),
    ];
    expect(await contextNamespace({ kubeconfig })).toBe("b");
  });
});

describe("refuses", () => {
  const refusal = async (files: string | readonly string[], context?: string): Promise<string> => {
    const error: unknown = await readKubeconfig(files)
      .then((read) => chooseContext(read, context))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KubeConfigError);
    return String(error);
  };

  test("files that do not exist, with their names", async () => {
    expect(await refusal([at("a"), at("b")])).toContain(
      `${at("a")}, ${at("b")} do not exist. Set KUBECONFIG`,
    );
  });

  test("an unknown context, with the files that were read and those that were not found", async () => {
    const files = [at("absent"), await write("a", whole("a")), await write("b", whole("b"))];
    expect(await refusal(files, "c")).toMatch(
      /a, .*b \(.*absent not found\) has no context "c"; it has: a, b/,
    );
    expect(await refusal([at("absent"), await write("empty", "")])).toMatch(
      /absent not found\) has no contexts/,
    );
  });

  test("a file among several that is malformed or cannot be read", async () => {
    const good = await write("a", whole("a", "current-context: a"));
    expect(await refusal([good, await write("bad", "clusters: {}")])).toMatch(/bad is malformed/);
    expect(await refusal([good, folder])).toMatch(/cannot be read: EISDIR/);
    expect(await refusal(folder)).toMatch(/cannot be read: EISDIR/);
    expect(await refusal([good, join(good, "below")])).toMatch(/cannot be read: ENOTDIR/);
  });

  test.each(["clusters", "contexts", "users"])("a name twice among its %s", async (what) => {
    expect(await refusal(await write("a", `${what}: [{name: a}, {name: b}, {name: a}]`))).toContain(
      `has "a" twice among its ${what}`,
    );
  });

  test("one given file that does not exist", async () => {
    expect(await refusal(at("absent"))).toMatch(/absent does not exist/);
  });
});

test("content has precedence over a path to it, and a token file over a token", async () => {
  const content = Buffer.from("content").toString("base64");
  const kubeconfig = await write(
    "a",
    `current-context: x
contexts: [${context("x")}]
clusters: [{name: x, cluster: {server: "https://x", tls-server-name: y, certificate-authority: absent, certificate-authority-data: "${content.slice(0, 4)}\\r\\n${content.slice(4, 8)}\\n${content.slice(8)}\\n"}}]
users: [{name: x, user: {client-certificate: absent, client-certificate-data: ${content}, client-key: absent,
  client-key-data: ${content}, token: given, tokenFile: token}}]
`,
  );
  await write("token", "of the file\n");
  const { tls, headers } = await (await openCredentials({ kubeconfig })).read();
  expect([tls.ca, tls.cert, tls.key].map(String)).toEqual(["content", "content", "content"]);
  expect(tls.servername).toBe("y");
  expect(headers).toEqual({ authorization: "Bearer of the file" });
});
