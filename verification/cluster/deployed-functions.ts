import { customResourceDefinition, type FunctionDeployment, reconcileFunctionOf } from "@drover/controller";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { Task, taskController } from "../end-to-end/functions/tasks.ts";

const manifestSchema = z.looseObject({
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({}),
});
const file = (name: string) =>
  readFileSync(new URL(`../../functions/s3-bucket/deploy/${name}.yaml`, import.meta.url), "utf8");

const events = { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] };

/** What the bucket function may do. */
export const bucketPermissions = {
  namespace: [
    { apiGroups: ["s3.drover.dev"], resources: ["buckets"], verbs: ["get", "patch"] },
    { apiGroups: ["s3.drover.dev"], resources: ["buckets/status"], verbs: ["update"] },
  ],
  cluster: [events],
};
export const buckets = "buckets.s3.drover.dev";

/** The function of Buckets, deployed. */
export function bucketFunction(scaling: FunctionDeployment["scaling"]) {
  const { spec, ...rest } = manifestSchema.parse(parse(file("function")));
  const env = {
    DROVER_S3_ENDPOINT: "http://s3:5000",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "of-no-consequence-to-this-server",
  };
  const container = {
    image: "drover/s3-bucket:1",
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  };
  return { ...rest, spec: { ...spec, container, scaling, permissions: bucketPermissions } };
}

/** A function with slow runs that log their begin and their image. */
export const taskFunction = (
  container: { readonly image: string } & Partial<NonNullable<FunctionDeployment["container"]>>,
  more: FunctionDeployment = {},
) =>
  reconcileFunctionOf(taskController("", ""), {
    container: {
      env: [
        { name: "DROVER_JOURNAL", value: "/proc/self/fd/1" },
        { name: "DROVER_BY", value: container.image },
      ],
      args: [marked],
      ...container,
    },
    scaling: { min: 1, max: 2, idleAfter: "2s" },
    permissions: {
      namespace: [
        { apiGroups: ["example.com"], resources: ["tasks"], verbs: ["get", "patch"] },
        { apiGroups: ["example.com"], resources: ["tasks/status"], verbs: ["update"] },
      ],
      cluster: [events],
    },
    ...more,
  });
/** Marks its processes. */
export const marked = "runs-tasks";

/** What people install of functions beside their ReconcileFunctions. */
export const installedKinds = (): readonly object[] => [
  z.looseObject({}).parse(parse(file("crd"))),
  customResourceDefinition(Task),
];
