package main

import (
	"context"
	"log"

	"drover.dev/sdk/go/drover"
)

func main() {
	if err := drover.Serve(context.Background(), drover.Function{Compose: compose}); err != nil {
		log.Fatal(err)
	}
}
