import { expect, it } from "vitest";
import { functionPolicy } from "./function-policy.ts";

it.each([
  ["redis://10.0.0.1:7000", "10.0.0.1/32", 7_000],
  ["redis://10.0.0.1", "10.0.0.1/32", 6_379],
  ["rediss://user:word@[fd00::1]:7000/2", "fd00::1/128", 7_000],
])("a function reaches the Redis of %s at %s, port %d", (redisUrl, cidr, port) => {
  const { egress } = functionPolicy({
    ...{ name: "a", spec: {} as never, redisUrl, gateway: { namespace: "drover", name: "gateway" } },
    network: { namespace: "drover", monitoring: [], egress: { pods: false, networks: [], except: [] } },
  });
  expect(egress).toContainEqual({ to: [{ ipBlock: { cidr } }], ports: [{ port, protocol: "TCP" }] });
});
