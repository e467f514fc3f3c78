import { once } from "node:events";
import { access } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning } from "../processes/is-running.ts";
import { type S3Server, startS3 } from "./s3-server.ts";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";

// The first start of all installs moto.
const testOptions = { timeout: 180_000 };

let dir: string;
const open: S3Server[] = [];
beforeEach(() => (dir = folderOfTest()));
afterEach(async () => {
  for (const s3 of open.splice(0)) await s3.stop();
});

// moto looks at the key, not at the signature; without a key it is strict about what is public.
const headers = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
};

async function started() {
  const s3 = await startS3({ dir });
  open.push(s3);
  return s3;
}

describe("startS3", testOptions, () => {
  it("makes buckets, keeps objects, and has a log", async () => {
    const { url } = await started();
    expect((await fetch(`${url}/pastures`, { method: "PUT" })).status).toBe(200);
    await fetch(`${url}/pastures/sheep.txt`, { method: "PUT", body: "Dolly", headers });
    expect(await (await fetch(`${url}/pastures/sheep.txt`, { headers })).text()).toBe("Dolly");
    expect(await (await fetch(url)).text()).toContain("<Name>pastures</Name>");
    expect((await fetch(`${url}/meadows`)).status).toBe(404);
    await access(join(dir, "s3.log"));
  });

  it("lets no web page in, to none of the services", async () => {
    const { url } = await started();
    await fetch(`${url}/pastures`, { method: "PUT" });
    const refused = async (path: string, headers: Record<string, string>, method = "GET") => {
      const [answer] = (await once(request(url + path, { method, headers }).end(), "response")) as [
        IncomingMessage,
      ];
      expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
      return answer.resume().statusCode;
    };
    expect(await refused("/pastures", { host: "evil.example" })).toBe(403);
    expect(await refused("/pastures", { origin: "http://evil.example" })).toBe(403);
    expect(await refused("/pastures", { origin: "http://evil.example" }, "OPTIONS")).toBe(403);
    expect(await refused("/moto-api/reset", { origin: "null" }, "POST")).toBe(403);
    expect(await refused("/?Action=CreateQueue&QueueName=a", { "sec-fetch-site": "cross-site" })).toBe(403);
    expect((await fetch(`${url}/pastures`, { method: "HEAD" })).status).toBe(200);
  });

  it("passes bodies of any size, both ways, and cuts connections when it is killed", async () => {
    const { url, pid } = await started();
    await fetch(`${url}/pastures`, { method: "PUT" });
    const herd = Buffer.alloc(9 * 2 ** 20, "sheep");
    const put = await fetch(`${url}/pastures/herd`, { method: "PUT", body: herd, headers });
    expect(put.status).toBe(200);
    const got = Buffer.from(await (await fetch(`${url}/pastures/herd`, { headers })).arrayBuffer());
    expect(got.equals(herd)).toBe(true);
    process.kill(pid, "SIGKILL");
    await expect(fetch(`${url}/pastures`)).rejects.toThrow();
  });

  it("answers each of many small writes at once", async () => {
    const { url } = await started();
    await fetch(`${url}/pastures`, { method: "PUT" });
    const put = async (name: string) =>
      (await fetch(`${url}/pastures/${name}`, { method: "PUT", body: "baa", headers })).status;
    const statuses = new Set<number>();
    for (let flock = 0; flock < 50; flock++) {
      const sheep = Array.from({ length: 20 }, (_, i) => put(`${flock}-${i}`));
      for (const status of await Promise.all(sheep)) statuses.add(status);
    }
    expect([...statuses]).toEqual([200]);
  });

  it("is gone when it is stopped", async () => {
    const s3 = await started();
    await s3.stop();
    await s3.stop();
    expect(isRunning(s3.pid)).toBe(false);
    await expect(fetch(s3.url)).rejects.toThrow();
  });

  it("rejects if its port is taken", async () => {
    const { url } = await started();
    const failure = await startS3({ port: Number(new URL(url).port) }).catch((error: unknown) => error);
    expect(String(failure)).toContain("in use");
  });
});
