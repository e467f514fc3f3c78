// The shape of objects in answers, by the Accept header: complete, metadata only, or a table.
import { omit } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { versionOf } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { apiVersionOf } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { badRequest, notAcceptable, notAvailable, serverError } from "./status.ts";
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
  /** True if single objects can have this shape. */
  readonly hasEvents: boolean;
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

/** A shape, and the version of meta.k8s.io of the answer. */
interface Asked {
  readonly shape: Shape;
  readonly version: string;
}

function shapeOf(accept: string, custom: boolean): Asked {
  const taken = ["*/*", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
  if (!custom && !mediaRanges(accept).some(({ media }) => taken.includes(media))) throw notAvailable();
  for (const { media, parameters } of mediaRanges(accept)) {
    if (media !== "application/json" && media !== "application/*" && media !== "*/*") continue;
    const as = parameters.get("as");
    const version = parameters.get("v") ?? "v1";
    if (as === undefined) return { shape: "Object", version };
    const served = parameters.get("g") === "meta.k8s.io" && ["v1", "v1beta1"].includes(version);
    if (isShape(as) && served) return { shape: as, version };
  }
  throw notAcceptable(
    "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  );
}

const partialIn =
  (apiVersion: string) =>
  (object: KubeObject): JsonObject => ({
    kind: "PartialObjectMetadata",
    apiVersion,
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
  // The items of typed lists have no apiVersion and kind; those of custom resources have both.
  items: type.custom ? objects : objects.map((object) => omit(object, "apiVersion", "kind")),
});

/** The shape that a request asks for. Throws 406 if its Accept header permits none. */
export function representationFor(
  type: ResourceType,
  accept: string,
  query: URLSearchParams,
  now: () => Date,
): Representation {
  const { shape, version } = shapeOf(accept, type.custom);
  const apiVersion = `meta.k8s.io/${version}`;
  const partial = partialIn(apiVersion);
  const options = shape === "Table" ? tableOptions(query) : ({ include: "None", headers: true } as const);
  let headers = true;
  const table = (objects: readonly KubeObject[], metadata: JsonObject, heading = true): JsonObject => ({
    ...tableOf(type, objects, metadata, { ...options, headers: heading }, partial, now()),
    apiVersion,
  });
  const object = (one: KubeObject, heading = true): JsonObject => {
    if (shape === "Object") return one;
    if (shape === "Table") return table([one], { resourceVersion: versionOf(one) }, heading);
    if (shape === "PartialObjectMetadata") return partial(one);
    throw type.custom
      ? serverError("content is not a list")
      : notAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list");
  };
  return {
    hasEvents: shape !== "PartialObjectMetadataList",
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
      return { kind: shape, apiVersion, metadata, items: objects.map(partial) };
    },
  };
}
