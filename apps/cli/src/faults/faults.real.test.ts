import { buildRealCluster, type RealCluster, startRealCluster } from "@drover/real-cluster";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { folderOfFile } from "../../../../packages/testing/src/folder.fixture.ts";
import { spawnDrover } from "../testing/run-command.ts";

let cluster: RealCluster;
const folder = folderOfFile();
let kubectl: string;

beforeAll(async () => {
  cluster = await startRealCluster();
  kubectl = join((await buildRealCluster()).bin, "kubectl");
}, 900_000);
afterAll(() => cluster.stop());

const withFaults = (rules: readonly object[], ...command: string[]) => {
  const plan = join(folder, "plan.yaml");
  writeFileSync(plan, JSON.stringify({ rules }));
  return spawnDrover(["faults", "--kubeconfig", cluster.kubeconfig, "--plan", plan, "--", ...command]);
};
const ask = (...words: string[]): string => execFileSync(cluster.kubectl, words).toString().trim();

it("kubectl comes in without credentials, meets the faults, and tries again where it does", async () => {
  const { code, stderr } = await withFaults(
    [{ do: "refuse", status: 429, retryAfter: 1, when: { verb: "create", nth: 1 } }],
    ...[kubectl, "--cache-dir", folder, "create", "configmap", "a", "--from-literal=is=there"],
  );
  expect(stderr).toMatch(
    /create configmaps default -> refused with 429\n(.*\n)*.*create configmaps default -> 201/,
  );
  expect(ask("get", "configmap", "a", "-o", "jsonpath={.data.is}")).toBe("there");
  expect(code).toBe(0);
});

it("a lost answer is an error that hides a success", async () => {
  const { code, stderr } = await withFaults(
    [{ do: "lose answer", when: { verb: "create" } }],
    ...[kubectl, "--cache-dir", folder, "create", "configmap", "b"],
  );
  expect(stderr).toContain("create configmaps default/b -> 201, answer lost");
  expect([code, ask("get", "configmap", "b", "-o", "name")]).toEqual([1, "configmap/b"]);
});

it("a shell with all it has started dies between commit and answer, and a second one finishes", async () => {
  const script = `
    "$0" --cache-dir "$1" apply -f - <<EOF
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"life": "any"}}
EOF
  `;
  const { code, stderr } = await withFaults(
    [{ do: "kill after", when: { write: true, life: 1 } }],
    ...["/bin/sh", "-ec", script, kubectl, folder],
  );
  expect(stderr).toContain("create configmaps default/c -> 201, killed after it");
  expect(stderr).toContain("Lives: 2.");
  expect([code, ask("get", "configmap", "c", "-o", "jsonpath={.data.life}")]).toEqual([0, "any"]);
});
