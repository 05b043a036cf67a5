package verdict

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Processes are the command lines of the processes that work in a directory or
// name it in their arguments, without those whose ids are given and without
// this one.
func Processes(dir string, without ...int) ([]string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	without = append(without, os.Getpid())
	var found []string
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || slices.Contains(without, pid) {
			continue
		}
		// A process that ends meanwhile has nothing to read.
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		cwd, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		text := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		if within(dir, cwd) || strings.Contains(text, dir+"/") {
			found = append(found, fmt.Sprintf("%d in %s: %s", pid, cwd, text))
		}
	}
	return found, nil
}

func within(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// TemporaryFiles are the files below caches that git or a scanner made to
// remove or rename later, and all that is in the directories for temporary
// files.
func TemporaryFiles(caches, temporary []string) ([]string, error) {
	var found []string
	for _, dir := range caches {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := e.Name()
			if strings.HasPrefix(name, "tmp_") || strings.HasPrefix(name, "incoming-") || strings.HasPrefix(name, ".gitconfig-") || strings.HasSuffix(name, ".lock") && !e.IsDir() {
				found = append(found, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, dir := range temporary {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, nil
}

// Usage is what a process uses of what can leak.
type Usage struct {
	Goroutines int
	Files      int // open file descriptors
}

// ReadUsage reads a process's metrics, at HOST:PORT.
func ReadUsage(ctx context.Context, addr string) (Usage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return Usage{}, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return Usage{}, err
	}
	defer resp.Body.Close()
	var u Usage
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
		case name == "go_goroutines":
			u.Goroutines = int(n)
		case name == "process_open_fds":
			u.Files = int(n)
		}
	}
	if err := lines.Err(); err != nil {
		return Usage{}, err
	}
	if u.Goroutines == 0 || u.Files == 0 {
		return Usage{}, fmt.Errorf("the metrics of %s have no go_goroutines or process_open_fds", addr)
	}
	return u, nil
}
