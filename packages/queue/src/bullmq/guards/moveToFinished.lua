-- Drover keeps no metrics and sets no rate. It keeps `maxFailedJobs` failed jobs, and no other jobs.
--- @include "bullmq/guards/arguments"

local asked = cmsgpack.unpack(ARGV[8])
refuseUnless(type(asked) == 'table' and type(asked.keepJobs) == 'table', 'options')
refuseUnless(asked.maxMetricsSize == nil or asked.maxMetricsSize == '', 'metrics')
refuseUnless(asked.limiter == nil, 'a rate')
local kept = asked.keepJobs
refuseUnless((kept.count == 0 or kept.count == maxFailedJobs) and kept.age == nil, 'as many kept jobs')
-- Drover never keeps that many: another client has added them.
if redis.call('ZCARD', KEYS[11]) > 2 * maxFailedJobs then
  redis.call('ZREMRANGEBYRANK', KEYS[11], 0, -maxFailedJobs - 1)
end
