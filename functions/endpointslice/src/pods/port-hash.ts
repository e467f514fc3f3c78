import type { EndpointPort } from "../endpoint-slice.ts";

const offset = 0x6c62272e07bb014262b821756295c58dn;
const prime = 0x1000000000000000000013bn;
const mask = (1n << 128n) - 1n;

/** FNV-1a with 128 bits, as hexadecimal digits. */
function fnv128(text: string): string {
  let hash = offset;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * prime) & mask;
  return hash.toString(16).padStart(32, "0");
}

/** The hash of a port in kube-controller-manager: of the text that its `dump.ForHash` writes. */
export const portHash = ({ name, protocol, port, appProtocol = "<nil>" }: EndpointPort): string =>
  fnv128(
    `(v1.EndpointPort){Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} ` +
      `Port:(*int32)${port ?? "<nil>"} AppProtocol:(*string)${appProtocol}}`,
  );
