package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// Prepare has a console understand escape sequences; it reports whether they
// can be written to w.
func Prepare(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return true
	}
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) != nil {
		return true // no console
	}
	return windows.SetConsoleMode(windows.Handle(f.Fd()), mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
