// The formats of texts that an API server checks in custom resources: kube-openapi's strfmt, as far as
// apiextensions-apiserver supports them (pkg/apiserver/validation/formats.go). Any other format means nothing.
import { isIPv4, isIPv6 } from "node:net";
import { emailAddress } from "./email-address.ts";
import { requestUri } from "./request-uri.ts";

const matching =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text);
const bytes = (text: string): number => Buffer.byteLength(text);
const digits = (text: string): number[] => Array.from(text, Number);

const dateText = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const isDate = (text: string): boolean =>
  dateText.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);

const time = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/;
/** A date, "t", a time; what stands behind another "t" is not read. */
function isDateTime(text: string): boolean {
  const [date = "", clock] = text.toLowerCase().split("t");
  const [, hours = "", minutes = "", seconds = ""] = time.exec(clock ?? "") ?? [];
  return hours !== "" && isDate(date) && hours <= "23" && minutes <= "59" && seconds <= "59";
}

const int64 = 9223372036854775807n;
const fitsInt64 = (number: string): boolean => BigInt(number || "0") <= int64;
/** As Go's time.ParseDuration reads it. */
const goDuration = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
/** As Scala writes it: these words for units, or longer words that begin with the last of them. */
const amounts = /(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g;
const units = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;
function isDuration(text: string): boolean {
  const whole = text.match(/(?<![\d.])\d+/g) ?? [];
  if (goDuration.test(text) && whole.every(fitsInt64)) return true;
  const found = [...text.matchAll(amounts)];
  return (
    found.every(([, amount = ""]) => fitsInt64(amount)) && found.some(([, , unit = ""]) => units.test(unit))
  );
}

/** Addresses as Go read them before 1.17, when leading zeros meant nothing. */
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

/** 6, 8 or 20 bytes: by themselves, with colons or dashes between them, or with dots between each two. */
const macs = [
  /^[0-9a-f]{2}(:[0-9a-f]{2})*$/i,
  /^[0-9a-f]{2}(-[0-9a-f]{2})*$/i,
  /^[0-9a-f]{4}(\.[0-9a-f]{4})*$/i,
];
const isMac = (text: string): boolean =>
  [12, 16, 40].includes(text.replaceAll(/[:.-]/g, "").length) &&
  [/^[0-9a-f]+$/i, ...macs].some((pattern) => pattern.test(text));

const withoutDashes = (text: string): string => text.replaceAll(/[\s-]+/g, "");
function isIsbn10(text: string): boolean {
  const isbn = withoutDashes(text);
  const sum = digits(isbn.slice(0, 9)).reduce((all, digit, i) => all + (i + 1) * digit, 0);
  const check = isbn.endsWith("X") ? 10 : Number(isbn[9]);
  return /^(?:\d{9}X|\d{10})$/.test(isbn) && (sum + 10 * check) % 11 === 0;
}
function isIsbn13(text: string): boolean {
  const isbn = withoutDashes(text);
  const sum = digits(isbn.slice(0, 12)).reduce((all, digit, i) => all + (i % 2 === 0 ? 1 : 3) * digit, 0);
  return /^\d{13}$/.test(isbn) && Number(isbn[12]) === (10 - (sum % 10)) % 10;
}

const cards =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
function isCreditCard(text: string): boolean {
  const number = text.replaceAll(/[^0-9]+/g, "");
  const sum = digits(number)
    .reverse()
    .reduce((all, digit, i) => all + (i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2), 0);
  return cards.test(number) && sum % 10 === 0;
}

const uuid = (third: string, fourth: string): ((text: string) => boolean) =>
  matching(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}[0-9a-f]{3}-?[0-9a-f]{12}$`, "i"));
const shade = String.raw`\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`;
const shortName = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const named = (pattern: string, most: number): ((text: string) => boolean) => {
  const whole = new RegExp(`^${pattern}$`);
  return (text) => text.length <= most && whole.test(text);
};

/** By their names without dashes. */
const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["bsonobjectid", matching(/^[0-9a-f]{24}$/i)],
  ["uri", requestUri],
  ["email", emailAddress],
  ["hostname", isHostname],
  ["ipv4", (text) => isSloppyIPv4(text) || (text.includes(".") && isSloppyIPv6(text))],
  ["ipv6", (text) => !text.includes("%") && isIPv6(text)],
  ["cidr", isCidr],
  ["mac", isMac],
  ["uuid", uuid("[0-9a-f]{4}", "[0-9a-f]")],
  ["uuid3", uuid("3[0-9a-f]{3}", "[0-9a-f]")],
  ["uuid4", uuid("4[0-9a-f]{3}", "[89ab]")],
  ["uuid5", uuid("5[0-9a-f]{3}", "[89ab]")],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", matching(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ["rgbcolor", matching(new RegExp(`^rgb\\(${shade},${shade},${shade}\\)$`))],
  ["byte", matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ["password", () => true],
  ["date", isDate],
  ["duration", isDuration],
  ["datetime", isDateTime],
  ["k8sshortname", named(shortName, 63)],
  ["k8slongname", named(`${shortName}(\\.${shortName})*`, 253)],
]);

const ofNumbers: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};
const unified = (format: string): string => format.replaceAll("-", "");

/** Whether the server knows this format for values of this type ("" where the schema names none, or several). */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === "" || type === "string") return formats.has(unified(format));
  return ofNumbers[type]?.includes(format) ?? false;
}

/** Whether a text has a format that the server knows. */
export const hasFormat = (text: string, format: string): boolean =>
  formats.get(unified(format))?.(text) ?? true;
