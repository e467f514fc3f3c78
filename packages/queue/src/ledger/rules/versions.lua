-- Compares resourceVersions of one kind.

-- Decimal versions compare by length, then as text. For others (aggregated APIs) any different version counts as newer.
local function isDecimal(version) return string.match(version, '^%d+$') end
local function newer(a, b)
  if not b then return true end
  if not (isDecimal(a) and isDecimal(b)) then return a ~= b end
  if #a ~= #b then return #a > #b end
  return a > b
end
