/** How resourceVersions of one kind compare. */
export const versions = `
-- Decimal versions compare by length, then as text; others (aggregated APIs) only say that they differ.
local function isDecimal(version) return string.match(version, '^%d+$') end
local function newer(a, b)
  if not b then return true end
  if not (isDecimal(a) and isDecimal(b)) then return a ~= b end
  if #a ~= #b then return #a > #b end
  return a > b
end
`;
