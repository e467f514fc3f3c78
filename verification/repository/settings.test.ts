import { formatDuration } from "../../packages/controller/src/duration.ts";
import { variableOf } from "../../packages/runtime/src/process/settings.ts";
import { followSettings } from "@drover/bridge";
import {
  functionSettings,
  partSettings,
  processSettings,
  servedSettings,
  workerSettings,
} from "@drover/runtime";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { z } from "zod";
import { bridgeSettings } from "../../apps/bridge/src/config.ts";
import { managerSettings } from "../../apps/controller-manager/src/config.ts";
import { deployerSettings } from "../../apps/deployer/src/config.ts";
import { gatewaySettings } from "../../apps/gateway/src/config.ts";
import { endpointSliceConfigSchema } from "../../functions/endpointslice/src/config.ts";
import { elbConfigSchema } from "../../functions/load-balancer/src/config.ts";
import { s3ConfigSchema } from "../../functions/s3-bucket/src/config.ts";
import { markdownTable } from "../harness/markdown-table.ts";
import { root } from "../harness/repository-files.ts";

/** Settings that a file declares as the fields of an object of zod, with a comment on each. */
interface Section {
  readonly title: string;
  readonly text: string;
  readonly file: string;
  readonly schema: z.ZodObject;
}

const inRuntime = "packages/runtime/src";
const ofFunctions = `${inRuntime}/process/function-settings.ts`;
const processes: Readonly<Record<string, Section>> = {
  processSettings: {
    title: "Every process",
    text: "Bridge, deployer, gateway, and functions that pull. Others have only those that are named below.",
    file: ofFunctions,
    schema: processSettings,
  },
  workerSettings: {
    title: "Processes that take keys",
    text: "Functions that pull, the gateway and the deployer, in addition to those of every process.",
    file: ofFunctions,
    schema: workerSettings,
  },
  functionSettings: {
    title: "Functions that pull",
    text: "In addition to those of processes that take keys. The deployer has them, too.",
    file: ofFunctions,
    schema: functionSettings,
  },
  servedSettings: {
    title: "Functions that are called",
    text: "Those of `serveFunction`, together with `DROVER_LOG_LEVEL`, `DROVER_HTTP_HOST` and `DROVER_STOP_GRACE`.",
    file: `${inRuntime}/webhook/serve-function.ts`,
    schema: servedSettings,
  },
  partSettings: {
    title: "Bridge, deployer and gateway",
    text: "All three must have the same values.",
    file: `${inRuntime}/parts/part-settings.ts`,
    schema: partSettings,
  },
  followSettings: {
    title: "Bridge, and functions with a bridge in their process",
    text: "In addition to those of every process.",
    file: "packages/bridge/src/follow-settings.ts",
    schema: followSettings,
  },
  bridgeSettings: {
    title: "Bridge",
    text: "In the chart: `bridge.settings`.",
    file: "apps/bridge/src/config.ts",
    schema: bridgeSettings,
  },
  deployerSettings: {
    title: "Deployer",
    text: "In the chart: `deployer.settings`.",
    file: "apps/deployer/src/config.ts",
    schema: deployerSettings,
  },
  gatewaySettings: {
    title: "Gateway",
    text: "In the chart: `gateway.settings`.",
    file: "apps/gateway/src/config.ts",
    schema: gatewaySettings,
  },
  managerSettings: {
    title: "The controller manager",
    text:
      "In addition to those of functions that pull, without `DROVER_FUNCTION`, `DROVER_PLAN_SECRETS`, `DROVER_DEV_SESSION`, `DROVER_DEV_SECRET` " +
      "and `DROVER_RESTS`. `DROVER_CONCURRENCY` and those below it are for all of its functions; each function can have its own, with the name " +
      "of its controller: `DROVER_JOB_CONCURRENCY`.",
    file: "apps/controller-manager/src/config.ts",
    schema: managerSettings,
  },
  s3ConfigSchema: {
    title: "The function for S3 buckets",
    text: "In addition to those of functions that pull.",
    file: "functions/s3-bucket/src/config.ts",
    schema: s3ConfigSchema,
  },
  elbConfigSchema: {
    title: "The function for load balancers",
    text: "In addition to those of functions that pull.",
    file: "functions/load-balancer/src/config.ts",
    schema: elbConfigSchema,
  },
  endpointSliceConfigSchema: {
    title: "The function for EndpointSlices",
    text: "In addition to those of functions that pull.",
    file: "functions/endpointslice/src/config.ts",
    schema: endpointSliceConfigSchema,
  },
};

/** A field as the code declares it. */
interface Declared {
  readonly comment: string;
  /** The code of its schema. */
  readonly code: string;
}

