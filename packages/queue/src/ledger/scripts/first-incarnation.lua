-- Returns the first incarnation: the one in which this ledger began empty. It stays when a server takes over
-- existing data.

control.firstIncarnation = control.firstIncarnation or control.incarnation
return control.firstIncarnation
