// Bodies that are not an object of the kind, unknown media types, and unknown queries.
import type { Json } from "../../src/json.ts";
import { configMap, configMapsIn, gadgetsAt, widget, widgetsIn } from "../fixtures.ts";
import { caseOf, get, named, object, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const sent = (method: string, path: string, text: string, type = "application/json"): Step => ({
  method,
  path,
  text,
  headers: { "content-type": type },
});
const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

const texts: Readonly<Record<string, string>> = {
  nothing: "",
  "white space": "  \n",
  garbage: "garbage",
  "an open brace": "{",
  "two documents": "{}{}",
  null: "null",
  "a list": "[]",
  "a text": '"text"',
  "a number": "1",
  "an empty object": "{}",
  "no kind": '{"apiVersion":"v1","metadata":{"name":"a"}}',
  "no version": '{"kind":"ConfigMap","metadata":{"name":"a"}}',
  "another kind": '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}',
  "an unknown kind": '{"apiVersion":"v1","kind":"Nothing","metadata":{"name":"a"}}',
  "another version": '{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}}',
  "another group": '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}',
  "a list kind": '{"apiVersion":"v1","kind":"List","items":[]}',
  "the kind's list": '{"apiVersion":"v1","kind":"ConfigMapList","items":[]}',
  "a kind of the wrong type": '{"apiVersion":"v1","kind":1,"metadata":{"name":"a"}}',
  "a version of the wrong type": '{"apiVersion":1,"kind":"ConfigMap","metadata":{"name":"a"}}',
  "no metadata": '{"apiVersion":"v1","kind":"ConfigMap"}',
  "null metadata": '{"apiVersion":"v1","kind":"ConfigMap","metadata":null}',
  "a broken escape": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"\\q"}}',
  "a trailing comma": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",}}',
  "a huge number": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":1e400}',
  "a deep tree": deep(200),
  "a tree too deep": deep(20_000),
  YAML: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n",
  "a list at an object": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":[]}',
  "a number at a text": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":1}}',
  "nulls everywhere":
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":null},"data":{"k":null},"binaryData":null,"immutable":null}',
  "names that all objects have":
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"__proto__":"l"}},"data":{"__proto__":"x","constructor":"y"}}',
  "no base64": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"binaryData":{"k":"%%"}}',
};

const types = [
  "",
  "text/plain",
  "application/json; charset=utf-8",
  "application/yaml",
  "application/xml",
  "application/cbor",
  "application/merge-patch+json",
  "nonsense",
  "a/b/c",
];

const validations = ["", "Strict", "Warn", "Ignore", "strict", "Other"];

const bodies: readonly Json[] = [
  { data: { a: null } },
  { data: { "": "x" } },
  { data: { "a b": "x" } },
  { data: { "..": "x" } },
  { data: { ["x".repeat(254)]: "x" } },
  { data: { a: "1" }, binaryData: { a: "AA==" } },
  { immutable: "yes" },
  { immutable: true, data: {} },
  { data: { a: "x".repeat(1_048_577) } },
  { binaryData: { a: "A" } },
  { binaryData: {} },
];

const queries = [
  ...`dryRun=All dryRun=all dryRun= dryRun=All&dryRun=All dryRun=All&dryRun=x fieldManager=me bogus=1
  pretty=true timeout=5s`.split(/\s+/),
];

export const bodiesCases: readonly Case[] = [
  ...Object.entries(texts).flatMap(([what, text]): Case[] => [
    caseOf(
      `${what}, for a ConfigMap`,
      sent("POST", configMapsIn, text),
      sent("PUT", `${configMapsIn}/a`, text),
    ),
    caseOf(
      `${what}, for a Widget`,
      sent("POST", widgetsIn, text.replaceAll("ConfigMap", "Widget").replaceAll('"v1"', '"example.com/v1"')),
    ),
    ...(what === "a huge number"
      ? []
      : [
          caseOf(
            `${what}, as DeleteOptions`,
            post(configMapsIn, configMap("a")),
            sent("DELETE", `${configMapsIn}/a`, text),
          ),
        ]),
  ]),
  ...types.map((type) =>
    caseOf(
      `the media type ${JSON.stringify(type)}`,
      sent("POST", configMapsIn, JSON.stringify(configMap("a")), type),
      sent("POST", widgetsIn, JSON.stringify(widget("a")), type),
      sent("PATCH", `${configMapsIn}/a`, "{}", type),
      sent("PATCH", `${widgetsIn}/a`, "{}", type),
      sent("DELETE", `${configMapsIn}/a`, "{}", type),
    ),
  ),
  ...[
    "text/html",
    "application/yaml",
    "application/json;as=Nothing;g=meta.k8s.io;v=v1",
    "application/json;as=Table;g=meta.k8s.io;v=v2",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "text/html, application/json;q=0.5",
    "*/*",
    "application/*",
    "nonsense",
  ].map((accept) =>
    caseOf(
      `the Accept header ${accept}`,
      ...[
        post(configMapsIn, configMap("a")),
        get(`${configMapsIn}/a`, { accept }),
        get(`${widgetsIn}/a`, { accept }),
      ].filter((step) => accept !== "application/yaml" || step.method === "POST"),
    ),
  ),
  ...validations.flatMap((how): Case[] => [
    caseOf(
      `fieldValidation ${how} of patches`,
      post(configMapsIn, configMap("a")),
      post(widgetsIn, widget("a")),
      ...[configMapsIn, widgetsIn].flatMap((path) => [
        sent(
          "PATCH",
          `${path}/a?fieldValidation=${how}`,
          '{"metadata":{"labels":{"a":"1"}},"bogus":1}',
          "application/merge-patch+json",
        ),
        sent(
          "PATCH",
          `${path}/a?fieldValidation=${how}`,
          '[{"op":"add","path":"/other","value":{"a":1}}]',
          "application/json-patch+json",
        ),
      ]),
    ),
  ]),
  ...bodies.map((body) =>
    caseOf(
      `a ConfigMap of ${JSON.stringify(body).slice(0, 60)}`,
      post(configMapsIn, { ...configMap("a"), ...(body as object) }),
    ),
  ),
  ...queries.flatMap((query): Case[] => [
    caseOf(
      `the query ${query.slice(0, 30)}`,
      named("made", post(`${configMapsIn}?${query}`, configMap("a"))),
      {
        method: "PATCH",
        path: `${configMapsIn}/a?${query}`,
        body: { data: { a: "1" } },
        headers: { "content-type": "application/merge-patch+json" },
      },
      put(`${configMapsIn}/a?${query}`, configMap("a")),
      get(`${configMapsIn}/a?${query}`),
      { method: "DELETE", path: `${configMapsIn}/a?${query}` },
      post(`${widgetsIn}?${query}`, widget("a")),
      post(`${gadgetsAt}?${query}`, object("example.com/v1", "Gadget", "<id>")),
    ),
  ]),
  caseOf(
    "a body that is too large",
    sent("POST", configMapsIn, JSON.stringify(configMap("a", { data: { a: "x".repeat(3_200_000) } }))),
  ),
];