/** The fields that a constant of a file declares by itself, in order: not those that it takes from another object. */
function declaredIn(file: string, constant: string): ReadonlyMap<string, Declared> {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const fields = new Map<string, Declared>();
  const addFields = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node) && isNewFields(node)) {
      for (const property of node.properties)
        if (property.name !== undefined)
          fields.set(property.name.getText(source), {
            comment: commentOn(property),
            code: property.getText(source),
          });
    } else ts.forEachChild(node, addFields);
  };
  source.forEachChild((statement) => {
    if (!ts.isVariableStatement(statement)) return;
    const found = statement.declarationList.declarations.find(
      ({ name }) => name.getText(source) === constant,
    );
    if (found?.initializer !== undefined) addFields(found.initializer);
  });
  return fields;
}

/** True for the argument of `z.object` and `.extend`. */
const isNewFields = ({ parent }: ts.ObjectLiteralExpression): boolean =>
  ts.isCallExpression(parent) &&
  ts.isPropertyAccessExpression(parent.expression) &&
  ["object", "extend"].includes(parent.expression.name.text);

const commentOn = (node: ts.Node): string =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "")
    .join(" ")
    .replace(/\s+/g, " ");

const code = (text: unknown): string => `\`${String(text)}\``;

/** How the values of a setting are written. */
function writtenAs(schema: z.ZodType, { code: declared }: Declared): string {
  const { enum: values } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  if (values !== undefined) return values.map(code).join(", ");
  if (declared.includes("durationInMs")) return "duration";
  return /wholeNumber|Number\b/.test(declared) ? "number" : "text";
}

/** The default as it is written in the environment; `required` if a process does not start without the setting. */
function defaultOf(schema: z.ZodType, { code: declared }: Declared): string {
  if (!schema.safeParse(undefined).success) return "required";
  const value = declaredDefault(schema);
  if (typeof value === "number" && declared.includes("durationInMs")) return code(formatDuration(value));
  return ["string", "number", "boolean"].includes(typeof value) && value !== "" ? code(value) : "";
}

const declaredDefault = (schema: z.core.$ZodType): unknown => {
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue;
  return schema instanceof z.ZodPipe ? declaredDefault(schema.def.in) : undefined;
};

const intro = `# Settings

The environment variables of every process. Written from the comments in the code: see verification/repository/settings.test.ts.

- A process that has a problem with its settings names all of them, and ends. So does one with an unknown variable that begins
  with \`DROVER_\`.
- A **duration** has a unit: \`500ms\`, \`30s\`, \`1h30m\`. A variable that is empty is one that is not set.
- In the chart, \`bridge.settings\`, \`deployer.settings\` and \`gateway.settings\` have the same names in another form:
  \`deployer.settings.rotateEvery\` is \`DROVER_ROTATE_EVERY\`. The chart sets the others itself.
- The \`drover\` command reads \`KUBECONFIG\`, \`DROVER_REDIS_URL\` with the password in it, and \`DROVER_REDIS_CA_FILE\`, and no other
  variable of this page.
`;

/** A comment names other settings as the code does: `httpHost` is `DROVER_HTTP_HOST`. */
const withVariables = (comment: string): string =>
  comment.replace(/`([a-z]+[A-Z]\w*)`/g, (text, name: string) =>
    names.has(name) ? code(variableOf(name)) : text,
  );
const names = new Set(Object.values(processes).flatMap(({ schema }) => Object.keys(schema.shape)));

const head = ["variable", "value", "default", "meaning"];

function sectionText(constant: string, { title, text, file, schema }: Section): string {
  const fields: Readonly<Record<string, unknown>> = schema.shape;
  const rows = [...declaredIn(file, constant)].map(([field, declared]) => {
    const type = fields[field];
    if (!(type instanceof z.ZodType)) throw new Error(`${constant} of ${file} has no field ${field}.`);
    if (declared.comment === "")
      throw new Error(`${field} in ${file} needs a comment, for docs/reference/settings.md.`);
    return [
      code(variableOf(field)),
      writtenAs(type, declared),
      defaultOf(type, declared),
      withVariables(declared.comment),
    ];
  });
  return `## ${title}\n\n${text}\n\n${markdownTable(head, rows)}\n`;
}

// Written from the code: `npx vitest run verification/repository/settings.test.ts --update`.
it("docs/reference/settings.md has every setting, with its comment in the code", async () => {
  const parts = Object.entries(processes).map(([constant, section]) => sectionText(constant, section));
  await expect([intro, ...parts].join("\n")).toMatchFileSnapshot("../../docs/reference/settings.md");
});

it("the page has every variable that a process accepts", () => {
  const page = readFileSync(join(root, "docs/reference/settings.md"), "utf8");
  expect([...names].map(variableOf).filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
});
