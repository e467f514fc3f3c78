import { type FindOptions, type KubeObject, listAll, selectorQuery } from "@drover/kube";
import { claimOf, type ClaimParts } from "./ownership.ts";

/** All objects that match an owner's selector, whoever owns them, as far as they concern it: live, or as the run knows them. */
export const findMatching = ({ client, owner, kind, signal }: ClaimParts): Promise<readonly KubeObject[]> =>
  client.find(kind, { namespace: owner.metadata.namespace, selector: owner.selector, signal });

/** All objects that match an owner's selector, in the newest state, whoever owns them. */
export const listMatching = ({ client, owner, kind, signal }: ClaimParts): Promise<readonly KubeObject[]> =>
  listAll(client, kind, {
    namespace: owner.metadata.namespace,
    labelSelector: selectorQuery(owner.selector),
    signal,
  });

/**
 * Those that an owner controls though its selector does not match them, or no longer: what it is to release. It looks at
 * the metadata of every object of the namespace, unless the run knows, and is for when one is missed.
 *
 * @param fields which of them may be released; left out: all.
 */
export async function findStrayed(
  { client, owner, kind, signal }: ClaimParts,
  fields?: FindOptions["fields"],
): Promise<readonly KubeObject[]> {
  const { namespace } = owner.metadata;
  const all = await client.find(kind, { namespace, fields, metadataOnly: true, naming: true, signal });
  return all.filter((object) => claimOf(owner, object) === "release");
}
