import { markdownTable } from "../harness/markdown-table.ts";
import { type PeerField, peerFields, type Product, peers, products } from "./peers.ts";
import { elsewhere, reasonsFor } from "./reasons.ts";
import { type Row, sections } from "./rows.ts";
import { droverFieldsOf } from "./same-fields.ts";

const titles: Readonly<Record<Product, string>> = {
  ack: "ACK",
  crossplane: "Crossplane",
  terraform: "Terraform",
};

const isGap = (field: PeerField): boolean =>
  reasonsFor(field).some(({ reason }) => reason.startsWith("Not yet"));

function summaryRow(product: Product): readonly string[] {
  const { repository, commit, version, from } = peers[product];
  const fields = peerFields.filter((field) => field.product === product);
  const lacking = fields.filter((field) => droverFieldsOf(field).length === 0);
  const at = version ?? commit?.slice(0, 12) ?? "";
  return [
    `[${titles[product]}](https://${repository}), ${at}: ${from}`,
    ...[fields.length, fields.length - lacking.length, lacking.length, lacking.filter(isGap).length].map(
      String,
    ),
  ];
}

/** Paths of one kind as one text: the parts of a reference have their common beginning once. */
function joined(paths: readonly string[]): string {
  const [beginning] = /^.*?(Ref|Selector)\./.exec(paths[0] ?? "") ?? [];
  if (paths.length === 1 || beginning === undefined || !paths.every((path) => path.startsWith(beginning)))
    return paths.map((path) => `\`${path}\``).join(", ");
  return `\`${beginning}{${paths.map((path) => path.slice(beginning.length)).join(", ")}}\``;
}

/** The fields of one product in a row. A field that many kinds have is listed once, with their number. */
function cell(fields: readonly PeerField[]): string {
  const ofKinds = [...Map.groupBy(fields, ({ kind }) => kind)].map(([kind, of]) => ({
    kind: kind.replace("aws_s3_", ""),
    text: joined(of.map(({ path }) => path)),
  }));
  const texts = [...Map.groupBy(ofKinds, ({ text }) => text)].map(([text, of]) => {
    const isMany = of.length > 2;
    const kinds = isMany ? `${of.length} kinds` : of.map(({ kind }) => kind).join(", ");
    return fields[0]?.product === "ack" ? text : `${kinds}: ${text}`;
  });
  return texts.join("<br>");
}

const cells = ({ drover, of }: Row): readonly string[] => [
  "field" in drover ? `\`${drover.field}\`` : drover.reason,
  ...products.map((product) => {
    const other = "field" in drover ? elsewhere[drover.field]?.[product] : undefined;
    return cell(of[product]) || (other === undefined ? "" : `_${other}_`);
  }),
];

const introduction = `# Fields of buckets

The fields of Drover's Bucket beside those of ACK, Crossplane and Terraform, for a move from one of them. Every field of their
schemas is in a row, with the field of Drover's \`spec\` that does the same, or the reason why there is none. Values are not
compared. Written from the schemas: see [verification/bucket-fields](../../verification/bucket-fields/bucket-fields.test.ts).`;

const notation = `- \`[]\` follows a list. ACK's fields are those of its kind Bucket. The names of Terraform's resources are without \`aws_s3_\`.
- A cell in italics names what does the same outside the schema.
- Most of Crossplane's fields that Drover lacks are parts of references (\`Ref\`, \`Selector\`).
- Kinds for objects and directory buckets are left out: Drover manages neither.`;

/** The text of docs/reference/bucket-fields.md. */
export const bucketFieldsPage = (): string =>
  [
    introduction,
    markdownTable(
      ["schema", "fields", "in Drover", "with a reason", "of these, not yet"],
      products.map(summaryRow),
    ),
    notation,
    ...sections.flatMap(({ title, rows }) => [
      `## ${title}`,
      markdownTable(["Drover", ...products.map((product) => titles[product])], rows.map(cells)),
    ]),
  ].join("\n\n") + "\n";
