import { childObjectSchema, settledChildSchema } from "@drover/controller";
import { z } from "zod";
import { answerSchema, resultSchema } from "./answer.ts";
import { callSchema } from "./call.ts";
import { completionSchema } from "./completion.ts";

const messages = z.registry<{ id: string }>();
messages.add(callSchema, { id: "Call" });
messages.add(answerSchema, { id: "Answer" });
messages.add(resultSchema, { id: "Result" });
messages.add(completionSchema, { id: "Completion" });
messages.add(childObjectSchema, { id: "ChildObject" });
messages.add(settledChildSchema, { id: "Child" });

/** The messages as JSON Schema (2020-12), by name; `at` is the prefix of references between them. */
const schemasAt = (at: string) =>
  z.toJSONSchema(messages, { io: "input", uri: (id) => `${at}${id}` }).schemas;

const title = "Functions that are called";
/** Increases with a change that breaks functions which kept the contract before. Also part of the types of calls. */
const version = "2";

/** The contract as one JSON Schema: `$defs` has the messages. */
export function contractSchema(): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `${title}, version ${version}`,
    $defs: bare(schemasAt("#/$defs/")),
  };
}

/** The contract as OpenAPI 3.1: the endpoint of a function, and the gateway's endpoint for completions. */
export function contractApi(): object {
  return {
    openapi: "3.1.0",
    info: { title, version, description: "docs/webhook-functions.md explains it." },
    paths: { "/": { post: called } },
    components: {
      parameters: {
        id: header(
          "webhook-id",
          "In a call: the run's token. In a completion: any id that was not used before.",
        ),
        timestamp: header(
          "webhook-timestamp",
          "Seconds since 1970; it may differ from the receiver's clock by 300.",
        ),
        signature: header(
          "webhook-signature",
          "v1,<base64 of HMAC-SHA256 over id.timestamp.body>, several separated by blanks.",
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
const completed = {
  summary: "The result, after the outcome accepted.",
  parameters,
  requestBody: { required: true, ...body("Completion") },
  responses: {
    "204": { description: "Accepted." },
    "400": { description: "Signed, but not a completion of this version." },
    "401": { description: "Not signed as it must be." },
    "409": { description: "The run is over, or has its result: send nothing more for it." },
    "503": { description: "Send it again." },
  },
};

const called = {
  summary: "Reconcile an object, or undo what was done for it.",
  operationId: "call",
  parameters,
  requestBody: { required: true, ...body("Call") },
  responses: {
    "200": {
      description:
        "Signed like the call, with its webhook-id. The outcome is in the body; the gateway ignores the HTTP status.",
      ...body("Answer"),
    },
    default: { description: "An answer that is not signed: called again, with backoff." },
  },
  callbacks: { complete: { "{$request.body#/complete}": { post: completed } } },
};

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

/** The schemas without the fields that make each one a separate document. */
const bare = (schemas: Readonly<Record<string, object>>): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      Object.fromEntries(Object.entries(schema).filter(([key]) => !["$schema", "$id", "id"].includes(key))),
    ]),
  );
