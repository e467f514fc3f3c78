import { checkedAtRun, customResourceDefinition, defineResource } from "@drover/controller";
import { installCrd, type KubeClient } from "@drover/kube";
import { z } from "zod";

const few = (status: { readonly list?: readonly string[] | undefined }): boolean =>
  (status.list?.length ?? 0) <= 3;

/** A kind whose status may have any fields. */
export const Cup = defineResource({
  group: "tests.drover.dev",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({}),
  status: z
    .object({
      text: z.string().optional(),
      n: z.number().optional(),
      list: z.array(z.string()).optional(),
      counts: z.record(z.string(), z.int()).optional(),
      items: z.array(z.object({ n: z.number().optional() })).optional(),
      inner: z.object({ deep: z.object({ n: z.number() }).optional() }).optional(),
      any: z.unknown().meta({ kubernetes: { preserveUnknownFields: true } }),
    })
    .refine(few, { error: "Three are enough.", ...checkedAtRun }),
});

/** Installs a CRD that is stricter than the schema in the code, as when the CRD was changed and the function was not. */
export async function installStricterCups(client: KubeClient): Promise<void> {
  const crd = JSON.stringify(customResourceDefinition(Cup));
  const stricter = crd.replace('"text":{"type":"string"', '$&,"maxLength":12');
  await installCrd(client, JSON.parse(stricter) as Parameters<typeof installCrd>[1]);
}
