// Reads documents as Kubernetes does and writes them again: each line of standard input is a JSON text; the line that answers
// it is what `unstructured` makes of it, or "refused".
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	kubejson "sigs.k8s.io/json"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for lines.Scan() {
		var value any
		if err := kubejson.UnmarshalCaseSensitivePreserveInts(lines.Bytes(), &value); err != nil {
			fmt.Fprintln(out, "refused")
		} else if err := encoder.Encode(value); err != nil {
			panic(err)
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}
