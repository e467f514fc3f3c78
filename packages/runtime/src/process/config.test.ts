import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { folderOfFile } from "../../../testing/src/folder.fixture.ts";
import { defaultKubeconfig } from "./config.ts";

const folder = folderOfFile();
const [present, absent, home] = ["present", "absent", "home"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
writeFileSync(present, "");
const pod = (host: string): unknown => vi.stubEnv("KUBERNETES_SERVICE_HOST", host);
const listed = (...paths: readonly string[]): unknown => vi.stubEnv("KUBECONFIG", paths.join(delimiter));

beforeEach(() => void pod(""));
afterEach(() => void vi.unstubAllEnvs());

test("all files of KUBECONFIG are used, in order, even if they do not exist", () => {
  listed(absent, "", present);
  expect(defaultKubeconfig([home])).toEqual([absent, present]);
  listed(absent);
  expect(defaultKubeconfig([home])).toEqual([absent]);
});

test("the file of the home folder is used only if KUBECONFIG is not set", () => {
  listed("");
  expect(defaultKubeconfig([home])).toEqual([home]);
  expect(defaultKubeconfig()).toBeUndefined();
  listed("", "");
  expect(defaultKubeconfig([home])).toBeUndefined();
});

test("in a Pod the ServiceAccount is used, unless a file exists", () => {
  pod("10.0.0.1");
  listed(absent);
  expect(defaultKubeconfig([present])).toBeUndefined();
  listed(absent, present);
  expect(defaultKubeconfig()).toEqual([absent, present]);
});
