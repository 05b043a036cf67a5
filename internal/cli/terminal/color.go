package terminal

// Color is how a text stands out.
type Color string

// The colours, as parameters of the escape sequence that selects them. They are
// of the eight that every terminal has, in its own shades.
const (
	Strong Color = "1"
	Faint  Color = "2"
	Bad    Color = "1;31"
	Good   Color = "1;32"
	Red    Color = "31"
	Yellow Color = "33"
	Cyan   Color = "36"
)

// Painter puts colours on text, or leaves it as it is when it is false.
type Painter bool

// Text returns a text, which must be Safe, in a colour.
func (p Painter) Text(c Color, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// The words for when to use colours.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// Colors says whether to use colours on w. With ColorAuto it is for a terminal
// that can show them, unless NO_COLOR (https://no-color.org) is set; and also
// elsewhere when CLICOLOR_FORCE (https://bixense.com/clicolors) is set.
func Colors(w any, when string, lookup func(name string) string) bool {
	switch {
	case when == ColorAlways:
		return Prepare(w)
	case when == ColorNever, lookup("NO_COLOR") != "":
		return false
	case lookup("CLICOLOR_FORCE") != "" && lookup("CLICOLOR_FORCE") != "0":
		return Prepare(w)
	case lookup("TERM") == "dumb", lookup("CLICOLOR") == "0":
		return false
	}
	return Is(w) && Prepare(w)
}
