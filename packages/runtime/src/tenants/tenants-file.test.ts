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
])("refuses %s", (_what, content, problem) => {
  expect(() => read(content)).toThrow(problem);
});

const [a, b] = [
  { namespaces: ["a"], url: "redis://a" },
  { namespaces: ["b"], url: "redis://b" },
];
it.each<[what: string, problem: RegExp, ...entries: object[]]>([
  ["a misspelt field", /entry 1: .*"passwordfile".*passwordFile/, { ...a, passwordfile: "x" }],
  ["a URL of another scheme", /entry 1, url: This is not a URL of Redis/, { ...a, url: "http://u:canary@a" }],
  ["an invalid name", /entry 1, namespaces, 0: give the name/, { ...a, namespaces: ["*"] }],
  ["a user for functions", /without a user/, { ...a, functionsUrl: "redis://u@b" }],
  [
    "several nodes for functions",
    /entry 1, functionsUrl: give the one address/,
    { ...a, url: "redis://u:canary@a:7000,b:7001" },
  ],
  ["a missing file", /entry 1, passwordFile: the file .*none does not exist/, { ...a, passwordFile: "none" }],
  ["a namespace twice", /the namespace a is in entries 1 and 2/, a, { ...b, namespaces: ["b", "a"] }],
  [
    "a namespace twice in one entry",
    /the namespace a is in entries 1 and 1/,
    { ...a, namespaces: ["a", "a"] },
  ],
  [
    "one server with different URLs",
    /the server 127.0.0.1:6379 is in entries 1 and 2/,
    { ...a, url: "redis://LOCALHOST" },
    { ...b, url: "rediss://u:canary@127.0.0.1:6379/3" },
  ],
  [
    "one node of two clusters",
    /the server y:2 is in entries 1 and 2/,
    { ...a, url: "redis://x:1,y:2", functionsUrl: "redis://p" },
    { ...b, url: "redis://y:2,z:3", functionsUrl: "redis://q" },
  ],
  [
    "one server as Pods reach it",
    /the server in:1 is in entries 1 and 2/,
    { ...a, functionsUrl: "redis://in:1" },
    { ...b, url: "redis://in.:1" },
  ],
])("refuses %s", (_what, problem, ...entries) => {
  // JSON is YAML.
  const content = JSON.stringify(entries);
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
