import { queueOf } from "@drover/controller";
import { integer, listOf, object, text } from "./schema-parts.ts";
import { type Key, numberedKind } from "./numbered-kind.ts";

/** The kind that is watched: about a kilobyte each, with spec and status, as a controller's own kind is. */
export const widgets = numberedKind({
  group: "bench.drover.dev",
  kind: "Widget",
  spec: {
    size: integer,
    turn: integer,
    notes: text,
    parts: listOf(object({ name: text, count: integer })),
    tags: { type: "object", additionalProperties: text },
  },
  // Without its status subresource, objects can be created with a status, in one request each; `withStatus` comes after.
  subresources: {},
});
export const withStatus = [{ op: "add", path: "/spec/versions/0/subresources", value: { status: {} } }];

/** A file registers its controller. */
export const queue = queueOf({ name: widgets.name });

/** The body of the request that creates it. */
export function widget(key: Key): object {
  const number = Number(/\d+$/.exec(key)?.[0] ?? 0);
  return widgets.object(
    key,
    {
      labels: {
        "app.kubernetes.io/name": "widget",
        "app.kubernetes.io/part-of": "bench",
        shard: `s${number % 64}`,
      },
      annotations: { "bench.drover.dev/owner": `team-${number % 100}@example.com` },
    },
    {
      spec: {
        size: number % 1_000,
        turn: 0,
        notes: `Widget ${number} is made so that there is something to watch.`,
        parts: ["frame", "wheel", "axle"].map((part) => ({ name: `${part}-${number}`, count: 3 })),
        tags: { zone: `zone-${number % 3}`, tier: number % 2 === 0 ? "front" : "back" },
      },
      status: {
        observedGeneration: 1,
        conditions: [
          {
            type: "Ready",
            status: "True",
            reason: "AsDesired",
            message: "",
            observedGeneration: 1,
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
        ],
      },
    },
  );
}

/** A change of what is asked for: a new generation. */
export const turn = (number: number): object => ({ spec: { turn: number } });
