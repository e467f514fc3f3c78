import { z } from "zod";
import { answerSchema, failureSchema } from "./answer.ts";
import { audienceSchema } from "./call.ts";

/** What a function sends to `complete` after an answer of 202, signed as the call was. */
export const completionSchema = z
  .strictObject({
    audience: audienceSchema.meta({ description: "As the call named it." }),
    key: z.string().min(1).meta({ description: "As the call named it." }),
    token: z.string().min(1).meta({ description: "The call's: it is taken once, while that run lasts." }),
    code: z.int().min(200).max(599).default(200).meta({
      description: "The HTTP status that would have been answered: 200 for a result, others as for a call.",
    }),
    retryAfter: z.number().min(0).max(86_400).exactOptional().meta({
      description: "Seconds, as the header Retry-After would have said.",
    }),
    result: z.union([answerSchema, failureSchema]).meta({
      description: "An Answer with 200, else a Failure.",
    }),
  })
  .meta({ id: "Completion", description: "What a function sends when it has answered 202." });
export type Completion = z.output<typeof completionSchema>;
