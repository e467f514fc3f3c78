import { pseudoRandom, type PseudoRandom } from "@drover/random";
import { describe, expect, it } from "vitest";
import {
  type Endpoint,
  endpointKey,
  type EndpointSlice,
  endpointSliceSchema,
  labelsOf,
} from "../endpoint-slice.ts";
import { serviceSchema } from "../service.ts";
import { packEndpoints } from "./pack-endpoints.ts";

const service = serviceSchema.parse({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default", uid: "web", resourceVersion: "1", labels: { team: "a" } },
  spec: {},
});
const endpoint = (number: number, ready = true): Endpoint => ({
  addresses: [`10.0.0.${number}`],
  conditions: { ready, serving: ready, terminating: false },
  hostname: undefined,
  targetRef: { kind: "Pod", namespace: "default", name: `p${number}`, uid: `p${number}` },
  nodeName: "node-a",
  zone: undefined,
  hints: undefined,
});
const slice = (name: string, endpoints: readonly Endpoint[], labels = labelsOf(service)): EndpointSlice =>
  endpointSliceSchema.parse({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, uid: name, resourceVersion: "1", labels },
    addressType: "IPv4",
    endpoints,
    ports: [],
  });
const pack = (wanted: readonly Endpoint[], slices: readonly EndpointSlice[], maxEndpointsPerSlice = 3) =>
  packEndpoints({ ports: [], endpoints: new Map(wanted.map((one) => [endpointKey(one), one])) }, slices, {
    service,
    addressType: "IPv4",
    maxEndpointsPerSlice,
  });
const numbers = ({ endpoints }: { readonly endpoints: readonly Endpoint[] }): string =>
  endpoints.map(({ targetRef }) => targetRef?.name?.slice(1)).join(" ");
const written = (plan: ReturnType<typeof pack>) => ({
  create: plan.create.map(numbers),
  update: plan.update.map((draft) => `${draft.current?.metadata.name}: ${numbers(draft)}`),
  remove: plan.remove.map(({ metadata }) => metadata.name),
  keep: plan.keep.map(({ metadata }) => metadata.name),
});
const ready = (...all: readonly number[]): readonly Endpoint[] => all.map((number) => endpoint(number));

describe("endpoints are packed", () => {
  it("into new slices, full ones first", () => {
    const { create, ...others } = written(pack(ready(1, 2, 3, 4), []));
    expect([create, others]).toEqual([["1 2 3", "4"], { update: [], remove: [], keep: [] }]);
  });

  it("into the slice that changes anyway, before others have to", () => {
    const slices = [slice("a", ready(1, 2)), slice("b", ready(3, 4))];
    expect(written(pack([endpoint(1), endpoint(2), endpoint(3, false), endpoint(5)], slices))).toEqual({
      create: [],
      update: ["b: 3 5"],
      remove: [],
      keep: ["a"],
    });
  });

  it("into the unchanged slice that they fill best, if all fit there", () => {
    const slices = [slice("a", ready(1)), slice("b", ready(2, 3)), slice("c", ready(4, 5, 6))];
    expect(written(pack(ready(1, 2, 3, 4, 5, 6, 7), slices))).toMatchObject({
      update: ["b: 2 3 7"],
      create: [],
    });
    expect(written(pack(ready(1, 2, 3, 4, 5, 6, 7, 8), slices))).toMatchObject({
      update: ["a: 1 7 8"],
      create: [],
    });
    expect(written(pack(ready(1, 2, 3, 4, 5, 6, 7, 8, 9), slices))).toMatchObject({
      update: [],
      create: ["7 8 9"],
    });
  });

  it("so that an empty slice goes, and one with other labels gets those of the Service", () => {
    const slices = [slice("a", ready(1)), slice("b", ready(2), { team: "b" })];
    expect(written(pack(ready(2), slices))).toEqual({
      create: [],
      update: ["b: 2"],
      remove: ["a"],
      keep: [],
    });
    expect(pack(ready(2), slices).update[0]?.labels).toEqual(labelsOf(service));
  });

  it("as often as they are in slices, but once", () => {
    expect(written(pack(ready(1), [slice("a", ready(1)), slice("b", ready(1))]))).toMatchObject({
      remove: ["b"],
      keep: ["a"],
    });
  });
});

/** Slices as earlier runs may have left them. */
function someSlices(random: PseudoRandom): readonly EndpointSlice[] {
  const all = Array.from({ length: 30 }, (_, i) => endpoint(i, random.chance(0.5)));
  return Array.from({ length: random.below(6) }, (_, i) => slice(`s${i}`, random.some(all, random.below(4))));
}

it("has each endpoint once, leaves it in its slice, and writes nothing when there is nothing to change", () => {
  for (let seed = 0; seed < 400; seed += 1) {
    const random = pseudoRandom(seed);
    const slices = someSlices(random);
    const wanted = random.some(ready(...Array.from({ length: 30 }, (_, i) => i)), random.below(25));
    const { create, update, keep, remove } = pack(wanted, slices);
    const after = [...create, ...update, ...keep];
    expect(after.flatMap(({ endpoints }) => endpoints.map(endpointKey)).sort()).toEqual(
      wanted.map(endpointKey).sort(),
    );
    for (const { endpoints } of after) expect(endpoints.length).toBeLessThanOrEqual(3);
    expect(update.length + keep.length + remove.length).toBe(slices.length);
    const places = (
      some: readonly { endpoints: readonly Endpoint[]; current?: EndpointSlice | undefined }[],
    ) =>
      new Map(
        some.flatMap((one) => one.endpoints.map((each) => [endpointKey(each), one.current?.metadata.name])),
      );
    const now = new Map([...places(update), ...places(keep.map((one) => ({ ...one, current: one })))]);
    const seen = new Set<string>();
    for (const { metadata, endpoints } of slices)
      for (const key of endpoints.map(endpointKey)) {
        if (!seen.has(key) && wanted.some((one) => endpointKey(one) === key))
          expect(now.get(key)).toBe(metadata.name);
        seen.add(key);
      }
    const again = pack(
      wanted,
      after.map((one, i) => slice(`t${i}`, one.endpoints)),
    );
    expect([again.create, again.update, again.remove].flat()).toEqual([]);
  }
});
