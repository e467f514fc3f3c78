import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

it.each([
  ["Kubernetes", /k8s\.io\/kubernetes v(\S+)/, "tools/real-cluster/go/go.mod"],
  ["KEDA", /kedacore\/keda\/v2 v(\S+)/, "tools/real-cluster/go/keda/go.mod"],
  ["Node", /"node": ">=(\d+)"/, "packages/drover/package.json"],
])("the page of supported versions has the version of %s that is used", (name, pattern, file) => {
  const [, version] = pattern.exec(textOf(file)) ?? [];
  expect(textOf("docs/supported-versions.md")).toMatch(new RegExp(`^\\| ${name} +\\| ${version} +\\|`, "m"));
});
