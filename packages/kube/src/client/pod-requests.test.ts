import { objectKey } from "@drover/controller";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { scriptedClient } from "../testing/scripted-client.ts";
import type { ReceivedRequest, ReplyScript } from "../testing/scripted-server.ts";

const pod = objectKey({ namespace: "tea", name: "cups-1" });
const call = {
  port: 8080,
  path: "/sync",
  headers: { "content-type": "text/plain", "webhook-id": "a" },
  body: Buffer.from("not JSON"),
  limit: 100,
  timeout: 10_000,
};
const answers =
  (status: number, body = "", headers: Readonly<Record<string, string>> = {}): ReplyScript =>
  (_: ReceivedRequest, response: ServerResponse) =>
    response.writeHead(status, headers).end(body);

it("sends a call to a Pod's port as it is, and returns the answer as it is", async () => {
  const { server, client } = await scriptedClient(answers(418, "tea", { "webhook-signature": "v1" }));
  const answer = await client.callPod(pod, call);
  expect([answer.status, String(answer.body), answer.headers["webhook-signature"]]).toEqual([
    418,
    "tea",
    "v1",
  ]);
  expect(server.requests).toMatchObject([
    {
      method: "POST",
      path: "/api/v1/namespaces/tea/pods/cups-1%3A8080/proxy/sync",
      body: "not JSON",
      headers: { "content-type": "text/plain", "webhook-id": "a", "accept-encoding": "identity" },
    },
  ]);
});

it.each(["/../../secrets", "/%2e%2e/%2E./secrets", "\\..\\..\\secrets", "/secrets?a=b#c"])(
  "a call with the path %j stays in the Pod",
  async (path) => {
    const { server, client } = await scriptedClient(answers(200));
    await client.callPod(pod, { ...call, path });
    const [request] = server.requests;
    expect(request?.path).toMatch(/^\/api\/v1\/namespaces\/tea\/pods\/cups-1%3A8080\/proxy\/secrets/);
    expect(request?.query.size).toBe(0);
  },
);

it("sends a call once, also if the Pod answers 401 or 429", async () => {
  const { server, client } = await scriptedClient([answers(401), answers(429, "", { "retry-after": "1" })]);
  expect(await client.callPod(pod, call)).toMatchObject({ status: 401 });
  expect(await client.callPod(pod, call)).toMatchObject({ status: 429 });
  expect(server.requests).toHaveLength(2);
});

it("reads no answer that is too large", async () => {
  const { client } = await scriptedClient(answers(200, "x".repeat(101)));
  await expect(client.callPod(pod, call)).rejects.toThrow("more than 100 bytes");
});

const log = { container: "main", lines: 20 };

it("reads the end of a log, or throws the API server's refusal", async () => {
  const { server, client } = await scriptedClient([answers(200, "a\nb\n"), answers(403, "{}")]);
  expect(await client.podLog(pod, log)).toBe("a\nb\n");
  expect(server.requests[0]).toMatchObject({ method: "GET", path: "/api/v1/namespaces/tea/pods/cups-1/log" });
  expect(server.requests[0]?.query.get("tailLines")).toBe("20");
  expect(server.requests[0]?.query.get("container")).toBe("main");
  await expect(client.podLog(pod, log)).rejects.toMatchObject({ kind: "Forbidden" });
});
