import { z } from "zod";
import { maxMessageLength } from "./answer.ts";
import { audienceSchema, objectSchema } from "./call.ts";
import { readMessage, type ParsedMessage } from "./received-answer.ts";

/** The path of the question, in a process that answers it. */
export const planPath = "/plan";

/** Version 1. Neither a call nor an answer has this type, so that neither side can mistake one for the other. */
const type = z.literal("dev.drover.plan.v1");
const text = z.string().min(1);

/**
 * The question of `drover plan` to a Pod of a function that pulls, about one object. Its ReconcileFunction does not
 * declare what the code decides: that it declares children, which objects get a finalizer, and names in code.
 */
const planQuestionSchema = z.strictObject({
  type,
  audience: audienceSchema,
  /** Also its webhook-id. */
  token: text,
  deadline: z.iso.datetime(),
  object: objectSchema,
});
export type PlanQuestion = z.output<typeof planQuestionSchema>;

const planAnswerSchema = z.strictObject({
  type,
  /** The controller's name. */
  controller: text,
  /** True if it declares children: only then can it be called. */
  composes: z.boolean(),
  /** True if the object gets, or has, the controller's finalizer. */
  finalizes: z.boolean(),
  /** The related objects that the code names. */
  related: z.array(z.strictObject({ group: z.string(), plural: text, names: z.array(z.string()) })),
  /** Why the code failed that answers the above. */
  failure: z.string().max(maxMessageLength).exactOptional(),
});
export type PlanAnswer = z.output<typeof planAnswerSchema>;

/** Parses a question with a verified signature. */
export const readPlanQuestion = (body: Uint8Array): ParsedMessage<PlanQuestion> =>
  readMessage(body, planQuestionSchema);

/** Parses an answer with a verified signature. */
export const readPlanAnswer = (body: Uint8Array): ParsedMessage<PlanAnswer> =>
  readMessage(body, planAnswerSchema);
