// In which shape objects leave the server: whole, metadata only, or as a table; chosen by the Accept header.
import { omit } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { versionOf } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { apiVersionOf } from "./resource-type.ts";
import type { ResourceType } from "./resource-type.ts";
import { badRequest, notAcceptable } from "./status.ts";
import { tableOf } from "./table.ts";
import type { TableOptions } from "./table.ts";

type Shape = "Object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
const shapes: readonly string[] = [
  "Table",
  "PartialObjectMetadata",
  "PartialObjectMetadataList",
] satisfies Shape[];
const isShape = (text: string): text is Shape => shapes.includes(text);

export interface Representation {
  object(object: KubeObject): JsonObject;
  list(objects: readonly KubeObject[], metadata: JsonObject): JsonObject;
  /** As `object`, for the next event of a watch. */
  event(object: KubeObject): JsonObject;
}

/** Media ranges of an Accept header, in order, with their parameters. */
function mediaRanges(accept: string): readonly { media: string; parameters: ReadonlyMap<string, string> }[] {
  return (accept || "*/*").split(",").map((range) => {
    const [media = "", ...parameters] = range.split(";").map((part) => part.trim());
    return {
      media,
      parameters: new Map(parameters.map((one) => [one.split("=")[0] ?? "", one.split("=")[1] ?? ""])),
    };
  });
}

function shapeOf(accept: string): Shape {
  for (const { media, parameters } of mediaRanges(accept)) {
    if (media !== "application/json" && media !== "application/*" && media !== "*/*") continue;
    const as = parameters.get("as");
    if (as === undefined) return "Object";
    const served =
      parameters.get("g") === "meta.k8s.io" && ["v1", "v1beta1"].includes(parameters.get("v") ?? "");
    if (isShape(as) && served) return as;
  }
  throw notAcceptable("only the following media types are accepted: application/json");
}

const partial = (object: KubeObject): JsonObject => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata: object.metadata,
});

function tableOptions(query: URLSearchParams): TableOptions {
  const include = query.get("includeObject") ?? "Metadata";
  if (include === "" || include === "Metadata") return { include: "Metadata", headers: true };
  if (include === "None" || include === "Object") return { include, headers: true };
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const wholeList = (type: ResourceType, objects: readonly KubeObject[], metadata: JsonObject): JsonObject => ({
  kind: type.listKind,
  apiVersion: apiVersionOf(type),
  // Typed lists leave out an empty continue token.
  metadata: type.custom ? { continue: "", ...metadata } : metadata,
  // Typed lists leave out what the list already says; those of custom resources do not.
  items: type.custom ? objects : objects.map((object) => omit(object, "apiVersion", "kind")),
});

/** The shape a request asks for. Throws 406 where its Accept header leaves none. */
export function representationFor(
  type: ResourceType,
  accept: string,
  query: URLSearchParams,
  now: () => Date,
): Representation {
  const shape = shapeOf(accept);
  const options = tableOptions(query);
  let headers = true;
  const table = (objects: readonly KubeObject[], metadata: JsonObject, heading = true): JsonObject =>
    tableOf(type, objects, metadata, { ...options, headers: heading }, partial, now());
  const object = (one: KubeObject, heading = true): JsonObject => {
    if (shape === "Object") return one;
    if (shape === "Table") return table([one], { resourceVersion: versionOf(one) }, heading);
    if (shape === "PartialObjectMetadata") return partial(one);
    throw notAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list");
  };
  return {
    object: (one) => object(one),
    event(one) {
      const shown = object(one, headers);
      headers = false;
      return shown;
    },
    list(objects, metadata) {
      if (shape === "Object") return wholeList(type, objects, metadata);
      if (shape === "Table") return table(objects, metadata);
      if (shape === "PartialObjectMetadata")
        throw notAcceptable("you requested PartialObjectMetadata, but the requested object is a list");
      return { kind: shape, apiVersion: "meta.k8s.io/v1", metadata, items: objects.map(partial) };
    },
  };
}
