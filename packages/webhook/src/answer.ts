import { durationSchema } from "@drover/controller";
import { z } from "zod";

const condition = z.strictObject({
  type: z
    .string()
    .max(316)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$/, "give a word such as Ready"),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().max(1_024),
  message: z.string().max(32_768),
});

/**
 * The body of an answer of 200: every field may be left out. Nothing else is believed, so that nothing else that was
 * signed with the same secret, such as the call itself, can be passed off as an answer.
 */
export const answerSchema = z
  .strictObject({
    status: z.record(z.string(), z.unknown()).exactOptional().meta({
      description:
        "Becomes the object's status, beside observedGeneration and conditions. Left out: it stays.",
    }),
    conditions: z.array(condition).max(50).exactOptional().meta({
      description: "Beside Ready, which is True unless it is given here. Types that are not given go away.",
    }),
    requeueAfter: durationSchema.exactOptional().meta({
      description: "Call again after this time, though nothing has changed; 1s at least.",
    }),
    finalized: z.boolean().exactOptional().meta({
      description:
        "To dev.drover.finalize.v1: true lets the object go. Else it is asked again after requeueAfter.",
    }),
    account: z.string().min(1).max(200).exactOptional().meta({
      description: "The account of the outside world that was used. It is remembered per key.",
    }),
  })
  .meta({ id: "Answer", description: "What a function answers with 200." });
export type Answer = z.output<typeof answerSchema>;

/** The body of any other answer. It may be left out; what cannot be read is not believed, and the status is. */
export const failureSchema = z
  .looseObject({
    message: z.string().exactOptional().meta({ description: "For people: what is wrong, and what to do." }),
    reason: z
      .string()
      .max(1_024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .exactOptional()
      .meta({ description: "A CamelCase word for the Ready condition." }),
    account: z.string().min(1).max(200).exactOptional().meta({
      description:
        "With 429: this account of the outside world wants no calls; others go on. Signed answers only.",
    }),
  })
  .meta({ id: "Failure", description: "What a function answers with any status but 200 and 202." });
export type Failure = z.output<typeof failureSchema>;
