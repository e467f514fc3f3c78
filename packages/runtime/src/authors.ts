import { defineResource, type ObjectMetadata } from "@drover/controller";
import { z } from "zod";

/**
 * The author of a function is the user who wrote its spec last. The API server's admission policies write these annotations
 * and refuse every other value.
 *
 * - `groups` has one group a line: a backslash is written `\\`, a line break `\n`, so that no name reads as two.
 * - `epoch` is that of the {@link AuthorEpoch} when the spec was written. The deployer changes it whenever the policies were
 *   absent or other ones, so what was written meanwhile is not believed.
 */
export const authorAnnotations = {
  user: "drover.dev/author",
  groups: "drover.dev/author-groups",
  epoch: "drover.dev/author-epoch",
} as const;

/** Changing this annotation asks for a function once more, with its spec as it is. */
export const askAnnotation = "drover.dev/ask";

/**
 * One object, `authors`, which the deployer makes and changes; every authenticated user may read it. It is in no namespace:
 * without it the admission policies refuse every write of a function, and finalizers must come off when Drover's is gone.
 * A kind of its own, because the API server loses sight of parameters of a built-in kind once all policies that use that kind
 * were removed, until it is started again.
 */
export const AuthorEpoch = defineResource({
  group: "drover.dev",
  version: "v1alpha1",
  kind: "AuthorEpoch",
  plural: "authorepochs",
  scope: "Cluster",
  description: "The epoch of the annotations that name authors of functions. Its deployer writes it.",
  spec: z.object({
    epoch: z.string().min(1).meta({ description: "What a spec that is written now carries." }),
    policies: z.string().meta({ description: "Fingerprint of the admission policies that it is of." }),
  }),
  status: z.object({}),
});
export const epochName = "authors";

/** A user as a SubjectAccessReview names it. */
export interface Author {
  readonly user: string;
  readonly groups: readonly string[];
}

/** The author that an object's annotations name; undefined where none is named, or the groups are not written as above. */
export function authorOf({ annotations = {} }: ObjectMetadata): Author | undefined {
  const { [authorAnnotations.user]: user = "", [authorAnnotations.groups]: text = "" } = annotations;
  const groups = text === "" ? [] : text.split("\n").map(unescaped);
  return user === "" || !groups.every((group) => group !== undefined) ? undefined : { user, groups };
}

/** Groups as the annotation has them. */
export const groupsText = (groups: readonly string[]): string =>
  groups.map((group) => group.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")).join("\n");

function unescaped(line: string): string | undefined {
  if (!/^(?:[^\\]|\\[\\n])*$/.test(line)) return undefined;
  return line.replace(/\\([\\n])/g, (_, letter) => (letter === "n" ? "\n" : "\\"));
}
