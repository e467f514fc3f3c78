import { builtin, isApiError, type KubeClient, type KubeObject, listAll } from "@drover/kube";
import { z } from "zod";

const specSchema = z.looseObject({
  group: z.string(),
  names: z.looseObject({
    plural: z.string(),
    kind: z.string(),
    singular: z.string().optional(),
    shortNames: z.array(z.string()).nullish(),
  }),
});

/**
 * The CRDs of kinds that kubectl would find under a word: a plural, singular, short name or kind, with or without the
 * group after it. Empty if CRDs may not be read.
 */
export async function findCrds(client: KubeClient, word: string): Promise<readonly KubeObject[]> {
  const crds = await listAll(client, builtin.crd, {}).catch((error: unknown) => {
    if (isApiError(error, "Forbidden")) return [];
    throw error;
  });
  const lower = word.toLowerCase();
  return crds.filter((crd) => {
    const { data } = specSchema.safeParse(crd["spec"]);
    if (data === undefined) return false;
    const { plural, kind, singular = "", shortNames } = data.names;
    const names = [plural, singular, kind.toLowerCase(), ...(shortNames ?? [])].filter((name) => name !== "");
    return names.some((name) => lower === name || lower === `${name}.${data.group}`);
  });
}
