module drover.dev/verification/patterns

go 1.26.0
