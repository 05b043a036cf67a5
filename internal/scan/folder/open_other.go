//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package folder

const (
	directoryFlags = 0
	fileFlags      = 0
)
