package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Limits bound what one scan, and the cache, may take.
type Limits struct {
	Memory       int64         // address space of a git process, in bytes
	FileSize     int64         // largest file that git may write, in bytes; bounds a fetched pack
	CPU          time.Duration // processor time of a git process, in whole seconds
	TreeMemory   int64         // data of the process that compares the trees, in bytes
	TreeCPU      time.Duration // its processor time, in whole seconds
	LowSpeed     time.Duration // a transfer under 1,000 bytes/s for so long ends; whole seconds
	ChangedFiles int           // changed files in a pull request
	OldFileSize  int64         // a file that was larger counts as new: its lines are not compared
	Packs        int           // packs in a cache entry before they are combined
	CacheSize    int64         // all cache entries together, in bytes; 0 is no limit
	Room         int64         // less free space than this, in bytes, is a full disk when git fails
}

// DefaultLimits suit the largest of the public repositories that were tried
// (kafka, kubernetes/ingress-nginx, bitnami/charts).
func DefaultLimits() Limits {
	return Limits{
		Memory:       2 << 30,
		FileSize:     8 << 30,
		CPU:          5 * time.Minute,
		TreeMemory:   512 << 20,
		TreeCPU:      time.Minute,
		LowSpeed:     20 * time.Second,
		ChangedFiles: 100_000,
		OldFileSize:  128 << 20,
		Packs:        40,
		CacheSize:    20 << 30,
		Room:         16 << 20,
	}
}

// harmless are the faults of old commits and trees that real repositories
// have, that hurt nobody, and that must not end a full fetch.
func harmless() []string {
	return []string{
		"badDate", "badDateOverflow", "badEmail", "badFilemode", "badName", "badTimezone",
		"missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate", "missingSpaceBeforeEmail",
		"missingTaggerEntry", "multipleAuthors", "zeroPaddedDate", "zeroPaddedFilemode",
	}
}

// configFile is the global configuration file of every git process. safe.directory
// and uploadpack are for file:// remotes, whose upload-pack reads no variables.
func configFile(l Limits) string {
	var b strings.Builder
	section := func(name string, lines ...string) {
		b.WriteString("[" + name + "]\n")
		for _, line := range lines {
			b.WriteString("\t" + line + "\n")
		}
	}

	section("safe", "directory = *")
	section("uploadpack", "allowFilter = true", "allowAnySHA1InWant = true")
	section("protocol", "allow = never", "version = 2")
	section("core",
		"hooksPath = /dev/null", "attributesFile = /dev/null", "excludesFile = /dev/null",
		"fsmonitor = false", "packedGitLimit = 256m", "packedGitWindowSize = 32m",
		"deltaBaseCacheLimit = 64m", "bigFileThreshold = 256m", "quotePath = true", "commitGraph = true")
	section("pack", "threads = 2", "windowMemory = 128m")
	section("diff",
		"renameLimit = 1000", "renames = true", "algorithm = default", "noprefix = false",
		"mnemonicPrefix = false", "indentHeuristic = true", "interHunkContext = 0", "ignoreSubmodules = none")

	section("fetch",
		"fsckObjects = true", "unpackLimit = 1", "writeCommitGraph = false",
		"recurseSubmodules = false", "showForcedUpdates = false")
	section("transfer", "fsckObjects = true", "credentialsInUrl = die")
	var ignore []string
	for _, id := range harmless() {
		ignore = append(ignore, id+" = ignore")
	}
	section(`fetch "fsck"`, ignore...)

	section("submodule", "recurse = false")
	section("gc", "auto = 0")
	section("maintenance", "auto = false")
	section("credential", "helper =", "interactive = false")
	section("http", "followRedirects = false", "lowSpeedLimit = 1000",
		fmt.Sprintf("lowSpeedTime = %d", max(1, int(l.LowSpeed/time.Second))))
	section("advice", "fetchShowForcedUpdates = false", "graftFileDeprecated = false")
	return b.String()
}

// writeConfig stores the configuration file in dir and returns its path.
func writeConfig(dir string, l Limits) (string, error) {
	path, text := filepath.Join(dir, "gitconfig"), configFile(l)
	// A full disk must not keep a scanner from starting again.
	if present, err := os.ReadFile(path); err == nil && string(present) == text {
		return path, nil
	}

	// Other processes may read the file now, so it appears at once and whole.
	temp := fmt.Sprintf("%s-%d", path, os.Getpid())
	err := os.WriteFile(temp, []byte(text), 0o600)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // the next process of this number overwrites it
		return "", err
	}
	return path, nil
}
