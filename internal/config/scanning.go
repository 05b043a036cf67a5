package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Scanning says who scans, how much at once, and what may be kept on disk.
type Scanning struct {
	Scanners       []string `koanf:"scanner"`          // HOST:PORT of scanners; none for the one in this process
	ScanWorkers    int      `koanf:"scan_workers"`     // scans at once, of a server and of a scanner
	ScannerOpsAddr string   `koanf:"scanner_ops_addr"` // a scanner's metrics and health; OpsNone for none
	CacheDir       string   `koanf:"cache_dir"`        // where repositories are kept between scans
	CacheSize      Size     `koanf:"cache_size"`       // bytes that the cache may take
}

// Bounds of the settings.
const (
	maxScanWorkers = 1024
	minCacheSize   = 64 << 20
)

func defaultScanning() Scanning {
	s := Scanning{ScanWorkers: runtime.GOMAXPROCS(0), ScannerOpsAddr: OpsNone, CacheSize: 10 << 30}
	if dir, err := os.UserCacheDir(); err == nil {
		s.CacheDir = filepath.Join(dir, "prwarden")
	}
	return s
}

func (s Scanning) settings() []Setting {
	return []Setting{
		{
			Key: "scanner", Commands: Serve, Value: "HOST:PORT,...", List: true,
			Usage: "Scanner processes that do the scans; a repository prefers the same\none. A name stands for " +
				"all of its addresses. Without any, scans are\ndone in this process.",
		}, {
			Key: "scan_workers", Commands: Serve | Scanner, Value: "N", Default: "the number of CPUs",
			Usage: "How many pull requests are scanned at once. Of a server with\nscanners elsewhere: how many it has " +
				"them scan at once.",
		}, {
			Key: "scanner_ops_addr", Commands: Scanner, flag: "ops-addr", Value: "HOST:PORT", Default: s.ScannerOpsAddr,
			Usage: "Where the scanner shows metrics and health, without a key: keep it\nprivate. The word none turns it off.",
		}, {
			Key: "cache_dir", Commands: Serve | Scanner, Value: "DIR", Default: "prwarden in the user cache",
			Usage: "Where repositories are kept between scans.",
		}, {
			Key: "cache_size", Commands: Serve | Scanner, Value: "SIZE", Default: s.CacheSize.String(),
			Usage: "How much that may take, such as 500MiB or 20GiB; what was not used\nfor longest goes first.",
		},
	}
}

func (s Scanning) validate(ps *Problems) {
	for i, addr := range s.Scanners {
		host, err := splitAddr(addr)
		if err != nil {
			ps.add(fmt.Sprintf("scanner[%d]", i), "%q: %v; it must be HOST:PORT, such as 10.0.0.7:9191", addr, err)
		} else if host == "" || strings.HasSuffix(addr, ":0") {
			ps.add(
				fmt.Sprintf("scanner[%d]", i),
				"%q does not say which machine and port to call; it must be HOST:PORT, such as 10.0.0.7:9191", addr,
			)
		}
	}
	if s.ScanWorkers < 1 || s.ScanWorkers > maxScanWorkers {
		ps.add("scan_workers", "%d is not allowed; it must be from 1 to %d", s.ScanWorkers, maxScanWorkers)
	}
	if s.ScannerOpsAddr != OpsNone {
		checkListenAddr(ps, "scanner_ops_addr", s.ScannerOpsAddr)
	}
	if s.CacheDir == "" {
		ps.add("cache_dir", "there is no user cache directory (HOME is not set), so it must be given")
	}
	if s.CacheSize < minCacheSize {
		ps.add("cache_size", "%s is too little; it must be at least %s", s.CacheSize, Size(minCacheSize))
	}
}

// Size is a number of bytes, written as a whole number with a unit: B, KiB,
// MiB, GiB or TiB.
type Size int64

type sizeUnit struct {
	suffix string
	bytes  Size
}

// sizeUnits are the units, the largest first.
func sizeUnits() []sizeUnit {
	return []sizeUnit{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
}

// String writes s in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits() {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.suffix
		}
	}
	return "0B"
}

// ParseSize reads what String writes.
func ParseSize(text string) (Size, error) {
	for _, u := range sizeUnits() {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || Size(n) > math.MaxInt64/u.bytes {
			break
		}
		return Size(n) * u.bytes, nil
	}
	return 0, fmt.Errorf("%q is not a size; write a whole number and a unit (KiB, MiB, GiB or TiB), such as 500MiB", text)
}
