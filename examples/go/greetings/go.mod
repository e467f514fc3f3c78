module example.com/greetings

go 1.21

require drover.dev/sdk/go/drover v0.0.0

replace drover.dev/sdk/go/drover => ../../../sdk/go/drover
