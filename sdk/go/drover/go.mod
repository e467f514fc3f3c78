module drover.dev/sdk/go/drover

go 1.21
