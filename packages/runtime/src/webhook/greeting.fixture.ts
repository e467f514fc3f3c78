import { defineResource } from "@drover/controller";
import { z } from "zod";

/** A kind for tests of calls. */
export const Greeting = defineResource({
  group: "examples.drover.dev",
  version: "v1",
  kind: "Greeting",
  scope: "Namespaced",
  spec: z.object({ name: z.string() }),
  status: z.object({ text: z.string().optional() }),
});
/** The secret that calls are signed with, and one that they are not. */
export const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
export const otherSecret = `whsec_${Buffer.alloc(24, 2).toString("base64")}`;
