package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

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
	section("diff", "renameLimit = 1000", "renames = true", "algorithm = default", "noprefix = false",
		"mnemonicPrefix = false", "indentHeuristic = true", "interHunkContext = 0", "ignoreSubmodules = none")
	section("fetch", "fsckObjects = true", "unpackLimit = 1", "writeCommitGraph = false", "recurseSubmodules = false", "showForcedUpdates = false")
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
	path := filepath.Join(dir, "gitconfig")
	text := configFile(l)
	sweepConfigs(dir)
	// A scanner that was there before needs no room on a disk that is full.
	if present, err := os.ReadFile(path); err == nil && string(present) == text {
		return path, nil
	}
	temp, err := os.CreateTemp(dir, tempConfig)
	if err != nil {
		return "", err
	}
	_, err = temp.WriteString(text)
	if err2 := temp.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // sweepConfigs does it else
		return "", err
	}
	return path, nil
}

// tempConfig names the configuration while it is written.
const tempConfig = ".gitconfig-*"

// sweepConfigs removes what processes left that were killed while they wrote
// the configuration; another one may be doing so now.
func sweepConfigs(dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, tempConfig))
	if err != nil {
		return // only for a bad pattern
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(path)
		}
	}
}
