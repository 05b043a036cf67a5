package scan

import "bytes"

// binaryProbe is how many bytes at the start of a file must be free of NUL for
// it to be text, as git has it.
const binaryProbe = 8000

// IsBinary says whether a file with this content is skipped as SkipBinary.
func IsBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryProbe)], 0) >= 0
}
