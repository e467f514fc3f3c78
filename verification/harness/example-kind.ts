import { defineResource } from "@drover/controller";
import { z } from "zod";

/** A namespaced kind of the group `example.com`; left out, its spec and its status have no fields. */
export const exampleKind = <Spec extends z.ZodRawShape, Status extends z.ZodRawShape>(
  kind: string,
  { spec, status }: { readonly spec?: Spec; readonly status?: Status } = {},
) =>
  defineResource({
    group: "example.com",
    version: "v1",
    kind,
    scope: "Namespaced",
    spec: z.object(spec),
    status: z.object(status),
  });
