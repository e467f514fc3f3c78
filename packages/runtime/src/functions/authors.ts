import { defineResource, type ObjectMetadata } from "@drover/controller";
import { z } from "zod";

/**
 * The author of a function is the user that last wrote its spec. The API server's admission policies set these
 * annotations, and refuse any other value.
 *
 * - `groups` has one group per line. A backslash is written `\\`, a line break `\n`, so that one name cannot be read as
 *   two.
 * - `epoch` is the epoch of the {@link AuthorEpoch} when the spec was written. The deployer changes it whenever the
 *   policies were missing or different, so annotations that were written in that time are not trusted.
 */
export const authorAnnotations = {
  user: "drover.dev/author",
  groups: "drover.dev/author-groups",
  epoch: "drover.dev/author-epoch",
} as const;

/** Changing this annotation requests the function once more, with an unchanged spec. */
export const requestAnnotation = "drover.dev/ask";

/**
 * The kind of one object, `authors`. The deployer creates and changes it; every authenticated user may read it.
 *
 * It is cluster-scoped, so that it outlives Drover's namespace: without it the admission policies refuse every write of
 * a function, also the removal of a finalizer. It has a kind of its own, because the API server stops finding policy
 * parameters of a built-in kind once all policies that use that kind have been removed, until it is restarted.
 */
export const AuthorEpoch = defineResource({
  group: "drover.dev",
  version: "v1alpha1",
  kind: "AuthorEpoch",
  plural: "authorepochs",
  scope: "Cluster",
  description: "The epoch of the annotations that name the authors of functions. The deployer writes it.",
  spec: z.object({
    epoch: z.string().min(1).meta({
      description: "Epoch that the admission policies write into a function when its spec is written.",
    }),
    policies: z.string().meta({ description: "Fingerprint of the admission policies of this epoch." }),
  }),
  status: z.object({}),
});
export const authorEpochName = "authors";
/** The name of the admission policies that record the authors of functions, and of their bindings. */
export const authorPolicyName = "drover-authors";

/** A user, as a SubjectAccessReview names it. */
export interface Author {
  readonly user: string;
  readonly groups: readonly string[];
}

/**
 * The author that an object's annotations name; undefined if they name none, or if the groups are not written as above.
 */
export function authorOf({ annotations = {} }: ObjectMetadata): Author | undefined {
  const { [authorAnnotations.user]: user = "", [authorAnnotations.groups]: text = "" } = annotations;
  const groups = text === "" ? [] : text.split("\n").map(unescapeLine);
  return user === "" || !groups.every((group) => group !== undefined) ? undefined : { user, groups };
}

/** The groups in the annotation's format. */
export const formatGroups = (groups: readonly string[]): string =>
  groups.map((group) => group.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")).join("\n");

function unescapeLine(line: string): string | undefined {
  if (!/^(?:[^\\]|\\[\\n])*$/.test(line)) return undefined;
  return line.replace(/\\([\\n])/g, (_, letter) => (letter === "n" ? "\n" : "\\"));
}
