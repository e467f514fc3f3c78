/** The ways in which Widgets are asked for: whole as JSON, and their metadata alone as JSON or protobuf. */
export const formats = ["whole", "metadata", "metadata-protobuf"] as const;
export type Format = (typeof formats)[number];

const as = (kind: string): string => `as=${kind};g=meta.k8s.io;v=v1`;

/** What the API server is asked with. */
export const accept: Readonly<Record<Format, { readonly list: string; readonly watch: string }>> = {
  whole: { list: "application/json", watch: "application/json" },
  metadata: {
    list: `application/json;${as("PartialObjectMetadataList")}`,
    watch: `application/json;${as("PartialObjectMetadata")}`,
  },
  "metadata-protobuf": {
    list: `application/vnd.kubernetes.protobuf;${as("PartialObjectMetadataList")}`,
    watch: `application/vnd.kubernetes.protobuf;${as("PartialObjectMetadata")}`,
  },
};

/** What a client asks for, by what it would like best. */
export function formatAsked(header: string | undefined): Format {
  const [best = ""] = (header ?? "").split(",");
  if (!best.includes("PartialObjectMetadata")) return "whole";
  return best.includes("protobuf") ? "metadata-protobuf" : "metadata";
}
