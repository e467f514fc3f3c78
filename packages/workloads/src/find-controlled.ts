import { type FindOptions, type KubeObject, listAll, selectorQuery } from "@drover/kube";
import { ownershipAction, type OwnershipOptions } from "./ownership.ts";

/**
 * All objects that match an owner's selector, whatever their owner: live, or from the lists that the run has. Such
 * lists are current only for objects that wake the run's key.
 *
 * @param known `madeByRuns`, if the selector has the owner's uid.
 */
export const findMatching = (
  { client, owner, kind, signal }: OwnershipOptions,
  known: Pick<FindOptions, "madeByRuns"> = {},
): Promise<readonly KubeObject[]> =>
  client.find(kind, { namespace: owner.metadata.namespace, selector: owner.selector, signal, ...known });

/** All objects that match an owner's selector, whatever their owner, read live. */
export const listMatching = ({
  client,
  owner,
  kind,
  signal,
}: OwnershipOptions): Promise<readonly KubeObject[]> =>
  listAll(client, kind, {
    namespace: owner.metadata.namespace,
    labelSelector: selectorQuery(owner.selector),
    signal,
  });

/**
 * Objects that an owner controls although its selector does not match them, or no longer does: the owner must release
 * them. It reads the metadata of every object of the namespace, unless the run has a list of them, so use it only if an
 * object is missing.
 *
 * @param fields restricts the objects that may be released. Default: all.
 */
export async function findStrayed(
  { client, owner, kind, signal }: OwnershipOptions,
  fields?: FindOptions["fields"],
): Promise<readonly KubeObject[]> {
  const { namespace } = owner.metadata;
  const all = await client.find(kind, { namespace, fields, metadataOnly: true, mappedToKey: true, signal });
  return all.filter((object) => ownershipAction(owner, object) === "release");
}
