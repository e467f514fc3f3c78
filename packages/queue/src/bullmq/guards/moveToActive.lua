-- Drover sets no rate for jobs.
--- @include "bullmq/guards/arguments"

local asked = cmsgpack.unpack(ARGV[3])
refuseUnless(type(asked) == 'table' and asked.limiter == nil, 'a rate')
