import type { JsonObject } from "../src/json.ts";
import { configMap, configMapsIn, gadget, gadgetsAt, widget, widgetsIn } from "./fixtures.ts";

/** A kind: the path of its objects, and an object of it. */
export interface Place {
  readonly kind: string;
  readonly path: string;
  readonly of: (name: string, metadata?: JsonObject) => JsonObject;
}
/** A built-in kind, and a custom one. */
export const mapsAndWidgets: readonly Place[] = [
  { kind: "ConfigMap", path: configMapsIn, of: (name, metadata) => configMap(name, {}, metadata) },
  { kind: "Widget", path: widgetsIn, of: (name, metadata) => widget(name, undefined, metadata) },
];
export const gadgets: Place = { kind: "Gadget", path: gadgetsAt, of: gadget };
