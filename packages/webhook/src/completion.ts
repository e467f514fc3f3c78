import { z } from "zod";
import { resultSchema } from "./answer.ts";
import { type Audience, audienceSchema } from "./call.ts";

/** The body that a function sends to `complete` after the outcome `accepted`, signed like the call. */
export const completionSchema = z
  .strictObject({
    audience: audienceSchema.meta({ description: "As in the call." }),
    key: z.string().min(1).meta({ description: "As in the call." }),
    token: z
      .string()
      .min(1)
      .meta({ description: "The call's token: it is accepted once, while that run lasts." }),
    result: resultSchema.meta({ description: "The outcome, as in an answer." }),
  })
  .meta({ id: "Completion", description: "The result of a call that was answered with accepted." });
export type Completion = z.output<typeof completionSchema>;

/**
 * The `complete` URL of a call. It contains the function's name and uid, so that the gateway can choose the secret
 * before it reads the body; only the signed body is trusted.
 *
 * @param base the URL at which the gateway receives completions, ending with a slash.
 */
export function completionUrl(base: string, { name, uid }: Audience): string {
  const segments = [...name.split("/"), uid].map((segment) => encodeURIComponent(segment));
  return new URL(`completions/${segments.join("/")}`, base).href;
}
