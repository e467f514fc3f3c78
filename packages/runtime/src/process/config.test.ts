import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { defaultKubeconfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "drover-config-"));
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
afterAll(() => rmSync(folder, { recursive: true }));

test("all files that KUBECONFIG lists count, in their order, whether they exist or not", () => {
  listed(absent, "", present);
  expect(defaultKubeconfig([home])).toEqual([absent, present]);
  listed(absent);
  expect(defaultKubeconfig([home])).toEqual([absent]);
});

test("the file of the home folder counts where KUBECONFIG is not set, and only there", () => {
  listed("");
  expect(defaultKubeconfig([home])).toEqual([home]);
  expect(defaultKubeconfig()).toBeUndefined();
  listed("", "");
  expect(defaultKubeconfig([home])).toBeUndefined();
});

test("in a Pod its ServiceAccount counts, unless there is a file", () => {
  pod("10.0.0.1");
  listed(absent);
  expect(defaultKubeconfig([present])).toBeUndefined();
  listed(absent, present);
  expect(defaultKubeconfig()).toEqual([absent, present]);
});
