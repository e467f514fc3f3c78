import { objectMetadataFields } from "@drover/controller";
import { z } from "zod";

/** The version of the contract: of calls, answers and completions. */
export const contractVersion = "v2";

/**
 * The types of calls: reconcile an object, undo what was done for it before it is deleted, or declare the children that
 * should exist for it.
 */
export const callTypes = [
  `dev.drover.reconcile.${contractVersion}`,
  `dev.drover.finalize.${contractVersion}`,
  `dev.drover.compose.${contractVersion}`,
] as const;
export type CallType = (typeof callTypes)[number];

const text = z.string().min(1);

/** Identifies a function in messages: the receiver of a call, and the sender of a completion. */
export const audienceSchema = z.strictObject({
  name: text.meta({ description: "namespace/name of its ReconcileFunction." }),
  uid: text.meta({
    description:
      "The uid of its ReconcileFunction. One that is created again under the same name has another.",
  }),
});
export type Audience = z.output<typeof audienceSchema>;

/** An object as a function gets it. */
export const objectSchema = z.looseObject({
  apiVersion: text,
  kind: text,
  metadata: z.looseObject(objectMetadataFields),
});

/** The body of a call. Only the body is signed; headers repeat parts of it for routing. */
export const callSchema = z
  .looseObject({
    type: z.enum(callTypes, {
      error: `give ${callTypes.join(" or ")}; the gateway and the function must keep the same version of the contract`,
    }),
    audience: audienceSchema.meta({
      description: "The function that the call is meant for. Refuse a call for another function.",
    }),
    kind: z
      .looseObject({ group: z.string(), version: text, kind: text })
      .meta({ description: "The object's kind." }),
    key: text.meta({ description: "namespace/name of the object, or name for a cluster-scoped kind." }),
    uid: text.meta({ description: "The object's uid." }),
    replaced: text.exactOptional().meta({
      description: "The uid of an earlier object with the same name, for which the work was not finished.",
    }),
    generation: z.number().meta({ description: "The object's generation; 0 if its kind has none." }),
    token: text.meta({
      description:
        "The run's token, never used twice; also webhook-id and ce-id. The same token is the same call.",
    }),
    deadline: z.iso.datetime().meta({
      description: "After this time the gateway does not wait for the answer any more. Stop by then.",
    }),
    reasons: z
      .array(z.string())
      .meta({ description: "Why the function is called, oldest first: for people." }),
    fails: z.int().min(0).meta({ description: "Number of failed runs of this key in a row." }),
    object: objectSchema.meta({
      description: "The object, without managedFields and the last applied configuration.",
    }),
    children: z
      .array(objectSchema)
      .exactOptional()
      .meta({
        description:
          "With dev.drover.compose.v2: the children that exist, of the kinds that the function owns. Secrets have only " +
          "their metadata.",
      }),
    related: z.array(objectSchema).exactOptional().meta({
      description:
        "With dev.drover.compose.v2: the related objects that exist, of the kinds that the function declares as related.",
    }),
    complete: z.url().exactOptional().meta({
      description:
        "The URL for the result after the outcome accepted. Left out: the outcome accepted is not allowed.",
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
