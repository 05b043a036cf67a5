// Package git fetches one pull request's commits into a cache and says what
// it changes. It is the only caller of git.
//
// A repository may be hostile, so git runs in a cage:
//
//   - git gets an empty environment, a configuration file of our own, no
//     prompts, hooks, credential helpers, attributes, replace refs or lazy
//     fetches. Arguments are fixed words, hexadecimal object names and checked
//     ref names; file names never become arguments.
//   - A git process has limits of memory, file size and processor time. It is
//     killed with all its descendants when the scan is canceled or this
//     process dies.
//   - Trees that are made to kill their reader kill git, and only that scan
//     fails. What git prints is read up to a bound.
//
// Fetches are partial: commits and trees first, then the changed files in one
// batch. In a partial fetch git (2.39, measured) ignores fetch.fsck.* settings
// and takes every old fault of real history as fatal (flask:
// zeroPaddedFilemode), so fsck is off there, and the paths that git prints are
// checked here. A server that gives out no single objects gets a full fetch,
// with fsck on.
//
// A repository on this machine that belongs to whoever runs prwarden is read
// by way of Local, without a cache and on every system.
//
// A cache entry belongs to one organization and repository. Every scan holds a
// shared lock on the generation that it reads; fetching holds an exclusive
// lock on the entry. A damaged generation is replaced by a new one and removed
// when its last reader is gone.
package git
