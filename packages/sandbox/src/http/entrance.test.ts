import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { configMaps, clientOfFile, startClient } from "../testing/client.ts";

const api = await clientOfFile({ hosts: ["sandbox"] });
const view = await api.staleView();

/** The answer to a request as these bytes; no client puts anything right. */
async function answer(lines: readonly string[], url = api.url): Promise<{ status: number; text: string }> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  await once(socket, "close");
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), text };
}
const authorized = () => `Authorization: Bearer ${api.token}`;
/** A GET of all Secrets with the token and these headers. */
const secrets = async (...headers: readonly string[]) =>
  (await answer(["GET /api/v1/secrets HTTP/1.1", "Connection: close", authorized(), ...headers])).status;

describe("a request of a web page is refused, although it brings the token:", () => {
  it.each([
    ["of a name that is bound to loopback (DNS rebinding)", ["Host: evil.example"]],
    ["with a port", ["Host: evil.example:8001"]],
    ["that ends as localhost does", ["Host: evil.localhost"]],
    ["that begins as loopback does", ["Host: 127.0.0.1.evil.example"]],
    ["with a user in front", ["Host: localhost@evil.example"]],
    ["of the address that stands for all", ["Host: 0.0.0.0"]],
    ["without a name", ["Host:"]],
    ["of another origin", ["Host: localhost", "Origin: http://evil.example"]],
    ["of a sandboxed frame", ["Host: localhost", "Origin: null"]],
    ["of its own origin", ["Host: localhost", "Origin: http://localhost"]],
    ["of another site", ["Host: localhost", "Sec-Fetch-Site: cross-site"]],
    ["of another port of this machine", ["Host: localhost", "Sec-Fetch-Site: same-site"]],
  ])("%s", async (_what, headers) => {
    expect(await secrets(...headers)).toBe(403);
  });

  it("also for health, and at the stale view", async () => {
    const evil = ["Host: evil.example", "Connection: close"];
    expect((await answer(["GET /readyz HTTP/1.1", ...evil])).status).toBe(403);
    expect((await answer(["GET /api HTTP/1.1", authorized(), ...evil], view.url)).status).toBe(403);
  });

  it("with a Status that names the remedy", async () => {
    const { text } = await answer(["GET /api HTTP/1.1", authorized(), "Host: evil.example"]);
    const status = JSON.parse(/\{.*\}/.exec(text)?.[0] ?? "") as object;
    expect(status).toMatchObject({ kind: "Status", reason: "Forbidden", code: 403 });
    expect(text).toMatch(
      /\\"evil\.example\\", which is not an address of this listener\. Ask from a program/,
    );
  });
});

it("programs reach it by its address, by localhost, and by names that it was given", async () => {
  const { port } = new URL(api.url);
  for (const host of ["127.0.0.1", `127.0.0.1:${port}`, `localhost:${port}`, "LOCALHOST", "[::1]:80"])
    expect(await secrets(`Host: ${host}`)).toBe(200);
  expect(await secrets("Host: sandbox:8080", "Sec-Fetch-Site: none")).toBe(200);
});

describe("the token", () => {
  const statusWith = async (headers: Record<string, string>) =>
    (await fetch(`${api.url}/api/v1/secrets`, { headers })).status;

  it("is needed for all but health", async () => {
    for (const path of [
      "/api",
      "/apis",
      "/version",
      "/openapi/v2",
      "/api/v1/secrets",
      configMaps,
      "/healthz/x",
    ])
      expect((await fetch(api.url + path)).status).toBe(401);
    expect((await fetch(view.url + configMaps)).status).toBe(401);
    for (const path of ["/healthz", "/livez", "/readyz?verbose"])
      expect((await fetch(api.url + path)).status).toBe(200);
  });

  it("is compared whole", async () => {
    const { token } = api;
    for (const wrong of [
      "",
      "Bearer",
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      token,
    ])
      expect(await statusWith({ authorization: wrong })).toBe(401);
    expect(await statusWith({ authorization: `bearer ${token}` })).toBe(200);
    for (const [path, status] of [
      [`/${token}/version`, 200],
      [`/${token}?timeout=1s`, 200],
      [`/${token}x/version`, 401],
      [`/${token.slice(1)}/version`, 401],
      [`/version/${token}`, 401],
      [`//${token}/version`, 401],
      ["/", 401],
    ] as const)
      expect([path, (await fetch(api.url + path)).status]).toEqual([path, status]);
  });

  it("is another one for each sandbox, and in the kubeconfig", async () => {
    const other = await startClient();
    expect(other.token).not.toBe(api.token);
    expect(other.kubeconfig()).toContain(other.token);
    await other.close();
  });
});

describe("a refused request costs nothing:", () => {
  const announced = ["Content-Length: 2000000", "Content-Type: application/json"];

  it("it is answered before its body has come, and the connection ends", async () => {
    const post = [`POST ${configMaps} HTTP/1.1`, "Host: localhost"];
    expect((await answer([...post, ...announced])).status).toBe(401);
    expect((await answer([...post, ...announced, authorized(), "Origin: null"])).status).toBe(403);
    expect((await answer([...post, "Content-Length: 2000000", authorized()])).status).toBe(415);
  });
});

it("a POST whose body has no Content-Type is refused, as a web page can send it without asking first", async () => {
  const body = '{"metadata":{"name":"untyped"}}';
  const head = [`POST ${configMaps} HTTP/1.1`, "Host: localhost", authorized()];
  const sized = await answer([...head, `Content-Length: ${body.length}`, "", body]);
  expect(sized.status).toBe(415);
  expect(sized.text).toContain("Send the header Content-Type");
  const chunked = ["Transfer-Encoding: chunked", "", "1f", body, "0", "", ""];
  expect((await answer([...head, ...chunked])).status).toBe(415);
  expect((await api.call("GET", `${configMaps}/untyped`)).code).toBe(404);
  expect((await api.call("DELETE", `${configMaps}/untyped`)).code).toBe(404);
});
