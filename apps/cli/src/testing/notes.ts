import {
  defineController,
  defineFunction,
  defineResource,
  objectKey,
  type Predicates,
  RetryAfterError,
} from "@drover/controller";
import { runFunction } from "@drover/runtime";
import { z } from "zod";
import { notesConfig } from "./config.ts";

/** A kind whose function asks for everything that the runtime may ask the API server for. */
export const Note = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  spec: z.object({}),
  status: z.object({ secret: z.string() }),
});

let runs = 0;

/** @param only where its objects are. */
const notesIn = (only: Predicates) =>
  defineController({
    for: Note,
    name: "notes",
    only,
    retry: { first: "50ms", longest: "100ms" },
    watches: [
      {
        kind: { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" },
        ...only,
        names: ({ object: { metadata } }) =>
          Promise.resolve([objectKey({ namespace: metadata.namespace ?? "", name: metadata.name })]),
      },
    ],
    async reconcile({ readSecret }) {
      const { word = "none" } = (await readSecret("word")) ?? {};
      runs += 1;
      // Reported twice: an Event, and then its count.
      if (runs <= 2) throw new RetryAfterError("Not yet.", { after: "10ms", reason: "NotYet" });
      return { status: { secret: word } };
    },
    async finalize() {},
  });

const deployed = { readsSecrets: ["word"], deployment: { container: { image: "notes:1" } } } as const;
export const notesAnywhere = defineFunction({ controller: notesIn({}), ...deployed });
export const notesAtHome = defineFunction({
  controller: notesIn({ namespaces: ["default"] }),
  namespace: "default",
  ...deployed,
});

if (import.meta.main) {
  await runFunction({ name: "notes", settings: notesConfig, controller: () => notesAnywhere });
}
