import { expect, it } from "vitest";
import { portHash } from "./port-hash.ts";

// Computed by k8s.io/utils/dump and hash/fnv in Go.
it.each([
  [{ name: "", port: 80, protocol: "TCP" }, "73b52e075e78e70787d5e6ffd2212eef"],
  [
    { name: "http", port: 8080, protocol: "TCP", appProtocol: "kubernetes.io/h2c" },
    "25d70d42d7b23d03d0e815427c32beb8",
  ],
  [{ name: "dns", port: 53, protocol: "UDP" }, "1caf216365b57b5d2659d4ba9f662580"],
  [{ name: "https", port: 443, protocol: "TCP" }, "50852f610b5fbbf5129025d35e502185"],
])("the hash of %j is that of Go", (port, hash) => {
  expect(portHash({ appProtocol: undefined, ...port })).toBe(hash);
});
