import { defineResource } from "@drover/controller";
import { z } from "zod";

/** What people ask for (spec) and are told (status). Types, the CRD and validation all come from these schemas. */
export const Greeting = defineResource({
  group: "example.com",
  version: "v1alpha1",
  kind: "Greeting",
  plural: "greetings",
  scope: "Namespaced",
  spec: z.object({
    name: z.string().min(1).max(100).meta({ description: "Who is greeted." }),
    loudly: z.boolean().default(false).meta({ description: "In capitals." }),
  }),
  status: z.object({ text: z.string() }),
  printerColumns: [{ name: "Text", type: "string", jsonPath: ".status.text" }],
});
