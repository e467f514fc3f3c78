import { childObjectSchema, durationSchema, maxChildren, settledChildSchema } from "@drover/controller";
import { z } from "zod";

/** Maximum number of characters of a message, as in a condition. */
export const maxMessageLength = 32_768;

const condition = z.strictObject({
  type: z
    .string()
    .max(316)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$/, "give a word such as Ready"),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().max(1_024),
  message: z.string().max(maxMessageLength),
});

const message = z
  .string()
  .max(maxMessageLength)
  .meta({ description: "For people: what happened, and what to do." });
const reason = z.string().max(1_024).meta({
  description:
    "A CamelCase word for the Ready condition; other characters than letters, digits and _ are left out.",
});
const account = z.string().min(1).max(200);

const done = z
  .strictObject({
    outcome: z.literal("done"),
    status: z.record(z.string(), z.unknown()).exactOptional().meta({
      description:
        "Becomes the object's status, with observedGeneration and conditions. Left out: the status stays.",
    }),
    conditions: z.array(condition).max(50).exactOptional().meta({
      description:
        "In addition to Ready, which is True unless given here. Types that are not given are removed.",
    }),
    requeueAfter: durationSchema.exactOptional().meta({
      description: "Call again after this time, even if nothing has changed; 1s at least.",
    }),
    account: account.exactOptional().meta({
      description: "The external account that was used. It is remembered per key.",
    }),
  })
  .meta({ description: "The object is reconciled. Answers dev.drover.reconcile.v2 only." });

const composed = done
  .omit({ outcome: true, account: true })
  .extend({
    outcome: z.literal("composed"),
    children: z
      .array(z.union([settledChildSchema, childObjectSchema]))
      .max(maxChildren)
      .meta({
        description:
          "All children that should exist. Those that were declared before and are left out now are deleted, or as their deletion says.",
      }),
  })
  .meta({ description: "What should exist for the object. Answers dev.drover.compose.v2 only." });

const finalized = z.strictObject({ outcome: z.literal("finalized") }).meta({
  description: "Everything is undone: the object may be deleted. Answers dev.drover.finalize.v2 only.",
});

const again = z
  .strictObject({
    outcome: z.literal("again"),
    after: durationSchema.meta({ description: "Call again after this time; 1s at least." }),
    reason: reason.exactOptional(),
    message: message.exactOptional(),
    account: account.exactOptional().meta({
      description: "This external account accepts no calls until then: all keys that use it wait.",
    }),
  })
  .meta({ description: "Not yet. It counts as a wait, not as a failure." });

const conflict = z
  .strictObject({ outcome: z.literal("conflict"), message: message.exactOptional() })
  .meta({ description: "Another writer or another run came first: called again almost at once." });

const failed = z
  .strictObject({ outcome: z.literal("failed"), message, reason: reason.exactOptional() })
  .meta({ description: "The run failed: called again, with backoff." });

const parked = z
  .strictObject({ outcome: z.literal("parked"), message, reason: reason.exactOptional() })
  .meta({ description: "Another call cannot help: the key is parked until the object changes." });

const accepted = z
  .strictObject({ outcome: z.literal("accepted") })
  .meta({ description: "A completion with the result follows before the deadline." });

/** The outcome of a run: the `result` of a completion. */
export const resultSchema = z
  .discriminatedUnion("outcome", [done, composed, finalized, again, conflict, failed, parked])
  .meta({ id: "Result", description: "The outcome of a run." });
export type Result = z.output<typeof resultSchema>;

/**
 * The body of an answer. It contains the outcome, because the signature covers the body and not the HTTP status.
 * Unknown fields are refused, so that another message that was signed with the same secret is not accepted as an
 * answer.
 */
export const answerSchema = z
  .discriminatedUnion("outcome", [...resultSchema.options, accepted])
  .meta({ id: "Answer", description: "The body of a function's answer, signed." });
export type Answer = z.output<typeof answerSchema>;
