import { defineResource } from "@drover/controller";
import { z } from "zod";

interface PlainNames {
  readonly kind: string;
  readonly group?: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly shortNames?: string[];
}

/** A kind of which a test needs no more than its names. Default: a namespaced one of `example.com`. */
export const plainKind = ({ group = "example.com", scope = "Namespaced", ...names }: PlainNames) =>
  defineResource({
    ...names,
    group,
    scope,
    version: "v1",
    spec: z.looseObject({}),
    status: z.object({}),
  });
