-- A job of Drover has no parent, no repetition, and no deduplication but an id.
--- @include "bullmq/guards/arguments"

local asked, wanted = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[3])
refuseUnless(type(asked) == 'table' and not (asked[5] or asked[6] or asked[7] or asked[8]), 'a parent or a repetition')
refuseUnless(type(wanted) == 'table', 'options')
if type(wanted.de) == 'table' then
  for option in pairs(wanted.de) do
    refuseUnless(option == 'id', 'a deduplication')
  end
end
