package web

import "github.com/a-h/templ"

// icons are the paths of the icons, drawn in a square of 16.
var icons = map[string]string{
	"reviews": `<path d="M5 3v10M11 13V8a2 2 0 0 0-2-2H7m0 0 2-2M7 6l2 2"/>` +
		`<circle cx="5" cy="2.5" r="1.5"/>` +
		`<circle cx="5" cy="13.5" r="1.5"/>` +
		`<circle cx="11" cy="13.5" r="1.5"/>`,
	"findings": `<path d="M8 1.5 14.5 13h-13z"/>` +
		`<path d="M8 6v3.2M8 11v.2"/>`,
	"repos": `<path d="M3 2h9.5v12H4.5A1.5 1.5 0 0 1 3 12.5zM3 12.2c0-.8.7-1.4 1.5-1.4h8"/>`,
	"rules": `<path d="M2.5 4h11M2.5 8h7M2.5 12h4"/>` +
		`<path d="m10.5 11.5 1.3 1.3 2.2-2.6"/>`,
	"trends": `<path d="M2 13.5h12M3.5 10l3-3.5 2.5 2L13 4"/>`,
	"audit": `<circle cx="8" cy="8" r="6"/>` +
		`<path d="M8 4.5V8l2.4 1.6"/>`,
	"keys": `<circle cx="5" cy="8" r="3"/>` +
		`<path d="M8 8h6.5v2.5M11.5 8v2"/>`,
	"members": `<circle cx="6" cy="5.5" r="2.5"/>` +
		`<path d="M1.5 13.5c.4-2.6 2.2-4 4.5-4s4.1 1.4 4.5 4M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.4.6 2.3 1.9 2.5 3.7"/>`,
	"search": `<circle cx="7" cy="7" r="4.5"/>` +
		`<path d="m10.5 10.5 3.5 3.5"/>`,
	"check": `<path d="m3 8.5 3.2 3.2L13 5"/>`,
	"x":     `<path d="m4 4 8 8M12 4l-8 8"/>`,
	"chev":  `<path d="m5 6.5 3 3 3-3"/>`,
	"moon":  `<path d="M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z"/>`,
	"copy": `<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/>` +
		`<path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2"/>`,
	"menu": `<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>`,
	"clock": `<circle cx="8" cy="8" r="6"/>` +
		`<path d="M8 4.8V8l2.2 1.4"/>`,
	"branch": `<circle cx="4.5" cy="3.5" r="1.6"/>` +
		`<circle cx="4.5" cy="12.5" r="1.6"/>` +
		`<circle cx="11.5" cy="5" r="1.6"/>` +
		`<path d="M4.5 5v6M11.5 6.6c0 2.6-3 2.6-6 4"/>`,
	"mute":   `<path d="M8 2.5a4 4 0 0 0-4 4v3l-1.2 2h10.4L12 9.5v-3a4 4 0 0 0-4-4zM6.5 13.8h3M2.5 2l11 12"/>`,
	"shield": `<path d="M8 1.5 13.5 3.5V8c0 3.2-2.3 5.4-5.5 6.5C4.8 13.4 2.5 11.2 2.5 8V3.5z"/>`,
	"dots": `<circle cx="8" cy="3.5" r=".6"/>` +
		`<circle cx="8" cy="8" r=".6"/>` +
		`<circle cx="8" cy="12.5" r=".6"/>`,
	"policy": `<path d="M3 2.5h7l3 3v8H3z"/>` +
		`<path d="M5.5 8h5M5.5 10.8h3.5"/>`,
	"hosts": `<circle cx="4" cy="8" r="2"/>` +
		`<circle cx="12" cy="4" r="2"/>` +
		`<circle cx="12" cy="12" r="2"/>` +
		`<path d="m5.8 7 4.4-2.2M5.8 9l4.4 2.2"/>`,
	"webhooks": `<path d="M8 2v5l-3.5 5"/>` +
		`<circle cx="4" cy="12.5" r="1.5"/>` +
		`<circle cx="12" cy="12.5" r="1.5"/>` +
		`<path d="M5.5 12.5h5"/>`,
	"docs": `<path d="M8 3.5C6.5 2.5 4.5 2.3 2.5 2.5v10c2-.2 4 0 5.5 1 1.5-1 3.5-1.2 5.5-1v-10c-2-.2-4 0-5.5 1z"/>` +
		`<path d="M8 3.5v10"/>`,
	"out": `<path d="M9.5 5V2.5h-7v11h7V11M6.5 8h8M12 5.5 14.5 8 12 10.5"/>`,
}

// icon draws one beside a text, so it says nothing to those who can't see it.
func icon(name string) templ.Component {
	return templ.Raw(`<svg class="i" viewBox="0 0 16 16" aria-hidden="true">` + icons[name] + `</svg>`)
}
