import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folderOfFile } from "../../../testing/src/folder.fixture.ts";
import { readSettings } from "../process/settings.ts";
import { partSettings } from "../parts/part-settings.ts";
import { refuseReserved, type Tenant } from "./tenants-file.ts";

const folder = folderOfFile();
const file = (content: string, mode = 0o600): string => {
  const path = join(folder, "tenants.yaml");
  writeFileSync(path, content, { mode });
  return path;
};
const read = (content: string): readonly Tenant[] =>
  readSettings(partSettings, { DROVER_TENANTS_FILE: file(content) }).tenantsFile;

it("assigns a Redis to namespaces, with passwords from files in its folder", () => {
  writeFileSync(join(folder, "password"), "s3cret\n", { mode: 0o600 });
  const tenants = read(`
- namespaces: [a, b]
  url: rediss://bridge@a.example.com:6379
  passwordFile: password
  functionsUrl: rediss://a.inside:6380
- { namespaces: [c], url: "redis://c:6379" }
- { namespaces: [], url: "redis://left:6379" }
`);
  expect(tenants).toMatchObject([
    { namespaces: ["a", "b"], password: "s3cret", functionsUrl: "rediss://a.inside:6380" },
    { namespaces: ["c"], url: "redis://c:6379" },
    { namespaces: [] },
  ]);
  expect(readSettings(partSettings, {}).tenantsFile).toEqual([]);
});

it.each<[what: string, content: string, problem: RegExp]>([
  ["text that is not YAML", "a: [", /it is not YAML/],
  ["YAML that is not a list", "namespaces: [a]", /it is not a list. Give entries with namespaces, url/],
  [
    "a misspelt field",
    "[{namespaces: [a], url: 'redis://a', passwordfile: x}]",
    /entry 1: .*"passwordfile".*passwordFile/,
  ],
  [
    "a URL of another scheme",
    "[{namespaces: [a], url: 'http://u:canary@a'}]",
    /entry 1, url: This is not a URL of Redis/,
  ],
  ["an invalid name", "[{namespaces: ['*'], url: 'redis://a'}]", /entry 1, namespaces, 0: give the name/],
  [
    "a user for functions",
    "[{namespaces: [a], url: 'redis://a', functionsUrl: 'redis://u@b'}]",
    /without a user/,
  ],
  [
    "several nodes for functions",
    "[{namespaces: [a], url: 'redis://u:canary@a:7000,b:7001'}]",
    /entry 1, functionsUrl: give the one address/,
  ],
  [
    "a missing file",
    "[{namespaces: [a], url: 'redis://a', passwordFile: none}]",
    /entry 1, passwordFile: the file .*none does not exist/,
  ],
  [
    "a namespace twice",
    "[{namespaces: [a], url: 'redis://a'}, {namespaces: [b, a], url: 'redis://b'}]",
    /the namespace a is in entries 1 and 2/,
  ],
  [
    "a namespace twice in one entry",
    "[{namespaces: [a, a], url: 'redis://a'}]",
    /the namespace a is in entries 1 and 1/,
  ],
  [
    "one server with different URLs",
    "[{namespaces: [a], url: 'redis://LOCALHOST'}, {namespaces: [b], url: 'rediss://u:canary@127.0.0.1:6379/3'}]",
    /the server 127.0.0.1:6379 is in entries 1 and 2/,
  ],
  [
    "one node of two clusters",
    `- {namespaces: [a], url: 'redis://x:1,y:2', functionsUrl: redis://p}
- {namespaces: [b], url: 'redis://y:2,z:3', functionsUrl: redis://q}`,
    /the server y:2 is in entries 1 and 2/,
  ],
  [
    "one server as Pods reach it",
    "[{namespaces: [a], url: 'redis://a', functionsUrl: 'redis://in:1'}, {namespaces: [b], url: 'redis://in.:1'}]",
    /the server in:1 is in entries 1 and 2/,
  ],
])("refuses %s", (_what, content, problem) => {
  expect(() => read(content)).toThrow(problem);
  expect(() => read(content)).not.toThrow("canary");
});

it("refuses a password file that every user may read", () => {
  writeFileSync(join(folder, "open"), "x", { mode: 0o644 });
  expect(() => read("[{namespaces: [a], url: 'redis://a', passwordFile: open}]")).toThrow(/chmod 600/);
});

it("refuses the namespaces and the server of Drover", () => {
  const tenants = read("[{namespaces: [a, drover], url: 'redis://main:6379'}]");
  const own = { own: ["drover"], redisUrl: "redis://u@other", functionsUrl: "redis://MAIN:6379" };
  expect(() => refuseReserved(tenants, own)).toThrow(
    /the namespace drover is the deployer's own[^]*entry 1: the server main:6379 is the one of DROVER_REDIS_URL/,
  );
  expect(() => refuseReserved(tenants, { own: ["x"], redisUrl: "redis://main:6380" })).not.toThrow();
});
