import * as sdk from "@aws-sdk/client-s3";

/** All settings of a bucket, as the S3 API has them, without those that a new bucket has. */
export interface Portrait {
  readonly tags?: Readonly<Record<string, string>>;
  readonly accelerate?: sdk.BucketAccelerateStatus;
  readonly acl?: readonly sdk.Grant[];
  readonly analytics?: readonly sdk.AnalyticsConfiguration[];
  readonly cors?: readonly sdk.CORSRule[];
  readonly encryption?: readonly sdk.ServerSideEncryptionRule[];
  readonly intelligentTiering?: readonly sdk.IntelligentTieringConfiguration[];
  readonly inventory?: readonly sdk.InventoryConfiguration[];
  readonly lifecycle?: readonly sdk.LifecycleRule[];
  readonly logging?: sdk.LoggingEnabled;
  readonly metrics?: readonly sdk.MetricsConfiguration[];
  readonly notification?: sdk.NotificationConfiguration;
  readonly objectLock?: sdk.ObjectLockConfiguration;
  readonly ownershipControls?: readonly sdk.OwnershipControlsRule[];
  readonly policy?: unknown;
  readonly publicAccessBlock?: sdk.PublicAccessBlockConfiguration;
  readonly replication?: sdk.ReplicationConfiguration;
  readonly requestPayment?: sdk.Payer;
  readonly versioning?: sdk.BucketVersioningStatus;
  readonly website?: sdk.WebsiteConfiguration;
}

/** Without the fields that the test server returns, and AWS does not. */
const withoutEmpty = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== "" && part !== 0)) as Value;

/** How each setting is read by the bare SDK. An error is a setting that the bucket does not have. */
const readers: {
  readonly [Setting in keyof Portrait]-?: (s3: sdk.S3Client, Bucket: string) => Promise<Portrait[Setting]>;
} = {
  async tags(s3, Bucket) {
    const { TagSet = [] } = await s3.send(new sdk.GetBucketTaggingCommand({ Bucket }));
    const tags = TagSet.map(({ Key = "", Value = "" }) => [Key, Value] as const);
    const others = tags.filter(([key]) => !key.startsWith("drover.dev/"));
    return others.length === 0 ? undefined : Object.fromEntries(others);
  },
  accelerate: async (s3, Bucket) =>
    (await s3.send(new sdk.GetBucketAccelerateConfigurationCommand({ Bucket }))).Status,
  async acl(s3, Bucket) {
    const { Grants = [], Owner } = await s3.send(new sdk.GetBucketAclCommand({ Bucket }));
    const [{ Grantee, Permission } = {}, ...others] = Grants;
    const isDefault = Grantee?.ID === Owner?.ID && Permission === "FULL_CONTROL" && others.length === 0;
    return isDefault ? undefined : Grants;
  },
  analytics: async (s3, Bucket) =>
    (await s3.send(new sdk.ListBucketAnalyticsConfigurationsCommand({ Bucket }))).AnalyticsConfigurationList,
  cors: async (s3, Bucket) => (await s3.send(new sdk.GetBucketCorsCommand({ Bucket }))).CORSRules,
  encryption: async (s3, Bucket) =>
    (await s3.send(new sdk.GetBucketEncryptionCommand({ Bucket }))).ServerSideEncryptionConfiguration?.Rules,
  intelligentTiering: async (s3, Bucket) =>
    (await s3.send(new sdk.ListBucketIntelligentTieringConfigurationsCommand({ Bucket })))
      .IntelligentTieringConfigurationList,
  inventory: async (s3, Bucket) =>
    (await s3.send(new sdk.ListBucketInventoryConfigurationsCommand({ Bucket }))).InventoryConfigurationList,
  lifecycle: async (s3, Bucket) =>
    (await s3.send(new sdk.GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules,
  async logging(s3, Bucket) {
    const { LoggingEnabled } = await s3.send(new sdk.GetBucketLoggingCommand({ Bucket }));
    if (LoggingEnabled?.TargetGrants === undefined) return LoggingEnabled;
    // The test server returns empty fields of a grantee.
    const TargetGrants = LoggingEnabled.TargetGrants.map(({ Grantee, ...grant }) => ({
      ...grant,
      Grantee: Grantee && withoutEmpty(Grantee),
    }));
    return { ...LoggingEnabled, TargetGrants };
  },
  metrics: async (s3, Bucket) =>
    (await s3.send(new sdk.ListBucketMetricsConfigurationsCommand({ Bucket }))).MetricsConfigurationList,
  async notification(s3, Bucket) {
    const command = new sdk.GetBucketNotificationConfigurationCommand({ Bucket });
    const { $metadata: _, ...lists } = await s3.send(command);
    return Object.keys(lists).length === 0 ? undefined : lists;
  },
  async objectLock(s3, Bucket) {
    const answer = await s3.send(new sdk.GetObjectLockConfigurationCommand({ Bucket }));
    const { ObjectLockEnabled, Rule } = answer.ObjectLockConfiguration ?? {};
    if (Rule?.DefaultRetention === undefined) return answer.ObjectLockConfiguration;
    // The test server returns the other unit of time as 0.
    return { ObjectLockEnabled, Rule: { DefaultRetention: withoutEmpty(Rule.DefaultRetention) } };
  },
  ownershipControls: async (s3, Bucket) =>
    (await s3.send(new sdk.GetBucketOwnershipControlsCommand({ Bucket }))).OwnershipControls?.Rules,
  async policy(s3, Bucket) {
    const { Policy = "null" } = await s3.send(new sdk.GetBucketPolicyCommand({ Bucket }));
    return JSON.parse(Policy) as unknown;
  },
  publicAccessBlock: async (s3, Bucket) =>
    (await s3.send(new sdk.GetPublicAccessBlockCommand({ Bucket }))).PublicAccessBlockConfiguration,
  replication: async (s3, Bucket) =>
    (await s3.send(new sdk.GetBucketReplicationCommand({ Bucket }))).ReplicationConfiguration,
  async requestPayment(s3, Bucket) {
    const { Payer } = await s3.send(new sdk.GetBucketRequestPaymentCommand({ Bucket }));
    return Payer === "BucketOwner" ? undefined : Payer;
  },
  versioning: async (s3, Bucket) => (await s3.send(new sdk.GetBucketVersioningCommand({ Bucket }))).Status,
  async website(s3, Bucket) {
    const { $metadata: _, ...website } = await s3.send(new sdk.GetBucketWebsiteCommand({ Bucket }));
    return website;
  },
};

/** Reads all settings of a bucket by the bare SDK. */
export async function portraitOf(s3: sdk.S3Client, Bucket: string): Promise<Portrait> {
  await s3.send(new sdk.HeadBucketCommand({ Bucket }));
  const read = Object.entries(readers).map(async ([setting, reader]) => {
    const value = await reader(s3, Bucket).catch((error: unknown) => {
      if (error instanceof sdk.S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
      throw error;
    });
    return [setting, value] as const;
  });
  return Object.fromEntries((await Promise.all(read)).filter(([, value]) => value !== undefined));
}
