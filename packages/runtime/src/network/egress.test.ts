import { expect, it } from "vitest";
import { egressPeers, parseDestinations, parseNetworks } from "./egress.ts";

const peers = (egress: string, except: string) =>
  egressPeers({ ...parseDestinations(egress), except: parseNetworks(except) });

it("excepts of each network what lies in it, and leaves open what is named within", () => {
  expect(peers("0.0.0.0/0, ::/0 169.254.170.23/32", "169.254.0.0/16 fe80::/10")).toEqual([
    { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.0.0/16"] } },
    { ipBlock: { cidr: "::/0", except: ["fe80::/10"] } },
    { ipBlock: { cidr: "169.254.170.23/32" } },
  ]);
});

it("excepts no network of itself, which the API server refuses", () => {
  expect(peers("10.0.0.0/8", "10.0.0.0/8 10.1.0.0/16 0.0.0.0/0")).toEqual([
    { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
  ]);
});

it("opens nothing with none", () => expect(peers("none", "none")).toEqual([]));

it.each([
  "10.0.0.0",
  "10/8",
  "10.0.0.0/33",
  "10.0.0.0/08",
  "::/129",
  "10.0.0.0/8/8",
  "fe80::1%lo/128",
  "pod",
  "::ffff:1.2.3.4/128",
])("refuses %j, with what to write", (word) =>
  expect(() => parseDestinations(word)).toThrow(/is not a network. Write 10\.0\.0\.0\/8/),
);
it.each(["10.0.0.1/8", "10.128.0.0/8", "fd00::1/64", "::1/0"])("refuses %j, as the API server does", (word) =>
  expect(() => parseNetworks(word)).toThrow(/does not begin at/),
);
it.each(["10.128.0.0/9", "fd00:ec2::/32", "1::2:0/112", "::/0", "1:2:3:4:5:6:7:8/128"])("takes %j", (word) =>
  expect(parseNetworks(word)).toMatchObject([{ cidr: word }]),
);
