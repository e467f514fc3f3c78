import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { object } from "../harness/manifests.ts";
import type { Ground } from "./ground.ts";
import { Load } from "./loads.ts";

/** Objects of one function, and the change that they got. */
export interface Change {
  readonly namespace: string;
  readonly objects: number;
  readonly n: number;
}

/** Changes every object, or makes it. */
export async function changeAll({ cluster }: Ground, { namespace, objects, n }: Change): Promise<void> {
  const changed = Array.from({ length: objects }, (_, i) => object(Load, `o-${i}`, { n }, namespace));
  await Promise.all(changed.map((each) => cluster.apply(each)));
}

const listSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string() }),
      status: z.looseObject({ seen: z.number().optional() }).optional(),
    }),
  ),
});

/** Waits until every object's status reports the change; returns those that never do. */
export async function untilSeen(
  { cluster }: Ground,
  { namespace, n, patience }: Omit<Change, "objects"> & { readonly patience: number },
): Promise<readonly string[]> {
  const until = Date.now() + patience;
  for (;;) {
    const path = `/apis/${Load.apiVersion}/namespaces/${namespace}/${Load.plural}`;
    const { items } = listSchema.parse(await cluster.read(path));
    const left = items.filter(({ status }) => status?.seen !== n);
    if (left.length === 0) return [];
    if (Date.now() > until)
      return left.map(({ metadata }) => `${namespace}/${metadata.name}: change ${n} was lost`);
    await delay(50);
  }
}
