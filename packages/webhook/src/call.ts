import { z } from "zod";

/** The types of calls: reconcile an object, or undo what was done for it before it is deleted. */
export const callTypes = ["dev.drover.reconcile.v2", "dev.drover.finalize.v2"] as const;
export type CallType = (typeof callTypes)[number];

const text = z.string().min(1);
const texts = z.record(z.string(), z.string());

/** Identifies a function in messages: the receiver of a call, and the sender of a completion. */
export const audienceSchema = z.strictObject({
  name: text.meta({ description: "namespace/name of its ReconcileFunction." }),
  uid: text.meta({
    description: "Of its ReconcileFunction: one of the same name that was made anew is another.",
  }),
});
export type Audience = z.output<typeof audienceSchema>;

/** An object as a function gets it. */
const objectSchema = z.looseObject({
  apiVersion: text,
  kind: text,
  metadata: z.looseObject({
    name: text,
    namespace: text.exactOptional(),
    uid: text,
    resourceVersion: text,
    generation: z.number().exactOptional(),
    creationTimestamp: z.string().exactOptional(),
    deletionTimestamp: z.string().exactOptional(),
    finalizers: z.array(z.string()).exactOptional(),
    labels: texts.exactOptional(),
    annotations: texts.exactOptional(),
  }),
});

/** The body of a call. Only the body is signed; headers repeat parts of it for routing. */
export const callSchema = z
  .looseObject({
    type: z.enum(callTypes, {
      error: `give ${callTypes.join(" or ")}; the gateway and the function must keep the same version of the contract`,
    }),
    audience: audienceSchema.meta({ description: "Whom it is meant for. Refuse what is meant for others." }),
    kind: z
      .looseObject({ group: z.string(), version: text, kind: text })
      .meta({ description: "The object's kind." }),
    key: text.meta({ description: "namespace/name of the object, or name for a cluster-scoped kind." }),
    uid: text.meta({ description: "Of the object." }),
    replaced: text.exactOptional().meta({
      description: "The uid of an object of the same name that was there before, and was not finished with.",
    }),
    generation: z.number().meta({ description: "Of the object; 0 where its kind has none." }),
    token: text.meta({
      description: "Of the run, unique for ever; also webhook-id and ce-id. The same token is the same call.",
    }),
    deadline: z.iso
      .datetime()
      .meta({ description: "When nobody waits for the answer any more. Stop by then." }),
    reasons: z.array(z.string()).meta({ description: "Why it is called, oldest first: for people." }),
    fails: z.int().min(0).meta({ description: "Runs of this key that failed in a row." }),
    object: objectSchema.meta({
      description: "As it was just read, without managedFields and the last applied configuration.",
    }),
    complete: z.url().exactOptional().meta({
      description:
        "Where the result is sent after the outcome accepted. Left out: accepted cannot be answered.",
    }),
  })
  .meta({ id: "Call", description: "What the gateway sends to a function." });
export type Call = z.output<typeof callSchema>;

/**
 * The headers that make a call a CloudEvent 1.0 (HTTP binary mode). Values are percent-encoded as section 3.1.3.2 of
 * its HTTP binding requires.
 */
export function eventHeaders({ type, token, key, audience }: Call, source: string, at: Date) {
  return {
    "content-type": "application/json",
    "ce-specversion": "1.0",
    "ce-type": type,
    "ce-id": token,
    "ce-source": encoded(`${source}/${audience.name}`),
    "ce-subject": encoded(key),
    "ce-time": at.toISOString(),
  } as const;
}

/** Percent-encodes blanks, double quotes, percent signs and all characters beyond printable ASCII. */
const encoded = (value: string): string =>
  value.replace(/[^!#$&-~]/gu, (character) => encodeURIComponent(character).replace(/^"$/, "%22"));
