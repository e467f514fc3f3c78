import { droverFields } from "./drover-fields.ts";
import { type PeerField, peerFields, type Product } from "./peers.ts";
import { reasonsFor, withoutReference } from "./reasons.ts";
import { droverFieldsOf, normalized, pathsOf } from "./same-fields.ts";

/** One field of Drover, or one that it lacks, and the fields of other products that correspond to it. */
export interface Row {
  readonly path: string;
  /** The field of Drover, or why there is none. */
  readonly drover: { readonly field: string } | { readonly reason: string };
  readonly of: Readonly<Record<Product, readonly PeerField[]>>;
}

const ofProducts = (fields: readonly PeerField[]): Row["of"] => {
  const of = (product: Product) => fields.filter((field) => field.product === product);
  return { ack: of("ack"), crossplane: of("crossplane"), terraform: of("terraform") };
};

const shared: readonly Row[] = droverFields.map((field) => ({
  path: normalized(field),
  drover: { field },
  of: ofProducts(peerFields.filter((each) => droverFieldsOf(each).includes(field))),
}));

const lacking = peerFields.filter((field) => droverFieldsOf(field).length === 0);
const lacked: readonly Row[] = [
  ...Map.groupBy(lacking, (field) => withoutReference(pathsOf(field).join())),
].map(([path, fields]) => ({
  path,
  drover: { reason: [...new Set(fields.flatMap(reasonsFor))].map(({ reason }) => reason).join(" ") },
  of: ofProducts(fields),
}));

/** A part of the page: the fields of one setting, or those that are alone in theirs. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

const settingOf = ({ path }: Row): string => path.split(".")[0] ?? "";
const settings = [...new Set(droverFields.map((field) => field.replace(/(\[\])?(\..*)?$/, "")))].map(
  (title) => ({
    title,
    rows: [...shared, ...lacked].filter((row) => settingOf(row) === normalized(title)),
  }),
);

export const sections: readonly Section[] = [
  {
    title: "Single fields",
    rows: settings.flatMap(({ rows }) => (rows.length === 1 ? rows : [])),
  },
  ...settings.filter(({ rows }) => rows.length > 1),
  {
    title: "Not in Drover",
    rows: lacked.filter((row) => settings.every(({ title }) => normalized(title) !== settingOf(row))),
  },
];
