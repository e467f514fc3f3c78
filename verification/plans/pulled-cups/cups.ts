// A function that pulls, in the ways that a plan of its image depends on.
import { composeController } from "@drover/compose";
import { type Child, type Controller, defineController, objectKey } from "@drover/controller";
import { builtin, kindOf, type KubeClient } from "@drover/kube";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { Cup } from "../../../apps/cli/src/testing/cups.fixture.ts";
import type { variablesOfCups } from "./config.ts";

type Variables = ReturnType<typeof variablesOfCups>;

/** @param client of its process. */
export function cupsController(
  { CUPS: mode, VERSION: version, SEEN: seen }: Variables,
  client?: KubeClient,
): Controller<typeof Cup> {
  if (mode === "reconciles")
    return defineController({ name: "cups", for: Cup, reconcile: () => Promise.resolve(undefined) });
  const configMap = (name: string, data: object): Child => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data,
  });
  const keepsSecrets = mode === "keepsSecrets";
  return composeController({
    name: mode === "otherName" ? "glasses" : "cups",
    for: Cup,
    copies: true,
    owns: [builtin.configMap, ...(keepsSecrets ? [builtin.secret] : [])].map((ref) => ({
      kind: kindOf(ref),
      copies: !keepsSecrets,
    })),
    related: [
      {
        kind: kindOf(builtin.configMap),
        names({ spec: { tea } }) {
          if (tea === "nameless") throw new Error("no recipe\u001b[2J has a name");
          return [`recipe-${tea}`];
        },
      },
    ],
    needsFinalizer: ({ spec: { tea } }) => tea.startsWith("hot"),
    finalize({ guard }) {
      guard.beforeWrite();
      return Promise.resolve();
    },
    async compose({ metadata: { name, namespace = "" }, spec: { tea }, related, children, signal }) {
      if (mode === "reads") await client?.get(builtin.configMap, objectKey({ namespace, name: "any" }));
      if (tea === "silent") {
        writeFileSync(seen, "composed");
        await new Promise((_, reject) => (signal.onabort = () => reject(new Error("stopped"))));
      }
      const recipe = related.get(builtin.configMap, `recipe-${tea}`)?.["data"] ?? {};
      const kept = children.get(builtin.secret, name)?.["data"] ?? { key: randomBytes(9).toString("base64") };
      return {
        children: [
          configMap(name, { tea, version, ...recipe }),
          ...(version === "zero" ? [configMap(`${name}-tray`, {})] : []),
          ...(keepsSecrets ? [{ apiVersion: "v1", kind: "Secret", metadata: { name }, data: kept }] : []),
        ],
        status: { filled: true },
      };
    },
  });
}
