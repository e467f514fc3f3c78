import { z } from "zod";
import { defineResource } from "../resource/resource.ts";

const cupsOf = (scope: "Namespaced" | "Cluster") =>
  defineResource({
    group: "example.com",
    version: "v1",
    kind: "Cup",
    scope,
    spec: z.object({}),
    status: z.object({}),
  });
export const Cup = cupsOf("Namespaced");
export const ClusterCup = cupsOf("Cluster");

export const saucers = {
  group: "",
  version: "v1",
  kind: "Saucer",
  plural: "saucers",
  scope: "Namespaced",
} as const;
export const container = { image: "cups:1" };
export const reconcile = () => Promise.resolve(undefined);
