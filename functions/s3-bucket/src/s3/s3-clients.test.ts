import { afterAll, expect, test } from "vitest";
import { s3ConfigSchema } from "../config.ts";
import { s3Clients } from "./s3-clients.ts";

const clients = s3Clients(s3ConfigSchema.parse({}));
afterAll(() => clients.close());
const keys = (secretAccessKey: string) => ({
  keys: { accessKeyId: "a", secretAccessKey },
  role: undefined,
});
const role = (arn: string, externalId: string) => ({ keys: undefined, role: { arn, externalId } });

test("the same credentials and region have one client, any other has another", () => {
  const client = clients.get(keys("1"), "eu-west-1");
  expect(clients.get(keys("1"), "eu-west-1")).toBe(client);
  expect(clients.get(keys("2"), "eu-west-1")).not.toBe(client);
  expect(clients.get(keys("1"), "eu-west-2")).not.toBe(client);
  const temporary = { keys: { ...keys("1").keys, sessionToken: "t" }, role: undefined };
  expect(clients.get(temporary, "eu-west-1")).not.toBe(client);
  expect(clients.get({ keys: undefined, role: undefined }, "eu-west-1")).not.toBe(client);
  const assumed = clients.get(role("arn:a", "shop"), "eu-west-1");
  expect(clients.get(role("arn:a", "shop"), "eu-west-1")).toBe(assumed);
  expect(clients.get(role("arn:a", "other"), "eu-west-1")).not.toBe(assumed);
  expect(clients.get(role("arn:b", "shop"), "eu-west-1")).not.toBe(assumed);
});

test("a client that is in use stays, one that is not goes when there are many", () => {
  const used = clients.get(keys("used"), "eu-west-1");
  const unused = clients.get(keys("unused"), "eu-west-1");
  for (let i = 0; i < 100; i++) {
    clients.get(keys(`other-${i}`), "eu-west-1");
    expect(clients.get(keys("used"), "eu-west-1")).toBe(used);
  }
  expect(clients.get(keys("unused"), "eu-west-1")).not.toBe(unused);
});

test("all clients share one pool of connections, so that one that goes takes none along", () => {
  const [a, b] = [clients.get(keys("a"), "eu-west-1"), clients.get(keys("b"), "eu-west-2")];
  expect(a.config.requestHandler).toBe(b.config.requestHandler);
});

test.each([
  ["AWS", {}, false],
  ["a server of one's own", { s3Endpoint: "http://127.0.0.1:9000" }, true],
  [
    "one with a name for each bucket",
    { s3Endpoint: "http://s3.example.com", s3ForcePathStyle: "false" },
    false,
  ],
])("the bucket is in the path of a URL of %s: %j %s", (_, config, isInPath) => {
  const some = s3Clients(s3ConfigSchema.parse(config));
  expect(some.get(keys("1"), "eu-west-1").config.forcePathStyle).toBe(isInPath);
  some.close();
});
