// Package git fetches one pull request's commits into a cache and says
// what it changes. It is the only caller of git.
//
// What a repository contains is hostile until shown otherwise, so:
//
//   - git gets an empty environment, a configuration file of our own, no
//     prompts, hooks, credential helpers, attributes, replace refs or lazy
//     fetches; arguments are fixed words, hexadecimal object names and checked
//     ref names; file names never become arguments.
//   - A git process has limits of memory, file size and processor time, and
//     is killed with all its descendants when the scan is canceled or this
//     process dies.
//   - Trees are read and bounded by this package before git is asked to
//     compare them: `git diff-tree -r` and its like recurse without bound.
//
// Fetches are partial: commits and trees first, then the changed files in one
// batch. In a partial fetch git (2.39, measured) ignores fetch.fsck.* settings
// and takes every old fault of real history as fatal (flask:
// zeroPaddedFilemode), so fsck is off there, and the checks that matter here
// (names, order and duplicates in trees) are made by this package on each
// tree that it reads. A server that gives out no single objects gets a full
// fetch, with fsck on.
//
// A repository on this machine that belongs to whoever runs prwarden is read by
// way of Own, without a cache and on every system.
//
// A cache entry belongs to one organization and repository. Every scan holds a
// shared lock on the generation that it reads; fetching holds an exclusive
// lock on the entry. A damaged generation is replaced by a new one and removed
// when its last reader is gone.
package git
