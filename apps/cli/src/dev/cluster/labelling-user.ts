import { type ObjectKey, sessionLabel, sessionOf } from "@drover/controller";
import { apiVersionOf, type KubeClient, keyOf, resourceNameOf, type ResourceRef } from "@drover/kube";
import { z } from "zod";
import { CommandError } from "../../command-error.ts";
import { applyManifest } from "../../deploy/apply-manifest.ts";
import type { ExampleUser } from "../example-objects.ts";
import type { SessionLabels } from "./session-labels.ts";

export interface LabellingUserOptions {
  readonly client: KubeClient;
  readonly ref: ResourceRef;
  readonly session: string;
  readonly labels: Pick<SessionLabels, "take" | "create">;
  /** The key of an object, by `name` or `namespace/name`. */
  readonly keyOf: (name: string) => ObjectKey;
}

const words = z.record(z.string(), z.string()).default({});
const wordsSchema = z.looseObject({ labels: words, annotations: words });

/**
 * Applies examples in a cluster: objects of the function's kind, which carry the session's label from their creation, so
 * that the deployed function never runs them.
 */
export function labellingUser({
  client,
  ref,
  session,
  labels,
  keyOf: keyNamed,
}: LabellingUserOptions): ExampleUser {
  return {
    kind(name) {
      if (name.apiVersion === apiVersionOf(ref) && name.kind === ref.kind) return Promise.resolve(ref);
      throw new CommandError(
        `Only objects of ${resourceNameOf(ref)} are applied in a cluster. Apply it with kubectl.`,
      );
    },
    get: (_, name) => client.get(ref, keyNamed(name)),
    async apply({ metadata, spec }) {
      const { name, namespace } = metadata;
      const { labels: own, annotations } = wordsSchema.parse(metadata);
      const key = keyNamed([namespace, name].filter(Boolean).join("/"));
      if ((await client.get(ref, key)) !== undefined) await labels.take(key);
      const [last = "", within] = key.split("/").reverse();
      const placed = {
        name: last,
        ...(within !== undefined && { namespace: within }),
        labels: { ...own, [sessionLabel]: session },
        annotations,
      };
      return labels.create(key, async () => {
        const options = { remembers: true, annotations: {} };
        await applyManifest(client, ref, { metadata: placed, spec }, options);
        const applied = await client.get(ref, keyOf({ metadata: placed }));
        if (applied !== undefined && sessionOf(ref, applied.metadata) === session) return applied;
        throw new CommandError("It was deleted at once, or another session has taken it.");
      });
    },
  };
}
