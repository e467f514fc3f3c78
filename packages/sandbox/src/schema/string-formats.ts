// The formats of texts that an API server checks in custom resources: those of strfmt (kube-openapi) that
// apiextensions-apiserver supports (pkg/apiserver/validation/formats.go). Any other format means nothing.
import { isIPv4, isIPv6 } from "node:net";
import { requestUri } from "./request-uri.ts";

const matching =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text);
const bytes = (text: string): number => Buffer.byteLength(text);

const dateText = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const isDate = (text: string): boolean =>
  dateText.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);

const time = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/;
/** True if a text is a date, "t", and a time. The rest after another "t" is not read. */
function isDateTime(text: string): boolean {
  const [date = "", clock] = text.toLowerCase().split("t");
  const [, hours = "", minutes = "", seconds = ""] = time.exec(clock ?? "") ?? [];
  return hours !== "" && isDate(date) && hours <= "23" && minutes <= "59" && seconds <= "59";
}

/** The address without leading zeros, which Go ignored before 1.17. */
const plain = (address: string): string => address.replaceAll(/(^|[:.])0+(?=[0-9a-f])/gi, "$1");
const isSloppyIPv4 = (text: string): boolean => isIPv4(plain(text));
const isSloppyIPv6 = (text: string): boolean => !text.includes("%") && isIPv6(plain(text));
function isCidr(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/]*)\/(\d+)$/.exec(text) ?? [];
  return (isSloppyIPv4(address) && Number(bits) <= 32) || (isSloppyIPv6(address) && Number(bits) <= 128);
}

const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const isHostname = (text: string): boolean =>
  bytes(text) <= 255 && text.split(".").every((part) => bytes(part) <= 63) && hostname.test(text);

/** The formats that the sandbox checks, by their names without dashes. */
const checked: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["uri", requestUri],
  ["hostname", isHostname],
  ["ipv4", (text) => isSloppyIPv4(text) || (text.includes(".") && isSloppyIPv6(text))],
  ["ipv6", (text) => !text.includes("%") && isIPv6(text)],
  ["cidr", isCidr],
  ["uuid", matching(/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i)],
  ["byte", matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ["date", isDate],
  ["datetime", isDateTime],
]);
/** Formats that a real server checks, and that the sandbox only knows by name. */
export const uncheckedFormats: readonly string[] = [
  ...["email", "mac", "uuid3", "uuid4", "uuid5", "bsonobjectid", "isbn", "isbn10", "isbn13", "creditcard"],
  ...["ssn", "hexcolor", "rgbcolor", "duration", "k8sshortname", "k8slongname", "password"],
];
const known = new Set([...checked.keys(), ...uncheckedFormats]);

const ofNumbers: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};
const unified = (format: string): string => format.replaceAll("-", "");

/** True if a real server knows this format for values of this type; "" stands for no type, and for several. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === "" || type === "string") return known.has(unified(format));
  return ofNumbers[type]?.includes(format) ?? false;
}

/** True if a text has a format, or the format is not checked. */
export const hasFormat = (text: string, format: string): boolean =>
  checked.get(unified(format))?.(text) ?? true;
