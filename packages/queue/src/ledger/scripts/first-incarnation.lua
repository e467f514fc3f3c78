-- Returns the first incarnation: the one in which this ledger began empty. It stays when a server takes over
-- existing data.

control.origin = control.origin or control.era
return control.origin
