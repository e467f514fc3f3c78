module examples.drover.dev/greetings

go 1.21
