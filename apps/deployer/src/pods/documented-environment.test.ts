import { objectKey, parseDuration } from "@drover/controller";
import { builtin, secretValues } from "@drover/kube";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { rotateSecret } from "../secrets/rotate-secret.ts";
import { functionRef } from "../testing/cups.ts";
import { templateOf } from "../testing/pod-templates.ts";
import { podManifest } from "./pod-template.ts";

const { client } = await sandboxOfFile({ namespaces: ["tea"] });

const docs = readFileSync(new URL("../../../../docs/webhook-functions.md", import.meta.url), "utf8");
const [, section = ""] = /^## The container's environment$(.*?)^## /ms.exec(docs) ?? [];
/** The rows of the section's tables: what is in code in the first column, and the text of the second. */
const rows = new Map(
  [...section.matchAll(/^\| `([^`]+)` +\| (.*?) *\|$/gm)].map(([, name = "", text = ""]) => [name, text]),
);
const named = (pattern: RegExp): readonly string[] =>
  [...rows.keys()].filter((name) => pattern.test(name)).sort();

const called = podManifest(templateOf({ env: [{ name: "MINE", value: "1" }] }, { delivery: "webhook" }), 7);
const { containers, volumes, securityContext, terminationGracePeriodSeconds } = called.spec;
const [container] = containers;
if (container === undefined) throw new Error("There is no container.");

it("the variables of a called container are documented, and no others", () => {
  expect(named(/^[A-Z_]+$/)).toEqual(
    container.env.flatMap(({ name }) => (name === "MINE" ? [] : [name])).sort(),
  );
});

it("their values are documented", () => {
  const valueOf = (variable: string) => container.env.find(({ name }) => name === variable);
  for (const name of ["DROVER_HTTP_PORT", "DROVER_STOP_GRACE", "DROVER_WEBHOOK_SECRETS"])
    expect(rows.get(name)).toContain(`\`${valueOf(name)?.value ?? "nothing"}\``);
  const { fieldPath } = valueOf("DROVER_HTTP_HOST")?.valueFrom?.fieldRef ?? {};
  expect(rows.get("DROVER_HTTP_HOST")).toContain(`\`${String(fieldPath)}\``);
  expect(valueOf("DROVER_WEBHOOK_AUDIENCE")?.value).toBe(`${functionRef.namespace}/${functionRef.name}`);
  expect(valueOf("DROVER_WEBHOOK_UID")?.value).toBe(functionRef.uid);
  const grace = parseDuration(valueOf("DROVER_STOP_GRACE")?.value ?? "");
  expect(terminationGracePeriodSeconds * 1_000 - grace).toBe(10_000);
  expect(rows.get("DROVER_STOP_GRACE")).toContain("SIGKILL comes 10 s after that");
});

it("the files of a called container are documented: the keys of its Secret, where and how they are mounted", async () => {
  const key = objectKey({ namespace: functionRef.namespace, name: "cups-webhook" });
  const options = {
    name: "cups-webhook",
    key: "current",
    rotateEvery: 1_000,
    made: /^s\d+$/,
    forgets: true,
    isUsedByAll: () => true,
  };
  for (const at of [0, 2_000]) {
    const run = { client, signal: AbortSignal.timeout(30_000), now: new Date(at) };
    await rotateSecret(run, functionRef, { ...options, make: () => `s${at}` });
  }
  const secret = await client.get(builtin.secret, key);
  if (secret === undefined) throw new Error("There is no Secret.");
  expect(named(/^[a-z]+$/)).toEqual(Object.keys(secretValues(secret)).sort());
  expect(container.volumeMounts.map(({ mountPath, readOnly }) => ({ mountPath, readOnly }))).toEqual([
    { mountPath: container.env.find(({ name }) => name === "DROVER_WEBHOOK_SECRETS")?.value, readOnly: true },
  ]);
  const [volume] = volumes;
  const mode = volume?.secret && "defaultMode" in volume.secret ? volume.secret.defaultMode : 0;
  expect(section).toContain(`the mode \`0${mode.toString(8)}\` and the group \`${securityContext.fsGroup}\``);
});

it("the other limits of a called container are documented", () => {
  const { runAsNonRoot } = securityContext;
  const { readOnlyRootFilesystem, capabilities } = container.securityContext;
  expect({ runAsNonRoot, readOnlyRootFilesystem, capabilities }).toEqual({
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(container.readinessProbe).toMatchObject({ tcpSocket: { port: "http" }, periodSeconds: 1 });
  expect(container.livenessProbe).toMatchObject({ periodSeconds: 10, failureThreshold: 6 });
  expect(section).toMatch(/every second; after 6 failures, 10 s apart/);
  expect(called.spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  const { requests, limits } = container.resources;
  const amounts = [...Object.values(requests ?? {}), ...Object.values(limits ?? {})];
  const [, resources = ""] = /\*\*Resources\*\*(.*)/s.exec(section) ?? [];
  expect([...resources.matchAll(/`([^`]+)`/g)].map(([, amount]) => amount)).toEqual(amounts);
});
