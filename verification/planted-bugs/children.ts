import { objectKey, type ReconcileContext } from "@drover/controller";
import { builtin, type KubeClient, type KubeObject, keyOf, listAll } from "@drover/kube";
import type { App } from "./app.ts";

export type AppContext = ReconcileContext<typeof App>;
export type Data = Readonly<Record<string, string>>;

/** The ConfigMaps of an App, each operation as it is right: a planted bug is in how they are used. */
export interface Children {
  get(name: string): Promise<KubeObject | undefined>;
  /** As `get`. @throws for an object that is not the App's. */
  own(name: string): Promise<KubeObject | undefined>;
  /** Those that the App controls, whatever they are called. */
  mine(): Promise<readonly KubeObject[]>;
  readonly isMine: (object: KubeObject) => boolean;
  create(name: string, data: Data): Promise<KubeObject>;
  say(name: string, data: Data): Promise<KubeObject>;
  /** This one, and none that has come in its place. */
  delete(object: KubeObject): Promise<boolean>;
  /** A child with this text exists, and the App owns it. */
  ensure(name: string, data: Data): Promise<void>;
}

const { configMap } = builtin;

export function childrenOf(client: KubeClient, { metadata, guard }: AppContext): Children {
  const { uid, namespace = "" } = metadata;
  const mine = client.guarded(guard);
  const owner = { apiVersion: "example.com/v1", kind: "App", name: metadata.name, uid, controller: true };
  const labels = { app: metadata.name };
  const keyTo = (name: string) => objectKey({ namespace, name });
  const children: Children = {
    get: (name) => client.get(configMap, keyTo(name)),
    async own(name) {
      const there = await children.get(name);
      if (there !== undefined && !children.isMine(there))
        throw new Error(`${name} belongs to another owner.`);
      return there;
    },
    mine: async () => (await listAll(client, configMap, { namespace })).filter(children.isMine),
    isMine: (object) => object.metadata.ownerReferences?.some((one) => one.uid === uid) === true,
    create: (name, data) =>
      mine.create(configMap, { metadata: { name, namespace, labels, ownerReferences: [owner] }, data }),
    say: (name, data) => mine.patch(configMap, keyTo(name), { type: "merge", body: { data } }),
    delete: (object) => mine.delete(configMap, keyOf(object), { uid: object.metadata.uid }),
    async ensure(name, data) {
      const there = await children.own(name);
      if (there === undefined) await children.create(name, data);
      else if (!says(there, data)) await children.say(name, data);
    },
  };
  return children;
}

export const says = (object: KubeObject, data: Data): boolean =>
  JSON.stringify(object["data"]) === JSON.stringify(data);
