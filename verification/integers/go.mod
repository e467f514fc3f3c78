module drover.dev/verification/integers

go 1.26.0

require sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730
