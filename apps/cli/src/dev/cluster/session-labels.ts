import { type ObjectKey, sessionLabel, sessionMarkAnnotation, sessionOf } from "@drover/controller";
import {
  isApiError,
  keyOf,
  type KubeClient,
  type KubeObject,
  listAll,
  resourceNameOf,
  type ResourceRef,
} from "@drover/kube";
import { type DevSession, sessionMark, type SessionMark } from "@drover/runtime";
import { CommandError } from "../../command-error.ts";

/** The objects that carry a session's label. */
export interface SessionLabels {
  /** The object. @throws CommandError if it does not exist, or another session has set its label. */
  find(key: ObjectKey): Promise<KubeObject>;
  /** Chooses an object: sets the label. @throws as `find`. */
  take(key: ObjectKey): Promise<void>;
  /** Creates an object with the label, and chooses it. */
  create(key: ObjectKey, create: () => Promise<KubeObject>): Promise<KubeObject>;
  /** True for an object that was chosen. Others may have set the label, too. */
  isChosen(object: KubeObject): boolean;
  /** Marks a chosen object. False if it has changed meanwhile: look again. */
  mark(object: KubeObject, as: SessionMark): Promise<boolean>;
  /** Removes the label from all objects that carry it. Returns their keys. */
  giveBack(): Promise<readonly ObjectKey[]>;
  /** The objects with the labels of other sessions, by session. */
  others(): Promise<ReadonlyMap<string, readonly ObjectKey[]>>;
}

export interface SessionLabelsOptions {
  readonly client: KubeClient;
  readonly ref: ResourceRef;
  /** Left out: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly session: DevSession;
}

/** The label is set and removed with the version that was read: no change of another client is overwritten. */
export function sessionLabels(options: SessionLabelsOptions): SessionLabels {
  const { ref, session } = options;
  const chosen = new Set<string>();
  /** An event may show such an object before its creation is answered. */
  const creating = new Set<ObjectKey>();
  return {
    find: (key) => find(options, key),
    async take(key) {
      for (;;) {
        const object = await find(options, key);
        chosen.add(object.metadata.uid);
        if (sessionOf(ref, object.metadata) === session.name) return;
        if (await patch(options, object, { labels: { [sessionLabel]: session.name } })) return;
      }
    },
    async create(key, create) {
      creating.add(key);
      try {
        const object = await create();
        chosen.add(object.metadata.uid);
        return object;
      } finally {
        creating.delete(key);
      }
    },
    isChosen(object) {
      const { uid } = object.metadata;
      if (creating.has(keyOf(object))) chosen.add(uid);
      return chosen.has(uid);
    },
    mark(object, as) {
      const mark = sessionMark(session, object.metadata.uid, as);
      return patch(options, object, { annotations: { [sessionMarkAnnotation]: mark } });
    },
    async giveBack() {
      const objects = await labelled(options, `${sessionLabel}=${session.name}`);
      for (const object of objects) await remove(options, object);
      return objects.map(keyOf);
    },
    others: () => others(options),
  };
}

async function find({ client, ref, session }: SessionLabelsOptions, key: ObjectKey): Promise<KubeObject> {
  const object = await client.get(ref, key);
  if (object === undefined) throw new CommandError(`There is no ${ref.kind} ${key}.`);
  const holder = sessionOf(ref, object.metadata) ?? session.name;
  if (holder === session.name) return object;
  throw new CommandError(
    `The ${ref.kind} ${key} is reconciled by the session ${holder} of drover dev. End that session first. If it no longer ` +
      `runs: ${removal(ref, holder)}`,
  );
}

async function remove(options: SessionLabelsOptions, found: KubeObject): Promise<void> {
  const { client, ref, session } = options;
  const fields = { labels: { [sessionLabel]: null }, annotations: { [sessionMarkAnnotation]: null } };
  let object: KubeObject | undefined = found;
  while (object !== undefined && sessionOf(ref, object.metadata) === session.name) {
    if (await patch(options, object, fields)) return;
    object = await client.get(ref, keyOf(object));
  }
}

/** False if another client has changed or deleted the object since it was read. */
async function patch(
  { client, ref }: SessionLabelsOptions,
  { metadata }: KubeObject,
  fields: object,
): Promise<boolean> {
  const { uid, resourceVersion } = metadata;
  const body = { metadata: { uid, resourceVersion, ...fields } };
  try {
    await client.patch(ref, keyOf({ metadata }), { type: "merge", body });
    return true;
  } catch (error) {
    if (isApiError(error, "Conflict", "NotFound")) return false;
    throw error;
  }
}

async function labelled(
  { client, ref, namespaces }: SessionLabelsOptions,
  labelSelector: string,
): Promise<readonly KubeObject[]> {
  const scopes = namespaces ?? [undefined];
  const lists = scopes.map((namespace) => listAll(client, ref, { namespace, labelSelector }));
  return (await Promise.all(lists)).flat();
}

async function others(options: SessionLabelsOptions): Promise<ReadonlyMap<string, readonly ObjectKey[]>> {
  const { ref, session } = options;
  const objects = await labelled(options, sessionLabel);
  const bySession = Map.groupBy(objects, ({ metadata }) => sessionOf(ref, metadata) ?? session.name);
  bySession.delete(session.name);
  return new Map([...bySession].map(([name, theirs]) => [name, theirs.map(keyOf)]));
}

/** The command that removes a session's label from all objects. */
export const removal = (ref: ResourceRef, session: string): string =>
  `kubectl label ${resourceNameOf(ref)}${ref.namespaced ? " -A" : ""} -l ${sessionLabel}=${session} ${sessionLabel}-`;
