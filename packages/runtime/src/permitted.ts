import {
  type Access,
  calledAccess,
  followedAccess,
  neededAccess,
  type ObjectMetadata,
  type ReconcileFunctionSpec,
  type ReconcileFunctionStatus,
} from "@drover/controller";
import { digestOf, type KubeObject } from "@drover/kube";
import { z } from "zod";

/** Who wrote a function's spec last: the API server's admission policy writes it, and lets nobody else write it. */
export const authorAnnotations = { user: "drover.dev/author", groups: "drover.dev/author-groups" } as const;

/** Who asks for a function, as far as the API server says so. */
export function authorOf({ annotations = {} }: ObjectMetadata) {
  const { [authorAnnotations.user]: user, [authorAnnotations.groups]: groups = "" } = annotations;
  return { user, groups: groups.split("\n").filter((group) => group !== "") };
}

/** `checked`: functions are what their authors are permitted. `trusted`: whatever they say. */
export const authorsSetting = z.enum(["checked", "trusted"]);
export type Authors = z.output<typeof authorsSetting>;

export type Permitted = NonNullable<ReconcileFunctionStatus["permitted"]>;

/**
 * Fingerprints of what a function asks for. Those that are in its status, where only its controller writes, are of what
 * somebody has asked for who may: bridge and gateway do for a function what is the same there.
 */
export function askedOf(metadata: ObjectMetadata, spec: ReconcileFunctionSpec): Permitted {
  const author = authorOf(metadata);
  const { namespace = "" } = metadata;
  return {
    asked: digestOf([author, neededAccess(spec, namespace)]),
    // Whoever asks: what a function was told of yesterday is not taken from it because somebody else changes its image.
    followed: digestOf(followedAccess(spec)),
    // It is sent objects, so who says where counts.
    called: digestOf([author, calledAccess(spec), spec.webhook]),
  };
}

const permittedSchema = z.looseObject({ permitted: z.record(z.string(), z.string()) });

/** Whether what a function asks to be told of, or sent, is what was permitted. */
export function isPermitted(
  { metadata, status }: KubeObject & { readonly status?: unknown },
  spec: ReconcileFunctionSpec,
  what: "followed" | "called",
): boolean {
  const { data } = permittedSchema.safeParse(status);
  return data?.permitted[what] === askedOf(metadata, spec)[what];
}

/** Questions that an API server is asked at once. */
const atOnce = 8;

/** Those of what is needed that are denied, in their order: whoever takes the first alone has no more asked than that needs. */
export async function* deniedOf(
  needed: readonly Access[],
  isAllowed: (access: Access) => Promise<boolean>,
): AsyncGenerator<Access> {
  for (let i = 0; i < needed.length; i += atOnce) {
    const some = needed.slice(i, i + atOnce);
    const answers = await Promise.all(some.map(isAllowed));
    yield* some.filter((_, index) => answers[index] === false);
  }
}
