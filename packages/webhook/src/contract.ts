import { z } from "zod";
import { answerSchema, failureSchema } from "./answer.ts";
import { callSchema } from "./call.ts";
import { completionSchema } from "./completion.ts";

const messages = z.registry<{ id: string }>();
messages.add(callSchema, { id: "Call" });
messages.add(answerSchema, { id: "Answer" });
messages.add(failureSchema, { id: "Failure" });
messages.add(completionSchema, { id: "Completion" });

/** The messages as JSON Schema (2020-12), by name; `at` says where one refers to another. */
const schemasAt = (at: string) =>
  z.toJSONSchema(messages, { io: "input", uri: (id) => `${at}${id}` }).schemas;

const title = "Functions that are called";

/** The contract as one JSON Schema: `$defs` has the messages. */
export function contractSchema(): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    $defs: bare(schemasAt("#/$defs/")),
  };
}

/** The contract as OpenAPI 3.1: what a function serves, and what the gateway does. */
export function contractApi(): object {
  return {
    openapi: "3.1.0",
    info: { title, version: "1", description: "docs/webhook-functions.md says what it means." },
    paths: { "/": { post: called } },
    components: {
      parameters: {
        id: header(
          "webhook-id",
          "Of a call: the run's token. Of a completion: any that was not used before.",
        ),
        timestamp: header("webhook-timestamp", "Seconds since 1970; 300 either way are taken."),
        signature: header(
          "webhook-signature",
          "v1,<base64 of HMAC-SHA256 over id.timestamp.body>, several with blanks between.",
        ),
      },
      schemas: bare(schemasAt("#/components/schemas/")),
    },
  };
}

const body = (of: string) => ({
  content: { "application/json": { schema: { $ref: `#/components/schemas/${of}` } } },
});
const parameters = ["id", "timestamp", "signature"].map((name) => ({
  $ref: `#/components/parameters/${name}`,
}));
const headers = { "Retry-After": { schema: { type: "string" }, description: "Seconds, or a date." } };
const failure = (description: string) => ({ description, ...body("Failure") });

const completed = {
  summary: "The result, after an answer of 202.",
  parameters,
  requestBody: { required: true, ...body("Completion") },
  responses: {
    "204": { description: "Taken." },
    "401": { description: "Not signed as it must be, or no completion." },
    "409": { description: "The run is over, or has its result: send nothing more for it." },
    "503": { description: "Send it again.", headers },
  },
};

const called = {
  summary: "Bring the world nearer to an object, or undo what was done for it.",
  operationId: "call",
  parameters,
  requestBody: { required: true, ...body("Call") },
  responses: {
    "200": { description: "Done. Signed as the call was, under its webhook-id.", ...body("Answer") },
    "202": { description: "A completion comes later, before the deadline." },
    "401": failure("The call is not signed as it must be. Tried again."),
    "409": { ...failure("A conflict: tried again at once; with Retry-After a wait."), headers },
    "429": { ...failure("With Retry-After a wait."), headers },
    "4XX": failure("Given up until the object changes."),
    "503": { ...failure("With Retry-After a wait."), headers },
    "5XX": failure("Tried again, with backoff."),
  },
  callbacks: { complete: { "{$request.body#/complete}": { post: completed } } },
};

const header = (name: string, description: string) => ({
  ...{ name, in: "header", required: true, description },
  schema: { type: "string" },
});

/** Without what makes each a document of its own. */
const bare = (schemas: Readonly<Record<string, object>>): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      Object.fromEntries(Object.entries(schema).filter(([key]) => !["$schema", "$id", "id"].includes(key))),
    ]),
  );
