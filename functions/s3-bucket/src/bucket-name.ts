/**
 * Rules for the names of general purpose buckets, from
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
 */
export const bucketNamePattern = /^[a-z0-9][a-z0-9.-]*[a-z0-9]$/;
export const bucketNameLength = { least: 3, most: 63 };

const reservedPrefixes = ["xn--", "sthree-", "amzn-s3-demo-"];
const reservedSuffixes = ["-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"];

/** The reason why S3 would refuse a name, as a sentence. Undefined for a valid name. */
export function bucketNameProblem(name: string): string | undefined {
  const { least, most } = bucketNameLength;
  if (name.length < least || name.length > most) {
    return `A bucket name has ${least} to ${most} characters; this one has ${name.length}.`;
  }
  if (!bucketNamePattern.test(name)) {
    return "A bucket name has lower-case letters, digits, dots and hyphens, and begins and ends with a letter or digit.";
  }
  if (name.includes("..")) return "A bucket name never has two dots in a row.";
  if (/^\d+\.\d+\.\d+\.\d+$/.test(name)) return "A bucket name must not look like an IP address.";
  const prefix = reservedPrefixes.find((reserved) => name.startsWith(reserved));
  if (prefix !== undefined) return `S3 keeps names that begin with "${prefix}" for itself.`;
  const suffix = reservedSuffixes.find((reserved) => name.endsWith(reserved));
  return suffix === undefined ? undefined : `S3 keeps names that end with "${suffix}" for itself.`;
}

/** The name of an object's bucket: the one in its spec, or `<namespace>-<name>`. S3 may refuse it. */
export function bucketNameOf(
  spec: { readonly bucketName?: string | undefined },
  metadata: { readonly namespace?: string; readonly name: string },
): string {
  return (
    spec.bucketName ?? [metadata.namespace, metadata.name].filter((part) => part !== undefined).join("-")
  );
}
