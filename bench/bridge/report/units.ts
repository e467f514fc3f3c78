import { figure } from "../../report/markdown.ts";

export const seconds = (ms: number | undefined): string => (ms === undefined ? "-" : figure(ms / 1_000));
export const mib = (bytes: number | undefined): string =>
  bytes === undefined || bytes === 0 ? "-" : figure(bytes / 1024 ** 2);
export const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
/** On the wire: millions of bytes. */
export const megabytes = (bytes: number): string => figure(bytes / 1e6);
export const count = (value: number | undefined): string =>
  value === undefined ? "-" : value.toLocaleString("en");
