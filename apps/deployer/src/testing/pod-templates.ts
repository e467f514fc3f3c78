import type { PodTemplateInput } from "../pods/pod-template.ts";
import { cupSpec, environment, functionRef } from "./cups.ts";

/** The input for a Pod of a function with these fields, beside its image, in its container and in its spec. */
export function templateOf(container: object = {}, fields: object = {}, password = "p"): PodTemplateInput {
  const spec = cupSpec({ container: { image: "i", ...container }, ...fields });
  if (spec.container === undefined) throw new Error("It has a container.");
  return {
    functionRef,
    spec: { ...spec, container: spec.container },
    environment: { ...environment, redisUrl: "redis://redis:6379/2" },
    password,
  };
}
