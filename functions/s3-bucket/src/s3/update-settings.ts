import { GetBucketVersioningCommand, PutBucketVersioningCommand } from "@aws-sdk/client-s3";
import type { BucketSettings, SettingName, SettingReport } from "../bucket-store.ts";
import type { BucketCall } from "./bucket-call.ts";
import { responseOrRefusal, errorAfter, S3Refusal } from "./s3-errors.ts";

/** How one setting is read and written. Both functions return the refusal, if there was one. */
interface Setting<Value> {
  readonly read: (call: BucketCall) => Promise<Value | S3Refusal | undefined>;
  readonly write: (call: BucketCall, value: Value) => Promise<S3Refusal | undefined>;
}

type Settings = { readonly [Name in SettingName]-?: Setting<NonNullable<BucketSettings[Name]>> };

/** Every setting that a spec may ask for. A new field of the spec is a new entry here. */
const settings: Settings = {
  versioning: {
    async read({ client, bucket, http }) {
      const answer = await responseOrRefusal(client.send(new GetBucketVersioningCommand(bucket), http));
      return answer instanceof S3Refusal ? answer : answer.Status;
    },
    async write({ client, bucket, http }, Status) {
      const command = new PutBucketVersioningCommand({ ...bucket, VersioningConfiguration: { Status } });
      const answer = await responseOrRefusal(client.send(command, http));
      return answer instanceof S3Refusal ? answer : undefined;
    },
  },
};

/** Applies the settings of the spec, one after the other. Settings that are left out are not even read. */
export async function updateSettings(call: BucketCall, asked: BucketSettings): Promise<SettingReport[]> {
  const reports: SettingReport[] = [];
  for (const name of settingNames) reports.push(...(await updateSetting(call, name, asked[name])));
  return reports;
}

const settingNames: readonly SettingName[] = ["versioning"];

async function updateSetting<Name extends SettingName>(
  call: BucketCall,
  setting: Name,
  asked: BucketSettings[Name],
): Promise<SettingReport[]> {
  if (asked === undefined) return [];
  const { read, write } = settings[setting];
  const current = await read(call);
  if (current instanceof S3Refusal) return [{ setting, outcome: unsupported(current, `read ${setting}`) }];
  if (current === asked) return [{ setting, outcome: "unchanged" }];
  const refusal = await write(call, asked);
  return [{ setting, outcome: refusal === undefined ? "changed" : unsupported(refusal, `set ${setting}`) }];
}

function unsupported(refusal: S3Refusal, doing: string): "not-supported" {
  if (refusal.notSupported) return "not-supported";
  throw errorAfter(refusal, `${doing} of the bucket`);
}
