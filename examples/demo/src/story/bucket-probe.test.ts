import { objectKey } from "@drover/controller";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isServerReady } from "../servers/api-server.ts";
import type { BucketView } from "./bucket-view.ts";
import { hasBucket, type S3Access } from "../servers/s3.ts";
import { bucketProbe } from "./bucket-probe.ts";

let server: Server;
let answer: RequestListener;
let asked: number;
let s3: S3Access;
let printed: string[];

const { signal } = new AbortController();
const key = objectKey({ namespace: "default", name: "hello" });
const view = { bucket: "hello", announced: false } as BucketView;
beforeEach(async () => {
  [asked, printed] = [0, []];
  server = createServer((request, response) => {
    asked++;
    answer(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  s3 = { url, settings: {}, credentials: {}, isOwn: true };
});
afterEach(() => {
  server.close().closeAllConnections();
});

const status =
  (code: number): RequestListener =>
  (_request, response) =>
    response.writeHead(code).end();
const broken: RequestListener = (request) => request.socket.destroy();
const follow = () => {
  const there: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const narrator = { print, printLines: () => undefined };
  const onChange = bucketProbe(s3, narrator, signal, (_key, name) => there.push(name));
  return { onChange, there };
};

it.each<[string, RequestListener, boolean | undefined, boolean]>([
  ["is there", status(200), true, true],
  ["is another's", status(403), true, false],
  ["is not there", status(404), false, false],
  ["is in trouble", status(503), undefined, false],
  ["does not answer", broken, undefined, false],
])("a server with the state: %s", async (_what, as, has, ready) => {
  answer = as;
  expect(await hasBucket(s3, "hello", signal)).toBe(has);
  expect(await isServerReady(s3.url)).toBe(ready);
});

it("a bucket is found though its server does not answer at first", async () => {
  answer = broken;
  const { onChange, there } = follow();
  onChange(key, view);
  await expect.poll(() => asked).toBeGreaterThan(2);
  expect([there, printed]).toEqual([[], []]);
  answer = status(200);
  await expect.poll(() => there).toEqual(["hello"]);
  expect(printed).toEqual(["default/hello: bucket hello exists on the S3 server"]);
});

it("a bucket whose server does not answer is not reported, and one that no object names is not requested", async () => {
  answer = status(404);
  const { onChange, there } = follow();
  onChange(key, view);
  await expect.poll(() => asked).toBeGreaterThan(2);
  onChange(key, undefined);
  answer = status(200);
  onChange(key, view);
  await expect.poll(() => there).toEqual(["hello"]);
  answer = broken;
  const before = asked;
  onChange(key, undefined);
  await expect.poll(() => asked).toBe(before + 1);
  expect(printed).toEqual(["default/hello: bucket hello exists on the S3 server"]);
});

it("a bucket that is about to be created again is probed again, and one of another name instead of it", async () => {
  answer = status(200);
  const { onChange, there } = follow();
  onChange(key, view);
  await expect.poll(() => there).toEqual(["hello"]);
  onChange(key, view);
  onChange(key, { ...view, announced: true });
  await expect.poll(() => there).toEqual(["hello", "hello"]);
  answer = status(404);
  onChange(key, { ...view, bucket: "never" });
  const before = asked;
  await expect.poll(() => asked).toBeGreaterThan(before + 1);
  onChange(key, { ...view, bucket: "other" });
  const names: string[] = [];
  answer = (request, response) => {
    names.push(request.url ?? "");
    response.writeHead(request.url?.includes("other") === true ? 200 : 404).end();
  };
  await expect.poll(() => there.at(-1)).toBe("other");
  names.length = 0;
  onChange(key, { ...view, bucket: "last" });
  await expect.poll(() => names.length).toBeGreaterThan(2);
  expect(names.filter((url) => !url.includes("last"))).toEqual([]);
  onChange(key, undefined);
});
