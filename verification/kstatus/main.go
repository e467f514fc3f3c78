// Judges objects as Helm's --wait and Flux do: each line of standard input is an object as JSON; the line that
// answers it is its status, by kstatus, and why.
package main

import (
	"bufio"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(lines.Bytes()); err != nil {
			panic(err)
		}
		result, err := status.Compute(&object)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\t%s\n", result.Status, result.Message)
	}
}
