import { defineResource } from "drover";
import { z } from "zod";

/** The fields that users set (spec) and those that they see (status). Types, CRD and validation come from them. */
export const Greeting = defineResource({
  group: "example.com",
  version: "v1alpha1",
  kind: "Greeting",
  plural: "greetings",
  scope: "Namespaced",
  spec: z.object({
    name: z.string().min(1).max(100).meta({ description: "The name to greet." }),
    loudly: z.boolean().default(false).meta({ description: "In capitals." }),
  }),
  status: z.object({ text: z.string() }),
  printerColumns: [{ name: "Text", type: "string", jsonPath: ".status.text" }],
});
