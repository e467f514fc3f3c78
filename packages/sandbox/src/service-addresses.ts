// Addresses of Services, from loopback: what stands behind them here can only be processes of this machine.
import { invalid, required, when } from "./field-errors.ts";
import { objectAt, textAt } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { nameOf, withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { nameFaults } from "./names.ts";
import type { Behaviour } from "./resource-type.ts";
import { invalidObject } from "./status.ts";

/** How many addresses 127.1.0.0/16 has for Services. */
const room = 65_534;
const address = (n: number): string => `127.1.${n >> 8}.${n & 255}`;
const addressOf = (service: KubeObject): string => textAt(service, "spec", "clusterIP") ?? "";
const at = (service: KubeObject, clusterIP: string): KubeObject => {
  const addresses = {
    clusterIP,
    clusterIPs: [clusterIP],
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
  };
  const spec: JsonObject = { ...objectAt(service, "spec"), ...addresses };
  return withTop(service, "spec", spec);
};

/** The first address after the `turn`th that no other has; a turn that grows keeps one from coming back soon. */
function free(others: readonly KubeObject[], turn: number): string | undefined {
  const taken = new Set(others.map(addressOf));
  for (let n = 0; n < room; n += 1) {
    const one = address(((turn + n) % room) + 1);
    if (!taken.has(one)) return one;
  }
  return undefined;
}

/** The object of an address bears its Service's name, which is looked at only after that: one that none can have fails. */
function refuseUnnamed(service: KubeObject, one: string): void {
  const name = nameOf(service);
  if (name === "" && textAt(service, "metadata", "generateName")) return;
  const faults =
    name === "" ? [required("name")] : nameFaults("path", name).map((why) => invalid("name", name, why));
  const told = faults.map(({ body }) => `spec.parentRef.name: ${body}`);
  const all = told.length === 1 ? told.join() : `[${told.join(", ")}]`;
  const why = `failed to allocate IP: IPAddress.networking.k8s.io ${JSON.stringify(one)} is invalid: ${all}`;
  if (faults.length > 0)
    throw invalidObject({ group: "", kind: "Service" }, name, [invalid("spec.clusterIPs", [""], why)]);
}

/** A Service, unless it is ExternalName, that asks for no address gets one of 127.1.0.0/16, and keeps it. */
export const addressBehaviour: Behaviour = {
  allotted(service, others, turn, dryRun) {
    const type = textAt(service, "spec", "type") ?? "ClusterIP";
    if (type === "ExternalName" || addressOf(service) !== "") return service;
    const one = free(others, turn);
    if (one !== undefined && !dryRun) refuseUnnamed(service, one);
    return one === undefined ? service : at(service, one);
  },
  admitted: (service, old) =>
    old && addressOf(service) === "" && addressOf(old) !== "" ? at(service, addressOf(old)) : service,
  errors: (service, old) =>
    when(
      old !== undefined && addressOf(old) !== "" && addressOf(old) !== addressOf(service),
      invalid("spec.clusterIPs[0]", [addressOf(service)], "may not change once set"),
    ),
};
